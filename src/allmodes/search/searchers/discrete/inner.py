"""A local search of real coordinates for fixed levels of the others: quasi-Newton steps from differences, and polls."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allmodes.search.searchers.discrete.tuning import TUNING
from allmodes.storage import stored

Array = NDArray[np.float64]

_RISE = 1e-4  # of what the slope promises: a step that gains less is too long
_SHORTER = 0.1, 0.5  # of a step that was too long, at least and at most
_MOST_CUTS = 7  # of one step
_KINK = 3.0  # times: curvature over short steps beyond that over ten times longer ones is a kink
_LONGER = 1.5  # steps of a poll after a good one, and once more those in its direction, at equal volume
_AGAIN = 1e-6  # of the whole rise: a poll that gained more is followed by another
_LEAST_CURVATURE = 1e-8  # of the largest: a smaller difference says nothing


@stored
@dataclass(eq=False)
class Inner:
    """Climbs in a box of real coordinates; all points are inside it.

    Args:
        x: (r,), where it begins; value: there, NaN if it is not known.
        lower, upper: (r,).
        xtol: wanted accuracy of x.
        goal: the search is given up if this value seems out of reach, and ends as soon as it is passed.

    Attributes:
        phase: "value", "slopes", "line", "check" (at the end, for kinks), "poll", "done".
        gradient: by central differences, once `steps` of them were made.
        inverse: (r, r), of minus the Hessian, learnt.
        basis, shape: (r, r), directions of a poll, rows, and what they are multiplied by: longer where that was good.
        first, polled: values where it began, and where the poll did; `at_failure`, when a poll last found nothing, and
            `dull`, how often in a row little was gained until then.
        is_kinked: whether it ended by polling, where slopes lead nowhere.
    """

    x: Array
    lower: Array
    upper: Array
    xtol: float
    value: float = np.nan
    goal: float = np.inf
    phase: str = "value"
    gradient: Array = field(default_factory=lambda: np.zeros(0))
    curvature: Array = field(default_factory=lambda: np.zeros(0))
    inverse: Array = field(default_factory=lambda: np.zeros((0, 0)))
    last: tuple[Array, Array] | None = None
    direction: Array = field(default_factory=lambda: np.zeros(0))
    share: float = 1.0
    cuts: int = 0
    steps: int = 0
    poll: float = TUNING.poll
    asked: Array = field(default_factory=lambda: np.zeros((0, 0)))
    basis: Array = field(default_factory=lambda: np.zeros((0, 0)))
    shape: Array = field(default_factory=lambda: np.zeros((0, 0)))
    first: float = np.nan
    polled: float = np.nan
    at_failure: float = -np.inf
    dull: int = 0
    is_reset: bool = True
    is_kinked: bool = False

    def __post_init__(self) -> None:
        self.first = self.value
        if self.phase == "value" and np.isfinite(self.value):
            self.phase = "slopes"

    @property
    def is_over(self) -> bool:
        return self.phase == "done"

    @property
    def held(self) -> NDArray[np.bool_]:
        """Coordinates at a bound that the slope holds there."""
        if not self.gradient.size:
            return np.zeros(len(self.x), np.bool_)
        below, above = self.x <= self.lower, self.x >= self.upper
        return (below & (self.gradient < 0.0)) | (above & (self.gradient > 0.0))

    def ask(self, rng: np.random.Generator) -> Array:
        """Points (n, r)."""
        r = len(self.x)
        if self.phase == "value":
            self.asked = self.x[None]
        elif self.phase == "slopes":
            self.asked = self._clipped(self.x + TUNING.difference * np.concatenate([np.eye(r), -np.eye(r)]))
        elif self.phase == "check":
            self.asked = self._clipped(self.x + TUNING.bend * np.concatenate([np.eye(r), -np.eye(r)]))
        elif self.phase == "line":
            self.asked = self._clipped(self.x + self.share * self.direction)[None]
        else:
            self.basis = np.linalg.qr(rng.standard_normal((r, r)))[0]
            steps = self.poll * self.basis @ self.shape
            self.asked = self._clipped(self.x + np.concatenate([steps, -steps]))
        return self.asked

    def stand(self, x: Array) -> None:
        """It has come to rest at x: where periodic coordinates have been wrapped."""
        self.x = x

    def rise(self, value: float) -> None:
        """Its place was given up for one with this value, at other levels."""
        self.value = value

    def tell(self, values: Array, error: float) -> None:
        """Values at the points last asked for, which may be off by rounding."""
        if self.phase == "value":
            self.first = self.value = float(values[0])
            self.phase = "slopes" if np.isfinite(self.value) else "done"
        elif self.phase == "slopes":
            self._differences(values)
            self._learn()
            self._turn(error)
        elif self.phase == "check":
            self._check(values, error)
        elif self.phase == "line":
            self._judge(float(values[0]), error)
        else:
            self._polled(values, error)
        if self.value > self.goal or self.steps > TUNING.most_steps * len(self.x):
            self.phase = "done"

    def _clipped(self, points: Array) -> Array:
        return np.clip(points, self.lower, self.upper)

    def _check(self, values: Array, error: float) -> None:
        """Differences over longer steps: at a kink they do not show the curvature that short ones did."""
        gradient, curvature = self.gradient, self.curvature
        self._differences(values)
        is_kink = (curvature < _KINK * self.curvature) & (curvature * TUNING.difference**2 < -4.0 * error)
        self.gradient, self.curvature = gradient, curvature
        if (is_kink & ~self.held).any() or values.max() > self.value + error:
            self._to_poll()
        else:
            self.phase = "done"

    def _differences(self, values: Array) -> None:
        r = len(self.x)
        sides = self.asked.reshape(2, r, r)[:, range(r), range(r)] - self.x  # (2, r), signed steps
        rises = np.where(np.isfinite(values.reshape(2, r)), values.reshape(2, r) - self.value, 0.0)
        rises[~np.isfinite(values.reshape(2, r))] = 0.0
        sides = np.where(np.isfinite(values.reshape(2, r)), sides, 0.0)
        width = sides[0] - sides[1]
        slopes = np.divide(rises, sides, out=np.zeros_like(rises), where=sides != 0.0)
        has_both = (sides != 0.0).all(axis=0)
        bend = np.divide(2.0 * (slopes[0] - slopes[1]), width, out=np.zeros(r), where=has_both)
        central = slopes[0] - 0.5 * bend * sides[0]
        self.gradient = np.where(has_both, central, slopes[0] + slopes[1])
        self.curvature = np.where(has_both, bend, 0.0)

    def _learn(self) -> None:
        """Update the inverse by the change of the slopes over the last step (BFGS), or begin with the curvatures."""
        if self.last is None:
            self._reset()
            return
        s, y = self.x - self.last[0], self.last[1] - self.gradient
        product = float(s @ y)
        if product > 1e-10 * float(np.linalg.norm(s) * np.linalg.norm(y)) and product > 0.0:
            E = np.eye(len(s)) - np.outer(s, y) / product
            self.inverse = E @ self.inverse @ E.T + np.outer(s, s) / product
            self.is_reset = False

    def _reset(self) -> None:
        size = max(float(np.abs(self.curvature).max(initial=0.0)), 1e-300)
        steep = float(np.abs(self.gradient).max(initial=0.0)) / TUNING.first_step
        least = max(_LEAST_CURVATURE * size, 1e-300)
        self.inverse = np.diag(1.0 / np.where(self.curvature < -least, -self.curvature, max(steep, least)))
        self.is_reset = True

    def _turn(self, error: float) -> None:
        """Choose the next step; it is over where that is short or promises nothing."""
        free = ~self.held
        step = np.zeros(len(self.x))
        step[free] = self.inverse[np.ix_(free, free)] @ self.gradient[free]
        if self.gradient @ step <= 0.0 and free.any():
            self._reset()
            step[free] = self.inverse[np.ix_(free, free)] @ self.gradient[free]
        gain, length = 0.5 * float(self.gradient @ step), float(np.abs(step).max(initial=0.0))
        missing = self.goal - self.value
        is_hopeless = np.isfinite(missing) and self.steps >= TUNING.least_steps and TUNING.hopeless * gain < missing
        if length < 0.1 * self.xtol or gain <= 0.1 * error or is_hopeless:
            self.phase = "done" if is_hopeless else "check"
            return
        self.direction = step * min(1.0, TUNING.longest / length)
        self.phase, self.share, self.cuts = "line", 1.0, 0

    def _judge(self, value: float, error: float) -> None:
        moved = self.asked[0] - self.x
        promised = float(self.gradient @ moved)
        if value > self.value + _RISE * max(promised, 0.0):
            self.last = self.x, self.gradient
            self.x, self.value, self.phase = self.asked[0].copy(), value, "slopes"
            self.steps += 1
            return
        self.cuts += 1
        fall = value - self.value - promised
        best = -0.5 * promised / fall if np.isfinite(fall) and fall < 0.0 else _SHORTER[0]
        self.share *= float(np.clip(best, *_SHORTER))
        if self.cuts < _MOST_CUTS and self.share * float(np.abs(self.direction).max()) > 0.01 * self.xtol:
            return
        self._to_poll()

    def _to_poll(self) -> None:
        """Slopes lead nowhere: poll with steps as long in each direction as the model says, which knows valleys."""
        sizes, axes = np.linalg.eigh(self.inverse)
        widths = np.sqrt(np.maximum(sizes, _LEAST_CURVATURE * max(float(sizes.max(initial=0.0)), 1e-300)))
        self._begin_poll((widths / np.exp(np.log(widths).mean()))[:, None] * axes.T)
        self.is_kinked = True

    def _begin_poll(self, shape: Array) -> None:
        self.phase, self.shape, self.polled = "poll", shape, self.value
        self.poll = min(TUNING.poll, TUNING.longest / float(np.abs(shape).max()))

    def _polled(self, values: Array, error: float) -> None:
        best, r = int(values.argmax()), len(self.x)
        if values[best] > self.value + error:
            self.x, self.value = self.asked[best].copy(), float(values[best])
            along = self.basis[best % r]  # the floor of a valley is long: steps become longer where that was good
            self.shape = _LONGER ** (-1.0 / r) * (np.eye(r) + (_LONGER - 1.0) * np.outer(along, along)) @ self.shape
            self.poll = min(_LONGER * self.poll, TUNING.longest / float(np.abs(self.shape).max()))
            self.steps += 1
        else:
            self.poll *= 0.5
            missing, risen = self.goal - self.value, self.value - self.at_failure
            self.dull = self.dull + 1 if TUNING.hopeless * risen < missing else 0
            self.at_failure = self.value
            is_short = self.poll * float(np.abs(self.shape).max()) < TUNING.rough
            if np.isfinite(missing) and is_short and self.dull >= TUNING.least_steps:
                self.phase = "done"
                return
        if self.poll * float(np.abs(self.shape).max()) >= 0.1 * self.xtol:
            return
        if self.value > self.polled + _AGAIN * abs(self.first - self.value):
            self._begin_poll(np.eye(r))  # what was learnt on the way may be wrong here
        else:
            self.phase = "done"
