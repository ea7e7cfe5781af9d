"""One optimum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allmodes.result.fit import Fit
from allmodes.storage import stored

_OF_FITS = (
    "residuals", "cost", "chi2", "reduced_chi2", "dof", "covariance", "standard_errors", "correlations", "undetermined",
    "aic", "bic",
)  # fmt: skip
_SHOWN_COORDINATES = 4  # of a single point

Floats = NDArray[np.float64]


@stored
@dataclass(frozen=True, repr=False, eq=False)
class Mode:
    """One optimum. Values and derivatives are of the user's function in the user's coordinates.

    Attributes:
        x: where it is, (d,).
        fun: the value there.
        kind: "minimum" (or "maximum"), "boundary" if held at a bound, "flat" if degenerate, or "unverified".
        is_global: whether its value is the best one found, up to the tolerance of the search.
        gradient_norm: of the gradient along the coordinates not held at a bound; at a kink, on one side of it. NaN
            where it is not measured, as without `jac`.
        hessian: (d, d), NaN where it is not known.
        eigenvalues: of its block for the coordinates not held at a bound.
        curvature_from: where the Hessian comes from: "derivatives", "differences" or "component".
        flatness: zeta, see `allmodes.modes.laplace.flatness`; infinite for a degenerate mode, NaN if it is not known.
        weight: share of this mode in the Gibbs measure at the temperature that the result states.
        hits: local searches that ended here.
        found_at: evaluations made when it was found.
        standard_error: of the value, for noisy functions.
        active: coordinates that sit at a bound.
        fit: of `find_fits` and `curve_fit`, how well it explains the data (see `allmodes.result.Fit`); its attributes
            can be read from the mode itself: residuals, cost, chi2, reduced_chi2, dof, covariance, standard_errors,
            correlations, undetermined, aic and bic. None elsewhere.
    """

    x: Floats
    fun: float
    kind: str
    is_global: bool
    gradient_norm: float
    hessian: Floats
    eigenvalues: Floats
    curvature_from: str
    flatness: float
    weight: float
    hits: int
    found_at: int
    standard_error: float | None = None
    active: tuple[int, ...] = ()
    fit: Fit | None = None

    if not TYPE_CHECKING:  # or every misspelt name would pass as Any

        def __getattr__(self, name: str) -> Any:
            if name in _OF_FITS and self.fit is not None:
                return getattr(self.fit, name)
            hint = "; only modes of find_fits and curve_fit have it" if name in _OF_FITS else ""
            raise AttributeError(f"a Mode has no attribute {name!r}{hint}")

    def __repr__(self) -> str:
        return f"Mode({self.fun:.6g} at {point_text(self.x)}, {self.kind}{', global' if self.is_global else ''})"


def best_of(modes: Sequence[Mode], x: Floats | None, fun: float | None, d: int) -> tuple[Floats, float]:
    """`x` and `fun` of a Result: those of the first mode or, without modes, the best point given, or NaN."""
    if modes:
        return modes[0].x, modes[0].fun
    if x is None or fun is None:
        return np.full(d, np.nan), math.nan
    return x, float(fun)


def point_text(x: Floats) -> str:
    """A point in a few characters."""
    shown = [f"{entry:.5g}" for entry in x[:_SHOWN_COORDINATES]]
    return f"[{', '.join(shown)}{', ...' if len(x) > _SHOWN_COORDINATES else ''}]"
