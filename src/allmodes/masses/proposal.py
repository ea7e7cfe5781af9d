"""A mixture of Gaussian and Student-t components to draw from, in unit coordinates, within bounds and periods."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import gammaln

from allmodes.objective.bounds import Box
from allmodes.search.group import Group

_LARGEST_TEMPORARY = 2**22  # numbers

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Component:
    """A Gaussian or Student-t component of mode `owner`.

    Along coordinates that a bound holds it is folded: its mean is on the bound, they are not correlated with others,
    and draws beyond the bound are mirrored, so that the density is twice as large for each of them.

    Attributes:
        mean, L: (d,), and a lower triangular factor of the scale matrix L L^T.
        freedom: degrees of freedom, infinite for a Gaussian.
        side: (d,), 1 or -1 for where the inside is along coordinates that are held, 0 for others.
        owner: the mode.
    """

    mean: Floats
    L: Floats
    freedom: float
    side: Floats
    owner: int

    def squared_lengths(self, box: Box, z: Floats) -> Floats:
        """Squared Mahalanobis distances of points (n, d), the shortest way round in periodic coordinates."""
        u = solve_triangular(self.L, box.difference(z, self.mean).T, lower=True, check_finite=False)
        return np.asarray(np.einsum("dn,dn->n", u, u))

    def log_density(self, box: Box, z: Floats) -> Floats:
        """At points (n, d) inside the bounds."""
        d, nu = len(self.mean), self.freedom
        q = self.squared_lengths(box, z)
        log_norm = np.log(2.0) * np.abs(self.side).sum() - np.log(np.diagonal(self.L)).sum()
        if np.isinf(nu):
            return np.asarray(log_norm - 0.5 * (d * np.log(2.0 * np.pi) + q))
        log_norm += gammaln(0.5 * (nu + d)) - gammaln(0.5 * nu) - 0.5 * d * np.log(nu * np.pi)
        return np.asarray(log_norm - 0.5 * (nu + d) * np.log1p(q / nu))

    def draw(self, box: Box, rng: np.random.Generator, n: int) -> Floats:
        """At most n points: those that leave the bounds, or go more than half way round, are left out.

        What is left out is a part of the component in which the density counts as 0: nothing has to be normalised.
        """
        step = rng.standard_normal((n, len(self.mean)))
        if np.isfinite(self.freedom):
            step *= np.sqrt(self.freedom / rng.chisquare(self.freedom, n))[:, None]
        step = step @ self.L.T
        step = np.where(self.side == 0.0, step, np.abs(step) * self.side)
        is_near = (np.abs(step[:, box.periodic_unit]) <= 0.5).all(axis=1)
        z = self.mean + step
        return box.project(z[is_near & box.inside(z)])


class Drawn(NamedTuple):
    """Points (n, d), and for each the mode whose component it was drawn from."""

    z: Floats
    stratum: Indices


@dataclass(frozen=True, eq=False)
class Proposal:
    """Components, and how many draws each makes: a mixture whose weights are exactly their shares.

    Attributes:
        components: of all modes.
        counts: (C,), draws of each; those that are left out count.
    """

    components: tuple[Component, ...]
    counts: Indices

    @staticmethod
    def share(components: Iterable[Component], shares: Floats, n: int) -> Proposal:
        """n draws shared out among components, at least two to each."""
        parts = tuple(components)
        n = max(n, 2 * len(parts))
        wanted = 2.0 + (n - 2 * len(parts)) * shares / shares.sum()
        counts = np.floor(wanted).astype(np.intp)
        short = n - int(counts.sum())
        counts[np.argsort(counts - wanted, kind="stable")[:short]] += 1
        return Proposal(parts, counts)

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    @property
    def num_modes(self) -> int:
        return max(part.owner for part in self.components) + 1

    def per_mode(self) -> Indices:
        """How many draws come from components of each mode."""
        return np.bincount([part.owner for part in self.components], self.counts, self.num_modes).astype(np.intp)

    def draw(self, box: Box, rng: np.random.Generator) -> Drawn:
        """All draws that are inside."""
        points = [part.draw(box, rng, int(n)) for part, n in zip(self.components, self.counts, strict=True)]
        stratum = np.repeat([part.owner for part in self.components], [len(each) for each in points])
        return Drawn(np.concatenate(points), stratum.astype(np.intp))

    def log_sums(self, box: Box, z: Floats, group: Group | None = None) -> tuple[Floats, Indices]:
        """log sum_c n_c q_c at points (n, d), and the mode that most of it is of.

        With a symmetry it is the mean over all images of a point: draws from the modes that are listed, seen as draws
        from all their images.
        """
        size = max(1, _LARGEST_TEMPORARY // self.num_modes)
        blocks = [self._block(box, z[i : i + size], group) for i in range(0, max(len(z), 1), size)]
        logs, owners = zip(*blocks, strict=True)
        return np.concatenate(logs), np.concatenate(owners)

    def _block(self, box: Box, z: Floats, group: Group | None) -> tuple[Floats, Indices]:
        per_mode = np.full((self.num_modes, len(z)), -np.inf)
        for image in _images(box, z, group):
            for part, count in zip(self.components, self.counts, strict=True):
                row = per_mode[part.owner]
                np.logaddexp(row, np.log(count) + part.log_density(box, image), out=row)
        owner = per_mode.argmax(axis=0).astype(np.intp)
        return np.logaddexp.reduce(per_mode, axis=0) - np.log(len(group) if group is not None else 1), owner


def _images(box: Box, z: Floats, group: Group | None) -> Iterable[Floats]:
    if group is None:
        return [z]
    pairs = zip(group.matrices, group.shifts, strict=True)
    return (box.project(z @ matrix.T + shift) for matrix, shift in pairs)
