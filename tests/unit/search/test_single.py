"""The domain that is one point."""

from __future__ import annotations

import numpy as np
import pytest

from allmodes import find_minima
from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive
from allmodes.search.context import Context
from allmodes.search.single import Single
from allmodes.storage import pack, unpack


def make():
    box = Box.make([(2, 2), (3, 3)])
    return Single(Context(box, Archive(box), np.random.default_rng(0)))


def test_it_asks_once_and_ends():
    single = make()
    assert single.ask().points.shape == (1, 0)
    assert single.ending == ""
    single = unpack(*pack(single))
    single.tell(Evaluation(np.array([7.0]), None, None))
    assert single.ending == "the bounds leave one point"
    assert single.ask().points.shape == (0, 0)
    archive = single.context.archive
    assert (archive.values.tolist(), archive.records[0].kind) == ([7.0], "boundary")
    assert archive.hits.tolist() == [1]


@pytest.mark.parametrize("value", [-np.inf, np.nan])
def test_a_point_that_fails_is_no_mode(value):
    single = make()
    single.tell(Evaluation(np.array([value]), None, None))
    assert len(single.context.archive) == 0
    assert single.ending


def test_through_the_door():
    result = find_minima(lambda x: float(x.sum()), [(2, 2), (3, 3)])
    assert (result.x.tolist(), result.fun, result.nfev) == ([2.0, 3.0], 5.0, 1)
