"""Forward kinematics of a parallel robot."""

from __future__ import annotations

import numpy as np

from allmodes.problems.applications.application import Floats, least_squares
from allmodes.problems.problem import Problem


def _joints(radius: float, degrees: list[float], heights: list[float]) -> Floats:
    """Joints (6, 3) on a circle, and how far each is above it, both times the radius."""
    angles = np.radians(degrees)
    return radius * np.stack([np.cos(angles), np.sin(angles), heights], axis=1)


_BASE = _joints(1.0, [10, 110, 130, 230, 250, 350], [0.0, 0.08, -0.05, 0.1, -0.07, 0.03])
_PLATE = _joints(0.6, [50, 70, 170, 190, 290, 310], [0.05, -0.1, 0.08, 0.0, -0.06, 0.1])
_PLACE, _QUATERNION = [0.15, -0.1, 0.9], [0.95, 0.12, -0.18, 0.2]  # where the legs were measured; to be normalised
_UNIT_WEIGHT = 2.0  # of the condition that the quaternion has length 1
_BOUNDS = [[-1.6, 1.6]] * 3 + [[-1.2, 1.2]] * 4
# (cross product with the joint on the right): e x a is _TURN[k] @ e for the joint a of leg k.
_TURN = np.array([[[0, a[2], -a[1]], [-a[2], 0, a[0]], [a[1], -a[0], 0]] for a in _PLATE])


def _legs(x: Floats) -> Floats:
    """The legs as vectors (N, 6, 3): from the joints of the base to those of the plate.

    The quaternion (w, v) turns a into (w^2 - v.v) a + 2 (v.a) v + 2 w v x a.
    """
    w, v = x[:, 3, None, None], x[:, None, 4:]
    along = (v * _PLATE).sum(axis=2, keepdims=True)
    turned = (w * w - (v * v).sum(axis=2, keepdims=True)) * _PLATE + 2.0 * along * v + 2.0 * w * np.cross(v, _PLATE)
    return x[:, None, :3] + turned - _BASE


def _measured() -> Floats:
    quaternion = np.array(_QUATERNION)
    pose = np.concatenate([_PLACE, quaternion / np.linalg.norm(quaternion)])
    return (_legs(pose[None]) ** 2).sum(axis=2)


_SQUARED_LENGTHS = _measured()


def _residuals(x: Floats) -> Floats:
    excess = (x[:, 3:] ** 2).sum(axis=1, keepdims=True) - 1.0
    return np.concatenate([(_legs(x) ** 2).sum(axis=2) - _SQUARED_LENGTHS, _UNIT_WEIGHT * excess], axis=1)


def _jacobian(x: Floats) -> Floats:
    w, v = x[:, 3, None, None], x[:, None, 4:]
    legs = _legs(x)
    by_w = 2.0 * (w * _PLATE + np.cross(v, _PLATE))
    along = (v * _PLATE).sum(axis=2)
    by_v = 2.0 * (
        v[..., None] * _PLATE[:, None, :]
        - _PLATE[:, :, None] * v[:, :, None, :]
        + along[..., None, None] * np.eye(3)
        + w[..., None] * _TURN
    )
    derivatives = np.zeros((len(x), 7, 7))
    derivatives[:, :6, :3] = 2.0 * legs
    derivatives[:, :6, 3] = 2.0 * (legs * by_w).sum(axis=2)
    derivatives[:, :6, 4:] = 2.0 * np.einsum("nki,nkij->nkj", legs, by_v)
    derivatives[:, 6, 3:] = 2.0 * _UNIT_WEIGHT * x[:, 3:]
    return derivatives


def stewart_platform() -> Problem:
    """Where can the plate of a Stewart-Gough platform be, given the lengths of its six legs? 16 poses, all exact.

    Unknown are the place of the plate and a quaternion that turns it; the misfit is the sum of squared differences of
    squared lengths, with the condition that the quaternion has length 1. Every optimum is global. The quaternions q and
    -q are the same turn, so that there are 8 different poses. Geometry and the pose that was measured are made up, for
    a general platform as in Merlet, Parallel Robots, Springer 2006.
    """
    return least_squares("Stewart platform", _residuals, _jacobian, _BOUNDS)
