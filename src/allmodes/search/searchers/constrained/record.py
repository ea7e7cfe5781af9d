"""What is kept of a mode under constraints."""

from __future__ import annotations

import numpy as np

from allmodes.search.archive import Frozen, Held
from allmodes.search.context import Context
from allmodes.search.searchers.constrained.arrival import Arrival


def frozen_of(context: Context, arrival: Arrival) -> Frozen:
    """The record of a mode, to be maximised like all in the archive."""
    constraints, launch = context.constraints, arrival.launch
    assert constraints is not None
    hold = arrival.hold(context)
    V, model = hold.tangent, launch.hessian.copy()
    reduced = arrival.reduced
    if reduced.shape[0] == V.shape[1] and len(reduced):
        bent = reduced + V.T @ constraints.curvature(launch.point, hold.multipliers) @ V
        model += V @ (bent - V.T @ model @ V) @ V.T
    else:
        reduced = V.T @ model @ V if arrival.kind == "unverified" else np.zeros((V.shape[1], V.shape[1]))
    kind = arrival.kind
    if kind == "optimum":
        kind = "constrained" if hold.held.any() else "boundary" if hold.at_bounds.any() else "optimum"
    multipliers = np.zeros(constraints.m)
    np.add.at(
        multipliers, constraints.index, hold.multipliers * constraints.sign / constraints.scale[constraints.index]
    )
    norms = np.linalg.norm(constraints.jacobian(launch.point), axis=1)
    slopes = (hold.multipliers * norms)[hold.held & ~constraints.is_equality]
    held = Held(
        violation=float(constraints.violation(launch.point[None])[0]),
        rows=hold.active, constraints=tuple(sorted({int(i) for i in constraints.index[hold.active]})),
        multipliers=multipliers, residual=hold.residual, model=model, slopes=slopes, free=V.shape[1],
    )  # fmt: skip
    source = "derivatives" if context.order == 2 else "differences"
    return Frozen(-launch.gradient, -V @ reduced @ V.T, hold.at_bounds, kind, source, context.nfev, held=held)
