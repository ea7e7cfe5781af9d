import numpy as np
import pytest

import allmodes
from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive, Frozen
from allmodes.search.candidate import SYMMETRY
from allmodes.search.context import Context
from allmodes.search.events import Arrived
from allmodes.search.searchers.symmetry.symmetry import Symmetry

BOX = Box.make([(-2.0, 2.0)] * 3)


def wells(x, tilt=0.0):
    """Double wells that may be exchanged and mirrored together: 8 minima in orbits of 2 and 6; a tilt breaks that."""
    return ((x**2 - 1) ** 2).sum(axis=-1) + 0.1 * x.sum(axis=-1) ** 2 + tilt * x[..., 1]


def a_context(order=0):
    context = Context(BOX, Archive(BOX), np.random.default_rng(0), order=order)
    context.observe_level(-wells(np.random.default_rng(1).uniform(-2, 2, (100, 3))))
    return context


def add(context, x, tilt=0.0):
    """A minimum near x, as a mode."""
    from scipy.optimize import minimize

    x = minimize(wells, x, args=(tilt,), tol=1e-14).x
    H = 4.0 * (np.diag(12 * x**2 - 4) + 0.2) * 4.0
    record = Frozen(np.zeros(3), -H, np.zeros(3, bool), "optimum", "differences", 1)
    context.archive.add(BOX.to_unit(x[None])[0], -float(wells(x, tilt)), record)


def play(context, tilt=0.0):
    """Ask and tell until nothing is left; the candidates, which are not added to the archive."""
    searcher, candidates, cost = Symmetry(context), [], 0
    while not searcher.ending:
        points = searcher.ask(is_settled=True).points
        cost += len(points)
        if len(points):
            events = searcher.tell(Evaluation(-wells(BOX.to_user(points), tilt)))
            candidates += [event.candidate for event in events if isinstance(event, Arrived)]
    return searcher, candidates, cost


def test_without_modes_nothing_is_asked():
    searcher, candidates, cost = play(a_context())
    assert (searcher.maps, candidates, cost) == ([], [], 0)


def test_two_equal_modes_show_a_symmetry_and_the_images_of_others():
    context = a_context()
    add(context, [1.0, 1.0, -1.0])
    add(context, [1.0, -1.0, 1.0])
    add(context, [1.0, 1.0, 1.0])
    searcher, candidates, cost = play(context)
    assert len(searcher.maps) == 1
    assert cost <= 12
    for candidate in candidates:
        assert candidate.origin.member == SYMMETRY
        x = BOX.to_user(candidate.point[None])[0]
        assert np.isclose(wells(x), -candidate.value, rtol=0, atol=1e-12)
        H = 16.0 * (np.diag(12 * x**2 - 4) + 0.2)
        np.testing.assert_allclose(candidate.hessian, -H, rtol=1e-6)


def test_a_symmetry_that_values_refute_is_not_used():
    """The control: two modes of equal height that are images of each other, in a function that is not symmetric."""
    context = a_context()
    add(context, [1.0, 1.0, -1.0])
    add(context, [1.0, -1.0, 1.0])
    searcher, candidates, _ = play(context, tilt=0.3)
    assert searcher.maps == []
    assert len(searcher.refuted) == 1
    assert candidates == []


def test_modes_of_other_height_cost_nothing():
    context = a_context()
    add(context, [1.0, 1.0, -1.0])
    add(context, [1.0, 1.0, 1.0])
    assert play(context)[2] == 0


@pytest.mark.parametrize("jac", [None, lambda x: 4 * x * (x**2 - 1) + 0.2 * x.sum()])
def test_a_search_finds_whole_orbits_and_says_so(jac):
    result = allmodes.find_minima(wells, [(-2, 2)] * 3, jac=jac, rng=0, names=["a", "b", "c"])
    assert len(result.modes) == 8
    assert {mode.kind for mode in result.modes} == {"minimum"}
    rng = np.random.default_rng(5)
    for M in result.symmetries:
        x = rng.uniform(-2, 2, 3)
        assert np.isclose(wells(M @ x), wells(x))
    assert len(result.symmetries) >= 1
    assert "seen to be the same under" in str(result)


def test_a_function_without_symmetries_has_none():
    result = allmodes.find_minima(lambda x: wells(x, 0.1) + 0.2 * x[0] + 0.05 * x[2], [(-2, 2)] * 3, rng=0)
    assert result.symmetries == ()


def test_fixed_coordinates_stay_in_the_matrices():
    def fun(x):
        return (x[0] ** 2 - 1) ** 2 + x[1] + (x[2] ** 2 - 1) ** 2 + 0.3 * x[0] * x[2]

    result = allmodes.find_minima(fun, [(-2, 2), (3, 3), (-2, 2)], rng=0)
    assert result.symmetries[0].shape == (3, 3)
    for M in result.symmetries:
        assert M[1].tolist() == [0, 1, 0]


def test_a_search_with_symmetries_is_saved_between_any_two_rounds(tmp_path):
    options = {"bounds": [(-2, 2)] * 3, "rng": 0, "maxfev": 400}
    whole, parts = allmodes.ModeFinder(**options), allmodes.ModeFinder(**options)
    while not whole.stop():
        x = whole.ask()
        whole.tell(x, wells(x))
    while not parts.stop():
        parts.save(tmp_path / "half")
        parts = allmodes.ModeFinder.load(tmp_path / "half")
        x = parts.ask()
        parts.tell(x, wells(x))
    assert len(whole.result.symmetries) >= 1
    assert [mode.x.tolist() for mode in parts.result.modes] == [mode.x.tolist() for mode in whole.result.modes]
    assert np.array_equal(parts.result.symmetries, whole.result.symmetries)


def lopsided(x):
    """Mirrored, but for a wall on one side that starts beyond the minima."""
    return (x[0] ** 2 - 1) ** 2 + (x[1] ** 2 - 1) ** 2 + 10 * max(0.0, x[0] - 2) ** 3


@pytest.mark.parametrize("seed", range(4))
def test_what_holds_in_a_part_of_the_box_is_no_symmetry(seed):
    result = allmodes.find_minima(lopsided, [(-4, 4)] * 2, rng=seed)
    assert len(result.modes) == 4
    for M in result.symmetries:
        assert M[0, 0] == 1.0
        assert M[0, 1] == 0.0


def test_an_image_that_is_worse_refutes_a_symmetry():
    """A hole that has no image on the other side, far from the modes that show the symmetry."""

    def fun(x):
        wells = ((x[0] ** 2 - 1) ** 2 + (x[1] ** 2 - 1) ** 2) / (1 + 0.1 * (x @ x) ** 2)
        return wells - 3 * np.exp(-((x[0] - 8) ** 2) - (x[1] - 7) ** 2)

    result = allmodes.find_minima(fun, [(-10, 10)] * 2, rng=0)
    assert any(np.allclose(mode.x, [7.97, 7.03], atol=0.05) for mode in result.modes)
    assert result.symmetries == () or all(np.allclose(M @ [8, 7], [8, 7]) for M in result.symmetries)
