mod predicates;
