"""What the paper leaves to the user's hand: temperature scale, learning rate, end temperature, and where the box ends.

Paper: app:hyperparameter_procedure
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import map_leaves
from allmodes.nva.annealing import control_variates, estimators, proposals, updates, utilities
from allmodes.nva.annealing.algorithm import Algorithm
from allmodes.nva.annealing.control_variates import LeaveOneOut
from allmodes.nva.annealing.estimators import BlackBox, Estimator, FitnessShaped
from allmodes.nva.annealing.presets import nva_gm
from allmodes.nva.annealing.proposals import Proposed, Sample
from allmodes.nva.engine.step import Settings
from allmodes.nva.mixture import covariances, families
from allmodes.nva.mixture.families import Beta, Family, Gamma, Gaussian
from allmodes.nva.mixture.families.exponential_family import NaturalParameters
from allmodes.nva.mixture.families.family import Rates
from allmodes.nva.mixture.families.gaussian import GaussianDirection
from allmodes.objective import Evaluation, Needs
from allmodes.objective.bounds import Box
from allmodes.storage import stored
from allmodes.strategy.archive import Archive
from allmodes.strategy.search import Search

_WEIGHT_LIMIT = 10.0  # log-ratios of weights: no component is ever without entropy
_FIRST = (8, 4, 4)  # components of the first run by the order of derivatives there are
_STEPS = 20
_FIRST_SPREAD = 0.3  # standard deviation of a lone component at first, as a share of the box
_EDGE = 0.1  # means of components that live strictly inside the box keep this distance at first
_LARGEST_VARIANCE = 0.02  # of these
_GAIN = 0.4  # rho omega: the share of its error that the covariance of a settled component loses in one step
_LONGEST = 0.4  # whitened step rho G of a precision at most, and sqrt(2 times this) for rho g of a mean
_RANK_RATE = 0.2  # rho of rank-based steps, which have no scale of their own
_PENALTY = 20.0  # spreads of the function lost at a distance of one box outside
_LARGEST = 1e50  # scaled values and derivatives beyond are cut: their squares are finite
_NARROW = 0.02  # standard deviation of a settled component at the end, as a share of the box
_ENDS = (1e-4, 1e-2)  # end temperatures, as shares of the first
_UNKNOWN_END = 1e-3  # before any mode, and with it any curvature, is known

Floats = NDArray[np.float64]

# Whatever an algorithm may be made of can be saved with a search.
_OF_PARTS = (estimators, proposals, updates, utilities, control_variates, covariances, families)
_PARTS = {
    part: None
    for module in _OF_PARTS
    for part in vars(module).values()
    if isinstance(part, type) and hasattr(part, "__dataclass_fields__")
}
for _part in (Algorithm, Proposed, NaturalParameters, *_PARTS):
    stored(_part)


class Choice(NamedTuple):
    """An algorithm, how many components its first run has, and the steps of a run."""

    algorithm: Algorithm
    num_components: int
    steps: int


def choose(algorithm: Algorithm | None, order: int, d: int) -> Choice:
    """What to anneal with when there are derivatives up to this order; an algorithm that is given stays.

    Few samples do: a step that uses derivatives has next to no noise where it has settled. From values alone a sample
    must see every direction.
    """
    if algorithm is None:
        parts: dict[str, Any]
        if order == 0:
            parts = {"estimator": BlackBox(LeaveOneOut()), "num_samples": 2 * (d + 4)}
        else:
            parts = {"num_samples": 3 - order}
        return Choice(nva_gm(order, weight_limit=_WEIGHT_LIMIT, **parts), _FIRST[order], _STEPS)
    if not isinstance(algorithm.family, (Gaussian, Beta, Gamma)):
        raise ValueError(
            f"{algorithm.name} has components of {type(algorithm.family).__name__}(), which do not live in a box; use "
            "Gaussian() or Beta(), or call allmodes.anneal, which has no bounds."
        )
    _check_order(algorithm, order)
    algorithm.estimator.check_samples(algorithm.num_samples)
    return Choice(algorithm, _FIRST[1 if algorithm.needs else 0], _STEPS)


def _check_order(algorithm: Algorithm, order: int) -> None:
    """Refuse an algorithm that needs derivatives there are none of."""
    names = {"gradient": "jac", "hessian": "hess"}
    missing = [names[need] for need in sorted(algorithm.needs) if order < (2 if need == "hessian" else 1)]
    if missing:
        raise ValueError(
            f"{algorithm.name} needs {' and '.join(missing)}, which were not given. Pass them, or use an algorithm "
            "that needs values alone: presets.nva_gm(order=0) or presets.fs_nva_gm()."
        )


def start(algorithm: Algorithm, means: Floats) -> Any:
    """Components with these means (K, d), so wide that together they cover the box."""
    K, d = means.shape
    variance = (_FIRST_SPREAD * K ** (-1.0 / d)) ** 2
    if isinstance(algorithm.family, Gaussian):
        return algorithm.family.start(means, variance)
    return algorithm.family.start(np.clip(means, _EDGE, 1.0 - _EDGE), min(variance, _LARGEST_VARIANCE))


@stored
class Spread(NamedTuple):
    """Level and scale of the function over the box: a scaled value is (l - level) / scale, and omega begins at 1."""

    level: float
    scale: float

    @staticmethod
    def of(search: Search) -> Spread:
        """Median and interquartile range over even points; the range where that is 0, and 1 where all are equal."""
        levels = search.levels
        if not len(levels):
            return Spread(0.0, 1.0)
        with np.errstate(over="ignore"):
            widths = (search.scale, float(np.ptp(levels)))
        usable = [width for width in widths if np.isfinite(width) and width > 0]
        return Spread(search.level, usable[0] if usable else 1.0)


def end_temperature(archive: Archive, spread: Spread) -> float:
    """omega_T, as a share of omega_1: components on known modes would shrink to a given share of the box.

    A settled component has the covariance omega (-Hessian)^-1; its widest direction counts, over modes the median.

    Paper: eq:convergence_sigma_one_gaussian
    """
    if not len(archive):
        return _UNKNOWN_END
    widest = np.linalg.svd(archive.components.factors.A, compute_uv=False)[:, 0]  # 1 / sqrt of the least curvature
    with np.errstate(over="ignore", divide="ignore"):
        omega = np.median((_NARROW / widest) ** 2) / spread.scale
    return float(np.clip(omega, *_ENDS))


def temperature(step: int, steps: int, end: float) -> float:
    """omega_t for t = 0 ... steps - 1, geometric from 1 to the end temperature."""
    return float(end ** (step / max(1, steps - 1)))


def settings(algorithm: Algorithm, step: int, omega: float) -> Settings:
    """The numbers of one step: rho = gain / omega, which `Bounded` makes shorter where it must."""
    rho = _GAIN / omega
    covariance = rho if step >= algorithm.burn_in else 0.0
    damping = algorithm.damping if algorithm.damping and step >= algorithm.burn_in else None
    return Settings(omega, Rates(rho, covariance, damping))


@dataclass(frozen=True)
class Bounded(Estimator):
    """Another estimator with directions so short that a step at the given rate changes no component by much.

    The bound on |rho G| and |rho g| in whitened coordinates bounds the Kullback-Leibler divergence of the step, so that
    the learning rate needs no tuning.

    Paper: sub:learning_rate
    """

    inner: Estimator
    rate: float

    @property
    def is_gaussian_only(self) -> bool:  # type: ignore[override]
        return self.inner.is_gaussian_only

    def needs(self, family: Family) -> Needs:
        return self.inner.needs(family)

    def direction(self, family: Any, components: Any, sample: Sample, f: Evaluation) -> Any:
        direction = self.inner.direction(family, components, sample, f)
        share = _RANK_RATE / self.rate if isinstance(self.inner, FitnessShaped) else 1.0
        with np.errstate(all="ignore"):
            factor = np.minimum(share, _LONGEST / (self.rate * _length(direction, components)))
        return map_leaves(lambda leaf: leaf * factor.reshape(-1, *(1,) * (leaf.ndim - 1)), direction)


def _length(direction: Any, components: Any) -> Floats:
    """How large every component's direction is, (K,), measured so that _LONGEST is the longest step for all parts."""
    if not isinstance(direction, GaussianDirection):  # positive natural parameters: their relative change
        relative = np.abs(direction.natural / components.natural)
        return relative.reshape(len(relative), -1).max(axis=1)
    g, G = direction
    length = np.sqrt(0.5 * _LONGEST) * np.sqrt(np.einsum("kd,kd->k", g, g))
    if G is None:
        return length
    is_whole = np.isfinite(G).all(axis=tuple(range(1, G.ndim)))
    eigenvalues = np.linalg.eigvalsh(np.where(is_whole[:, None, None], G, 0.0)) if G.ndim == 3 else G
    return np.where(is_whole, np.maximum(length, np.abs(eigenvalues).max(axis=1)), np.nan)


