"""The niching functions of CEC2013: facts of the competition, every global maximum verified, and the count of peaks."""

import pickle
import sys

import numpy as np
import pytest

from allmodes.objective import VALUE
from allmodes.problems import NichingProblem, Problem, cec2013, himmelblau, shubert, six_hump_camel, vincent
from allmodes.problems.cec2013 import _ioh_problem

PROBLEMS = [cec2013(number) for number in range(1, 21)]
OPTIMA = [2, 5, 1, 4, 2, 18, 36, 81, 216, 12, 6, 8, 6, 6, 8, 6, 8, 6, 8, 8]
DIMENSIONS = [1, 1, 1, 2, 2, 2, 2, 3, 3, 2, 2, 2, 2, 3, 3, 5, 5, 10, 10, 20]
ROUNDING = 1e-12  # of values, relative to their size
every_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.name)
# F1 has corners at its maxima, and F11 to F20 have terms without derivatives.
smooth = pytest.mark.parametrize("problem", PROBLEMS[1:10], ids=lambda p: p.name)


def values(problem, points):
    return problem.objective.evaluate(points, VALUE).value


@every_problem
def test_it_is_a_problem_with_the_facts_of_the_competition(problem):
    assert isinstance(problem, Problem)
    assert problem.modes.shape == (OPTIMA[problem.number - 1], DIMENSIONS[problem.number - 1])
    assert problem.bounds.shape == (problem.dimension, 2)
    assert problem.is_global.all()
    assert problem.objective.vectorized


def test_heights_and_budgets():
    heights = [200.0, 1.0, 1.0, 200.0, 1.03163, 186.7309088, 1.0, 2709.093505, 1.0, -2.0] + [0.0] * 10
    np.testing.assert_allclose([p.height for p in PROBLEMS], heights, atol=1e-5)
    thousands = [50] * 5 + [200, 200, 400, 400] + [200] * 4 + [400] * 7
    assert [p.budget for p in PROBLEMS] == [1000 * n for n in thousands]


def test_the_niche_radii_are_those_of_the_competition():
    """ioh has 0.19 for F7 and F9."""
    assert [p.radius for p in PROBLEMS] == [0.01] * 4 + [0.5, 0.5, 0.2, 0.5, 0.2] + [0.01] * 11


def test_the_bounds_are_those_of_the_competition():
    """ioh has [-1.9, 1.9] for both coordinates of F5."""
    intervals = [[0, 30], [0, 1], [0, 1], [-6, 6], None, [-10, 10], [0.25, 10], [-10, 10], [0.25, 10], [0, 1]]
    for problem, interval in zip(PROBLEMS, intervals + [[-5, 5]] * 10, strict=True):
        wanted = [[-1.9, 1.9], [-1.1, 1.1]] if problem.number == 5 else [interval] * problem.dimension
        np.testing.assert_array_equal(problem.bounds, wanted)


@every_problem
def test_every_maximum_has_the_height_and_a_niche_of_its_own(problem):
    np.testing.assert_allclose(values(problem, problem.modes), problem.height, rtol=ROUNDING, atol=ROUNDING)
    assert (problem.modes >= problem.bounds[:, 0]).all()
    assert (problem.modes <= problem.bounds[:, 1]).all()
    apart = np.linalg.norm(problem.modes[:, None] - problem.modes, axis=2)
    np.fill_diagonal(apart, np.inf)
    assert apart.min() > problem.radius


@every_problem
def test_nothing_is_higher_near_a_maximum_nor_in_the_box(problem):
    rng = np.random.default_rng(problem.number)
    lower, upper = problem.bounds.T
    limit = problem.height + ROUNDING * max(1.0, abs(problem.height))
    directions = rng.standard_normal((40, problem.dimension))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    for distance in (1e-4, 1e-3, 1e-2):
        near = problem.modes[:, None] + distance * directions * (upper - lower).max()
        inside = np.clip(near, lower, upper).reshape(-1, problem.dimension)
        found = values(problem, inside)
        assert found.max() <= limit
        is_elsewhere = np.linalg.norm(inside[:, None] - problem.modes, axis=2).min(axis=1) > 1e-9
        assert found[is_elsewhere].max() < problem.height
    assert values(problem, rng.uniform(lower, upper, (5000, problem.dimension))).max() < problem.height


