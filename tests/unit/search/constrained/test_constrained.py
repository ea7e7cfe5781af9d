"""The search under constraints as a whole: every minimum, verified, with multipliers; saved, resumed, shuffled."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

from allmodes import ModeFinder, find_maxima, find_minima
from allmodes.problems import constrained_problems
from allmodes.search.searchers.constrained.constrained import NO_FEASIBLE, Constrained
from allmodes.status import Status

BOX = [(-6.0, 6.0)] * 2
DISC = NonlinearConstraint(lambda x: x @ x, -np.inf, 9.0, jac=lambda x: 2.0 * x[None])
IN_DISC = [12.18641876, 37.91317168, 86.60734153]


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def slope(x):
    a, b = x[0] ** 2 + x[1] - 11, x[0] + x[1] ** 2 - 7
    return np.array([4 * x[0] * a + 2 * b, 2 * a + 4 * x[1] * b])


@pytest.fixture(scope="module")
def in_disc():
    return find_minima(himmelblau, BOX, constraints=DISC, jac=slope, rng=0)


def values(result):
    return sorted(mode.fun for mode in result.modes)


def test_every_minimum_in_a_disc_is_found_and_no_other(in_disc):
    assert values(in_disc) == pytest.approx(IN_DISC, rel=1e-7)
    assert all(mode.kind == "constrained" and mode.active_constraints == (0,) for mode in in_disc.modes)
    assert in_disc.settings["constraints"] == 1
    assert in_disc.settings["ncev"] > in_disc.nfev


def test_modes_are_feasible_and_their_multipliers_satisfy_the_gradient_equation(in_disc):
    for mode in in_disc.modes:
        assert mode.violation <= 1e-8
        assert mode.multipliers[0] < 0.0  # the bound is an upper one: raising it lowers a minimum
        assert slope(mode.x) == pytest.approx(
            mode.multipliers[0] * 2.0 * mode.x, abs=1e-3 * np.abs(slope(mode.x)).max()
        )
        assert mode.eigenvalues.shape == (1,)
        assert mode.eigenvalues[0] > 0.0


def test_a_multiplier_is_the_gain_of_moving_the_bound(in_disc):
    best = in_disc.modes[0]
    wider = NonlinearConstraint(lambda x: x @ x, -np.inf, 9.01)
    moved = find_minima(himmelblau, BOX, constraints=wider, jac=slope, x0=best.x, maxfev=200, rng=0).modes[0]
    assert moved.fun - best.fun == pytest.approx(0.01 * best.multipliers[0], rel=0.05)


def test_maxima_are_those_of_the_negative(in_disc):
    found = find_maxima(lambda x: -himmelblau(x), BOX, constraints=DISC, jac=lambda x: -slope(x), rng=0)
    assert [-mode.fun for mode in found.modes] == pytest.approx([mode.fun for mode in in_disc.modes], rel=1e-9)
    assert [mode.multipliers[0] for mode in found.modes] == pytest.approx(
        [-mode.multipliers[0] for mode in in_disc.modes], rel=1e-6
    )


def test_values_are_enough(in_disc):
    assert values(find_minima(himmelblau, BOX, constraints=DISC, rng=1)) == pytest.approx(IN_DISC, rel=1e-6)


def test_an_equality_leaves_the_signs_of_multipliers_open():
    found = find_minima(
        lambda x: x[0] * x[1] * x[2], [(-2, 2)] * 3, rng=0, constraints={"type": "eq", "fun": lambda x: x @ x - 1}
    )
    assert values(found) == pytest.approx([-(3.0**-1.5)] * 4)
    assert all(mode.multipliers[0] == pytest.approx(-(3.0**-0.5) / 2, rel=1e-3) for mode in found.modes)


def test_both_sides_of_a_pair_that_meets_are_an_equality():
    pair = NonlinearConstraint(lambda x: [x @ x, x[0] + x[1]], [9.0, -np.inf], [9.0, 1.0])
    found = find_minima(himmelblau, BOX, constraints=pair, rng=0)
    assert values(found) == pytest.approx([IN_DISC[1], 40.0, IN_DISC[2]], rel=1e-6)
    assert {mode.active_constraints for mode in found.modes} == {(0,), (0, 1)}


def test_vertices_of_a_simplex_are_found():
    found = find_minima(lambda x: -(x @ x), [(0, 1)] * 3, constraints=LinearConstraint(np.ones((1, 3)), 1, 1), rng=0)
    assert {tuple(np.round(mode.x, 6)) for mode in found.modes} == {(1, 0, 0), (0, 1, 0), (0, 0, 1)}


def test_corners_that_every_derivative_vanishes_at_are_no_minima():
    """(2, 5) is a corner of the feasible set that this function falls away from, with the fourth power."""
    with np.errstate(all="ignore"):
        found = find_minima(
            lambda x: -np.sin(2 * np.pi * x[0]) ** 3 * np.sin(2 * np.pi * x[1]) / (x[0] ** 3 * (x[0] + x[1])),
            [(0.1, 10), (0.1, 10)], rng=0, maxfev=600,
            constraints={"type": "ineq", "fun": lambda x: [x[1] - x[0] ** 2 - 1, x[0] - 1 - (x[1] - 4) ** 2]},
        )  # fmt: skip
    assert found.fun == pytest.approx(-0.09582504)
    assert min(np.abs(mode.x - [2.0, 5.0]).max() for mode in found.modes) > 0.1


def test_periodic_coordinates_go_with_constraints():
    found = find_minima(
        lambda x: np.cos(x[0]) + np.sin(2 * x[1] + x[0]), [(0, 2 * np.pi)] * 2, periodic=True, rng=0, maxfev=1500,
        constraints=NonlinearConstraint(lambda x: np.cos(x[0] - x[1]), -np.inf, 0.0),
    )  # fmt: skip
    assert found.fun == pytest.approx(-2.0)
    assert len(found.modes) == 4


def test_a_constraint_that_is_kept_is_never_violated():
    seen = []

    def fun(x):
        seen.append(x @ x)
        return himmelblau(x)

    kept = NonlinearConstraint(lambda x: x @ x, -np.inf, 9.0, keep_feasible=True)
    found = find_minima(fun, BOX, constraints=kept, rng=0, maxfev=900)
    assert max(seen) <= 9.0
    assert values(found) == pytest.approx(IN_DISC, rel=1e-6)


def test_a_function_may_be_undefined_outside():
    def fun(x):
        return himmelblau(x) + 0.0 * np.sqrt(9.0 - x @ x) if x @ x <= 9.0 else np.nan

    found = find_minima(fun, BOX, constraints=DISC, rng=0, maxfev=900)
    assert values(found) == pytest.approx(IN_DISC, rel=1e-6)
    assert all(mode.kind == "constrained" for mode in found.modes)


def test_redundant_constraints_change_nothing():
    twice = [DISC, NonlinearConstraint(lambda x: 2 * (x @ x), -np.inf, 18.0), LinearConstraint([[1, 0]], -np.inf, 5)]
    assert values(find_minima(himmelblau, BOX, constraints=twice, jac=slope, rng=0)) == pytest.approx(IN_DISC, rel=1e-6)


def test_kinks_are_followed_and_said_to_be_unverified():
    found = find_minima(
        lambda x: abs(x[0] - 0.5) + abs(x[1] + 0.3), [(-2, 2)] * 2, rng=0, maxfev=2000,
        constraints=NonlinearConstraint(lambda x: x @ x, -np.inf, 1.0),
    )  # fmt: skip
    assert found.x == pytest.approx([0.5, -0.3], abs=1e-4)
    assert [mode.kind for mode in found.modes] == ["unverified"]


def test_without_a_feasible_point_the_least_violated_one_is_told():
    far = [NonlinearConstraint(lambda x: x @ x, -np.inf, 1.0), LinearConstraint([[1, 1]], 5, np.inf)]
    found = find_minima(himmelblau, BOX, constraints=far, rng=0)
    assert found.status is Status.NO_FEASIBLE_POINT
    assert not found.success
    assert (len(found.modes), found.nfev) == (0, 0)
    assert found.x[0] == pytest.approx(found.x[1], abs=1e-2)  # between the disc and the line
    assert 0.7 < found.x[0] < 2.5
    assert NO_FEASIBLE in found.message.lower()


def test_a_noisy_function_is_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="constraints are given and fun is noisy"):
        find_minima(lambda x: himmelblau(x) + rng.normal(), BOX, constraints=DISC, rng=0)
    with pytest.raises(ValueError, match="constraints and noise are both given"):
        find_minima(himmelblau, BOX, constraints=DISC, noise=0.1)


# ---- saved, resumed, shuffled


def step(finder, order=None):
    points = finder.ask()
    rows = np.arange(len(points)) if order is None else order.permutation(len(points))
    finder.tell(points[rows], [himmelblau(x) for x in points[rows]])


def run(finder, order=None):
    while not finder.stop():
        step(finder, order)
    return finder.result


def begun():
    return ModeFinder(BOX, constraints=DISC, rng=3, maxfev=400)


def same(one, other):
    assert len(one.modes) == len(other.modes) > 0
    for a, b in zip(one.modes, other.modes, strict=True):
        assert np.array_equal(a.x, b.x)
        assert np.array_equal(a.multipliers, b.multipliers)
        assert (a.fun, a.hits, a.kind, a.found_at) == (b.fun, b.hits, b.kind, b.found_at)
    assert (one.nfev, one.message, one.settings["ncev"]) == (other.nfev, other.message, other.settings["ncev"])


def test_saved_and_resumed_between_any_two_calls_it_is_the_same(tmp_path):
    expected, finder = run(begun()), begun()
    while not finder.stop():
        step(finder)
        finder.save(tmp_path / "search")
        finder = ModeFinder.load(tmp_path / "search", constraints=DISC)
    same(finder.result, expected)
    assert isinstance(finder._driver.state.search, Constrained)


def test_told_in_another_order_it_is_the_same():
    same(run(begun(), np.random.default_rng(8)), run(begun()))


def test_workers_change_nothing():
    settings = {"constraints": DISC, "rng": 0, "maxfev": 300}
    same(find_minima(himmelblau, BOX, workers=map, **settings), find_minima(himmelblau, BOX, **settings))


def test_a_saved_search_wants_its_constraints_again(tmp_path):
    finder = begun()
    finder.save(tmp_path / "search")
    with pytest.raises(ValueError, match="pass the same constraints again"):
        ModeFinder.load(tmp_path / "search")
    free = ModeFinder(BOX, rng=0)
    free.save(tmp_path / "free")
    with pytest.raises(ValueError, match="has no constraints"):
        ModeFinder.load(tmp_path / "free", constraints=DISC)


@pytest.mark.parametrize("seed", [0, 1])
def test_corners_with_small_basins_are_found(seed):
    problem = constrained_problems()["waves on a simplex"]
    found = find_minima(
        problem.value, problem.bounds, constraints=problem.constraints, jac=problem.gradient, rng=seed, maxfev=160
    )
    assert problem.found([mode.x for mode in found.modes]).all()