def relief(box: Box, drawn: Floats, evaluation: Evaluation, spread: Spread, lowest: float) -> Evaluation:
    """The function that is annealed at the points drawn (N, d), from what is known at their projections on the box.

    Inside it is the scaled function, outside the value on the boundary less a quadratic penalty. Failures rank one
    spread below the `lowest` scaled value; their derivatives are taken as 0.
    """
    inside = np.minimum(np.maximum(drawn, box.lower_unit), box.upper_unit)
    out = drawn - inside
    is_in = out == 0.0
    values, gradient, hessian = evaluation
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.clip((values - spread.level) / spread.scale, -_LARGEST, _LARGEST)
        scaled = np.where(np.isfinite(values), scaled, lowest - 1.0) - _PENALTY * np.einsum("nd,nd->n", out, out)
        if gradient is not None:
            gradient = _finite(gradient / spread.scale) * is_in - 2.0 * _PENALTY * out
        if hessian is not None:
            hessian = _finite(hessian / spread.scale) * (is_in[:, :, None] & is_in[:, None, :])
            np.einsum("nii->ni", hessian)[...] -= 2.0 * _PENALTY * ~is_in
    return Evaluation(scaled, gradient, hessian)


def _finite(derivatives: Floats) -> Floats:
    return np.clip(np.nan_to_num(derivatives, nan=0.0, posinf=_LARGEST, neginf=-_LARGEST), -_LARGEST, _LARGEST)
