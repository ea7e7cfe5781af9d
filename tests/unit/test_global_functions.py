"""The test functions of global optimisation in benchmarks/: known minima, points in arrays, and what is counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import global_functions
from global_check import EQUAL, Check, checked
from global_methods import METHODS, Outcome, Recorder, Spent

ALL = {known.name: known for known in global_functions.functions()}


def drawn(known, n):
    lower, upper = known.box()
    return np.random.default_rng(7).uniform(lower, upper, (n, len(lower)))


def test_there_are_as_many_as_in_scipys_suite():
    assert len(ALL) == len(global_functions.functions()) == 195 + 18
    assert sum(len(known.bounds) == 1 for known in ALL.values()) == 18


@pytest.mark.parametrize("known", ALL.values(), ids=ALL)
class TestKnown:
    def test_the_place_is_inside_and_has_the_minimum(self, known):
        lower, upper = known.box()
        assert ((lower <= known.place) & (known.place <= upper)).all()
        assert known.values(known.place) == pytest.approx(known.minimum, rel=EQUAL, abs=EQUAL)

    def test_nothing_lower_is_drawn(self, known):
        assert (known.values(drawn(known, 5000)) >= known.minimum - EQUAL * (1 + abs(known.minimum))).all()

    def test_points_in_an_array_have_the_values_they_have_one_by_one(self, known):
        points = drawn(known, 30)
        values = known.values(points)
        assert values.shape == (30,)
        assert np.ptp(values) > 0
        assert np.isfinite(values).all()
        np.testing.assert_allclose(values, [known.values(x) for x in points], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(values.reshape(5, 6), known.values(points.reshape(5, 6, -1)), rtol=1e-9, atol=1e-9)


def test_a_search_tells_wrong_minima():
    known = ALL["Branin01"]
    check = checked(known, 3)
    assert check.verdict(known) == ""
    assert "at the place" in check.verdict(known._replace(minimum=0.3))
    assert "WRONG" in check._replace(at_place=0.5).verdict(known._replace(minimum=0.5))
    assert Check(0.3, check.lowest, check.found).verdict(known._replace(minimum=0.3)).startswith("not reached")


# The cusp of Mishra03 is a curve: along it the search may end farther away than it began.
@pytest.mark.parametrize(
    ("name", "farthest"),
    [("Branin01", 5.05e-4), ("Alpine01", 5.05e-4), ("Bukin02", 5.05e-4), ("Hartmann6", 5.05e-4), ("Mishra03", 1e-3)],
)
def test_from_a_minimum_nothing_is_lower_and_beside_it_something_is(name, farthest):
    known = ALL[name]
    lower, upper = known.box()
    x = np.array(known.place)
    assert global_functions.lower_nearby(known, x) == 0.0
    inward = np.where(x < 0.5 * (lower + upper), 1, -1) * (upper - lower)
    assert 4.95e-4 < global_functions.lower_nearby(known, x + 5e-4 * inward) <= farthest


def test_evaluations_are_counted_until_the_minimum_and_the_budget():
    fun = Recorder(ALL["Sphere"])
    fun(np.array([[1.0, 1.0], [2.0, 0.0], [0.0, 0.0], [0.0, 0.0]]))
    fun(np.array([0.5, 0.0]))
    outcome = fun.outcome(0.5)
    assert (outcome.found_at, outcome.nfev, outcome.best, outcome.is_returned) == (3, 5, 0.0, False)
    assert fun.outcome(1e-7).is_returned
    with pytest.raises(Spent):
        fun(np.ones((fun.budget - 4, 2)))
    assert fun.count == 5


@pytest.mark.parametrize("name", METHODS)
def test_every_method_finds_an_easy_minimum_within_the_budget(name):
    outcome = METHODS[name](ALL["Problem02"], 3)
    assert outcome.is_returned
    assert 1 <= outcome.found_at <= outcome.nfev <= 10_000
    assert bool(outcome.modes) == name.startswith("allmodes")


def test_the_tally_says_what_was_evaluated_returned_and_listed():
    known = ALL["Sphere"]
    modes = METHODS["allmodes"](known, 3).modes
    tally = global_functions.Tally("allmodes")
    tally.add(known, [Outcome(4, 50, 0.0, 0.0, True, modes), Outcome(6, 60, 0.0, 0.25, False, modes)])
    tally.add(known._replace(name="other"), [Outcome(np.inf, 70, 0.5, 0.5, False), Outcome(8, 80, 0.0, 0.0, True)])
    beside = [replace(mode, x=mode.x + 0.1, fun=0.02) for mode in modes]
    tally.add(known._replace(name="third"), [Outcome(10, 90, 0.0, 0.0, True, tuple(beside))])
    assert tally.row() == ["allmodes", 80.0, 60.0, 7, 70, 3, 1, 0]
    assert tally.told() == (
        "allmodes: evaluated, not returned: Sphere (by 2.5e-01); not evaluated: other (by 5.0e-01); "
        "returned, not listed: other (by inf), third (by 2.0e-02); false modes: third (1); imprecise modes: none."
    )
