"""Candidates of annealing as they are: one for each hill."""

import numpy as np
import pytest

from allmodes import find_minima
from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.strategy.archive import Archive
from allmodes.strategy.polished import Polished
from allmodes.strategy.search import Search

BOX = Box.make([(0, 1), (0, 1)])
NONE = np.zeros((0, 2))


def hills(z):
    """Tops of height 1 and 0.9 at (0.25, 0.5) and (0.75, 0.5)."""
    return np.maximum(
        1.0 - 9.0 * ((z - [0.25, 0.5]) ** 2).sum(axis=1), 0.9 - 9.0 * ((z - [0.75, 0.5]) ** 2).sum(axis=1)
    )


def offered(*batches, maxfev=10_000, function=hills):
    """The archive when annealing has offered these batches of candidates."""
    search = Search(BOX, Archive(BOX), np.random.default_rng(0), maxfev=maxfev)
    search.add_levels(np.linspace(0.0, 1.0, 101))
    polished = Polished.make(search, None, NONE, False)
    for batch in batches:
        polished.annealed.candidates = [np.array(point) for point in batch]
        for turn in ("look", "compare"):
            points = polished.ask().points
            if polished.turn == turn:
                search.nfev += len(points)
                polished.tell(Evaluation(function(points)))
    assert search.nfev <= maxfev
    return search.archive


def test_candidates_on_one_hill_are_one():
    archive = offered([(0.3, 0.5), (0.26, 0.5), (0.7, 0.5), (0.2, 0.45), (0.76, 0.52)])
    assert archive.means.tolist() == [[0.26, 0.5], [0.76, 0.52]]
    assert archive.hits.tolist() == [3, 2]


def test_a_better_candidate_replaces_the_mode_of_its_hill():
    archive = offered([(0.3, 0.5), (0.7, 0.5)], [(0.26, 0.5)], [(0.31, 0.5)])
    assert sorted(archive.means.tolist()) == [[0.26, 0.5], [0.7, 0.5]]
    assert sorted(archive.hits.tolist()) == [1, 3]


def test_candidates_that_cannot_be_compared_any_more_are_forgotten():
    archive = offered([(0.3, 0.5), (0.26, 0.5), (0.7, 0.5), (0.2, 0.45)], maxfev=4 + 5)
    assert archive.means[0].tolist() == [0.26, 0.5]
    assert len(archive) == 1


def test_candidates_that_fail_are_left_out():
    archive = offered([(0.3, 0.5), (0.7, 0.5)], function=lambda z: np.where(z[:, 0] > 0.5, -np.inf, hills(z)))
    assert archive.means.tolist() == [[0.3, 0.5]]


def himmelblau(x):
    return (x[:, 0] ** 2 + x[:, 1] - 11) ** 2 + (x[:, 0] + x[:, 1] ** 2 - 7) ** 2


def test_unpolished_annealing_lists_every_basin_once():
    minima = np.array([[3, 2], [3.584428, -1.848126], [-3.779310, -3.283186], [-2.805118, 3.131312]])
    for seed in range(3):
        result = find_minima(
            himmelblau, [(-6, 6)] * 2, vectorized=True, method="anneal", polish=False, rng=seed, maxfev=6000
        )
        places = np.array([mode.x for mode in result.modes])
        assert len(places) == 4
        assert np.abs(places[:, None] - minima).max(axis=2).min(axis=0).max() < 0.5
        assert all(mode.kind == "unverified" for mode in result.modes)


@pytest.mark.parametrize("seed", range(3))
def test_a_cone_with_a_crease_is_one(seed):
    result = find_minima(
        lambda x: 3 * abs(x[:, 0] + x[:, 1] - 0.9) + abs(x[:, 0] - x[:, 1] + 0.3), [(0, 1)] * 2, vectorized=True,
        method="anneal", polish=False, rng=seed, maxfev=4000,
    )  # fmt: skip
    assert len(result.modes) == 1
