"""Many local searches at once, each stopped as soon as it is seen to fall into a known mode."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from allmodes.objective import Evaluation
from allmodes.search.candidate import LOCAL, SPACE_FILLING, Origin, Start
from allmodes.search.context import Context
from allmodes.search.events import Continue, Event
from allmodes.search.searcher import Block
from allmodes.search.searchers.local.quasi_newton import QuasiNewton
from allmodes.search.searchers.local.residuals import first_radius
from allmodes.search.searchers.local.table import Array, Ends, Phase, Rows, Table
from allmodes.search.searchers.local.trust_region import TrustRegion
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.storage import stored

_LANDINGS = 0.02  # of the evaluations, to look far away: where searches are short not all of them do

TRUST_REGION, QUASI_NEWTON = "trust region", "quasi-Newton"


@stored
@dataclass(eq=False)
class LocalSearch:
    """Trust-region searches, which go on as quasi-Newton searches where the function turns out not to be smooth.

    Attributes:
        recognises: whether searches that fall into a known mode are stopped.
        spent: evaluations of all searches so far.
    """

    context: Context
    recognises: bool = True
    spent: int = 0
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

    def _table(self, block: Block) -> Table:
        return self.trust_region.table if block.machine == TRUST_REGION else self.quasi_newton.table

    @property
    def numbers(self) -> list[int]:
        """Of the searches that are running, in order; those that others began are counted with its own."""
        return sorted(number for table in self._tables for number in table.path[table.rows].tolist())

    def count(self, *kinds: str) -> int:
        """How many of the searches that are running began at starts of these kinds."""
        return sum(table.begun(k).start in kinds for table in self._tables for k in table.rows)

    # ---- beginning

    def open(self, starts: list[Start], member: str = LOCAL) -> list[Origin]:
        """Begin searches for a member; where they come from."""
        if not starts:
            return []
        usual = max(TUNING.shortest_first_radius, TUNING.spacing_share * self.context.archive.spacing)
        longest = first_radius(self.context)
        usual = longest if self.context.has_model else min(longest, usual)
        paths = self.context.paths.begin(len(starts)).tolist()
        origins = [Origin(member, start.kind, path) for start, path in zip(starts, paths, strict=True)]
        radii = np.array([start.radius or usual for start in starts])
        leaps = np.array([self._looks_far and start.kind == SPACE_FILLING for start in starts])
        self.trust_region.open(np.array([start.point for start in starts]), radii, origins, paths, leaps=leaps)
        return origins

    @property
    def _looks_far(self) -> bool:
        """Whether searches are to look far away before they begin: that takes a small share of the evaluations."""
        context = self.context
        is_apt = self.recognises and context.box.d > 1 and context.drawn is None
        is_apt &= not (context.is_global or context.has_model)
        return is_apt and context.landings.seen < _LANDINGS * self.spent

    def resume(self, event: Continue) -> None:
        """A search goes on, or begins, at a point."""
        origin = event.origin
        path = origin.number if origin.member == LOCAL else int(self.context.paths.begin(1)[0])
        if event.is_kinked:
            self.quasi_newton.open(event, path)
        else:
            self.trust_region.resume(event, path)

    # ---- asking

    def ask(self, most: int | None = None) -> list[Block]:
        """What the oldest idle searches want to know, at most so many of them; they are in flight then."""
        smooth, kinked = self.trust_region.table.idle(), self.quasi_newton.table.idle()
        if most is not None and len(smooth) + len(kinked) > most:
            smooth, kinked = self._oldest(smooth, kinked, most)
        blocks = []
        machines = (TRUST_REGION, self.trust_region, smooth), (QUASI_NEWTON, self.quasi_newton, kinked)
        for name, machine, idle in machines:
            phases = machine.table.phase[idle]
            for phase in map(Phase, sorted(set(phases.tolist()))):
                rows = idle[phases == phase.value]
                centres = None if phase in (Phase.STEP, Phase.LEAP) else machine.table.point[rows]
                points = machine.points(phase, rows)
                has_sides = name == TRUST_REGION and phase is not Phase.FINAL
                blocks.append(Block(name, phase.name, rows, points, centres, has_sides))
        for block in blocks:
            self._table(block).is_asked[block.rows] = True
        return blocks

    def _oldest(self, smooth: Rows, kinked: Rows, most: int) -> tuple[Rows, Rows]:
        paths = np.concatenate([self.trust_region.table.path[smooth], self.quasi_newton.table.path[kinked]])
        is_chosen = np.zeros(len(paths), bool)
        is_chosen[paths.argsort(kind="stable")[:most]] = True
        return smooth[is_chosen[: len(smooth)]], kinked[is_chosen[len(smooth) :]]

    # ---- telling

    def tell(self, blocks: list[Block], evaluations: list[Evaluation]) -> list[Event]:
        """What came of all blocks of a round, each evaluation of shape (n, points each, ...).

        Searches that know value, gradient and model move on together; events are in the order of the searches.
        """
        smooth, kinked, ready = Ends(), Ends(), [np.zeros(0, np.intp)]
        with np.errstate(all="ignore"):  # failed points are -inf; what comes of them is looked at
            for block, told in zip(blocks, evaluations, strict=True):
                table, rows, points = self._table(block), block.rows, block.points
                table.cost[rows] += points.shape[1]
                self.spent += len(rows) * points.shape[1]
                table.is_asked[rows] = False
                if block.machine == QUASI_NEWTON:
                    kinked |= self.quasi_newton.tell(Phase[block.kind], rows, points, told)
                    continue
                if block.kind == Phase.START.name:
                    self._observe_level(rows, told.value[:, 0])
                going, ends = self.trust_region.tell(Phase[block.kind], rows, points, told)
                ready.append(going)
                smooth |= ends
            rows = np.concatenate(ready)
            if len(rows):
                smooth |= self.trust_region.advance(self.trust_region.table.in_order(rows))
            return self._over(smooth, kinked)

    def _observe_level(self, rows: Rows, values: Array) -> None:
        """Values where nothing was known before tell the level and the scale of the function."""
        origins = [self.trust_region.table.begun(k) for k in rows.tolist()]
        self.context.observe_level(values[[origin.start == SPACE_FILLING and not origin.cost for origin in origins]])

    def _over(self, smooth: Ends, kinked: Ends) -> list[Event]:
        """Hand searches over from one machine to the other, and close those that are over."""
        handed = [k for k, event in smooth.items() if event is None]
        if handed:  # they have met a kink
            steps = self.trust_region.table
            known = steps.point[handed], steps.value[handed], steps.gradient[handed]
            kinked |= self.quasi_newton.take(*known, [steps.origin(k) for k in handed], steps.path[handed].tolist())
        handed = [k for k, event in kinked.items() if event is None]
        if handed:  # they have come to smooth ground
            lines, radius = self.quasi_newton.table, self.context.tolerances.near
            origins, paths = [lines.origin(k) for k in handed], lines.path[handed].tolist()
            self.trust_region.open(lines.point[handed], radius, origins, paths, has_met_kink=True)
        events = []
        for table, ends in zip(self._tables, (smooth, kinked), strict=True):
            if ends:
                events += [(int(table.path[k]), event) for k, event in ends.items() if event is not None]
                table.close(ends)
        events.sort(key=lambda end: end[0])
        return [event for _, event in events]
