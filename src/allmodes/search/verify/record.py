"""What is kept of an optimum in the archive."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.search.archive import Frozen
from allmodes.search.candidate import Candidate
from allmodes.search.context import Context
from allmodes.search.geometry import is_held
from allmodes.search.verify.question import Optimum


def frozen_of(context: Context, optimum: Optimum, point: NDArray[np.float64]) -> Frozen:
    """The record of an optimum at a point (d,) inside the box."""
    candidate, box = optimum.candidate, context.box
    if candidate.source == "component" and optimum.kind == "boundary":
        active = (point <= box.edges[0]) | (point >= box.edges[1])
    else:
        active = is_held(box, point, candidate.gradient)
    source = "component" if candidate.is_kinked else candidate.source
    return Frozen(candidate.gradient.copy(), candidate.hessian.copy(), active, optimum.kind, source, context.nfev)


def is_rough(candidate: Candidate) -> bool:
    """Whether the curvature of a candidate is a guess, not a measurement."""
    return candidate.source == "component" or candidate.is_kinked
