"""One annealing run: a mixture from the scale of the function down to a temperature at which it has settled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.nva.annealing.algorithm import Algorithm
from allmodes.nva.annealing.proposals import Proposed
from allmodes.nva.engine.step import Settings, ask, tell
from allmodes.nva.mixture import Mixture
from allmodes.nva.mixture.families import Gaussian
from allmodes.nva.mixture.families.family import Rates
from allmodes.objective import Evaluation
from allmodes.search.context import Context
from allmodes.search.searcher import Request
from allmodes.search.searchers.annealing.parts import Bounded, draw_noise, start
from allmodes.search.searchers.annealing.repulsion import log_share
from allmodes.search.searchers.annealing.scaled_objective import ScaledObjective
from allmodes.search.searchers.annealing.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]


@stored
class Ends(NamedTuple):
    """Where the components of a run ended, best first; of those that share a basin the best.

    Attributes:
        points: means (n, d), inside the box.
        covariances: (n, d, d).
        temperature: the last one, in units of the function.
    """

    points: Array
    covariances: Array
    temperature: float


@stored
@dataclass
class Run:
    """A mixture on its way.

    Attributes:
        number: of the run, for the record.
        repels: whether archived modes repel the components.
        objective: what is annealed, and `lowest`, its lowest scaled value so far.
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
    step: int = 0
    lowest: float = 0.0
    proposed: Proposed | None = None
    heights: Array = field(default_factory=lambda: np.zeros(0))

    @staticmethod
    def begin(context: Context, algorithm: Algorithm, number: int, steps: int, means: Array, repels: bool) -> Run:
        """A run of components that start at these means (K, d)."""
        objective = ScaledObjective.of(context)
        mixture = Mixture(np.zeros(len(means)), start(algorithm, means))
        run = Run(context, algorithm, number, steps, repels, mixture, objective)
        run._keep_frame(1.0)
        return run

    @property
    def is_over(self) -> bool:
        return self.step == self.steps

    @property
    def _omega(self) -> float:
        """The temperature of the next step, as a share of the first: geometric from 1 to the end."""
        share = self.step / max(1, self.steps - 1) if self.algorithm.is_annealed else 1.0
        return float(TUNING.end**share)

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
        omega, settings = self._omega, self._settings
        bounded = algorithm.with_parts(estimator=Bounded(algorithm.estimator, settings.rates.mean))
        with np.errstate(all="ignore"):
            mixture, info = tell(bounded, self.mixture, proposed, scaled, self._known_share(proposed.points), settings)
        mixture = Mixture(np.nan_to_num(mixture.log_ratios), mixture.components)
        if isinstance(algorithm.family, Gaussian):
            components = mixture.components
            mixture = mixture._replace(components=components._replace(mu=box.project(components.mu)))
        self.mixture, self.heights = mixture, info.mean_value
        self.step += 1
        self._keep_frame(omega)

    @property
    def _settings(self) -> Settings:
        """The numbers of the next step: rho = gain / omega, which `Bounded` shortens where it must.

        The covariance of a settled component loses the share rho omega of its error in one step.
        """
        algorithm, omega = self.algorithm, self._omega
        rho, is_moving = TUNING.gain / omega, self.step >= algorithm.burn_in
        damping = algorithm.damping if algorithm.damping and is_moving else None
        return Settings(omega, Rates(rho, rho if is_moving else 0.0, damping))

    def _known_share(self, points: Array) -> Evaluation | None:
        """What makes archived modes repel components, as a log-prior; None without any."""
        archive, algorithm = self.context.archive, self.algorithm
        if not self.repels or not len(archive):
            return None
        return log_share(algorithm.family, self.mixture, archive, self.temperature, points, algorithm.needs)

    def _keep_frame(self, omega: float) -> None:
        """For those who look at it afterwards."""
        context, temperature = self.context, omega * self.objective.scale
        context.frames.see(self.number, self.step, context.nfev, temperature, self.algorithm.family, self.mixture)

    @property
    def ends(self) -> Ends:
        """Where the components are."""
        family, box, components = self.algorithm.family, self.context.box, self.mixture.components
        order = np.argsort(-self.heights, kind="stable")  # NaN last
        points, covariances = box.project(family.means(components))[order], family.covariances(components)[order]
        apart = box.difference(points[None], points[:, None])
        squared = np.einsum("ijd,ijd->ij", apart, np.linalg.solve(covariances, apart.mT).mT)
        is_shared = np.tril(np.maximum(squared, squared.T) < TUNING.shared**2, -1).any(axis=1)
        return Ends(points[~is_shared], covariances[~is_shared], TUNING.end * self.objective.scale)
