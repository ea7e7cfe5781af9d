"""The search with few evaluations: a model says where optima may be, and the function is evaluated there."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.coverage import counted
from allmodes.objective import VALUE, Evaluation
from allmodes.search.archive import Frozen
from allmodes.search.context import Context
from allmodes.search.searcher import Request, Strategy
from allmodes.search.searchers.surrogate.knowledge import Knowledge
from allmodes.search.searchers.surrogate.model import Model
from allmodes.search.searchers.surrogate.optima import Optima, optima_of
from allmodes.search.searchers.surrogate.samples import Sample
from allmodes.search.searchers.surrogate.trial import Trial, around
from allmodes.search.searchers.surrogate.tuning import TUNING
from allmodes.search.starts.space_filling import SpaceFilling
from allmodes.storage import stored

Array = NDArray[np.float64]


@stored
@dataclass
class Surrogate(Strategy):
    """Evaluates the optima of a model, and those of random functions that agree with what is known.

    An optimum of the model is located once a value right there is known; it is verified once values around it have
    fallen as the model had said. Others are seen by the model alone, and are not listed.

    Attributes:
        context: what is shared.
        given: points to evaluate first, (n, d).
        width: points in a round.
        ends: whether it may end before the budget does.
        known: points, values, and what was learnt from them.
        space_filling: where to look before there is a model.
        chosen: the points to ask for next, (m, d).
        trials: the verifications among them, in their order; they come first.
        verified: centres of those that passed, (k, d).
        seen: optima of the model that are not located, (m, d), and the values (m,) expected there.
        others: how many more optima the last few random functions had than have been located.
        last_new: evaluations made when the last mode was found.
    """

    context: Context
    given: Array
    width: int = TUNING.width
    ends: bool = False
    known: Knowledge = field(init=False)
    space_filling: SpaceFilling = field(init=False)
    chosen: Array = field(init=False)
    trials: list[Trial] = field(default_factory=list)
    verified: Array = field(init=False)
    seen: tuple[Array, Array] = field(init=False)
    others: list[int] = field(default_factory=list)
    last_new: int = 0

    def __post_init__(self) -> None:
        d = self.context.box.d
        self.known, self.verified = Knowledge(self.context.box), np.zeros((0, d))
        self.space_filling = SpaceFilling(d, int(self.context.rng.integers(2**31)))
        self.seen = np.zeros((0, d)), np.zeros(0)
        self.chosen = self._first()

    # ---- the protocol

    def ask(self) -> Request:
        return Request(self.chosen, VALUE)

    def tell(self, evaluation: Evaluation, ticket: int = 0) -> None:
        values = np.asarray(evaluation.value)
        self.context.observe_level(values[: len(values) if len(self.known) < self._fewest else 0])
        self._hear(values)
        self.known.add(self.chosen, values)
        if not self.known.is_enough(self._fewest) or len(self.given):
            self.chosen = self._first()
            return
        model = self.known.model(self._is_noisy)
        if self._is_noisy:
            self.context.learn_noise(math.sqrt(model.roughness) * model.size)
        optima = self._optima(model)
        is_located = self._file(model, optima)
        self.chosen = self._next(model, optima, is_located)

    def add_points(self, points: Array, values: Array) -> None:
        self.known.add(points, values)

    @property
    def ending(self) -> str:
        if len(self.known) >= TUNING.most:
            return f"the model takes no more than {TUNING.most} values"
        barren = TUNING.barren * (1 + self.context.box.d)
        since = self.context.nfev - self.last_new
        if self.ends and since > barren and self.known.is_enough(self._fewest) and not self.trials:
            return f"{since} evaluations where the model is unsure brought no new mode"
        return ""

    @property
    def account(self) -> str:
        found = counted(len(self.context.archive), "optimum", "optima")
        sure = sum(record.kind != "unverified" for record in self.context.archive.records)
        text = f"a model of {len(self.known)} values led to {found}, {sure} of them verified by values around"
        if sure < len(self.context.archive):
            text += "; that the others are optima only the model says, the value is the function's"
        if len(self.seen[0]):
            text += f"; {len(self.seen[0])} more are seen by the model, where no value is known (settings['seen'])"
        return text

    @property
    def noted(self) -> dict[str, Any]:
        said: dict[str, Any] = {"seen": self.context.box.to_user(self.seen[0]).tolist()} if len(self.seen[0]) else {}
        return said | ({"more": float(np.mean(self.others))} if self.others else {})

    # ---- before there is a model

    @property
    def _fewest(self) -> int:
        return min(TUNING.design * (1 + self.context.box.d), max(2, self.context.maxfev // 3))

    def _first(self) -> Array:
        """Points that were given, then such as fill the box."""
        first, self.given = self.given[: self.width], self.given[self.width :]
        more = self._fewest - len(self.known) - len(first)
        if len(first) == self.width or (more <= 0 and len(first)):
            return first
        return np.concatenate([first, self.space_filling.draw(min(self.width - len(first), max(more, 1)))])

    # ---- what the model says

    def _optima(self, model: Model) -> Optima:
        """Optima of the model, from the best points known and from anywhere."""
        box, rng, n = self.context.box, self.context.rng, TUNING.starts * (1 + self.context.box.d)
        best = np.argsort(-self.known.values, kind="stable")[:n]
        starts = np.concatenate([self.known.points[best], self.seen[0][:n], rng.random((n, box.d))])
        found = optima_of(model, box, starts, rng)
        if not self.context.is_global:
            return found
        even = self.known.even
        return found.of(found.values + model.size * model.deviation(found.points) >= even.max() - 0.01 * np.ptp(even))

    def _file(self, model: Model, optima: Optima) -> NDArray[np.bool_]:
        """Optima that are located become the modes of the archive; returns which."""
        context, archive = self.context, self.context.archive
        is_rough = context.left < self.width or self._is_noisy  # at the end what is close is listed
        reach = TUNING.shortest if is_rough else TUNING.located
        nearest, apart = self.known.best_near(optima.points, max(reach, context.xtol))
        is_located = np.isfinite(apart)
        _, first = np.unique(np.where(is_located, nearest, -1 - np.arange(len(nearest))), return_index=True)
        is_located &= np.isin(np.arange(len(nearest)), first)
        found_at = [(mean.copy(), record.found_at) for mean, record in zip(archive.means, archive.records, strict=True)]
        archive.keep(np.zeros(len(archive), np.bool_))
        for j in np.flatnonzero(is_located):
            point, value, error = self._best_of(model, optima, int(j), int(nearest[j]))
            old = [at for mean, at in found_at if self._close(mean, point)]
            if not old:
                self.last_new = context.nfev
            slope = self.known.steepness(value)
            kind = "unverified" if not self._is_verified(point) else "boundary" if optima.active[j].any() else "optimum"
            gradient = np.where(optima.active[j], optima.gradients[j], 0.0) * slope
            at, hessian = min(old, default=context.nfev), optima.hessians[j] * slope
            archive.add(point, value, Frozen(gradient, hessian, optima.active[j], kind, "model", at, error))
            archive.hit(len(archive) - 1)
        order = np.argsort(-optima.values[~is_located], kind="stable")
        self.seen = optima.points[~is_located][order], optima.values[~is_located][order]
        return is_located

    def _best_of(self, model: Model, optima: Optima, j: int, nearest: int) -> tuple[Array, float, float]:
        """Place and value of an optimum that is located, and how far the value may be off.

        They are those of the point known there; of a noisy function, whose best values are lucky ones, the model's.
        """
        place, expected = optima.points[j], self.known.uneven(float(optima.values[j]))
        error = float(model.deviation(place[None])[0]) * model.size * self.known.steepness(expected)
        if self._is_noisy:
            return place, expected, error
        value = float(self.known.values[nearest])
        return self.known.points[nearest], value, max(0.0, expected - value) + error

    @property
    def _is_noisy(self) -> bool:
        return self.context.noise != 0.0

    def _close(self, mean: Array, point: Array) -> bool:
        return bool(np.abs(self.context.box.difference(mean, point)).max() < TUNING.shortest)

    def _is_verified(self, point: Array) -> bool:
        return any(self._close(centre, point) for centre in self.verified)

    # ---- where to look next

    def _next(self, model: Model, optima: Optima, is_located: NDArray[np.bool_]) -> Array:
        """Verifications once little is left; before, optima of the model and of random functions."""
        self.trials = self._begin_trials(model, optima, is_located)
        if self.trials:
            return np.concatenate([trial.points for trial in self.trials])
        n = self.width if self._is_late else max(1, round(TUNING.exploited * self.width))
        chosen = list(self.seen[0][self._in_turns(model)[:n]])
        if not chosen:
            chosen = self._refined(optima)
        for _ in range(self.width):
            if len(chosen) < self.width:
                chosen += self._explored(model, chosen)
        while len(chosen) < self.width:
            tried = self.context.rng.random((TUNING.waves, self.context.box.d))
            tried = tried[self._apart(tried, chosen) > TUNING.located]
            chosen.append(tried[int(np.argmax(model.deviation(tried)))])
        return self.context.box.project(np.array(chosen))

    def _in_turns(self, model: Model) -> NDArray[np.intp]:
        """Optima that are seen: the one about which most is known, the best one, the next of both kinds, and so on."""
        sure = np.argsort(model.deviation(self.seen[0]), kind="stable") if len(self.seen[0]) else np.zeros(0, np.intp)
        both = np.stack([sure, np.arange(len(sure))], axis=1).ravel()
        return both[np.sort(np.unique(both, return_index=True)[1])]

    def _refined(self, optima: Optima) -> list[Array]:
        """The optimum that is located least accurately, if any is less so than wanted."""
        apart = self.known.nearest(optima.points)[1]
        worst = int(np.argmax(apart)) if len(apart) else -1
        return [optima.points[worst]] if worst >= 0 and apart[worst] > self.context.xtol else []

    @property
    def _is_late(self) -> bool:
        """Whether what is left should go to what was seen."""
        return self.context.left < TUNING.kept * self.context.maxfev

    def _explored(self, model: Model, chosen: list[Array]) -> list[Array]:
        """The optimum of a random function about which least is known, if there is one that is new."""
        box, rng = self.context.box, self.context.rng
        starts = rng.random((TUNING.starts * (1 + box.d), box.d))
        found = optima_of(Sample.draw(model, rng), box, starts, rng)
        self.others = [*self.others, max(0, len(found.points) - len(self.context.archive))][-TUNING.remembered :]
        if self.context.is_global and len(found.points):
            found = found.of(found.values == found.values.max())
        points = found.points[self._apart(found.points, chosen) > TUNING.apart]
        return [points[int(np.argmax(model.deviation(points)))]] if len(points) else []

    def _apart(self, points: Array, chosen: list[Array]) -> Array:
        """How far points (n, d) are from all known or chosen ones, (n,)."""
        apart = self.known.nearest(points)[1]
        for other in chosen:
            apart = np.minimum(apart, np.abs(self.context.box.difference(points, other)).max(axis=1))
        return apart

    # ---- verifying

    def _begin_trials(self, model: Model, optima: Optima, is_located: NDArray[np.bool_]) -> list[Trial]:
        """Verifications of the best modes that have none yet, once they would take what is left."""
        context, archive = self.context, self.context.archive
        waiting = [j for j, record in enumerate(archive.records) if record.kind == "unverified"]
        each = context.box.d + 1
        most = min(context.left, max(self.width, each)) // each  # those that a round takes, and the budget
        wanted = min(len(waiting) * each, int(TUNING.kept * context.maxfev))
        is_due = context.left - self.width < wanted  # after another round it would be too late
        is_quiet = self.ends and not len(self.seen[0]) and context.nfev - self.last_new > TUNING.barren
        if not (waiting and most and (is_due or is_quiet)):
            return []
        rows, made = np.flatnonzero(is_located), []
        waiting.sort(key=lambda j: -archive.values[j])
        fall, longest = TUNING.drop * model.size, 2.0 * TUNING.shortest
        if self._is_noisy:
            fall, longest = max(fall, TUNING.above * math.sqrt(model.roughness) * model.size), TUNING.longest
        for j in waiting[:most]:
            i, centre = rows[j], archive.means[j]
            points = around(
                context.box,
                centre,
                optima.gradients[i],
                optima.hessians[i],
                optima.active[i],
                fall,
                longest,
                context.rng,
            )
            level = model.expected(np.concatenate([centre[None], points]))[0]
            made.append(Trial(centre.copy(), points, level[0] - level[1:]))
        return made

    def _hear(self, values: Array) -> None:
        """The outcome of the verifications in flight."""
        first, archive = 0, self.context.archive
        for trial in self.trials:
            part = values[first : first + len(trial.points)]
            first += len(part)
            level = self.known.evened(archive.values[archive.closest(trial.centre)[0]])
            falls = level - self.known.evened(part)
            if trial.is_passed(falls):
                self.verified = np.concatenate([self.verified, trial.centre[None]])
        self.trials = []
