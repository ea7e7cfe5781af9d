"""The table of searches for roots: each has its Jacobian, and rows are used again."""

import numpy as np

from allmodes.search.candidate import LOCAL, SPACE_FILLING, Origin
from allmodes.search.searchers.roots.table import RootTable
from allmodes.storage import pack, unpack


def opened(table, points, first=0):
    paths = list(range(first, first + len(points)))
    return table.open(np.array(points), [Origin(LOCAL, SPACE_FILLING, path) for path in paths], paths)


def test_a_search_that_begins_knows_nothing_of_the_one_that_had_its_row():
    table = RootTable(2)
    rows = opened(table, [[0.1, 0.2], [0.3, 0.4]])
    table.jacobian[rows], table.is_exact[rows], table.refusals[rows] = np.eye(2), True, 3
    table.close({int(rows[0]): None})
    (row,) = opened(table, [[0.5, 0.6]], first=2)
    assert row == rows[0]
    assert not table.jacobian[row].any()
    assert not table.is_exact[row]
    assert table.refusals[row] == 0
    assert table.is_exact[rows[1]]


def test_it_is_saved_with_its_jacobians():
    table = RootTable(2)
    rows = opened(table, [[0.1, 0.2]])
    table.jacobian[rows] = [[1.0, 2.0], [3.0, 4.0]]
    copy = unpack(*pack(table))
    assert copy.jacobian[rows].tolist() == [[[1.0, 2.0], [3.0, 4.0]]]
    assert copy.point[rows].tolist() == [[0.1, 0.2]]
