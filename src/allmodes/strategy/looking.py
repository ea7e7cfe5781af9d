"""Looking again at the modes of a noisy function, until each is at the top of a parabola."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored
from allmodes.strategy import looks
from allmodes.strategy.search import Search

Array = NDArray[np.float64]

_LOOKS = 6
_PER_COEFFICIENT = 20  # points for each coefficient of the parabola
_SOON = 3  # looks that what is left of the budget is shared by: most modes need no more
_SLOPE = 4.0  # standard errors of a slope, after the last look, that is no top
_FIRST = 2.0  # how much wider than components say to look at first: they shrink for no reason where noise rules
_NEAR = 1.0  # standard deviations of the points looked at: a top closer than this needs no other look
_COVERED = 2.0  # standard deviations of the points around a mode within which its parabola speaks for others


@stored
@dataclass
class Looking:
    """Fits parabolas to fresh values around the modes in the archive, and moves these to their tops.

    Attributes:
        looks: rounds so far.
        looked: numbers of the modes looked at in this round, at the points `asked`.
        factors: (J, d, d), how wide to look around each mode.
        is_settled, was_bent: (J,), which need no other look, and around which the function was once no parabola.
        ascents: (J,), how surely each was on a slope when it was last looked at, in standard errors.
    """

    search: Search
    looks: int = 0
    asked: Array = field(init=False)
    looked: NDArray[np.intp] = field(init=False)
    factors: Array = field(init=False)
    is_settled: NDArray[np.bool_] = field(init=False)
    was_bent: NDArray[np.bool_] = field(init=False)
    ascents: Array = field(init=False)

    def __post_init__(self) -> None:
        d, noise, J = self.search.box.d, self.search.noise, len(self.search.archive)
        self.asked, self.looked = np.zeros((0, d)), np.zeros(0, np.intp)
        self.factors = np.zeros((J, d, d))
        for j, found in enumerate(self.search.archive.found):
            self.factors[j] = looks.scaled_factor(looks.width_factor(found.hessian, noise), _FIRST)
        self.is_settled, self.was_bent = np.zeros((2, J), bool)
        self.ascents = np.zeros(J)

    def ask(self, left: int) -> Array:
        """Points around the modes to look at, each twice, (modes x points each, d), for `left` evaluations in all."""
        search, archive, d = self.search, self.search.archive, self.search.box.d
        self.looked = np.flatnonzero(~self.is_settled)
        if self.looks == _LOOKS or not len(self.looked):
            return np.zeros((0, d))
        each = min(
            _PER_COEFFICIENT * looks.num_coefficients(d), left // (len(self.looked) * min(_SOON, _LOOKS - self.looks))
        )
        if each < 1:
            return np.zeros((0, d))
        steps = search.rng.standard_normal((len(self.looked), (each + 1) // 2, d)) @ self.factors[self.looked].mT
        points = np.repeat(archive.means[self.looked, None] + steps, 2, axis=1)[:, :each]
        self.asked = search.box.reflect(points.reshape(-1, d))
        return self.asked

    def tell(self, values: Array) -> None:
        """Move the modes by the values at the points last asked for."""
        box = self.search.box
        points, values = self.asked.reshape(len(self.looked), -1, box.d), values.reshape(len(self.looked), -1)
        for j, where, told in zip(self.looked, points, values, strict=True):
            is_fine = np.isfinite(told)
            self._look_at(int(j), box.difference(where[is_fine], self.search.archive.means[j]), told[is_fine])
        self.looks += 1
        self._fold()

    def _look_at(self, j: int, steps: Array, values: Array) -> None:
        """Move a mode to the top of the parabola through values at steps (n, d) from it."""
        archive, search = self.search.archive, self.search
        fit = looks.fit_parabola(steps, values, search.noise, self.factors[j])
        if fit is None:
            return
        point, found = archive.means[j], archive.found[j]
        top = looks.climb(fit, point, search.box)
        is_settled = top.is_sure and not fit.is_bent and top.ascent <= looks.LUCK and top.step <= _NEAR
        self.is_settled[j], self.ascents[j] = is_settled, top.ascent
        kind = "unverified" if not is_settled else "boundary" if top.active.any() else "optimum"
        found = replace(found, kind=kind, active=top.active, standard_error=fit.error)
        if top.is_sure:
            found = replace(found, hessian=fit.hessian, source="differences", gradient=top.gradient)
        if np.isfinite(fit.bend_error) and not is_settled:
            self.factors[j] = looks.better_factor(fit, search.noise, bool(self.was_bent[j]))
            self.was_bent[j] |= fit.is_bent
        archive.change(j, top.point, fit.value + top.rise, found)

    def _fold(self) -> None:
        """Modes that the parabola of a settled one speaks for are that one."""
        archive = self.search.archive
        kept = np.ones(len(archive), bool)
        order = np.argsort(-archive.values, kind="stable")
        for j in order[self.is_settled[order]]:
            if kept[j]:
                apart = self.search.box.difference(archive.means, archive.means[j])
                whitened = np.linalg.solve(self.factors[j], apart.T)
                is_covered = (whitened**2).sum(axis=0) <= _COVERED**2
                is_covered[j] = False
                kept &= ~is_covered
        self._keep(kept)

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        self.search.archive.keep(kept)
        for name in ("factors", "is_settled", "was_bent", "ascents"):
            setattr(self, name, getattr(self, name)[kept])

    def end(self) -> None:
        """What was last seen on a slope goes, but never the best."""
        kept = self.ascents <= _SLOPE
        kept[np.argmax(self.search.archive.values)] = True
        self._keep(kept)
