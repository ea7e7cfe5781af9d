"""What becomes of local searches that cannot go on."""

import numpy as np
import pytest
from local_runs import a_context

from allmodes.search.candidate import LOCAL, SPACE_FILLING, Origin
from allmodes.search.events import Failed, RanAway, Stuck
from allmodes.search.searchers.local import lost
from allmodes.search.searchers.local.limited_table import LimitedTable
from allmodes.search.searchers.local.table import TrustRegionTable
from allmodes.search.searchers.local.tuning import TUNING

FINE, BROKEN = np.zeros(1, np.bool_), np.ones(1, np.bool_)


def a_search(kind, steps, trial=0.5, slope=1.0):
    context, table = a_context(1), kind(2)
    rows = table.open(np.full((1, 2), 0.4), [Origin(LOCAL, SPACE_FILLING, 0)], [0])
    table.value[rows], table.gradient[rows], table.trial[rows] = 1.0, slope, trial
    table.iterations[rows] = steps
    return context, table, rows


@pytest.mark.parametrize("kind", [TrustRegionTable, LimitedTable])
@pytest.mark.parametrize(
    ("given", "end"),
    [({"steps": 0}, Failed), ({"steps": 3, "trial": 2.0 * TUNING.farthest}, RanAway), ({"steps": 3}, Stuck)],
)
def test_how_they_end(kind, given, end):
    context, table, rows = a_search(kind, **given)
    (event,) = lost.ends_of(context, table, rows, FINE).values()
    assert isinstance(event, end)


@pytest.mark.parametrize("kind", [TrustRegionTable, LimitedTable])
def test_those_with_a_slope_where_models_do_not_hold_go_on_over_a_kink(kind):
    context, table, rows = a_search(kind, 3)
    assert list(lost.ends_of(context, table, rows, BROKEN).values()) == [None]
    table.has_met_kink[rows] = True
    assert isinstance(*lost.ends_of(context, table, rows, BROKEN).values(), Stuck)


def test_a_search_is_tired_after_its_patience():
    context, table, rows = a_search(TrustRegionTable, lost.patience(2) + 1)
    (event,) = lost.ends_of(context, table, rows, FINE).values()
    assert event.is_tired