@smooth
def test_the_gradient_vanishes_at_every_maximum_and_curvatures_are_negative(problem):
    """By differences: the zero of the gradient is no farther than 1e-6 in each coordinate."""
    step = 1e-5 * np.ptp(problem.bounds[0])
    here = values(problem, problem.modes)
    for unit in np.eye(problem.dimension):
        ahead, behind = (values(problem, problem.modes + sign * step * unit) for sign in (1.0, -1.0))
        slope, curvature = (ahead - behind) / (2 * step), (ahead - 2 * here + behind) / step**2
        assert (curvature < 0.0).all()
        assert np.abs(slope / curvature).max() < 1e-6


@pytest.mark.parametrize(
    ("number", "problem", "shift"),
    [(4, himmelblau(), 200.0), (5, six_hump_camel(), 0.0), (6, shubert(), 0.0), (7, vincent(2), 0.0)],
)
def test_values_agree_with_our_own_functions(number, problem, shift):
    ours = cec2013(number)
    points = np.random.default_rng(0).uniform(*ours.bounds.T, (200, 2))
    np.testing.assert_allclose(values(ours, points), values(problem, points) + shift, rtol=1e-10, atol=1e-10)
    chosen = problem.modes[problem.is_global]
    nearest = np.linalg.norm(ours.modes[:, None] - chosen, axis=2).min(axis=1)
    assert nearest.max() < 1e-7
    assert len(chosen) == len(ours.modes)


def test_it_can_be_sent_to_workers():
    problem = PROBLEMS[5]
    again = pickle.loads(pickle.dumps(problem))
    points = np.array([[1.0, 2.0], [-3.0, 4.0]])
    assert isinstance(again, NichingProblem)
    np.testing.assert_array_equal(again.objective.fun(points), problem.objective.fun(points))


@pytest.mark.parametrize(("number", "error"), [(0, ValueError), (21, ValueError), (1.0, TypeError), ("F1", TypeError)])
def test_other_numbers_are_refused(number, error):
    with pytest.raises(error, match="number is"):
        cec2013(number)


def test_without_ioh_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ioh", None)
    _ioh_problem.cache_clear()
    with pytest.raises(ImportError, match=r"allmodes\[reproduce\]"):
        cec2013(1)


class TestPeaks:
    himmelblau = PROBLEMS[3]

    def count(self, points, accuracy=0.1):
        points = np.array(points, dtype=float).reshape(-1, 2)
        return self.himmelblau.peaks(points, values(self.himmelblau, points), accuracy)

    def test_by_hand(self):
        first, second = self.himmelblau.modes[:2]
        assert self.count([first, second, first + 0.004, [0.0, 0.0]]) == 2  # one twice, one point too low
        assert self.count([first, first + 0.008]) == 2  # farther apart than the radius: two, as the competition counts
        assert self.count([[0.0, 0.0]]) == 0
        assert self.count([[0.0, 0.0]], accuracy=1000.0) == 1

    def test_no_points_no_peaks(self):
        assert self.himmelblau.peaks(np.empty((0, 2)), np.empty(0), 0.1) == 0

    def test_never_more_than_there_are(self):
        points = np.random.default_rng(0).uniform(-6, 6, (500, 2))
        assert self.count(points, accuracy=1e6) == 4

    def test_it_is_the_greedy_count_of_the_competition(self):
        problem = PROBLEMS[6]
        rng = np.random.default_rng(1)
        for size in (3, 30, 300):
            points = problem.modes[rng.integers(len(problem.modes), size=size)] + 0.02 * rng.standard_normal((size, 2))
            found = values(problem, points)
            seeds = []
            for i in np.argsort(-found):
                is_good = abs(found[i] - problem.height) <= 0.1
                if is_good and all(np.linalg.norm(points[i] - seed) > problem.radius for seed in seeds):
                    seeds.append(points[i])
            assert problem.peaks(points, found, 0.1) == min(len(seeds), 36)
