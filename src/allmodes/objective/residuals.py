"""Sums of squares: a vector of residuals as a function to be minimised, with a gradient and a model of the Hessian."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.objective.evaluation import Needs
from allmodes.objective.losses import Loss
from allmodes.objective.objective import BadReturnError, checked
from allmodes.objective.packages import JaxVector, Single, require
from allmodes.objective.parts import (
    GRADIENT_NAME,
    HESSIAN_NAME,
    VALUE_NAME,
    Counts,
    WithArgs,
    coarse_step,
    moved_inside,
)

_ONE = "one point"

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SumOfSquares:
    """Half the sum of squares of residuals, or of a loss of them; a part that the evaluator calls.

    The gradient is J^T r, and the model of the Hessian J^T J, without what the residuals' own curvature adds to it.

    Args:
        function: residuals (D,) -> (m,), or if batched (N, D) -> (N, m).
        jac: their Jacobian (D,) -> (m, D), or (N, D) -> (N, m, D); None for forward differences inside the box.
        box: where they may be called.
        batched: whether they take points (N, D).
        sigma: errors of the residuals: (m,) or one number, to be divided by, or the factor L (m, m) of a covariance
            L L^T; None for none.
        loss: of residuals that have been divided.
        step: of differences, as a share of the parameters; 0 for the one that suits functions in float64.
    """

    function: Callable[[Any], Any]
    jac: Callable[[Any], Any] | None
    box: Box
    batched: bool = False
    sigma: Floats | None = None
    loss: Loss = field(default_factory=Loss)
    step: float = 0.0
    provides: ClassVar[Needs] = frozenset({VALUE_NAME, GRADIENT_NAME, HESSIAN_NAME})
    _seen: dict[str, int] = field(default_factory=dict, compare=False, repr=False)  # how many residuals there are

    def cost(self, wanted: Needs) -> Counts:
        """Residuals, and with derivatives a Jacobian: given, or one more vector for each free coordinate."""
        if wanted <= {VALUE_NAME}:
            return Counts(1)
        return Counts(1, 1) if self.jac is not None else Counts(1 + self.box.d)

    def __call__(self, x: Floats, wanted: Needs) -> dict[str, Any]:
        """Value, gradient and model at a point (D,), or if batched at points (N, D)."""
        points = x.reshape(-1, self.box.D)
        r = self.residuals(points)
        if wanted <= {VALUE_NAME}:
            found = {VALUE_NAME: self.loss.cost(r)}
        else:
            value = self.loss.cost(r)
            r, J = self.loss.weighted(r, self.jacobian(points, r))
            found = {VALUE_NAME: value, GRADIENT_NAME: np.einsum("nm,nmd->nd", r, J), HESSIAN_NAME: J.mT @ J}
        return found if x.ndim == 2 else {name: part[0] for name, part in found.items()}

    def residuals(self, points: Floats) -> Floats:
        """Residuals (N, m) at points (N, D), divided by their errors."""
        if self.batched:
            found = _numbers("residuals", self.function(points.copy()), 2, f"a batch of {len(points)} points")
            if len(found) != len(points):
                raise BadReturnError(
                    f"residuals returned shape {found.shape} for a batch of {len(points)} points; wanted "
                    f"({len(points)}, m). With vectorized=True they must take all points at once."
                )
        else:
            found = np.stack([_numbers("residuals", self.function(point), 1, _ONE) for point in points.copy()])
        m = self._seen.setdefault("m", found.shape[1])
        if found.shape[1] != m:
            raise BadReturnError(f"residuals returned {found.shape[1]} numbers after {m} at another point.")
        return self._whitened(found[..., None])[..., 0]

    def coarser(self, rounding: float) -> SumOfSquares:
        """The same, of residuals that are off by such a share."""
        return replace(self, step=coarse_step(rounding))

    def jacobian(self, points: Floats, r: Floats, share: float = 0.0) -> Floats:
        """Their derivatives (N, m, D) at points (N, D) where they are r (N, m); 0 for coordinates that are fixed.

        Differences are made over short steps, or over a share of the parameters.
        """
        (N, D), m = points.shape, r.shape[1]
        if not self.box.d:
            return np.zeros((N, m, D))
        if self.jac is None:
            steps, moved = moved_inside(self.box, points, share or self.step)
            around = self.residuals(moved.reshape(-1, D)).reshape(N, self.box.d, m)
            J = np.zeros((N, m, D))
            J[:, :, self.box.free] = ((around - r[:, None]) / steps[..., None]).mT
            return J
        if self.batched:
            given = checked("jac", self.jac(points.copy()), (N, m, D), f"a batch of {N} points")
        else:
            given = np.stack([checked("jac", self.jac(point), (m, D), _ONE) for point in points.copy()])
        return self._whitened(given)

    def _whitened(self, rows: Floats) -> Floats:
        """Rows (N, m, k) in units of their errors."""
        if self.sigma is None:
            return rows
        m = rows.shape[1]
        if self.sigma.ndim and len(self.sigma) != m:
            raise ValueError(
                f"sigma has shape {self.sigma.shape} and there are {m} residuals; wanted one number, ({m},) or "
                f"a covariance ({m}, {m})."
            )
        if self.sigma.ndim < 2:
            return rows / np.broadcast_to(self.sigma, m)[:, None]
        return np.asarray(np.linalg.solve(self.sigma, rows), dtype=np.float64)


def _numbers(name: str, given: Any, ndim: int, what: str) -> Floats:
    """An array of real numbers with so many axes; a single number is a vector of one."""
    array = np.atleast_1d(np.asarray(given)) if given is not None else np.asarray(given)
    if array.dtype.kind in "buif" and array.ndim == ndim:
        return array.astype(np.float64)
    wanted = "a vector (m,) of real numbers" if ndim == 1 else "real numbers (N, m), a row for each point"
    hint = " Is a return missing?" if given is None else ""
    found = "None" if given is None else f"shape {array.shape}, dtype {array.dtype}"
    raise BadReturnError(f"{name} returned {found} for {what}; wanted {wanted}.{hint}")


def errors_of(sigma: Any) -> Floats | None:
    """What a user gives as errors of the residuals: one number, (m,), or a covariance (m, m), of which the factor."""
    if sigma is None:
        return None
    array = np.asarray(sigma)
    if array.dtype.kind not in "buif" or array.ndim > 2 or not np.isfinite(array).all():
        found = f"shape {array.shape}, dtype {array.dtype}"
        raise ValueError(f"sigma has {found}; wanted finite errors: one number, (m,), or a covariance (m, m).")
    errors = array.astype(np.float64)
    if errors.ndim < 2:
        if not (errors > 0.0).all():
            raise ValueError(f"sigma has {errors.min()}; errors must be positive: leave out data without error bars.")
        return errors
    if errors.shape[0] != errors.shape[1]:
        raise ValueError(f"sigma has shape {errors.shape}; a covariance must be square.")
    try:
        return np.asarray(np.linalg.cholesky(errors))
    except np.linalg.LinAlgError:
        raise ValueError("sigma is a matrix that is not positive definite; a covariance of the data must be.") from None


def sum_of_squares(
    residuals: Any, jac: Any, args: Any, vectorized: Any, box: Box, sigma: Any, loss: Any, f_scale: Any
) -> SumOfSquares:
    """The sum of squares of what a user passed: see `find_fits`."""
    if not callable(residuals):
        raise TypeError(f"residuals is {residuals!r} ({type(residuals).__name__}); a function was wanted.")
    if not isinstance(vectorized, bool):
        raise TypeError(f"vectorized is {vectorized!r} ({type(vectorized).__name__}); True or False was wanted.")
    if not (jac is None or callable(jac) or (isinstance(jac, str) and jac in ("2-point", "jax"))):
        error = ValueError if isinstance(jac, str) else TypeError
        raise error(
            f'jac is {jac!r}; wanted the Jacobian of the residuals as a function, "jax" if they are written with JAX, '
            '"2-point" or None for differences.'
        )
    args = args if isinstance(args, tuple) else (args,)
    function, given = (WithArgs(f, args) if callable(f) and args else f for f in (residuals, jac))
    errors, cost = errors_of(sigma), Loss.make(loss, f_scale)
    if jac == "jax":
        require("jax", "jac")
        single = Single(function, vectorized)
        return SumOfSquares(JaxVector(single, False), JaxVector(single, True), box, True, errors, cost)
    return SumOfSquares(function, given if callable(given) else None, box, vectorized, errors, cost)
