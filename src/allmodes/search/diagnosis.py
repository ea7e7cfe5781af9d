"""A first look at the function: is it random, how coarse are its values, do its derivatives belong to it?

It looks at the user's values and coordinates, for its findings are told to the user. Its points come from generators of
their own: the search that follows draws the same random numbers with it as without it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import comb

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import GRADIENT, HESSIAN, VALUE, Evaluation, Needs
from allmodes.search.context import Context
from allmodes.search.searcher import Request
from allmodes.storage import stored

Array = NDArray[np.float64]

_NEEDS: tuple[Needs, ...] = (VALUE, GRADIENT, GRADIENT | HESSIAN)
_LINE = 7  # points in a row: their sixth differences are rounding alone
_SPACING = 1e-6  # of the box, between them: ten digits of float32, and for smooth functions next to nothing
_ALIKE = 4.0  # ratio of estimates of one noise level from differences of three orders: more is the function's shape
_DEVIATIONS = 4.0  # standard deviations of the rounding that a value may be off by
_FINE = 1e-12  # of a value: xtol allows for that much anyway, which is its square root
_COARSEST = 1e-5  # of a value: a coarser function is rough, and its values tell no place
_RANDOM = 1e-10  # of a value: two values at one point that differ by less are summed in another order
_INSIDE = 0.2, 0.8  # of the box: where to look, away from bounds
_PLACES = 2  # where derivatives are compared: kinks and jumps are not met twice
_WRONG = 0.1  # of a rise: more than differences are off by


@stored
@dataclass
class Diagnosis:
    """A few evaluations before a search begins: "values" first, then "derivatives" if there are any, then "done".

    Args:
        context: what is found out about rounding is noted there.
        is_wanted: whether to look at all.

    Attributes:
        stage: what is looked at.
        twice: two values at one point, if they differ: the function is random; empty otherwise.
    """

    context: Context
    is_wanted: bool = True
    stage: str = field(init=False, default="done")
    twice: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        context = self.context
        if self.is_wanted and context.box.d and context.noise == 0.0:
            self.stage = "values"

    @property
    def is_over(self) -> bool:
        return self.stage == "done"

    def ask(self) -> Request:
        """A point twice and others in a line with it, or two close to each other at each of a few places."""
        d = self.context.box.d
        if self.stage == "values":
            place, direction = _place(0, d)
            return Request(place + _SPACING * np.r_[0.0, np.arange(_LINE)][:, None] * direction)
        reach = min(1e-2, self.context.tolerances.rounded ** (1 / 3))  # rounding and bends matter as little
        pairs = [
            place + side * reach * direction
            for place, direction in (_place(i, d) for i in range(1, 1 + _PLACES))
            for side in (-1.0, 1.0)
        ]
        return Request(np.array(pairs), _NEEDS[self.context.order])

    def tell(self, points: Array, told: Evaluation) -> None:
        """What came of the points last asked for, in the user's coordinates and sign; an error if jac or hess is wrong."""
        if self.stage == "values":
            self._look_at_values(told.value)
            self.stage = "done" if self.twice or not self.context.order else "derivatives"
        else:
            self._compare(points, told)
            self.stage = "done"

    def _look_at_values(self, values: Array) -> None:
        if not np.isfinite(values).all():
            return
        first, second = values[:2].tolist()
        size = float(np.abs(values).max())
        if abs(first - second) > _RANDOM * size:
            self.twice = first, second
            return
        share = _DEVIATIONS * max(noise_level(values[1:]), abs(first - second)) / max(size, 1e-300)
        if _FINE < share < _COARSEST:
            self.context.learn_rounding(share)

    def _compare(self, points: Array, told: Evaluation) -> None:
        """Derivatives with differences, along the line through each pair of points."""
        share = self.context.tolerances.rounded
        step = (points[1::2] - points[::2])[:, None]  # (places, 1, D)
        slopes = (told.gradient.reshape(_PLACES, 2, -1) * step).sum(axis=2)
        pairs = told.value.reshape(_PLACES, 2)
        _check("jac", "fun", points, pairs, slopes, share * np.abs(pairs).max(axis=1), 1)
        if told.hessian is not None:
            bends = np.einsum("psij,pqi,pqj->ps", told.hessian.reshape(_PLACES, 2, *2 * points.shape[1:]), step, step)
            sizes = np.abs(told.gradient.reshape(_PLACES, 2, -1) * step).sum(axis=2).max(axis=1)
            _check("hess", "jac", points, slopes, bends, share * sizes, 2)

    @property
    def account(self) -> str:
        """What is the matter with the function, in a sentence for the user; empty if nothing is."""
        if self.twice:
            return f"the function is noisy: two values at one point are {self.twice[0]:.10g} and {self.twice[1]:.10g}"
        if self.context.rounding:
            return f"the function is coarse: its values are off by about {self.context.rounding:.0e} of themselves"
        return ""


def _place(number: int, d: int) -> tuple[Array, Array]:
    """A point (d,) in unit coordinates, and a direction whose largest coordinate is 1: always the same."""
    rng = np.random.default_rng(number)
    direction = rng.standard_normal(d)
    return rng.uniform(*_INSIDE, d), direction / np.abs(direction).max()


def noise_level(values: Array) -> float:
    """Standard deviation of the rounding of values at equally spaced points (n,), or 0 if their differences hide it.

    Differences of order k of a smooth function vanish as the spacing to the power k; those of rounding grow, by
    sqrt((2 k)! / (k!)^2). So the level is known where three orders agree on it and signs change [Moré and Wild,
    Estimating computational noise, 2011].

    >>> noise_level(np.arange(7.0) ** 2)
    0.0
    """
    differences, levels, changes = values, [], []
    for k in range(1, len(values)):
        differences = np.diff(differences)
        levels.append(float(np.sqrt((differences**2).mean() / comb(2 * k, k))))
        changes.append(differences.min() < 0.0 < differences.max())
    for k in range(len(levels) - 2):
        three = levels[k : k + 3]
        if changes[k] and max(three) <= _ALIKE * min(three):
            return levels[k]
    return 0.0


def _check(name: str, of: str, points: Array, values: Array, slopes: Array, errors: Array, power: int) -> None:
    """Refuse derivatives that disagree with differences at every place.

    Args:
        name, of: what is checked, and the function whose derivative it is.
        points: (2 places, D).
        values, slopes: (places, 2), of that function, and what its derivative says of the whole way between the two.
        errors: (places,), of a value.
        power: of the length of the way that a slope has.
    """
    rise, mean = values[:, 1] - values[:, 0], slopes.mean(axis=1)
    allowed = _WRONG * np.maximum(np.abs(rise), np.abs(mean)) + np.ptp(slopes, axis=1) + 20.0 * errors
    if not (np.abs(rise - mean) > allowed).all():
        return
    length = float(np.linalg.norm(points[1] - points[0])) ** power
    where = np.array2string(points[:2].mean(axis=0), precision=6, separator=", ", threshold=10)
    raise ValueError(
        f"{name} disagrees with {of} at x = {where}: along a random direction {name} says {mean[0] / length:.4g} and "
        f"differences of {of} say {rise[0] / length:.4g}. Check its sign and scale, or leave {name} out; "
        'options={"check": False} leaves out this test.'
    )
