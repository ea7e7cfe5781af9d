"""One annealing run: a mixture that cools from the scale of the function to a temperature at which it has settled."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
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
from allmodes.search.geometry import clip
from allmodes.search.searcher import Request
from allmodes.search.searchers.annealing.parts import Bounded, draw_noise, start
from allmodes.search.searchers.annealing.repulsion import log_share
from allmodes.search.searchers.annealing.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]

_LARGEST = 1e50  # scaled values and derivatives are cut here, so that their squares are finite


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
    """A mixture being annealed, of components that start at `means` (K, d).

    Attributes:
        number: of the run, for the record.
        repels: whether archived modes repel the components.
        scale: scaled values are (l - level) / scale, so that the temperature begins at 1.
        lowest: the lowest scaled value so far.
        proposed: points that were asked for and are not told yet.
        heights: mean value of every component, (K,).
    """

    context: Context
    algorithm: Algorithm
    number: int
    steps: int
    means: InitVar[Array]
    repels: bool
    mixture: Mixture = field(init=False)
    level: float = field(init=False)
    scale: float = field(init=False)
    step: int = 0
    lowest: float = 0.0
    proposed: Proposed | None = None
    heights: Array = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self, means: Array) -> None:
        self.mixture = Mixture(np.zeros(len(means)), start(self.algorithm, means))
        self.level, self.scale = self.context.level, _scale_of(self.context)
        self._keep_frame(self.temperature)

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
        return self._omega * self.scale

    def ask(self) -> Request:
        """The points of the next step."""
        if self.proposed is None:
            context, K = self.context, len(self.mixture.log_ratios)
            noise = draw_noise(context.rng, self.algorithm, K, context.box.d)
            self.proposed = ask(self.algorithm, self.mixture, noise)
        return Request(self.context.box.project(self.proposed.points), self.algorithm.needs)

    def tell(self, evaluation: Evaluation) -> None:
        """One step of the engine."""
        algorithm, proposed, temperature = self.algorithm, self.proposed, self.temperature
        assert proposed is not None
        self.proposed = None
        scaled, settings = self._scaled(proposed.points, evaluation), self._settings
        self.lowest = min(self.lowest, float(scaled.value[np.isfinite(evaluation.value)].min(initial=0.0)))
        bounded = algorithm.with_parts(estimator=Bounded(algorithm.estimator, settings.rates.mean))
        with np.errstate(all="ignore"):
            mixture, info = tell(bounded, self.mixture, proposed, scaled, self._known_share(proposed.points), settings)
        components = mixture.components
        if isinstance(algorithm.family, Gaussian):
            components = components._replace(mu=self.context.box.project(components.mu))
        self.mixture, self.heights = Mixture(np.nan_to_num(mixture.log_ratios), components), info.mean_value
        self.step += 1
        self._keep_frame(temperature)

    def _scaled(self, drawn: Array, evaluation: Evaluation) -> Evaluation:
        """The function at the points drawn (N, d), from what is known at their projections on the box.

        Outside it is the value on the boundary less a quadratic penalty. Failures rank one scale below the lowest
        scaled value; their derivatives are taken as 0.
        """
        outside = drawn - clip(self.context.box, drawn)
        is_inside = outside == 0.0
        values, gradient, hessian = evaluation
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.clip((values - self.level) / self.scale, -_LARGEST, _LARGEST)
            scaled = np.where(np.isfinite(values), scaled, self.lowest - 1.0)
            scaled -= TUNING.penalty * np.einsum("nd,nd->n", outside, outside)
            if gradient is not None:
                gradient = _finite(gradient / self.scale) * is_inside - 2.0 * TUNING.penalty * outside
            if hessian is not None:
                hessian = _finite(hessian / self.scale) * (is_inside[:, :, None] & is_inside[:, None, :])
                np.einsum("nii->ni", hessian)[...] -= 2.0 * TUNING.penalty * ~is_inside
        return Evaluation(scaled, gradient, hessian)

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

    def _keep_frame(self, temperature: float) -> None:
        """Keep it for those who look at the run afterwards."""
        context = self.context
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
        return Ends(points[~is_shared], covariances[~is_shared], TUNING.end * self.scale)


def _scale_of(context: Context) -> float:
    """The interquartile range over the box; the range where that is 0, and 1 where all values are equal."""
    with np.errstate(over="ignore"):
        widths = context.scale, float(np.ptp(context.sampled))
    return next((width for width in widths if 0.0 < width < np.inf), 1.0)


def _finite(derivatives: Array) -> Array:
    return np.clip(np.nan_to_num(derivatives, nan=0.0, posinf=_LARGEST, neginf=-_LARGEST), -_LARGEST, _LARGEST)
