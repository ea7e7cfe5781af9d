"""SciPy: multistarts of `scipy.optimize.minimize` whose ends are audited, and modes as an `OptimizeResult`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult
from scipy.optimize import minimize as scipy_minimize

from allmodes.auditing import audit
from allmodes.checks import whole_number
from allmodes.objective.bounds import Box
from allmodes.result import Mode
from allmodes.search.starts.space_filling import SpaceFilling

_MOST_SEED = 2**31

Floats = NDArray[np.float64]


def as_optimize_result(mode: Mode, jac: Callable[[Floats], Any] | None = None) -> OptimizeResult:
    """A mode as SciPy returns an optimum: x, fun, hess, success, message, and jac and hess_inv where they are known.

    Args:
        mode: of any `allmodes.Result`.
        jac: the gradient; it is evaluated once, as a mode keeps no more of it than its length.

    `hess_inv` is there for minima of known curvature, with zeros for coordinates that are held at a bound.

    >>> from allmodes import find_minima
    >>> mode = find_minima(lambda x: (x[0] - 1) ** 2, [(-3, 3)], rng=0).modes[0]
    >>> found = as_optimize_result(mode)
    >>> found.success, found.message, found.hess_inv.round(3).tolist()
    (True, 'minimum, global', [[0.5]])
    """
    rank = ", global" if mode.is_global else ""
    given = {
        "x": mode.x.copy(), "fun": mode.fun, "success": mode.kind != "unverified", "status": int(mode.kind == "unverified"),
        "message": f"{mode.kind}{rank}", "weight": mode.weight, "hits": mode.hits,
    }  # fmt: skip
    if jac is not None:
        given["jac"] = np.asarray(jac(mode.x.copy()), dtype=np.float64)
    if np.isfinite(mode.hessian).all():
        given["hess"] = mode.hessian.copy()
        inverse = _inverse(mode)
        if inverse is not None:
            given["hess_inv"] = inverse
    return OptimizeResult(given)


def _inverse(mode: Mode) -> Floats | None:
    """Of the Hessian, along coordinates that may move; None where it is not that of a minimum."""
    free = np.setdiff1d(np.flatnonzero(np.abs(mode.hessian).any(axis=0)), mode.active).astype(int)
    block = mode.hessian[np.ix_(free, free)]
    if not len(free) or not np.linalg.eigvalsh(block)[0] > 0.0:
        return None
    inverse = np.zeros_like(mode.hessian)
    inverse[np.ix_(free, free)] = np.linalg.inv(block)
    return inverse
