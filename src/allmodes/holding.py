"""What constraints do at a mode, for weights and for the user."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.frame import Frame
from allmodes.search.archive import Frozen

Array = NDArray[np.float64]


class Outside(NamedTuple):
    """What is known of a mode under constraints, in the user's sign and units: see `Mode`."""

    violation: float
    constraints: tuple[int, ...]
    multipliers: Array
    eigenvalues: Array


def held_outside(found: Frozen, frame: Frame, hessian: Array) -> Outside | None:
    """What the user is told, from the Hessian (D, D) of the Lagrangian, in user coordinates; None if unconstrained."""
    held = found.held
    if held is None:
        return None
    multipliers = -frame.sign / (frame.factor or 1.0) * held.multipliers
    return Outside(held.violation, held.constraints, multipliers, largest(hessian, held.free))


def of_active_set(found: Frozen) -> tuple[Array, Array]:
    """Eigenvalues along the active set, and slopes across it: 1 where equalities leave no other side."""
    assert found.held is not None
    free, d = found.held.free, len(found.gradient)
    kept = largest(np.asarray(found.hessian), free)
    slopes = np.concatenate([found.held.slopes, np.abs(found.gradient[found.active])])[: d - free]
    return kept, np.append(slopes, np.ones(d - free - len(slopes)))


def largest(hessian: Array, n: int) -> Array:
    """The n eigenvalues of largest size, in ascending order: across the active set they are 0."""
    sizes = np.asarray(np.linalg.eigvalsh(hessian), dtype=np.float64)
    return sizes[np.sort(np.argsort(-np.abs(sizes), kind="stable")[:n])]
