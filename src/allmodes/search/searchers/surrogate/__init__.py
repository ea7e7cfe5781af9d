"""Few evaluations: a model of the function is searched for all its optima, and says where to evaluate next."""
