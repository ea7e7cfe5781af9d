"""One call that finds every root of a system of equations."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from allmodes.checks import as_limit
from allmodes.hints import Bounds, Derivative, Names, Random, Wrapped
from allmodes.keywords import helpful
from allmodes.loop import Execution, Residuals, find, interrupted
from allmodes.nva.annealing import Algorithm
from allmodes.objective.bounds import Box
from allmodes.objective.residuals import SumOfSquares, sum_of_squares
from allmodes.progress import Progress
from allmodes.result import Result
from allmodes.solving import solved
from allmodes.task import Task

_FOR_ROOTS = 0.15  # of a budget that is given: kept for Newton's steps and proofs at the end, where they are unknown
_TRIES = 20  # calls of F at random places, if it fails, to see how many equations there are

_OTHERWISE = {
    "constraints": "every root is listed: keep those of result.modes that you want, or add an equation to F.",
    "integrality": "roots are real: use find_minima with the sum of squares of F, and look at its values.",
    "hess": "the curvature follows from jac, the Jacobian of F: leave hess out.",
    "polish": "roots are always polished: leave polish out.",
    "target": "only roots are listed, and they are all as good: leave target out.",
    "scale": "roots are searched on linear scales: write F with x = 10**y, and search y.",
    "symmetry": "every root is listed, images of one another too: leave symmetry out.",
    "within": "roots are all as good: leave within out.",
    "min_distance": "every root is listed: leave min_distance out.",
    "starts": "roots are sought within bounds, or around x0.",
    "noise": "roots are of exact equations: use find_minima with the sum of squares of F, and noise.",
}  # arguments that roots cannot have


@helpful(_OTHERWISE)
def find_roots(
    F: Callable[..., Any],
    bounds: Bounds | None = None,
    *,
    jac: Derivative | None = None,
    args: Any = (),
    x0: ArrayLike | None = None,
    method: str | Algorithm = "auto",
    n_modes: int | None = None,
    maxfev: int | None = None,
    maxiter: int | None = None,
    maxtime: float | None = None,
    effort: float | None = None,
    xtol: float = 1e-6,
    vectorized: bool = False,
    periodic: Wrapped | None = None,
    workers: Any = 1,
    timeout: float | None = None,
    retries: int = 1,
    on_error: str = "raise",
    rng: Random | None = None,
    callback: Callable[..., Any] | None = None,
    progress: bool | Callable[[Progress], object] = False,
    checkpoint: str | os.PathLike[str] | None = None,
    names: Names | None = None,
    options: dict[str, Any] | None = None,
) -> Result:
    """Find every root of F(x) = 0 in a box, with a proof for each where one can be had.

    As many equations as unknowns are followed by Newton's method on F, in a trust region and inside the bounds; with
    differences the Jacobian is updated from step to step. Otherwise the search is that of `find_fits`: minima of |F|^2
    by steps of Levenberg and Marquardt. Newton's method then takes each as far as rounding allows; minima that are not
    roots are left out.

    Args:
        F: a function of a point (d,) -> (m,), with m equal to d, more or less; with `vectorized` of points (N, d) ->
            (N, m).
        bounds: (lower, upper) for each unknown, as in `find_minima`.
        jac: the Jacobian: a function -> (m, d), or with `vectorized` (N, m, d); "jax" if F is written with JAX;
            "2-point" or None for differences, which cost d evaluations more wherever a Jacobian is wanted.
        args: further arguments of F and jac.
        n_modes: stop when this many roots are found.
        xtol: accuracy of positions in the search, as a share of the width of the bounds; roots are more accurate.
        x0, method, maxfev, maxiter, maxtime, effort, vectorized, periodic: as in `find_minima`; evaluations are those
            of F. Of a maxfev, what the roots found need for their last steps and proofs is kept, or where there are
            more or fewer equations than unknowns, a seventh.
        workers, timeout, retries, on_error, rng, callback, progress, checkpoint, names, options: likewise. Newton's
            method and proofs run in this process.

    Returns:
        Result: as of `find_minima`, `modes` in the order of their coordinates. Each has `residual` (F there),
        `residual_norm`, `condition` (of the Jacobian, in units of the bounds), `rank`, `is_singular`, `multiplicity`,
        and `certified`: whether it is proved, by Krawczyk's test with intervals rounded outwards, that `box` has
        exactly one root of F, as computed with the numbers in it, in exact arithmetic. The proof calls F with objects
        in place of floats; F must use arithmetic and NumPy's functions alone. If it cannot, `reason` says so. A curve
        of roots is one mode of kind "flat".

    >>> result = find_roots(lambda x: [x[0] ** 2 + x[1] ** 2 - 4, x[0] - x[1]], [(-3, 3), (-3, 3)], rng=0)
    >>> [(mode.x.round(4).tolist(), mode.certified) for mode in result.modes]
    [([-1.4142, -1.4142], True), ([1.4142, 1.4142], True)]
    """
    maxfev = None if maxfev is None else as_limit("maxfev", maxfev, 1)
    box = Box.make(bounds, x0, periodic)
    part = sum_of_squares(F, jac, args, vectorized, box, None, "linear", 1.0)
    is_system, looked = _is_system(part, method, on_error, maxfev)
    task = Task(
        bounds=bounds, x0=x0, warm_start=None, maximise=False, target="all", method=method, n_modes=n_modes,
        maxfev=_for_search(maxfev, looked, is_system), maxiter=maxiter, maxtime=maxtime, xtol=xtol, periodic=periodic,
        noise=None, polish=True, rng=rng, names=names, options=options, effort=effort,
    )  # fmt: skip
    execution = Execution(workers, timeout, retries, on_error, callback, progress, checkpoint)
    result = find(task, Residuals(part, jac, counts_best=True, is_system=is_system), execution)
    result = replace(result, nfev=result.nfev + looked)
    budget = result.settings["budget"] if maxfev is None else maxfev
    result.settings.update(budget=budget, maxfev=maxfev, task="roots")
    try:
        return solved(result, part, budget - result.nfev, xtol)
    except KeyboardInterrupt:  # once more, or only now: nothing more is evaluated
        return solved(interrupted(result), part, 0, xtol)


def _is_system(part: SumOfSquares, method: Any, on_error: str, maxfev: int | None) -> tuple[bool, int]:
    """Whether there are as many equations as unknowns, to be searched as such, and how often F was called to see it.

    F may fail at a place: then it is tried at others, and searched as a sum of squares if it always fails, or if the
    budget is too small to look.
    """
    box = part.box
    if method not in ("auto", "local") or not box.d or (maxfev is not None and maxfev <= _TRIES):
        return False, 0
    for tried, z in enumerate(np.random.default_rng(0).random((_TRIES, box.d)), 1):
        try:
            return part.residuals(box.to_user(z[None])).shape[1] == box.d, tried
        except Exception:
            if on_error != "nan":
                raise
    return False, _TRIES


def _for_search(maxfev: int | None, looked: int, is_system: bool) -> int | None:
    """What the search may use."""
    if maxfev is None or maxfev < 2:
        return maxfev
    return max(1, maxfev - looked if is_system else round((1.0 - _FOR_ROOTS) * (maxfev - looked)))
