"""Recognised searches that run on: which of them, what is counted, and that nothing else changes."""

import numpy as np
import pytest

from allmodes import find_minima
from allmodes.search.checked import Checks


def wells(x):
    return np.cos(3.0 * x).sum(axis=-1) + 0.1 * (x**2).sum(axis=-1)


def search(**options):
    return find_minima(wells, [(-4, 4)] * 2, vectorized=True, rng=3, maxfev=3000, options=options)


@pytest.mark.parametrize(("share", "due"), [(0.0, 0), (0.02, 20), (0.3, 300), (1.0, 1000)])
def test_searches_that_run_on_are_spread_evenly(share, due):
    chosen = [number for number in range(1000) if Checks(share).is_due(number)]
    assert len(chosen) == due
    gaps = set(np.diff(chosen).tolist())
    assert not gaps or max(gaps) - min(gaps) <= 1


def test_ends_are_counted():
    checks = Checks(1.0)
    for is_right in (True, False, True):
        checks.add(is_right)
    assert (checks.right, checks.wrong) == (2, 1)


def test_what_was_checked_is_in_the_result():
    plain, checked = search(shadow=0.0), search(shadow=1.0)
    assert (plain.coverage.checked, plain.coverage.misjudged) == (0, 0)
    assert checked.coverage.checked > 50
    assert checked.coverage.misjudged == 0
    assert checked.coverage.searches < plain.coverage.searches  # they cost more
    assert len(checked.modes) == len(plain.modes)


def test_some_are_checked_unless_that_is_switched_off():
    checked = search().coverage.checked
    assert 0 < checked < 0.1 * search().coverage.searches


def test_without_any_check_due_nothing_changes():
    np.testing.assert_array_equal(search(shadow=0.0).history.nfev, search(shadow=1e-9).history.nfev)


def test_recognition_is_stricter_the_more_checks_are_wrong():
    assert Checks().strictness == Checks(1.0, right=1000).strictness == Checks(1.0, 995, 5).strictness == 1.0
    few, many = Checks(1.0, 970, 30).strictness, Checks(1.0, 900, 100).strictness
    assert 5.0 < few < 6.0
    assert 3.0 * few < many < 20.0
    assert 1.0 < Checks(1.0, 0, 1).strictness < 5.0  # one says little


def test_a_search_that_ends_elsewhere_is_counted(monkeypatch):
    """A control: recognised by anything, they are wrong."""
    from allmodes.search.searchers.local import trust_region

    monkeypatch.setattr(trust_region, "recognise", lambda context, point, *rest: np.zeros(len(point), np.intp))
    coverage = search(shadow=1.0).coverage
    assert coverage.misjudged > 0.5 * coverage.checked > 20


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_share_is_from_0_to_1(share):
    with pytest.raises(ValueError, match="shadow"):
        search(shadow=share)
