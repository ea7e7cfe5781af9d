"""What Laplace's approximation says of the modes: their masses, and the components that draws begin with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx

from allmodes.masses.agreement import check_values
from allmodes.masses.proposal import Component
from allmodes.masses.target import Target
from allmodes.modes import laplace
from allmodes.objective.bounds import Box
from allmodes.objective.scales import bends
from allmodes.result.mode import Mode
from allmodes.result.result import Result

# Smallest eigenvalue of a component, as a share of the largest: of ordinary modes, whose curvature was verified, and of
# others as in `Result.mixture`. With 1e-3 for all, components would be too short along narrow valleys.
_FLOOR, _FLOOR_OF_FLAT = 1e-10, 1e-3
_WIDEST = 1.0  # standard deviation of a component, in units of the box, between two bounds and where all is level
_ON_BOUND = 0.01  # standard deviations: closer to a bound than this a component is folded there
_FREEDOM = 3.0  # of the Student-t half of the first components: tails as heavy as one meets
_FLAT = 1e-6  # curvature along a slope s at a bound, in units of s^2, that does not matter
_LARGEST_SHIFT = 1.0  # standard deviations, of the mean where coordinates are logarithms

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Start:
    """What is known before any draw.

    Attributes:
        components: a Gaussian one and a Student-t one for each mode.
        log_evidence: of each mode by Laplace's approximation, (K,); NaN where there is none.
        highest: the log density at the best mode.
    """

    components: tuple[Component, ...]
    log_evidence: Floats
    highest: float

    def laplace(self) -> Floats:
        """Shares of the evidence in modes (K,), of those that have one by Laplace; NaN for the others."""
        known = np.isfinite(self.log_evidence)
        top = self.log_evidence[known].max(initial=-np.inf)
        shares = np.exp(self.log_evidence - (top if known.any() else 0.0))
        return np.asarray(shares / np.nansum(shares)) if known.any() else np.full(len(known), np.nan)

    def shares(self) -> Floats:
        """Of the draws, among modes (K,): where Laplace says nothing the average of the others."""
        shares = self.laplace()
        known = np.isfinite(shares)
        shares[~known] = shares[known].mean() if known.any() else 1.0
        return np.asarray(shares / shares.sum())


def start(result: Result, target: Target) -> Start:
    """Components at the modes, with the curvature that the search has measured."""
    x = np.array([mode.x for mode in result.modes])
    values = target.raw(x)
    check_values(result, values)
    heights = values + target.log_slopes(x)
    components: list[Component] = []
    logs = np.full(len(x), np.nan)
    for k, (mode, z) in enumerate(zip(result.modes, target.box.to_unit(x), strict=True)):
        local = _Local.of(mode, z, target.box, 1.0 if result.maximise else -1.0)
        components += local.components(k)
        logs[k] = heights[k] + local.log_volume() + np.log(mode.multiplicity or 1)
    return Start(tuple(components), logs, float(np.nanmax(values)))


@dataclass(frozen=True, eq=False)
class _Local:
    """The log density around a mode, in unit coordinates.

    Attributes:
        z: where it is, (d,).
        box: around it.
        is_free: which coordinates no bound holds, (d,).
        slopes: along those that a bound holds, (d,), 0 along others.
        curvature: -Hessian, (d, d).
        is_plain: whether Laplace's approximation is defined: not on level ground, nor at constraints.
    """

    z: Floats
    box: Box
    is_free: Flags
    slopes: Floats
    curvature: Floats
    is_plain: bool

    @staticmethod
    def of(mode: Mode, z: Floats, box: Box, sign: float) -> _Local:
        if not np.isfinite(mode.hessian).all():
            raise ValueError(
                f"the curvature at {mode!r} is not known, and draws begin with it; find the modes by a search."
            )
        active = np.isin(np.flatnonzero(box.free), mode.active)
        gradient = np.zeros(len(mode.x)) if mode.gradient is None else np.nan_to_num(mode.gradient)
        slopes = np.where(active, box.gradient_to_unit(sign * gradient, mode.x), 0.0)
        curvature = -box.hessian_to_unit(sign * mode.hessian, mode.x, slopes)
        is_known = mode.gradient is not None or not active.any()
        return _Local(z, box, ~active, slopes, curvature, is_known and mode.kind not in ("flat", "constrained"))

    def log_volume(self) -> float:
        """Laplace's, of what is inside the bounds; NaN where it is not defined."""
        free = self.is_free
        of_free = self.curvature[np.ix_(free, free)]
        sizes = np.zeros(len(self.z))
        sizes[free] = np.linalg.eigvalsh(of_free)
        if not self.is_plain or (sizes[free] <= 0.0).any():
            return np.nan
        sizes[~free] = self._held()
        volume = float(laplace.log_volumes(sizes[None], 1.0, free[None], self.slopes[None])[0])
        below, above = (self.z - self.box.lower_unit)[free], (self.box.upper_unit - self.z)[free]
        return volume + laplace.log_inside(-of_free, np.maximum(below, 0.0), np.maximum(above, 0.0), 1.0)

    def components(self, owner: int) -> list[Component]:
        """A Gaussian and a Student-t one. Along held coordinates they are as wide as the one-sided integral is long."""
        covariance = self._covariance()
        mean = self.box.project(self._shifted(covariance))
        side = self._sides(mean, covariance)
        mean = np.where(side > 0.0, self.box.lower_unit, np.where(side < 0.0, self.box.upper_unit, mean))
        L = factor(uncorrelated(covariance, side))
        return [Component(mean, L, freedom, side, owner) for freedom in (np.inf, _FREEDOM)]

    def _covariance(self) -> Floats:
        d, free = len(self.z), self.is_free
        covariance = np.zeros((d, d))
        sizes, vectors = np.linalg.eigh(self.curvature[np.ix_(free, free)])
        largest = float(np.abs(sizes).max(initial=0.0))
        sizes = np.maximum(np.abs(sizes), (_FLOOR if self.is_plain else _FLOOR_OF_FLAT) * largest or _WIDEST**-2)
        covariance[np.ix_(free, free)] = (vectors / sizes) @ vectors.T
        of_held = np.maximum(self._held(), _WIDEST**-2)
        widths = erfcx(np.abs(self.slopes[~free]) / np.sqrt(2.0 * of_held)) / np.sqrt(of_held)
        covariance[~free, ~free] = widths**2
        has_ends = np.isfinite(self.box.lower_unit) & np.isfinite(self.box.upper_unit)
        has_ends[self.box.periodic_unit] = True
        if (np.diagonal(covariance)[has_ends] > _WIDEST**2).any():  # most draws would be outside
            covariance = np.linalg.inv(np.linalg.inv(covariance) + np.diag(has_ends / _WIDEST**2))
        return covariance

    def _held(self) -> Floats:
        """Curvature along held coordinates: where there is none the slope alone counts."""
        held = ~self.is_free
        return np.maximum(np.abs(np.diagonal(self.curvature)[held]), _FLAT * self.slopes[held] ** 2)

    def _shifted(self, covariance: Floats) -> Floats:
        """The maximum of the density by z: where coordinates are logarithms it is beside that of the density by x."""
        if self.box.is_log is None:
            return self.z
        slope = np.where(self.is_free, bends(self.box.scale, self.box.is_log[self.box.free]), 0.0)
        shift = covariance @ slope
        length = np.sqrt(float(slope @ shift))
        return self.z + shift * min(1.0, _LARGEST_SHIFT / max(length, 1e-300))

    def _sides(self, mean: Floats, covariance: Floats) -> Floats:
        """Where the inside is, along coordinates with a bound that holds the mode or is right beside it."""
        below, above = mean - self.box.lower_unit, self.box.upper_unit - mean
        nearer = np.minimum(below, above)
        is_on = ~self.is_free | (nearer <= _ON_BOUND * np.sqrt(np.diagonal(covariance)))
        return np.where(is_on & np.isfinite(nearer), np.where(below <= above, 1.0, -1.0), 0.0)


def factor(covariance: Floats) -> Floats:
    """The lower triangular factor of a covariance (d, d)."""
    return np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)


def uncorrelated(covariance: Floats, side: Floats) -> Floats:
    """A covariance (d, d) without correlations of folded coordinates."""
    is_folded = side != 0.0
    alone = (is_folded[:, None] | is_folded) & ~np.eye(len(side), dtype=bool)
    return np.where(alone, 0.0, covariance)
