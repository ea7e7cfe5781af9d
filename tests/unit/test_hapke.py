"""The Hapke model: the published misfits, a plain transcript of the formulas, derivatives, and an oracle."""

import importlib.util
import subprocess
import sys
from itertools import product
from math import cos, exp, pi, radians, sin, sqrt, tan

import jax
import numpy as np
import pytest

from allmodes.problems.hapke import BOX, GEOMETRIES, OBSERVATION, Geometries, misfit, reflectance

PUBLISHED = np.array(
    [[0.584, 0.296, 0.201, 0.143], [0.676, 0.317, 0.627, 0.030], [0.583, 0.309, 0.017, 0.614],
     [0.729, 0.232, 0.992, 0.159]]
)  # fmt: skip


def random_geometries(count, seed=0):
    rng = np.random.default_rng(seed)
    return Geometries(rng.uniform(1, 80, count), rng.uniform(1, 80, count), rng.uniform(0, 179, count))


def transcript(x, i, e, psi):
    """The formulas one by one, with their two cases, for one surface and one geometry."""
    omega, t, b, c = 1 - (1 - x[0]) ** 2, tan(radians(30 * x[1])), x[2], x[3]
    i, e, psi = radians(i), radians(e), radians(psi)
    mu0, mu, chi = cos(i), cos(e), (1 + pi * t**2) ** -0.5
    cos_g = mu0 * mu + sin(i) * sin(e) * cos(psi)

    def e1(a):
        return exp(-2 / (pi * t * tan(a)))

    def e2(a):
        return exp(-1 / (pi * (t * tan(a)) ** 2))

    half = sin(psi / 2) ** 2
    if i <= e:
        below = 2 - e1(e) - psi / pi * e1(i)
        mu0e = chi * (mu0 + sin(i) * t * (cos(psi) * e2(e) + half * e2(i)) / below)
        mue = chi * (mu + sin(e) * t * (e2(e) - half * e2(i)) / below)
    else:
        below = 2 - e1(i) - psi / pi * e1(e)
        mu0e = chi * (mu0 + sin(i) * t * (e2(i) - half * e2(e)) / below)
        mue = chi * (mu + sin(e) * t * (cos(psi) * e2(i) + half * e2(e)) / below)
    eta0 = chi * (mu0 + sin(i) * t * e2(i) / (2 - e1(i)))
    eta = chi * (mu + sin(e) * t * e2(e) / (2 - e1(e)))
    f, rho = exp(-2 * tan(psi / 2)), mu0 / eta0 if i <= e else mu / eta
    rough = mue / eta * mu0 / eta0 * chi / (1 - f + f * chi * rho)
    phase = (1 - c) / (1 + 2 * b * cos_g + b**2) ** 1.5 + c / (1 - 2 * b * cos_g + b**2) ** 1.5
    gamma = sqrt(1 - omega)
    many = (1 + 2 * mu0e) / (1 + 2 * mu0e * gamma) * (1 + 2 * mue) / (1 + 2 * mue * gamma)
    return omega / (4 * mu0) * mu0e / (mu0e + mue) * ((1 - b**2) * phase + many - 1) * rough


def test_published_modes_have_the_published_misfits():
    """They are sums over the geometries, printed as 0.00338, 0.00343, 0.0115 and 0.0173."""
    sums = misfit(PUBLISHED)
    assert [f"{sums[0]:.5f}", f"{sums[1]:.5f}", f"{sums[2]:.4f}", f"{sums[3]:.4f}"] == [
        "0.00338", "0.00343", "0.0115", "0.0173",
    ]  # fmt: skip
    assert np.allclose(sums, [0.003382, 0.003433, 0.01152, 0.01732], atol=5e-6)
    assert np.abs(misfit(PUBLISHED) / 10 - [0.00338, 0.00343, 0.0115, 0.0173]).min() > 1e-3  # no means


@pytest.mark.parametrize("geometries", [GEOMETRIES, random_geometries(30)], ids=["measured", "random"])
def test_agrees_with_a_transcript_of_the_formulas(geometries):
    points = np.random.default_rng(1).uniform(0.02, 1.0, (40, 4))
    angles = list(zip(geometries.incidence, np.maximum(geometries.emergence, 1e-12), geometries.azimuth, strict=True))
    wanted = [[transcript(x, *angle) for angle in angles] for x in points]
    assert reflectance(points, geometries).shape == (40, len(geometries))
    np.testing.assert_allclose(reflectance(points, geometries), wanted, rtol=1e-11)


def test_smooth_surface_has_no_roughness():
    points = np.array([[0.4, 0.0, 0.3, 0.2], [1.0, 0.0, 0.9, 1.0], [0.7, 0.0, 0.0, 0.5]])
    mu0, mu = cos(radians(45.0)), np.cos(np.radians(GEOMETRIES.emergence))
    cos_g = np.cos(np.radians(np.where(GEOMETRIES.azimuth == 0.0, 1.0, -1.0) * GEOMETRIES.emergence - 45.0))
    for (x1, _, b, c), here in zip(points, reflectance(points), strict=True):
        phase = (1 - c) / (1 + 2 * b * cos_g + b**2) ** 1.5 + c / (1 - 2 * b * cos_g + b**2) ** 1.5
        many = (1 + 2 * mu0) / (1 + 2 * mu0 * (1 - x1)) * (1 + 2 * mu) / (1 + 2 * mu * (1 - x1))
        albedo = 1 - (1 - x1) ** 2
        np.testing.assert_allclose(here, albedo / 4 / (mu0 + mu) * ((1 - b**2) * phase + many - 1), rtol=1e-13)


