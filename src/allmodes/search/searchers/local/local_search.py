"""Many local searches at once, each stopped as soon as it is seen to fall into a known mode."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import Evaluation
from allmodes.search.candidate import LOCAL, SPACE_FILLING, Origin
from allmodes.search.context import Context
from allmodes.search.events import Continue, Event, SearchEvent
from allmodes.search.searcher import Block
from allmodes.search.searchers.local.learning import Phase
from allmodes.search.searchers.local.lines import LinePhase
from allmodes.search.searchers.local.quasi_newton import QuasiNewton
from allmodes.search.searchers.local.table import Outcome, Rows, Table
from allmodes.search.searchers.local.trust_region import TrustRegion
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.search.starts.start import Start
from allmodes.storage import stored

Array = NDArray[np.float64]

TRUST_REGION, QUASI_NEWTON = "trust region", "quasi-Newton"


@stored
@dataclass(eq=False)
class LocalSearch:
    """Trust-region searches, which go on as quasi-Newton searches where the function turns out not to be smooth.

    Attributes:
        recognises: whether searches that fall into a known mode are stopped.
    """

    context: Context
    recognises: bool = True
    trust_region: TrustRegion = field(init=False)
    quasi_newton: QuasiNewton = field(init=False)

    def __post_init__(self) -> None:
        self.trust_region = TrustRegion(self.context, self.recognises)
        self.quasi_newton = QuasiNewton(self.context)

    # ---- who is there

    def __len__(self) -> int:
        return len(self.trust_region.table) + len(self.quasi_newton.table)

    @property
    def _tables(self) -> tuple[Table, Table]:
        return self.trust_region.table, self.quasi_newton.table

    @property
    def numbers(self) -> list[int]:
        """Of the searches that are running, in order; those that others began are counted with its own."""
        return sorted(number for table in self._tables for number in table.path[table.rows].tolist())

    def count(self, *kinds: str) -> int:
        """How many of the searches that are running began at starts of these kinds."""
        return sum(table.origin(k).start in kinds for table in self._tables for k in table.rows)

    # ---- beginning

    def open(self, starts: list[Start], member: str = LOCAL) -> list[Origin]:
        """Begin searches for a member; where they come from."""
        if not starts:
            return []
        usual = max(TUNING.shortest_first_radius, TUNING.spacing_share * self.context.archive.spacing)
        usual = min(TUNING.first_radius, usual)
        paths = self.context.paths.begin(len(starts)).tolist()
        origins = [Origin(member, start.kind, path) for start, path in zip(starts, paths, strict=True)]
        radii = np.array([start.radius or usual for start in starts])
        self.trust_region.open(np.array([start.point for start in starts]), radii, origins, paths)
        return origins

    def resume(self, event: Continue) -> None:
        """A search goes on, or begins, at a point."""
        origin = event.origin
        path = origin.number if origin.member == LOCAL else int(self.context.paths.begin(1)[0])
        if event.is_kinked:
            self.quasi_newton.open(event, path)
        elif event.along is not None:
            self.trust_region.open_across(event.point, event.radius, event.along, origin, path)
        else:
            self.trust_region.open(event.point[None], event.radius, [origin], [path])

    # ---- asking

    def ask(self, most: int | None = None) -> list[Block]:
        """What the oldest idle searches want to know, at most so many of them; they are in flight then."""
        smooth, kinked = self.trust_region.table.idle(), self.quasi_newton.table.idle()
        if most is not None and len(smooth) + len(kinked) > most:
            smooth, kinked = self._oldest(smooth, kinked, most)
        blocks = []
        for phase, rows in _by_phase(self.trust_region.table, smooth):
            steps = Phase(phase)
            blocks.append(Block(TRUST_REGION, steps.name, rows, self.trust_region.points(steps, rows)))
        for phase, rows in _by_phase(self.quasi_newton.table, kinked):
            line = LinePhase(phase)
            blocks.append(Block(QUASI_NEWTON, line.name, rows, self.quasi_newton.points(line, rows)))
        for block in blocks:
            self._table(block).is_asked[block.rows] = True
        return blocks

    def _oldest(self, smooth: Rows, kinked: Rows, most: int) -> tuple[Rows, Rows]:
        paths = np.concatenate([self.trust_region.table.path[smooth], self.quasi_newton.table.path[kinked]])
        is_chosen = np.zeros(len(paths), bool)
        is_chosen[paths.argsort(kind="stable")[:most]] = True
        return smooth[is_chosen[: len(smooth)]], kinked[is_chosen[len(smooth) :]]

    def withdraw(self, blocks: list[Block]) -> None:
        """These blocks will not be told; their searches are idle again."""
        for block in blocks:
            self._table(block).is_asked[block.rows] = False

    def _table(self, block: Block) -> Table:
        return self.trust_region.table if block.machine == TRUST_REGION else self.quasi_newton.table

    # ---- telling

    def tell(self, blocks: list[Block], evaluations: list[Evaluation]) -> list[Event]:
        """What came of all blocks of a round, each evaluation of shape (n, points each, ...).

        Searches that know value, gradient and model move on together; events are in the order of the searches.
        """
        smooth, kinked, ready = Outcome([], []), Outcome([], []), []
        with np.errstate(all="ignore"):  # failed points are -inf; what comes of them is looked at
            for block, told in zip(blocks, evaluations, strict=True):
                rows, points, table = block.rows, block.points, self._table(block)
                if block.machine == QUASI_NEWTON:
                    table.cost[rows] += points.shape[1]
                    _extend(kinked, self.quasi_newton.tell(LinePhase[block.kind], rows, points, told))
                else:
                    phase = Phase[block.kind]
                    if phase is Phase.START:
                        self._observe_level(rows, told.value[:, 0])
                    table.cost[rows] += points.shape[1]
                    going, outcome = self.trust_region.tell(phase, rows, points, told)
                    ready.append(going)
                    _extend(smooth, outcome)
                table.is_asked[rows] = False
            rows = np.concatenate(ready) if len(ready) > 1 else ready[0] if ready else np.zeros(0, np.intp)
            if len(rows):
                rows = self.trust_region.table.in_order(rows) if len(ready) > 1 else rows
                _extend(smooth, self.trust_region.advance(rows))
            return self._over(smooth, kinked)

    def _observe_level(self, rows: Rows, values: Array) -> None:
        """Values where nothing was known before tell the level and the scale of the function."""
        table = self.trust_region.table
        origins = [table.origin(k) for k in rows.tolist()]
        is_sample = [origin.start == SPACE_FILLING and not origin.cost for origin in origins]
        self.context.observe_level(values[is_sample])

    def _over(self, smooth: Outcome, kinked: Outcome) -> list[Event]:
        """Hand searches over from one machine to the other, and close those that are over."""
        ends: list[tuple[int, SearchEvent]] = []
        if smooth.handed:
            _extend(kinked, self._hand_to_lines(smooth.handed))
        if kinked.handed:
            self._hand_to_steps(kinked.handed)
        for table, outcome in zip(self._tables, (smooth, kinked), strict=True):
            ends += [(int(table.path[k]), event) for k, event in outcome.ended]
            gone = {k for k, _ in outcome.ended}.union(outcome.handed)
            if gone:
                table.close(gone)
        return [event for _, event in sorted(ends, key=lambda end: end[0])]

    def _hand_to_lines(self, handed: list[int]) -> Outcome:
        """Searches that have met a kink go on from where they are."""
        table = self.trust_region.table
        origins = [table.origin(k) for k in handed]
        paths = table.path[handed].tolist()
        return self.quasi_newton.take(table.point[handed], table.value[handed], table.gradient[handed], origins, paths)

    def _hand_to_steps(self, handed: list[int]) -> None:
        """Searches that have come to smooth ground go on from where they are."""
        table = self.quasi_newton.table
        origins = [table.origin(k) for k in handed]
        self.trust_region.open_after_kink(table.point[handed], origins, table.path[handed].tolist())


def _extend(outcome: Outcome, other: Outcome) -> None:
    outcome.ended.extend(other.ended)
    outcome.handed.extend(other.handed)


def _by_phase(table: Table, rows: Rows) -> list[tuple[int, Rows]]:
    """Rows of searches that wait for the same, in the order of the phases."""
    phases = table.phase[rows]
    return [(phase, rows[phases == phase]) for phase in sorted(set(phases.tolist()))]
