"""Launches keep their rows while others begin and end."""

import numpy as np
import pytest

from allmodes.storage.packing import pack, unpack
from allmodes.strategy.batch import Batch, Phase


def opened(batch, points, arm=1):
    n = len(points)
    return batch.open(np.array(points, dtype=float), np.full(n, 0.1), np.full(n, arm), np.full(n, -1))


@pytest.fixture
def batch():
    return Batch.empty(2)


def test_rows_stay_what_they_are_when_others_begin_and_end(batch):
    a, b, c = opened(batch, [(0.1, 0.2), (0.3, 0.4), (0.5, 0.6)])
    batch.close({int(b)})
    more = opened(batch, np.random.default_rng(0).random((20, 2)))
    assert len(batch) == 22
    assert batch.point[a].tolist() == [0.1, 0.2]
    assert batch.point[c].tolist() == [0.5, 0.6]
    assert len({int(a), int(c), *more.tolist()}) == 22


def test_rows_are_listed_in_the_order_of_launching(batch):
    first = opened(batch, [(0.1, 0.1), (0.2, 0.2), (0.3, 0.3)])
    batch.close({int(first[0])})
    (last,) = opened(batch, [(0.4, 0.4)])
    assert last == first[0]  # the row is used again
    assert batch.rows == [first[1], first[2], last]
    assert batch.in_order(np.array([last, first[2], first[1]])).tolist() == batch.rows


def test_a_row_that_is_used_again_knows_nothing_of_the_launch_before(batch):
    (row,) = opened(batch, [(0.1, 0.1)])
    fresh = unpack(*pack(batch))
    for table in (batch.numbers, batch.counts, batch.flags):
        table[row] = 7
    batch.close({int(row)})
    opened(batch, [(0.1, 0.1)])
    fresh.number[:] += 1
    for name in ("numbers", "counts", "flags"):
        np.testing.assert_array_equal(getattr(batch, name), getattr(fresh, name))
    assert batch.phase[row] == Phase.START


def test_rows_that_are_not_in_use_have_no_arm(batch):
    rows = opened(batch, [(0.1, 0.1), (0.2, 0.2), (0.3, 0.3)], arm=0)
    batch.close(set(rows.tolist()))
    assert not len(batch)
    assert not (batch.arm == 0).any()
    opened(batch, np.zeros((5, 2)), arm=0)
    assert (batch.arm == 0).sum() == 5


def test_parts_are_views_that_do_not_overlap(batch):
    (row,) = opened(batch, [(0.5, 0.5)])
    names = ("value", "gradient", "hessian", "point", "trial", "came_from", "old_gradient", "along", "radius",
             "distance", "shrinkage", "way", "home", "curve", "sides", "slope", "base", "length", "low", "high",
             "steep", "home_value", "drop", "aside")  # fmt: skip
    for i, name in enumerate(names):
        getattr(batch, name)[row] = i
    assert [getattr(batch, name)[row].flat[0] for name in names] == list(range(len(names)))
    assert sum(getattr(batch, name)[row].size for name in names) == batch.numbers.shape[1]
    assert batch.model[row].tolist() == [0.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]


def test_views_survive_growth(batch):
    (row,) = opened(batch, [(0.5, 0.5)])
    batch.value[row] = 3.0
    opened(batch, np.zeros((50, 2)))
    batch.value[row] += 1.0
    assert batch.numbers[row, 0] == 4.0


def test_what_is_stored_goes_on(batch):
    opened(batch, [(0.1, 0.1), (0.2, 0.2)])
    batch.value[:] = 1.0
    loaded = unpack(*pack(batch))
    loaded.point[0] = 0.7
    assert loaded.numbers[0].tolist() != batch.numbers[0].tolist()
    assert loaded.rows == batch.rows
    np.testing.assert_array_equal(loaded.value, batch.value)
