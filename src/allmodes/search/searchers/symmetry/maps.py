"""Symmetries in the user's coordinates: exchanges, changes of sign, and sums of up to three coordinates.

A map x -> M x with whole numbers -1, 0 and 1 in M covers what models of data have: peaks or classes that swap names,
hidden units that change sign, rate constants in logarithms that trade places.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice, product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from allmodes.search.searchers.symmetry.tuning import TUNING
from allmodes.search.tolerances import TINY

Array = NDArray[np.float64]
Row: TypeAlias = tuple[tuple[int, float], ...]  # coordinates and their signs

_MOST_TERMS = 3  # in a row: sums of more are matched by accident
_SUMS = 4  # coordinates for each that may become a sum of others: with more, two modes have nothing in common


def symmetry(a: Array, b: Array, H_a: Array, H_b: Array, periods: Array, slack: Array) -> Array | None:
    """A matrix M (d, d) with M a = b that takes the curvature at a into that at b, or None.

    Args:
        a, b: two places (d,) in the user's coordinates.
        H_a, H_b: Hessians there.
        periods: (d,), of periodic coordinates; infinite for others.
        slack: (d,), how well the places are known.
    """
    singles = [_rows(a, b[j], periods[j], slack[j], 1, j) for j in range(len(a))]
    sums = sum(not row for row in singles)
    if not sums:
        for chosen in islice(_permutations(singles, H_a, H_b), 1):
            return _matrix(chosen)
        return None
    if sums > max(1, len(a) // _SUMS):
        return None
    rows = [
        one or _rows(a, b[j], periods[j], slack[j], 2, j) or _rows(a, b[j], periods[j], slack[j], _MOST_TERMS, j)
        for j, one in enumerate(singles)
    ]
    for chosen in islice(product(*rows), TUNING.nodes):
        M = _matrix(chosen)
        if abs(abs(np.linalg.det(M)) - 1.0) < 1e-6 and _is_alike(H_a, M.T @ H_b @ M):
            return M
    return None


def _rows(a: Array, goal: float, period: float, slack: float, terms: int, j: int) -> list[Row]:
    """All signed sums of so many coordinates of a that equal the goal; the one that changes nothing first."""
    chosen = np.array(list(combinations(range(len(a)), terms)))
    if not len(chosen):
        return []
    signs = np.array(list(product((1.0, -1.0), repeat=terms)))
    miss = np.einsum("ct,st->cs", a[chosen], signs) - goal
    if np.isfinite(period):
        miss -= period * np.rint(miss / period)
    found = [
        tuple(zip(chosen[c].tolist(), signs[s].tolist(), strict=True))
        for c, s in np.argwhere(np.abs(miss) <= terms * slack).tolist()
    ]
    return sorted(found, key=lambda row: row != ((j, 1.0),))


def _permutations(options: list[list[Row]], H_a: Array, H_b: Array) -> Iterator[tuple[Row, ...]]:
    """Choices of one coordinate for each row, each used once, under which the Hessians agree; depth first."""
    d, left = len(options), [TUNING.nodes]
    limits = _limits(H_b)

    def extend(chosen: list[tuple[int, float]]) -> Iterator[tuple[Row, ...]]:
        j = len(chosen)
        if j == d:
            yield tuple((pair,) for pair in chosen)
            return
        for ((i, sign),) in options[j]:
            left[0] -= 1
            if left[0] < 0:
                return
            if any(i == k for k, _ in chosen):
                continue
            pairs = [*chosen, (i, sign)]
            columns, signs = [k for k, _ in pairs], np.array([s for _, s in pairs])
            if (np.abs(H_b[j, : j + 1] - sign * signs * H_a[i, columns]) <= limits[j, : j + 1]).all():
                yield from extend(pairs)

    return extend([])


def _limits(H: Array) -> Array:
    """By how much entries of a Hessian may differ, (d, d)."""
    size = np.sqrt(np.abs(np.diagonal(H)) + TINY)
    return TUNING.alike * size[:, None] * size


def _is_alike(H: Array, other: Array) -> bool:
    return bool((np.abs(H - other) <= _limits(H)).all())


def _matrix(chosen: tuple[Row, ...]) -> Array:
    M = np.zeros((len(chosen), len(chosen)))
    for j, row in enumerate(chosen):
        for i, sign in row:
            M[j, i] = sign
    return M
