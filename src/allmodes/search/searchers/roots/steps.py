"""Linear models F + J s of many searches at once: Newton's steps, and the best ones within a radius and the bounds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.search.geometry import clip, lengths
from allmodes.search.searchers.local.models import Model
from allmodes.search.searchers.local.models import step as within
from allmodes.search.searchers.roots.tuning import TUNING
from allmodes.search.tolerances import TINY

Array = NDArray[np.float64]

_REGULAR = 1e-5  # of the largest singular value: other roots have to be looked at
_RANK = 1e-13  # of the largest singular value: smaller ones are rounding


class Newton(NamedTuple):
    """Newton's steps (n, d): all the way; and along the directions that are well determined alone, with the share of
    the norm of F that is left then (n,).
    """

    step: Array
    determined: Array
    left: Array

    @staticmethod
    def of(J: Array, F: Array) -> Newton:
        U, sizes, Vt = np.linalg.svd(J)
        rotated = -(U.mT @ F[..., None])[..., 0]
        largest = np.maximum(sizes[:, :1], TINY)
        quotient = rotated / np.maximum(sizes, TINY)
        full, sure = (
            (Vt.mT @ np.where(sizes > share * largest, quotient, 0.0)[..., None])[..., 0]
            for share in (_RANK, TUNING.determined)
        )
        missed = np.where(sizes > TUNING.determined * largest, 0.0, rotated)
        return Newton(full, sure, lengths(missed) / np.maximum(lengths(F), TINY))

    def has_arrived(self, tolerance: float) -> NDArray[np.bool_]:
        """Which searches (n,) are at a root: no step is left to make, or, where roots form curves, none across them."""
        is_across = (np.abs(self.determined).max(axis=1) <= tolerance) & (self.left < TUNING.agreement)
        return np.asarray((np.abs(self.step).max(axis=1) <= tolerance) | is_across)


def is_regular(J: Array) -> bool:
    """Whether a Jacobian (d, d) is surely not singular."""
    sizes = np.linalg.svd(J, compute_uv=False)
    return bool(sizes[-1] > _REGULAR * sizes[0])


def bounded(box: Box, point: Array, J: Array, F: Array, newton: Array, radius: Array) -> Array:
    """The steps (n, d) within the radius (n,) and the bounds that make |F + J s| least, by Newton's where that will do.

    Coordinates that would leave the bounds go to them, and the others make the best of it.
    """
    steps = newton.copy()
    is_far = (lengths(newton) > radius) | ~box.inside(point + newton)
    if not is_far.any():
        return steps
    point, J, F, radius = point[is_far], J[is_far], F[is_far], radius[is_far]
    fixed, free = np.zeros_like(point), np.ones(point.shape, bool)
    diagonal = np.arange(point.shape[1])
    for _ in range(point.shape[1] + 1):
        A = J * free[:, None, :]
        r = F + (J @ fixed[..., None])[..., 0]
        g, H = -(A.mT @ r[..., None])[..., 0], -(A.mT @ A)
        size = np.maximum(np.abs(H).max(axis=(1, 2)), TINY)
        H[:, diagonal, diagonal] -= np.where(free, 0.0, size[:, None])
        eigenvalues, vectors = np.linalg.eigh(H)
        model = Model(g, eigenvalues, vectors, (g[:, None, :] @ vectors)[:, 0])
        left = np.sqrt(np.maximum(radius**2 - lengths(fixed) ** 2, 1e-4 * radius**2))
        s = np.where(free, within(model, left), fixed)
        ahead = clip(box, point + s)
        is_out = free & (ahead != point + s)
        if not is_out.any():
            break
        fixed, free = np.where(is_out, ahead - point, fixed), free & ~is_out
    steps[is_far] = clip(box, point + s) - point
    return steps


def updated(J: Array, s: Array, missed: Array) -> Array:
    """Broyden's update of Jacobians (n, d, d) that missed F by so much after steps s, (n, d) both."""
    squared = np.maximum(np.einsum("nd,nd->n", s, s), TINY)
    return J + (missed / squared[:, None])[..., None] * s[:, None, :]
