"""A small neural network."""

from __future__ import annotations

import numpy as np

from allmodes.problems.applications.application import Floats, least_squares
from allmodes.problems.problem import Problem

# Logarithms of the density of electrons, and their mobility.
_MEASURED = np.array(
    [
        (-3.067, 80.574), (-2.981, 84.248), (-2.921, 87.264), (-2.912, 87.195), (-2.840, 89.076), (-2.797, 89.608),
        (-2.702, 89.868), (-2.699, 90.101), (-2.633, 92.405), (-2.481, 95.854), (-2.363, 100.696), (-2.322, 101.060),
        (-1.501, 401.672), (-1.460, 390.724), (-1.274, 567.534), (-1.212, 635.316), (-1.100, 733.054),
        (-1.046, 759.087), (-0.915, 894.206), (-0.714, 990.785), (-0.566, 1090.109), (-0.545, 1080.914),
        (-0.400, 1122.643), (-0.309, 1178.351), (-0.109, 1260.531), (-0.103, 1273.514), (0.010, 1288.339),
        (0.119, 1327.543), (0.377, 1353.863), (0.790, 1414.509), (0.963, 1425.208), (1.006, 1421.384),
        (1.115, 1442.962), (1.572, 1464.350), (1.841, 1468.705), (2.047, 1447.894), (2.200, 1457.628),
    ]
)  # fmt: skip
_INPUT, _OUTPUT = _MEASURED[:, :1] / 2.0, (_MEASURED[:, 1] - 900.0) / 500.0
_DECAY = np.array([0.1] * 6 + [0.03])  # roots of the factors of squared weights


def _units(x: Floats) -> Floats:
    """What the hidden units make of every input, (N, 37, 2)."""
    return np.tanh(_INPUT * x[:, None, 0:2] + x[:, None, 2:4])


def _residuals(x: Floats) -> Floats:
    answer = (_units(x) * x[:, None, 4:6]).sum(axis=2) + x[:, 6:]
    return np.concatenate([answer - _OUTPUT, _DECAY * x], axis=1)


def _jacobian(x: Floats) -> Floats:
    units = _units(x)
    by_bias = x[:, None, 4:6] * (1.0 - units * units)
    of_answer = np.concatenate([by_bias * _INPUT, by_bias, units, np.ones((*units.shape[:2], 1))], axis=2)
    return np.concatenate([of_answer, np.tile(np.diag(_DECAY), (len(x), 1, 1))], axis=1)


def thurber_network() -> Problem:
    """A network of two tanh units fitted to 37 mobilities of electrons, with weight decay: 16 optima, 8 of them global.

    Unknown are the two weights and biases of the units, the two weights of their sum and its bias. Units may be
    exchanged, and the signs of all three numbers of a unit changed: eight optima look the same, and there are two
    kinds. Data: Thurber's, in the Statistical Reference Datasets of NIST (nonlinear regression).
    """
    return least_squares("Thurber network", _residuals, _jacobian, [[-5.0, 5.0]] * 7)
