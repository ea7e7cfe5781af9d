"""From how far modes draw components in, as those that run on to their end have shown."""

import numpy as np
import pytest

from allmodes.search.searchers.population.captures import Captures
from allmodes.search.searchers.population.tuning import TUNING
from allmodes.storage import pack, unpack

WIDEST = (1.0 - TUNING.apart) * TUNING.first_radius


def after(right, passed):
    """So many components ended in mode 1, and others passed it by at these distances."""
    captures = Captures()
    for _ in range(right):
        captures.end(1, 1, 0.0)
    for distance in passed:
        captures.end(-1, 1, distance)
    return float(captures.of(np.array([1]))[0])


def test_a_few_components_say_nothing():
    assert after(2, []) == 0.0
    assert after(3, []) == pytest.approx(WIDEST)


def test_it_shrinks_when_one_passes_by_and_grows_with_those_that_end_there():
    near = after(8, [0.05])
    assert near == pytest.approx((1.0 - TUNING.apart) * 0.05)
    assert after(9, [0.05]) == pytest.approx(WIDEST)
    assert after(9, [0.1, 0.05]) == pytest.approx((1.0 - TUNING.apart) * 0.1)


def test_one_that_ends_in_another_mode_has_passed_the_nearest_by():
    captures = Captures()
    for _ in range(3):
        captures.end(0, 2, 0.04)
        captures.end(2, 2, 0.0)
    assert captures.of(np.array([0, 1, 2])) == pytest.approx([WIDEST, 0.0, (1.0 - TUNING.apart) * 0.04])
    assert captures.of(np.array([5])) == 0.0


def test_no_mode_is_asked_about_before_there_is_one():
    assert len(Captures().of(np.zeros(0, np.intp))) == 0


def test_it_is_stored():
    captures = Captures()
    captures.end(3, 1, 0.1)
    np.testing.assert_array_equal(unpack(*pack(captures)).right, [0, 0, 0, 1])
