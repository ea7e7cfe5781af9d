"""A first look at the function: is it random, how coarse are its values, do its derivatives belong to it?

It looks at the user's values and coordinates, for its findings are told to the user. Its points come from generators of
their own: the search that follows draws the same random numbers with it as without it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import comb

import numpy as np
from numpy.typing import NDArray

from allmodes.objective import BY_ORDER, Evaluation
from allmodes.search.context import Context
from allmodes.search.searcher import Request
from allmodes.search.tolerances import EPSILON, TINY
from allmodes.storage import stored

Array = NDArray[np.float64]

_LINE = 7  # points in a row: their differences up to the sixth order tell rounding from the shape of the function
_SPACING = 1e-6  # of the box, between them: ten digits of float32, and for smooth functions next to nothing
_ALIKE = 4.0  # ratio of estimates of one noise level from differences of three orders: more is the function's shape
_DEVIATIONS = 4.0  # standard deviations of the rounding that a value may be off by
_FINE = 1e-11  # of a value: less harms nobody, and may come from a place where the value is nearly 0
_COARSEST = 1e-5  # of a value: a coarser function is rough, and its values locate nothing
_HIDDEN = 10.0  # xtol: positions that are known no better are worth a word
_RANDOM = 1e-10  # of a value: two values at one point that differ by less are summed in another order
_INSIDE = 0.2, 0.8  # of the box: where to look, away from bounds
_MARGIN = 1e-3  # of the box: as much room as it takes
_REACH = 3e-4  # of the box, between points whose derivatives are compared: far for float32, and near for ripples
_WRONG = 0.1  # of a rise: more than differences are off by
_ADVICE = {
    "jac": "Check its scale and the order of its coordinates, or",
    "hess": "Check its scale. An approximation, such as Gauss and Newton's J^T J of a fit, will not do: by it saddles "
    "are minima. With jac alone the curvature is measured where searches arrive, so",
}
_TRIED = 64  # places, where constraints allow few
_ROUNDED = 20.0  # roundings of a value, in a difference of two and in what derivatives say of it


@stored
@dataclass
class Diagnosis:
    """A few evaluations before a search begins: 8, and 3 more if there are derivatives.

    For residuals, where a Jacobian costs extra: 8 values, then 2 points with derivatives, and 4 where these
    two disagree.

    Args:
        context: what is found out about rounding is noted there.
        is_over: whether everything was looked at, or nothing is to be.
        compares: whether there are derivatives to be compared with differences.

    Attributes:
        twice: two values at one point, if they differ: the function is random; empty otherwise.
        places: numbers of the two places it looks at.
        rounds: how many it has been told of.
        is_apart: whether no point may be asked for twice.
    """

    context: Context
    is_over: bool = False
    compares: bool = False
    twice: tuple[float, ...] = field(init=False, default=())
    places: tuple[int, int] = (0, 1)
    rounds: int = 0
    is_apart: bool = False

    def __post_init__(self) -> None:
        self.is_over |= self.context.noise != 0.0 or self.context.box.d == 0

    def ask(self) -> Request:
        """Points in a line, the first of them again; and for derivatives one farther on, and two at another place.

        For residuals the line comes first, then one place, then both places.
        """
        order, is_dear = self.context.order, self.context.has_model
        place, direction = self._place(self.places[0])
        line = place + _SPACING * np.r_[np.arange(_LINE), self._aside(place, direction)][:, None] * direction
        images = self._images(place)
        if not self.compares or (is_dear and not self.rounds):
            return Request(np.concatenate([line, images]))
        other, way = self._place(self.places[1])
        pairs = [place + _REACH * direction, other, other + _REACH * way]
        needs = self.context.needs if self.context.is_system else BY_ORDER[order]
        if is_dear:
            return Request(np.array([place, *pairs][: 2 * self.rounds]), needs)
        return Request(np.concatenate([line, pairs, images]), needs)

    def stay_apart(self) -> None:
        """Never ask for a point twice: a value right beside the first point shows as well whether fun is random."""
        self.is_apart = True

    def _aside(self, place: Array, direction: Array) -> float:
        """How far from the first point the last one is, in steps of the line."""
        box, step = self.context.box, 0.0
        if self.is_apart and not self.is_over:
            step = EPSILON / _SPACING
            x = box.to_user(place)
            while step < 1.0 and (box.to_user(place + step * _SPACING * direction) == x).all():
                step *= 2.0
        return step

    def _place(self, number: int) -> tuple[Array, Array]:
        """A point (d,) in unit coordinates, and a direction whose largest coordinate is 1; the same in every search.

        Where the user gave draws it is one of them: the function may not be made for other places.
        """
        box, drawn = self.context.box, self.context.drawn
        rng = np.random.default_rng(number)
        direction = rng.standard_normal(box.d)
        direction /= np.abs(direction).max()
        if drawn is None:
            return rng.uniform(*_INSIDE, box.d), direction
        point = drawn.points[number % len(drawn.points)]
        return np.clip(point, box.lower_unit + _MARGIN, box.upper_unit - _MARGIN), direction

    def _images(self, place: Array) -> Array:
        """Images of a place by the symmetry that the user stated, one for each map that generates the others."""
        group, box = self.context.group, self.context.box
        return np.zeros((0, box.d)) if group is None else box.project(group.images(place)[list(group.tested)])

    def move_inside(self) -> None:
        """Look where no inequality is violated; nowhere if there is hardly any such place."""
        constraints = self.context.constraints
        if constraints is None or self.is_over:
            return
        found: list[int] = []
        for number in range(_TRIED):
            place, direction = self._place(number)
            line = place + _SPACING * np.array([0.0, _LINE, _REACH / _SPACING])[:, None] * direction
            if constraints.is_within(line).all():
                found.append(number)
            if len(found) == 2:
                self.places = found[0], found[1]
                return
        self.is_over = True

    def tell(self, points: Array, told: Evaluation) -> None:
        """What came of the points, in the user's coordinates and sign; an error if jac or hess is wrong."""
        is_dear, wrong = self.context.has_model, ""
        if not self.rounds:
            self._look_at_values(told.value[: _LINE + 1])
            self._compare_images(points, told.value)
        compares = self.compares and not self.twice
        if compares and (self.rounds or not is_dear):
            pairs = [[0, 1], [2, 3]][: self.rounds] if is_dear else [[0, _LINE + 1], [_LINE + 2, _LINE + 3]]
            wrong = _compared(points[pairs], told, pairs, self.context.tolerances.rounded)
            if wrong and len(pairs) == 2:
                raise ValueError(wrong)
        self.is_over = not (compares and is_dear and (wrong or not self.rounds))
        self.rounds += 1

    def _compare_images(self, points: Array, values: Array) -> None:
        """Refuse a symmetry that the function does not have."""
        group = self.context.group
        if group is None:
            return
        if self.twice:
            raise ValueError(
                f"symmetry is given and fun is noisy: two values at one point are {self.twice[0]:.10g} and "
                f"{self.twice[1]:.10g}. Leave symmetry out, or make fun exact."
            )
        first, n = float(values[0]), len(group.tested)
        for point, value, words in zip(points[-n:], values[-n:].tolist(), group.words, strict=True):
            size = max(abs(first), abs(value))
            if np.isfinite(size) and abs(value - first) > self.context.tolerances.unlike * size:
                raise ValueError(
                    f"symmetry has the {words}, which fun does not have: its value is {first:.10g} at x = {points[0]} "
                    f"and {value:.10g} at the image x = {point}. Leave it out, or correct fun."
                )

    def _look_at_values(self, values: Array) -> None:
        if not np.isfinite(values).all():
            return
        shares = values / max(float(np.abs(values).max()), TINY)
        apart = abs(float(shares[0] - shares[-1]))
        if apart > _RANDOM:
            self.twice = float(values[0]), float(values[-1])
            self.context.learn_random()
            return
        share = _DEVIATIONS * max(noise_level(shares[:-1]), apart)
        if _FINE < share < _COARSEST:
            self.context.learn_rounding(share)

    @property
    def account(self) -> str:
        """What is the matter with the function, in a sentence for the user; empty if nothing is."""
        if self.twice:
            return f"the function is noisy: two values at one point are {self.twice[0]:.10g} and {self.twice[1]:.10g}"
        if self.context.rounding:
            return f"the function is coarse: its values are off by about {self.context.rounding:.0e} of themselves"
        located = self.context.tolerances.located
        if self.context.order == 0 and located > _HIDDEN * self.context.xtol:
            return (
                f"a constant of about {abs(self.context.best_value):.0e} hides the function: positions are known to "
                f"about {located:.0e} of the bounds; subtract it, or pass jac"
            )
        return ""


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


