"""What an audit says of each end of somebody's runs: which mode it belongs to, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.coverage import counted
from allmodes.storage import stored

Floats = NDArray[np.float64]

ARRIVED, ALONE, UNCONVERGED, NO_OPTIMUM, UNCHECKED, OUTSIDE, FAILED = range(7)
STATES = ("arrived", "alone", "unconverged", "no optimum", "unchecked", "outside", "failed")
_WITHOUT = (
    "Without fun it is not known whether any of them is an optimum, and whether two that are apart are in one flat "
    "valley"
)
_ALONE = ", nor whether an end that stands alone had converged"
_ALL_COUNT = "What is said of missing ones takes each for an optimum."


@stored
@dataclass(frozen=True, repr=False, eq=False)
class Audit:
    """What is known of n ends, in the order in which they were given.

    Attributes:
        labels: the mode that each end belongs to, by its place in `result.modes`; -1 for none, (n,).
        codes: the places of their states in STATES, (n,); `states` has them as words.
        distances: how far each end is from its optimum, in the largest coordinate, as a share of the bounds (or of the
            spread of the ends without any), (n,); NaN where none is known.
        values: as they were given, (n,).
        reasons: why ends lead to no mode, in words; `because`, the place of its reason for each end, -1 without, (n,).
        xtol: ends farther from their optimum had not converged.
        is_checked: whether the function was there to check with.
        places: how many distinct places the ends were; `checked`, from how many of them a local search was followed.
        valleys: (K,) modes that are chains of ends of equal value, joined without knowing what lies between.
        odd: ends whose value is not that of the function; they are looked for among a few alone.
        nfev: evaluations of the checks.
    """

    labels: NDArray[np.int64]
    codes: NDArray[np.int64]
    distances: Floats
    values: Floats
    reasons: tuple[str, ...]
    because: NDArray[np.int64]
    xtol: float
    is_checked: bool
    places: int
    checked: int
    valleys: tuple[int, ...] = ()
    odd: tuple[int, ...] = ()
    nfev: int = 0

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def states(self) -> NDArray[np.str_]:
        """What each end is, in a word of STATES, (n,).

        "arrived": within `xtol` of its optimum (without fun, of the best of several ends in one place). "alone":
        without fun, no other end is there. "unconverged": it leads to an optimum farther away. "no optimum": it leads
        to none. "unchecked": the evaluations did not reach. "outside" the bounds. "failed": not a number.
        """
        return np.array(STATES)[self.codes]

    def ends(self, state: str) -> NDArray[np.intp]:
        """The places of the ends in this state."""
        if state not in STATES:
            raise ValueError(f"state is {state!r}; wanted one of {', '.join(STATES)}.")
        return np.flatnonzero(self.codes == STATES.index(state))

    def count(self, state: str) -> int:
        """How many ends are in this state."""
        return len(self.ends(state))

    @property
    def reached(self) -> NDArray[np.int64]:
        """For each mode that any end belongs to, how many arrived there, (J,)."""
        arrived = self.labels[(self.labels >= 0) & (self.codes <= ALONE)]
        return np.bincount(arrived, minlength=int(self.labels.max(initial=-1)) + 1)

    def why(self, end: int) -> str:
        """What is known of an end, in a sentence.

        >>> one, none = np.zeros(1, np.int64), -np.ones(1, np.int64)
        >>> Audit(one, one + UNCONVERGED, np.array([0.02]), np.zeros(1), (), none, 1e-3, True, 1, 1).why(0)
        'end 0 had not converged: it is 0.02 of the box from mode 1, which it was heading to'
        """
        code, mode, apart = int(self.codes[end]), int(self.labels[end]) + 1, self.distances[end]
        reason = self.reasons[self.because[end]] if self.because[end] >= 0 else ""
        said = {
            ARRIVED: f"is at mode {mode}, {apart:.1g} of the box from it",
            ALONE: f"is mode {mode}, where no other run ended; without fun nobody knows whether it had converged",
            UNCONVERGED: f"had not converged: it is {apart:.2g} of the box from mode {mode}, which it was heading to",
            NO_OPTIMUM: "is no optimum",
            UNCHECKED: "was not checked: allow more evaluations (maxfev)",
            OUTSIDE: "is outside the bounds",
            FAILED: "has a value or a coordinate that is not a number",
        }[code]
        if code == UNCONVERGED and mode == 0:
            said = "had not converged"
        return f"end {end} {said}{': ' if reason else ''}{reason}"

    def __str__(self) -> str:
        return " ".join(self.sentences)

    @property
    def sentences(self) -> list[str]:
        """What is known of all of them."""
        counts = np.bincount(self.codes, minlength=len(STATES)).tolist()
        said = [self._arrivals(counts)]
        far = self._farthest
        one = f" (end {far} the farthest, {self.distances[far]:.2g} of the box from mode {self.labels[far] + 1})"
        words = {
            UNCONVERGED: f"not converged{one if far >= 0 else ''}", NO_OPTIMUM: "at no optimum",
            UNCHECKED: "not checked", OUTSIDE: "outside the bounds", FAILED: "failed",
        }  # fmt: skip
        parts = [f"{counts[code]:,} {word}" for code, word in words.items() if counts[code]]
        if parts:
            said.append(f"The others: {', '.join(parts)}.")
        if self.is_checked:
            beside = int((self.reached == 0).sum())
            if beside:
                said.append(f"{counted(beside, 'mode')} no run had reached: unconverged ends lead there.")
            if self.odd:
                said.append(f"The value of end {self.odd[0]} is not that of fun.")
            return said
        if self.valleys:
            said.append(f"{counted(len(self.valleys), 'mode')}: a chain of ends of equal value, taken for one valley.")
        return [*said, f"{_WITHOUT}{_ALONE if counts[ALONE] else ''}."] + ([_ALL_COUNT] if counts[ALONE] else [])

    def _arrivals(self, counts: list[int]) -> str:
        n, arrived = len(self), counts[ARRIVED] + counts[ALONE]
        modes = int((self.reached > 0).sum())
        if self.is_checked:
            return f"{arrived:,} of {n:,} run{'' if n == 1 else 's'} ended at {counted(modes, 'optimum', 'optima')}."
        places = f"{modes:,} distinct place{'' if modes == 1 else 's'}"
        alone = f", {counts[ALONE]:,} of them where no other did" if counts[ALONE] else ""
        return f"{arrived:,} of {n:,} run{'' if n == 1 else 's'} ended at {places}{alone}."

    @property
    def _farthest(self) -> int:
        """The end that is farthest from the optimum that it was heading to; -1 if all had converged."""
        heading = (self.codes == UNCONVERGED) & (self.labels >= 0)
        if not heading.any():
            return -1
        return int(np.argmax(np.where(heading, self.distances, -np.inf)))
