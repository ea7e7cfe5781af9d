"""GLLiM: a mixture of affine maps with Gaussian noise, learnt from pairs (x, y), that can be inverted in closed form.

In component k, x ~ N(c, Gamma) and y = A x + b + noise, noise ~ N(0, Sigma). Given y, x follows a Gaussian mixture.
(Deleforge, Forbes and Horaud, Statistics and Computing 25, 2015.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import cholesky, logsumexp_and_shares
from allmodes.checks import instance, number, real_array, whole_number
from allmodes.nva.mixture.covariances import Covariance, Isotropic

FLOOR = 1e-12  # of variances and weights: what is smaller is rounding
_BLOCK = 8192  # pairs in one product of matrices: large enough for several threads, small enough for the cache
_TINY = float(np.finfo(np.float64).tiny)
_ISOTROPIC = Isotropic()
_LOG_2PI = math.log(2.0 * math.pi)
_SEEDED_ON = 10_000  # pairs that the first components are found on; more do not change them much
_LLOYD_STEPS = 10  # of k-means: a start for the fit, not a result

Floats = NDArray[np.float64]


class GaussianMixture(NamedTuple):
    """Weights (K,), means (K, d) and covariances (K, d, d)."""

    weights: Floats
    means: Floats
    covariances: Floats

    def draw(self, count: int, rng: np.random.Generator) -> Floats:
        """Points (count, d) of this distribution."""
        chosen = rng.choice(len(self.weights), size=count, p=self.weights / self.weights.sum())
        noise = rng.standard_normal((count, self.means.shape[1], 1))
        return self.means[chosen] + (np.linalg.cholesky(self.covariances)[chosen] @ noise)[..., 0]


@dataclass(frozen=True, eq=False)
class Gllim:
    """K affine maps from x (L coordinates) to y (D coordinates), each with its region and its noise.

    Attributes:
        weights: pi (K,).
        centres: c (K, L).
        spreads: Gamma (K, L, L), covariance of x in a component.
        slopes: A (K, D, L).
        offsets: b (K, D).
        noises: Sigma (K, D, D), covariance of y around its map.
        log_likelihoods: per pair, before every iteration of the fit; empty for a model that was not fitted.
    """

    weights: Floats
    centres: Floats
    spreads: Floats
    slopes: Floats
    offsets: Floats
    noises: Floats
    log_likelihoods: Floats = field(default_factory=lambda: np.empty(0))

    def predict_means(self) -> Floats:
        """A c + b (K, D): y in the middle of every component."""
        return (self.slopes @ self.centres[..., None])[..., 0] + self.offsets

    def posterior(self, y: Floats) -> GaussianMixture:
        """The distribution of x given one y (D,).

        Covariances (Gamma^-1 + A^T Sigma^-1 A)^-1, means Sigma* (A^T Sigma^-1 (y - b) + Gamma^-1 c), weights in
        proportion to pi N(y; A c + b, Sigma + A Gamma A^T), tiny instead of 0 where y rules a component out.
        """
        y = real_array("y", y, f"an observation ({self.offsets.shape[1]},)")
        if y.shape != self.offsets.shape[1:]:
            raise ValueError(f"y has shape {y.shape}; one observation {self.offsets.shape[1:]} was wanted.")
        back = np.linalg.solve(self.noises, self.slopes)  # Sigma^-1 A
        covariances = np.linalg.inv(np.linalg.inv(self.spreads) + self.slopes.mT @ back)
        covariances = 0.5 * (covariances + covariances.mT)
        residuals = y - self.predict_means()
        # The mean as a correction of c: the same, and exact where y tells little.
        means = self.centres + (covariances @ (back.mT @ residuals[..., None]))[..., 0]
        roots = cholesky(self.noises + self.slopes @ self.spreads @ self.slopes.mT)
        log_weights = np.log(self.weights) + _log_normal(roots, residuals)
        _, weights = logsumexp_and_shares(log_weights)
        return GaussianMixture(np.maximum(weights, _TINY), means, covariances)


def _log_normal(roots: Floats, residuals: Floats) -> Floats:
    """log N(residual; 0, L L^T) for Cholesky factors (K, D, D) and residuals (K, D)."""
    whitened = np.linalg.solve(roots, residuals[..., None])[..., 0]
    return -0.5 * (whitened**2).sum(axis=-1) + _log_constant(roots)


def _log_constant(roots: Floats) -> Floats:
    """The logarithm of what stands before the exponential of a Gaussian with these Cholesky factors."""
    diagonal = roots.diagonal(axis1=-2, axis2=-1)
    return -np.log(diagonal).sum(axis=-1) - 0.5 * _LOG_2PI * diagonal.shape[-1]


def fit_gllim(
    x: Floats,
    y: Floats,
    num_components: int,
    *,
    noise: Covariance = _ISOTROPIC,
    iterations: int = 150,
    tolerance: float = 0.0,
    rng: np.random.Generator | int | None = None,
    callback: Callable[[int, float], None] | None = None,
) -> Gllim:
    """Fit K affine maps to pairs by expectation maximisation.

    Every pair becomes the products of the entries of (1, x, y). A log-density is linear in them, and so are the sums
    that the new parameters are made of: an iteration is two products of matrices.

    Args:
        x, y: pairs (N, L) and (N, D).
        num_components: K.
        noise: Isotropic(), Diagonal() or Full(): what Sigma may look like.
        iterations: at most so many.
        tolerance: end when the log-likelihood per pair rises by less.
        rng: seed or generator of the start.
        callback: called after every iteration with its number and the log-likelihood per pair.
    """
    x, y, K = _checked(x, y, num_components)
    instance("noise", noise, Covariance, "Write Isotropic(), Diagonal() or Full().")
    number("tolerance", tolerance, at_least=0.0)
    units, L = _Units.of(x, y), x.shape[1]
    features = _Features(units.put(x, y))
    model = _maximise(features.first_moments(K, np.random.default_rng(rng)), None, L, noise)
    history: list[float] = []
    for i in range(whole_number("iterations", iterations, 1)):
        log_likelihood, moments = features.expect(_quadratic_forms(model))
        history.append(log_likelihood)
        if callback is not None:
            callback(i + 1, log_likelihood - units.log_density())
        if i and history[-1] - history[-2] < tolerance:
            break
        model = _maximise(moments, model, L, noise)
    return units.undo(model, np.array(history))


def _checked(x: Floats, y: Floats, num_components: int) -> tuple[Floats, Floats, int]:
    x, y = real_array("x", x, "an array (N, L)"), real_array("y", y, "an array (N, D)")
    if x.ndim != 2 or y.ndim != 2 or len(x) != len(y):
        raise ValueError(f"x and y have shapes {x.shape} and {y.shape}; wanted (N, L) and (N, D): one row per pair.")
    K, least = whole_number("num_components", num_components, 1), 1 + x.shape[1] + y.shape[1]
    if len(x) < K * least:
        raise ValueError(
            f"{len(x)} pairs are too few for {K} components of {least} pairs at least. Give more pairs, or a smaller "
            "num_components."
        )
    return x, y, K


class _Features:
    """Products of the entries of z = (1, x, y) for every pair: those on and above the diagonal of z z^T."""

    def __init__(self, pairs: Floats) -> None:
        self.pairs = pairs
        z = np.hstack([np.ones((len(pairs), 1)), pairs])
        self.size = z.shape[1]
        self.rows, self.columns = np.triu_indices(self.size)
        self.products = np.empty((len(z), len(self.rows)))
        for i, (row, column) in enumerate(zip(self.rows, self.columns, strict=True)):
            np.multiply(z[:, row], z[:, column], out=self.products[:, i])

    def expect(self, forms: Floats) -> tuple[float, Floats]:
        """Mean log-likelihood, and the moments (K, size, size), sums of z z^T by shares, under z^T Q_k z (K, ...)."""
        twice = np.where(self.rows == self.columns, 1.0, 2.0)
        coefficients = (forms[:, self.rows, self.columns] * twice).T
        total, sums = 0.0, np.zeros_like(coefficients)
        for start in range(0, len(self.products), _BLOCK):
            block = self.products[start : start + _BLOCK]
            log_sums, shares = logsumexp_and_shares(block @ coefficients, axis=1)
            total += float(log_sums.sum())
            sums += block.T @ shares
        return total / len(self.products), self._matrices(sums)

    def _matrices(self, sums: Floats) -> Floats:
        """Sums of products (P, K) as symmetric matrices (K, size, size)."""
        matrices = np.empty((sums.shape[1], self.size, self.size))
        matrices[:, self.rows, self.columns] = sums.T
        matrices[:, self.columns, self.rows] = sums.T
        return matrices

    def first_moments(self, K: int, rng: np.random.Generator) -> Floats:
        """Moments of K clusters of pairs, found by k-means on a part of them."""
        spread = self.pairs.std(axis=0)
        scaled = self.pairs / np.where(spread > 0.0, spread, 1.0)
        some = scaled[rng.permutation(len(scaled))[:_SEEDED_ON]]
        centres = _means_of_clusters(some, K, rng)
        shares = np.zeros((len(scaled), K))
        shares[np.arange(len(scaled)), _nearest(scaled, centres)] = 1.0
        return self._matrices(self.products.T @ shares)


def _means_of_clusters(points: Floats, K: int, rng: np.random.Generator) -> Floats:
    """Centres (K, d) by k-means: first ones far from each other at random, then a few steps of Lloyd's."""
    centres = points[rng.integers(len(points), size=1)]
    squares = ((points - centres[0]) ** 2).sum(axis=1)
    for _ in range(K - 1):
        total = squares.sum()
        chances = squares / total if total > 0.0 else None  # None where every point is a centre: any will do
        new = points[rng.choice(len(points), p=chances)]
        centres = np.vstack([centres, new])
        squares = np.minimum(squares, ((points - new) ** 2).sum(axis=1))
    for _ in range(_LLOYD_STEPS):
        nearest = _nearest(points, centres)
        counts = np.bincount(nearest, minlength=K)
        sums = np.stack([np.bincount(nearest, column, minlength=K) for column in points.T], axis=1)
        centres = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
    return centres


