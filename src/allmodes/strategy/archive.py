"""Modes found so far: frozen components of a Gaussian mixture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from allmodes.nva.mixture.covariances import Factors, Full
from allmodes.nva.mixture.families.gaussian import GaussianComponents
from allmodes.objective.bounds import Box
from allmodes.storage import stored

if TYPE_CHECKING:
    from scipy.spatial import KDTree

_FULL = Full()
_FLOOR = 1e-3  # smallest eigenvalue of a frozen precision, as a share of the largest
_TINY = 1e-9
_NONE = np.zeros(1, np.int64)
_FEW = 4  # modes close to a point that it is compared with
_MANY = 2_000  # distances between points and modes from which on a tree is quicker than all of them


@stored
@dataclass(frozen=True)
class Found:
    """What is known of one mode, in unit coordinates, beside its place in the mixture.

    Attributes:
        gradient: (d,); not zero where a bound is active.
        hessian: (d, d) as measured, not floored.
        active: (d,), which coordinates sit on a bound that holds them back.
        kind: "optimum", "boundary", "flat" or "unverified".
        source: where the Hessian comes from: "derivatives", "differences" or "component".
        found_at: evaluations made when it was found.
        standard_error: of the value, for noisy functions.
    """

    gradient: NDArray[np.float64]
    hessian: NDArray[np.float64]
    active: NDArray[np.bool_]
    kind: str
    source: str
    found_at: int
    standard_error: float = 0.0


@stored
@dataclass
class Archive:
    """Frozen components: a mode m_j with value l_j and precision A_j = -Hessian, which is Laplace's approximation.

    Attributes:
        box: the domain, for distances.
        components: means (J, d) and factors of the precisions.
        values: l_j, (J,), to be maximised.
        found: what else is known of each.
        hits: launches that ended in each mode, (J,).
        even_hits: those of them that began at evenly spread starts, (J,): what coverage is estimated from.
        picks: how often a launch began near each mode, (J,).
        hills: numbers that are the same for modes that have proved to be parts of one, (J,).
        has_boundary: whether one was found at a bound.
        tree, apart: of the means, and how far apart they are; made when first wanted and dropped when they change.
    """

    box: Box
    components: GaussianComponents = field(init=False)
    values: NDArray[np.float64] = field(init=False)
    found: list[Found] = field(default_factory=list)
    hits: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    even_hits: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    picks: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    hills: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    has_boundary: bool = False
    tree: KDTree | None = field(default=None, init=False, metadata={"stored": False})
    apart: float | None = field(default=None, init=False, metadata={"stored": False})

    def __post_init__(self) -> None:
        d = self.box.d
        self.components = GaussianComponents(np.zeros((0, d)), Factors(np.zeros((0, d, d)), np.zeros((0, d, d))))
        self.values = np.zeros(0)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def means(self) -> NDArray[np.float64]:
        return self.components.mu

    @property
    def best(self) -> float:
        """The best value of a mode, -inf without any."""
        return float(self.values.max()) if len(self) else -np.inf

    def add(self, point: NDArray[np.float64], value: float, found: Found) -> int:
        """Freeze a mode; its number is returned."""
        self.tree = self.apart = None
        covariance = np.linalg.inv(precision(found.hessian, found.active))
        new = _FULL.start(np.asarray(covariance[None], dtype=np.float64))
        mu, factors = self.components
        self.components = GaussianComponents(
            np.concatenate([mu, point[None]]),
            Factors(np.concatenate([factors.C, new.C]), np.concatenate([factors.A, new.A])),
        )
        self.values = np.concatenate([self.values, [value]])
        self.found.append(found)
        self.has_boundary |= bool(found.active.any())
        self.hits, self.even_hits, self.picks = (
            np.concatenate([counts, _NONE]) for counts in (self.hits, self.even_hits, self.picks)
        )
        self.hills = np.append(self.hills, self.hills.max(initial=-1) + 1)
        return len(self.values) - 1

    def change(self, j: int, point: NDArray[np.float64], value: float, found: Found) -> None:
        """What is known of a mode now."""
        self.tree = self.apart = None
        covariance = np.linalg.inv(precision(found.hessian, found.active))
        new = _FULL.start(np.asarray(covariance[None], dtype=np.float64))
        mu, factors = self.components
        mu[j], factors.C[j], factors.A[j] = point, new.C[0], new.A[0]
        self.values[j], self.found[j] = value, found

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Forget the modes that are not chosen."""
        self.tree = self.apart = None
        mu, factors = self.components
        self.components = GaussianComponents(mu[chosen], Factors(factors.C[chosen], factors.A[chosen]))
        self.values = self.values[chosen]
        self.found = [found for found, is_kept in zip(self.found, chosen, strict=True) if is_kept]
        self.hits, self.even_hits, self.picks, self.hills = (
            a[chosen] for a in (self.hits, self.even_hits, self.picks, self.hills)
        )

    def join(self, mode: int, other: int) -> None:
        """Two modes have proved to be parts of one; they keep their numbers."""
        self.hills[self.hills == self.hills[mode]] = self.hills[other]

    def hit(self, mode: int, is_even: bool) -> None:
        """A launch ended in this mode."""
        self.hits[mode] += 1
        self.even_hits[mode] += is_even

    def whitened(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """C_j^T (z_n - m_j) as (J, N, d): their squared lengths are |z_n - m_j|^2 in the metric A_j."""
        apart = self.box.difference(points[None], self.means[:, None])
        return _FULL.whiten(self.components.factors, apart)

    def neighbours(self, points: NDArray[np.float64]) -> NDArray[np.intp]:
        """Numbers of the few modes closest to every point, (n, k)."""
        J, n = len(self), len(points)
        if J <= _FEW:
            return np.arange(J)[None].repeat(n, axis=0)
        if self._is_tree_quicker(points):
            return np.asarray(self._tree().query(points, _FEW)[1])
        apart = self.box.difference(points[:, None], self.means[None])
        return np.einsum("njd,njd->nj", apart, apart).argpartition(_FEW - 1, axis=1)[:, :_FEW]

    def whitened_at(self, points: NDArray[np.float64], modes: NDArray[np.intp]) -> NDArray[np.float64]:
        """C_j^T (z_n - m_j) for some modes j of every point, (n, k, d)."""
        apart = self.box.difference(points[:, None], self.means[modes])
        return (apart[..., None, :] @ self.components.factors.C[modes])[..., 0, :]

    def nearest(self, points: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """The nearest mode to every point and the distance (root mean square over coordinates); wants a mode."""
        if self._is_tree_quicker(points):
            distance, which = self._tree().query(points)
            return np.asarray(which), distance / np.sqrt(self.box.d)
        apart = self.box.difference(points[:, None], self.means[None])
        squared = np.einsum("njd,njd->nj", apart, apart)
        which = squared.argmin(axis=1)
        return which, np.sqrt(squared[np.arange(len(points)), which] / max(1, self.box.d))

    @property
    def spacing(self) -> float:
        """How far a mode is from the next one, in the median; infinite while there are too few to say."""
        if len(self) <= _FEW:
            return np.inf
        if self.apart is None:
            if self._is_tree_quicker(self.means):
                squared = np.asarray(self._tree().query(self.means, 2)[0])[:, 1] ** 2
            else:
                difference = self.box.difference(self.means[:, None], self.means[None])
                squared = np.partition((difference**2).sum(axis=2), 1, axis=1)[:, 1]
            self.apart = float(np.median(np.sqrt(squared)))
        return self.apart

    def _is_tree_quicker(self, points: NDArray[np.float64]) -> bool:
        """Whether to look modes up in a tree, which knows neither periodic coordinates nor infinite ones."""
        is_large = len(self) * len(points) >= _MANY and self.box.d > 0
        return is_large and not self.box.periodic_unit.size and bool(np.isfinite(points).all())

    def _tree(self) -> KDTree:
        if self.tree is None:
            from scipy.spatial import KDTree  # late: importing it takes a while

            self.tree = KDTree(self.means)
        return self.tree


def precision(hessian: NDArray[np.float64], active: NDArray[np.bool_]) -> NDArray[np.float64]:
    """-Hessian made positive definite: eigenvalues at least a thousandth of the largest, absolute on a boundary."""
    eigenvalues, vectors = np.linalg.eigh(-hessian)
    if active.any():
        eigenvalues = np.abs(eigenvalues)
    eigenvalues = np.maximum(eigenvalues, _FLOOR * max(eigenvalues.max(initial=0.0), _TINY))
    return (vectors * eigenvalues) @ vectors.T
