"""The Hapke 2002 model of how a granular surface reflects light, and one measured sample to invert.

From four parameters of the surface to its reflectance under given angles of illumination and view. Written against the
array's own namespace: NumPy in float64, or JAX, where it is differentiable in the whole closed box of parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import Array, namespace
from allmodes.checks import real_array

_STEEPEST = 30.0  # degrees: mean slope angle at x2 = 1
_LEAST_SLOPE = 1e-6  # of a divisor: below it the exponentials of the roughness are 0 anyway, up to 89.9 degrees
_LEAST_SINE = 1e-3  # likewise: a cotangent of 1000 stands for the infinite one of normal view or illumination
_LEAST_COSINE = 1e-16  # of half the azimuth, which is 0 at 180 degrees; exp(-2 tan) is 0 long before

Floats = NDArray[np.float64]


class _Angle(NamedTuple):
    """A zenith angle for every geometry (G,)."""

    cosine: Floats
    sine: Floats
    cotangent: Floats


@dataclass(frozen=True, eq=False)
class Geometries:
    """Angles of illumination and view in degrees, one of each per measurement (G,).

    Args:
        incidence: of the light, from the normal, at least 0 and below 90.
        emergence: of the view, likewise.
        azimuth: between the two planes, 0 to 180; 0 looks from the side the light comes from.
    """

    incidence: Floats
    emergence: Floats
    azimuth: Floats

    def __post_init__(self) -> None:
        shapes = set()
        for name, largest in (("incidence", 90.0), ("emergence", 90.0), ("azimuth", 180.0)):
            angles = real_array(name, getattr(self, name), "one angle in degrees per measurement")
            is_inside = (angles >= 0.0) & ((angles < largest) if largest == 90.0 else (angles <= largest))
            if not is_inside.all():
                wrong = angles[~is_inside].flat[0]
                raise ValueError(f"{name} contains {wrong:g} degrees; wanted angles from 0 to {largest:g}.")
            object.__setattr__(self, name, angles)
            shapes.add(angles.shape)
        if len(shapes) > 1 or self.incidence.ndim != 1:
            raise ValueError(f"the angles have shapes {sorted(shapes)}; wanted three arrays (G,) of one length.")

    def __len__(self) -> int:
        return len(self.incidence)

    @cached_property
    def light_is_near(self) -> NDArray[np.bool_]:
        """Where the light is not further from the normal than the view: Hapke's case i <= e."""
        return self.incidence <= self.emergence

    @cached_property
    def far(self) -> _Angle:
        """The larger of the two zenith angles."""
        return _angle(np.maximum(self.incidence, self.emergence))

    @cached_property
    def near(self) -> _Angle:
        """The smaller of the two zenith angles."""
        return _angle(np.minimum(self.incidence, self.emergence))

    @cached_property
    def cos_azimuth(self) -> Floats:
        return np.cos(np.radians(self.azimuth))

    @cached_property
    def sin2_half_azimuth(self) -> Floats:
        return np.sin(0.5 * np.radians(self.azimuth)) ** 2

    @cached_property
    def shadowing(self) -> Floats:
        """f = exp(-2 tan(azimuth / 2)): the share of shadows that illumination and view have in common."""
        half = 0.5 * np.radians(self.azimuth)
        return np.exp(-2.0 * np.sin(half) / np.maximum(np.cos(half), _LEAST_COSINE))

    @cached_property
    def cos_phase(self) -> Floats:
        """Cosine of the angle between light and view."""
        return self.far.cosine * self.near.cosine + self.far.sine * self.near.sine * self.cos_azimuth


def _angle(degrees: Floats) -> _Angle:
    cosine, sine = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return _Angle(cosine, sine, cosine / np.maximum(sine, _LEAST_SINE))


# Reflectance of a sample of the mineral Nontronite measured in the laboratory under ten geometries, as used by Kugler,
# Forbes and Doute (2022) and by Forbes, Nguyen, Nguyen and Arbel (2022).
OBSERVATION: Floats = np.array(
    [0.310714215, 0.303588748, 0.292755216, 0.294919491, 0.273651332,
     0.279147893, 0.312834889, 0.338072032, 0.379372925, 0.386263043]
)  # fmt: skip

# Light at 45 degrees, view in the same plane. The paper does not print the angles; these were recovered by fitting
# published signals, and they give all of the paper's misfits.
GEOMETRIES = Geometries(
    np.full(10, 45.0),
    np.array([70.0, 60.0, 30.0, 15.0, 0.0, 15.0, 30.0, 45.0, 60.0, 70.0]),
    np.array([0.0] * 5 + [180.0] * 5),
)

