"""First- and second-order conditions on the active set: what holds a point, and how the function bends along it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.constraints import Constraints
from allmodes.search.context import Context
from allmodes.search.searchers.constrained.tuning import TUNING
from allmodes.search.searchers.local.finite_differences import curvature_steps
from allmodes.search.tolerances import TINY

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_RIDGE = 1e-6  # of the gradient: the error that it causes is of the order of its square


class Hold(NamedTuple):
    """What holds a point, of a function that is minimised: gradient = A^T multipliers + bounds, up to the residual.

    Attributes:
        active: (r,), rows at their bounds; `held`, those of them that hold the point.
        multipliers: (r,), 0 for rows that are not active; at least 0 but for equalities.
        at_bounds: (d,), coordinates held at a bound of the box.
        residual: (d,), of the gradient: 0 at an optimum.
        tangent: (d, t), an orthonormal basis of the directions along all that holds the point.
    """

    active: Flags
    held: Flags
    multipliers: Array
    at_bounds: Flags
    residual: Array
    tangent: Array


def hold_of(constraints: Constraints, point: Array, gradient: Array, floor: float = 0.0) -> Hold:
    """What holds a point with this gradient, by least squares with signs; pushes below the floor hold nothing."""
    from scipy.optimize import nnls  # late: importing it takes a while

    box, d = constraints.box, len(point)
    rows, A = constraints.rows(point) - constraints.margin, constraints.jacobian(point)
    active = constraints.is_equality | (np.abs(rows) <= TUNING.active)
    below, above = point <= box.edges[0], point >= box.edges[1]
    eye, chosen, equal = np.eye(d), np.flatnonzero(active), np.flatnonzero(constraints.is_equality)
    columns = np.concatenate([A[chosen], -A[equal], eye[below], -eye[above]])
    lengths = np.maximum(np.linalg.norm(columns, axis=1), TINY)
    size = max(float(np.abs(gradient).max(initial=0.0)), floor / TUNING.held) or 1.0
    ridge = _RIDGE * np.eye(len(columns))  # where many multipliers would do, those that are shared evenly
    sides = np.concatenate([(columns / lengths[:, None]).T, ridge])
    shares = nnls(sides, np.append(gradient / size, np.zeros(len(columns))))[0] if len(columns) else np.zeros(0)
    residual = gradient - size * (columns / lengths[:, None]).T @ shares
    found = size * shares / lengths
    multipliers = np.zeros(len(rows))
    multipliers[chosen] += found[: len(chosen)]
    multipliers[equal] -= found[len(chosen) : len(chosen) + len(equal)]
    pushes = shares[len(chosen) + len(equal) :] > TUNING.held
    at_bounds = np.zeros(d, bool)
    at_bounds[np.concatenate([np.flatnonzero(below), np.flatnonzero(above)])[pushes]] = True
    norms = np.linalg.norm(A, axis=1)
    held = constraints.is_equality | (active & (multipliers * norms > TUNING.held * size))
    return Hold(active, held, multipliers, at_bounds, residual, tangent_of(A[held], at_bounds))


def tangent_of(normals: Array, at_bounds: Flags) -> Array:
    """An orthonormal basis (d, t) of the directions along rows with these normals and along the bounds."""
    d = len(at_bounds)
    lengths = np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), TINY)
    whole = np.concatenate([normals / lengths, np.eye(d)[at_bounds]])
    if not len(whole):
        return np.eye(d)
    _, sizes, V = np.linalg.svd(whole)
    rank = int((sizes > 1e-9).sum())
    return np.asarray(V[rank:].T)


def bend_width(context: Context, value: float, hessian: Array) -> float:
    """The distance over which to measure a curvature: shorter where the model (t, t) along the set is stiff.

    Near a logarithm the curvature soon changes, and differences over too far may make a saddle of a minimum.
    """
    stiffest = np.abs(hessian).sum(axis=1).max(initial=0.0)  # a bound of the eigenvalues
    longest = TUNING.bend * float(context.tolerances.coarseness(value)) ** 0.25
    return min(longest, float(curvature_steps(context, np.array([value]), np.array([[stiffest]]))[0, 0]))


def curvature_from_values(value: float, values: Array, t: int, h: float) -> tuple[Array, Array]:
    """Gradient (t,) and Hessian (t, t) by values at h e_i, then -h e_i, then h (e_i + e_j) for i < j."""
    ahead, behind, both = values[:t], values[t : 2 * t], values[2 * t :]
    slopes = (ahead - behind) / (2.0 * h)
    bends = np.diag((ahead + behind - 2.0 * value) / h**2)
    for k, (i, j) in enumerate(pairs(t)):
        single = slopes[i] + slopes[j] + 0.5 * h * (bends[i, i] + bends[j, j])
        bends[i, j] = bends[j, i] = ((both[k] - value) / h - single) / h
    return slopes, bends


def pairs(t: int) -> list[tuple[int, int]]:
    """All pairs i < j."""
    return [(i, j) for i in range(t) for j in range(i + 1, t)]


def steepest(hessian: Array) -> tuple[float, Array]:
    """The largest curvature and its direction."""
    sizes, vectors = np.linalg.eigh(hessian)
    return float(sizes[-1]), np.asarray(vectors[:, -1])
