"""Problems of whole numbers: their stated optima are right."""

from __future__ import annotations

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.problems import whole
from allmodes.search.searchers.discrete.enumeration import Enumeration
from allmodes.search.searchers.discrete.space import Space


@pytest.mark.parametrize("problem", [whole.qubo(16), whole.knapsack(16)], ids=lambda problem: problem.name)
def test_small_ones_by_trying_every_point(problem):
    space = Space.of(Box.make(problem.bounds, integrality=problem.integrality))
    every = Enumeration(space)
    every.values[:] = -problem.values(space.numbered(np.arange(space.size)).astype(float))
    assert -every.values.max() == problem.best
    assert len(every.optima(np.zeros(space.size))) == problem.minima


@pytest.mark.parametrize("n", [60, 100, 200])
def test_knapsacks_by_dynamic_programming(n):
    rng = np.random.default_rng([n, 0, 1])
    weights = rng.integers(5, 51, n)
    prices = weights + rng.integers(1, 21, n)
    worth = np.zeros(int(weights.sum() // 2) + 1, np.int64)
    for weight, price in zip(weights, prices, strict=True):
        worth[weight:] = np.maximum(worth[weight:], worth[:-weight] + price)
    assert -worth[-1] == whole.knapsack(n).best


def test_teeth_of_the_gear_train_by_trying_every_ratio():
    problem, teeth = whole.gear_train(), np.arange(12, 61)
    products = np.unique(np.multiply.outer(teeth, teeth))
    assert ((1.0 / 6.931 - np.divide.outer(products, products)) ** 2).min() == problem.best == problem(problem.at)


@pytest.mark.parametrize(
    "problem", [whole.pressure_vessel(), whole.welded_beam(), whole.spring()], ids=lambda problem: problem.name
)
def test_designs_are_worth_what_is_stated_and_nothing_beside_them_is_better(problem):
    at = np.array(problem.at)
    np.testing.assert_allclose(problem(at), problem.best, rtol=2e-7)
    rng, is_real = np.random.default_rng(0), [not isinstance(b, list) for b in problem.bounds]
    is_real = np.array(is_real) & (np.array(problem.integrality) == 0)
    for size in (1e-5, 1e-3, 1e-1):
        beside = at + size * at * is_real * rng.uniform(-1.0, 1.0, (2000, len(at)))
        assert problem.values(beside).min() > problem.best * (1.0 - 2e-7)


def test_all_of_them_have_points_in_their_bounds():
    for problem in whole.whole_problems():
        box = Box.make(problem.bounds, integrality=problem.integrality)
        points = box.to_user(np.random.default_rng(0).random((20, problem.dimension)))
        assert np.isfinite(problem.values(points)).all()
        assert (problem.values(points) > problem.best).all()
        assert problem.is_mixed == bool(box.is_real.any())
