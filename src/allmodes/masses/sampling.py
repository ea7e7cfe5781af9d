"""From the first components to weighted draws: a pilot round, refinement where it helps, and the draws that count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allmodes.masses.proposal import Component, Proposal
from allmodes.masses.refinement import Fitted, fit
from allmodes.masses.start import Start
from allmodes.masses.target import Target
from allmodes.masses.weights import Weighed

_PILOT = 0.25  # of the draws: a pilot round, and each round of refinement
_EACH = 30  # draws of each mode in these rounds, at least
_LIGHT = 1e-3  # share of the evidence
_EVEN = 0.2  # of the draws are shared out among modes evenly, the others by mass
_GOOD_K, _GOOD_ESS = (
    0.5,
    0.5,
)  # a mode whose weights have such a tail, and such a share of effective draws, is left as it is
_CONSTANT = 0.9  # share of effective draws from which the tail of the weights does not matter
LARGEST_K = 0.7  # beyond it no usual number of draws makes weights settle (Vehtari et al.)
_TRIFLE = 1e-12  # of mass, that every mode has
_FEWEST = 2  # draws of a mode, per coordinate, from which components can be fitted

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def sample(target: Target, start: Start, draws: int, rounds: int, rng: np.random.Generator) -> tuple[Weighed, int]:
    """Weighted draws, and how many rounds of refinement there were.

    Where the first components are good enough the pilot round is a part of the draws. Otherwise what was drawn before
    the last round only shapes the proposal, so that the weights are those of independent draws.
    """
    num_modes = len(start.log_evidence)
    first = [tuple(part for part in start.components if part.owner == k) for k in range(num_modes)]
    fitted = [Fitted(parts, np.full(len(parts), 1.0 / len(parts))) for parts in first]
    n = min(draws, max(round(_PILOT * draws), _EACH * num_modes))
    seen = [_Round.of(target, _proposal(fitted, start.shares(), n), rng)]
    while len(seen) <= rounds and not (left := is_good(seen[-1].weighed) | _is_light(start, seen[-1].weighed)).all():
        seen.append(_refined(target, seen, first, fitted, left, n, rng))
    if len(seen) == 1:
        if draws == n:
            return seen[0].weighed, 0
        rest = _proposal(fitted, start.shares(), draws - n)
        return seen[0].joined(target, _Round.of(target, rest, rng)), 0
    left = np.ones(num_modes, bool)
    seen.append(_refined(target, seen, first, fitted, left, draws, rng))
    left = is_known(seen[-1].weighed) | _is_light(start, seen[-1].weighed)
    if not left.all():  # all draws see more than a round does: once more
        seen.append(_refined(target, seen, first, fitted, left, draws, rng))
    return seen[-1].weighed, len(seen) - 2


def _refined(
    target: Target, seen: list[_Round], first: list[tuple[Component, ...]], fitted: list[Fitted], is_left: Flags,
    n: int, rng: np.random.Generator,
) -> _Round:  # fmt: skip
    """n draws from components that are fitted anew to all draws so far, for modes that are not left as they are."""
    pool = _Pool.of(target, seen)
    for k in np.flatnonzero(~is_left).tolist():
        fitted[k] = pool.refitted(target, k, first[k], fitted[k], rng)
    return _Round.of(target, _proposal(fitted, pool.masses(len(first)), n), rng)


def is_known(weighed: Weighed) -> Flags:
    """Which modes (K,) have weights that allow an evidence."""
    share = weighed.ess / np.maximum(weighed.num_draws, 1)
    return np.asarray((weighed.totals > 0.0) & ((weighed.pareto_k <= LARGEST_K) | (share > _CONSTANT)))


def is_good(weighed: Weighed) -> Flags:
    """Which modes (K,) have weights that need no better components, as far as so many draws can tell."""
    share = weighed.ess / np.maximum(weighed.num_draws, 1)
    return np.asarray((share > _CONSTANT) | (~(weighed.pareto_k > _GOOD_K) & (share > _GOOD_ESS)))


def _is_light(start: Start, weighed: Weighed) -> Flags:
    """Which modes (K,) hardly matter, by draws and by Laplace: no evaluations are spent on better components."""
    total = weighed.totals.sum()
    by_draws = weighed.totals / total if total > 0.0 else np.ones(weighed.num_modes)
    return np.asarray(np.maximum(by_draws, np.nan_to_num(start.laplace())) < _LIGHT)


def _proposal(fitted: list[Fitted], masses: Floats, n: int) -> Proposal:
    """n draws, most of them by the masses (K,) of modes and the others evenly."""
    among = (1.0 - _EVEN) * masses / masses.sum() + _EVEN / len(masses)
    shares = np.concatenate([share * each.shares for share, each in zip(among, fitted, strict=True)])
    return Proposal.share((part for each in fitted for part in each.components), shares, n)


@dataclass(frozen=True, eq=False)
class _Round:
    """What was drawn from one proposal."""

    proposal: Proposal
    weighed: Weighed

    @staticmethod
    def of(target: Target, proposal: Proposal, rng: np.random.Generator) -> _Round:
        return _Round(proposal, Weighed.of(target, proposal, *proposal.draw(target.box, rng)))

    def joined(self, target: Target, other: _Round) -> Weighed:
        """Both as draws from one proposal: their components are the same."""
        mine, theirs = self.weighed, other.weighed
        both = Proposal(self.proposal.components, self.proposal.counts + other.proposal.counts)
        return Weighed.known(
            target, both, np.concatenate([mine.z, theirs.z]), np.concatenate([mine.stratum, theirs.stratum]),
            np.concatenate([mine.log_p, theirs.log_p]),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Pool:
    """All draws so far, as of the mixture of all proposals: what components are fitted to.

    Attributes:
        z, log_weights, owner: as in `Weighed`; draws at which the density is 0 are left out.
    """

    z: Floats
    log_weights: Floats
    owner: NDArray[np.intp]

    @staticmethod
    def of(target: Target, seen: list[_Round]) -> _Pool:
        z, log_p = (np.concatenate([getattr(each.weighed, name) for each in seen]) for name in ("z", "log_p"))
        rows = np.isfinite(log_p)
        z, log_p = z[rows], log_p[rows]
        sums = [each.proposal.log_sums(target.box, z, target.group) for each in seen]
        return _Pool(z, log_p - np.logaddexp.reduce([log_sum for log_sum, _ in sums]), sums[-1][1])

    def masses(self, num_modes: int) -> Floats:
        """Of the modes, (K,): what most of the last proposal is of."""
        if not len(self.z):
            return np.ones(num_modes)
        weights = np.exp(self.log_weights - self.log_weights.max())
        return np.asarray(np.bincount(self.owner, weights, num_modes) + _TRIFLE, dtype=np.float64)

    def refitted(
        self, target: Target, k: int, first: tuple[Component, ...], fitted: Fitted, rng: np.random.Generator
    ) -> Fitted:
        """Components of mode k by its draws; those that it has if these are too few."""
        rows = np.flatnonzero(self.owner == k)
        if len(rows) < _FEWEST * (1 + self.z.shape[1]):
            return fitted
        return fit(target.box, first, self.z[rows], self.log_weights[rows], rng)
