"""Whether a function rises from a point where its slope vanishes, by Lanczos' method with a gradient per direction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from allmodes.search.searchers.local.table import Array
from allmodes.search.tolerances import TINY

# Chance that a rising direction is overlooked in the worst case: for searches from anywhere, and for those from random
# places, none of which is expected to end in a saddle [Lee, Simchowitz, Jordan and Recht, 2016].
OVERLOOKED, OVERLOOKED_BY_LOT = 0.01, 0.5
_ROUNDING = 1e-8  # of the largest curvature: a shorter remainder of a new direction is rounding error


class Ritz(NamedTuple):
    """What k directions tell about a symmetric operator in d dimensions.

    Attributes:
        values: the Ritz values (k,), ascending; the largest is at most the largest eigenvalue.
        vectors: (k, d), orthonormal; `shares`, (k, k), of the directions in each vector, one row for each.
        next: the direction (d,) that Lanczos' method would try next; 0 where none is left.
        rest: geometric mean of the absolute eigenvalues, as estimated from a random first direction.
    """

    values: Array
    vectors: Array
    shares: Array
    next: Array
    rest: float


def ritz(tried: Array, bends: Array) -> Ritz:
    """From directions (k, d), the first of them random, and their images under the operator, (k, d)."""
    Q, R = np.linalg.qr(tried.T)
    image = np.linalg.solve(R.T, bends).T  # the operator times Q
    K = Q.T @ image
    values, inner = np.linalg.eigh(0.5 * (K + K.T))
    following = image[:, -1]
    for _ in range(2):  # twice is enough against rounding
        following = following - Q @ (Q.T @ following)
    length = float(np.sqrt(following @ following))
    is_new = length > _ROUNDING * max(float(np.abs(values).max()), TINY)
    weights = inner[0] ** 2  # of the first direction along each eigenvector: its quadrature
    rest = float(np.exp(weights @ np.log(np.maximum(np.abs(values), TINY))))
    return Ritz(
        values,
        (Q @ inner).T,
        np.linalg.solve(R, inner).T,
        following / length if is_new else np.zeros(len(following)),
        rest,
    )


def is_falling(values: Array, n: int, chance: float) -> bool:
    """Whether Ritz values (k,) show that none of n dimensions rises, except for a chance of being wrong.

    After k steps from a random direction, the chance that the largest Ritz value is below the largest eigenvalue by
    more than a share e of the whole range is at most 1.648 sqrt(n) exp(-sqrt(e) (2 k - 1)), whatever the operator is
    [Kuczynski and Wozniakowski, Estimating the largest eigenvalue by the power and Lanczos algorithms, 1992].
    """
    k, highest = len(values), float(values[-1])
    if highest >= 0.0:
        return False
    if k >= n:
        return True
    share = (np.log(1.648 * np.sqrt(n) / chance) / (2 * k - 1)) ** 2
    return bool(share < 1.0 and highest + share / (1.0 - share) * (highest - float(values[0])) < 0.0)
