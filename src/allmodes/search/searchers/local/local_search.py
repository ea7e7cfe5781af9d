"""Many local searches at once, each stopped as soon as it is falling into a known mode."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from allmodes.objective import Evaluation
from allmodes.search.candidate import LOCAL, SPACE_FILLING, Origin, Start
from allmodes.search.context import Context
from allmodes.search.events import Continue, Event
from allmodes.search.searcher import Block
from allmodes.search.searchers.local.limited import Limited
from allmodes.search.searchers.local.quasi_newton import QuasiNewton
from allmodes.search.searchers.local.residuals import first_radius
from allmodes.search.searchers.local.table import Array, Ends, Phase, Rows, Table
from allmodes.search.searchers.local.trust_region import TrustRegion
from allmodes.search.searchers.local.tuning import TUNING
from allmodes.storage import stored

_LANDINGS = 0.02  # of the evaluations, to look far away: where searches are short not all of them do

TRUST_REGION, LIMITED, QUASI_NEWTON = "trust region", "limited", "quasi-Newton"


@stored
@dataclass(eq=False)
class LocalSearch:
    """Trust-region searches, which go on as quasi-Newton searches where the function turns out not to be smooth.

    With gradients and in many dimensions their models are made of the last few steps (`Limited`), until that proves
    to be slow.

    Attributes:
        recognises: whether searches that fall into a known mode are stopped.
        spent: evaluations of all searches so far.
    """

    context: Context
    recognises: bool = True
    spent: int = 0
    trust_region: TrustRegion = field(init=False)
    limited: Limited = field(init=False)
    quasi_newton: QuasiNewton = field(init=False)

    def __post_init__(self) -> None:
        self.trust_region = TrustRegion(self.context, self.recognises)
        self.limited = Limited(self.context, self.recognises)
        self.quasi_newton = QuasiNewton(self.context)

    # ---- who is there

    def __len__(self) -> int:
        return sum(len(table) for table in self._tables)

    @property
    def _machines(self) -> dict[str, TrustRegion | Limited | QuasiNewton]:
        return {TRUST_REGION: self.trust_region, LIMITED: self.limited, QUASI_NEWTON: self.quasi_newton}

    @property
    def _tables(self) -> list[Table]:
        return [machine.table for machine in self._machines.values()]

    @property
    def _first(self) -> TrustRegion | Limited:
        """The machine that searches begin with."""
        return self.limited if self.context.archive.is_light else self.trust_region

    @property
    def numbers(self) -> list[int]:
        """The numbers of the running searches, in order, including those that others began."""
        return sorted(number for table in self._tables for number in table.path[table.rows].tolist())

    def count(self, *kinds: str) -> int:
        """How many of the searches that are running began at starts of these kinds."""
        return sum(table.begun(k).start in kinds for table in self._tables for k in table.rows)

    # ---- beginning

    def open(self, starts: list[Start], member: str = LOCAL) -> list[Origin]:
        """Begin searches for a member; returns where they come from."""
        if not starts:
            return []
        usual = max(TUNING.shortest_first_radius, TUNING.spacing_share * self.context.archive.spacing)
        longest = first_radius(self.context)
        usual = longest if self.context.has_model else min(longest, usual)
        paths = self.context.paths.begin(len(starts)).tolist()
        origins = [Origin(member, start.kind, path) for start, path in zip(starts, paths, strict=True)]
        radii = np.array([start.radius or usual for start in starts])
        points = np.array([start.point for start in starts])
        if self.context.archive.is_light:
            self.limited.open(points, radii, origins, paths)
        else:
            leaps = np.array([self._looks_far and start.kind == SPACE_FILLING for start in starts])
            self.trust_region.open(points, radii, origins, paths, leaps=leaps)
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
        elif self.context.archive.is_light:
            self.limited.open(event.point[None], event.radius, [origin], [path], along=event.along)
        else:
            self.trust_region.resume(event, path)

    # ---- asking

    def ask(self, most: int | None = None) -> list[Block]:
        """What the oldest idle searches want to know, at most so many of them; they are in flight then."""
        idle = {name: machine.table.idle() for name, machine in self._machines.items()}
        if most is not None and sum(map(len, idle.values())) > most:
            idle = self._oldest(idle, most)
        blocks = []
        for name, machine in self._machines.items():
            phases = machine.table.phase[idle[name]]
            for phase in map(Phase, sorted(set(phases.tolist()))):
                rows = idle[name][phases == phase.value]
                centres = None if phase in (Phase.STEP, Phase.LEAP) else machine.table.point[rows]
                points = machine.points(phase, rows)
                has_sides = name != QUASI_NEWTON and phase is not Phase.FINAL
                blocks.append(Block(name, phase.name, rows, points, centres, has_sides))
        for block in blocks:
            self._machines[block.machine].table.is_asked[block.rows] = True
        return blocks

    def _oldest(self, idle: dict[str, Rows], most: int) -> dict[str, Rows]:
        paths = [self._machines[name].table.path[rows] for name, rows in idle.items()]
        last = np.partition(np.concatenate(paths), most - 1)[most - 1]
        return {name: rows[path <= last] for (name, rows), path in zip(idle.items(), paths, strict=True)}

    # ---- telling

    def tell(self, blocks: list[Block], evaluations: list[Evaluation]) -> list[Event]:
        """What came of all blocks of a round, each evaluation of shape (n, points each, ...).

        Searches that know value, gradient and model move on together; events are in the order of the searches.
        """
        ends: dict[str, Ends] = {name: {} for name in self._machines}
        ready: dict[str, list[Rows]] = {TRUST_REGION: [], LIMITED: []}
        with np.errstate(all="ignore"):  # failed points are -inf; what comes of them is looked at
            for block, told in zip(blocks, evaluations, strict=True):
                name, rows, points = block.machine, block.rows, block.points
                table = self._machines[name].table
                table.cost[rows] += points.shape[1]
                self.spent += len(rows) * points.shape[1]
                table.is_asked[rows] = False
                if name == QUASI_NEWTON:
                    ends[name] |= self.quasi_newton.tell(Phase[block.kind], rows, points, told)
                    continue
                if block.kind == Phase.START.name:
                    self._observe_level(table, rows, told.value[:, 0])
                machine = self.limited if name == LIMITED else self.trust_region
                going, over = machine.tell(Phase[block.kind], rows, points, told)
                ready[name].append(going)
                ends[name] |= over
            for name, parts in ready.items():
                rows = np.concatenate([np.zeros(0, np.intp), *parts])
                if len(rows):
                    machine = self.limited if name == LIMITED else self.trust_region
                    ends[name] |= machine.advance(machine.table.in_order(rows))
            return self._over(ends)

    def _observe_level(self, table: Table, rows: Rows, values: Array) -> None:
        """Values at points where nothing was known before tell the level and the scale of the function."""
        origins = [table.begun(k) for k in rows.tolist()]
        self.context.observe_level(values[[origin.start == SPACE_FILLING and not origin.cost for origin in origins]])

    def _over(self, ends: dict[str, Ends]) -> list[Event]:
        """Hand searches over from one machine to the other, and close those that are over."""
        slow = [k for k in self.limited.slow() if k not in ends[LIMITED]] if len(self.limited.table) else []
        for k in slow:
            ends[TRUST_REGION] |= self.trust_region.take(k, self.limited.table, self.limited.model(k))
        for steps, over in ((self.trust_region.table, ends[TRUST_REGION]), (self.limited.table, ends[LIMITED])):
            handed = [k for k, event in over.items() if event is None]
            if handed:  # they have met a kink
                known = steps.point[handed], steps.value[handed], steps.gradient[handed]
                origins, paths = [steps.origin(k) for k in handed], steps.path[handed].tolist()
                ends[QUASI_NEWTON] |= self.quasi_newton.take(*known, origins, paths)
        handed = [k for k, event in ends[QUASI_NEWTON].items() if event is None]
        if handed:  # they have come to smooth ground
            lines, radius = self.quasi_newton.table, self.context.tolerances.near
            origins, paths = [lines.origin(k) for k in handed], lines.path[handed].tolist()
            self._first.open(lines.point[handed], radius, origins, paths, has_met_kink=True)
        ends[LIMITED] |= dict.fromkeys(slow)
        events = []
        for name, over in ends.items():
            table = self._machines[name].table
            events += [(int(table.path[k]), event) for k, event in over.items() if event is not None]
            if over:
                table.close(over)
        events.sort(key=lambda end: end[0])
        return [event for _, event in events]
