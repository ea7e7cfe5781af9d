"""The modes found so far: frozen components of a Gaussian mixture."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import map_leaves
from allmodes.nva.mixture.covariances import Factors, Full
from allmodes.nva.mixture.families.gaussian import GaussianComponents
from allmodes.objective.bounds import Box
from allmodes.search.curvature import Curvature
from allmodes.storage import stored

if TYPE_CHECKING:
    from scipy.spatial import KDTree

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_FULL = Full()
_FLOOR = 1e-3  # smallest eigenvalue of a frozen precision, as a share of the largest: keeps components finite
_TINY = 1e-9  # the least that the largest eigenvalue counts as
_FEW = 4  # modes close to a point that it is compared with
_FARTHEST = 1e150  # of places that a tree knows: squares of longer distances are infinite
_MANY = 2_000  # distances from points to modes: with more, a tree is quicker than computing them all


@stored
@dataclass(frozen=True)
class Held:
    """What is known of a mode under constraints, in terms of the function that is minimised inside (see `Constraints`).

    Attributes:
        violation: of the worst constraint, as a share of its scale.
        rows: (r,), which are active; `constraints`, the numbers of the constraints they belong to.
        multipliers: (m,); times the gradients of the constraints they add up to the gradient, apart from bounds.
        residual: (d,), the part of the gradient that nothing balances.
        model: (d, d), the Hessian of the objective, as far as it was learnt.
        slopes: with which constraints that are no equalities hold the mode.
        free: dimension of the active set.
    """

    violation: float
    rows: NDArray[np.bool_]
    constraints: tuple[int, ...]
    multipliers: Array
    residual: Array
    model: Array
    slopes: Array
    free: int


@stored
@dataclass(frozen=True)
class Frozen:
    """What is known of one mode, in unit coordinates, beside its place in the mixture.

    Attributes:
        gradient: (d,); not zero where a bound is active.
        hessian: (d, d) as measured, not floored.
        active: (d,), which coordinates sit on a bound that holds them back.
        kind: "optimum", "boundary", "constrained", "flat" or "unverified".
        source: where the Hessian comes from: "derivatives", "differences", "component", "model", "equations" or
            "estimated".
        found_at: evaluations made when it was found.
        standard_error: of the value, for noisy functions; of those from a model, how much better the optimum may be.
        held: what constraints do there; the hessian is that of the Lagrangian along the active set then.
    """

    gradient: Array
    hessian: Curvature
    active: NDArray[np.bool_]
    kind: str
    source: str
    found_at: int
    standard_error: float = 0.0
    held: Held | None = None


@stored
@dataclass
class Archive:
    """Frozen components: a mode m_j with value l_j and precision A_j = -Hessian, which is Laplace's approximation.

    Verifiers write it; everybody else reads it.

    Attributes:
        box: the domain, for distances.
        is_light: whether factors of the precisions are made only when they are wanted, as in many dimensions.
        components: means (J, d) and factors of the precisions, unless it is light.
        values: l_j, (J,), to be maximised.
        records: what else is known of each.
        hits: searches that ended in each mode, (J,); those that ended in one of its images count, too.
        primary: the mode that each is an image of, (J,), by a symmetry that the user stated; itself if it is none.
        maps: the map of the group that makes it one, (J,).
        has_boundary: whether a mode was found at a bound.
        tree, median_gap: of the means; made when first wanted and dropped when the means change.
    """

    box: Box
    is_light: bool = False
    components: GaussianComponents = field(init=False)
    values: Array = field(init=False)
    records: list[Frozen] = field(default_factory=list)
    hits: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    has_boundary: bool = False
    primary: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    maps: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    tree: KDTree | None = field(default=None, init=False, metadata={"stored": False})
    median_gap: float | None = field(default=None, init=False, metadata={"stored": False})

    def __post_init__(self) -> None:
        d = self.box.d
        C, A = np.zeros((2, 0, *((0, 0) if self.is_light else (d, d))))
        self.components = GaussianComponents(np.zeros((0, d)), Factors(C, A))
        self.values = np.zeros(0)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def means(self) -> Array:
        return self.components.mu

    @property
    def best(self) -> float:
        """The best value of a mode, -inf without any."""
        return float(self.values.max()) if len(self) else -np.inf

    # ---- writing: for verifiers alone

    def add(self, point: Array, value: float, record: Frozen, primary: int = -1, by: int = 0) -> int:
        """Freeze a mode, or the image of another by a map; its number is returned."""
        self.components = map_leaves(_one_more, self.components)
        self.values, self.hits = _one_more(self.values), _one_more(self.hits)
        self.records.append(record)
        self.primary = np.append(self.primary, len(self) - 1 if primary < 0 else primary)
        self.maps = np.append(self.maps, by)
        self.change(len(self) - 1, point, value, record)
        return len(self) - 1

    def add_all(self, points: Array, values: Array, record: Frozen) -> None:
        """Freeze modes (n, d) that share a record."""
        first, n = len(self), len(points)
        if not n:
            return
        self.components = map_leaves(lambda part: np.concatenate([part, _zeros(part, n)]), self.components)
        self.values, self.hits = np.append(self.values, values), np.append(self.hits, np.zeros(n, np.int64))
        self.records += [record] * n
        self.primary, self.maps = np.arange(len(self)), np.append(self.maps, np.zeros(n, np.int64))
        self.change(first, points[0], float(values[0]), record)
        mu, factors = self.components
        mu[first:] = points
        if not self.is_light:
            factors.C[first:], factors.A[first:] = factors.C[first], factors.A[first]

    def change(self, j: int, point: Array, value: float, record: Frozen) -> None:
        """What is known of a mode now."""
        mu, factors = self.components
        mu[j] = point
        if not self.is_light:
            factors.C[j], factors.A[j] = (part[0] for part in _frozen([record]))
        self.values[j], self.records[j] = value, record
        self.has_boundary |= bool(record.active.any())
        self.tree = self.median_gap = None

    def revalue(self, j: int, value: float, **changes: Any) -> None:
        """A mode's value was measured again; its place stays."""
        self.values[j], self.records[j] = value, replace(self.records[j], **changes)

    def declare(self, kind: str) -> None:
        """All modes are of this kind."""
        self.records = [replace(record, kind=kind) for record in self.records]

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Forget the modes that are not chosen."""
        self.components = map_leaves(lambda part: part[chosen], self.components)
        self.values, self.hits = self.values[chosen], self.hits[chosen]
        self.records = [self.records[j] for j in np.flatnonzero(chosen)]
        self.primary, self.maps = np.arange(len(self)), np.zeros(len(self), np.int64)  # of noisy functions: no images
        self.tree = self.median_gap = None

    def hit(self, mode: int, times: int = 1) -> None:
        """A search ended in this mode."""
        self.hits[self.primary[mode]] += times

    # ---- reading

    @property
    def factors(self) -> Factors:
        """Of the precisions of all modes, (J, d, d) each."""
        return _frozen(self.records) if self.is_light and len(self) else self.components.factors

    @property
    def own(self) -> Indices:
        """Numbers of the modes that are not images of others."""
        return np.flatnonzero(self.primary == np.arange(len(self)))

    def orbit(self, mode: int) -> Indices:
        """Numbers of a mode and of its images."""
        return np.flatnonzero(self.primary == self.primary[mode])

    def neighbours(self, points: Array) -> Indices:
        """Numbers of the few modes closest to every point, (n, k)."""
        if len(self) <= _FEW:
            return np.arange(len(self))[None].repeat(len(points), axis=0)
        return self._closest(points, _FEW)[0]

    def nearest(self, points: Array) -> tuple[Indices, Array]:
        """The nearest mode to every point and the distance (root mean square over coordinates); needs a mode."""
        which, distance = self._closest(points, 1)
        return which[:, 0], distance[:, 0] / np.sqrt(max(1, self.box.d))

    @property
    def spacing(self) -> float:
        """How far a mode is from the next one, in the median; infinite while there are too few to say."""
        if len(self) <= _FEW:
            return np.inf
        if self.median_gap is None:
            self.median_gap = float(np.median(self._closest(self.means, 2)[1].max(axis=1)))
        return self.median_gap

    def _closest(self, points: Array, k: int) -> tuple[Indices, Array]:
        """The k modes closest to every point, unsorted, and their distances, both (n, k).

        Many are looked up in a tree, which cannot handle periodic coordinates or infinite ones.
        """
        is_large = len(self) * len(points) >= _MANY and self.box.d > 0
        if is_large and not self.box.periodic_unit.size and (np.abs(points) < _FARTHEST).all():
            if self.tree is None:
                from scipy.spatial import KDTree  # late: importing it takes a while

                self.tree = KDTree(self.means)
            distance, which = self.tree.query(points, [*range(1, k + 1)])
            return np.asarray(which), np.asarray(distance)
        apart = self.box.difference(points[:, None], self.means[None])
        squared = np.einsum("njd,njd->nj", apart, apart)
        which = squared.argpartition(k - 1, axis=1)[:, :k]
        return which, np.sqrt(np.take_along_axis(squared, which, axis=1))

    def closest(self, point: Array) -> tuple[int, float]:
        """The closest mode to a point and the largest coordinate of the difference; (-1, inf) without a mode."""
        if not len(self):
            return -1, np.inf
        apart = np.abs(self.box.difference(self.means, point)).max(axis=1, initial=0.0)
        return int(apart.argmin()), float(apart.min())


def _one_more(part: Any) -> Any:
    """An array (J, ...) with another row of zeros."""
    return np.concatenate([part, _zeros(part, 1)])


def _zeros(part: Any, n: int) -> Any:
    """So many rows of zeros for an array (J, ...)."""
    return np.zeros((n, *part.shape[1:]), part.dtype)


def _frozen(records: list[Frozen]) -> Factors:
    """Factors of the precisions of modes."""
    covariances = [np.linalg.inv(precision(np.asarray(record.hessian), record.active)) for record in records]
    return _FULL.start(np.asarray(covariances, dtype=np.float64))


def precision(hessian: Array, active: NDArray[np.bool_]) -> Array:
    """-Hessian made positive definite: eigenvalues at least a thousandth of the largest, absolute on a boundary."""
    eigenvalues, vectors = np.linalg.eigh(-hessian)
    if active.any():
        eigenvalues = np.abs(eigenvalues)
    eigenvalues = np.maximum(eigenvalues, _FLOOR * max(eigenvalues.max(initial=0.0), _TINY))
    return (vectors * eigenvalues) @ vectors.T
