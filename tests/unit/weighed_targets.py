"""Log densities with known integrals, and results of searches for their modes."""

import functools

import numpy as np

from allmodes import find_maxima

WIDTHS = np.array([0.1, 0.3])


def two_gaussians(x):
    """Masses 0.8 at (-1, 0) and 0.2 at (1, 0.5), of points (d,) or (N, d)."""
    x = np.asarray(x)
    first = -0.5 * ((x - [-1.0, 0.0]) ** 2).sum(axis=-1) / 0.04 - np.log(2.0 * np.pi * 0.04)
    second = -0.5 * (((x - [1.0, 0.5]) / WIDTHS) ** 2).sum(axis=-1) - np.log(2.0 * np.pi * WIDTHS.prod())
    return np.logaddexp(np.log(0.8) + first, np.log(0.2) + second)


def bananas(x):
    """Masses 0.7 and 0.3, bent towards each other."""

    def bent(x, centre, sign):
        y = sign * (x - np.array(centre))
        bend = 0.5 * ((y[..., 0] / 0.25) ** 2 - 1.0)
        return -0.5 * ((y[..., 0] / 0.25) ** 2 + ((y[..., 1] - bend) / 0.5) ** 2) - np.log(2.0 * np.pi * 0.125)

    x = np.asarray(x)
    return np.logaddexp(np.log(0.7) + bent(x, [-1.5, 0.0], 1.0), np.log(0.3) + bent(x, [1.5, 0.5], -1.0))


@functools.cache
def found(fun, half_width=3.0, d=2, budget=800):
    """The modes, from values."""
    return find_maxima(fun, [(-half_width, half_width)] * d, vectorized=True, rng=0, maxfev=budget)


def within(number, truth, error, times=4.0):
    """Whether a number is as close to the truth as its error says, and the error says something."""
    return 0.0 < error < 0.2 and abs(number - truth) <= times * error
