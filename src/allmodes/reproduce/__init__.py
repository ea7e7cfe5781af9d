"""The paper's tables and figures, run again: one file for each experiment, its settings in one TOML file."""

from __future__ import annotations

from importlib import import_module

from allmodes.reproduce.experiment import Experiment

MODULES = {  # in the paper's order; a module is imported when one of its experiments is asked for
    "runtime": "runtime",
    "complexity": "complexity",
    "mode-sym": "modes",
    "mode-st": "modes",
    "weight-sym": "weights",
    "weight-asym": "weights",
    "hapke": "hapke",
    "alpha-sensitivity": "sensitivity",
    "weight-degenerate": "weights",
    "cec2013": "cec2013",
}


def experiment(name: str) -> Experiment:
    """One experiment by its name."""
    if name not in MODULES:
        raise ValueError(f"there is no experiment {name!r}; there are {', '.join(MODULES)}.")
    found: Experiment = import_module(f"allmodes.reproduce.{MODULES[name]}").EXPERIMENTS[name]
    return found
