"""The problems on which solvers are compared: every listed mode verified, and none missed."""

import jax
import numpy as np
import pytest

from allmodes.objective import GRADIENT, HESSIAN, VALUE, Evaluation, Objective
from allmodes.problems import (
    banana,
    benchmark_problems,
    degenerate,
    needle_basins,
    random_mixture,
    rastrigin_funnels,
    shubert,
    vincent,
)
from allmodes.problems.ascent import climb, distinct

BOTH = GRADIENT | HESSIAN
BED = {problem.name: problem for problem in benchmark_problems()}
# Modes and global modes of every problem, in order.
COUNTS = {
    "symmetric mixture": (4, 3),
    "asymmetric mixture": (3, 2),
    "Styblinski–Tang d=2": (4, 1),
    "Styblinski–Tang d=4": (16, 1),
    "Styblinski–Tang d=6": (64, 1),
    "Gaussian mixture d=2 K=10": (8, 1),
    "Gaussian mixture d=2 K=50": (30, 1),
    "Gaussian mixture d=5 K=20": (18, 1),
    "Gaussian mixture d=5 K=50": (44, 1),
    "Gaussian mixture d=10 K=20": (20, 1),
    "Gaussian mixture d=10 K=50": (49, 1),
    "Himmelblau": (4, 4),
    "six-hump camel": (6, 2),
    "Shubert": (722, 18),
    "Vincent": (36, 36),
    "Rastrigin funnels d=2": (169, 3),
    "Rastrigin funnels d=4": (3, 3),
    "banana": (7, 1),
    "degenerate": (2, 2),
    "needle basins d=2": (8, 1),
    "needle basins d=4": (8, 1),
    "posterior-like mixture d=4 K=40": (34, 1),
}
PLANAR = [name for name in COUNTS if BED[name].dimension == 2]
TOLERANCE = {"degenerate": 1e-2}  # the gradient vanishes long before the flat mode
NEW_FORMULAS = ["Himmelblau", "six-hump camel", "Shubert", "Vincent", "Rastrigin funnels d=2", "banana"]
every_problem = pytest.mark.parametrize("name", list(COUNTS))


def nearest(problem, points):
    """Distance of every point to the nearest mode, the largest coordinate in units of the box."""
    apart = np.abs(points[:, None] - problem.modes[None]) / np.ptp(problem.bounds, axis=1)
    return apart.max(axis=2).min(axis=1)


def is_inside(problem, points):
    return ((points > problem.bounds[:, 0]) & (points < problem.bounds[:, 1])).all(axis=1)


def ascend(problem, points, iterations=400, memory=5):
    """Where gradient steps of Barzilai and Borwein's length lead, inside the box.

    A step is taken when it does not fall below all of the last few values. It shares nothing with the way in which the
    modes of the problems were found.
    """
    low, high = problem.bounds.T
    here = problem.objective.evaluate(points, GRADIENT)
    rate = 1e-3 * (high - low).max() / np.maximum(np.linalg.norm(here.gradient, axis=1), 1e-9)
    recent = np.tile(here.value, (memory, 1))
    for iteration in range(iterations):
        trial = np.clip(points + rate[:, None] * here.gradient, low, high)
        there = problem.objective.evaluate(trial, GRADIENT)
        is_good = there.value >= recent.min(axis=0)
        step, turn = trial - points, here.gradient - there.gradient
        bend = (step * turn).sum(axis=1)
        longer = np.where(bend > 0.0, (step**2).sum(axis=1) / np.where(bend > 0.0, bend, 1.0), 2.0 * rate)
        rate = np.where(is_good, np.minimum(longer, 1e3 * rate), 0.25 * rate)
        points = np.where(is_good[:, None], trial, points)
        gradient = np.where(is_good[:, None], there.gradient, here.gradient)
        here = Evaluation(np.where(is_good, there.value, here.value), gradient)
        recent[iteration % memory] = here.value
        if np.abs(gradient).max() < 1e-8:
            break
    return points


def grid_maxima(problem, size):
    """Points of a grid over the box, edges left out, that are at least as high as their eight neighbours."""
    axes = [np.linspace(low, high, size) for low, high in problem.bounds]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    value = problem.objective.evaluate(grid.reshape(-1, 2), VALUE).value.reshape(size, size)
    middle = value[1:-1, 1:-1]
    is_top = np.full(middle.shape, True)
    for i in range(3):
        for j in range(3):
            is_top &= middle >= value[i : size - 2 + i, j : size - 2 + j]
    return grid[1:-1, 1:-1][is_top]