BOX: Floats = np.array([[0.0, 1.0]] * 4)


def reflectance(points: Array, geometries: Geometries = GEOMETRIES) -> Array:
    """Reflectance (N, G) of surfaces with parameters (N, 4) in the unit box.

    The columns stand for the albedo of a grain, 1 - (1 - x1)^2; the mean slope, 30 degrees times x2; the asymmetry b =
    x3 and the backscattering share c = x4 of a grain. There is no opposition effect (Hapke's B0 = 0). With b = 1 light
    and view must not be parallel.

    Paper: sec:illustration

    >>> reflectance(np.array([[0.584, 0.296, 0.201, 0.143]])).round(3)[0, :3]
    array([0.337, 0.318, 0.278])
    """
    gamma = 1.0 - points[:, 0, None]  # sqrt(1 - albedo), without its infinite derivative at albedo 1
    mu0 = np.cos(np.radians(geometries.incidence))
    mu0e, mue, shape = _roughness(points[:, 1, None], geometries)
    scattered = _phase(points[:, 2, None], points[:, 3, None], geometries.cos_phase)
    scattered = scattered + _multiple(mu0e, gamma) * _multiple(mue, gamma) - 1.0
    return (1.0 - gamma * gamma) / (4.0 * mu0) * (mu0e / (mu0e + mue)) * scattered * shape


def misfit(points: Array, observation: Floats = OBSERVATION, geometries: Geometries = GEOMETRIES) -> Array:
    """Sum of squared differences (N,) to an observation; the paper's "mean" square errors are these sums.

    Paper: sec:illustration
    """
    return ((reflectance(points, geometries) - observation) ** 2).sum(axis=-1)


def _phase(b: Array, c: Array, cos_phase: Floats) -> Array:
    """How a single grain scatters: two Henyey-Greenstein lobes, a share c of the light backward."""
    forward = (1.0 - c) / (1.0 + 2.0 * b * cos_phase + b * b) ** 1.5
    backward = c / (1.0 - 2.0 * b * cos_phase + b * b) ** 1.5
    return (1.0 - b * b) * (forward + backward)


def _multiple(x: Array, gamma: Array) -> Array:
    """Hapke's H function in its rational form: light that grains scatter to each other."""
    return (1.0 + 2.0 * x) / (1.0 + 2.0 * x * gamma)


def _roughness(slope: Array, geometries: Geometries) -> tuple[Array, Array, Array]:
    """Effective cosines of incidence and emergence, and the roughness factor S, each (N, G).

    The formulas for i <= e and for i > e are one: the plane further from the normal takes the part of the other.
    """
    xp = namespace(slope)
    far, near = geometries.far, geometries.near
    t = xp.tan(slope * np.radians(_STEEPEST))
    chi = 1.0 / xp.sqrt(1.0 + np.pi * t * t)
    far1, far2 = _exponentials(far, t)
    near1, near2 = _exponentials(near, t)
    both = 2.0 - far1 - (geometries.azimuth / 180.0) * near1
    turned = geometries.sin2_half_azimuth * near2
    far_e = chi * (far.cosine + far.sine * t * (far2 - turned) / both)
    near_e = chi * (near.cosine + near.sine * t * (geometries.cos_azimuth * far2 + turned) / both)
    far_eta = chi * (far.cosine + far.sine * t * far2 / (2.0 - far1))
    near_eta = chi * (near.cosine + near.sine * t * near2 / (2.0 - near1))
    light_is_near, f = geometries.light_is_near, geometries.shadowing
    mu0e, mue = xp.where(light_is_near, near_e, far_e), xp.where(light_is_near, far_e, near_e)
    mu0_eta = np.cos(np.radians(geometries.incidence)) * mue / (near_eta * far_eta)  # (mu0 / eta0) (mue / eta)
    return mu0e, mue, mu0_eta * chi / (1.0 - f + f * chi * near.cosine / near_eta)


def _exponentials(angle: _Angle, t: Array) -> tuple[Array, Array]:
    """E1 = exp(-2 cot / (pi t)) and E2 = exp(-cot^2 / (pi t^2)): 0 with all derivatives for a smooth surface."""
    steepness = angle.cotangent / namespace(t).maximum(t, _LEAST_SLOPE)
    return namespace(t).exp(-2.0 / np.pi * steepness), namespace(t).exp(-steepness * steepness / np.pi)
