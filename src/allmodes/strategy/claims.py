"""Optima that may be parts of a known mode: of a bent valley, components find another point every time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.storage import stored
from allmodes.strategy.archive import Found
from allmodes.strategy.optimality import Verdict
from allmodes.strategy.paths import Path
from allmodes.strategy.search import Search

_LONG = 8.0  # length over width of a component from which on it may lie in a valley
_RIVALS = 3  # modes of the same height to which a level path is looked for: the nearest, and one along the valley
_NEWER = 2  # the same of those that were found in the meantime

Floats = NDArray[np.float64]


@stored
@dataclass
class Claim:
    """An optimum that waits to be told from the modes of its height.

    Attributes:
        factor: of the covariance of the component that found it, for `arm`.
        seen: modes there were then.
        mode: its number if it is a mode already, else -1.
        tried, joined: numbers of the modes to which a path was looked for, and of those to which there is one.
    """

    point: Floats
    value: float
    found: Found
    factor: Floats
    arm: int
    seen: int
    mode: int = -1
    tried: list[int] = field(default_factory=list)
    joined: list[int] = field(default_factory=list)
    path: Path | None = None


@stored
@dataclass
class Claims:
    """Claims under way."""

    search: Search
    waiting: list[Claim] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.waiting)

    def is_doubtful(self, verdict: Verdict, factor: Floats) -> bool:
        """Whether an optimum, found by a component with this factor, may be part of a mode at its height."""
        if self.search.noise > 0 or self.search.box.d < 2:
            return False
        widths = np.linalg.svd(factor, compute_uv=False)
        return bool(widths[0] > _LONG * widths[-1] and len(self._rivals(verdict.value)))

    def _rivals(self, value: float) -> NDArray[np.intp]:
        return np.flatnonzero(np.abs(self.search.archive.values - value) <= self.search.tie)

    def add(self, verdict: Verdict, factor: Floats, arm: int) -> None:
        """An optimum that is doubtful."""
        claim = Claim(verdict.point, verdict.value, verdict.found, factor, arm, len(self.search.archive))
        self._next(claim)
        self.waiting.append(claim)

    def review(self, mode: int, arm: int) -> None:
        """A mode that others found: it may be part of another one, too."""
        archive = self.search.archive
        verdict = Verdict(True, False, archive.means[mode], float(archive.values[mode]), archive.found[mode])
        factor = archive.components.factors.A[mode]
        if self.is_doubtful(verdict, factor):
            claim = Claim(*verdict[2:], factor, arm, len(archive), mode, [mode])
            if self._next(claim):
                self.waiting.append(claim)

    def _next(self, claim: Claim) -> bool:
        """Begin a path to the next mode of the same height; False without one."""
        search = self.search
        archive = search.archive
        hills = set(archive.hills[claim.joined].tolist())
        rivals = [
            j for j in self._rivals(claim.value).tolist() if j not in claim.tried and archive.hills[j] not in hills
        ]
        newer = sum(j >= claim.seen for j in rivals + claim.tried)  # perhaps the same, found in the meantime
        if not rivals or len(claim.tried) >= _RIVALS + min(newer, _NEWER) + (claim.mode >= 0):
            return False
        apart = search.box.difference(archive.means[rivals], claim.point)
        if len(claim.tried) == 1 + (claim.mode >= 0):  # along the valley
            apart = apart @ np.linalg.inv(claim.factor).T
        rival = rivals[int(np.linalg.norm(apart, axis=1).argmin())]
        claim.tried.append(rival)
        level = min(claim.value, float(archive.values[rival])) - search.tie
        claim.path = Path(search.box, np.stack([claim.point, archive.means[rival]]), level)
        return True

    def ask(self) -> list[Floats]:
        """Points of every claim."""
        return [claim.path.ask() for claim in self.waiting if claim.path is not None]

    def tell(self, groups: list[Floats]) -> tuple[list[Claim], list[Claim]]:
        """Claims that were settled: those that are modes by now, and those that are none."""
        archive = self.search.archive
        new: list[Claim] = []
        known: list[Claim] = []
        waiting: list[Claim] = []
        for claim, values in zip(self.waiting, groups, strict=True):
            assert claim.path is not None
            claim.path.tell(values)
            if claim.path.verdict == 1:
                claim.joined.append(claim.tried[-1])
            if claim.path.verdict < 0 or self._next(claim):
                waiting.append(claim)
                continue
            parts = claim.joined + [claim.mode] * (claim.mode >= 0)
            for mode in parts[1:]:
                archive.join(mode, parts[0])
            if claim.mode < 0:
                archive.hit(parts[0] if parts else archive.add(claim.point, claim.value, claim.found), False)
                (known if parts else new).append(claim)
        self.waiting = waiting
        return new, known
