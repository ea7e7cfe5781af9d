"""Local searches for roots: Newton's steps in a trust region, with Jacobians that are evaluated or updated."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from allmodes.objective import Evaluation
from allmodes.search.candidate import EQUATIONS, LOCAL, SPACE_FILLING, Candidate, Origin, Start
from allmodes.search.context import Context
from allmodes.search.events import Arrived, Continue, Event, Failed, RanAway, Recognised, SearchEvent, Stuck
from allmodes.search.geometry import clip, lengths
from allmodes.search.searchers.local.table import Array, Counts, Ends, Mask, Rows
from allmodes.search.searchers.local.tuning import TUNING as LOCAL_TUNING
from allmodes.search.searchers.roots.steps import Newton, bounded, is_regular, updated
from allmodes.search.searchers.roots.table import RootTable
from allmodes.search.searchers.roots.tuning import TUNING
from allmodes.search.tolerances import TINY
from allmodes.storage import stored

_UNLIKE = 1e4  # times: equations that differ more in size are divided by it
_HALVINGS = 30  # steps to a double root
START, STEP, RENEW = 0, 1, 2  # what a search waits for: F and J where it begins, F at its trial point, J where it is


@stored
@dataclass(eq=False)
class RootSearches:
    """Searches for roots, which give up early if none is ahead.

    Attributes:
        updates: whether Jacobians are updated from step to step, as they are costly: made of differences.
        at_roots: Jacobians by the numbers of the modes that they were found at; of searches that the verifier is
            judging, by -1 - the number of the search.
        sizes: of the equations, (d,), that they are divided by; empty before the first Jacobian.
    """

    context: Context
    updates: bool
    table: RootTable = field(init=False)
    at_roots: dict[str, Array] = field(default_factory=dict)
    sizes: Array = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        self.table = RootTable(self.context.box.d)

    def __len__(self) -> int:
        return len(self.table)

    @property
    def numbers(self) -> list[int]:
        """Of the searches that are running."""
        return sorted(self.table.path[self.table.rows].tolist())

    # ---- beginning

    def open(self, starts: list[Start]) -> None:
        """Begin searches."""
        if not starts:
            return
        usual = TUNING.first_radius * np.sqrt(self.context.box.d)
        paths = self.context.paths.begin(len(starts)).tolist()
        origins = [Origin(LOCAL, start.kind, path) for start, path in zip(starts, paths, strict=True)]
        self._open(np.array([start.point for start in starts]), origins, paths, usual)

    def resume(self, event: Continue) -> None:
        """A search goes on at a point."""
        self._open(event.point[None], [event.origin], [event.origin.number], event.radius)

    def _open(self, points: Array, origins: list[Origin], paths: list[int], radius: float) -> None:
        rows, table = self.table.open(points, origins, paths), self.table
        table.radius[rows], table.mark[rows], table.phase[rows] = radius, np.inf, START

    # ---- asking and telling

    def ask(self) -> tuple[Rows, Array, bool]:
        """Rows, where they are to be evaluated (n, d), and whether with Jacobians."""
        rows, table = self.table.idle(), self.table
        is_costly = table.phase[rows] != STEP
        if self.updates and is_costly.any():
            rows = rows[is_costly]
        with_jacobian = not self.updates or bool(is_costly.any())
        points = np.where((table.phase[rows] == STEP)[:, None], table.trial[rows], table.point[rows])
        table.is_asked[rows] = True
        return rows, points, with_jacobian

    def tell(self, rows: Rows, told: Evaluation, cost: int) -> list[Event]:
        """F, and Jacobians where they were asked for; events in the order of the searches."""
        table, ends = self.table, Ends()
        table.is_asked[rows] = False
        table.cost[rows] += cost
        value, F, J = self._divided(told)
        is_fine = np.isfinite(value) & np.isfinite(F).all(axis=1)
        has_jacobian = is_fine & np.isfinite(J).all(axis=(1, 2))
        is_step = table.phase[rows] == STEP
        for k in rows[~is_step & ~has_jacobian].tolist():
            ends[k] = self._cannot_go_on(k)
        at_point = rows[~is_step & has_jacobian]
        table.value[at_point], table.gradient[at_point] = (a[~is_step & has_jacobian] for a in (value, F))
        table.jacobian[at_point], table.is_exact[at_point] = J[~is_step & has_jacobian], True
        begun = at_point[table.phase[at_point] == START]
        is_fresh = np.array([table.begun(k).start == SPACE_FILLING for k in begun.tolist()], bool)
        self.context.observe_level(table.value[begun[is_fresh]])
        stepped = rows[is_step]
        if len(stepped):
            ends |= self._told_step(stepped, value[is_step], F[is_step], J[is_step], is_fine[is_step])
        going = np.array([k for k in rows.tolist() if k not in ends], np.intp)
        ends |= self._advance(table.in_order(going)) if len(going) else {}
        events = sorted(((int(table.path[k]), event) for k, event in ends.items() if event), key=lambda end: end[0])
        table.close(ends)
        return [event for _, event in events]

    def _divided(self, told: Evaluation) -> tuple[Array, Array, Array]:
        """Values, F and Jacobians, NaN where they were not asked for; equations of very unlike sizes are made alike."""
        F = np.asarray(told.gradient)
        if told.hessian is None:
            J = np.full((*F.shape, self.table.d), np.nan)
        else:
            J = np.asarray(told.hessian)
            fine = np.abs(J[np.isfinite(J).all(axis=(1, 2))])
            if not len(self.sizes) and len(fine):
                rows = np.maximum(fine.max(axis=(0, 2)), TINY)
                self.sizes = rows if rows.max() > _UNLIKE * rows.min() else np.ones(self.table.d)
        if len(self.sizes):
            F, J = F / self.sizes, J / self.sizes[:, None]
        return np.asarray(told.value), F, J

    def _told_step(self, rows: Rows, value: Array, F: Array, J: Array, is_fine: Mask) -> Ends:
        """F at trial points, which are taken where it is smaller; the radius learns from what was promised."""
        table = self.table
        s, old = table.trial[rows] - table.point[rows], lengths(table.gradient[rows])
        model = table.gradient[rows] + (table.jacobian[rows] @ s[..., None])[..., 0]
        norm = np.where(is_fine, lengths(np.where(is_fine[:, None], F, 0.0)), np.inf)
        gain = 1.0 - norm / np.maximum(old, TINY)
        ratio = gain / np.maximum(1.0 - lengths(model) / np.maximum(old, TINY), TINY)
        is_taken, is_poor = gain > 0.0, ~(ratio >= TUNING.poor)
        length = lengths(s)
        grown = np.where(
            ratio > TUNING.good, np.maximum(table.radius[rows], TUNING.growth * length), table.radius[rows]
        )
        table.radius[rows] = np.where(is_poor, TUNING.shrinkage * np.minimum(length, table.radius[rows]), grown)
        table.iterations[rows] += 1
        table.refusals[rows] = np.where(is_poor, table.refusals[rows] + 1, 0)
        table.barren[rows] = np.where(gain < TUNING.promised, table.barren[rows] + 1, 0)
        table.renewals[rows] = np.where(gain >= TUNING.gain, 0, table.renewals[rows])
        if self.updates:
            learns = rows[is_fine]
            table.jacobian[learns] = updated(table.jacobian[learns], s[is_fine], (F - model)[is_fine])
            table.is_exact[learns] = False
        taken = rows[is_taken]
        if not self.updates:
            table.jacobian[taken], table.is_exact[taken] = J[is_taken], True
        table.point[taken], table.value[taken] = table.trial[taken], value[is_taken]
        table.gradient[taken] = F[is_taken]
        return self._watched(taken, norm[is_taken])

    def _watched(self, rows: Rows, norm: Array) -> Ends:
        """Of the searches that took a step, those whose norm has hardly fallen for some time give up."""
        table, window = self.table, TUNING.window * (2 if self.updates else 1)
        table.marked[rows] += 1
        is_due = table.marked[rows] >= window
        is_slow = is_due & (norm > TUNING.fall * table.mark[rows])
        is_due |= ~np.isfinite(table.mark[rows])
        table.mark[rows] = np.where(is_due, norm, table.mark[rows])
        table.marked[rows] = np.where(is_due, 0, table.marked[rows])
        return {k: self._cannot_go_on(k) for k in rows[is_slow].tolist()}

    # ---- going on

    def _advance(self, rows: Rows) -> Ends:
        """Searches that know F and a Jacobian: they arrive, are recognised, give up, or make another step."""
        table, box, ends = self.table, self.context.box, Ends()
        is_fine = np.isfinite(table.jacobian[rows]).all(axis=(1, 2))
        ends |= {k: self._cannot_go_on(k) for k in rows[~is_fine].tolist()}
        rows = rows[is_fine]
        point, F, J = table.point[rows], table.gradient[rows], table.jacobian[rows]
        self.context.paths.add(table.path[rows], point, table.value[rows])
        newton = Newton.of(J, F)
        tolerance = (TUNING.exactly if self.updates else TUNING.arrival) * self.context.xtol
        is_there = newton.has_arrived(tolerance) | ~F.any(axis=1)
        known = self._recognised(rows, point, F, newton.step)
        steps = bounded(box, point, J, F, newton.step, table.radius[rows])
        left = lengths(F + (J @ steps[..., None])[..., 0])
        is_hopeless = ~is_there & (left > (1.0 - TUNING.promised) * lengths(F))
        for i, k in enumerate(rows.tolist()):
            if known[i] >= 0:
                ends[k] = Recognised(table.origin(k), int(known[i]))
            elif is_there[i]:
                ends |= self._arrive(k)
            elif (is_hopeless[i] or table.refusals[k] >= TUNING.refusals) and not table.is_exact[k]:
                ends |= self._renew(k)
            elif is_hopeless[i] or self._is_lost(k):
                ends[k] = self._cannot_go_on(k)
            else:
                trial = clip(box, point[i] + steps[i])
                table.trial[k], table.phase[k] = trial, STEP
                if (trial == point[i]).all() or not np.abs(trial).max() < LOCAL_TUNING.farthest:
                    ends[k] = self._cannot_go_on(k)
        return ends

    def _is_lost(self, k: int) -> bool:
        table = self.table
        is_tired = table.iterations[k] > TUNING.longest or table.barren[k] >= TUNING.barren
        return bool(is_tired or table.radius[k] < LOCAL_TUNING.negligible * self.context.xtol)

    def _renew(self, k: int) -> Ends:
        """Ask for the Jacobian where a search is, unless that was in vain too often."""
        table = self.table
        table.renewals[k] += 1
        table.refusals[k], table.phase[k] = 0, RENEW
        if table.renewals[k] > TUNING.renewals or self._is_lost(k):
            return {k: self._cannot_go_on(k)}
        return {}

    def _recognised(self, rows: Rows, point: Array, F: Array, newton: Array) -> Counts:
        """The root that each search is falling into, (n,), or -1: its linear model explains F, and Newton's step by
        either Jacobian leads much closer. Where checks were wrong, it has to agree better.
        """
        table, context, modes = self.table, self.context, sorted(int(key) for key in self.at_roots if key[0] != "-")
        found = np.full(len(rows), -1)
        if not modes or not len(rows):
            return found
        J = np.stack([self.at_roots[str(mode)] for mode in modes])
        apart = context.box.difference(point[:, None], context.archive.means[modes])
        model = np.einsum("kij,nkj->nki", J, apart)
        share, far = TUNING.agreement / context.checks.strictness, lengths(apart)
        missed = lengths(F[:, None] - model) / np.maximum(lengths(model), TINY)
        by_root = np.linalg.solve(J, F[:, None, :, None])[..., 0]
        is_close = (lengths(apart + newton[:, None]) < share * far) & (lengths(apart - by_root) < share * far)
        is_alike = (missed < share) & is_close
        best = np.where(is_alike, missed, np.inf).argmin(axis=1)
        for i, k in enumerate(rows.tolist()):
            if not is_alike[i, best[i]] or table.is_awaited[k]:
                continue
            mode = int(context.archive.primary[modes[best[i]]])
            if context.checks.is_due(table.begun(k).number):
                table.run_on(k, mode)
            else:
                found[i] = mode
        return found

    # ---- ending

    def _arrive(self, k: int) -> Ends:
        """At a root: one that is new needs an exact Jacobian."""
        table, context = self.table, self.context
        is_known = len(context.archive) and context.archive.closest(table.point[k])[1] < context.tolerances.same
        if not (is_known or table.is_exact[k]):
            table.phase[k] = RENEW
            return {}
        F, J, point = table.gradient[k], table.jacobian[k], table.point[k].copy()
        source = EQUATIONS if is_regular(J) else "derivatives"
        self.at_roots[str(-1 - int(table.path[k]))] = J.copy()
        F, J = self.sizes * F, self.sizes[:, None] * J
        promised = 0.5 * float(F @ F)
        return {
            k: Arrived(
                Candidate(
                    point, float(table.value[k]), -J.T @ F, -J.T @ J, source,
                    table.origin(k), float(table.radius[k]), promised,
                )
            )
        }  # fmt: skip

    def judged(self, number: int, mode: int) -> None:
        """The search of this number has ended in a new mode; -1 if it has not."""
        J = self.at_roots.pop(str(-1 - number), None)
        if J is None or mode < 0:
            return
        if is_regular(J):
            self.at_roots[str(mode)] = J
        else:  # the last steps halve the distance to it, again and again
            self.context.keep_back(_HALVINGS * (1 + self.context.box.d * self.updates))

    def _cannot_go_on(self, k: int) -> SearchEvent:
        table = self.table
        if table.phase[k] == START:
            return Failed(table.origin(k))
        if not np.abs(table.trial[k]).max() < LOCAL_TUNING.farthest:
            return RanAway(table.origin(k))
        is_tired = bool(table.iterations[k] > TUNING.longest)
        return Stuck(table.origin(k), table.point[k].copy(), float(table.value[k]), is_tired)
