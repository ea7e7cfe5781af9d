"""One annealing run: a mixture from the scale of the function down to a temperature at which it has settled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import leaves, map_leaves
from allmodes.nva.annealing.algorithm import Algorithm
from allmodes.nva.annealing.proposals import Proposed
from allmodes.nva.engine.step import ask, tell
from allmodes.nva.mixture import Mixture
from allmodes.nva.mixture.families import Gaussian
from allmodes.objective import Evaluation
from allmodes.search.context import Context
from allmodes.search.searcher import Request
from allmodes.search.searchers.annealing.parts import draw_noise, start
from allmodes.search.searchers.annealing.repulsion import log_share
from allmodes.search.searchers.annealing.scaled_objective import ScaledObjective
from allmodes.search.searchers.annealing.schedule import Bounded, end_temperature, settings, temperature
from allmodes.search.searchers.annealing.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]


@stored
class Ends(NamedTuple):
    """Where the components of a run ended, best first.

    Attributes:
        points: means (K, d), inside the box.
        covariances: (K, d, d).
        is_distinct: (K,), False for components that share the basin of a better one.
        temperature: the last one, in units of the function.
    """

    points: Array
    covariances: Array
    is_distinct: NDArray[np.bool_]
    temperature: float


@stored
@dataclass
class Run:
    """A mixture on its way.

    Attributes:
        number: of the run, for the record.
        repels: whether archived modes repel the components.
        objective: what is annealed, and `lowest`, its lowest scaled value so far.
        end: the last temperature, as a share of the first.
        proposed: points that were asked for and are not told yet.
        heights: mean value of every component, (K,).
    """

    context: Context
    algorithm: Algorithm
    number: int
    steps: int
    repels: bool
    mixture: Mixture
    objective: ScaledObjective
    end: float
    step: int = 0
    lowest: float = 0.0
    proposed: Proposed | None = None
    heights: Array = field(default_factory=lambda: np.zeros(0))

    @staticmethod
    def begin(context: Context, algorithm: Algorithm, number: int, steps: int, means: Array, repels: bool) -> Run:
        """A run of components that start at these means (K, d)."""
        objective = ScaledObjective.of(context)
        end = end_temperature(context.archive, objective.scale)
        mixture = Mixture(np.zeros(len(means)), start(algorithm, means))
        run = Run(context, algorithm, number, steps, repels, mixture, objective, end)
        run._keep_frame(1.0)
        return run

    @property
    def is_over(self) -> bool:
        return self.step == self.steps

    @property
    def _omega(self) -> float:
        """The temperature of the next step, as a share of the first."""
        return temperature(self.step, self.steps, self.end) if self.algorithm.is_annealed else self.end

    @property
    def temperature(self) -> float:
        """The same in units of the function."""
        return self._omega * self.objective.scale

    def ask(self) -> Request:
        """The points of the next step."""
        if self.proposed is None:
            context, K = self.context, len(self.mixture.log_ratios)
            noise = draw_noise(context.rng, self.algorithm, K, context.box.d)
            self.proposed = ask(self.algorithm, self.mixture, noise)
        return Request(self.context.box.project(self.proposed.points), self.algorithm.needs)

    def tell(self, evaluation: Evaluation) -> None:
        """One step of the engine."""
        algorithm, proposed, box = self.algorithm, self.proposed, self.context.box
        assert proposed is not None
        self.proposed = None
        scaled = self.objective.scaled(box, proposed.points, evaluation, self.lowest)
        self.lowest = min(self.lowest, float(scaled.value[np.isfinite(evaluation.value)].min(initial=0.0)))
        omega = self._omega
        numbers = settings(algorithm, self.step, omega)
        bounded = algorithm.with_parts(estimator=Bounded(algorithm.estimator, numbers.rates.mean))
        with np.errstate(all="ignore"):  # components that overflow here are drawn anew
            share = self._known_share(omega, proposed.points)
            mixture, info = tell(bounded, self.mixture, proposed, scaled, share, numbers)
        self.mixture, self.heights = self._repaired(mixture), info.mean_value
        self.step += 1
        self._keep_frame(omega)

    def _known_share(self, omega: float, points: Array) -> Evaluation | None:
        """What makes archived modes repel components, as a log-prior; None without any."""
        archive, algorithm = self.context.archive, self.algorithm
        if not self.repels or not len(archive):
            return None
        return log_share(algorithm.family, self.mixture, archive, omega * self.objective.scale, points, algorithm.needs)

    def _keep_frame(self, omega: float) -> None:
        """For those who look at it afterwards."""
        context = self.context
        family, temperature = self.algorithm.family, omega * self.objective.scale
        context.frames.see(self.number, self.step, context.nfev, temperature, family, self.mixture)

    def _repaired(self, mixture: Mixture) -> Mixture:
        """The mixture with means inside the box, and components that are not finite drawn anew."""
        log_ratios, components = mixture
        K, box = len(log_ratios), self.context.box
        is_good = np.isfinite(log_ratios)
        for leaf in leaves(components):
            is_good &= np.isfinite(leaf.reshape(K, -1)).all(axis=1)
        if not is_good.all():
            fresh = start(self.algorithm, self.context.rng.random((K, box.d)))
            log_ratios = np.where(is_good, log_ratios, 0.0)

            def choose(old: Any, new: Any) -> Any:
                return np.where(is_good.reshape(-1, *(1,) * (old.ndim - 1)), old, new)

            components = map_leaves(choose, components, fresh)
        if isinstance(self.algorithm.family, Gaussian):
            components = components._replace(mu=box.project(components.mu))
        return Mixture(log_ratios, components)

    @property
    def ends(self) -> Ends:
        """Where the components are."""
        family, box, components = self.algorithm.family, self.context.box, self.mixture.components
        order = np.argsort(-self.heights, kind="stable")  # NaN last
        points, covariances = box.project(family.means(components))[order], family.covariances(components)[order]
        apart = box.difference(points[None], points[:, None])
        squared = np.einsum("ijd,ijd->ij", apart, np.linalg.solve(covariances, apart.mT).mT)
        is_shared = np.tril(np.maximum(squared, squared.T) < TUNING.shared**2, -1).any(axis=1)
        return Ends(points, covariances, ~is_shared, self.end * self.objective.scale)
