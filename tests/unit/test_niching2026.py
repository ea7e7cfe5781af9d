"""The suite of CEC 2026: facts of the competition, values of its own platform, every global maximum, the scores."""

import pickle

import numpy as np
import pytest

from allmodes.objective import VALUE
from allmodes.problems import CompositeProblem, Problem, niching2026
from allmodes.problems.niching2026 import (
    basic,
    f1_score,
    final_score,
    layout,
    numbers,
    robust_peak_ratio,
    scores,
    suite,
)
from allmodes.problems.niching2026.layout import Stream

# Every problem once; instances have one block of coordinates (1), several, or separable ones (15).
PROBLEMS = [niching2026(number, 1 + 14 * (number - 1) // 15, (2, 5, 10, 20)[number % 4]) for number in range(1, 17)]
every_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.name)


def values(problem, points):
    return problem.objective.evaluate(np.asarray(points), VALUE).value


@every_problem
def test_it_is_a_problem_with_the_facts_of_the_competition(problem):
    assert isinstance(problem, CompositeProblem)
    assert isinstance(problem, Problem)
    assert problem.modes.shape == (20 if problem.number <= 8 else 10, problem.dimension)
    np.testing.assert_array_equal(problem.bounds, [[-5.0, 5.0]] * problem.dimension)
    assert problem.is_global.all()
    assert problem.budget == 20_000 * problem.dimension
    assert -problem.height in (-50.8, -208.1, 209.1, -10.8, -392.9, -396.3, 374.4, 292.8)


@every_problem
def test_every_maximum_has_the_same_height_and_a_niche_inside_the_box(problem):
    np.testing.assert_allclose(values(problem, problem.modes), problem.height, rtol=1e-12)
    assert np.abs(problem.modes).max() <= 4.5
    apart = np.linalg.norm(problem.modes[:, None] - problem.modes, axis=2)
    np.testing.assert_allclose((apart + 100.0 * np.eye(len(apart))).min(axis=1), 2.0 * problem.radii)
    assert problem.radii.min() > 0.1


@every_problem
def test_nothing_is_as_high_near_a_maximum_nor_in_the_box(problem):
    """So that there are as many as are listed: the function is a mean of terms that are 0 at one place each."""
    rng = np.random.default_rng(problem.number)
    directions = rng.standard_normal((20, problem.dimension))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    for distance in (1e-4, 1e-2, 0.1):
        near = (problem.modes[:, None] + distance * directions).reshape(-1, problem.dimension)
        assert values(problem, near).max() < problem.height
    assert values(problem, rng.uniform(-5.0, 5.0, (2000, problem.dimension))).max() < problem.height


@pytest.mark.parametrize("number", [1, 4, 6, 9, 12, 14])
def test_the_gradient_vanishes_at_maxima_of_smooth_kinds(number):
    """Elliptic, Rosenbrock and Rastrigin; the others have kinks there."""
    problem, step = niching2026(number, 4, 5), 1e-6
    here = values(problem, problem.modes)
    for unit in np.eye(5):
        ahead, behind = (values(problem, problem.modes + sign * step * unit) for sign in (1.0, -1.0))
        slope, curvature = (ahead - behind) / (2 * step), (ahead - 2 * here + behind) / step**2
        assert (curvature < 0.0).all()
        assert np.abs(slope / curvature).max() < 1e-6


@pytest.mark.parametrize(
    ("number", "instance", "value", "point"),
    [
        # Function values as a participant submitted them (S-CARD-CMSA), with the points that have them.
        (1, 1, -50.7999999990115, [3.97636304351591, -3.98928248962514]),
        (2, 15, -208.09999992908, [3.98598053215683, 4.14892360844715]),
        (3, 8, 209.100000004388, [3.08561256963189, 1.97775306115573]),
        (
            4,
            3,
            -10.7999999584718,
            [-3.22182227780101, 1.7334901610451, 3.47979446626624, -2.68743093605765, -3.63405906041488],
        ),
        (
            5,
            8,
            -392.899999810064,
            [-1.34345028967353, -3.04972741938071, 3.94931288237748, -3.19723211998403, -0.594278695999343],
        ),
        (
            6,
            4,
            -396.29999989919,
            [3.65446736662246, -4.04786107656733, -3.31684188596541, 3.63297019598832, -4.05752908963138],
        ),
        (
            7,
            9,
            375.09192140541,
            [-2.52860122461697, -2.09640200880124, -1.73795204161133, 0.241378576745986, -3.4932926586351],
        ),
        (8, 2, 292.800000012893, [0.0934563118125426, 3.41186643740402]),
        (
            12,
            11,
            -10.7999999245008,
            [1.98694580756845, 1.69842836225026, 3.30659518142231, -2.26651992051081, 2.33701124421742],
        ),
        (
            15,
            6,
            374.602301837151,
            [-2.10369486810547, 2.44210667409761, 4.36220559623266, 0.659236406527739, -2.15716316872447],
        ),
    ],
)
def test_values_are_those_of_the_platform(number, instance, value, point):
    problem = niching2026(number, instance, len(point))
    assert values(problem, [point])[0] == pytest.approx(-value, abs=1e-9)


@pytest.mark.parametrize("kind", range(8))
@pytest.mark.parametrize("hard", [0.0, 0.8])
def test_basic_functions_are_zero_at_zero_alone(kind, hard):
    x = np.concatenate([np.zeros((1, 3)), np.random.default_rng(kind).uniform(-4.0, 4.0, (200, 3))])[None]
    told = basic.FUNCTIONS[kind](x, np.array([[hard]]))
    assert told.shape == (1, 201)
    assert abs(told[0, 0]) < 1e-11
    assert told[0, 1:].min() > 1e-3


def test_basic_functions_by_hand():
    x, soft, hard = np.array([[[1.0, 2.0]]]), np.array([[0.0]]), np.array([[1.0]])
    assert basic.elliptic(x, soft) == pytest.approx(500.0)
    assert basic.elliptic(x, hard) == pytest.approx(0.01 * (1.0 + 2000.0**2))
    assert basic.different_powers(x, hard) == pytest.approx(np.sqrt(1.0 + 2.0**6))
    assert basic.skewed_double_sum(x, hard) == pytest.approx(5.0**2 + 15.0**2)
    assert basic.rosenbrock(x, hard) == pytest.approx(100.0 * (3.0 - 4.0) ** 2 + 1.0)
    assert basic.rosenbrock(x, soft) == pytest.approx(100.0)
    assert basic.rastrigin(x + 0.5, hard) == pytest.approx(1.5**2 + 2.5**2 + 40.0)
    assert basic.weierstrass(x, soft) == pytest.approx(3.0)
    assert basic.weierstrass(x, hard) == pytest.approx(0.5 + 1.5, abs=1e-9)
    assert basic.schwefel(x, soft) == pytest.approx(3.0)


class TestNumbers:
    def test_first_ones_are_those_of_matlab(self):
        np.testing.assert_array_equal(numbers.uniforms()[:3], [0.8147236864, 0.9057919371, 0.1269868163])
        np.testing.assert_allclose(numbers.normals()[:3], [-0.6490137652, 1.181166042, -0.7584532973], atol=1e-12)
        np.testing.assert_array_equal(np.sort(numbers.order(5)), np.arange(10_000))

    def test_normal_ones_are_normal(self):
        from scipy.stats import kstest

        assert kstest(numbers.normals(), "norm").pvalue > 0.01
        assert np.abs(numbers.normals()).max() > 3.66  # the tail is reached


class TestLayout:
    @pytest.mark.parametrize(("instance", "blocks"), [(1, 1), (8, 6), (15, 10)])
    def test_rotations_turn_blocks_of_coordinates(self, instance, blocks):
        turned = layout.rotations(Stream(30 + instance), 4, 10, instance)
        np.testing.assert_allclose(turned @ turned.swapaxes(1, 2), np.tile(np.eye(10), (4, 1, 1)), atol=1e-12)
        for each in turned:
            joined = np.linalg.matrix_power((np.abs(each) > 1e-12).astype(int), 10) > 0
            assert len(np.unique(joined, axis=0)) == blocks

    def test_maxima_are_drawn_to_one_of_them(self):
        uneven = layout.places(Stream(3), 20, 2, 1.0)
        even = layout.places(Stream(3), 20, 2, 0.0)
        unmoved = np.flatnonzero((uneven == even).all(axis=1))  # the middle, and the one that is farthest from it
        apart = [np.linalg.norm(points - points[unmoved, None], axis=2) for points in (uneven, even)]
        assert ((apart[0] <= apart[1] + 1e-12).all(axis=1) & (apart[0].mean(axis=1) < apart[1].mean(axis=1))).any()


class TestScores:
    problem = niching2026(9, 1, 2)

    def scored(self, points, drops):
        told = self.problem.height - np.asarray(drops, float)
        return tuple(score(self.problem, points, told) for score in (robust_peak_ratio, f1_score, final_score))

    def test_all_found_is_one(self):
        assert self.scored(self.problem.modes, np.zeros(10)) == (1.0, 1.0, 1.0)

    def test_nothing_reported_is_zero(self):
        assert self.scored(np.zeros((0, 2)), []) == (0.0, 0.0, 0.0)

    def test_accuracy_counts_by_its_logarithm(self):
        drops = [1e-5, 1e-3, 0.1, 1.0, 30.0, 1e-6, -1e-14, 1e-5, 1e-5, 1e-5]
        ratio, f1, score = self.scored(self.problem.modes, drops)
        assert ratio == pytest.approx((6 + 3 / 5 + 1 / 5) / 10)
        assert f1 == pytest.approx(ratio)  # as many points as maxima
        assert score == pytest.approx(ratio)

    def test_a_maximum_counts_once_and_further_points_cost_precision(self):
        ratio, f1, _ = self.scored(self.problem.modes[[0, 0, 1]] + [[0.0, 0.0], [1e-3, 0.0], [0.0, 0.0]], [0.0] * 3)
        assert ratio == pytest.approx(0.2)
        precision = 0.2 * 10 / 3
        assert f1 == pytest.approx(2 * precision * 0.2 / (precision + 0.2))
        assert scores.credit(self.problem, self.problem.modes[:1], [self.problem.height]).tolist() == [1.0] + [0.0] * 9


def test_it_can_be_sent_to_workers():
    problem = PROBLEMS[0]
    again = pickle.loads(pickle.dumps(problem))
    points = np.ones((2, problem.dimension))
    np.testing.assert_array_equal(again.objective.fun(points), problem.objective.fun(points))


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ((0, 1, 2), ValueError, "number is 0"),
        ((17, 1, 2), ValueError, "number is 17; wanted at most 16"),
        ((1, 16, 2), ValueError, "instance is 16; wanted at most 15"),
        ((1, 1, 1), ValueError, "d is 1"),
        ((1.5, 1, 2), TypeError, "number is"),
    ],
)
def test_others_are_refused(given, error, words):
    with pytest.raises(error, match=words):
        suite.niching2026(*given)
