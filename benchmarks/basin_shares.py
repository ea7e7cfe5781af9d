"""The share of local searches that end in each basin, against steepest descent in short steps from the same starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive, Frozen
from allmodes.search.candidate import SPACE_FILLING, Start
from allmodes.search.context import Context
from allmodes.search.events import Arrived
from allmodes.search.searchers.local.local_search import LocalSearch

SHORT = 1e-3  # of the box: steps of the descent
SHORTEST = 1e-9  # of the box: the descent is over
MOST_STEPS = 20_000
SAME = 5e-3  # of the box: ends that are closer are one
LEAST = 0.02  # of the searches: smaller basins are hit too rarely to be compared

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]


class Smooth(NamedTuple):
    """Points (n, d) of the unit box -> values (n,) and gradients (n, d); coordinates that are periodic."""

    name: str
    d: int
    fun: Function
    jac: Function
    periodic: Sequence[int] = ()


def descend(problem: Smooth, starts: Floats) -> Floats:
    """Where steepest descent ends, (n, d): steps are short, and halved where they do not lead down."""
    x, steps = starts.copy(), np.full(len(starts), SHORT)
    value, going = problem.fun(x), np.arange(len(starts))
    for _ in range(MOST_STEPS):
        g = problem.jac(x[going])
        g = np.where(((x[going] <= 0.0) & (g > 0.0)) | ((x[going] >= 1.0) & (g < 0.0)), 0.0, g)
        size = np.linalg.norm(g, axis=1, keepdims=True)
        trial = np.clip(x[going] - steps[going, None] * g / np.maximum(size, 1e-300), 0.0, 1.0)
        tried = problem.fun(trial)
        is_down = tried < value[going]
        x[going[is_down]], value[going[is_down]] = trial[is_down], tried[is_down]
        steps[going] = np.where(is_down, np.minimum(SHORT, 1.5 * steps[going]), 0.5 * steps[going])
        going = going[(steps[going] > SHORTEST) & (size[:, 0] > 0.0)]
        if not len(going):
            break
    return x


def search(problem: Smooth, starts: Floats, order: int, known: Floats) -> Floats:
    """Where local searches end, (n, d), NaN for those that arrive nowhere.

    Nothing is recognised; the first steps are as long as they are when these modes are known.
    """
    box = Box.make([(0.0, 1.0)] * problem.d)
    context = Context(box, Archive(box), np.random.default_rng(0), order=order)
    context.observe_level(-problem.fun(starts))
    for point in known:
        blank = Frozen(np.zeros(problem.d), -np.eye(problem.d), np.zeros(problem.d, bool), "optimum", "differences", 0)
        context.archive.add(point, float(-problem.fun(point[None])[0]), blank)
    local, ends = LocalSearch(context, recognises=False), np.full(starts.shape, np.nan)
    local.open([Start(point, SPACE_FILLING) for point in starts])
    while len(local):
        blocks, told = local.ask(), []
        for block in blocks:
            points = block.points.reshape(-1, problem.d)
            shape = block.points.shape[:2]
            slope = -problem.jac(points).reshape(block.points.shape) if order else None
            told.append(Evaluation(-problem.fun(points).reshape(shape), slope, None))
        for event in local.tell(blocks, told):
            if isinstance(event, Arrived):
                ends[event.candidate.origin.number] = event.candidate.point
    return ends


def basins(ends: Floats) -> Floats:
    """The distinct ends, those with most searches first."""
    found: list[Floats] = []
    left = ends
    while len(left):
        is_near = np.abs(left[:, None] - left).max(axis=2) < SAME
        most = int(is_near.sum(axis=1).argmax())
        found.append(left[most])
        left = left[~is_near[most]]
    return np.array(found)


def labels(ends: Floats, places: Floats) -> NDArray[np.intp]:
    """Which basin each search has ended in, or -1."""
    apart = np.abs(ends[:, None] - places).max(axis=2)
    return np.where(np.nanmin(apart, axis=1, initial=np.inf) < SAME, apart.argmin(axis=1), -1)


class Shares(NamedTuple):
    """Of basins that are not small: shares of searches over shares of descents; and of single starts that agree."""

    ratios: Floats
    agree: float


def compare(problem: Smooth, n: int, seed: int, order: int) -> Shares:
    """From the same space-filling starts; those that either way end nowhere are left out."""
    starts = qmc.Sobol(problem.d, seed=seed).random(n)
    down = descend(problem, starts)
    places = basins(down)
    found = labels(search(problem, starts, order, places), places)
    truth = labels(down, places)
    both = (found >= 0) & (truth >= 0)
    expected, got = (np.bincount(which[both], minlength=len(places)) / both.sum() for which in (truth, found))
    counted = expected > LEAST
    return Shares(got[counted] / expected[counted], float((truth == found)[both].mean()))
