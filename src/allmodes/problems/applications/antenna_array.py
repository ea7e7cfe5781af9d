"""A design problem: where to put the elements of an antenna."""

from __future__ import annotations

import numpy as np

from allmodes.problems.applications.application import Floats, minimised
from allmodes.problems.problem import Problem

_HALF = 6  # elements on either side
_DIRECTIONS = np.sin(np.radians(np.linspace(12.0, 90.0, 60)))  # where nothing should be sent
_FLOOR = 1e-4  # of the power, in proportion to that of the beam: 40 decibel
_ORDER = 4  # of the norm: between the mean and the largest side lobe
_DECIBEL = 10.0 / np.log(10.0)
_BOUNDS = [[0.15, 0.8]] + [[0.35, 1.4]] * (_HALF - 1)


def _phases(gaps: Floats) -> Floats:
    """2 pi times place and sine of the direction, (N, 6, 60)."""
    return 2.0 * np.pi * gaps.cumsum(axis=1)[:, :, None] * _DIRECTIONS


def _fun(gaps: Floats) -> Floats:
    power = np.cos(_phases(gaps)).mean(axis=1) ** 2 + _FLOOR
    return _DECIBEL / _ORDER * np.log((power**_ORDER).mean(axis=1))


def _jac(gaps: Floats) -> Floats:
    phases = _phases(gaps)
    field = np.cos(phases).mean(axis=1)
    power = field**2 + _FLOOR
    share = power ** (_ORDER - 1) / (power**_ORDER).sum(axis=1, keepdims=True)
    by_place = -2.0 * np.pi / _HALF * np.sin(phases) * _DIRECTIONS  # of the field
    slopes = _DECIBEL * 2.0 * ((share * field)[:, None] * by_place).sum(axis=2)
    return slopes[:, ::-1].cumsum(axis=1)[:, ::-1]  # a gap moves all elements behind it


def antenna_array() -> Problem:
    """Twelve equal elements of a symmetric antenna array, unequally spaced: 40 known designs, one of them the best.

    Unknown are six gaps, in wavelengths; minimised is the power sent beyond 12 degrees from the beam, its 4-norm in
    decibel. Most optima are at bounds, and there may be more; there are no symmetries. The idea: Harrington, Sidelobe
    reduction by nonuniform element spacing, IRE Trans. Antennas Propag. 9:187, 1961.
    """
    return minimised("antenna array", _fun, _jac, _BOUNDS)
