"""How hard a search looks for modes that are still missing."""

import re

import numpy as np
import pytest

from allmodes import ModeFinder, find_minima
from allmodes.report.page import rerun

BOUNDS = [(0, 1)] * 2


def waves(x):
    """Eight minima with unequal basins."""
    x, k = np.atleast_2d(x), np.array([[9.0, 4.0], [-5.0, 11.0], [13.0, -2.0]])
    return np.cos(x @ k.T + [0.3, 1.0, 2.0]).sum(axis=1) + 2.0 * ((x - 0.5) ** 2).sum(axis=1)


def stopping(**settings):
    return ModeFinder(BOUNDS, **settings)._driver.state.search.stopping


def test_without_a_budget_as_many_evaluations_again_are_ahead():
    assert (stopping().effort, stopping().persistence) == (1.0, 600)
    assert (stopping(effort=2).effort, stopping(effort=2).persistence) == (2.0, 1200)
    assert stopping(effort=0.5).persistence == 300


def test_a_given_budget_is_there_to_be_used():
    assert (stopping(maxfev=10_000).effort, stopping(maxfev=10_000).persistence) == (np.inf, 2500)
    assert stopping(maxfev=10_000, target="global").persistence == 1000


def test_a_budget_is_a_limit_where_an_effort_is_named():
    named = stopping(maxfev=10_000, effort=1)
    assert (named.effort, named.persistence) == (1.0, 600)


def test_more_effort_uses_more_evaluations():
    found = [find_minima(waves, BOUNDS, vectorized=True, rng=0, effort=effort) for effort in (0.2, 1.0, 5.0)]
    assert [len(each.modes) for each in found] == [8, 8, 8]
    nfev = [each.nfev for each in found]
    assert nfev[0] < nfev[1] < nfev[2] < 30_000
    ahead = [float(re.search(r"of (\d+) more evaluations", each.message)[1]) for each in found]
    np.testing.assert_allclose(ahead, np.multiply(nfev, [0.2, 1.0, 5.0]), rtol=0.05)


def test_it_is_written_down():
    found = find_minima(lambda x: float((x**2).sum()), [(-1, 1)], rng=0, effort=0.5)
    assert found.settings["effort"] == 0.5
    assert "effort=0.5" in rerun.snippet(found)
    assert "effort" not in rerun.snippet(find_minima(lambda x: float((x**2).sum()), [(-1, 1)], rng=0))


@pytest.mark.parametrize(
    ("effort", "error", "said"),
    [
        (0, ValueError, "effort is 0; it must be greater than 0"),
        (-1.0, ValueError, "effort is -1.0; it must be greater than 0"),
        (np.inf, ValueError, "effort is inf; a finite number was wanted"),
        ("high", TypeError, r"effort is 'high' \(str\); a number was wanted"),
        (True, TypeError, r"effort is True \(bool\); a number was wanted"),
    ],
)
def test_a_wrong_effort_is_refused(effort, error, said):
    with pytest.raises(error, match=said):
        ModeFinder(BOUNDS, effort=effort)
