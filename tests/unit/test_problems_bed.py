"""The problems on which solvers are compared: every listed mode verified, and none missed."""

import jax
import numpy as np
import pytest
import scipy.optimize

from allmodes.objective import GRADIENT, HESSIAN, VALUE, Objective
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
# Rastrigin in four dimensions lists its global modes only.
SPATIAL = [name for name in COUNTS if BED[name].dimension > 2 and name != "Rastrigin funnels d=4"]
ONE_OF_EACH_FORMULA = [
    "Gaussian mixture d=2 K=10",
    "Himmelblau",
    "six-hump camel",
    "Shubert",
    "Vincent",
    "Rastrigin funnels d=2",
    "banana",
    "degenerate",
]
every_problem = pytest.mark.parametrize("name", list(COUNTS))


def nearest(problem, points):
    """Distance of every point to the nearest mode, the largest coordinate in units of the box."""
    apart = np.abs(points[:, None] - problem.modes[None]) / np.ptp(problem.bounds, axis=1)
    return apart.max(axis=2).min(axis=1)


def is_on_the_boundary(problem, point):
    return bool(((point <= problem.bounds[:, 0]) | (point >= problem.bounds[:, 1])).any())


def ascend(problem, start):
    """Where SciPy ends up from a start, inside the box: an ascent that shares nothing with the problems' own."""

    def descent(x):
        here = problem.objective.evaluate(x[None], GRADIENT)
        return -here.value[0], -here.gradient[0]

    options = {"gtol": 1e-8, "ftol": 1e-15}
    return scipy.optimize.minimize(
        descent, start, jac=True, method="L-BFGS-B", bounds=problem.bounds, options=options
    ).x


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
    found = {problem.name: (len(problem.modes), int(problem.is_global.sum())) for problem in benchmark_problems()}
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


@pytest.mark.parametrize("name", ONE_OF_EACH_FORMULA)
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
    ends = np.array([ascend(problem, top) for top in tops])
    assert nearest(problem, ends).max() < (2e-2 if name == "degenerate" else 1e-4)


def test_the_tops_of_a_fine_grid_are_the_modes_of_the_shubert_function():
    problem = shubert()
    size = 801
    tops = grid_maxima(problem, size)
    is_close = nearest(problem, tops) < 2.0 / (size - 1)
    beside_the_edge = 1.5 * 20.0 / (size - 1)  # a maximum on the boundary may show on the first line inside
    is_at_the_edge = (np.abs(tops) > 10.0 - beside_the_edge).any(axis=1)
    assert (is_close | is_at_the_edge).all()
    assert is_close.sum() == 722


@pytest.mark.parametrize("name", PLANAR)
def test_climbing_from_anywhere_ends_in_a_listed_mode_or_on_the_boundary(name):
    problem = BED[name]
    starts = np.random.default_rng(4).uniform(*problem.bounds.T, size=(100, 2))
    ends = np.array([ascend(problem, start) for start in starts])
    is_inside = np.array([not is_on_the_boundary(problem, end) for end in ends])
    assert nearest(problem, ends[is_inside]).max() < (2e-2 if name == "degenerate" else 1e-4)
    assert is_inside.all() or name == "Shubert"  # the only one with maxima on the boundary


@pytest.mark.parametrize("name", SPATIAL)
def test_climbing_from_anywhere_ends_in_a_listed_mode(name):
    problem = BED[name]
    starts = np.random.default_rng(5).uniform(*problem.bounds.T, size=(60, problem.dimension))
    ends = np.array([ascend(problem, start) for start in starts])
    assert nearest(problem, ends).max() < 1e-4


def test_a_missing_mode_would_be_noticed():
    """The tests above can fail."""
    problem = banana()
    object.__setattr__(problem, "modes", problem.modes[:-1])
    ends = np.array([ascend(problem, top) for top in grid_maxima(problem, 401)])
    assert nearest(problem, ends).max() > 0.1


def test_the_funnels_in_four_dimensions_list_the_best_of_the_modes_around_them():
    problem = rastrigin_funnels(4)
    steps = np.array([s * unit for s in (-1.0, 1.0) for unit in np.eye(4)])
    around = (np.round(problem.modes)[:, None] + steps).reshape(-1, 4)
    ends = np.array([ascend(problem, point) for point in around])
    assert np.abs(ends - around).max() < 0.1  # each of the neighbours is a mode of its own
    lowest = problem.objective.evaluate(problem.modes, VALUE).value.min()
    assert problem.objective.evaluate(ends, VALUE).value.max() < lowest - 0.1


def test_problems_are_the_same_every_time():
    for name in ("Gaussian mixture d=5 K=20", "needle basins d=4"):
        again = next(problem for problem in benchmark_problems() if problem.name == name)
        np.testing.assert_array_equal(again.modes, BED[name].modes)


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
