"""Other ways to find all modes, to compare with: multistart Newton, multistart L-BFGS-B and SciPy's SHGO.

Every function returns, for each known mode of the problem, the evaluation count at which it was first found, and
infinity where it was not found within the cap. Found means: a local search ended within the tolerance in every
coordinate; the count is that at the end of the search. All maximise inside the box of the problem and stop when every
mode is found.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from allmodes.objective import GRADIENT, HESSIAN, VALUE
from allmodes.problems import Problem

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

TOLERANCE = 5e-3  # of the width of the box, in every coordinate
FLAT_TOLERANCE = 2e-2  # for problems with a mode of singular Hessian: gradients vanish long before one is there
SINGULAR = 1e-9  # smallest relative curvature of a mode that is not flat

FIRST_BATCH, LARGEST_BATCH = 16, 256  # climbs that run side by side, doubled every time; changes no count
FIRST_RADIUS = 0.15  # in units of the box
LARGEST_RADIUS = 0.5  # times the square root of d
GROW, GROW_ABOVE = 2.5, 0.75  # a step at the radius that gained this share of what was predicted
SHRINK, SHRINK_BELOW = 0.3, 0.25  # relative to the step that gained less
LEAST_GAIN = 1e-4  # share of the predicted gain from which on a step is taken
GRADIENT_TOLERANCE = 1e-6  # times 1 + |f|
SMALLEST_STEP = 1e-9  # of the box: as far as double precision can tell values apart
MOST_ITERATIONS = 100  # per climb
BISECTIONS = 40  # of the trust-region multiplier: twelve digits
SMALLEST_GAP = 1e-100  # between the multiplier and a curvature: the step stays finite, and so does its square
HARD_CASE = 0.5  # share of the radius that a step may leave unused before the top direction gets it
ALMOST_NEGATIVE = 1e-6  # relative curvature up to which a flat direction passes for a maximum
ROUNDING = 1e-13  # relative difference of two values that rounding may have made
MOST_CUTS = 20  # of the radius at the box
AT_THE_RADIUS = 0.8  # a step at least this long, relative to the radius, was limited by it

FIRST_SAMPLE = 32  # points of the first SHGO run; doubled from run to run
# SHGO triangulates its sample, which takes ever longer with the dimension: about ten seconds at these sizes.
LARGEST_SAMPLE = {1: 2**16, 2: 2**14, 3: 2**13, 4: 2**12, 5: 2**10, 6: 2**8}


class Finds:
    """Evaluation counts at which the modes of a problem were first found."""

    def __init__(self, problem: Problem, max_evaluations: int) -> None:
        hessians = problem.objective.evaluate(problem.modes, HESSIAN).hessian
        curvature = np.abs(np.linalg.eigvalsh(hessians))
        is_flat = bool((curvature.min(axis=1) < SINGULAR * curvature.max(axis=1)).any())
        self.problem = problem
        self.max_evaluations = max_evaluations
        self.tolerance = (FLAT_TOLERANCE if is_flat else TOLERANCE) * np.ptp(problem.bounds, axis=1)
        self.counts = np.full(len(problem.modes), np.inf)

    def add(self, point: Floats, count: int) -> None:
        """A search has ended at a point after so many evaluations in all."""
        if count <= self.max_evaluations:
            is_here = (np.abs(self.problem.modes - point) <= self.tolerance).all(axis=1)
            self.counts[is_here] = np.minimum(self.counts[is_here], count)

    @property
    def is_complete(self) -> bool:
        return bool(np.isfinite(self.counts).all())


def multistart_newton(problem: Problem, rng: np.random.Generator, max_evaluations: int) -> Floats:
    """Trust-region Newton from uniform starts; one value with gradient and Hessian counts as one evaluation.

    Climbs run side by side, and are counted as if they ran one after the other.
    """
    finds = Finds(problem, max_evaluations)
    count, size = 0, FIRST_BATCH
    while count < max_evaluations and not finds.is_complete:
        ends, spent = newton_climbs(problem, rng.random((size, problem.dimension)))
        size = min(2 * size, LARGEST_BATCH)
        for point, evaluations in zip(ends, spent, strict=True):
            count += int(evaluations)
            finds.add(point, count)
    return finds.counts


def multistart_lbfgsb(
    problem: Problem, rng: np.random.Generator, max_evaluations: int, derivatives: bool = True
) -> Floats:
    """SciPy's L-BFGS-B from uniform starts.

    With derivatives, one value with gradient counts as one evaluation; without, every value counts, those of SciPy's
    finite differences too.
    """
    finds = Finds(problem, max_evaluations)
    calls = Calls(problem)
    low, high = problem.bounds.T
    options: dict[str, Any] = {"method": "L-BFGS-B", "bounds": list(zip(low, high, strict=True))}
    while calls.count < max_evaluations and not finds.is_complete:
        start = rng.uniform(low, high)
        if derivatives:
            end = scipy.optimize.minimize(calls.value_and_gradient, start, jac=True, **options)
        else:
            end = scipy.optimize.minimize(calls.value, start, **options)
        finds.add(end.x, calls.count)
    return finds.counts


def shgo(problem: Problem, max_evaluations: int) -> Floats:
    """SciPy's SHGO on Sobol samples of growing size; every value counts, gradients are free.

    A mode counts with the evaluations of the smallest run that reports it: nothing is charged for the smaller runs
    before it, as if the right sample size had been known. Samples stay small enough for the triangulation, and in more
    than six dimensions nothing is found.
    """
    finds = Finds(problem, max_evaluations)
    size, largest = FIRST_SAMPLE, min(max_evaluations, LARGEST_SAMPLE.get(problem.dimension, 0))
    while size <= largest and not finds.is_complete:
        calls = Calls(problem)
        result: Any = scipy.optimize.shgo(
            calls.value,
            scipy.optimize.Bounds(*problem.bounds.T),
            n=size,
            sampling_method="sobol",
            minimizer_kwargs={"method": "L-BFGS-B", "jac": calls.gradient},
        )
        for point in np.atleast_2d(result.xl) if result.success else ():
            finds.add(point, calls.count)
        size *= 2
    return finds.counts


class Calls:
    """The problem in SciPy's terms, one point at a time and to be minimised, with a count of the values."""

    def __init__(self, problem: Problem) -> None:
        self.objective = problem.objective
        self.count = 0

    def value(self, x: Floats) -> float:
        self.count += 1
        return -float(self.objective.evaluate(x[None], VALUE).value[0])

    def value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        self.count += 1
        here = self.objective.evaluate(x[None], GRADIENT)
        return -float(here.value[0]), -here.gradient[0]

    def gradient(self, x: Floats) -> Floats:
        return -self.objective.evaluate(x[None], GRADIENT).gradient[0]


