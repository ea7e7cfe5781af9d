"""Draws with their importance weights, and how good these are, mode by mode."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from allmodes.masses.proposal import Proposal
from allmodes.masses.target import Target
from allmodes.modes import pareto

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Weighed:
    """Draws of a proposal at which the target was evaluated.

    Attributes:
        z: (n, d), inside the bounds.
        log_p: of the target, (n,).
        log_weights: p over the sum of all components times their draws, (n,): their exponentials sum to the evidence.
        owner: the mode to which each draw belongs, of which most of the proposal is there.
        stratum: the mode whose component it was drawn from.
        num_drawn: (K,), from each stratum, those that left the bounds included.
    """

    z: Floats
    log_p: Floats
    log_weights: Floats
    owner: Indices
    stratum: Indices
    num_drawn: Indices

    @staticmethod
    def of(target: Target, proposal: Proposal, z: Floats, stratum: Indices) -> Weighed:
        """Evaluate the target at draws."""
        return Weighed.known(target, proposal, z, stratum, target.log_density(z))

    @staticmethod
    def known(target: Target, proposal: Proposal, z: Floats, stratum: Indices, log_p: Floats) -> Weighed:
        """Draws at which the target is known."""
        log_q, owner = proposal.log_sums(target.box, z, target.group)
        return Weighed(z, log_p, log_p - log_q, owner, stratum, proposal.per_mode())

    @property
    def num_modes(self) -> int:
        return len(self.num_drawn)

    @cached_property
    def _smoothed(self) -> tuple[Floats, Floats]:
        logs, shapes = self.log_weights.copy(), np.full(self.num_modes, np.nan)
        for k in range(self.num_modes):
            rows = np.flatnonzero((self.owner == k) & np.isfinite(self.log_weights))
            logs[rows], shapes[k] = pareto.smooth(self.log_weights[rows])
        return logs, shapes

    @property
    def smoothed(self) -> Floats:
        """Logarithms of the weights, the tail of each mode's smoothed, (n,)."""
        return self._smoothed[0]

    @property
    def pareto_k(self) -> Floats:
        """Of each mode, (K,)."""
        return self._smoothed[1]

    @cached_property
    def top(self) -> float:
        """The largest smoothed log weight; 0 if no draw has any."""
        top = float(self.smoothed.max(initial=-np.inf))
        return top if np.isfinite(top) else 0.0

    @cached_property
    def weights(self) -> Floats:
        """Smoothed weights as multiples of the largest, (n,)."""
        return np.asarray(np.exp(self.smoothed - self.top))

    def sums(self, of: Floats) -> Floats:
        """Of entries (n,), over the draws of each mode: (K,)."""
        return np.asarray(np.bincount(self.owner, of, self.num_modes), dtype=np.float64)

    @cached_property
    def totals(self) -> Floats:
        """Of weights, by mode."""
        return self.sums(self.weights)

    @cached_property
    def num_draws(self) -> Indices:
        """Draws of each mode at which the density is not 0, (K,)."""
        return np.bincount(self.owner[np.isfinite(self.log_weights)], minlength=self.num_modes).astype(np.intp)

    @cached_property
    def ess(self) -> Floats:
        """Effective number of draws of each mode, (K,)."""
        squares = self.sums(self.weights**2)
        return np.where(squares > 0.0, self.totals**2 / np.where(squares > 0.0, squares, 1.0), 0.0)

    def deviation(self, of: Floats) -> float:
        """Standard error of the sum of entries (n,), each 0 for draws that left the bounds.

        Strata are drawn separately, so that only the variance within each counts.
        """
        n = np.maximum(self.num_drawn, 1)
        mean = np.bincount(self.stratum, of, len(n)) / n
        num_outside = n - np.bincount(self.stratum, minlength=len(n))
        squares = np.bincount(self.stratum, (of - mean[self.stratum]) ** 2, len(n)) + num_outside * mean**2
        return float(np.sqrt((n * squares / np.maximum(n - 1, 1)).sum()))