def test_black_surface_reflects_nothing():
    assert (reflectance(np.array([[0.0, 0.5, 0.5, 0.5]])) == 0.0).all()


def test_jax_computes_the_same_in_float64():
    before = jax.config.jax_enable_x64
    points = np.random.default_rng(2).random((20, 4))
    with jax.enable_x64(True):
        found = reflectance(jax.numpy.asarray(points))
        assert found.dtype == np.float64
        np.testing.assert_allclose(np.asarray(found), reflectance(points), rtol=1e-12)
    assert jax.config.jax_enable_x64 == before


@pytest.fixture(scope="module")
def jacobian():
    """Jacobians (N, 10, 4) by JAX, compiled once."""
    derived = jax.jit(jax.vmap(jax.jacfwd(lambda x: reflectance(x[None])[0])))

    def at(points):
        with jax.enable_x64(True):
            return np.asarray(derived(jax.numpy.asarray(points)))

    return at


def differences(points, step=1e-6):
    """Jacobians by central differences, by one-sided ones of second order on the faces of the box."""
    columns = []
    for k in range(4):
        h = step * np.eye(4)[k]
        low, high = points[:, k] < step, points[:, k] > 1 - step
        side = np.where(high, -1.0, 1.0)[:, None]
        one = side * (
            -3 * reflectance(points) + 4 * reflectance(points + side * h) - reflectance(points + 2 * side * h)
        )
        both = reflectance(points + h) - reflectance(points - h)
        columns.append(np.where((low | high)[:, None], one, both) / (2 * step))
    return np.stack(columns, axis=2)


def test_derivatives_agree_with_differences_in_the_whole_closed_box(jacobian):
    corners = np.array(list(product((0.0, 0.5, 1.0), repeat=4)))
    points = np.vstack([corners, np.random.default_rng(3).random((19, 4))])
    found = jacobian(points)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, differences(points), rtol=1e-4, atol=1e-6)


def test_derivatives_are_finite_next_to_the_faces(jacobian):
    near = np.array([0.0, 1e-12, 1e-7, 1e-5, 1e-3])
    points = np.full((100, 4), 0.5)
    points[:5, 1], points[5:10, 0], points[10:15, 2], points[15:20, 2] = near, 1 - near, near, 1 - near
    assert np.isfinite(jacobian(points)).all()


def test_the_floors_change_nothing():
    """Where they hold, what they replace is zero."""
    points = np.array([[0.5, x2, 0.4, 0.3] for x2 in (0.0, 1e-12, 1e-7, 1e-6)])
    far = Geometries([10.0, 89.8], [89.8, 89.8], [30.0, 180.0])
    for geometries in (GEOMETRIES, far):
        found = reflectance(points, geometries)
        np.testing.assert_allclose(found, np.broadcast_to(found[0], found.shape), rtol=1e-10)


def test_light_and_view_can_be_exchanged():
    """Reciprocity: the factor in front cancels the cosine that the roughness brings in."""
    one = random_geometries(20)
    other = Geometries(one.emergence, one.incidence, one.azimuth)
    points = np.random.default_rng(4).random((10, 4))
    np.testing.assert_allclose(reflectance(points, one), reflectance(points, other), rtol=1e-12)


def test_the_sample():
    assert OBSERVATION.shape == (10,)
    assert len(GEOMETRIES) == 10
    assert BOX.tolist() == [[0.0, 1.0]] * 4
    assert GEOMETRIES.cos_phase.round(3).tolist() == [
        0.906, 0.966, 0.966, 0.866, 0.707, 0.5, 0.259, 0.0, -0.259, -0.423,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("angles", "found"),
    [
        (([90.0], [10.0], [0.0]), "incidence contains 90 degrees"),
        (([10.0], [-1.0], [0.0]), "emergence contains -1 degrees"),
        (([10.0], [10.0], [181.0]), "azimuth contains 181 degrees"),
        (([10.0], [10.0, 20.0], [0.0]), "shapes"),
        ((10.0, 10.0, 0.0), "shapes"),
    ],
)
def test_wrong_angles_are_refused(angles, found):
    with pytest.raises(ValueError, match=found):
        Geometries(*angles)


# Run in a process of its own: xllim shares memory with the arrays it is given.
IN_XLLIM = """
import os, sys
import numpy as np, xllim

data = dict(np.load(sys.argv[1]))
angles = np.array(data["angles"])
model = xllim.HapkeModel(angles, "2002", "four", 30.0, 0.0, 0.1)
np.save(sys.argv[2], [np.array(np.ravel(model.F(np.array(x)))) for x in data["points"]])
os._exit(0)
"""

if importlib.util.find_spec("xllim") is not None:  # the authors' own library, on systems that have it

    @pytest.mark.parametrize("geometries", [GEOMETRIES, random_geometries(30)], ids=["measured", "random"])
    def test_agrees_with_xllim(geometries, tmp_path):
        angles = np.array([geometries.incidence, geometries.emergence, geometries.azimuth]).T.copy()
        points = np.random.default_rng(5).uniform(0.01, 0.99, (50, 4))
        np.savez(tmp_path / "in.npz", angles=angles, points=points)
        arguments = [str(tmp_path / "in.npz"), str(tmp_path / "out.npy")]
        subprocess.run([sys.executable, "-c", IN_XLLIM, *arguments], check=True, capture_output=True)
        np.testing.assert_allclose(reflectance(points, geometries), np.load(tmp_path / "out.npy"), atol=1e-13)
