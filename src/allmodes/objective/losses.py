"""What residuals cost: squares, or losses that grow more slowly for outliers, as in scipy.optimize.least_squares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.checks import number

Floats = NDArray[np.float64]
Rho = tuple[Floats, Floats, Floats]

_LEAST = float(np.finfo(np.float64).eps)  # curvature that is left where a loss curves downward, as in SciPy


def _soft_l1(z: Floats) -> Rho:
    t = 1.0 + z
    return 2.0 * (np.sqrt(t) - 1.0), t**-0.5, -0.5 * t**-1.5


def _huber(z: Floats) -> Rho:
    is_small, t = z <= 1.0, np.maximum(z, 1.0)
    return np.where(is_small, z, 2.0 * np.sqrt(t) - 1.0), t**-0.5, np.where(is_small, 0.0, -0.5 * t**-1.5)


def _cauchy(z: Floats) -> Rho:
    t = 1.0 + z
    return np.log1p(z), 1.0 / t, -1.0 / t**2


def _arctan(z: Floats) -> Rho:
    t = 1.0 + z**2
    return np.arctan(z), 1.0 / t, -2.0 * z / t**2


_LOSSES: dict[str, Callable[[Floats], Rho]] = {
    "soft_l1": _soft_l1, "huber": _huber, "cauchy": _cauchy, "arctan": _arctan,
}  # fmt: skip


@dataclass(frozen=True)
class Loss:
    """The cost of residuals r: the sum of C^2 rho((r / C)^2) / 2, with the scale C.

    Args:
        rho: z -> rho, rho' and rho'' at z = (r / C)^2; None for rho(z) = z, least squares.
        scale: residuals below it count as with squares.

    >>> float(Loss.make("linear").cost(np.array([3.0, 4.0])))
    12.5
    """

    rho: Callable[[Floats], Any] | None = None
    scale: float = 1.0

    @staticmethod
    def make(loss: Any = "linear", f_scale: Any = 1.0) -> Loss:
        """The loss of a name, or of a function as in SciPy: z (m,) -> rho, rho' and rho'', (3, m)."""
        scale = number("f_scale", f_scale, above=0.0)
        if callable(loss):
            return Loss(loss, scale)
        if loss != "linear" and loss not in _LOSSES:
            allowed = ", ".join(f'"{name}"' for name in ("linear", *_LOSSES))
            raise ValueError(f"loss is {loss!r}; wanted {allowed}, or a function z -> (rho, rho', rho'').")
        return Loss(_LOSSES.get(loss), scale)

    def cost(self, r: Floats) -> Any:
        """Half the sum of the losses of residuals (..., m): (...)."""
        if self.rho is None:
            return 0.5 * np.einsum("...m,...m->...", r, r)
        return 0.5 * self.scale**2 * self._rho(r)[0].sum(axis=-1)

    def weighted(self, r: Floats, J: Floats) -> tuple[Floats, Floats]:
        """Residuals and Jacobian such that J^T r is the gradient of the cost, and J^T J Gauss and Newton's matrix.

        Their weights are those of SciPy: sqrt(rho' + 2 rho'' z) of a row of J, positive.
        """
        if self.rho is None:
            return r, J
        _, slope, bend = self._rho(r)
        weight = np.sqrt(np.maximum(slope + 2.0 * bend * (r / self.scale) ** 2, _LEAST))
        return r * slope / weight, J * weight[..., None]

    def _rho(self, r: Floats) -> Any:
        assert self.rho is not None
        z = (r / self.scale) ** 2
        if z.ndim == 1:
            return self.rho(z)
        told = np.asarray(self.rho(z.reshape(-1)), dtype=np.float64)
        if told.shape != (3, z.size):
            raise ValueError(f"loss returned shape {told.shape} for z of shape {(z.size,)}; wanted {(3, z.size)}.")
        return told.reshape(3, *z.shape)
