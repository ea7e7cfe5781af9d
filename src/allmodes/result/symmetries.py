"""Symmetries of a function in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def in_words(M: NDArray[np.float64], names: Sequence[str]) -> str:
    """What a map x -> M x does to the coordinates that it changes.

    >>> in_words(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, -1.0, 1.0]]), ["ka", "ke", "V"])
    '(ka, ke, V) -> (ke, ka, ka - ke + V)'
    >>> in_words(np.diag([1.0, -1.0]), ["a", "b"])
    'b -> -b'
    """
    changed = np.flatnonzero((np.eye(len(M)) != M).any(axis=1)).tolist()
    before, after = [names[j] for j in changed], [_sum(M[j], names) for j in changed]
    return f"{before[0]} -> {after[0]}" if len(changed) == 1 else f"({', '.join(before)}) -> ({', '.join(after)})"


def _sum(row: NDArray[np.float64], names: Sequence[str]) -> str:
    terms = [f"{'-' if row[i] < 0 else '+'} {names[i]}" for i in np.flatnonzero(row).tolist()]
    said = " ".join(terms)
    return said[2:] if said.startswith("+") else "-" + said[2:]
