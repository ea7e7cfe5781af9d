"""Places far away: the best that is left becomes a start now and then, each of them once."""

import numpy as np

from allmodes.search.starts.landings import Landings
from allmodes.storage import pack, unpack


def told(values):
    landings = Landings()
    for i, value in enumerate(values):
        assert landings.begin(np.array([float(i), 0.0]))
        landings.tell(np.array([float(i), 0.0]), value)
    return landings


def test_after_every_eighth_the_best_is_taken():
    landings = told([3.0, 1.0, np.nan, -np.inf, 2.0, 0.0, 0.5])
    assert landings.take(-1.0) is None
    assert landings.begin(np.array([7.0, 0.0]))
    landings.tell(np.array([7.0, 0.0]), 0.1)
    landings = unpack(*pack(landings))
    assert landings.take(3.0) is None  # where the search was put is as good
    np.testing.assert_array_equal(landings.take(-1.0), [0.0, 0.0])
    np.testing.assert_array_equal(landings.take(-1.0), [4.0, 0.0])


def test_no_place_is_looked_at_or_taken_twice():
    landings = told([1.0, *[-np.inf] * 7])
    assert not landings.begin(np.zeros(2))
    assert landings.take(0.0) is not None
    assert landings.take(0.0) is None


def test_a_bounded_number_of_places_is_remembered():
    landings = Landings()
    assert sum(landings.begin(np.array([float(i)])) for i in range(1000)) == len(landings.points) < 1000
