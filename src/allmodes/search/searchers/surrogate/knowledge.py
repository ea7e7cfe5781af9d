"""What was evaluated, and what a model learns from it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.objective.bounds import Box
from allmodes.search.searchers.surrogate.model import Fitted, Model, evened, fit, likelihood
from allmodes.search.searchers.surrogate.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]

_BENDS = (1.0, 8.0, 64.0)  # divisors of the upper quartile of the gaps: a wide range, of which the likeliest is taken


@stored
@dataclass
class Knowledge:
    """Points and values, to be maximised; a failure counts as bad as the worst value.

    Attributes:
        box: the domain.
        points, told: (n, d) and (n,), as they were evaluated; failures are -inf.
        fitted: what was learnt, from so many values (`fitted_at`).
    """

    box: Box
    points: Array = field(init=False)
    told: Array = field(init=False)
    fitted: Fitted = field(init=False)
    fitted_at: int = 0

    def __post_init__(self) -> None:
        d = self.box.d
        self.points, self.told = np.zeros((0, d)), np.zeros(0)
        self.fitted = Fitted(np.full(d, TUNING.usual_length * np.sqrt(d)), 1e-6, np.inf)

    def __len__(self) -> int:
        return len(self.told)

    def add(self, points: Array, values: Array) -> None:
        """Add points; one that is known already says nothing new."""
        for point, value in zip(points, values, strict=True):
            if not len(self) or self.nearest(point[None])[1][0] > 0.0:
                self.points, self.told = np.concatenate([self.points, point[None]]), np.append(self.told, value)

    def is_enough(self, fewest: int) -> bool:
        """Whether a model can be made of it."""
        return len(self) >= fewest and int(np.isfinite(self.told).sum()) >= 2

    @property
    def values(self) -> Array:
        """The values (n,), with finite ones in place of failures."""
        is_finite = np.isfinite(self.told)
        return np.where(is_finite, self.told, self.told[is_finite].min(initial=np.inf))

    def nearest(self, points: Array) -> tuple[NDArray[np.intp], Array]:
        """The numbers of the closest points known (m,), and how far off they are in their worst coordinate."""
        apart = np.abs(self.box.difference(points[:, None], self.points)).max(axis=2, initial=0.0)
        return apart.argmin(axis=1), apart.min(axis=1)

    def best_near(self, points: Array, reach: float) -> tuple[NDArray[np.intp], Array]:
        """The numbers of the best points known within reach of others (m,), and how far off; inf where none is."""
        apart = np.abs(self.box.difference(points[:, None], self.points)).max(axis=2, initial=0.0)
        values = np.where((apart <= reach) & np.isfinite(self.told), self.told, -np.inf)
        best = values.argmax(axis=1)
        rows = np.arange(len(points))
        return best, np.where(np.isfinite(values[rows, best]), apart[rows, best], np.inf)

    # ---- even values

    @property
    def even(self) -> Array:
        """What is modelled (n,): values, with differences of bad ones made small."""
        return evened(self.values, self.fitted.bend, float(self.values.max()))

    def evened(self, values: Array) -> Array:
        """The same for other values (m,)."""
        return evened(values, self.fitted.bend, float(self.values.max()))

    def uneven(self, even: float) -> float:
        """The value that has this even value."""
        gap = -even if np.isinf(self.fitted.bend) else self.fitted.bend * np.expm1(-even / self.fitted.bend)
        return float(self.values.max() - gap)

    def steepness(self, value: float) -> float:
        """How much faster values change than even ones do, at a value."""
        gap = float(self.values.max()) - value
        return 1.0 if np.isinf(self.fitted.bend) else 1.0 + gap / self.fitted.bend

    # ---- the model

    def model(self, is_noisy: bool = False) -> Model:
        """The model of what is known by now; what it learns is kept until there is a tenth more."""
        is_periodic = np.zeros(self.box.d, np.bool_)
        is_periodic[self.box.periodic_unit] = True
        values = self.values
        if len(self) >= TUNING.relearnt * self.fitted_at:
            gap = float(np.quantile(values.max() - values, 0.75)) or 1.0
            roughest = 1.0 if is_noisy else TUNING.roughest
            begun = [self.fitted._replace(bend=bend) for bend in (np.inf, *(gap / part for part in _BENDS))]
            tried = [fit(self.points, values, each, is_periodic, roughest) for each in begun]
            losses = [likelihood(self.points, values, each, is_periodic) for each in tried]
            self.fitted, self.fitted_at = tried[int(np.argmin(losses))], len(self)
        return Model.of(self.points, self.even, self.fitted, is_periodic)