def test_the_problems_come_in_order_with_their_numbers_of_modes():
    found = {problem.name: (len(problem.modes), int(problem.is_global.sum())) for problem in BED.values()}
    assert list(found.items()) == list(COUNTS.items())


@every_problem
def test_every_mode_is_a_maximum(name):
    problem = BED[name]
    here = problem.objective.evaluate(problem.modes, BOTH)
    curvature = np.linalg.eigvalsh(here.hessian)
    assert np.abs(here.gradient).max() < 1e-9
    if name == "degenerate":
        assert (curvature <= 0.0).all()
    else:
        assert (curvature[:, -1] < -1e-2).all()


@every_problem
def test_modes_are_distinct_inside_the_box_and_best_first(name):
    problem = BED[name]
    assert problem.modes.shape[1:] == (problem.dimension,)
    assert (problem.modes > problem.bounds[:, 0]).all()
    assert (problem.modes < problem.bounds[:, 1]).all()
    apart = np.abs(problem.modes[:, None] - problem.modes[None]) / np.ptp(problem.bounds, axis=1)
    assert (apart.max(axis=2) + np.eye(len(problem.modes))).min() > 0.02
    assert (np.diff(problem.objective.evaluate(problem.modes, VALUE).value) <= 1e-9).all()


@every_problem
def test_global_modes_share_the_best_value_and_the_others_do_not(name):
    problem = BED[name]
    value = problem.objective.evaluate(problem.modes, VALUE).value
    same = 3e-4 if name.startswith("Rastrigin") else 1e-9  # the funnels overlap a little
    assert np.ptp(value[problem.is_global]) < same
    assert problem.is_global.dtype == bool
    if not problem.is_global.all():
        assert value[~problem.is_global].max() < value.max() - 4e-4


@every_problem
def test_no_point_of_a_fine_sample_is_above_the_global_modes(name):
    problem = BED[name]
    points = np.random.default_rng(1).uniform(*problem.bounds.T, size=(5_000, problem.dimension))
    best = problem.objective.evaluate(problem.modes[:1], VALUE).value[0]
    assert problem.objective.evaluate(points, VALUE).value.max() <= best + 1e-12


