"""Searches keep their rows while others begin and end."""

from dataclasses import dataclass

import numpy as np
import pytest

from allmodes.search.candidate import LOCAL, SPACE_FILLING, Origin
from allmodes.search.searchers.local.lines import LineTable
from allmodes.search.searchers.local.table import Array, Counts, Table, TrustRegionTable, column
from allmodes.storage import stored
from allmodes.storage.packing import pack, unpack


@stored
@dataclass(eq=False)
class SmallTable(Table):
    """Two columns more than there are."""

    matrix: Array = column(2)
    tries: Counts = column(dtype=np.int64)


def opened(table, points, first=0, cost=0):
    n = len(points)
    origins = [Origin(LOCAL, SPACE_FILLING, first + i, cost) for i in range(n)]
    return table.open(np.array(points, dtype=float), origins, list(range(first, first + n)))


@pytest.fixture
def table():
    return SmallTable(2)


def test_rows_stay_what_they_are_when_others_begin_and_end(table):
    a, b, c = opened(table, [(0.1, 0.2), (0.3, 0.4), (0.5, 0.6)])
    table.close({int(b): None})
    more = opened(table, np.random.default_rng(0).random((20, 2)), first=3)
    assert len(table) == 22
    assert table.point[a].tolist() == [0.1, 0.2]
    assert table.point[c].tolist() == [0.5, 0.6]
    assert len({int(a), int(c), *more.tolist()}) == 22


def test_rows_are_in_the_order_of_paths_even_if_an_old_search_comes_back(table):
    first = opened(table, [(0.1, 0.1), (0.2, 0.2), (0.3, 0.3)])
    table.close({int(first[0]): None})
    (last,) = opened(table, [(0.4, 0.4)], first=7)
    assert last == first[0]  # the row is used again
    assert table.rows == [first[1], first[2], last]
    (back,) = opened(table, [(0.1, 0.1)], first=0)
    assert table.rows == [back, first[1], first[2], last]
    assert table.in_order(np.array([last, first[2], back])).tolist() == [back, first[2], last]


def test_a_row_that_is_used_again_knows_nothing_of_the_search_before(table):
    (row,) = opened(table, [(0.1, 0.1)])
    fresh = unpack(*pack(table))
    for each in table.columns():
        getattr(table, each.name)[row] = 7
    table.close({int(row): None})
    assert table.origins[row] is None
    opened(table, [(0.1, 0.1)])
    for each in table.columns():
        np.testing.assert_array_equal(getattr(table, each.name), getattr(fresh, each.name))
    assert table.value[row] == -np.inf


def test_rows_in_flight_are_not_idle(table):
    rows = opened(table, np.zeros((4, 2)))
    table.is_asked[rows[1:3]] = True
    assert table.idle().tolist() == [rows[0], rows[3]]


def test_an_origin_knows_the_cost_so_far(table):
    (row,) = opened(table, [(0.1, 0.1)], cost=5)
    table.cost[row] += 3
    assert table.origin(row) == Origin(LOCAL, SPACE_FILLING, 0, 8)
    assert type(table.origin(row).cost) is int


@pytest.mark.parametrize("kind", [SmallTable, TrustRegionTable, LineTable])
@pytest.mark.parametrize("d", [1, 3])
def test_every_column_has_a_row_for_each_search(kind, d):
    table = kind(d)
    opened(table, np.full((2, d), 0.5))
    assert {getattr(table, each.name).shape for each in table.columns()} == {(2,), (2, d), (2, d, d)}
    assert {getattr(table, each.name).dtype.name for each in table.columns()} == {"float64", "int64", "bool"}


def test_what_is_known_survives_growth(table):
    (row,) = opened(table, [(0.5, 0.5)])
    table.matrix[row], table.tries[row] = 3.0, 2
    opened(table, np.zeros((50, 2)), first=1)
    table.matrix[row] += 1.0
    table.tries[row] += 1
    assert table.matrix[row].tolist() == [[4.0, 4.0], [4.0, 4.0]]
    assert table.tries[row] == 3


def test_what_is_stored_goes_on(table):
    opened(table, [(0.1, 0.1), (0.2, 0.2)])
    table.value[:] = 1.0
    loaded = unpack(*pack(table))
    loaded.point[0] = 0.7
    assert table.point[0].tolist() == [0.1, 0.1]
    assert loaded.rows == table.rows
    assert loaded.origins == table.origins
    np.testing.assert_array_equal(loaded.value, table.value)
