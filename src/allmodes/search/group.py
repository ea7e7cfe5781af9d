"""A finite group of affine maps that leave the function and its box as they are: images of points and of modes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.search.archive import Frozen
from allmodes.storage import stored

_MOST = 720  # maps: six blocks that may be exchanged. Every mode is kept with all its images
_DIGITS = 6  # of the entries of a map, by which it is known again
_SMALL = 1e-6  # of the largest coordinate: what lies on a mirror has no sign
_MOST_TESTED = 8  # generators that are compared with the function

Array = NDArray[np.float64]
Map = tuple[Array, Array]  # a matrix M (D, D) and a shift t (D,): x -> M x + t


@stored
@dataclass(frozen=True, eq=False)
class Group:
    """All maps that a symmetry is made of, in unit coordinates; the first changes nothing.

    Attributes:
        matrices, shifts: (G, d, d) and (G, d): z -> P z + c.
        tested: numbers of the maps that all others are made of.
        words: what each of these does, for messages.
        turned: (D,), coordinates whose sign may change; a listed mode has the first that is not 0 positive.
        chooser: the user's function x -> representative, if the symmetry was given by one; not saved.
    """

    matrices: Array
    shifts: Array
    tested: tuple[int, ...]
    words: tuple[str, ...]
    turned: NDArray[np.bool_]
    chooser: Callable[[Any], Any] | None = field(default=None, compare=False, metadata={"stored": False})

    @staticmethod
    def make(
        box: Box, generators: list[Map], words: list[str], turned: NDArray[np.bool_], chooser: Any = None
    ) -> Group:
        """The group that maps of the coordinates that are searched (D,) generate."""
        maps = closure(generators, box.D)
        places, origin = np.flatnonzero(box.free), box.start_lower
        matrices, shifts = [], []
        for M, t in maps:
            moved = (M @ origin + t - origin)[places]  # fixed coordinates stay what they are
            matrices.append(M[np.ix_(places, places)] * box.scale / box.scale[:, None])
            shifts.append(moved / box.scale)
        keys = [_key(*each) for each in maps]
        numbers = tuple(keys.index(_key(*each)) for each in generators[:_MOST_TESTED])
        return Group(np.array(matrices), np.array(shifts), numbers, tuple(words[:_MOST_TESTED]), turned, chooser)

    def __len__(self) -> int:
        return len(self.shifts)

    @cached_property
    def _inverses(self) -> Array:
        return np.asarray(np.linalg.inv(self.matrices))

    def images(self, point: Array) -> Array:
        """All images of a point (d,), itself first: (G, d)."""
        return self.matrices @ point + self.shifts

    def back(self, number: int, point: Array) -> Array:
        """The point (d,) whose image by a map this is."""
        return np.asarray(self._inverses[number] @ (point - self.shifts[number]))

    def record(self, number: int, found: Frozen, *, is_back: bool = False) -> Frozen:
        """What is known of a mode, of its image by a map; or of the mode, from its image."""
        inverse = self.matrices[number] if is_back else self._inverses[number]
        forward = self._inverses[number] if is_back else self.matrices[number]
        active = (np.abs(forward) > 10.0**-_DIGITS) @ found.active
        gradient, hessian = inverse.T @ found.gradient, inverse.T @ np.asarray(found.hessian) @ inverse
        return replace(found, gradient=gradient, hessian=hessian, active=active)

    def distinct(self, box: Box, point: Array, tolerance: float) -> tuple[NDArray[np.intp], Array]:
        """Numbers of the maps that take a point to places of their own, and these places: itself first."""
        numbers, places = [0], [point]
        for number, image in enumerate(box.project(self.images(point))[1:], 1):
            if np.abs(box.difference(np.array(places), image)).max(axis=1).min() > tolerance:
                numbers.append(number)
                places.append(image)
        return np.array(numbers, dtype=np.intp), np.array(places)

    def chosen(self, points: Array) -> int:
        """Which of the images (n, D) of a mode, in the user's coordinates, is listed.

        The user's choice; otherwise the one with positive signs, the first of them at least, and blocks in ascending
        order.
        """
        if self.chooser is not None:
            apart = np.abs(points - np.asarray(self.chooser(points[0].copy()), dtype=np.float64)).max(axis=1)
            return int(apart.argmin())
        least = -_SMALL * np.abs(points).max(initial=0.0)
        signs = (points[:, self.turned] < least).tolist()
        return min(range(len(points)), key=lambda n: (signs[n], *points[n].round(12).tolist()))


def closure(generators: list[Map], D: int) -> list[Map]:
    """All products of maps, the one that changes nothing first; ValueError if there are too many."""
    maps: list[Map] = [(np.eye(D), np.zeros(D))]
    known = {_key(*maps[0])}
    for M, t in maps:  # grows while it is walked
        for N, s in generators:
            new = N @ M, N @ t + s
            if _key(*new) not in known:
                known.add(_key(*new))
                maps.append(new)
        if len(maps) > _MOST:
            raise ValueError(
                f"symmetry makes more than {_MOST} images of a point, too many to keep; state a part of it, such as "
                "the exchange of up to six blocks, or restrict the bounds so that one image is left inside."
            )
    return maps


def _key(M: Array, t: Array) -> bytes:
    return (np.round(np.append(M.ravel(), t), _DIGITS) + 0.0).tobytes()
