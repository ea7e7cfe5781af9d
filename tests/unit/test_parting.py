"""Ends of one place that are on several hills are parted by what lies between them."""

import numpy as np

from allmodes import audit
from allmodes.modes.grouping import group
from allmodes.objective.bounds import Box
from allmodes.parting import parted

BOX = Box.make([(0, 1), (0, 1)])
ENDS = np.array([[0.4, 0.5], [0.40002, 0.5], [0.4008, 0.5], [0.40081, 0.5], [0.7, 0.7], [0.7, 0.70002]])
LOSSES = np.array([0.0, 1e-3, 0.01, 0.011, 1.0, 1.01])


def ripples(units):
    """Minima 0.0008 apart, the farther from 0.4 the worse."""
    x = (units[:, 0] - 0.4) / 0.0008
    return 1.0 - np.cos(2.0 * np.pi * x) + 0.01 * np.abs(x)


def test_places_on_several_hills_are_parted_and_others_are_not():
    groups = group(ENDS, LOSSES, 1e-3)
    assert groups.leaders.tolist() == [0, 0, 0, 0, 4, 4]
    asked = []

    def values_at(units):
        asked.append(units)
        return ripples(units)

    found, nfev = parted(BOX, ENDS, LOSSES, groups, 1e-3, values_at, 100)
    assert found.leaders.tolist() == found.joined.tolist() == [0, 0, 2, 2, 4, 4]
    assert nfev == len(asked[0]) == 5  # the other place is too narrow to ask


def test_one_hill_stays_one_place_and_the_budget_is_kept():
    groups = group(ENDS, LOSSES, 1e-3)
    found, nfev = parted(BOX, ENDS, LOSSES, groups, 1e-3, lambda units: np.zeros(len(units)), 100)
    assert found.leaders.tolist() == groups.leaders.tolist()
    assert parted(BOX, ENDS, LOSSES, groups, 1e-3, ripples, 4) == (groups, 0)
    assert nfev == 5


def test_an_audit_tells_minima_that_are_closer_than_its_tolerance():
    ends = np.concatenate([ENDS[:1], ENDS[2:3]])
    for values in (None, ripples(ends)):
        result = audit(ends, values, fun=lambda x: ripples(x[None])[0] + (x[1] - 0.5) ** 2, bounds=[(0, 1)] * 2, rng=0)
        assert result.audit.labels.tolist() == [0, 1]
        assert len(result.modes) == 2
    assert len(audit(ends, ripples(ends), bounds=[(0, 1)] * 2).modes) == 1
