"""The log density whose modes are weighed, in the unit coordinates of the bounds, and how often it was evaluated."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import namespace
from allmodes.objective.bounds import Box
from allmodes.objective.constraints import Constraints
from allmodes.objective.derivatives import Source
from allmodes.objective.evaluator import Evaluator, Failure
from allmodes.result.result import Result
from allmodes.search.group import Group
from allmodes.search.symmetry_given import group_of

_NOTHING = -1e38  # in the place of -inf: a number that float32 has, too
_LEAST = 0.9 * _NOTHING  # log densities below are those of a density of 0

Floats = NDArray[np.float64]


class Target:
    """p(z) = exp(log_density(x(z))) |dx / dz|, a density in unit coordinates with the same integral.

    Attributes:
        box: the coordinates.
        group: the symmetry that the search was told of.
        num_zero: points at which the density is 0.
    """

    def __init__(
        self, result: Result, log_density: Callable[..., Any], args: Any, vectorized: bool, symmetry: Any, workers: Any,
        on_error: str,
    ) -> None:  # fmt: skip
        _check(result)
        settings = result.settings
        self.box = _box(result)
        self.group: Group | None = group_of(_symmetry(symmetry, settings), self.box, result.names)
        self.constraints: Constraints | None = result.constraints
        self.num_zero = 0
        if not callable(log_density):
            raise TypeError(
                f"log_density is {log_density!r} ({type(log_density).__name__}); wanted the function whose maxima the "
                "modes are: the log density, or of find_minima(f) the function -f."
            )
        source = Source.make(_Finite(log_density), args, vectorized=vectorized, box=self.box)
        self._evaluator = Evaluator(source, workers=workers, on_error=on_error)

    @property
    def nfev(self) -> int:
        """Points at which the log density was evaluated."""
        return self._evaluator.nfev

    @property
    def nfail(self) -> int:
        """Points at which it raised or was NaN or +inf."""
        return self._evaluator.nfail

    @property
    def failures(self) -> list[Failure]:
        """The first of them."""
        return self._evaluator.failures

    def raw(self, x: Floats) -> Floats:
        """log_density at points (n, D) of the user; -inf where the density is 0, NaN where it failed."""
        values = np.asarray(self._evaluator.evaluate(np.array(x)).value)
        is_zero = values < _LEAST
        self.num_zero += int(is_zero.sum())
        return np.where(is_zero, -np.inf, values)

    def log_density(self, z: Floats) -> Floats:
        """log p at points (n, d) inside the bounds; -inf where it is 0, failed, or a constraint is violated."""
        x = self.box.to_user(z)
        found = np.full(len(x), -np.inf)
        rows = np.flatnonzero(self._is_feasible(x))
        values = self.raw(x[rows])
        found[rows] = np.where(np.isnan(values), -np.inf, values + self.log_slopes(x[rows]))
        return found

    def log_slopes(self, x: Floats) -> Floats:
        """log |dx / dz| at points (n, D) of the user: (n,)."""
        slopes = np.broadcast_to(self.box.slopes(x), (len(x), self.box.d))
        return np.asarray(np.log(slopes).sum(axis=1))

    def _is_feasible(self, x: Floats) -> NDArray[np.bool_]:
        if self.constraints is None:
            return np.ones(len(x), bool)
        return self.constraints.is_feasible(self.constraints.box.to_unit(x))

    def __enter__(self) -> Target:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._evaluator.close()


class _Finite:
    """The log density with a very low number in the place of -inf, which is an answer and not a failure."""

    def __init__(self, log_density: Callable[..., Any]) -> None:
        self.log_density = log_density

    def __call__(self, *args: Any) -> Any:
        value = self.log_density(*args)
        if isinstance(value, int | float):
            return max(float(value), _NOTHING) if value == value else value
        if isinstance(value, np.ndarray | np.generic) or hasattr(value, "__array_namespace__"):
            array = np.asarray(value) if isinstance(value, np.generic) else value
            return namespace(array).maximum(array, _NOTHING) if array.dtype.kind == "f" else value
        return value  # whatever it is: the evaluator says what is wrong with it


def _box(result: Result) -> Box:
    """The coordinates of the search; sides that are open do not matter here."""
    settings, x = result.settings, np.array([mode.x for mode in result.modes])
    bounds = np.tile([-np.inf, np.inf], (x.shape[1], 1)) if result.bounds is None else result.bounds
    x = np.clip(x, bounds[:, 0], bounds[:, 1])
    return Box.make([tuple(pair) for pair in bounds.tolist()], x, settings.get("periodic"), None, settings.get("scale"))


def _check(result: Result) -> None:
    """Refuse what has no masses, with what to do instead."""
    modes, settings = result.modes, result.settings
    if not modes:
        raise ValueError("this result has no modes, so that there is nothing to weigh; search on, see result.message.")
    if result.is_roots:
        raise ValueError("masses are of modes of a log density; this is a result of find_roots.")
    if settings.get("integrality") or settings.get("choices"):
        raise ValueError(
            "masses are of modes in real coordinates, and some here are whole numbers or choices; there sum "
            "exp(log_density) over their values."
        )
    if any(mode.standard_error is not None for mode in modes):
        raise ValueError("masses need a log density that is exact, and the search was of a noisy function.")
    if any(mode.multipliers is not None for mode in modes):
        if result.constraints is None:
            raise ValueError(
                "the search had constraints, which are not saved with a result; call masses on the result of the "
                "search itself."
            )
        if result.constraints.is_equality.any():
            raise ValueError(
                "the search had equality constraints, which leave no volume: masses are not defined. Solve them for a "
                "coordinate, and search without it."
            )


def _symmetry(given: Any, settings: dict[str, Any]) -> Any:
    """What the search was told of symmetries."""
    known = settings.get("symmetry")
    if given is None and isinstance(known, str):
        raise ValueError(
            f"the search was given the function {known} as symmetry, which is not kept with a result; pass it as "
            "symmetry here, too."
        )
    return known if given is None else given
