"""Trust-region searches that may not move along a direction: what level paths are looked for with."""

import numpy as np
import pytest
from local_runs import a_context, quartic, run

from allmodes.search.candidate import LOCAL, SPACE_FILLING, Origin
from allmodes.search.events import Arrived, Continue, RanAway
from allmodes.search.searchers.local.local_search import LocalSearch
from allmodes.search.searchers.local.trust_region import TrustRegion


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_search_across_a_direction_stays_in_its_plane(order):
    """Of a sum over coordinates the maximum in the plane x + y = 0.8 is where both have the same slope."""
    context = a_context(order, function=quartic)
    local = LocalSearch(context)
    assert isinstance(local.trust_region, TrustRegion)
    along, start = np.array([1.0, 1.0]) / np.sqrt(2.0), np.array([0.15, 0.65])
    local.resume(Continue(Origin(LOCAL, SPACE_FILLING, 0), start, 0.05, along=along))
    assert len(local.trust_region.table) == 1
    (event,) = run(local, quartic)
    assert isinstance(event, Arrived)
    moved = event.candidate.point - start
    assert abs(moved @ along) < 1e-9
    assert np.abs(moved).max() > 1e-3
    slopes = quartic(event.candidate.point)[1]
    assert abs(slopes[0] - slopes[1]) < 1e-2


@pytest.mark.parametrize("limit", [{"ceiling": -1.5}, {"between": np.array([[0.1, 0.6], [0.2, 0.7]])}])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_search_that_is_of_no_use_any_more_ends(order, limit):
    """Higher than the way it looks for, or farther from both ends than they are apart."""

    def hill(z):
        apart = z - 0.8
        H = np.broadcast_to(-8.0 * np.eye(2), (*z.shape, 2))
        return -4.0 * (apart**2).sum(axis=-1), -8.0 * apart, H

    along = np.array([1.0, 1.0]) / np.sqrt(2.0)
    begun = Continue(Origin(LOCAL, SPACE_FILLING, 0), np.array([0.15, 0.65]), 0.05, along=along)
    for event, kind in ((begun._replace(**limit), RanAway), (begun, Arrived)):
        local = LocalSearch(a_context(order, function=hill))
        local.resume(event)
        (end,) = run(local, hill)
        assert isinstance(end, kind)
