"""One optimum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allmodes.result.fit import Fit
from allmodes.result.root import Root
from allmodes.storage import stored

_OF_FITS = (
    "residuals", "cost", "chi2", "reduced_chi2", "dof", "covariance", "standard_errors", "correlations", "undetermined",
    "aic", "bic",
)  # fmt: skip
_OF_ROOTS = (
    "residual", "residual_norm", "condition", "rank", "is_singular", "certified", "box", "enclosure",
    "radius", "reason",
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
        kind: "minimum" (or "maximum"), "boundary" if held at a bound or where the function ends, "constrained" if held
            by a constraint, "flat" if degenerate, or "unverified".
        is_global: whether its value is the best one found, up to the tolerance of the search.
        gradient_norm: of the gradient along the coordinates not held at a bound; at a kink, on one side of it. NaN
            where it is not measured, as without `jac`.
        hessian: (d, d), NaN where it is not known.
        eigenvalues: of its block for the coordinates not held at a bound.
        curvature_from: where the Hessian comes from: "derivatives", "differences", "component", or "estimated": with
            gradients in 30 dimensions and more from the last steps and a few directions, so that eigenvalues, flatness
            and weight are estimates, too.
        flatness: zeta, see `allmodes.modes.laplace.flatness`; infinite for a degenerate mode, NaN if it is not known.
        weight: share of this mode in the Gibbs measure at the temperature that the result states.
        hits: local searches that ended here; of `allmodes.audit` the runs that belong to it.
        found_at: evaluations made when it was found; of `allmodes.audit` the first run that belongs to it, from 1.
        standard_error: of the value, for noisy functions.
        active: coordinates that sit at a bound.
        multiplicity: how many modes it stands for, itself included, where a symmetry was stated; its weight is that of
            all of them together, and its hits are theirs. Of `find_roots` the multiplicity of the root, None where it
            is not known.
        fit: of `find_fits` and `curve_fit`, how well it explains the data (see `allmodes.result.Fit`); its attributes
            can be read from the mode itself: residuals, cost, chi2, reduced_chi2, dof, covariance, standard_errors,
            correlations, undetermined, aic and bic. None elsewhere.
        named: the named choices of coordinates that have them, after the number of each; x has the numbers of choices.
            `choices` has them as a dict.
        violation: of the worst constraint, as a share of its scale (the median distance of its values from its bounds);
            0 without constraints. With constraints gradient_norm is that of the Lagrangian, and hessian and eigenvalues
            are those of the Lagrangian along the active set.
        active_constraints: which are active, by their numbers if all rows of all constraints are counted in order.
        multipliers: (m,), of all of them: the gradient of fun is the sum of their gradients times these (beside
            bounds), so that each is what fun changes by if its bound is raised by 1. Of a minimum they are positive at
            lower bounds ("ineq") and negative at upper ones; of a maximum the other way round. None without
            constraints.
        root: of `find_roots`, what is known of the root (see `allmodes.result.Root`), whose attributes can be read from
            the mode likewise; the kind is then "root", or "flat" on a curve of roots. None elsewhere.
        gradient: (d,), not zero along coordinates that a bound holds, NaN along those where it is not measured. None in
            results of earlier versions.
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
    named: tuple[tuple[int, Any], ...] = ()
    multiplicity: int | None = 1
    violation: float = 0.0
    active_constraints: tuple[int, ...] = ()
    multipliers: Floats | None = None
    root: Root | None = None
    gradient: Floats | None = None

    if not TYPE_CHECKING:  # or every misspelt name would pass as Any

        def __getattr__(self, name: str) -> Any:
            if name in _OF_FITS and self.fit is not None:
                return getattr(self.fit, name)
            if name in _OF_ROOTS and self.root is not None:
                return getattr(self.root, name)
            hint = "; only modes of find_fits and curve_fit have it" if name in _OF_FITS else ""
            hint = "; only modes of find_roots have it" if name in _OF_ROOTS else hint
            raise AttributeError(f"a Mode has no attribute {name!r}{hint}")

        def __iter__(self) -> Any:
            """A hint: popt, pcov = curve_fit(...) gives two modes if there are as many."""
            raise TypeError("a Mode is no array: mode.x is. Of curve_fit there are result.popt and result.pcov.")

    @property
    def choices(self) -> dict[int, Any]:
        """The named choices, by coordinate."""
        return dict(self.named)

    def __repr__(self) -> str:
        rank = ", global" if self.is_global else ""
        return f"Mode({self.fun:.6g} at {point_text(self.x, self.choices)}, {self.kind}{rank})"


def best_of(modes: Sequence[Mode], x: Floats | None, fun: float | None, d: int) -> tuple[Floats, float]:
    """`x` and `fun` of a Result: those of the first mode or, without modes, the best point given, or NaN."""
    if modes:
        return modes[0].x, modes[0].fun
    if x is None or fun is None:
        return np.full(d, np.nan), math.nan
    return x, float(fun)


def share_text(share: float) -> str:
    """A weight in a column: four decimals, or its order of magnitude where these would all be 0.

    >>> share_text(0.25), share_text(0.0), share_text(3.2e-9)
    ('0.2500', '0', '3e-09')
    """
    return f"{share:.4f}" if share >= 5e-5 or np.isnan(share) else f"{share:.0e}" if share > 0.0 else "0"


def point_text(x: Floats, choices: dict[int, Any] | None = None) -> str:
    """A point in a few characters, with its named choices in place of their numbers."""
    named = choices or {}
    shown = [str(named[i]) if i in named else f"{entry:.5g}" for i, entry in enumerate(x[:_SHOWN_COORDINATES])]
    return f"[{', '.join(shown)}{', ...' if len(x) > _SHOWN_COORDINATES else ''}]"
