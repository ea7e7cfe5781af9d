"""The covariance of a random function at two places: smooth, with a length of its own along every coordinate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Kernel(NamedTuple):
    """k(x, x') = exp(-r^2 / 2), where r^2 is the sum of squared differences in lengths; 1 at r = 0.

    Args:
        lengths: (d,), over which the function changes, in the unit box.
        is_periodic: (d,), coordinates that wrap around: their difference t counts as sin(pi t) / pi.
    """

    lengths: Array
    is_periodic: NDArray[np.bool_]

    def apart(self, x: Array, others: Array) -> Array:
        """Squared distances in lengths (n, m)."""
        if not self.is_periodic.any():
            a, b = x / self.lengths, others / self.lengths
            squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2.0 * a @ b.T
            return np.maximum(squares, 0.0)
        moved = wrapped(x[:, None] - others, self.is_periodic) / self.lengths
        return np.einsum("nmd,nmd->nm", moved, moved)

    def values(self, x: Array, others: Array) -> Array:
        """Covariances (n, m)."""
        return np.asarray(np.exp(-0.5 * self.apart(x, others)))

    def sums(self, x: Array, others: Array, weights: Array) -> tuple[Array, Array, Array]:
        """The sum of w_j k(x, x_j): values (n,), gradients (n, d) and Hessians (n, d, d) in x."""
        difference = x[:, None] - others
        moved = wrapped(difference, self.is_periodic)
        slope, bend = np.ones_like(difference), np.zeros_like(difference)
        turning = self.is_periodic
        if turning.any():
            slope[..., turning] = np.cos(np.pi * difference[..., turning])
            bend[..., turning] = -np.pi * np.sin(np.pi * difference[..., turning])
        scaled = moved / self.lengths
        each = weights * np.exp(-0.5 * np.einsum("nmd,nmd->nm", scaled, scaled))
        first = moved * slope / self.lengths**2
        curved = (slope**2 + moved * bend) / self.lengths**2
        gradient = -np.einsum("nm,nmd->nd", each, first)
        hessian = np.matmul((each[..., None] * first).swapaxes(1, 2), first)
        places = np.arange(x.shape[1])
        hessian[:, places, places] -= np.einsum("nm,nmd->nd", each, curved)
        return each.sum(axis=1), gradient, hessian


def wrapped(difference: Array, is_periodic: NDArray[np.bool_]) -> Array:
    """Differences (..., d), those of periodic coordinates as chords."""
    if not is_periodic.any():
        return difference
    return np.asarray(np.where(is_periodic, np.sin(np.pi * difference) / np.pi, difference))
