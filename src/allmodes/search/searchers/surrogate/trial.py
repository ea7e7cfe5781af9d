"""Does the function fall around a located optimum as the model says? New values decide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.search.geometry import clip
from allmodes.search.searchers.surrogate.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]


@stored
@dataclass(frozen=True)
class Trial:
    """Points around an optimum, at the corners of a simplex, and what the model expects there.

    Attributes:
        centre: (d,), where the best value is.
        points: (m, d), one more than there are free coordinates, and one for each that a bound holds.
        falls: (m,), of even values, as the model expects them.
    """

    centre: Array
    points: Array
    falls: Array

    def is_passed(self, falls: Array) -> bool:
        """Whether falls (m,) that were seen are like those expected."""
        least, most = self.falls / TUNING.alike, self.falls * TUNING.alike
        return bool(((falls > 0.0) & (falls >= least) & (falls <= most)).all())


def around(
    box: Box,
    centre: Array,
    gradient: Array,
    hessian: Array,
    active: NDArray[np.bool_],
    fall: float,
    longest: float,
    rng: np.random.Generator,
) -> Array:
    """Points (m, d) around an optimum at which values should fall by about so much."""  # fmt: skip
    free = np.flatnonzero(~active)
    moves = np.zeros((len(free) + 1 if len(free) else 0, box.d))
    if len(free):
        moves[:, free] = _simplex(len(free)) @ np.linalg.qr(rng.standard_normal((len(free), len(free))))[0]
    inward = np.diag(np.where(centre > 0.5, -1.0, 1.0))[active]
    directions = np.concatenate([moves, inward])
    bends = np.einsum("mi,ij,mj->m", directions, -hessian, directions)
    slopes = np.maximum(-directions @ gradient, 0.0)
    by_bend = np.sqrt(2.0 * fall / np.maximum(bends, 1e-300))
    lengths = np.clip(np.minimum(by_bend, fall / np.maximum(slopes, 1e-300)), TUNING.shortest, longest)
    return clip(box, centre + lengths[:, None] * directions)


def _simplex(n: int) -> Array:
    """Unit vectors (n + 1, n) to the corners of a regular simplex."""
    corners = np.eye(n + 1) - 1.0 / (n + 1)
    basis = np.linalg.svd(corners)[2][:n]
    flat = corners @ basis.T
    return np.asarray(flat / np.linalg.norm(flat, axis=1, keepdims=True))
