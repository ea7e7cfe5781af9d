"""Where the minima of an instance lie, and how the space is turned around each of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.problems.niching2026 import numbers

Floats = NDArray[np.float64]

INSTANCES = 15
_CANDIDATES = 5  # random points for each minimum, of which those that are farthest from each other are taken
_INNER = 0.9  # of the box, where they are
_NEAREST = 0.3  # of the root of d: minima that are moved together stay so far apart, if they were
_TRIES = 100  # to move one less
_CLOSEST = 0.2  # of what it was, to the power of the unevenness: the smallest distance after that
_VARIED, _SWAPPED = 0.3, 0.3  # by which sizes of blocks differ; swaps of coordinates between them, for each coordinate


class Stream:
    """The random numbers of an instance, taken one after the other."""

    def __init__(self, permutation: int) -> None:
        places = numbers.order(permutation)
        self._uniforms, self._normals = iter(numbers.uniforms()[places]), iter(numbers.normals()[places])

    def uniform(self, n: int) -> Floats:
        return np.array([next(self._uniforms) for _ in range(n)])

    def normal(self, n: int) -> Floats:
        return np.array([next(self._normals) for _ in range(n)])


def places(stream: Stream, K: int, d: int, unevenness: float) -> Floats:
    """Positions of the minima (K, d) in [-5, 5]^d."""
    candidates = stream.uniform(_CANDIDATES * K * d).reshape(-1, d)
    middle = int(np.ceil(stream.uniform(1)[0] * K)) - 1
    even = 10.0 * (_INNER * _far_apart(candidates, K) + (1.0 - _INNER) / 2.0) - 5.0
    return _drawn_to(even, even[middle], unevenness, _NEAREST * np.sqrt(d))


def _far_apart(points: Floats, K: int) -> Floats:
    """The first point and K - 1 others, each the farthest from those before it."""
    chosen = [0]
    apart = np.linalg.norm(points - points[0], axis=1)
    while len(chosen) < K:
        chosen.append(int(np.argmax(apart)))
        apart = np.minimum(apart, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return points[chosen]


def _drawn_to(points: Floats, middle: Floats, unevenness: float, nearest: float) -> Floats:
    """The points (K, d) moved to the middle, those that are close to it the most, without coming too near to others."""
    K = len(points)
    ways = points - middle
    order = np.argsort(np.linalg.norm(ways, axis=1), kind="stable")
    ranks = np.empty(K)
    ranks[order] = np.arange(1, K + 1)
    shares = (_CLOSEST + (1.0 - _CLOSEST) * ranks / K) ** unevenness
    moved = points.copy()
    for turn, k in enumerate(order):
        others = np.delete(np.arange(K), k)
        for tried in range(_TRIES + 1):
            moved[k] = middle + shares[k] ** ((_TRIES - tried) / _TRIES) * ways[k]
            is_free = np.linalg.norm(moved[others] - moved[k], axis=1).min() >= nearest
            if is_free or turn in (0, K - 1):
                break
    return moved


def rotations(stream: Stream, K: int, d: int, instance: int) -> Floats:
    """An orthogonal matrix for each minimum, (K, d, d), that turns blocks of coordinates.

    The first instance has one block of all coordinates, the last one separable coordinates.
    """
    blocks = 1 + int(np.floor((instance - 1) / (INSTANCES - 1) * (d - 1) + 0.5))
    coordinates, sizes = _blocks(stream, d, blocks)
    every = [_swapped(stream, coordinates) if 1 < blocks < d else coordinates for _ in range(K)]
    turned = np.tile(np.eye(d), (K, 1, 1))
    ends = np.cumsum(sizes)
    for k, these in enumerate(every):
        for end, size in zip(ends, sizes, strict=True):
            if size > 1:
                block = these[end - size : end]
                turned[k][np.ix_(block, block)] = _turned(stream.normal(2 * size), np.pi * stream.uniform(1)[0])
    return turned


def _blocks(stream: Stream, d: int, blocks: int) -> tuple[NDArray[np.intp], list[int]]:
    """Coordinates (d,) block by block, and the sizes of the blocks."""
    if blocks in (1, d):
        return np.arange(d), [d // blocks] * blocks
    coordinates = np.argsort(stream.uniform(d), kind="stable")
    mean = 1 / blocks * d
    fewest = max(1, min(int(mean), int(np.floor(0.5 + mean * (1.0 - _VARIED)))))
    most = max(int(np.ceil(mean)), int(np.floor(0.5 + mean * (1.0 + _VARIED))))
    sizes, growing = [fewest] * blocks, list(range(blocks))
    while sum(sizes) < d:
        block = growing[int(stream.uniform(1)[0] * len(growing))]
        sizes[block] += 1
        if sizes[block] >= most:
            growing.remove(block)
    return coordinates, sizes


def _swapped(stream: Stream, coordinates: NDArray[np.intp]) -> NDArray[np.intp]:
    """The coordinates with some pairs of them exchanged."""
    swapped, d = coordinates.copy(), len(coordinates)
    for _ in range(1 + int(d * _SWAPPED)):
        pair = (stream.uniform(2) * d).astype(np.intp)
        swapped[pair] = swapped[pair[::-1]]
    return swapped


def _turned(both: Floats, angle: float) -> Floats:
    """A rotation by an angle in the plane of two vectors, which are given one after the other."""
    u, v = both.reshape(2, -1)
    u = u / np.linalg.norm(u)
    v = v - (u @ v) * u
    v = v / np.linalg.norm(v)
    plane = np.outer(u, u) + np.outer(v, v)
    return np.asarray(
        np.eye(len(u)) + np.sin(angle) * (np.outer(v, u) - np.outer(u, v)) + (np.cos(angle) - 1.0) * plane
    )
