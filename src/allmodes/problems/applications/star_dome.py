"""A dome that snaps through."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.problems.applications.application import Floats, minimised
from allmodes.problems.problem import Problem

_FREE = 7  # nodes that move: the top and the ring
_STIFFNESS = 10.0
_LOADS = 0.004 * np.array([1.0, 0.3, 0.1, 0.25, 0.15, 0.2, 0.12])  # downward; unequal, so that no two minima are


def _dome() -> tuple[Floats, NDArray[np.int64]]:
    """The nodes (13, 3): top, ring of six, six feet; and the ends (24, 2) of the bars."""
    corner = np.radians(60.0 * np.arange(6))
    ring = np.stack([25.0 * np.cos(corner), 25.0 * np.sin(corner), np.full(6, 6.216)], axis=1)
    between, reach = corner + np.pi / 6.0, 50.0 * 0.866025
    feet = np.stack([reach * np.cos(between), reach * np.sin(between), np.zeros(6)], axis=1)
    i = np.arange(6)
    next_, previous = (i + 1) % 6, (i - 1) % 6
    starts = np.concatenate([np.zeros(6, int), i + 1, i + 1, i + 1])
    ends = np.concatenate([i + 1, next_ + 1, i + 7, previous + 7])
    return np.concatenate([[[0.0, 0.0, 8.216]], ring, feet]), np.stack([starts, ends], axis=1)


_NODES, _BARS = _dome()
_PLAN = _NODES * [1.0, 1.0, 0.0]  # heights are unknowns themselves, not moves
_LENGTHS = np.linalg.norm(_NODES[_BARS[:, 1]] - _NODES[_BARS[:, 0]], axis=1)
# +1 and -1 at the ends of each bar: differences of nodes are bars, and sums over bars are forces on nodes.
_ENDS = np.eye(len(_NODES))[_BARS[:, 1]] - np.eye(len(_NODES))[_BARS[:, 0]]


def _bars(x: Floats) -> tuple[Floats, Floats]:
    """The bars as vectors (N, 24, 3) and their lengths (N, 24)."""
    nodes = np.tile(_NODES, (len(x), 1, 1))
    nodes[:, :_FREE] = _PLAN[:_FREE] + x.reshape(-1, _FREE, 3)
    bars = _ENDS @ nodes
    return bars, np.sqrt((bars**2).sum(axis=2))


def _fun(x: Floats) -> Floats:
    _, lengths = _bars(x)
    elastic = 0.5 * _STIFFNESS * ((lengths - _LENGTHS) ** 2 / _LENGTHS).sum(axis=1)
    return elastic + x[:, 2::3] @ _LOADS


def _jac(x: Floats) -> Floats:
    bars, lengths = _bars(x)
    pull = _STIFFNESS * (1.0 / _LENGTHS - 1.0 / lengths)
    gradient = (_ENDS[:, :_FREE].T @ (pull[..., None] * bars)).reshape(len(x), -1)
    gradient[:, 2::3] += _LOADS
    return gradient


def star_dome() -> Problem:
    """A star dome of 24 elastic bars under small loads: 90 stable shapes are known, one of lowest energy.

    Seven nodes are free: for each, two moves sideways and its height, 21 unknowns. The top and the corners of the ring
    can snap through, each by itself or several together. Loads are unequal, so that there are no symmetries. The
    geometry is the one commonly used for snap-through since Hangai and Kawamata (1972).
    """
    return minimised("star dome", _fun, _jac, [[-1.5, 1.5], [-1.5, 1.5], [-12.0, 12.0]] * _FREE)
