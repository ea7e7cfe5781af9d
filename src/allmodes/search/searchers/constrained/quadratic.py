"""Sequential quadratic programming for tiny problems, where SciPy's solver spends most of its time getting started.

A step is a convex quadratic programme, hence a least-distance problem, hence one of non-negative least squares
[Lawson and Hanson, Solving least squares problems, 1974]. What does not converge quickly is left to SciPy's SLSQP.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_LEAST = 1e-7  # of the largest curvature: smaller ones are raised to this
_SETTLED = 1e-3  # of the way so far: steps shrink faster than linearly, so that the rest is far shorter
_MOST = 12  # steps: what has not converged by then hardly will
_DAMPED = 0.2  # of the curvature so far: an update leaves at least this much
_KEPT = 1e-9  # of the size of the problem: how well a solution satisfies its constraints


class Model(NamedTuple):
    """g u + u H u / 2, to be minimised over u within sides (2, d)."""

    gradient: Array
    hessian: Array
    sides: Array


def convex(B: Array, g: Array, G: Array, h: Array) -> tuple[Array, Array] | None:
    """The minimum s of g s + s B s / 2 where G s >= h, and multipliers; None if there is no such s or it is not found.

    B is positive definite.
    """
    from scipy.optimize import nnls  # late: importing it takes a while

    try:
        root = np.linalg.inv(np.linalg.cholesky(B)).T  # s = root (y - root^T g), and |y| is to be least
    except np.linalg.LinAlgError:  # updates have made it singular
        return None
    sizes = np.maximum(np.linalg.norm(G, axis=1), 1e-300)
    G, h = G / sizes[:, None], h / sizes
    newton = root @ (root.T @ g)
    wanted = h + G @ newton
    if (wanted <= 0.0).all():
        return -newton, np.zeros(len(h))
    E = np.concatenate([(G @ root).T, wanted[None]])
    try:
        u = nnls(E, np.eye(len(g) + 1)[-1])[0]
    except RuntimeError:  # it takes too long
        return None
    if 1.0 - wanted @ u <= 1e-13:
        return None
    chosen = np.flatnonzero(u > 0.0)
    A = G[chosen]
    system = np.zeros((len(g) + len(chosen),) * 2)
    system[: len(g), : len(g)], system[: len(g), len(g) :], system[len(g) :, : len(g)] = B, -A.T, A
    solution = np.linalg.lstsq(system, np.concatenate([-g, h[chosen]]), rcond=None)[0]
    s, multipliers = solution[: len(g)], np.zeros(len(h))
    if (G @ s - h).min() < -_KEPT * (1.0 + float(np.abs(h).max())):
        return None
    multipliers[chosen] = solution[len(g) :] / sizes[chosen]
    return s, multipliers


def best_within(
    model: Model,
    look: Callable[[Array], tuple[Array, Array]],
    is_equality: NDArray[np.bool_],
    begin: Array,
    still: float,
) -> Array | None:
    """The minimum of a model where rows are at least 0, or 0, begun at u; None if it is not found within a few steps.

    Args:
        look: u -> rows (r,) and their Jacobian (r, d).
        still: the length of a step that counts as none.
    """
    g, H, (lower, upper) = model
    sizes, vectors = np.linalg.eigh(H)
    least = _LEAST * max(1.0, float(np.abs(sizes).max()))
    B = (vectors * np.maximum(sizes, least)) @ vectors.T
    is_exact = bool(sizes[0] >= least)
    u, eye = begin, np.eye(len(g))
    rows, J = look(u)
    kept = np.concatenate([np.ones(len(rows) + int(is_equality.sum()), bool), np.isfinite(lower), np.isfinite(upper)])
    for _ in range(_MOST):
        G = np.concatenate([J, -J[is_equality], eye, -eye])[kept]
        h = np.concatenate([-rows, rows[is_equality], lower - u, u - upper])[kept]
        found = convex(B, g + H @ u, G, h)
        if found is None:
            return None
        step, shares = found
        ahead = np.clip(u + step, lower, upper)
        if np.abs(step).max() <= max(still, _SETTLED * float(np.abs(ahead).max())):
            return ahead
        multipliers = shares[: len(rows)].copy()
        multipliers[is_equality] -= shares[len(rows) : len(rows) + int(is_equality.sum())]
        rows, after = look(ahead)
        if is_exact and not multipliers.any() and (rows[~is_equality] >= 0.0).all():
            return ahead  # no row plays a part: one quadratic programme was enough
        B = _updated(B, ahead - u, H @ (ahead - u) - (after - J).T @ multipliers)
        u, J = ahead, after
    return None


def _updated(B: Array, step: Array, change: Array) -> Array:
    """The damped update of Broyden, Fletcher, Goldfarb and Shanno, which stays positive definite [Powell, 1978]."""
    bent = B @ step
    size, along = float(step @ bent), float(step @ change)
    if size <= 1e-300:
        return B
    if along < _DAMPED * size:
        share = (1.0 - _DAMPED) * size / (size - along)
        change = share * change + (1.0 - share) * bent
        along = float(step @ change)
    return B - np.outer(bent, bent) / size + np.outer(change, change) / along