@every_problem
def test_derivatives_are_those_of_the_function(name):
    problem = BED[name]
    points = np.random.default_rng(3).uniform(*problem.bounds.T, size=(6, problem.dimension))
    here = problem.objective.evaluate(points, BOTH)
    for i, unit in enumerate(np.eye(problem.dimension)):
        step = 1e-6 * unit
        ahead = problem.objective.evaluate(points + step, GRADIENT)
        behind = problem.objective.evaluate(points - step, GRADIENT)
        slope = (ahead.value - behind.value) / 2e-6
        curvature = (ahead.gradient - behind.gradient) / 2e-6
        np.testing.assert_allclose(here.gradient[:, i], slope, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(here.hessian[:, :, i], curvature, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(here.hessian, here.hessian.mT, rtol=1e-12)


@pytest.mark.parametrize("name", NEW_FORMULAS)
def test_problems_run_in_jax(name):
    problem = BED[name]
    points = problem.modes[:2] + 0.1
    wanted = problem.objective.evaluate(points, BOTH)
    with jax.enable_x64(True):
        x = jax.numpy.asarray(points)
        functions = (problem.objective.fun, problem.objective.jac, problem.objective.hess)
        found = [np.asarray(function(x)) for function in functions]
    for ours, theirs in zip(wanted, found, strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", [name for name in PLANAR if name != "Shubert"])
def test_every_top_of_a_fine_grid_leads_to_a_listed_mode(name):
    """No mode was missed in the interior of the box, and none is on its boundary."""
    problem = BED[name]
    tops = grid_maxima(problem, 401)
    assert len(tops) >= len(problem.modes)
    assert nearest(problem, ascend(problem, tops)).max() < TOLERANCE.get(name, 1e-6)


def test_the_tops_of_a_fine_grid_are_the_modes_of_the_shubert_function():
    problem = shubert()
    size = 801
    tops = grid_maxima(problem, size)
    is_close = nearest(problem, tops) < 2.0 / (size - 1)
    beside_the_edge = 1.5 * 20.0 / (size - 1)  # a maximum on the boundary may show on the first line inside
    is_at_the_edge = (np.abs(tops) > 10.0 - beside_the_edge).any(axis=1)
    assert (is_close | is_at_the_edge).all()
    assert is_close.sum() == 722


@pytest.mark.parametrize("name", [name for name in COUNTS if name != "Rastrigin funnels d=4"])  # not all are listed
def test_climbing_from_anywhere_ends_in_a_listed_mode_or_on_the_boundary(name):
    problem = BED[name]
    starts = np.random.default_rng(4).uniform(*problem.bounds.T, size=(500, problem.dimension))
    ends = ascend(problem, starts)
    inside = is_inside(problem, ends)
    assert nearest(problem, ends[inside]).max() < TOLERANCE.get(name, 1e-6)
    assert inside.all() or name == "Shubert"  # the only one with maxima on the boundary


def test_a_missing_mode_would_be_noticed():
    """The tests above can fail."""
    problem = banana()
    object.__setattr__(problem, "modes", problem.modes[:-1])
    assert nearest(problem, ascend(problem, grid_maxima(problem, 401))).max() > 0.1


def test_the_funnels_in_four_dimensions_list_the_best_of_the_modes_around_them():
    problem = rastrigin_funnels(4)
    steps = np.array([s * unit for s in (-1.0, 1.0) for unit in np.eye(4)])
    around = (np.round(problem.modes)[:, None] + steps).reshape(-1, 4)
    ends = ascend(problem, around)
    assert np.abs(ends - around).max() < 0.1  # each of the neighbours is a mode of its own
    lowest = problem.objective.evaluate(problem.modes, VALUE).value.min()
    assert problem.objective.evaluate(ends, VALUE).value.max() < lowest - 0.1


def test_problems_are_the_same_every_time():
    for again in benchmark_problems():
        np.testing.assert_array_equal(again.modes, BED[again.name].modes)


def test_another_seed_is_another_mixture():
    assert not np.array_equal(random_mixture(2, 5, 0.5).modes[0], random_mixture(2, 5, 0.5, seed=1).modes[0])
    np.testing.assert_array_equal(random_mixture(2, 5, 0.5).modes, random_mixture(2, 5, 0.5, seed=25).modes)


@pytest.mark.parametrize("d", [1, 3])
def test_vincent_has_six_modes_per_coordinate(d):
    problem = vincent(d)
    assert len(problem.modes) == 6**d
    here = problem.objective.evaluate(problem.modes, BOTH)
    np.testing.assert_allclose(here.value, 1.0)
    assert np.abs(here.gradient).max() < 1e-12


def test_vincent_is_finite_where_the_logarithm_is_not():
    here = vincent().objective.evaluate(np.array([[-1.0, 0.0]]), BOTH)
    assert all(np.isfinite(part).all() for part in here)


@pytest.mark.parametrize("bounds", [((-4, 4),), ((-2, 4), (-2, 2)), ((-4, 4), (1, 2)), ((4, -4), (-2, 2))])
def test_a_box_without_the_degenerate_modes_is_refused(bounds):
    with pytest.raises(ValueError, match=r"bounds is .*; wanted .*both modes"):
        degenerate(bounds)


@pytest.mark.parametrize("problem", [rastrigin_funnels, needle_basins])
def test_other_dimensions_than_those_laid_out_are_refused(problem):
    with pytest.raises(ValueError, match=r"d is 3; .* wanted one of these"):
        problem(3)
    with pytest.raises(TypeError, match=r"d is 2\.0"):
        problem(2.0)


def test_arguments_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match=r"d is 7; .* at most 6"):
        vincent(7)
    with pytest.raises(ValueError, match="d is 0"):
        vincent(0)
    with pytest.raises(ValueError, match="K is 0"):
        random_mixture(2, 0, 0.5)
    with pytest.raises(ValueError, match="scale is 0"):
        random_mixture(2, 3, 0.0)
    with pytest.raises(ValueError, match="anisotropy is -1"):
        random_mixture(2, 3, 0.5, anisotropy=-1.0)


def test_a_climb_ends_at_the_maximum_uphill_and_nowhere_on_a_plateau():
    wave = Objective(
        lambda x: np.where(x < 0, 0.0, np.sin(x))[:, 0],
        lambda x: np.where(x < 0, 0.0, np.cos(x)),
        lambda x: np.where(x < 0, 0.0, -np.sin(x))[..., None],
        vectorized=True,
    )
    ends = climb(wave, np.array([[0.3], [2.5], [7.0], [-1.0]]), reach=0.2)
    np.testing.assert_allclose(ends[:, 0], [np.pi / 2, np.pi / 2, 2.5 * np.pi, np.nan], rtol=1e-14)


def test_distinct_points_are_kept_in_order_once():
    points = np.array([[1.0, 2.0], [np.nan, 0.0], [1.0 + 1e-6, 2.0], [0.0, 2.0], [1.0, 2.0]])
    np.testing.assert_array_equal(distinct(points, 1e-4), [[1.0, 2.0], [0.0, 2.0]])
