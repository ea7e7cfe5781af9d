"""The benchmark of single local searches: its problems are those of the paper, and it counts and judges rightly."""

from __future__ import annotations

import numpy as np
import pytest

import local_searches
import mgh
from local_cases import Case, bank, of_mgh
from local_methods import METHODS, Ended

PROBLEMS = {problem.name: problem for problem in mgh.problems()}


@pytest.mark.parametrize("name", PROBLEMS)
def test_derivatives_and_minima_are_right(name):
    problem = PROBLEMS[name]
    assert mgh.is_right(problem, mgh.slips(problem, starts=8))


@pytest.mark.parametrize("name", PROBLEMS)
def test_points_come_in_any_shape(name):
    problem = PROBLEMS[name]
    low, high = problem.bounds.T
    assert ((problem.start >= low) & (problem.start <= high)).all()
    x = np.random.default_rng(0).uniform(low, high, (2, 3, problem.d))
    functions = (problem.value, problem.gradient, problem.hessian)
    for all_of_them, single in zip((f(x) for f in functions), (f(x[1, 2]) for f in functions), strict=True):
        np.testing.assert_allclose(all_of_them[1, 2], single, rtol=1e-9, atol=1e-9 * np.abs(single).max())


def wave():
    """sin(x) + y**2 over (-4, 4), with minima at x = -pi / 2 and at the upper bound, and a saddle at pi / 2."""

    def hess(x):
        return np.stack([[-np.sin(x[:, 0]), 0.0 * x[:, 0]], [0.0 * x[:, 0], np.full(len(x), 2.0)]]).transpose(2, 0, 1)

    return Case(
        "wave", np.array([-4.0, -4.0]), np.array([8.0, 8.0]), lambda x: np.sin(x[:, 0]) + x[:, 1] ** 2,
        lambda x: np.stack([np.cos(x[:, 0]), 2.0 * x[:, 1]], axis=1), hess,
    )  # fmt: skip


class TestCase:
    @pytest.mark.parametrize(
        ("x", "y", "is_one"),
        [
            (-np.pi / 2, 0.0, True),
            (-np.pi / 2 + 0.004, 0.0, True),  # half of what is close
            (-np.pi / 2 + 0.016, 0.0, False),
            (np.pi / 2, 0.0, False),
            (4.0, 0.0, True),
            (4.0 - 1e-6, 0.0, True),
            (4.0 - 1e-2, 0.0, False),
            (4.1, 0.0, False),
            (-4.0, 0.0, False),
        ],
    )
    def test_what_a_minimum_is(self, x, y, is_one):
        case = wave()
        assert case.is_minimum((np.array([x, y]) - case.lower) / case.width) == is_one

    def test_a_minimum_that_is_not_strict_has_a_known_value(self):
        case = of_mgh(PROBLEMS["Powell singular"])
        assert case.is_minimum(np.full(4, 0.5))
        assert not case.is_minimum(np.full(4, 0.52))

    def test_around_a_period(self):
        case = Case("ring", np.zeros(1), np.ones(1), *[np.cos] * 3, periodic=np.array([True]))
        assert case.apart(np.array([0.99]), np.array([1.02])) == pytest.approx(0.03)
        assert case.apart(np.array([0.99]), np.array([0.02])) == pytest.approx(0.03)

    def test_starts_are_the_same_for_all_and_begin_with_the_standard_one(self):
        case = of_mgh(PROBLEMS["Wood"])
        starts = case.starts(10, seed=3)
        assert starts.shape == (11, 4)
        np.testing.assert_array_equal(starts, case.starts(10, seed=3))
        np.testing.assert_allclose(case.lower + case.width * starts[0], [-3, -1, -3, -1])


class Counted:
    """A function of the user's that counts the points it is asked for."""

    def __init__(self, function):
        self.function, self.points = function, 0

    def __call__(self, x):
        self.points += len(x)
        return self.function(x)


@pytest.mark.parametrize(
    ("method", "order"), [(name, order) for name, (orders, _) in METHODS.items() for order in orders]
)
def test_every_method_arrives_and_is_charged_for_what_it_asks(method, order, monkeypatch):
    problem = PROBLEMS["Beale"]
    parts = {
        name: Counted(getattr(problem, name)) for name in ("value", "gradient", "hessian", "residuals", "jacobian")
    }
    lower, upper = problem.bounds.T
    case = Case("counted", lower, upper - lower, *parts.values(), known=(0.0,))
    monkeypatch.setattr(Case, "is_minimum", lambda self, z: of_mgh(problem).value(z) < 1e-9)  # uncounted
    start = of_mgh(problem).standard
    ended = METHODS[method][1](case, order, start, np.array([0.0, 1e4]))
    assert ended.is_arrived
    assert ended.is_listed == (method == "allmodes")
    asked = {name: part.points for name, part in parts.items()}
    assert ended.end == sum(asked.values())
    assert (asked["gradient"] > 0) == (order > 0 and method != "least_squares")
    assert (asked["hessian"] > 0) == (order > 1)
    assert (asked["residuals"] > 0) == (method == "least_squares")
    assert 0 < ended.reach <= ended.end


def test_ratios_are_to_the_best_peer():
    told = {
        "allmodes": [Ended(30, 40, True), Ended(50, 60, True), Ended(500, 900, False)],
        "quick": [Ended(10, 20, True), Ended(10, 380, False), Ended(10, 100, False)],
        "sure": [Ended(20, 40, True), Ended(20, 50, True), Ended(20, 60, True)],
        "least_squares": [Ended(1, 1, True)] * 3,
    }
    assert local_searches.ratios(told) == (40 / 20, 500 / 50)
    assert np.isnan(local_searches.ratios({"allmodes": told["allmodes"]})).all()
    assert local_searches.geometric_mean([2.0, np.nan, 8.0]) == pytest.approx(4.0)


def test_a_folder_of_problems(tmp_path):
    lines = ["import numpy as np", "class Sphere:", "    name, family, is_least_squares = 'sphere', 'easy', False",
             "    bounds, periodic = np.array([[-1.0, 3.0]] * 2), np.zeros(2, bool)",
             "    fun = staticmethod(lambda x: (x**2).sum(axis=1))", "    jac = staticmethod(lambda x: 2.0 * x)",
             "    hess = staticmethod(lambda x: 2.0 * np.eye(2) + 0.0 * x[:, :, None])",
             "PROBLEMS = {'sphere': Sphere}"]  # fmt: skip
    (tmp_path / "bank.py").write_text("\n".join(lines), encoding="utf-8")
    (case,) = bank(tmp_path)
    searches = local_searches.measure(case, "allmodes", 2, 4, seed=0)
    assert len(searches) == local_searches.arrived(searches) == 4
