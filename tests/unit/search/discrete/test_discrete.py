"""Whole numbers and choices: every optimum, none that is not one, and no fraction ever."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from allmodes import ModeFinder, Result, find_fits, find_maxima, find_minima
from allmodes.problems import whole
from allmodes.report.page.rerun import snippet
from allmodes.report.slices import cut
from allmodes.search.searchers.discrete.discrete import Discrete
from allmodes.search.searchers.discrete.mixed import MixedWalk
from allmodes.search.searchers.discrete.walk import Walk
from allmodes.status import Status

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
        ({"bounds": [(0, 3)], "options": {"swap": True}}, "for whole numbers and choices"),
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


def test_the_parts_of_a_search():
    finder = ModeFinder([(0, 9), (0, 1)], integrality=[1, 0], rng=0)
    finder.ask()
    search = finder._driver.state.search
    assert isinstance(search, Discrete)
    assert all(isinstance(walk, MixedWalk) for walk in search.walks)
    assert not isinstance(search.walks[0], Walk)


def test_all_points_are_known_when_the_budget_is_as_large_as_the_space():
    result = find_minima(qubo, BITS, integrality=True, rng=0, maxfev=1024)
    assert places(result) == optima()
    assert result.status == Status.NOTHING_NEW
    assert "There is nothing else to be found" in result.message
    assert "all 1,024 points were evaluated" in str(result.coverage)


def test_local_optima_of_a_knapsack_are_those_of_enumeration():
    problem = whole.knapsack(10)
    points = np.array(list(itertools.product([0.0, 1.0], repeat=10)))
    values = problem.values(points)
    beside = problem.values(np.abs(points[:, None, :] - np.eye(10)).reshape(-1, 10)).reshape(-1, 10)
    known = {tuple(point) for point in points[(beside >= values[:, None]).all(axis=1)]}
    assert len(known) > 50
    for maxfev in (1024, 1000):  # by trying all, and by walks
        found = places(find_minima(problem, problem.bounds, integrality=True, rng=0, maxfev=maxfev))
        assert found <= known
        assert len(found) >= (1.0 if maxfev == 1024 else 0.6) * len(known)


def test_the_optima_of_a_separable_function_of_wide_ranges():
    def along(x, i):
        return (x - [1, 33, 700][i]) ** 2 + [0.0, 20.0 * np.cos(x), 200.0 * np.cos(x / 10.0)][i]

    sides = [np.arange(0, 2), np.arange(0, 101), np.arange(1, 1001)]
    lows = []
    for i, side in enumerate(sides):
        wide = np.concatenate([[np.inf], along(side, i), [np.inf]])
        lows.append(side[(wide[1:-1] < wide[:-2]) & (wide[1:-1] < wide[2:])])
    result = find_minima(
        lambda x: float(sum(along(x[i], i) for i in range(3))), [(0, 1), (0, 100), (1, 1000)], integrality=True, rng=0
    )
    assert places(result) == set(itertools.product(*(low.astype(float).tolist() for low in lows)))


def test_modes_beside_reals_are_those_of_an_analytic_inner_minimum():
    """For each x1 the reals are best at 0.1 x1 and 0.05 x1^2; what is left is a function of x1 alone."""
    heights = np.array([3.0, 1.0, 2.0, 2.5, 0.5, 4.0, 3.5, 3.6, 0.9, 5.0])

    def fun(x):
        return 8.0 * (x[0] - 0.1 * x[1]) ** 2 + (x[2] - 0.05 * x[1] ** 2) ** 2 + heights[int(x[1])]

    result = find_minima(fun, [(-1, 2), (0, 9), (-1, 5)], integrality=[0, 1, 0], rng=0)
    assert sorted(mode.x[1] for mode in result.modes) == [1, 4, 6, 8]
    for mode in result.modes:
        np.testing.assert_allclose(mode.x[[0, 2]], [0.1 * mode.x[1], 0.05 * mode.x[1] ** 2], atol=1e-5)
        np.testing.assert_allclose(mode.fun, heights[int(mode.x[1])], atol=1e-9)


@pytest.mark.parametrize("make", [whole.gear_train, whole.pressure_vessel, whole.spring, lambda: whole.qubo(30)])
def test_no_function_is_called_at_a_fraction(make):
    problem = make()

    def fun(x):
        for value, bounds, is_whole in zip(x, problem.bounds, problem.integrality, strict=True):
            assert value in bounds if isinstance(bounds, list) else bounds[0] <= value <= bounds[1]
            assert not is_whole or value == np.rint(value)
        return problem(x)

    result = find_minima(fun, problem.bounds, integrality=problem.integrality, rng=0, maxfev=3000)
    assert result.nfev <= 3000
    assert result.nfail == 0


def test_plots_call_the_function_at_levels_alone():
    seen = []

    def fun(x):
        seen.append(tuple(x))
        return {"oak": 1.0, "ash": 2.0, "elm": 1.5}[x[0]] * (x[1] - 3) ** 2 + (x[2] - 0.5) ** 2

    result = find_minima(fun, [["oak", "ash", "elm"], (0, 6), [0.25, 0.5, 2.0]], integrality=[0, 1, 0], rng=0)
    seen.clear()
    sides = [np.linspace(0, 2, 5), np.linspace(0, 6, 8), np.linspace(0.25, 2, 6)]
    for pair in ([0, 1], [1, 2]):
        cut(result, fun, pair, result.x, [sides[i] for i in pair])
    assert seen
    assert all(x[0] in ("oak", "ash", "elm") and x[1] == round(x[1]) and x[2] in (0.25, 0.5, 2.0) for x in seen)


def test_results_with_choices_are_saved_and_the_snippet_has_them(tmp_path):
    result = find_minima(lambda x: float(x[1] == "ash") + x[0], [(0, 3), ["oak", "ash"]], integrality=[1, 0], rng=0)
    result.save(tmp_path / "result.npz")
    assert Result.load(tmp_path / "result.npz").modes[0].choices == {1: "oak"}
    assert "bounds=[(0.0, 3.0), ['oak', 'ash']]" in snippet(result)
    assert "integrality=[1, 0]" in snippet(result)


def test_workers_change_nothing():
    problem = whole.pressure_vessel()
    alone, many = (
        find_minima(problem, problem.bounds, rng=2, maxfev=600, workers=workers)
        for workers in (1, ThreadPoolExecutor(3))
    )
    assert alone.nfev == many.nfev
    assert [tuple(mode.x) for mode in alone.modes] == [tuple(mode.x) for mode in many.modes]
    np.testing.assert_array_equal(alone.x, many.x)


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda: whole.qubo(24), whole.welded_beam], ids=["QUBO", "welded beam"])
def test_a_search_goes_on_from_a_file_after_every_call(make, tmp_path):
    problem = make()
    asked: list[list[np.ndarray]] = []
    for is_saved in (False, True):
        finder = ModeFinder(problem.bounds, integrality=problem.integrality, rng=1, maxfev=6000)
        asked.append([])
        while not finder.stop() and len(asked[-1]) < 80:
            asked[-1].append(finder.ask())
            if is_saved:
                finder.save(tmp_path / "search.npz")
                finder = ModeFinder.load(tmp_path / "search.npz")
            finder.tell(asked[-1][-1], problem.values(asked[-1][-1]))
            if is_saved:
                finder.save(tmp_path / "search.npz")
                finder = ModeFinder.load(tmp_path / "search.npz")
    for one, other in zip(*asked, strict=True):
        np.testing.assert_array_equal(one, other)
