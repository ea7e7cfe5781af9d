"""The paper's annealing with nothing to tune."""
