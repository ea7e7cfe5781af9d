"""Places far away: the best that is left becomes a start now and then, each of them once."""

import numpy as np

from allmodes.search.starts.landings import Landings
from allmodes.storage import pack, unpack


def told(values):
    landings = Landings()
    for i, value in enumerate(values):
        landings.add(np.array([float(i), 0.0]), value)
    return landings


def test_after_every_eighth_the_best_is_taken():
    landings = told([3.0, 1.0, np.nan, -np.inf, 2.0, 0.0, 0.5])
    assert landings.take(-1.0) is None
    landings.add(np.array([7.0, 0.0]), 0.1)
    landings = unpack(*pack(landings))
    assert landings.take(3.0) is None  # where the search was put is as good
    np.testing.assert_array_equal(landings.take(-1.0), [0.0, 0.0])
    np.testing.assert_array_equal(landings.take(-1.0), [4.0, 0.0])


def test_no_place_is_taken_twice():
    landings = told([1.0])
    for _ in range(7):
        landings.add(np.zeros(2), 1.0)
    assert landings.take(0.0) is not None
    assert landings.take(0.0) is None
