"""optimagic: `om.minimize(fun, params, algorithm=AllModes(), bounds=...)` gives the best optimum and all others.

`result.algorithm_output["modes"]` has every optimum in the parameters of the user, best first, whatever optimagic has
scaled, flattened or constrained inside, and `["result"]` the `allmodes.Result` in optimagic's internal coordinates.
Of a problem that is marked as least squares, residuals are fitted if `AllModesLeastSquares()` is the algorithm.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.adapters.peers import peer
from allmodes.finding import find_minima
from allmodes.fitting import find_fits
from allmodes.result import Result

__all__ = ["AllModes", "AllModesLeastSquares", "Optimum"]

Floats = NDArray[np.float64]


class Optimum(NamedTuple):
    """A mode as optimagic's users see it.

    Attributes:
        params: where it is, in the form of the params that were given.
        fun: the value there, with the sign of the user's function.
        kind, is_global, weight: as of `allmodes.Mode`.
    """

    params: Any
    fun: float
    kind: str
    is_global: bool
    weight: float


def _settings(algorithm: Any, problem: Any, x0: Floats) -> dict[str, Any]:
    """What the search is asked for."""
    sides = problem.bounds.lower, problem.bounds.upper
    lower, upper = (
        np.full(len(x0), opened) if side is None else side
        for side, opened in zip(sides, (-np.inf, np.inf), strict=True)
    )
    given = {
        "bounds": list(zip(lower.tolist(), upper.tolist(), strict=True)), "x0": x0, "rng": algorithm.seed,
        "target": algorithm.target, "maxfev": algorithm.stopping_maxfun,
    }  # fmt: skip
    return given | dict(algorithm.options or {})


def _has_derivative(problem: Any) -> bool:
    """Whether the user has given one: optimagic would make differences otherwise, which the search makes itself."""
    return problem._jac is not None or problem._fun_and_jac is not None


def _solved(problem: Any, found: Result) -> Any:
    """The result as optimagic takes it from an algorithm."""
    results = peer("optimagic.optimization.algorithm").InternalOptimizeResult
    sign = -1.0 if problem.direction.value == "maximize" else 1.0
    is_fit = found.settings.get("task") == "fit"
    back = problem.converter.params_from_internal
    factor = sign * (2.0 if is_fit else 1.0)  # optimagic's sum of squares is without our half
    kinds = {"minimum": "maximum"} if sign < 0.0 else {}
    modes = [
        Optimum(back(mode.x), factor * mode.fun, kinds.get(mode.kind, mode.kind), mode.is_global, mode.weight)
        for mode in found.modes
    ]
    return results(
        x=np.asarray(found.x), fun=_residuals(problem, found) if is_fit else float(found.fun),
        success=bool(found.success), message=found.message, status=int(found.status), n_fun_evals=int(found.nfev),
        n_jac_evals=int(found.njev), n_iterations=int(found.nit), info={"modes": modes, "result": found},
    )  # fmt: skip


def _residuals(problem: Any, found: Result) -> Floats:
    """At the best point: those of the best mode, if that is it."""
    fit = found.modes[0].fit if found.modes and (found.modes[0].x == found.x).all() else None
    if fit is not None and fit.residuals.size and found.settings["loss"] == "linear":
        return fit.residuals
    return np.asarray(problem.fun(found.x))


@cache
def _algorithms() -> dict[str, type]:
    """The classes, made when optimagic is there."""
    optimagic, algorithm = peer("optimagic"), peer("optimagic.optimization.algorithm").Algorithm
    level = peer("optimagic.typing").AggregationLevel

    def marked(cls: type, name: str, of: Any) -> type:
        mark = optimagic.mark.minimizer(
            name=name, solver_type=of, is_available=True, is_global=True, needs_jac=False, needs_hess=False,
            needs_bounds=False, supports_parallelism=False, supports_bounds=True, supports_infinite_bounds=True,
            supports_linear_constraints=False, supports_nonlinear_constraints=False, disable_history=False,
        )  # fmt: skip
        return mark(dataclass(frozen=True)(cls))

    @dataclass(frozen=True)
    class Search(algorithm):  # type: ignore[misc, valid-type]
        """What both have: see `AllModes`."""

        seed: int | None = None
        target: str = "all"
        stopping_maxfun: int | None = None
        options: dict[str, Any] | None = field(default=None)

        @abstractmethod
        def _found(self, problem: Any, given: dict[str, Any]) -> Result:
            """Of the search for what is given."""

        def _solve_internal_problem(self, problem: Any, x0: Floats) -> Any:
            return _solved(problem, self._found(problem, _settings(self, problem, x0)))

    class AllModes(Search):
        """Every optimum of a function.

        Args:
            seed: of random numbers.
            target: "all" optima, or the "global" ones.
            stopping_maxfun: never evaluate the function more often, differences included.
            options: whatever else `allmodes.find_minima` takes, such as {"effort": 2, "n_modes": 5}.
        """

        def _found(self, problem: Any, given: dict[str, Any]) -> Result:
            fun, jac = (problem.fun_and_jac, True) if _has_derivative(problem) else (problem.fun, None)
            return find_minima(fun, jac=jac, **given)

    class AllModesLeastSquares(Search):
        """Every minimum of a sum of squares, from residuals; arguments as of `AllModes`, options as of `find_fits`."""

        def _found(self, problem: Any, given: dict[str, Any]) -> Result:
            return find_fits(problem.fun, jac=problem.jac if _has_derivative(problem) else None, **given)

    made = {
        "AllModes": marked(AllModes, "allmodes", level.SCALAR),
        "AllModesLeastSquares": marked(AllModesLeastSquares, "allmodes_least_squares", level.LEAST_SQUARES),
    }
    for name, cls in made.items():  # as if written at the top: pickle finds them
        cls.__qualname__ = name
    return made


if TYPE_CHECKING:
    AllModes: Any
    AllModesLeastSquares: Any
else:

    def __getattr__(name: str) -> object:
        if name not in ("AllModes", "AllModesLeastSquares"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return _algorithms()[name]
