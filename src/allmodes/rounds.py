"""The rounds in flight: asked for and not yet passed on to the search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from allmodes.checks import whole_number
from allmodes.memory import keys_of
from allmodes.objective import VALUE, Needs
from allmodes.round import Array, Round, Rows
from allmodes.storage import stored

_MISSING = (
    "tell got no derivatives for a point at which they are wanted; pass gradients= (and hessians=), or make the finder "
    "without jac=True and hess=True."
)
_ALL_OUT = (
    "all points ({}) that the search has asked for are out, and it has to know them before it asks for others; tell "
    "them first, NaN for those that failed, or get them once more by ask(again=True). For several who ask at the same "
    'time, make the finder with options={{"width": 8}} or more, and ask for a few points at a time: ask(n).'
)
_LOST = 10  # times as many evaluations came back since as are out, before points that are out count as failed


@stored
@dataclass
class Rounds:
    """Rounds in flight.

    Attributes:
        flying: oldest first.
        begun: how many rounds have begun.
        last: the points handed out last, as rounds and numbers in them; None if there are none.
        is_silent: whether nothing was told since points were handed out last.
    """

    flying: list[Round] = field(default_factory=list)
    begun: int = 0
    last: list[tuple[Round, Rows]] | None = field(default=None, metadata={"stored": False})
    is_silent: bool = field(default=False, metadata={"stored": False})

    def __len__(self) -> int:
        return len(self.flying)

    @property
    def is_begun(self) -> bool:
        """Whether points of some round that was handed out or told in part are still to be told."""
        return any(round_.is_begun and len(round_.unknown) for round_ in self.flying)

    @property
    def is_held(self) -> bool:
        """Whether the budget allows nothing more of what is in flight."""
        return any(round_.held for round_ in self.flying) and not any(len(round_.unknown) for round_ in self.flying)

    def allow(self, evaluations: int) -> None:
        """A budget of so many evaluations for everything in flight, the oldest first."""
        for round_ in self.flying:
            round_.allow(evaluations)
            evaluations = 0 if round_.held else evaluations - round_.reserved

    @property
    def needs(self) -> Needs:
        """Derivatives wanted at the points handed out last, or to be handed out next."""
        if self.last:
            return frozenset[str]().union(*(round_.needs for round_, _ in self.last))
        return self.flying[0].needs if self.flying else VALUE

    @property
    def reserved(self) -> int:
        """Evaluations that the points in flight cost, told or not, without those held back."""
        return sum(round_.reserved for round_ in self.flying)

    @property
    def pending(self) -> int:
        """Evaluations that were told and that the search has not seen."""
        return sum(round_.cost * len(round_.pending) for round_ in self.flying if round_.is_begun)

    def next_told(self, in_order: bool) -> Round | None:
        """A round that has been told, removed from flight; with `in_order`, only the oldest will do."""
        for i, round_ in enumerate(self.flying[:1] if in_order else self.flying):
            if round_.is_told:
                return self.flying.pop(i)
        return None

    # ---- handing out

    def hand_out(self, n: int | None, begins: bool = True, again: bool = False) -> Array:
        """At most n points not yet handed out, all with the same needs; when none are left, those not yet told.

        These only if something was told in between, or `again`: two who ask in turn would evaluate the same points.

        Args:
            n: how many, at most; None for no limit.
            begins: whether new rounds may be begun.
        """
        most = None if n is None else whole_number("n", n, 1)
        rounds = [round_ for round_ in self.flying if begins or round_.is_begun]
        parts = [(round_, round_.waiting) for round_ in rounds]
        if not any(len(rows) for _, rows in parts):
            parts = [(round_, round_.unknown) for round_ in rounds]
            if self.is_silent and not again and (out := sum(len(rows) for _, rows in parts)):
                raise RuntimeError(_ALL_OUT.format(out))
        self.is_silent = True
        self.last = _cut([(round_, rows) for round_, rows in parts if len(rows)], most)
        points = [round_.hand_out(rows) for round_, rows in self.last]
        return points[0] if len(points) == 1 else np.concatenate(points) if points else np.zeros((0, 0))

    @property
    def waiting(self) -> int:
        """How many points wait to be handed out."""
        return sum(len(round_.waiting) for round_ in self.flying)

    def pair(self) -> None:
        """Points that wait, and were handed out or told elsewhere, too, are not handed out: they are known with those.

        Only where values are exact. One at which more is wanted than there is handed out once more.
        """
        out: dict[bytes, Needs] = {}
        told: dict[bytes, tuple[Round, int]] = {}
        for round_ in self.flying:
            for row, key in enumerate(keys_of(round_.points)):
                if round_.is_known[row]:
                    told[key] = round_, row
                elif round_.is_handed[row] and not round_.has_twin(row):
                    out[key] = out.get(key, VALUE) | round_.needs
        for round_ in self.flying:
            waiting = round_.waiting
            for row, key in zip(waiting.tolist(), keys_of(round_.points[waiting]), strict=True):
                if key in out and round_.needs <= out[key]:
                    round_.pair(row)
                elif key in told and round_.needs <= told[key][0].needs:
                    round_.pair(row)
                    round_.fill_twin(row, *told[key][0].told(told[key][1]))
                else:
                    out[key] = out.get(key, VALUE) | round_.needs

    def give_up(self, nfev: int) -> None:
        """Points that have been out for very long count as failed: nobody may have them.

        Since then as many evaluations came back as before, and many times as many as anybody has at a time.
        """
        for round_ in self.flying:
            if round_.since is None and len(round_.handed):  # handed out otherwise, or before the search was saved
                round_.since = nfev, len(round_.handed)
        out = [(round_, *round_.since, len(round_.handed)) for round_ in self.flying if round_.since is not None]
        for round_, since, batch, _ in out:
            age = nfev - since
            if age > max(since, _LOST * batch):
                others = sum(n for _, other, _, n in out if 2 * (nfev - other) < age)
                if age > _LOST * others:
                    round_.give_up()

    def hand_out_fresh(self, n: int, nfev: int = 0) -> Array:
        """At most n points not yet handed out, whatever is wanted there; nfev are known so far."""
        self.is_silent, self.last, wanted = True, [], n
        points: list[Array] = []
        for round_ in self.flying:
            rows = round_.waiting[:n]
            if len(rows):
                n -= len(rows)
                round_.since = nfev, wanted
                self.last.append((round_, rows))
                points.append(round_.hand_out(rows))
        return np.concatenate(points) if points else np.zeros((0, 0))

    def hand_out_rounds(self, begins: bool = True) -> list[tuple[int, Array, Needs]]:
        """Number, points and needs of every round not yet handed out as a whole."""
        given = []
        for round_ in self.flying:
            if round_.out is None and (begins or round_.is_begun) and len(round_.unknown):
                round_.out = round_.unknown
                given.append((round_.number, round_.hand_out(round_.out), round_.needs))
        return given

    # ---- telling

    def fill(self, value: Array, gradient: Array | None, hessian: Array | None, rows: Rows | None = None) -> None:
        """Results at the points handed out last, in their order, or at some of them by their numbers there."""
        self.is_silent = False
        last = [(round_, round_.unknown) for round_ in self.flying] if self.last is None else self.last
        if rows is None and len(last) == 1:
            round_, own = last[0]
            round_.fill(None if len(own) == len(round_.points) else own, value, gradient, hessian)
            return
        rows, first = np.arange(len(value)) if rows is None else np.asarray(rows), 0
        for round_, own in last:
            is_own = (rows >= first) & (rows < first + len(own))
            if is_own.any():
                round_.fill(own[rows[is_own] - first], value[is_own], _of(gradient, is_own), _of(hessian, is_own))
            first += len(own)

    def fill_rows(self, number: int, rows: Rows, value: Array, gradient: Array | None, hessian: Array | None) -> None:
        """Results at some points of one round, by their numbers among those that `hand_out_rounds` gave."""
        for round_ in self.flying:
            if round_.number == number and round_.out is not None:
                round_.fill(round_.out[rows], value, gradient, hessian)
                return
        raise ValueError(f"round {number} is not in flight; tell each point that was handed out once.")

    def take(self, x: Array, value: Array, gradient: Array | None, hessian: Array | None) -> tuple[Array, Array] | None:
        """Points in any order. Those that were not asked for are returned with their values, or None.

        All are accepted or all are refused.
        """
        places: dict[bytes, list[tuple[Round, int]]] = {}
        for round_ in reversed(self.flying):
            rows = round_.unknown[::-1]
            for i, key in zip(rows.tolist(), keys_of(round_.points[rows]), strict=True):
                places.setdefault(key, []).append((round_, i))
        keys = keys_of(x)
        found = [_taken(places.get(key)) for key in keys]
        wanted = frozenset[str]().union(
            *(round_.needs for place in found for round_ in (self.flying if place is None else [place[0]]))
        )
        if any(name in wanted and told is None for name, told in (("gradient", gradient), ("hessian", hessian))):
            raise ValueError(_MISSING)
        for row, place in enumerate(found):
            if place is not None:
                self.is_silent = False
                told = value[row], _of(gradient, row), _of(hessian, row)
                place[0].fill(np.array([place[1]]), *told)
                for twin, i in places[keys[row]]:
                    twin.fill_twin(i, *told)
        others = np.array([place is None for place in found], dtype=bool)
        return (x[others], value[others]) if others.any() else None


def _of(part: Array | None, rows: Any) -> Any:
    return None if part is None else part[rows]


def _taken(places: list[tuple[Round, int]] | None) -> tuple[Round, int] | None:
    """Of the places where one point waits, that which was handed out, removed; the last is the oldest."""
    if not places:
        return None
    own = next((k for k in reversed(range(len(places))) if not places[k][0].has_twin(places[k][1])), -1)
    return places.pop(own)


def _cut(parts: list[tuple[Round, Rows]], most: int | None) -> list[tuple[Round, Rows]]:
    """At most this many points, all with the needs of the first."""
    parts = [(round_, rows) for round_, rows in parts if round_.needs == parts[0][0].needs]
    if most is None:
        return parts
    chosen = []
    for round_, rows in parts:
        if most > 0:
            chosen.append((round_, rows[:most]))
            most -= len(rows)
    return chosen
