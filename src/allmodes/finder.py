"""The search as an object: ask where to evaluate, tell the results."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from allmodes.driver import Driver
from allmodes.hints import Bounds, Constraints, Names, Per, Random, Scales, Starts, Symmetry, Table, Wrapped
from allmodes.keywords import helpful
from allmodes.nva.annealing import Algorithm
from allmodes.objective import Needs
from allmodes.result import Result
from allmodes.task import Task

Array = NDArray[np.float64]

_YOURS = "you evaluate the function yourself: tell its values."
_OTHERWISE = {
    **dict.fromkeys(("fun", "args", "vectorized", "workers", "timeout", "retries", "on_error"), _YOURS),
    **dict.fromkeys(("callback", "progress"), "you see every round yourself: look at finder.result."),
    "checkpoint": "save it yourself: finder.save(path), and ModeFinder.load(path).",
}  # arguments that there are elsewhere


class ModeFinder:
    """Finds all good optima of a function that you evaluate yourself.

    Args:
        bounds, x0, starts, warm_start, target, method, n_modes, maxfev, maxiter, maxtime, effort, cost: as in
            `find_minima`.
        xtol, periodic, noise, polish, rng, names, integrality, scale, spread, symmetry, constraints, within,
            min_distance, options: likewise; named choices are asked for and told by their numbers, from 0.
        jac, hess: whether you will tell gradients and Hessians.
        residuals: whether the function is half the sum of squares of residuals r with a Jacobian J, whose values
            sum(r**2) / 2 you will tell with J.T @ r as gradients and J.T @ J as Hessians: the search of `find_fits`.
        maximise: whether larger values are better.

    >>> finder = ModeFinder([(-2, 2)], rng=0)
    >>> while not finder.stop():
    ...     x = finder.ask()
    ...     finder.tell(x, ((x**2 - 1) ** 2)[:, 0])
    >>> [round(float(mode.x[0]), 3) for mode in finder.result.modes]
    [-1.0, 1.0]
    """

    @helpful(_OTHERWISE)
    def __init__(
        self,
        bounds: Bounds | None = None,
        *,
        x0: ArrayLike | None = None,
        starts: Starts | None = None,
        warm_start: tuple[ArrayLike, ArrayLike] | Table | Result | None = None,
        jac: bool = False,
        hess: bool = False,
        residuals: bool = False,
        maximise: bool = False,
        target: str = "all",
        method: str | Algorithm = "auto",
        n_modes: int | None = None,
        maxfev: int | None = None,
        maxiter: int | None = None,
        maxtime: float | None = None,
        effort: float | None = None,
        cost: float | None = None,
        xtol: float = 1e-6,
        periodic: Wrapped | None = None,
        noise: bool | float | None = None,
        polish: bool = True,
        rng: Random | None = None,
        names: Names | None = None,
        integrality: Wrapped | None = None,
        scale: Scales | None = None,
        spread: Per | None = None,
        symmetry: Symmetry | None = None,
        constraints: Constraints | None = None,
        within: float | None = None,
        min_distance: float | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        task = Task(
            bounds=bounds, x0=x0, starts=starts, warm_start=warm_start, maximise=maximise, target=target, method=method,
            n_modes=n_modes, maxfev=maxfev, maxiter=maxiter, maxtime=maxtime, xtol=xtol, periodic=periodic, noise=noise,
            polish=polish, rng=rng, names=names, options=options, effort=effort, cost=cost, integrality=integrality,
            scale=scale, spread=spread, symmetry=symmetry, within=within, min_distance=min_distance,
            constraints=constraints,
        )  # fmt: skip
        if residuals and (jac or hess or maximise):
            raise ValueError(
                "residuals=True is given with jac, hess or maximise: sums of squares are minimised, and told with "
                "J.T @ r and J.T @ J; leave the others out."
            )
        self._driver = task.begin(2 if hess else int(bool(jac or residuals)), False, 1 if residuals else None)

    def ask(self, n: int | None = None, *, again: bool = False, exact: bool = False) -> Array:
        """Where to evaluate next: points (m, D), at most n of them; none once the search is over.

        When no others are left, points not yet told are asked for again if something was told in between, or with
        `again`; otherwise an error says that all are out, since two who ask in turn would evaluate the same ones.

        With `exact` these are n points, whatever is in flight, and none that is out or among the last thousands that
        were told: the search begins as many local searches, or looks at as many more starts, as it takes. Fewer are
        left at the end of a budget, and once the search has found enough only what it has begun; values that come later
        still count. Points that do not come back count as failed after a long time. A noisy function is evaluated more
        than once at a point. Not for annealing, constraints, whole numbers and choices, which have to know whole
        rounds. Where some points take longer than others, or are told in another order, options={"order": "completion"}
        saves many evaluations. Without n it is one round: as many as are due.
        """
        if not exact:
            return self._driver.ask(n, again)
        if again:
            raise ValueError(
                "exact=True is given with again=True: new points, or those that are out; give one of them."
            )
        return self._driver.ask_exactly(n)

    def check_exact(self) -> None:
        """Refuse a search that cannot be asked with `exact`: of annealing, constraints, whole numbers or choices."""
        self._driver.check_exact()

    @property
    def needs(self) -> Needs:
        """Which derivatives are wanted at the points last asked for."""
        return self._driver.state.rounds.needs

    def tell(
        self,
        x: ArrayLike,
        values: ArrayLike,
        gradients: ArrayLike | None = None,
        hessians: ArrayLike | None = None,
    ) -> None:
        """Report results at points (m, D), in any order: values (m,), NaN where the function failed.

        Points that were never asked for are welcome too: they count as evaluations, and the search may start there. A
        point told before is ignored, unless the function is noisy: of the last thousands, and equal to the last bit.
        """
        self._driver.tell(x, values, gradients, hessians)

    def stop(self, *, waits: bool = True) -> dict[str, str]:
        """Why the search is over: a name and a sentence for each reason; empty while it goes on.

        A search that has found enough still waits for the points in flight, unless `waits` is False.
        """
        return self._driver.stop(waits)

    @property
    def is_late(self) -> bool:
        """Whether the time is up."""
        return self._driver.is_late

    @property
    def elapsed(self) -> float:
        """Seconds since the search began, over all its parts if it was saved and loaded."""
        return self._driver.elapsed

    @property
    def nfev(self) -> int:
        """Evaluations so far."""
        return self._driver.nfev

    @property
    def nit(self) -> int:
        """Rounds so far."""
        return self._driver.state.nit

    @property
    def modes_found(self) -> int:
        """Distinct modes of the wanted kind so far."""
        return self._driver.modes_found

    @property
    def result(self) -> Result:
        """What is found so far."""
        return self._driver.result

    @property
    def result_at_once(self) -> Result:
        """What is found so far; a search that has found enough is over, whatever is in flight."""
        return self._driver.result_at_once

    def save(self, path: str | os.PathLike[str], *, keeps_previous: bool = False) -> None:
        """Write the search to one file; `ModeFinder.load` resumes it exactly there.

        Args:
            keeps_previous: whether to keep the previous file, with `.previous` appended to its name.
        """
        self._driver.save(path, keeps_previous=keeps_previous)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, constraints: Constraints | None = None) -> ModeFinder:
        """A search as it was saved; constraints are functions, which are not saved and have to be passed again."""
        finder = cls.__new__(cls)
        finder._driver = Driver.load(path)
        finder._driver.constrain(constraints)
        return finder
