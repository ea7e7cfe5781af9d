"""Searches that first look far away, where their slopes point to, and begin there if that is one of the best places."""

import numpy as np
import pytest
from local_runs import a_context, run

from allmodes.search.candidate import GIVEN, LEAPING, SPACE_FILLING, Start
from allmodes.search.events import Arrived
from allmodes.search.searchers.local.local_search import LocalSearch
from allmodes.search.starts.landings import Landings

CORNER, BESIDE = np.array([1.0, 0.0]), np.array([0.52, 0.57])


def landings(value, count=7):
    """Of other searches: so many, one of which is kept."""
    known = Landings()
    for i in range(count):
        place = np.full(2, 0.25 + 1e-3 * i)
        assert known.begin(place)
        known.tell(place, value if i == 0 else -np.inf)
    return known


def rippled(z):
    """A wide slope up to a corner, with a hill every tenth of the box."""
    wave, signs = 20.0 * np.pi * z, np.array([1.0, -1.0])
    value = (3.0 * signs * z + 0.2 * np.sin(wave)).sum(axis=-1)
    slope = 3.0 * signs + 4.0 * np.pi * np.cos(wave)
    hessian = -80.0 * np.pi**2 * np.sin(wave)[..., None] * np.eye(2)
    return value, slope, hessian


def ended(order, before, kind=SPACE_FILLING, function=rippled, start=BESIDE, spent=1000, **known):
    """How a search from a start ends, and the context."""
    context = a_context(order, function=function)
    context.landings = before
    for name, value in known.items():
        setattr(context, name, value)
    local = LocalSearch(context, spent=spent)
    local.open([Start(start, kind)])
    (event,) = run(local, function)
    assert isinstance(event, Arrived)
    return event.candidate, context


@pytest.mark.parametrize("order", [0, 1, 2])
def test_from_one_of_the_best_landings_a_search_begins_there(order):
    """It ends at the end of the slope; others end on the hill where they begin."""
    leapt, context = ended(order, landings(-9.0))
    assert np.abs(leapt.point - CORNER).max() < 0.08  # the last hill before the corner
    assert leapt.origin.start == LEAPING
    assert leapt.value > 2.0
    assert context.landings.seen == 8
    climbed, context = ended(order, landings(-9.0, 6))
    assert np.abs(climbed.point - 0.5).max() < 0.11
    assert climbed.origin.start == SPACE_FILLING
    assert context.landings.seen == 7


@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_best_landing_may_be_that_of_another_search(order):
    leapt, context = ended(order, landings(9.0))
    assert np.abs(leapt.point - 0.25).max() < 0.08
    assert context.landings.take(-9.0) is not None  # its own is left


@pytest.mark.parametrize("order", [0, 1, 2])
def test_where_it_is_lower_far_away_a_search_begins_where_it_is(order):
    def peak(z):
        apart = z - 0.4
        H = np.broadcast_to(-8.0 * np.eye(2), (*z.shape, 2))
        return -4.0 * (apart**2).sum(axis=-1), -8.0 * apart, H

    found, context = ended(order, landings(-9.0), function=peak, start=np.array([0.3, 0.35]))
    np.testing.assert_allclose(found.point, 0.4, atol=1e-5)
    assert found.origin.start == SPACE_FILLING
    assert context.landings.seen == 8


@pytest.mark.parametrize("known", [{"kind": GIVEN}, {"spent": 100}, {"is_global": True}])
def test_searches_look_far_where_that_costs_little_and_all_modes_count(known):
    """Points that the user gave are to stay where they are; screened ones are good already."""
    _, context = ended(1, landings(-9.0), **known)
    assert context.landings.seen == 7