def _nearest(points: Floats, centres: Floats) -> NDArray[np.intp]:
    """The number of the nearest centre, (N,)."""
    return np.argmin((centres**2).sum(axis=1) - 2.0 * points @ centres.T, axis=1)


def _quadratic_forms(model: Gllim) -> Floats:
    """Q (K, 1+L+D, 1+L+D) with z^T Q_k z = log(pi_k N(x; c, Gamma) N(y; A x + b, Sigma)) for z = (1, x, y)."""
    K, D, L = model.slopes.shape
    of_x, of_y = np.zeros((K, L, 1 + L + D)), np.zeros((K, D, 1 + L + D))
    of_x[..., 0], of_x[..., 1 : 1 + L] = -model.centres, np.eye(L)  # x - c
    of_y[..., 0], of_y[..., 1 : 1 + L], of_y[..., 1 + L :] = -model.offsets, -model.slopes, np.eye(D)  # y - A x - b
    root_x, root_y = cholesky(model.spreads), cholesky(model.noises)
    whitened = np.concatenate([np.linalg.solve(root_x, of_x), np.linalg.solve(root_y, of_y)], axis=1)
    forms = -0.5 * whitened.mT @ whitened
    forms[:, 0, 0] += np.log(model.weights) + _log_constant(root_x) + _log_constant(root_y)
    return forms


