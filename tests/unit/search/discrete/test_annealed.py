"""Annealed bits: they find what walks find late, and nothing else changes."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np

from allmodes import find_minima
from allmodes.problems import whole
from allmodes.search.searchers.discrete.annealed import Annealed, Annealings
from allmodes.search.searchers.discrete.nodes import Nodes


def test_a_component_becomes_sure_of_the_bits_that_count():
    target, nodes, rng = np.arange(30) % 3 == 0, Nodes(30, 0), np.random.default_rng(0)
    run = Annealed(30, 4000, 3.0)
    while len(levels := run.ask(rng, nodes)):
        nodes.add_all(levels, np.zeros((len(levels), 0)), -(levels != target).sum(axis=1).astype(float))
    assert run.spent <= 4000 + 16
    np.testing.assert_array_equal(run.starts(rng, 4)[0], target)


def test_failures_are_survived():
    nodes, rng, run = Nodes(20, 0), np.random.default_rng(0), Annealed(20, 2000, 1.0)
    while len(levels := run.ask(rng, nodes)):
        values = levels.sum(axis=1).astype(float)
        nodes.add_all(levels, np.zeros((len(levels), 0)), np.where(levels[:, 0] == 1, -np.inf, values))
    np.testing.assert_array_equal(run.starts(rng, 1)[0], [0] + [1] * 19)


def test_knapsacks_are_packed_better_than_by_walks_alone():
    problem = whole.knapsack(60)

    def best(seed):
        return find_minima(
            problem.values, problem.bounds, integrality=True, vectorized=True, maxfev=4000, rng=seed, target="global"
        )

    def never(self, context, nodes, budget):
        return (np.zeros((0, nodes.m), np.int64),) * 2

    annealed = [best(seed) for seed in range(3)]
    assert "annealing" in annealed[0].message
    with patch.object(Annealings, "ask", never):
        alone = [best(seed) for seed in range(3)]
    assert np.mean([result.fun for result in annealed]) < np.mean([result.fun for result in alone]) - 20.0
    assert all(result.nfev <= 4000 for result in annealed)
