mod inspection_and_repair;
mod tables_and_integrals;
