"""Which modes are neighbours."""

from __future__ import annotations

from itertools import product

import numpy as np

from allmodes.connecting.pairs import Groups, distances, neighbours
from allmodes.objective.bounds import Box


def plain(points):
    """The definition: no third one is nearer to both."""
    n = len(points)
    apart = np.linalg.norm(points[:, None] - points[None], axis=-1)
    return {
        (i, j)
        for i in range(n)
        for j in range(i + 1, n)
        if not any(max(apart[i, k], apart[j, k]) < apart[i, j] * (1 - 1e-6) for k in range(n) if k not in (i, j))
    }


def test_they_are_those_of_the_definition_and_join_all():
    box = Box.make([(0, 1)] * 3)
    points = np.random.default_rng(0).uniform(size=(300, 3))
    joining, further = neighbours(box, points)
    assert {*joining, *further} == plain(points)
    groups = Groups(300)
    assert all(groups.join(*pair) for pair in joining)
    assert len(joining) == 299
    lengths = [np.linalg.norm(points[i] - points[j]) for i, j in joining]
    assert lengths == sorted(lengths)


def test_of_a_cube_they_are_the_edges():
    points = np.array(list(product([0.2, 0.8], repeat=4)))
    joining, further = neighbours(Box.make([(0, 1)] * 4), points)
    assert len(joining) == 15
    assert len(joining) + len(further) == 32


def test_across_the_ends_of_periodic_coordinates():
    box = Box.make([(0, 1)], periodic=True)
    points = np.array([[0.05], [0.5], [0.95]])
    assert neighbours(box, points)[0][0] == (0, 2)
    assert distances(box, points[:1], points[2:])[0, 0] < 0.11
