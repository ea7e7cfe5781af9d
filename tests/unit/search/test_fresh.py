"""Local searches from new places: hits, and what one costs of late."""

import numpy as np
import pytest

from allmodes.search.fresh import Fresh
from allmodes.storage import pack, unpack


def test_ends_are_counted_for_each_mode():
    fresh = Fresh()
    for mode in (0, 2, 0, -1, 2, 2):
        fresh.end(mode, 10)
    assert fresh.hits.tolist() == [2, 0, 3]
    assert (fresh.searches, fresh.lost, fresh.ended) == (5, 1, 6)


def test_modes_found_in_other_ways_have_no_hits():
    fresh = Fresh()
    fresh.end(1, 10)
    assert fresh.of(4).tolist() == [0, 1, 0, 0]
    assert Fresh().of(2).tolist() == [0, 0]
    assert fresh.hits.tolist() == [0, 1]


@pytest.mark.parametrize("ended", [1, 2, 10, 1000])
def test_the_cost_is_that_of_the_last_half(ended):
    """Twenty evaluations for each of the first half, and three for each of the others."""
    fresh, nfev = Fresh(), 0
    for number in range(ended):
        nfev += 20 if number < ended // 2 else 3
        fresh.end(0, nfev)
    assert 3.0 <= fresh.cost(nfev) < 3.5
    assert fresh.cost(nfev + 7 * ended) >= fresh.cost(nfev) + 7.0  # others used some, too


def test_without_any_the_cost_is_not_known():
    assert Fresh().cost(500) == np.inf


def test_few_marks_are_kept():
    fresh = Fresh()
    for number in range(50_000):
        fresh.end(0, number)
    assert len(fresh.marks) < 250


def test_it_can_be_stored():
    fresh = Fresh()
    for mode in (0, 3, -1):
        fresh.end(mode, 7)
    other = unpack(*pack(fresh))
    assert (other.hits.tolist(), other.lost) == (fresh.hits.tolist(), 1)
    assert other.cost(20) == fresh.cost(20)
