"""Shapes of a chain molecule."""

from __future__ import annotations

import numpy as np

from allmodes.problems.applications.application import Floats, minimised
from allmodes.problems.problem import Problem

_ANGLES = 4
_ATOMS = _ANGLES + 3
_BOND, _BEND = 1.53, np.radians(112.0)  # Angstrom; the angle between two bonds
_TORSION = np.array([9.28, 12.16, -13.12, -3.06, 26.24, -31.5])  # kJ/mol, of the powers of cos(phi - 180 degrees)
_SIGMA, _EPSILON = 3.923, 0.5986  # Angstrom; kJ/mol, 72 K times Boltzmann's constant
_SOFTENING = 0.5  # Angstrom^2, added to squared distances: two atoms in one place have a finite energy
_FIRST, _SECOND = np.array([(i, j) for i in range(_ATOMS) for j in range(i + 4, _ATOMS)]).T


def _chain(phi: Floats) -> Floats:
    """The atoms (N, 7, 3) of chains with these torsion angles."""
    atoms = np.zeros((len(phi), _ATOMS, 3))
    atoms[:, 1] = [_BOND, 0.0, 0.0]
    atoms[:, 2] = atoms[:, 1] + _BOND * np.array([-np.cos(_BEND), np.sin(_BEND), 0.0])
    for i in range(_ANGLES):
        before, along = atoms[:, i + 1] - atoms[:, i], (atoms[:, i + 2] - atoms[:, i + 1]) / _BOND
        normal = np.cross(before, along) / (_BOND * np.sin(_BEND))
        across = np.cos(phi[:, i, None]) * np.cross(normal, along) + np.sin(phi[:, i, None]) * normal
        atoms[:, i + 3] = atoms[:, i + 2] + _BOND * (np.sin(_BEND) * across - np.cos(_BEND) * along)
    return atoms


def _powers(phi: Floats) -> Floats:
    """Of cos(phi - 180 degrees), (N, 4, 6)."""
    return (-np.cos(phi))[..., None] ** np.arange(len(_TORSION))


def _sixth(squared: Floats) -> Floats:
    """(sigma / r)^6, softened."""
    return (_SIGMA**2 / (squared + _SOFTENING)) ** 3


def _fun(phi: Floats) -> Floats:
    atoms = _chain(phi)
    s = _sixth(((atoms[:, _SECOND] - atoms[:, _FIRST]) ** 2).sum(axis=2))
    torsion = (_powers(phi) @ _TORSION).sum(axis=1)
    return torsion + 4.0 * _EPSILON * (s * s - s).sum(axis=1)


def _jac(phi: Floats) -> Floats:
    """An angle turns the atoms behind its bond about the bond, so that they move by the cross product with its axis."""
    gradient = np.sin(phi) * (_powers(phi)[..., :-1] @ (np.arange(1, len(_TORSION)) * _TORSION[1:]))
    atoms = _chain(phi)
    gap = atoms[:, _SECOND] - atoms[:, _FIRST]
    squared = (gap**2).sum(axis=2)
    s = _sixth(squared)
    by_squared = -12.0 * _EPSILON * (2.0 * s * s - s) / (squared + _SOFTENING)
    for i in range(_ANGLES):
        axis = (atoms[:, None, i + 2] - atoms[:, None, i + 1]) / _BOND
        moved = np.cross(axis, atoms[:, _SECOND] - atoms[:, None, i + 2])
        is_parted = (i + 2 >= _FIRST) & (i + 2 < _SECOND)  # other pairs move together, or not at all
        gradient[:, i] += (is_parted * by_squared * 2.0 * (gap * moved).sum(axis=2)).sum(axis=1)
    return gradient


def heptane() -> Problem:
    """Conformations of n-heptane: minus the energy by four torsion angles, all periodic; 41 modes, one of them global.

    Bonds of 1.53 Angstrom and angles of 112 degrees are fixed, CH2 and CH3 groups are single atoms that attract and
    repel each other from the fourth neighbour on (Lennard-Jones, a little softened). At 180 degrees the chain is
    stretched, which is the global mode. All signs may be changed together, and the chain reversed. Model: Ryckaert
    and Bellemans, Faraday Discuss. 66:95, 1978.
    """
    return minimised("heptane", _fun, _jac, [[0.0, 2.0 * np.pi]] * _ANGLES, tuple(range(_ANGLES)))
