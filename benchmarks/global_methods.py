"""Ways to find the lowest value of a function, all from values and at the same number of evaluations.

allmodes with either target, and SciPy's: differential evolution, SHGO (Sobol points), dual annealing, DIRECT, and
L-BFGS-B from random starts. Those that end early begin again with other random numbers, SHGO with twice as many points
up to what it can triangulate (nothing above six dimensions); DIRECT, which draws none, ends. What the budget cuts short
returns the best it has evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, differential_evolution, direct, dual_annealing, minimize, shgo

from allmodes import find_minima
from allmodes.result import Mode
from global_problem import Floats, Known

EQUAL = 1e-6  # of 1 + |minimum|: how far above it a value may be; SciPy's own benchmark has 1e-5, absolute
FEW, SMALL_BUDGET, LARGE_BUDGET = 3, 10_000, 20_000  # evaluations up to so many coordinates, and above
_MEMBERS = 15  # for each coordinate, SciPy's default of differential evolution
# SHGO: points of the first run, and the most that it triangulates in about ten seconds; powers of two for Sobol's.
_SAMPLE = 64
_MOST = {1: 2**13, 2: 2**13, 3: 2**12, 4: 2**10, 5: 2**9, 6: 2**8}
_UNLIMITED = 10**9


def limit(known: Known) -> float:
    """The highest value that counts as the minimum."""
    return known.minimum + EQUAL * (1 + abs(known.minimum))


class Spent(Exception):  # noqa: N818  # no error: it ends a search that would go on
    """The budget is used up."""


class Outcome(NamedTuple):
    """One search: evaluations until the minimum was evaluated (infinite if never) and in all, values above the minimum.

    `best` is of the best value that was evaluated, `returned` of the one in the result.
    """

    found_at: float
    nfev: int
    best: float
    returned: float
    is_returned: bool
    modes: tuple[Mode, ...] = ()


class Recorder:
    """A function that counts its points and remembers the best value, and when the minimum was first there."""

    def __init__(self, known: Known) -> None:
        self.known, self.count, self.best, self.found_at, self.is_spent = known, 0, np.inf, np.inf, False
        self.budget = SMALL_BUDGET if len(known.bounds) <= FEW else LARGE_BUDGET
        self.limit = limit(known)

    def __call__(self, points: Floats) -> Any:
        """Values at points (N, d) or at one (d,); the budget ends the search."""
        values = self.known.values(points)
        flat = np.atleast_1d(values)
        if self.count + len(flat) > self.budget:
            self.is_spent = True
            raise Spent
        good = np.flatnonzero(flat <= self.limit)
        if len(good) and not np.isfinite(self.found_at):
            self.found_at = self.count + int(good[0]) + 1
        self.count += len(flat)
        self.best = min(self.best, float(np.nanmin(flat, initial=np.inf)))
        return values if values.ndim else float(values)

    def outcome(self, returned: float, modes: tuple[Mode, ...] = ()) -> Outcome:
        least = self.known.minimum
        return Outcome(
            self.found_at, self.count, self.best - least, returned - least, bool(returned <= self.limit), modes
        )


def ours(target: str) -> Callable[[Known, int], Outcome]:
    """allmodes with this target, everything else as it is by default."""

    def run(known: Known, seed: int) -> Outcome:
        fun = Recorder(known)
        given: dict[str, Any] = {"target": target, "vectorized": True, "rng": seed, "maxfev": fun.budget}
        result = find_minima(fun, list(known.bounds), **given)
        return fun.outcome(float(result.fun), tuple(result.modes))

    return run


def peer(ends: Callable[[Recorder, int], Iterator[float]]) -> Callable[[Known, int], Outcome]:
    """One of SciPy's, from the values that its runs return one after another."""

    def run(known: Known, seed: int) -> Outcome:
        fun, returned = Recorder(known), np.inf
        try:
            with np.errstate(all="ignore"):
                for value in ends(fun, seed):
                    returned = min(returned, value)
                    if fun.is_spent:  # and its exception was caught on the way
                        break
        except Spent:
            returned = min(returned, fun.best)
        return fun.outcome(returned)

    return run


def _evolutions(fun: Recorder, seed: int) -> Iterator[float]:
    for k in count():
        # Generations beyond the budget are cut; far above what convergence needs.
        given: dict[str, Any] = {"popsize": _MEMBERS, "maxiter": fun.budget, "rng": np.random.default_rng([seed, k])}
        yield float(differential_evolution(fun, Bounds(*fun.known.box()), **given).fun)


def _simplicial(fun: Recorder, seed: int) -> Iterator[float]:
    del seed  # its Sobol points are always the same
    n = _SAMPLE
    while n <= _MOST.get(len(fun.known.bounds), 0):
        end: Any = shgo(fun, Bounds(*fun.known.box()), n=n, sampling_method="sobol")
        yield float(end.fun) if end.fun is not None else np.inf
        n *= 2


def _annealing(fun: Recorder, seed: int) -> Iterator[float]:
    for k in count():
        given: dict[str, Any] = {"maxfun": _UNLIMITED, "rng": np.random.default_rng([seed, k])}
        yield float(dual_annealing(fun, Bounds(*fun.known.box()), **given).fun)


def _rectangles(fun: Recorder, seed: int) -> Iterator[float]:
    del seed
    # Without tolerances it goes on until the budget is used up.
    given: dict[str, Any] = {"maxfun": fun.budget, "maxiter": fun.budget, "vol_tol": 0.0, "len_tol": 0.0}
    yield float(direct(fun, Bounds(*fun.known.box()), **given).fun)


def _descents(fun: Recorder, seed: int) -> Iterator[float]:
    rng, (lower, upper) = np.random.default_rng(seed), fun.known.box()
    while True:
        yield float(minimize(fun, rng.uniform(lower, upper), method="L-BFGS-B", bounds=fun.known.bounds).fun)


METHODS: dict[str, Callable[[Known, int], Outcome]] = {
    "allmodes": ours("all"),
    "allmodes global": ours("global"),
    "differential evolution": peer(_evolutions),
    "SHGO": peer(_simplicial),
    "dual annealing": peer(_annealing),
    "DIRECT": peer(_rectangles),
    "multistart L-BFGS-B": peer(_descents),
}
