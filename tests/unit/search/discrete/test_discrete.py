"""Whole numbers and choices: every optimum, none that is not one, and no fraction ever."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from allmodes import ModeFinder, find_fits, find_maxima, find_minima
from allmodes.objective.bounds import Box
from allmodes.objective.grids import Grid
from allmodes.search.searchers.discrete.discrete import Discrete
from allmodes.search.searchers.discrete.inner import Inner
from allmodes.search.searchers.discrete.mixed import MixedWalk
from allmodes.search.searchers.discrete.nodes import Nodes
from allmodes.search.searchers.discrete.space import Space
from allmodes.search.searchers.discrete.walk import Walk

Q = np.random.default_rng(3).normal(size=(10, 10))
BITS = [(0, 1)] * 10


def qubo(x):
    assert set(x) <= {0.0, 1.0}
    return float(x @ Q @ x)


def optima():
    """By trying every point."""
    points = np.array(list(itertools.product([0.0, 1.0], repeat=10)))
    values = np.einsum("ni,ij,nj->n", points, Q, points)
    around = np.abs(points[:, None, :] - np.eye(10))
    beside = np.einsum("nki,ij,nkj->nk", around, Q, around)
    return {tuple(point) for point in points[(beside >= values[:, None]).all(axis=1)]}


def places(result):
    return {tuple(mode.x) for mode in result.modes}


def test_a_small_space_is_searched_as_a_whole():
    result = find_minima(qubo, BITS, integrality=True, rng=0)
    assert places(result) == optima()
    assert result.nfev == result.coverage.whole == 1024
    assert "all 1,024 points were evaluated" in str(result.coverage)
    assert result.coverage.missing_modes == 0
    assert result.coverage.share_upper == 0


def test_walks_find_them_with_fewer_points_and_both_signs_agree():
    result = find_minima(qubo, BITS, integrality=True, rng=0, maxfev=700)
    assert places(result) == optima()
    assert not result.coverage.whole
    largest = find_maxima(lambda x: -qubo(x), BITS, integrality=True, rng=0, maxfev=700)
    assert places(largest) == places(result)
    assert largest.nfev == result.nfev <= 700


def test_a_plateau_is_one_mode_and_no_point_of_it_another():
    result = find_minima(lambda x: float(max(abs(x[0]) - 3, 0)), [(-10, 10)], integrality=[True], rng=0)
    assert len(result.modes) == 1
    assert result.fun == 0.0
    slope = find_minima(lambda x: float(min(x[0], 5)), [(-10, 30)], integrality=[1], rng=0)  # level above 5
    assert places(slope) == {(-10.0,)}


def test_swaps_are_small_changes_where_asked_for():
    def fun(x):  # exactly two of four, the later the better
        return 10.0 * abs(x.sum() - 2) - float(x @ np.arange(4))

    assert len(find_minima(fun, [(0, 1)] * 4, integrality=True, rng=0).modes) == 6
    assert len(find_minima(fun, [(0, 1)] * 4, integrality=True, options={"swap": True}, rng=0).modes) == 1


def mixed(x):
    assert x[1] == round(x[1])
    return (x[0] - 0.1 * x[1]) ** 2 + np.cos(1.5 * x[1])


def test_reals_are_made_good_beside_whole_numbers():
    result = find_minima(mixed, [(-1, 2), (0, 9)], integrality=[0, 1], rng=0)
    assert places(result)
    assert sorted(round(x[1]) for x in places(result)) == [2, 6, 9]
    for mode in result.modes:
        np.testing.assert_allclose(mode.x[0], 0.1 * mode.x[1], atol=1e-5)
        np.testing.assert_allclose(mode.hessian[0, 0], 2.0, rtol=1e-3)
        assert np.isnan(mode.hessian[1]).all()
        assert mode.kind == "minimum"


def test_choices_reach_the_function_and_the_table():
    price = {"steel": 2.0, "wood": 1.0, "glass": 3.0}

    def cost(x):
        assert x[1] in price
        assert x[2] in (0.5, 0.75, 1.25)
        return price[x[1]] * (x[0] - 0.3) ** 2 + price[x[1]] + (x[2] - 0.8) ** 2

    result = find_minima(cost, [(0, 1), ["steel", "wood", "glass"], [1.25, 0.5, 0.75]], rng=0)
    assert len(result.modes) == 1
    assert result.modes[0].choices == {1: "wood"}
    np.testing.assert_allclose(result.x, [0.3, 1.0, 0.75], atol=1e-5)
    assert "wood" in str(result)
    assert "wood" in repr(result.modes[0])


@pytest.mark.parametrize(("fun", "bounds", "whole"), [(qubo, BITS, True), (mixed, [(-1, 2), (0, 9)], [0, 1])])
def test_ask_tell_and_files_change_nothing(fun, bounds, whole, tmp_path):
    straight = find_minima(fun, bounds, integrality=whole, rng=1, maxfev=900)
    finder = ModeFinder(bounds, integrality=whole, rng=1, maxfev=900)
    for _ in range(1000):
        if finder.stop():
            break
        points = finder.ask(7)
        finder.tell(points, [fun(point) for point in points])
        if finder.nit % 3 == 0:
            finder.save(tmp_path / "search.npz")
            finder = ModeFinder.load(tmp_path / "search.npz")
    assert places(finder.result) == places(straight)
    assert finder.nfev == straight.nfev


def test_a_vectorized_function_gives_the_same():
    result = find_minima(lambda x: ((x @ Q) * x).sum(axis=1), BITS, integrality=True, vectorized=True, rng=0)
    assert places(result) == optima()


def test_the_best_of_a_large_space():
    target = np.array([17, 230, 4, 99])
    result = find_minima(lambda x: float(np.abs(x - target).sum()), [(0, 255)] * 4, integrality=True, target="global",
                         rng=0)  # fmt: skip
    assert places(result) == {tuple(target)}
    assert result.nfev < 20_000


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"bounds": [(0, 2.5)], "integrality": True}, r"coordinate 0 is a whole number .* wanted whole ones: \(0, 2\)"),
        ({"bounds": [(0, None)], "integrality": True}, "give it finite ones"),
        ({"bounds": [(0, 3)], "integrality": [1, 0]}, "wanted True, or 1 booleans"),
        ({"bounds": [(0, 3)], "integrality": [2]}, "wanted True, or 1 booleans"),
        ({"bounds": [(0, 3)], "integrality": True, "periodic": True}, "is periodic"),
        ({"bounds": [(0, 3)], "integrality": True, "noise": True}, "without noise"),
        ({"bounds": [(0, 3)], "integrality": True, "method": "local"}, 'wanted method "auto"'),
        ({"bounds": [(0, 3)], "integrality": True, "jac": lambda x: x}, "leave jac and hess out"),
        ({"bounds": [(0, 3)], "integrality": True, "x0": [1.5]}, "x0 has 1.5 in coordinate 0; wanted a whole number"),
        ({"bounds": [["oak"]]}, "the only choice 'oak'"),
        ({"bounds": [["oak", "oak"]]}, "every choice must be there once"),
        ({"bounds": [[1.0, np.inf, 2.0]]}, "finite numbers"),
    ],
)
def test_what_does_not_go_together_is_refused(given, said):
    with pytest.raises(ValueError, match=said):
        find_minima(lambda x: 0.0, **given)


def test_fits_refuse_choices():
    with pytest.raises(ValueError, match="use find_minima"):
        find_fits(lambda x: x - 1.0, [[1.0, 2.0, 3.0]])


def test_grids_count_levels_both_ways():
    grid = Grid(3, sizes=np.array([0.5, 0.75, 2.0]))
    np.testing.assert_array_equal(grid.from_units(grid.units(np.array([0.5, 0.75, 2.0]))), [0.5, 0.75, 2.0])
    box = Box.make([(2, 5), [4.0, 1.0, 9.0]], integrality=[1, 0])
    np.testing.assert_array_equal(box.to_user(box.to_unit(np.array([[3.0, 4.0]]))), [[3.0, 4.0]])


def test_neighbours_are_one_level_off_or_any_other_choice():
    space = Space.of(Box.make([(0, 5), ["a", "b", "c"]], integrality=[1, 0]))
    found = {tuple(each) for each in space.neighbours(np.array([5, 1])).tolist()}
    assert found == {(4, 1), (5, 0), (5, 2)}
    assert space.size == 18
    np.testing.assert_array_equal(space.numbered(np.arange(18))[4], [1, 1])


def test_nodes_know_levels_and_places():
    nodes = Nodes(2, 1)
    rows = [nodes.add(np.array([i, 0]), np.array([0.1]), float(i)) for i in range(200)]
    assert nodes.find(np.array([150, 0])) == rows[150]
    assert nodes.find(np.array([150, 1])) == -1
    assert nodes.nearest(np.array([3, 0]), np.array([0.1 + 1e-7])) == (-1, np.inf)
    nodes.lead([3], 7)
    row, apart = nodes.nearest(np.array([3, 0]), np.array([0.1 + 1e-7]))
    assert row == 3
    np.testing.assert_allclose(apart, 1e-7, rtol=1e-6)


@pytest.mark.parametrize("kinked", [False, True])
def test_reals_are_climbed_to_the_bound_and_over_kinks(kinked):
    def value(x):
        inside = np.abs(x[0] - 0.3) if kinked else (x[0] - 0.3) ** 2
        return -float(inside + 2.0 * (x[1] - 1.5) ** 2)

    search, rng = Inner(np.array([0.8, 0.2]), np.zeros(2), np.ones(2), 1e-6), np.random.default_rng(0)
    for _ in range(1000):
        if search.is_over:
            break
        search.tell(np.array([value(x) for x in search.ask(rng)]), 1e-15)
    np.testing.assert_allclose(search.x, [0.3, 1.0], atol=1e-5)


def test_the_parts_of_a_search():
    finder = ModeFinder([(0, 9), (0, 1)], integrality=[1, 0], rng=0)
    finder.ask()
    search = finder._driver.state.search
    assert isinstance(search, Discrete)
    assert all(isinstance(walk, MixedWalk) for walk in search.walks)
    assert not isinstance(search.walks[0], Walk)
