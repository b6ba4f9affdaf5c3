mod sweep_and_prune;