def _maximise(moments: Floats, before: Gllim | None, L: int, noise: Covariance) -> Gllim:
    """The parameters that moments (K, 1+L+D, 1+L+D) make most likely.

    A component with fewer pairs than z has entries keeps the map it had, which cannot lower the likelihood; if it had
    none it takes the map of all pairs together.
    """
    counts = moments[:, 0, 0]
    is_poor = counts < moments.shape[1]
    weights = np.maximum(counts / counts.sum(), FLOOR)
    usable = np.where(is_poor[:, None, None], moments.sum(axis=0), moments)
    usable = usable / usable[:, :1, :1]
    mean = usable[:, 0, 1:]
    covariance = usable[:, 1:, 1:] - mean[:, :, None] * mean[:, None, :]
    xx, yx, yy = covariance[:, :L, :L], covariance[:, L:, :L], covariance[:, L:, L:]
    spreads = xx + FLOOR * np.eye(L)
    slopes = np.asarray(np.linalg.solve(spreads, yx.mT).mT, dtype=np.float64)
    offsets = mean[:, L:] - (slopes @ mean[:, :L, None])[..., 0]
    noises = _restricted(yy - slopes @ yx.mT, noise)
    model = Gllim(weights / weights.sum(), mean[:, :L], spreads, slopes, offsets, noises)
    for name in ("centres", "spreads", "slopes", "offsets", "noises") if before is not None else ():
        getattr(model, name)[is_poor] = getattr(before, name)[is_poor]
    return model


def _restricted(matrices: Floats, noise: Covariance) -> Floats:
    """Covariances (K, D, D) as the structure allows them, none of their variances below the floor."""
    blocks, eye = noise.project(matrices), np.eye(matrices.shape[-1])
    if blocks.ndim < matrices.ndim:
        return np.asarray(np.maximum(blocks, FLOOR)[..., None] * eye)
    return np.asarray(0.5 * (blocks + blocks.mT) + FLOOR * eye)


class _Units(NamedTuple):
    """Pairs are fitted centred and with variance 1 on average: fewer digits cancel, and the floor is a share."""

    x_mean: Floats
    y_mean: Floats
    x_scale: float
    y_scale: float

    @staticmethod
    def of(x: Floats, y: Floats) -> _Units:
        scales = [float(np.sqrt(part.var(axis=0).mean())) or 1.0 for part in (x, y)]
        return _Units(x.mean(axis=0), y.mean(axis=0), *scales)

    def put(self, x: Floats, y: Floats) -> Floats:
        """Pairs (N, L + D) in these units."""
        return np.hstack([(x - self.x_mean) / self.x_scale, (y - self.y_mean) / self.y_scale])

    def log_density(self) -> float:
        """What these units add to the log-density of a pair."""
        return len(self.x_mean) * math.log(self.x_scale) + len(self.y_mean) * math.log(self.y_scale)

    def undo(self, model: Gllim, history: Floats) -> Gllim:
        """The model in the user's units."""
        slopes = model.slopes * (self.y_scale / self.x_scale)
        offsets = self.y_scale * model.offsets + self.y_mean - slopes @ self.x_mean
        centres = self.x_scale * model.centres + self.x_mean
        spreads, noises = self.x_scale**2 * model.spreads, self.y_scale**2 * model.noises
        return Gllim(model.weights, centres, spreads, slopes, offsets, noises, history - self.log_density())
