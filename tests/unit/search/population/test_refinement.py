"""The best mode on a kink is known as exactly as one on smooth ground."""

from dataclasses import replace

import numpy as np
import pytest
from population_runs import add_mode, make_context, play

from allmodes import find_minima
from allmodes.search.candidate import REFINEMENT
from allmodes.search.events import Arrived
from allmodes.search.searchers.population.refinement import Refinement
from allmodes.storage import pack, unpack

PEAK = np.array([0.3, 0.6])


def cone(points):
    return 1.0 - np.abs(points - PEAK).sum(axis=1)


def until_over(refinement, function=cone):
    events = []
    while not events and not refinement.ending:
        events = play(refinement, function, 1)
    return events


def test_it_ends_with_the_place_to_the_square_of_xtol():
    context = make_context()
    mode = add_mode(context, PEAK + np.array([3e-6, -1e-6]), 1.0 - 4e-6)
    refinement = Refinement(context)
    assert refinement.ending == ""
    (event,) = until_over(refinement)
    assert isinstance(event, Arrived)
    assert event.candidate.origin.member == REFINEMENT
    assert np.abs(event.candidate.point - PEAK).max() < 1e-11
    assert (refinement.mode, bool(refinement.ending)) == (mode, True)


def test_smooth_modes_are_left_alone_and_a_better_one_is_refined_again():
    context = make_context()
    refinement = Refinement(context)
    assert refinement.ending
    add_mode(context, PEAK + 1e-6, 1.0 - 2e-6)
    until_over(refinement)
    assert refinement.ending
    add_mode(context, [0.8, 0.8], 2.0)
    assert refinement.ending == ""
    context.archive.records[1] = replace(context.archive.records[1], source="differences")
    assert refinement.ending


def test_it_does_not_climb_away():
    """A slope is no mode: what leaves the place is given up."""
    context = make_context()
    add_mode(context, [0.5, 0.5], 1.0)
    refinement = Refinement(context)
    assert until_over(refinement, lambda points: 1.0 + points[:, 0]) == []
    assert np.abs(refinement.evolution.state.mean[0] - 0.5).max() < 0.05


def test_it_is_stored():
    context = make_context()
    add_mode(context, PEAK, 1.0)
    refinement = Refinement(context)
    play(refinement, cone, 3)
    restored = unpack(*pack(refinement))
    np.testing.assert_array_equal(restored.ask(True).points, refinement.ask(True).points)


@pytest.mark.parametrize("target", ["all", "global"])
def test_the_minimum_of_absolute_values_is_exact(target):
    """It was returned as 2e-6: the place to 1e-8 of the box."""

    def schwefel(x):
        return np.abs(x).sum(axis=-1)

    result = find_minima(schwefel, [(-100.0, 100.0)] * 2, target=target, vectorized=True, rng=54000, maxfev=6000)
    assert result.modes[0].kind == "minimum"
    assert result.modes[0].fun == result.fun < 1e-8
