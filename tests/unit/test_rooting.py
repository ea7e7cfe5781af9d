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


def counted(function):
    calls = []

    def call(x):
        calls.append(np.array(x))
        return function(x)

    return call, calls


def circle(x):
    return [x[0] ** 2 + x[1] ** 2 - 4, x[0] - x[1]]


def places(result):
    return [mode.x.round(4).tolist() for mode in result.modes]


BOTH = [[-1.4142, -1.4142], [1.4142, 1.4142]]


@pytest.mark.parametrize("size", [1e6, 1e-6, 1e150, 1e-150, np.array([1e8, 1e-8])])
def test_the_size_of_the_equations_changes_nothing(size):
    result = find_roots(lambda x: size * np.array(circle(x)), [(-3, 3)] * 2, rng=0, maxfev=1500)
    assert places(result) == BOTH
    assert all(mode.certified for mode in result.modes)


@pytest.mark.slow
@pytest.mark.parametrize("has_jac", [True, False])
def test_no_fewer_roots_than_random_starts_at_equal_cost(has_jac):
    """eco-8: three of four searches end at no root, and are given up early."""
    system = BY_NAME["eco-8"]
    found = []
    for seed in (1, 2):
        result = find_roots(
            system.values, system.bounds, jac=system.jacobian if has_jac else None, vectorized=True, rng=seed,
            maxfev=1800 if has_jac else 5400,
        )  # fmt: skip
        assert result.nfev <= (1800 if has_jac else 5400)
        found.append(len(result.modes))
    assert min(found) >= (5 if has_jac else 3)
    assert max(found) <= system.roots


def test_jacobians_of_differences_are_updated():
    """Each of these searches would need several Jacobians of 11 evaluations otherwise."""
    system = BY_NAME["Bratu-10"]
    function, calls = counted(system)
    result = find_roots(function, system.bounds, rng=0, maxfev=4000)
    assert len(result.modes) == 2
    assert len(result.paths) > 30
    assert result.nfev / result.paths.searches < 40
    rows = np.array([x for x in calls if x.dtype != object])
    assert ((rows >= -1.0) & (rows <= 6.0)).all()


def test_evaluations_are_counted():
    function, calls = counted(circle)
    result = find_roots(function, [(-3, 3)] * 2, rng=0, maxfev=300)
    assert result.nfev == len(calls) <= 300


def test_roots_that_are_close_are_told_apart():
    result = find_roots(lambda x: [(x[0] - 1) * (x[0] - 1.001), x[1]], [(-3, 3)] * 2, rng=0, maxfev=1500)
    assert places(result) == [[1.0, 0.0], [1.001, 0.0]]
    first, second = (mode.box[0] for mode in result.modes)
    assert first[1] < second[0]


def test_a_curve_and_a_root_beside_it():
    def F(x):
        circle = x[0] ** 2 + x[1] ** 2 - 1
        return [(x[0] - 1) * circle * x[1], (x[1] - 2) * circle]

    result = find_roots(F, [(-3, 3)] * 2, rng=0, maxfev=1500)
    assert sorted(mode.kind for mode in result.modes) == ["flat", "root"]
    assert "better than every mode" not in result.message


def test_roots_at_bounds_are_found_and_say_why_they_are_not_proved():
    result = find_roots(lambda x: [x[0] - 3, x[1] - 1], [(-3, 3)] * 2, rng=0, maxfev=300)
    (mode,) = result.modes
    assert mode.x.tolist() == [3.0, 1.0]
    assert "at a bound" in mode.reason
    assert not find_roots(lambda x: [x[0] - 3.0001, x[1] - 1], [(-3, 3)] * 2, rng=0, maxfev=300).modes


def test_failures_are_survived():
    def F(x):
        if x[0] < -1:
            raise RuntimeError("not here")
        return circle(x)

    with pytest.raises(RuntimeError, match="not here"):
        find_roots(F, [(-3, 3)] * 2, rng=0, maxfev=500)
    result = find_roots(F, [(-3, 3)] * 2, rng=0, maxfev=500, on_error="nan")
    assert places(result) == BOTH[1:]
    assert result.nfail > 0
    result = find_roots(lambda x: 1 / 0, [(-3, 3)], rng=0, maxfev=300, on_error="nan")
    assert not result.modes
    result = find_roots(lambda x: [x[0] ** 0.5 - 1 if x[0] > 0 else np.nan, x[1]], [(-3, 3)] * 2, rng=0, maxfev=500)
    assert places(result) == [[1.0, 0.0]]


def test_wrong_equations_and_jacobians_are_refused():
    box = [(-3, 3)] * 2
    with pytest.raises(ValueError, match="complex128"):
        find_roots(lambda x: np.array(circle(x)) + 0j, box, rng=0)
    with pytest.raises(ValueError, match="return missing"):
        find_roots(lambda x: None, box, rng=0)
    with pytest.raises(ValueError, match="after 2 at another point"):
        find_roots(lambda x: circle(x)[: 1 + (x[0] > 0)], box, rng=0)
    with pytest.raises(ValueError, match="wrong sign"):
        find_roots(circle, box, jac=lambda x: [[-2 * x[0], -2 * x[1]], [-1, 1]], rng=0)
    with pytest.raises(ValueError, match=r"\(2, 2\) was wanted"):
        find_roots(circle, box, jac=lambda x: [1.0, 2.0], rng=0)


def test_small_budgets_are_kept_and_proofs_that_they_leave_out_are_said():
    for maxfev in (1, 3, 25):
        assert find_roots(circle, [(-3, 3)] * 2, rng=0, maxfev=maxfev).nfev <= maxfev
    assert places(find_roots(lambda x: [x[0] - 1], [(1, 1)], rng=0)) == [[1.0]]
    assert not find_roots(lambda x: [x[0] - 2], [(1, 1)], rng=0).modes


@pytest.mark.parametrize("has_jac", [True, False])
def test_searches_are_resumed_to_the_same_end(tmp_path, has_jac):
    system, stops = BY_NAME["cyclohexane"], []

    def search(**more):
        return find_roots(
            system.values, system.bounds, jac=system.jacobian if has_jac else None, vectorized=True, rng=4, maxfev=700,
            **more,
        )  # fmt: skip

    def stop(intermediate_result):
        stops.append(intermediate_result.nfev)
        return len(stops) == 12

    whole = search()
    assert search(checkpoint=tmp_path / "c", callback=stop).status.name == "STOPPED"
    again = search(checkpoint=tmp_path / "c")
    assert [mode.x.tolist() for mode in again.modes] == [mode.x.tolist() for mode in whole.modes]
    assert again.nfev == whole.nfev


@pytest.mark.slow
def test_workers_change_nothing():
    system = BY_NAME["Noonburg-3"]
    alone, both = (find_roots(system, system.bounds, rng=2, maxfev=500, workers=n) for n in (1, 2))
    assert [mode.x.tolist() for mode in alone.modes] == [mode.x.tolist() for mode in both.modes]
    assert alone.nfev == both.nfev
