"""The box in whose units ends are compared."""

import numpy as np
import pytest

from allmodes.ends import Ends
from allmodes.region import region_of

ENDS = np.array([[0.0, 10.0], [1.0, 30.0], [np.nan, 0.0], [0.5, 20.0]])


def ends(points=ENDS, values=None, **more):
    return Ends(np.asarray(points), np.zeros(len(points)) if values is None else np.asarray(values), **more)


def test_bounds_say_which_ends_are_inside_and_rounding_puts_none_outside():
    points = [[0.0], [1.0 + 1e-12], [1.1], [np.inf]]
    region = region_of(ends(points), [(0.0, 1.0)], None)
    assert region.is_usable.tolist() == [True, True, False, False]
    assert region.is_outside.tolist() == [False, False, True, False]
    assert region.spread is None


def test_without_bounds_ends_and_their_starts_are_the_unit():
    region = region_of(ends(), None, None)
    np.testing.assert_allclose(region.box.scale, [1.0, 20.0])
    begun = ends(starts=np.array([[-1.0, 0.0], [3.0, 0.0], [0.0, 0.0], [0.0, 40.0]]))
    np.testing.assert_allclose(region_of(begun, None, None).box.scale, [4.0, 40.0])


def test_where_all_ends_agree_their_scatter_is_no_unit():
    region = region_of(ends([[5.0, -1.0, 0.0], [5.0 + 1e-9, 1.0, 1e-9]]), None, None)
    np.testing.assert_allclose(region.box.scale, [0.05, 2.0, 0.02])
    assert region_of(ends([[0.0], [0.0]]), None, None).box.scale.tolist() == [1.0]


def test_open_sides_reach_around_the_ends():
    region = region_of(ends([[0.5, 2.0], [1.0, 4.0]]), [(0, 2), (0, None)], None)
    assert region.spread[0] is None
    assert np.isinf(region.box.upper[1])
    np.testing.assert_allclose([region.box.start_lower[1], region.box.start_upper[1]], [0.0, 4.0])


def test_bounds_that_ends_bring_along_count_where_none_are_given():
    own = ends([[0.5], [0.6]], bounds=np.array([[0.0, 2.0]]))
    assert region_of(own, None, None).box.scale.tolist() == [2.0]
    assert region_of(own, [(0, 1)], None).box.scale.tolist() == [1.0]


@pytest.mark.parametrize(
    ("points", "bounds", "told"),
    [
        ([[np.nan]], [(0, 1)], "none of the 1 ends has finite coordinates"),
        ([[3.0]], [(0, 1)], r"all 1 ends are outside the bounds: end 0 has 3 in coordinate 0.*\[0, 1\]"),
        ([[3.0]], [(0, 1), (0, 1)], "bounds has 2 pairs and ends have 1"),
        ([[3.0]], [(3, 3)], "all coordinates are fixed"),
        ([[3.0]], [(4, 2)], "lower <= upper"),
    ],
)
def test_what_cannot_be_compared_is_said(points, bounds, told):
    with pytest.raises(ValueError, match=told):
        region_of(ends(points), bounds, None)