def _compared(points: Array, told: Evaluation, pairs: list[list[int]], share: float) -> str:
    """Derivatives with differences, along the lines through pairs of points (places, 2, D); values are off by a share.

    What a derivative says of the way between two points is the mean of what it says at both. Returns what is wrong, if
    anything is.
    """
    value, gradient = told.value[pairs], told.gradient[pairs]
    way = points[:, 1] - points[:, 0]
    slopes = np.einsum("psi,pi->ps", gradient, way)
    wrong = _checked("jac", "fun", points, value, slopes, share * np.abs(value).max(axis=1))
    if told.hessian is not None and not wrong:
        bends = np.einsum("psij,pi,pj->ps", told.hessian[pairs], way, way)
        sizes = np.einsum("psi,pi->ps", np.abs(gradient), np.abs(way)).max(axis=1)
        wrong = _checked("hess", "jac", points, slopes, bends, share * sizes)
    return wrong


def _checked(name: str, of: str, points: Array, values: Array, slopes: Array, errors: Array) -> str:
    """Why derivatives are wrong, if they disagree with differences at every place: one may be at a kink or a jump.

    Args:
        name, of: what is checked, and the function whose derivative it is.
        points: (places, 2, D).
        values, slopes: (places, 2), of that function, and what its derivative says of the whole way between the two.
        errors: (places,), of a value.
    """
    rise, mean = values[:, 1] - values[:, 0], slopes.mean(axis=1)
    allowed = _WRONG * np.maximum(np.abs(rise), np.abs(mean)) + np.ptp(slopes, axis=1) + _ROUNDED * errors
    if not (np.abs(rise - mean) > allowed).all():
        return ""
    length = float(np.linalg.norm(points[0, 1] - points[0, 0])) ** (1 if name == "jac" else 2)
    where = np.array2string(points[0, 0], precision=6, separator=", ", threshold=10)
    has_wrong_sign = (np.abs(rise + mean) <= allowed).all()
    advice = "It has the wrong sign: return the negative, or" if has_wrong_sign else _ADVICE[name]
    return (
        f"{name} disagrees with {of} at x = {where}: along a random direction {name} says {mean[0] / length:.4g} and "
        f"differences of {of} say {rise[0] / length:.4g}. {advice} leave {name} out; "
        'options={"check": False} leaves this test out.'
    )
