"""find_roots: all roots and nothing else, what is known of them, and what is refused."""

import numpy as np
import pytest

from allmodes import Result, find_minima, find_roots
from allmodes.problems.systems import systems
from allmodes.solving import Equations, SpentError

BY_NAME = {system.name: system for system in systems()}


def test_all_roots_of_a_system_are_found_and_proved_to_be_distinct():
    system = BY_NAME["Himmelblau"]
    result = find_roots(system, system.bounds, rng=0)
    assert len(result.modes) == system.roots == 9
    assert result.success
    assert "9 roots, 9 certified" in result.message
    boxes = np.array([mode.box for mode in result.modes])
    for i, mode in enumerate(result.modes):
        assert mode.kind == "root"
        assert mode.multiplicity == 1
        assert mode.rank == 2
        assert not mode.is_singular
        assert mode.residual_norm < 1e-11
        assert mode.condition < 100
        assert mode.radius > 0
        inside = ((boxes[:, :, 0] <= mode.x) & (mode.x <= boxes[:, :, 1])).all(axis=1)
        assert inside.nonzero()[0].tolist() == [i]
    text = str(result)
    assert "|F|" in text
    assert "condition" in text
    assert "certified" in text
    assert "9 roots" in text


@pytest.mark.parametrize("name", ["Noonburg-3", "cyclic-5"])
def test_minima_that_are_not_roots_are_left_out(name):
    system = BY_NAME[name]
    result = find_roots(system.values, system.bounds, jac=system.jacobian, vectorized=True, rng=1, maxfev=4000)
    assert len(result.modes) == system.roots
    assert all(mode.certified for mode in result.modes)
    assert result.nfev <= 4000


def test_no_root_is_said():
    result = find_roots(lambda x: [x[0] ** 2 + 0.1], [(-2, 2)], rng=0, maxfev=500)
    assert not result.modes
    assert not result.success
    assert result.message.startswith("No root was found")
    assert "0.1" in result.message
    assert abs(result.x[0]) < 1e-3


@pytest.mark.parametrize("mu", [2, 3])
def test_multiple_roots_are_flagged_with_their_multiplicity(mu):
    result = find_roots(lambda x: [(x[0] - 0.3) ** mu, x[1] - 0.5], [(-2, 2)] * 2, rng=0, maxfev=1500)
    (mode,) = result.modes
    assert mode.kind == "root"
    assert mode.is_singular
    assert mode.rank == 1
    assert mode.multiplicity == mu
    assert not mode.certified
    assert mode.reason
    assert mode.box is None
    assert mode.radius is None


@pytest.mark.parametrize("F", [lambda x: [x[0] ** 2 + x[1] ** 2 - 1], lambda x: [x[0] * x[1], x[0] * (x[1] - 1)]])
def test_a_curve_of_roots_is_one_flat_mode(F):
    (mode,) = find_roots(F, [(-2, 2)] * 2, rng=0, maxfev=1500).modes
    assert mode.kind == "flat"
    assert mode.multiplicity is None
    assert not mode.certified


def test_more_equations_than_unknowns():
    result = find_roots(lambda x: [x[0] ** 2 - 1, x[0] * x[1] - 1, x[0] - x[1]], [(-2, 2)] * 2, rng=0, maxfev=1000)
    assert np.allclose([mode.x for mode in result.modes], [[-1, -1], [1, 1]])
    assert all("3 equations for 2 unknowns" in mode.reason for mode in result.modes)


def test_differences_and_functions_of_floats():
    result = find_roots(lambda x: [float(x[0]) ** 2 - 2.0], [(-2, 2)], rng=0, maxfev=400)
    assert np.allclose([mode.x[0] for mode in result.modes], [-(2**0.5), 2**0.5], atol=1e-14)
    assert all("does not take interval" in mode.reason for mode in result.modes)


def test_n_modes_counts_roots():
    system = BY_NAME["trigonometric"]
    result = find_roots(system, system.bounds, rng=0, n_modes=3)
    assert len(result.modes) >= 3
    assert result.status.name == "ENOUGH_MODES"


def test_fixed_and_periodic_coordinates():
    result = find_roots(lambda x: [np.sin(x[0]) - x[1]], [(0, 2 * np.pi), (0.5, 0.5)], periodic=[0], rng=0, maxfev=500)
    assert np.allclose([mode.x[0] for mode in result.modes], [np.pi / 6, 5 * np.pi / 6])
    assert all(mode.certified for mode in result.modes)


def test_saved_results_and_checkpoints(tmp_path):
    def search(rng=0):
        return find_roots(lambda x: [x[0] ** 2 - 2.0], [(-2, 2)], rng=rng, maxfev=300, checkpoint=tmp_path / "c")

    first, again = search(), search()
    assert [mode.x.tolist() for mode in first.modes] == [mode.x.tolist() for mode in again.modes]
    first.save(tmp_path / "r.npz")
    loaded = Result.load(tmp_path / "r.npz")
    assert loaded.modes[0].certified
    assert np.array_equal(loaded.modes[0].box, first.modes[0].box)
    assert str(loaded) == str(first)


def test_wrong_input_is_refused():
    with pytest.raises(TypeError, match="a function was wanted"):
        find_roots(3, [(0, 1)])
    with pytest.raises(ValueError, match="jac"):
        find_roots(lambda x: x, [(0, 1)], jac="torch")
    with pytest.raises(AttributeError, match="only modes of find_roots"):
        _ = find_minima(lambda x: x[0] ** 2, [(-1, 1)], rng=0, maxfev=200).modes[0].certified


def test_nothing_is_evaluated_beyond_what_is_left():
    with pytest.raises(SpentError):
        Equations(None, 3).spend(4)


def test_jacobians_of_systems_agree_with_differences():
    for system in systems():
        x = system.bounds.mean(axis=1) + 0.1 * np.ptp(system.bounds, axis=1) * np.cos(np.arange(system.dimension))
        J, h = system.jacobian(x[None])[0], 1e-6
        for i, step in enumerate(h * np.eye(system.dimension)):
            difference = (system(x + step) - system(x - step)) / (2 * h)
            assert np.allclose(J[:, i], difference, rtol=1e-5, atol=1e-5 * np.abs(J).max())
        assert np.allclose(system(x), system.values(x[None])[0])