class State(NamedTuple):
    """Climbs by Newton's method in the unit box: where they are and what is known there."""

    z: Floats
    value: Floats
    gradient: Floats
    hessian: Floats
    radius: Floats

    def at(self, which: Any) -> State:
        return State(*(part[which] for part in self))


def newton_climbs(problem: Problem, starts: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """End points (N, d) of trust-region Newton from starts in the unit box, and the evaluations of each (N,)."""
    low, width = problem.bounds[:, 0], np.ptp(problem.bounds, axis=1)

    def look(z: Floats, radius: Floats) -> State:
        here = problem.objective.evaluate(low + width * z, GRADIENT | HESSIAN)
        return State(z, here.value, here.gradient * width, here.hessian * np.outer(width, width), radius)

    N = len(starts)
    ends, spent = starts.copy(), np.ones(N, dtype=np.int64)
    state, index = look(starts, np.full(N, FIRST_RADIUS)), np.arange(N)
    for _ in range(MOST_ITERATIONS):
        step, gain = newton_step(state)
        is_over = is_maximum(state) | (np.linalg.norm(step, axis=1) < SMALLEST_STEP)
        state, index, step, gain = state.at(~is_over), index[~is_over], step[~is_over], gain[~is_over]
        if not len(index):
            break
        there = look(state.z + step, state.radius)
        spent[index] += 1
        state = advance(state, there, gain)
        ends[index] = state.z
    return low + width * ends, spent


def advance(state: State, there: State, gain: Floats) -> State:
    """The climbs once their steps are evaluated: taken or not, the radius larger or smaller."""
    length = np.linalg.norm(there.z - state.z, axis=1)
    ratio = (there.value - state.value) / gain
    largest = LARGEST_RADIUS * np.sqrt(state.z.shape[1])
    is_long = (ratio > GROW_ABOVE) & (length > AT_THE_RADIUS * state.radius)
    radius = np.where(is_long, np.minimum(GROW * state.radius, largest), state.radius)
    radius = np.where(ratio < SHRINK_BELOW, SHRINK * length, radius)
    # At the very end rounding hides the gain; a smaller gradient still tells.
    is_level = np.abs(there.value - state.value) <= ROUNDING * (1.0 + np.abs(state.value))
    is_flatter = np.abs(there.gradient).max(axis=1) < np.abs(state.gradient).max(axis=1)
    is_taken = (ratio > LEAST_GAIN) | (is_level & is_flatter)
    here = [
        np.where(is_taken.reshape(-1, *[1] * (old.ndim - 1)), new, old) for new, old in zip(there, state, strict=True)
    ]
    return State(*here)._replace(radius=radius)


def free_part(state: State) -> tuple[Floats, Floats]:
    """Gradient and Hessian with the coordinates held that are at a bound and drawn outside."""
    z, gradient, hessian = state.z, state.gradient, state.hessian
    is_free = ((z > 0.0) | (gradient > 0.0)) & ((z < 1.0) | (gradient < 0.0))
    both = is_free[:, :, None] & is_free[:, None, :]
    return gradient * is_free, np.where(both, hessian, 0.0) - (~is_free)[:, :, None] * np.eye(z.shape[1])


def is_maximum(state: State) -> Bools:
    """Which climbs have arrived."""
    gradient, hessian = free_part(state)
    curvature = np.linalg.eigvalsh(hessian)
    is_level = np.abs(gradient).max(axis=1) <= GRADIENT_TOLERANCE * (1.0 + np.abs(state.value))
    return is_level & (curvature[:, -1] <= ALMOST_NEGATIVE * np.abs(curvature).max(axis=1))


def newton_step(state: State) -> tuple[Floats, Floats]:
    """The steps to the maxima of the quadratic models within the radius, cut at the box, and the gains they predict.

    A step that the cut has spoilt, so that it predicts no gain, is computed again with a smaller radius.
    """
    gradient, hessian = free_part(state)
    curvature, axes = np.linalg.eigh(hessian)
    slope = (axes.mT @ gradient[..., None])[..., 0]
    radius = state.radius.copy()
    for _ in range(MOST_CUTS):
        step = (axes @ constrained_maximum(slope, curvature, radius)[..., None])[..., 0]
        step = np.clip(state.z + step, 0.0, 1.0) - state.z
        gain = (gradient * step).sum(axis=1) + 0.5 * np.einsum("ni,nij,nj->n", step, hessian, step)
        is_spoilt = gain <= 0.0
        if not is_spoilt.any():
            break
        radius[is_spoilt] *= SHRINK
    step[is_spoilt] = 0.0
    return step, gain


def constrained_maximum(slope: Floats, curvature: Floats, radius: Floats) -> Floats:
    """The maximum of slope . s + sum curvature s^2 / 2 with |s| <= radius, in coordinates of the eigenvectors.

    It is s = slope / (m - curvature) with the multiplier m = 0 if that is a maximum inside, and otherwise with the m
    above all curvatures that gives |s| = radius. Where no m does (the slope has no share in the top direction), the
    rest of the radius is spent along the top direction.
    """

    def at(m: Floats) -> Floats:
        return slope / np.maximum(m[:, None] - curvature, SMALLEST_GAP)

    top = curvature[:, -1]
    is_inside = (top < 0.0) & (np.linalg.norm(at(np.zeros_like(top)), axis=1) <= radius)
    low = np.maximum(top, 0.0)
    high = low + np.linalg.norm(slope, axis=1) / radius + ROUNDING * (1.0 + low)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        is_too_long = np.linalg.norm(at(middle), axis=1) > radius
        low, high = np.where(is_too_long, middle, low), np.where(is_too_long, high, middle)
    step = at(np.where(is_inside, 0.0, high))
    rest = np.sqrt(np.maximum(radius**2 - (step**2).sum(axis=1), 0.0))
    is_short = ~is_inside & (top > 0.0) & (rest > HARD_CASE * radius)
    step[:, -1] += np.where(is_short, np.where(slope[:, -1] >= 0.0, rest, -rest), 0.0)
    return step
