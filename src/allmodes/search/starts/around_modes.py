"""Starts around known modes: where there is one, there may be others."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.search.candidate import AROUND_MODES, Start
from allmodes.search.context import Context
from allmodes.search.geometry import lengths
from allmodes.search.starts.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@stored
@dataclass
class AroundModes:
    """Draws starts on shells around known modes, seldom around those that had many.

    Attributes:
        picks: how many starts were drawn around each mode, (J,).
    """

    picks: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    def draw(self, context: Context, n: int) -> list[Start]:
        """At most n starts, outside the level sets of all modes where that is possible; wants a mode.

        A shell has one to three times the radius at which Laplace's approximation falls to the median level of the
        function. Several points are drawn for each start: the first is taken that is inside the box and in no other
        mode's level set, else the first inside the box.
        """
        self._follow(len(context.archive))
        modes = self._pick(context, (n, TUNING.tries))
        points = _on_shells(context, modes)
        flat = points.reshape(-1, context.box.d)
        is_allowed = context.box.inside(flat) & np.isfinite(flat).all(axis=1)
        flat[~is_allowed] = 0.5  # compared with modes, never used
        is_free = is_allowed & ~_is_covered(context, flat, modes.reshape(-1))
        score = (is_free.astype(int) + is_allowed).reshape(modes.shape)
        rows, best = np.arange(n), score.argmax(axis=1)
        is_made = score[rows, best] > 0
        np.add.at(self.picks, modes[rows, best][is_made], 1)
        return [Start(point, AROUND_MODES) for point in context.box.project(points[rows, best][is_made])]

    def _follow(self, modes: int) -> None:
        """Keep a count for every mode of the archive; when some were dropped there, their numbers have changed."""
        if modes < len(self.picks):
            self.picks = np.zeros(modes, np.int64)
        self.picks = np.append(self.picks, np.zeros(modes - len(self.picks), np.int64))

    def _pick(self, context: Context, shape: tuple[int, int]) -> Indices:
        """Modes with probability ~ 1 / (1 + picks), and where only the best count ~ 1 / rank as well."""
        chances = 1.0 / (1.0 + self.picks)
        if context.is_global:
            order = np.argsort(-context.archive.values, kind="stable")
            chances[order] /= 1.0 + np.arange(len(order))
        bounds = chances.cumsum()
        return (bounds / bounds[-1]).searchsorted(context.rng.random(shape), side="right")


def _on_shells(context: Context, modes: Indices) -> Array:
    """A point (..., d) in a random direction from each mode (...)."""
    archive, rng = context.archive, context.rng
    u = rng.standard_normal((*modes.shape, context.box.d))
    u /= lengths(u)[..., None]
    heights = np.maximum(archive.values - context.level, TUNING.lowest_hill * context.scale)
    reach = np.sqrt(2.0 * heights[modes]) * rng.uniform(1.0, TUNING.shell_reach, modes.shape)
    offsets = (archive.components.factors.A[modes] @ u[..., None])[..., 0]
    return archive.means[modes] + reach[..., None] * offsets


def _is_covered(context: Context, points: Array, modes: Indices) -> NDArray[np.bool_]:
    """Whether points (n, d) lie in the level set of a mode other than these (n,)."""
    archive = context.archive
    close = archive.neighbours(points)
    is_inside = (archive.falls(points, close) <= archive.values[close] - context.level) & (close != modes[:, None])
    return np.asarray(is_inside.any(axis=1))
