"""Searches that first look far away, where their slopes point to."""

import numpy as np
import pytest
from local_runs import a_context, run

from allmodes.search.candidate import LEAPING, SPACE_FILLING, Start
from allmodes.search.events import Arrived
from allmodes.search.searchers.local.local_search import LocalSearch

CORNER = np.array([1.0, 0.0])


def rippled(z):
    """A wide slope up to a corner, with a hill every tenth of the box."""
    wave, signs = 20.0 * np.pi * z, np.array([1.0, -1.0])
    value = (3.0 * signs * z + 0.2 * np.sin(wave)).sum(axis=-1)
    slope = 3.0 * signs + 4.0 * np.pi * np.cos(wave)
    hessian = -80.0 * np.pi**2 * np.sin(wave)[..., None] * np.eye(2)
    return value, slope, hessian


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_search_that_leaps_ends_at_the_end_of_the_slope(order):
    """The other one ends on the nearest hill."""
    ends = {}
    for kind in (LEAPING, SPACE_FILLING):
        context = a_context(order, function=rippled)
        local = LocalSearch(context)
        local.open([Start(np.array([0.52, 0.57]), kind)])
        (event,) = run(local, rippled)
        assert isinstance(event, Arrived)
        ends[kind] = event.candidate
    assert np.abs(ends[LEAPING].point - CORNER).max() < 0.08  # the last hill before the corner
    assert np.abs(ends[SPACE_FILLING].point - 0.5).max() < 0.11
    assert ends[LEAPING].value > ends[SPACE_FILLING].value + 2.0


@pytest.mark.parametrize("order", [0, 1, 2])
def test_where_it_is_lower_far_away_it_begins_nearer_or_where_it_is(order):
    def peak(z):
        apart = z - 0.4
        H = np.broadcast_to(-8.0 * np.eye(2), (*z.shape, 2))
        return -4.0 * (apart**2).sum(axis=-1), -8.0 * apart, H

    for start in ([0.39, 0.41], [0.1, 0.2]):
        local = LocalSearch(a_context(order, function=peak))
        local.open([Start(np.array(start), LEAPING)])
        (event,) = run(local, peak)
        assert isinstance(event, Arrived)
        np.testing.assert_allclose(event.candidate.point, 0.4, atol=1e-5)
