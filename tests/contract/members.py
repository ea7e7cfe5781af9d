"""Finds every member of an axis by walking the package, so that a new member is tested without editing a test."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from allmodes.nva.annealing import Algorithm
from allmodes.nva.annealing.control_variates import ControlVariate
from allmodes.nva.annealing.estimators import Estimator
from allmodes.nva.annealing.proposals import Proposal
from allmodes.nva.annealing.schedules import Schedule
from allmodes.nva.annealing.utilities import Utility
from allmodes.nva.mixture.covariances import Covariance
from allmodes.nva.mixture.families import Family


def modules(root: str) -> Iterator[ModuleType]:
    """A module and, if it is a package, everything below it."""
    module = importlib.import_module(root)
    yield module
    for found in pkgutil.walk_packages(getattr(module, "__path__", []), f"{root}."):
        yield importlib.import_module(found.name)


def own_classes(root: str) -> Iterator[type]:
    """Public concrete classes that are defined (not merely imported) in a module or below it."""
    for module in modules(root):
        for name, given in vars(module).items():
            is_own = inspect.isclass(given) and given.__module__ == module.__name__ and given.__name__ == name
            if is_own and not name.startswith("_") and not inspect.isabstract(given):
                yield given


def members(root: str, base: type) -> list[Any]:
    """One instance of every concrete subclass; a constructor that needs arguments is an error, not a reason to skip."""
    return [found() for found in own_classes(root) if issubclass(found, base)]


def covariances() -> list[Covariance]:
    return members("allmodes.nva.mixture.covariances", Covariance)


def families() -> list[Family]:
    return members("allmodes.nva.mixture.families", Family)


def estimators() -> list[Estimator]:
    return members("allmodes.nva.annealing.estimators", Estimator)


def schedules() -> list[Schedule]:
    return members("allmodes.nva.annealing.schedules", Schedule)


def utilities() -> list[Utility]:
    return members("allmodes.nva.annealing.utilities", Utility)


def proposals() -> list[Proposal]:
    return members("allmodes.nva.annealing.proposals", Proposal)


def control_variates() -> list[ControlVariate]:
    return members("allmodes.nva.annealing.control_variates", ControlVariate)


def rules() -> list[Any]:
    """Update rules have no base class: whatever has the two methods is one."""
    found = own_classes("allmodes.nva.annealing.updates")
    return [rule() for rule in found if hasattr(rule, "precision_change") and hasattr(rule, "retract")]


def presets() -> list[Callable[..., Algorithm]]:
    """The public functions of the presets module."""
    (module,) = modules("allmodes.nva.annealing.presets")
    return [
        given
        for name, given in vars(module).items()
        if inspect.isfunction(given) and given.__module__ == module.__name__ and not name.startswith("_")
    ]


def name_of(member: Any) -> str:
    """How a member is called in test names."""
    return getattr(member, "__name__", type(member).__name__)


# What families may be started with. Every domain has the middle of the unit interval in it.
_SPREADS: tuple[Any, ...] = (0.02, None, [0.02, None])


def start(family: Family, K: int, d: int, rng: np.random.Generator) -> tuple[Any, np.ndarray, Any] | None:
    """Components of a family with random means, those means and the covariances it accepted; None if d does not fit."""
    means = rng.uniform(0.2, 0.8, size=(K, d))
    for covariances in _SPREADS:
        try:
            return family.start(means, covariances), means, covariances
        except ValueError:
            continue
    return None


def refusal(call: Callable[..., Any], *arguments: Any, **named: Any) -> str | None:
    """The message of the ValueError that a call raises; None if it raises none."""
    try:
        call(*arguments, **named)
    except ValueError as error:
        return str(error)
    return None
