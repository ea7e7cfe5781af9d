"""Memory does not grow with the number of evaluations. `benchmarks/memory.py` measures it over a million."""

from __future__ import annotations

import json

import numpy as np
import pytest

from allmodes import ModeFinder
from allmodes.objective.bounds import Box
from allmodes.search.candidate import POPULATION
from allmodes.search.searchers.population.pool import Pool
from allmodes.storage import pack


def two_wells(x):
    return (x[:, 0] ** 2 - 1.0) ** 2 + x[:, 1] ** 2


def size(finder):
    """Bytes of all that a search consists of: numbers and structure."""
    tree, arrays = pack(finder._driver.state)
    return len(json.dumps(tree)) + sum(array.nbytes for array in arrays.values())


@pytest.fixture(autouse=True)
def low_limits(monkeypatch):
    """Limits lowered to what a short search reaches."""
    for name in ("starts.queue._MOST_POINTS", "context._MOST_VALUES"):
        monkeypatch.setattr(f"allmodes.search.{name}", 300)
    monkeypatch.setattr("allmodes.result.history._ROWS", 20)
    for name, limit in (("_MOST_SEARCHES", 20), ("_MOST_POINTS", 100), ("_MOST_FRAMES", 20), ("_PENDING", 8)):
        monkeypatch.setattr(f"allmodes.result.records.{name}", limit)


def told(evaluations, **given):
    """A search after so many evaluations, and its size at equal distances."""
    finder = ModeFinder([(-2.0, 2.0), (-2.0, 2.0)], rng=0, maxfev=10**6, **given)
    sizes = []
    while not finder.stop() and finder.nfev < evaluations:
        finder._driver.tell_round(two_wells(finder.ask()))
        if finder.nfev > evaluations // 40 * (len(sizes) + 1):
            sizes.append(size(finder))
    assert finder.nfev >= evaluations
    return finder._driver.state, sizes


def test_what_local_searches_hold_stays_bounded():
    state, sizes = told(30_000, method="local", options={"patience": 10**6, "width": 256})
    early, late = np.median(sizes[5:20]), np.median(sizes[20:])
    assert late < 1.1 * early
    assert len(state.history) <= 20
    assert len(state.context.sampled) < 600


def test_what_screening_holds_stays_bounded():
    state, _ = told(20_000, method="local", target="global")
    assert 0 < len(state.search.multistart.screened.queue) <= 300


def test_what_populations_hold_stays_bounded():
    state, _ = told(15_000, method="black-box")
    queue = state.search.members[POPULATION].pool.queue
    assert queue.forgotten > 1000
    assert len(queue) <= 300


def test_a_pool_forgets_the_oldest(monkeypatch):
    monkeypatch.setattr("allmodes.search.starts.queue._MOST_POINTS", 20)
    points = np.random.default_rng(0).random((50, 2))
    pool = Pool(Box.make([(0.0, 1.0)] * 2))
    pool.queue.add(points, points[:, 0])
    pool.begin_round(np.zeros((0, 2)))
    np.testing.assert_array_equal(pool.queue.points, points[-20:])
    assert pool.queue.forgotten == 30
    assert pool.take().point[0] == points[-20:, 0].max()
