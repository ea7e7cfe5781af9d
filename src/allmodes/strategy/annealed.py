"""The paper's annealing with nothing to tune: runs of a mixture from the spread of the function down, again and again.

One run anneals K components; where their means end are candidates. The next run has more components if this one found
much that was new, and starts away from what is known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import leaves, map_leaves
from allmodes.checks import instance, whole_number
from allmodes.nva.annealing.algorithm import Algorithm
from allmodes.nva.annealing.proposals import PerComponent, Proposed
from allmodes.nva.engine.step import ask, tell
from allmodes.nva.mixture import Mixture
from allmodes.nva.mixture.families import Gaussian
from allmodes.objective import Evaluation
from allmodes.storage import stored
from allmodes.strategy.optimality import counted
from allmodes.strategy.search import Search
from allmodes.strategy.starts import Sobol
from allmodes.strategy.strategy import Request, Strategy
from allmodes.strategy.temperature import Bounded, Spread, choose, end_temperature, relief, settings, start, temperature

_MOST_COMPONENTS = 64
_RUN_SHARE = 0.8  # of the evaluations there are, for annealing; the rest is for polishing
_FEWEST_STEPS = 8  # a shorter run anneals nothing
_EVEN = 32  # evenly spread points, at least, that tell the spread of the function
_EVEN_PER_DIMENSION = 8
_EVEN_SHARE = 4  # they are at most one in so many of the evaluations there are
_FAILED_ROUNDS = 4  # rounds of evenly spread points without a single value before the search gives up
_POOL = 4  # points drawn for every start, of which the ones away from modes are taken
_SHARED = 2.0  # standard deviations between the means of components that are taken to share a basin
_RARE = 0.02  # chance of something new at which a search ends
_PATIENCE = 40  # launches without anything new before a search ends, at least
_RUGGED = 0.9  # chance of something new from which on a landscape is called rugged
_RUGGED_AFTER = 16  # launches

Floats = NDArray[np.float64]


@stored
@dataclass
class Annealed(Strategy):
    """Annealing runs, one after the other.

    Args:
        search: what all ways of searching share.
        algorithm: what to anneal with; chosen by the derivatives there are if left out.
        num_components, steps: of the first run, and of every run; the algorithm's own if left out.
        patience: launches (components that ended) without anything new before the search ends.

    Attributes:
        candidates: unit points (d,) where components ended, for others to polish and to archive. They should be
            settled when the next run begins, for it is planned by what is in the archive then.
    """

    search: Search
    algorithm: Algorithm | None = None
    num_components: int | None = None
    steps: int | None = None
    patience: int = _PATIENCE
    candidates: list[Floats] = field(default_factory=list)
    running: Algorithm = field(init=False)
    spread: Spread = field(default_factory=lambda: Spread(0.0, 1.0))
    mixture: Mixture | None = None
    proposed: Proposed | None = None
    heights: Floats = field(default_factory=lambda: np.zeros(0))
    lowest: float = 0.0
    end: float = 1.0
    step: int = 0
    last_step: int = 0
    sobol: Sobol = field(init=False)
    even: Floats = field(init=False)
    even_values: Floats = field(default_factory=lambda: np.zeros(0))
    asked: Floats | None = None
    failed_rounds: int = 0
    K: int = 0
    runs: int = 0
    is_judged: bool = True
    known: int = 0
    best: float = -np.inf
    since_new: int = 0
    is_rugged: bool = False
    ends: Floats = field(init=False)
    reason: str = ""

    def __post_init__(self) -> None:
        d = self.search.box.d
        if self.algorithm is not None:
            instance("algorithm", self.algorithm, Algorithm, "Write presets.nva_gm(order=2), presets.fs_nva_gm(), ...")
        self.running, first, steps = choose(self.algorithm, self.search.order, d)
        self.K = first if self.num_components is None else whole_number("num_components", self.num_components, 1)
        self.steps = steps if self.steps is None else whole_number("steps", self.steps, 1)
        self.sobol = Sobol(d, int(self.search.rng.integers(2**31)))
        self.even, self.ends = np.zeros((0, d)), np.zeros((0, d))

    # ---- the protocol

    def ask(self) -> Request:
        nothing = Request(np.zeros((0, self.search.box.d)))
        if self.asked is not None:
            return Request(self.asked)
        if self.mixture is None:
            self._judge()
            if self.reason:
                return nothing
            if not len(self.search.levels):
                self.asked = self._draw(self._even_points())
                return Request(self.asked)
            self._begin()
            if self.mixture is None:
                return nothing
        if self.proposed is None:
            self.proposed = ask(self.running, self.mixture, self._noise(self.mixture))
        return Request(self.search.box.project(self.proposed.points), self.running.needs)

    def tell(self, evaluation: Evaluation, ticket: int = 0) -> None:
        if self.asked is not None:
            self._tell_even(self.asked, np.asarray(evaluation.value))
        elif self.mixture is not None and self.proposed is not None:
            self._advance(self.mixture, self.proposed, evaluation)

    def add_points(self, points: Floats, values: Floats) -> None:
        """Points that were evaluated by others: the first run may start there."""
        self.even, self.even_values = np.concatenate([self.even, points]), np.append(self.even_values, values)

    @property
    def ending(self) -> str:
        return self.reason

    @property
    def account(self) -> str:
        """What was done and why."""
        switch = "; the landscape is rugged, so values alone were used in the end" if self.is_rugged else ""
        return f"{self.running.name}, annealed {self.runs} times, at last with {self.K} components{switch}"

    # ---- the spread of the function

    def _even_points(self) -> int:
        """A power of two, for Sobol points are even in these numbers."""
        wanted = max(_EVEN, _EVEN_PER_DIMENSION * self.search.box.d)
        allowed = max(1, (self.search.maxfev - self.search.nfev) // _EVEN_SHARE)
        return 1 << (min(wanted, allowed).bit_length() - 1)

    def _draw(self, count: int) -> Floats:
        return np.stack([self.sobol.next() for _ in range(count)])

    def _tell_even(self, points: Floats, values: Floats) -> None:
        self.asked = None
        self.search.add_levels(values)
        self.add_points(points, values)
        self.failed_rounds += not np.isfinite(values).any()
        if self.failed_rounds >= _FAILED_ROUNDS:
            self.reason = f"the function failed at all of {len(self.even)} evenly spread points"

    # ---- a run

    def _begin(self) -> None:
        """A new mixture, as large as the budget allows."""
        search, B = self.search, self.running.num_samples
        left = int(_RUN_SHARE * (search.maxfev - search.nfev))
        points = self.running.proposal.num_points
        assert self.steps is not None
        K, steps = self.K, self.steps
        while K > 1 and points(K, B) * steps > left:
            K //= 2
        steps = min(steps, left // points(K, B))
        if steps < min(_FEWEST_STEPS, self.steps):
            self.reason = "what is left of the budget is too little for another annealing run"
            return
        self.spread = Spread.of(search)
        self.end = end_temperature(search.archive, self.spread)
        self.step, self.last_step = 0, steps
        self.known, self.best = len(counted(search)), search.archive.best
        self.mixture = Mixture(np.zeros(K), start(self.running, self._starts(K)))
        self.lowest = 0.0
        self._keep_frame(self.mixture, 1.0)

    def _starts(self, K: int) -> Floats:
        """K points far from the known modes and from each other; in the first run among the better half."""
        box, known = self.search.box, self.search.archive.means[counted(self.search)]
        if self.runs == 0 and len(self.even) >= K:
            order = np.argsort(-self.even_values, kind="stable")
            pool = self.even[order[: max(K, len(order) // 2)]]
        else:
            pool = self._draw(_POOL * K)
        apart = box.difference(pool[:, None], known[None] if len(known) else pool[None, :1])
        nearest = np.einsum("njd,njd->nj", apart, apart).min(axis=1)
        if not len(known):
            nearest[0] = np.inf  # the best point, or any, comes first
        chosen = np.zeros(K, np.intp)
        for k in range(K):  # each start depends on those before it
            chosen[k] = nearest.argmax()
            apart = box.difference(pool, pool[chosen[k]])
            nearest = np.minimum(nearest, np.einsum("nd,nd->n", apart, apart))
        return pool[chosen]

    def _noise(self, mixture: Mixture) -> Any:
        """Noise of one step; in pairs z, -z for Gaussian components, which takes odd errors away."""
        algorithm, rng, d = self.running, self.search.rng, self.search.box.d
        K, B = len(mixture.log_ratios), algorithm.num_samples
        is_paired = isinstance(algorithm.family, Gaussian) and isinstance(algorithm.proposal, PerComponent)
        if not is_paired or B % 2:
            return algorithm.proposal.noise(rng, algorithm.family, K, B, d)
        half = algorithm.proposal.noise(rng, algorithm.family, K, B // 2, d)
        return np.concatenate([half, -half], axis=1)

    def _advance(self, mixture: Mixture, proposed: Proposed, evaluation: Evaluation) -> None:
        """One step of the engine."""
        algorithm, box = self.running, self.search.box
        self.proposed = None
        scaled = relief(box, proposed.points, evaluation, self.spread, self.lowest)
        self.lowest = min(self.lowest, float(scaled.value[np.isfinite(evaluation.value)].min(initial=0.0)))
        share = temperature(self.step, self.last_step, self.end) if algorithm.is_annealed else self.end
        numbers = settings(algorithm, self.step, share)
        bounded = algorithm.with_parts(estimator=Bounded(algorithm.estimator, numbers.rates.mean))
        with np.errstate(all="ignore"):  # what overflows here is redrawn
            new, info = tell(bounded, mixture, proposed, scaled, None, numbers)
        self.mixture, self.heights = self._mended(new), info.mean_value
        self.step += 1
        self._keep_frame(self.mixture, share)
        if self.step == self.last_step:
            self._finish(self.mixture)

    def _keep_frame(self, mixture: Mixture, share: float) -> None:
        """For those who look at it afterwards."""
        omega, search = share * self.spread.scale, self.search
        search.frames.see(self.runs, self.step, search.nfev, omega, self.running.family, mixture)

    def _mended(self, mixture: Mixture) -> Mixture:
        """The mixture with means inside the box, and components that are not finite drawn anew."""
        log_ratios, components = mixture
        K = len(log_ratios)
        is_good = np.isfinite(log_ratios)
        for leaf in leaves(components):
            is_good &= np.isfinite(leaf.reshape(K, -1)).all(axis=1)
        if not is_good.all():
            fresh = start(self.running, self._draw(K))
            log_ratios = np.where(is_good, log_ratios, 0.0)
            components = map_leaves(
                lambda old, new: np.where(is_good.reshape(-1, *(1,) * (old.ndim - 1)), old, new), components, fresh
            )
        if isinstance(self.running.family, Gaussian):
            components = components._replace(mu=self.search.box.project(components.mu))
        return Mixture(log_ratios, components)

    # ---- after a run

    def _finish(self, mixture: Mixture) -> None:
        """Hand over where the components ended, one for each basin."""
        family, box = self.running.family, self.search.box
        means = box.project(family.means(mixture.components))
        order = np.argsort(-self.heights, kind="stable")  # NaN last
        means, spreads = means[order], family.covariances(mixture.components)[order]
        apart = box.difference(means[None], means[:, None])
        whitened = np.einsum("ijd,ijd->ij", apart, np.linalg.solve(spreads, apart.mT).mT)
        is_shared = np.tril(np.maximum(whitened, whitened.T) < _SHARED**2, -1).any(axis=1)
        self.ends = np.concatenate([self.ends, means])
        self.candidates.extend(means[~is_shared])
        self.runs, self.mixture, self.is_judged = self.runs + 1, None, False

    def _judge(self) -> None:
        """What the last run was worth: more components, an end, or the next run with values alone."""
        if self.is_judged:
            return
        self.is_judged = True
        search, modes = self.search, counted(self.search)
        new = len(modes) - self.known
        is_new = new > 0 or search.archive.best > self.best + search.tie
        self.since_new = 0 if is_new else self.since_new + self.K
        if 2 * new >= self.K:
            self.K = min(2 * self.K, _MOST_COMPONENTS)
        hits = np.zeros(len(search.archive), np.int64)
        if len(hits):
            hits = np.bincount(search.archive.nearest(self.ends)[0], minlength=len(hits))
        launches = len(self.ends)
        missing = int((hits[modes] == 1).sum()) / launches
        if missing < _RARE and self.since_new >= max(self.patience, 2 * len(modes)):
            self.reason = f"the last {self.since_new} annealed components found no new mode"
        is_rough = launches >= _RUGGED_AFTER and (hits == 1).sum() > _RUGGED * launches
        if search.is_global and is_rough and not self.is_rugged and self.algorithm is None and search.order:
            self.is_rugged = True
            self.running, self.K, self.steps = choose(None, 0, search.box.d)
