"""Launches: many local ascents, each stopped as soon as it is seen to fall into a known mode."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import GRADIENT, HESSIAN, VALUE, Evaluation, Needs
from allmodes.storage import stored
from allmodes.strategy import differences, recognition, trust_region
from allmodes.strategy.archive import Found
from allmodes.strategy.batch import Batch, Phase
from allmodes.strategy.search import Search
from allmodes.strategy.settling import closest, flat_probes, is_held, is_plateau, kind_of, valley_points
from allmodes.strategy.screening import Screen
from allmodes.strategy.starts import EVEN, GIVEN, SCREENED, Record, Sobol, Start, choose_start, make_records
from allmodes.strategy.strategy import Request, Strategy

Array = NDArray[np.float64]

_NEEDS: tuple[Needs, ...] = (VALUE, GRADIENT, GRADIENT | HESSIAN)
_WIDTH = (2, 64)  # launches under way at once: at first, and at most
_LAUNCHES_PER_WIDTH = 8  # another one under way for so many launches done: few see the archive later than they could
_FIRST_RADIUS = 0.15  # of the trust region, in units of the box
_LARGEST_RADIUS = 0.5
_SMALLEST_RADIUS = 1e-11
_ARRIVED = 1e-3  # a guessed model whose step is shorter than this is worth measuring
_LAST_STEP = 3e-5  # a measured model whose step is shorter than this needs no further gradient
_FARTHEST = 1e6  # boxes away from the start: the function has no top in that direction
_CLOSE = 0.01  # modes closer than this are told apart by values between them
_FEWEST = 20  # launches before a search may end, and without a new mode
_RARE = 0.02  # chance of something new at which a search ends
_RUNAWAYS = 5  # launches that leave for infinity before a search gives up
_BARREN = 4  # screenings without a new mode before a search for global modes ends
_SLOW = (0.55, 0.9)  # shrinkage of Newton steps that says linear convergence: 2/3 for a quartic top
_STEADY = 0.05
_PATIENCE = 60  # iterations, plus ten per dimension


@stored
@dataclass
class Launches(Strategy):
    """Trust-region ascents from Sobol points and from shells around known modes.

    Attributes:
        search: what is shared.
        batch: the launches under way.
        sobol: evenly spread starts.
        given: starts to be used first.
        records: what each arm has brought.
        is_plain: multistart without archive: no launch is stopped early, all start evenly spread.
        launches: how many have ended, and `since_new` how many since the last new mode.
        lost: evenly spread launches that ended in no mode; `nowhere` counts all launches that did.
        patience: launches without a new mode before the search ends.
        is_passive: launch from given starts only.
    """

    search: Search
    batch: Batch = field(init=False)
    sobol: Sobol = field(init=False)
    given: list[Start] = field(default_factory=list)
    records: list[Record] = field(default_factory=make_records)
    is_plain: bool = False
    width: tuple[int, int] = _WIDTH
    launches: int = 0
    since_new: int = 0
    lost: int = 0
    nowhere: int = 0
    patience: int = _FEWEST
    is_passive: bool = False
    runaways: int = 0
    barren: int = 0
    screen: Screen = field(init=False)
    is_screening: bool = False
    asked: Array = field(init=False)
    blocks: list[tuple[int, NDArray[np.intp], Array]] = field(default_factory=list)

    def __post_init__(self) -> None:
        d = self.search.box.d
        self.sobol = Sobol(d, int(self.search.rng.integers(2**31)))
        nothing = np.zeros(0, np.int64)
        self.batch = Batch.at(np.zeros((0, d)), np.zeros(0), nothing, nothing)
        self.screen, self.asked = Screen(np.zeros((0, d))), np.zeros((0, d))

    # ---- asking

    def ask(self) -> Request:
        d = self.search.box.d
        self._launch()
        if self.is_screening:
            self.asked = np.stack([self.sobol.next() for _ in range(self.screen.wanted(self.search))])
            return Request(self.asked)
        batch = self.batch
        self.blocks = []
        for phase in np.unique(batch.phase):
            rows = np.flatnonzero(batch.phase == phase)
            self.blocks.append((int(phase), rows, self._points(Phase(phase), rows)))
        if not self.blocks:
            return Request(np.zeros((0, d)))
        points = np.concatenate([points.reshape(-1, d) for _, _, points in self.blocks])
        return Request(points, _NEEDS[self.search.order])

    def _launch(self) -> None:
        """Fill up with new launches."""
        low, high = self.width
        missing = min(high, max(low, self.launches // _LAUNCHES_PER_WIDTH)) - len(self.batch)
        starts = []
        while len(starts) < missing:
            start = choose_start(self)
            if start is None:
                break
            starts.append(start)
        if starts:
            radius = np.array([start.radius or _FIRST_RADIUS for start in starts])
            arms, picked = (np.array([getattr(start, name) for start in starts]) for name in ("arm", "picked"))
            self.batch.join(Batch.at(np.array([start.point for start in starts]), radius, arms, picked))

    def _points(self, phase: Phase, rows: NDArray[np.intp]) -> Array:
        """What launches in this phase want to know, (n, points each, d)."""
        batch, box, order = self.batch, self.search.box, self.search.order
        point = batch.point[rows]
        if phase in (Phase.STEP, Phase.FINAL):
            return batch.trial[rows][:, None]
        if phase == Phase.START and order > 0:
            return point[:, None]
        if phase == Phase.FLAT:
            return flat_probes(self.search, batch, rows)
        if phase == Phase.VALLEY:
            return valley_points(self.search, batch, rows)
        if phase == Phase.CURVE:
            steps = self._curvature_steps(rows)
            if order == 0:
                return differences.curvature_points(point, steps, box.lower_unit, box.upper_unit)
            steps = differences.inward(point, steps, box.lower_unit, box.upper_unit)
        else:
            steps = self._slope_steps(point)
        moved = differences.gradient_points(point, steps)
        return np.concatenate([point[:, None], moved], axis=1) if phase == Phase.START else moved

    def _slope_steps(self, point: Array) -> Array:
        """Signed steps (n, d) for gradients from values."""
        box = self.search.box
        return differences.inward(
            point, np.full_like(point, differences.GRADIENT_STEP), box.lower_unit, box.upper_unit
        )

    def _curvature_steps(self, rows: NDArray[np.intp]) -> Array:
        """Long enough to rise above rounding, short enough for the curvature not to change."""
        rise = 1e-6 * max(self.search.scale, 1e-6 * np.abs(self.batch.value[rows]).max(initial=0.0), 1e-300)
        curvature = np.abs(np.einsum("nii->ni", self.batch.hessian[rows])).max(axis=1, keepdims=True)
        steps = np.sqrt(2.0 * rise / np.maximum(curvature, 1e-300))
        return np.broadcast_to(np.clip(steps, 1e-5, differences.CURVATURE_STEP), (len(rows), self.search.box.d))

    # ---- telling

    def tell(self, evaluation: Evaluation) -> None:
        if self.is_screening:
            self.is_screening = False
            self.barren += 1
            self.search.add_levels(evaluation.value)
            self.screen.add(self.asked, evaluation.value, self.search)
            self.records[SCREENED].add(False, len(evaluation.value), is_launch=False)
            return
        first = 0
        ready = np.zeros(len(self.batch), bool)
        ended = np.zeros(len(self.batch), bool)
        for phase, rows, points in self.blocks:
            n, each, _ = points.shape
            part = slice(first, first + n * each)
            first += n * each
            self.batch.cost[rows] += each
            told = Evaluation(*(None if a is None else a[part].reshape(n, each, *a.shape[1:]) for a in evaluation))
            handler = getattr(self, f"_told_{Phase(phase).name.lower()}")
            handler(rows, points, told, ready, ended)
        self._advance(np.flatnonzero(ready & ~ended), ended)
        if ended.any():
            self.batch.keep(~ended)

    def _told_start(self, rows: NDArray[np.intp], points: Array, told: Evaluation, ready: Array, ended: Array) -> None:
        batch = self.batch
        batch.value[rows] = told.value[:, 0]
        if self.search.order == 0:
            slope = differences.gradient(points[:, 0], told.value[:, 0], points[:, 1:], told.value[:, 1:])
        else:
            slope = told.gradient[:, 0]
        batch.gradient[rows] = slope
        if self.search.order == 2:
            batch.hessian[rows] = told.hessian[:, 0]
            batch.is_measured[rows] = True
        else:  # as curved as makes the first step as long as the radius
            size = np.sqrt(np.einsum("nd,nd->n", slope, slope)) / batch.radius[rows]
            batch.hessian[rows] = -size[:, None, None] * np.eye(self.search.box.d)
        self.search.add_levels(told.value[:, 0][batch.arm[rows] == EVEN])
        self._ready(rows, ready, ended)

    def _ready(self, rows: NDArray[np.intp], ready: Array, ended: Array) -> None:
        """These launches know all they need to go on, unless something is not finite."""
        batch = self.batch
        is_fine = np.isfinite(batch.value[rows]) & np.isfinite(batch.gradient[rows]).all(axis=1)
        is_fine &= np.isfinite(batch.hessian[rows]).all(axis=(1, 2))
        ready[rows[is_fine]] = True
        for k in rows[~is_fine]:
            self._end(int(k), -1, ended)

    def _told_step(self, rows: NDArray[np.intp], points: Array, told: Evaluation, ready: Array, ended: Array) -> None:
        batch, order = self.batch, self.search.order
        value, s = told.value[:, 0], batch.trial[rows] - batch.point[rows]
        old, g, H = batch.value[rows], batch.gradient[rows], batch.hessian[rows]
        predicted = trust_region.gain(g, H, s)
        rise = np.where(np.isfinite(value), value - old, -np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(predicted > 0.0, rise / predicted, -1.0)
        length = np.sqrt(np.einsum("nd,nd->n", s, s))
        radius = batch.radius[rows]
        largest = _LARGEST_RADIUS * np.sqrt(self.search.box.d)
        grown = np.where((ratio > 0.75) & (length > 0.8 * radius), np.minimum(2.5 * radius, largest), radius)
        batch.radius[rows] = np.where(ratio < 0.25, 0.3 * length, grown)
        rounding = 4e-16 * np.abs(old)
        is_better = (rise > 1e-4 * predicted) & (rise > 0.0)
        if order == 0:
            is_better |= (np.abs(rise) <= rounding) & (predicted <= rounding)
        else:
            slope = told.gradient[:, 0]
            smaller = np.abs(slope).max(axis=1) < np.abs(g).max(axis=1)
            is_better |= (np.abs(rise) <= rounding) & smaller
        taken, refused = rows[is_better], rows[~is_better]
        if order == 1:
            is_usable = np.isfinite(slope).all(axis=1)
            updated = trust_region.rank_one(H[is_usable], s[is_usable], (slope - g)[is_usable])
            batch.hessian[rows[is_usable]] = updated
        elif order == 0 and len(refused):
            wrong = np.where(np.isfinite(rise), rise - predicted, 0.0)[~is_better]
            batch.hessian[refused] = trust_region.match_value(H[~is_better], s[~is_better], wrong)
        batch.is_measured[rows[length > _ARRIVED]] = order == 2
        batch.came_from[taken], batch.old_gradient[taken] = batch.point[taken], g[is_better]
        batch.point[taken], batch.value[taken] = batch.trial[taken], value[is_better]
        batch.iterations[rows] += 1
        ready[refused] = True
        if order == 0:
            batch.phase[taken] = Phase.SLOPE
            return
        batch.gradient[taken] = slope[is_better]
        if order == 2:
            batch.hessian[taken] = told.hessian[is_better, 0]
        self._ready(taken, ready, ended)

    def _told_slope(self, rows: NDArray[np.intp], points: Array, told: Evaluation, ready: Array, ended: Array) -> None:
        batch = self.batch
        slope = differences.gradient(batch.point[rows], batch.value[rows], points, told.value)
        known = batch.is_measured[rows]
        bias = 0.5 * self._slope_steps(batch.point[rows]) * np.einsum("nii->ni", batch.hessian[rows])
        slope -= np.where(known[:, None], bias, 0.0)
        s, change = batch.point[rows] - batch.came_from[rows], slope - batch.old_gradient[rows]
        guess = ~known & np.isfinite(change).all(axis=1)
        updated = trust_region.rank_one(batch.hessian[rows[guess]], s[guess], change[guess])
        batch.hessian[rows[guess]] = updated
        batch.gradient[rows] = slope
        self._ready(rows, ready, ended)

    def _told_curve(self, rows: NDArray[np.intp], points: Array, told: Evaluation, ready: Array, ended: Array) -> None:
        batch = self.batch
        if self.search.order == 0:
            H = differences.curvature(batch.point[rows], batch.value[rows], points, told.value)
            is_rough = differences.is_rough(
                batch.point[rows], batch.value[rows], batch.gradient[rows], points, told.value, self.search.rounding
            )
            for k in rows[is_rough]:
                self._end(int(k), -1, ended)
            # The gradient is known from much shorter steps; the curvature tells how far it is off.
            steps = self._slope_steps(batch.point[rows])
            batch.gradient[rows] -= 0.5 * steps * np.einsum("nii->ni", H)
        else:
            H = differences.hessian_of_gradients(batch.point[rows], batch.gradient[rows], points, told.gradient)
        batch.hessian[rows] = H
        batch.is_measured[rows] = True
        self._ready(rows, ready, ended)

    def _told_final(self, rows: NDArray[np.intp], points: Array, told: Evaluation, ready: Array, ended: Array) -> None:
        batch = self.batch
        for k, value in zip(rows, told.value[:, 0], strict=True):
            if value >= batch.value[k]:
                held = is_held(self.search.box, batch.point[k], batch.gradient[k])
                batch.gradient[k] = np.where(held, batch.gradient[k], 0.0)
                batch.point[k], batch.value[k] = batch.trial[k], value
            self._settle(int(k), ended)

    def _told_flat(self, rows: NDArray[np.intp], points: Array, told: Evaluation, ready: Array, ended: Array) -> None:
        batch, slack = self.batch, self.search.rounding
        for k, probes, values in zip(rows, points, told.value, strict=True):
            best = int(np.argmax(values))
            if values[best] > batch.value[k] + slack:  # not a top: go on from the higher point
                batch.point[k], batch.phase[k], batch.is_measured[k] = probes[best], Phase.START, False
            else:
                self._freeze(int(k), "flat", ended)

    def _told_valley(self, rows: NDArray[np.intp], points: Array, told: Evaluation, ready: Array, ended: Array) -> None:
        batch, archive = self.batch, self.search.archive
        for k, values in zip(rows, told.value, strict=True):
            j = int(batch.rival[k])
            lower = min(batch.value[k], archive.values[j])
            if (values >= lower - self.search.rounding).all():
                self._end(int(k), j, ended)
            else:
                self._freeze(int(k), kind_of(self.search, batch, int(k)), ended)

    # ---- going on

    def _advance(self, rows: NDArray[np.intp], ended: Array) -> None:
        """Launches that know value, gradient and model where they are: recognised, arrived, or given a next step."""
        if not len(rows):
            return
        batch, search = self.batch, self.search
        lower, upper = search.box.lower_unit, search.box.upper_unit
        point, value, g, H = batch.point[rows], batch.value[rows], batch.gradient[rows], batch.hessian[rows]
        model = trust_region.model(point, g, H, lower, upper)
        tops = np.minimum(np.maximum(point + model.newton(), lower), upper)
        s = tops - point
        far = np.abs(s).max(axis=1, initial=0.0)
        gains = trust_region.gain(g, H, s)
        is_concave = model.eigenvalues[:, -1] < 0.0
        measured = batch.is_measured[rows]

        if len(search.archive) and not self.is_plain:
            known = recognition.recognise(search, point, value, g, tops, gains, is_concave & measured)
            for k, j in zip(rows[known >= 0], known[known >= 0], strict=True):
                self._end(int(k), int(j), ended)
        arrived = self._arrived(model, value, far, gains, measured)
        for i in np.flatnonzero(arrived & ~ended[rows]):
            self._arrive(int(rows[i]), bool(measured[i]), tops[i], far[i], ended)
        slow = self._stretch(rows, far, is_concave & measured)
        going = ~arrived & ~ended[rows]
        rows, point, model = rows[going], point[going], trust_region.Model(*(part[going] for part in model))
        step = trust_region.step(model, batch.radius[rows])
        if slow.any():
            step = np.where((slow[going] > 1.0)[:, None], slow[going][:, None] * s[going], step)
        trial = np.minimum(np.maximum(point + step, lower), upper)
        batch.trial[rows] = trial
        batch.phase[rows] = Phase.STEP
        is_stuck = (batch.radius[rows] < _SMALLEST_RADIUS) | (trial == point).all(axis=1)
        is_stuck |= batch.iterations[rows] > _PATIENCE + 10 * search.box.d
        is_stuck |= np.abs(trial).max(axis=1, initial=0.0) > _FARTHEST
        for k in rows[is_stuck]:
            self._end(int(k), -1, ended)

    def _stretch(self, rows: NDArray[np.intp], far: Array, is_sure: NDArray[np.bool_]) -> Array:
        """How much to lengthen Newton steps that shrink by the same factor q again and again: 1 / (1 - q), or 0.

        That happens where the curvature vanishes at the top; the steps that are left add up to a geometric series.
        """
        batch = self.batch
        with np.errstate(divide="ignore", invalid="ignore"):
            q = np.where(is_sure, far / batch.distance[rows], 0.0)
        low, high = _SLOW
        is_slow = (q > low) & (q < high) & (np.abs(q - batch.shrinkage[rows]) < _STEADY)
        batch.distance[rows], batch.shrinkage[rows] = far, q
        return np.where(is_slow, 1.0 / (1.0 - np.minimum(q, high)), 0.0)

    def _arrived(self, model: trust_region.Model, value: Array, far: Array, gains: Array, measured: Array) -> Array:
        """Which launches are at the top of their model, or on level ground."""
        search = self.search
        tolerance = 0.1 * search.xtol if search.order else _LAST_STEP
        is_concave = model.eigenvalues[:, -1] < 0.0
        near = is_concave & (far <= np.where(measured, tolerance, _ARRIVED))
        slope = np.abs(model.g).max(axis=1, initial=0.0)
        size = search.scale + np.abs(value) * (search.order == 0)
        curve = np.abs(model.eigenvalues).max(axis=1, initial=0.0)
        bent = model.eigenvalues.max(axis=1, initial=-np.inf) > 1e-6 * curve
        level = (slope <= 1e-8 * size) & ~(measured & bent & (curve > 1e-6 * search.scale))
        return near | level

    def _arrive(self, k: int, is_measured: bool, top: Array, far: float, ended: Array) -> None:
        """A launch at the top of its model: measure it, take the last step, or settle what it is."""
        batch = self.batch
        if not is_measured:
            batch.phase[k] = Phase.CURVE
        elif self.search.order == 0 and 1e-3 * self.search.xtol < far <= _LAST_STEP:
            batch.trial[k], batch.phase[k] = top, Phase.FINAL
        else:
            self._settle(k, ended)

    def _settle(self, k: int, ended: Array) -> None:
        """Where a launch has arrived: a known mode, perhaps a known one, level ground, or a new mode."""
        search, batch = self.search, self.batch
        kind = kind_of(search, batch, k)
        if len(search.archive):
            j, apart = closest(search, batch.point[k])
            if apart < 10.0 * search.xtol:
                self._end(k, j, ended)
                return
            if apart < _CLOSE or (kind == "flat" and search.archive.found[j].kind == "flat"):
                batch.rival[k], batch.phase[k] = j, Phase.VALLEY
                return
        if kind == "flat":
            batch.phase[k] = Phase.FLAT
        elif kind == "":
            self._end(k, -1, ended)
        else:
            self._freeze(k, kind, ended)

    def _freeze(self, k: int, kind: str, ended: Array) -> None:
        """A new mode, unless a launch of the same round was first."""
        search, batch = self.search, self.batch
        if kind == "flat" and is_plateau(search, batch, k):
            self._end(k, -1, ended)
            return
        point = search.box.project(batch.point[k])
        found = Found(
            batch.gradient[k].copy(), batch.hessian[k].copy(), is_held(search.box, point, batch.gradient[k]), kind,
            "derivatives" if search.order == 2 else "differences", search.nfev,
        )  # fmt: skip
        self._end(k, search.archive.add(point, float(batch.value[k]), found), ended, is_new=True)

    def _end(self, k: int, mode: int, ended: Array, is_new: bool = False) -> None:
        """A launch is over: it found a new mode, fell into a known one, or got lost (-1)."""
        batch = self.batch
        ended[k] = True
        arm = int(batch.arm[k])
        self.launches += 1
        self.since_new = 0 if is_new else self.since_new + 1
        if mode >= 0:
            self.search.archive.hit(mode, arm in (EVEN, SCREENED))
        else:
            self.nowhere += 1
            self.lost += arm in (EVEN, SCREENED)
        is_success = is_new and self._counts(mode)
        self.barren = 0 if is_success else self.barren
        self.runaways += bool(np.abs(batch.trial[k]).max() > _FARTHEST)
        self.records[arm].add(is_success, int(batch.cost[k]))
        if arm == SCREENED:
            self.screen.report(is_success)

    def _counts(self, mode: int) -> bool:
        """Whether a new mode is of the kind that is searched for."""
        archive = self.search.archive
        return not self.search.is_global or bool(archive.values[mode] >= archive.best - self.search.tie)

    def add_points(self, points: Array, values: Array) -> None:
        """Good ones among points that others evaluated become starts."""
        good = np.flatnonzero(values > self.search.level) if len(self.search.levels) else np.arange(len(values))
        best = good[np.argsort(-values[good], kind="stable")][:_FEWEST]
        self.given += [Start(points[i], 0.0, GIVEN) for i in best if np.isfinite(values[i])]

    @property
    def lost_launches(self) -> int:
        return self.lost

    @property
    def account(self) -> str:
        return f"{self.launches} launches"

    @property
    def ending(self) -> str:
        archive = self.search.archive
        if self.runaways >= _RUNAWAYS and self.runaways > 0.5 * self.launches and not len(archive):
            return f"{self.runaways} of {self.launches} launches ran away without end"
        if self.search.is_global:
            return f"{self.barren} screenings in a row found no new mode" if self.barren > _BARREN else ""
        singles = int((archive.hits == 1).sum())
        if self.launches >= self.patience and singles < _RARE * self.launches:
            if self.since_new >= max(self.patience, 2 * len(archive)):
                return f"the last {self.since_new} of {self.launches} launches found no new mode"
        return ""
