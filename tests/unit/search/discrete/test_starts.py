"""Where walks begin: given points first, then beside known modes or anywhere."""

from __future__ import annotations

import numpy as np

from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive, Frozen
from allmodes.search.context import Context
from allmodes.search.searchers.discrete.space import Space
from allmodes.search.searchers.discrete.starts import start
from allmodes.search.searchers.discrete.tuning import TUNING

BOX = Box.make([(0, 9)] * 4 + [(-1.0, 1.0)], integrality=[1, 1, 1, 1, 0])
SPACE = Space.of(BOX)
NONE = np.zeros((0, 5))


def a_context(is_global=False):
    return Context(BOX, Archive(BOX), np.random.default_rng(0), order=0, is_global=is_global)


def freeze(context, x, value):
    record = Frozen(np.zeros(5), -np.eye(5), np.zeros(5, bool), "optimum", "differences", 1)
    context.archive.add(BOX.to_unit(np.array([x], dtype=float))[0], value, record)


def test_given_points_come_first():
    point = BOX.to_unit(np.array([[1.0, 2.0, 3.0, 4.0, 0.5]]))
    levels, reals, is_even = start(a_context(), SPACE, point)
    assert levels.tolist() == [1, 2, 3, 4]
    np.testing.assert_allclose(reals, [0.75])
    assert not is_even


def test_nothing_known_leads_anywhere():
    context = a_context()
    drawn = [start(context, SPACE, NONE) for _ in range(200)]
    assert all(is_even for *_, is_even in drawn)
    levels = np.array([each[0] for each in drawn])
    assert levels.min() == 0
    assert levels.max() == 9
    assert all(0.0 <= each[1][0] <= 1.0 for each in drawn)


def test_some_walks_leave_known_modes_and_the_share_is_as_stated():
    context = a_context()
    freeze(context, [5, 5, 5, 5, 0.0], 1.0)
    share = np.mean([not start(context, SPACE, NONE)[2] for _ in range(1000)])
    expected = TUNING.kicked_all
    assert abs(share - expected) < 4.0 * np.sqrt(expected * (1 - expected) / 1000)


def test_where_the_best_count_walks_leave_the_best_modes_most_often():
    context = a_context(is_global=True)
    for value in range(6):  # ever better, at real coordinates that tell them apart
        freeze(context, [value, 0, 0, 0, -1.0 + 0.3 * value], float(value))
    left = [reals[0] for _, reals, is_even in (start(context, SPACE, NONE) for _ in range(600)) if not is_even]
    best = np.isclose(left, 0.5 * 0.3 * 5)
    assert 0.4 < best.mean() < 0.6
