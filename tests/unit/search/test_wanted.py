"""Modes that are worse, or closer to better ones, than the user wants."""

import numpy as np
import pytest

from allmodes import find_maxima, find_minima
from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive, Frozen
from allmodes.search.context import Context
from allmodes.search.wanted import is_wanted, left_out


def ripples(x):
    """Minima near every multiple of 1, the better the closer to 0."""
    return -np.cos(2 * np.pi * x[0]) + 0.1 * x[0] ** 2


def places(result):
    return sorted(round(float(mode.x[0])) for mode in result.modes)


def test_only_modes_that_are_nearly_as_good():
    result = find_minima(ripples, [(-5.5, 5.5)], within=0.5, rng=0)
    assert places(result) == [-2, -1, 0, 1, 2]
    assert "modes worse than the best by more than 0.5" in result.message
    assert len(result.coverage.counts) == 5
    up = find_maxima(lambda x: -1e70 * ripples(x), [(-5.5, 5.5)], within=0.5e70, rng=0)
    assert places(up) == [-2, -1, 0, 1, 2]


def test_only_modes_that_are_apart():
    result = find_minima(ripples, [(-5.5, 5.5)], min_distance=0.2, rng=0)
    gaps = np.diff(sorted(mode.x[0] for mode in result.modes)) / 11.0
    assert gaps.min() >= 0.2
    assert 0 in places(result)
    assert "closer than 0.2 of the bounds to better ones" in result.message
    both = find_minima(ripples, [(-5.5, 5.5)], min_distance=0.15, within=0.5, n_modes=3, rng=0)
    assert len(both.modes) == 3


def test_no_more_evaluations_than_for_all():
    some, everything = (find_minima(ripples, [(-20, 20)], within=each, rng=0) for each in (0.15, None))
    assert places(some) == [-1, 0, 1]
    assert some.nfev < everything.nfev


def test_who_is_wanted():
    box = Box.make([(0, 1)])
    archive = Archive(box)
    record = Frozen(np.zeros(1), -np.eye(1), np.zeros(1, bool), "optimum", "differences", 1)
    for place, value in ((0.5, 1.0), (0.55, 0.9), (0.8, 0.5), (0.1, -3.0)):
        archive.add(np.array([place]), value, record)
    context = Context(box, archive, np.random.default_rng(0))
    assert is_wanted(context).tolist() == [True] * 4
    assert left_out(context, None) == ""
    context.within, context.min_distance = 1.0, 0.1
    assert is_wanted(context).tolist() == [True, False, True, False]
    assert left_out(context, 1.0) == (
        "left out: 1 mode worse than the best by more than 1 and 1 mode closer than 0.1 of the bounds to better ones"
    )


@pytest.mark.parametrize("given", [{"within": -1.0}, {"min_distance": "far"}])
def test_wrong_input(given):
    with pytest.raises((TypeError, ValueError), match=next(iter(given))):
        find_minima(ripples, [(-1, 1)], **given)
