"""A model of the function from its values: Gaussian-process regression."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.search.searchers.surrogate.kernel import Kernel, wrapped
from allmodes.search.searchers.surrogate.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]

_WORST = 1e25  # stands for a likelihood that cannot be computed because of rounding


@stored
class Fitted(NamedTuple):
    """What is learnt from values besides the values: numbers that make the same model again.

    Args:
        lengths: (d,), over which the function changes, in the unit box.
        roughness: share of the variance that neighbouring values do not have in common: ripples too fine for the model.
        bend: a gap g to the best value counts as bend * log(1 + g / bend): differences of bad values count less.
            Infinite where gaps count as they are.
    """

    lengths: Array
    roughness: float
    bend: float


class Model(NamedTuple):
    """What is expected of a random function everywhere, given its values at n points.

    Args:
        kernel: of its fluctuations.
        points: (n, d).
        factor: L (n, n), of the correlations L L^T.
        weights: (n,), correlations^-1 residuals.
        mean, size: far from all points, and the standard deviation there.
        loss: the negative logarithm of how likely the values are, up to a constant.
    """

    kernel: Kernel
    points: Array
    factor: Array
    weights: Array
    residuals: Array
    mean: float
    size: float
    loss: float
    roughness: float

    @staticmethod
    def of(points: Array, values: Array, fitted: Fitted, is_periodic: NDArray[np.bool_]) -> Model:
        """The model of values (n,) at points (n, d)."""
        kernel = Kernel(fitted.lengths, is_periodic)
        return _conditioned(kernel, points, values, kernel.values(points, points), fitted.roughness)

    def expected(self, x: Array) -> tuple[Array, Array, Array]:
        """Values (N,) expected at points (N, d), with gradients and Hessians."""
        value, gradient, hessian = self.kernel.sums(x, self.points, self.weights)
        return self.mean + value, gradient, hessian

    def deviation(self, x: Array) -> Array:
        """How uncertain values at points (N, d) are: standard deviations (N,), as shares of that far from all."""
        half = _solved(self.factor, self.kernel.values(self.points, x))
        return np.asarray(np.sqrt(np.maximum(1.0 - np.einsum("nm,nm->m", half, half), 0.0)))

    def correlations_solved(self, right: Array) -> Array:
        """Correlations^-1 right, (n,)."""
        return _solved(self.factor, _solved(self.factor, right), transposed=True)


def _conditioned(kernel: Kernel, points: Array, values: Array, common: Array, roughness: float) -> Model:
    """The model, given the covariances (n, n) of the points; an error of LinAlgError if rounding leaves no factor."""
    n = len(values)
    L: Array = np.asarray(np.linalg.cholesky(common + roughness * np.eye(n)), dtype=np.float64)
    ones, own = _solved(L, np.stack([np.ones(n), values], axis=1)).T
    mean = float(ones @ own / (ones @ ones))
    half = own - mean * ones
    size = max(float(half @ half) / n, 1e-300)
    weights = _solved(L, half, transposed=True)
    loss = 0.5 * n * np.log(size) + float(np.log(np.diagonal(L)).sum())
    return Model(kernel, points, L, weights, values - mean, mean, float(np.sqrt(size)), loss, roughness)


def _solved(L: Array, right: Array, transposed: bool = False) -> Array:
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(L, right, lower=True, trans="T" if transposed else "N", check_finite=False))


def evened(values: Array, bend: float, best: float) -> Array:
    """Values (n,), to be maximised, with differences of bad ones made small; their order stays."""
    gap = best - values
    if np.isinf(bend):
        return np.asarray(-gap)
    gap = np.maximum(gap, -0.5 * bend)  # of values better than the best, which even values continue a little
    return np.asarray(-bend * np.log1p(gap / bend))


def likelihood(points: Array, values: Array, fitted: Fitted, is_periodic: NDArray[np.bool_]) -> float:
    """How unlikely the values are: `Model.loss`, the effect of bending on their density, and the usual lengths."""
    even = evened(values, fitted.bend, float(values.max()))
    model = Model.of(points, even, fitted, is_periodic)
    gap = values.max() - values
    squeezed = 0.0 if np.isinf(fitted.bend) else float(np.log1p(gap / fitted.bend).sum())
    return model.loss + squeezed + _prior(np.log(fitted.lengths))[0]


def _prior(logs: Array) -> tuple[float, Array]:
    """What the usual lengths say of logarithms of lengths (d,), and the gradient."""
    off = (logs - np.log(TUNING.usual_length * np.sqrt(len(logs)))) / TUNING.unsure
    return 0.5 * float(off @ off), off / TUNING.unsure


def fit(
    points: Array, values: Array, begun: Fitted, is_periodic: NDArray[np.bool_], roughest: float = TUNING.roughest
) -> Fitted:
    """Lengths and roughness under which even values are most likely, by ascent from those before."""
    from scipy.optimize import minimize

    even = evened(values, begun.bend, float(values.max()))
    moved = wrapped(points[:, None] - points, is_periodic)
    squares, d = np.moveaxis(moved**2, -1, 0), points.shape[1]

    def loss(theta: Array) -> tuple[float, Array]:
        kernel = Kernel(np.exp(theta[:d]), is_periodic)
        shares = squares * np.exp(-2.0 * theta[:d])[:, None, None]
        common = np.exp(-0.5 * shares.sum(axis=0))
        try:
            model = _conditioned(kernel, points, even, common, float(np.exp(theta[d])))
        except np.linalg.LinAlgError:
            return _WORST, np.zeros_like(theta)
        inverse = _solved(model.factor, _solved(model.factor, np.eye(len(even))), transposed=True)
        pull = 0.5 * (inverse - np.outer(model.weights, model.weights) / model.size**2)
        slopes = np.append(np.einsum("nm,inm->i", pull * common, shares), np.exp(theta[d]) * np.trace(pull))
        said, by_length = _prior(theta[:d])
        slopes[:d] += by_length
        return model.loss + said, slopes

    first = np.append(np.log(begun.lengths), np.log(begun.roughness))
    limits = [(np.log(0.02), np.log(20.0))] * d + [(np.log(TUNING.finest), np.log(roughest))]
    best = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=limits, options={"maxiter": 40})
    return Fitted(np.exp(best.x[:d]), float(np.exp(best.x[d])), begun.bend)
