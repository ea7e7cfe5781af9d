"""A function on a box, continued to all of space."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from allmodes.arrays import Array, namespace
from allmodes.checks import number, real_array
from allmodes.objective import Objective


def pyramidal(objective: Objective | Callable[..., Any], bounds: Any, amplitude: float) -> Objective:
    """Copies of the box [a, b] fill the space; every copy away from the box lowers the function by the amplitude.

    f~(x) = f(a + r) - amplitude sum_i |q_i| with x_i - a_i = q_i (b_i - a_i) + r_i, q_i whole and 0 <= r_i < b_i - a_i.
    (The paper divides x_i where x_i - a_i is meant: with that, f~ is not f inside a box whose lower bound is no
    multiple of its width.) The upper faces are counted as parts of the box, for some functions have maxima there: f~ is
    f in all of it, exactly. Derivatives are those of the copies; f~ jumps between them.

    Paper: app:cec_benchmark

    Args:
        objective: an Objective, or a function of one point.
        bounds: (lower, upper) of every coordinate, finite.
        amplitude: A, at least the largest less the smallest value in the box: then no copy is higher than the box.

    >>> import numpy as np
    >>> f = pyramidal(lambda x: float(x[0]), [(1.0, 3.0)], amplitude=2.0).fun
    >>> [float(f(np.array([x]))) for x in (1.0, 3.0, 3.5, 0.5, 6.0)]
    [1.0, 3.0, -0.5, 0.5, -2.0]
    """
    f = objective if isinstance(objective, Objective) else Objective(objective)
    pairs = real_array("bounds", bounds, "finite pairs (lower, upper), one for every coordinate")
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not (pairs[:, 0] < pairs[:, 1]).all():
        raise ValueError(f"bounds is {pairs.tolist()}; pairs (lower, upper) with lower < upper were wanted.")
    amplitude = number("amplitude", amplitude, at_least=0.0)
    lower, upper = pairs.T

    def steps_away(x: Array) -> Array:
        """q."""
        xp = namespace(x)
        is_inside = (x >= lower) & (x <= upper)
        return xp.where(is_inside, 0.0, xp.floor((x - lower) / (upper - lower)))

    def moved_in(x: Array) -> Array:
        """a + r, without leaving the box through rounding."""
        return namespace(x).clip(x - steps_away(x) * (upper - lower), lower, upper)

    def value(x: Array) -> Array:
        return f.fun(moved_in(x)) - amplitude * namespace(x).abs(steps_away(x)).sum(axis=-1)

    def derived(function: Callable[..., Any] | None) -> Callable[[Array], Array] | None:
        return None if function is None else lambda x: function(moved_in(x))

    return Objective(value, derived(f.jac), derived(f.hess), f.vectorized)
