"""What walks remember."""

from __future__ import annotations

import numpy as np

from allmodes import storage
from allmodes.search.searchers.discrete.nodes import Nodes


def test_nodes_know_levels_and_places():
    nodes = Nodes(2, 1)
    rows = [nodes.add(np.array([i, 0]), np.array([0.1]), float(i)) for i in range(200)]
    assert nodes.find(np.array([150, 0])) == rows[150]
    assert nodes.find(np.array([150, 1])) == -1
    assert nodes.nearest(np.array([3, 0]), np.array([0.1 + 1e-7])) == (-1, np.inf)
    nodes.lead([3], 7)
    row, apart = nodes.nearest(np.array([3, 0]), np.array([0.1 + 1e-7]))
    assert row == 3
    np.testing.assert_allclose(apart, 1e-7, rtol=1e-6)


def test_many_are_added_at_once_and_found_after_loading(tmp_path):
    nodes, levels = Nodes(3, 0), np.array([[i, i % 5, 7] for i in range(300)])
    assert nodes.add_all(levels[:100], np.zeros((100, 0)), np.arange(100.0)) == 0
    assert nodes.add_all(levels[100:], np.zeros((200, 0)), np.arange(100.0, 300.0)) == 100
    storage.save(tmp_path / "nodes.npz", nodes, kind="nodes")
    loaded = storage.load(tmp_path / "nodes.npz", kind="nodes")
    np.testing.assert_array_equal(loaded.find_all(levels[::-1]), np.arange(300)[::-1])
    np.testing.assert_array_equal(loaded.find_all(levels + 1000), -1)
    np.testing.assert_array_equal(loaded.known[1], np.arange(300.0))
