"""A signal from the sizes of its measurements."""

from __future__ import annotations

import numpy as np

from allmodes.problems.applications.application import Floats, least_squares
from allmodes.problems.problem import Problem

_SEED, _COUNT, _D = 21, 20, 10
_SCALE = 0.1  # of the equations


def _measured() -> tuple[Floats, Floats]:
    """Random directions (20, 10), and the squared measurements of a random signal along them."""
    rng = np.random.default_rng(_SEED)
    directions, signal = rng.standard_normal((_COUNT, _D)), rng.standard_normal(_D)
    return directions, (directions @ signal) ** 2


_DIRECTIONS, _SQUARES = _measured()


def _residuals(x: Floats) -> Floats:
    return _SCALE * ((x @ _DIRECTIONS.T) ** 2 - _SQUARES)


def _jacobian(x: Floats) -> Floats:
    return 2.0 * _SCALE * (x @ _DIRECTIONS.T)[:, :, None] * _DIRECTIONS


def phase_retrieval() -> Problem:
    """Real phase retrieval: ten numbers from twenty squared measurements; 28 optima are known, 2 of them the signal.

    (a_i . x)^2 = y_i with Gaussian directions a_i. With so few measurements the misfit has minima that are not the
    signal, 12 of them at bounds. The sign of x cannot be known: optima come in pairs. As in Sun, Qu and Wright, A
    geometric analysis of phase retrieval, Found. Comput. Math. 18:1131, 2018; the signal is made up.
    """
    return least_squares("phase retrieval", _residuals, _jacobian, [[-3.0, 3.0]] * _D)
