"""Populations as wide as the box: what they see through, when they end, and that the next one is larger."""

import numpy as np
import pytest
from population_runs import add_mode, judge, make_context, play

from allmodes import find_minima
from allmodes.search.candidate import OVERVIEW
from allmodes.search.events import Arrived
from allmodes.search.searchers.population.overview import Overview
from allmodes.storage import pack, unpack


def ripples(x):
    """A bowl under ripples of a fiftieth of the box, hundreds of modes; the best is at (0.3, 0.3)."""
    apart = x - 0.3
    return -(4.0 * apart**2 + 0.002 * (1.0 - np.cos(100 * np.pi * apart))).sum(axis=-1)


def ended(overview, function=ripples):
    """The candidate that a population ends with."""
    for _ in range(200):
        for event in play(overview, function, 1):
            if isinstance(event, Arrived):
                return event.candidate
    return None


def test_it_sees_through_ripples():
    found = [ended(Overview(make_context(seed=seed))) for seed in range(5)]
    is_best = [np.abs(candidate.point - 0.3).max() < 1e-4 for candidate in found]
    assert sum(is_best) >= 4
    assert {candidate.origin.member for candidate in found} == {OVERVIEW}


@pytest.mark.parametrize("is_global", [False, True])
def test_where_all_modes_count_one_is_enough_and_else_the_next_is_twice_as_large(is_global):
    context = make_context(is_global=is_global)
    overview = Overview(context)
    first = len(overview.ask(is_settled=True).points)
    candidate = ended(overview)
    assert overview.ending == ""  # it waits
    overview.judged(judge(context, candidate))
    assert bool(overview.ending) is not is_global
    if is_global:
        assert len(overview.ask(is_settled=True).points) == 2 * first


def test_it_knows_the_mode_it_ended_in_and_whether_that_was_known():
    context = make_context(is_global=True)
    overview = Overview(context)
    assert (overview.last, overview.is_back) == (-1, False)
    overview.judged(judge(context, ended(overview)))
    assert (overview.last, overview.is_back) == (0, False)
    again = ended(overview)
    if again is not None:  # it was not recognised on its way
        overview.judged(judge(context, again))
    assert (overview.last, overview.is_back) == (0, True)


def test_a_known_mode_that_is_near_does_not_stop_it():
    context = make_context()
    add_mode(context, [0.32, 0.3], float(ripples(np.array([0.32, 0.3]))))
    candidate = ended(Overview(context))
    assert np.abs(candidate.point - 0.3).max() < 1e-4


def test_it_is_stored():
    overview = Overview(make_context())
    play(overview, ripples, 3)
    restored = unpack(*pack(overview))
    np.testing.assert_array_equal(restored.ask(True).points, overview.ask(True).points)


def traps(x):
    """Hundreds of modes, the best of which has no larger basin than the others."""
    return (x**2 / 20.0 + 2.0 * (1.0 - np.cos(2 * np.pi * x))).sum(axis=-1)


def valleys(x):
    """Schaffer's second function: winding valleys around the minimum."""
    a, b = x[..., 0] ** 2, x[..., 1] ** 2
    return 0.5 + (np.sin(a - b) ** 2 - 0.5) / (1.0 + 1e-3 * (a + b)) ** 2


@pytest.mark.parametrize(("function", "size", "target"), [(traps, 40, "global"), (valleys, 100, "all")])
def test_the_best_of_more_modes_than_can_be_found_is_found(function, size, target):
    """Without such populations 0.05 and 5e-4 were returned. Rounding differs between processors: two of three do."""
    bounds = [(-0.9 * size, size)] * 2
    results = [
        find_minima(function, bounds, target=target, vectorized=True, rng=seed, maxfev=6000) for seed in (3, 6, 7)
    ]
    assert sum("as wide as the box" in result.message and result.fun < 1e-6 for result in results) >= 2
