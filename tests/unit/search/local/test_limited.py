"""Local searches in many dimensions: where they arrive, what they leave, and when they go on by whole models."""

import numpy as np
import pytest
from local_runs import answer, begin, freeze, run

from allmodes import find_minima
from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive
from allmodes.search.candidate import BETWEEN_MODES
from allmodes.search.context import Context
from allmodes.search.curvature import LowRank
from allmodes.search.events import Arrived, Recognised
from allmodes.search.searchers.local.limited import Limited
from allmodes.search.searchers.local.limited_table import KEPT, LimitedTable

D = 40
SLOPES = np.random.default_rng(5).uniform(-0.3, 0.3, D)


def wells(z):
    """2^40 maxima in a unit cube."""
    x = 4.0 * z - 2.0
    return -((x**2 - 1.0) ** 2 + SLOPES * x).sum(axis=-1), -4.0 * (4.0 * x * (x**2 - 1.0) + SLOPES), None


def valley(z):
    """A bowl of condition 1e4 along turned axes, with its maximum in the middle."""
    turned = np.linalg.qr(np.random.default_rng(0).standard_normal((D, D)))[0]
    x, sizes = (z - 0.5) @ turned, np.logspace(0.0, 4.0, D)
    return -0.5 * (sizes * x**2).sum(axis=-1), -(sizes * x) @ turned.T, None


def a_context(function, bounds=((0.0, 1.0),) * D):
    box = Box.make(bounds)
    context = Context(box, Archive(box, is_light=True), np.random.default_rng(0), order=1)
    context.observe_level(function(np.random.default_rng(1).random((101, box.d)))[0])
    return context


def test_searches_arrive_at_maxima_with_fewer_gradients_than_a_hessian_takes():
    context = a_context(wells)
    events = run(begin(context, np.random.default_rng(2).random((8, D))), wells)
    for event in events:
        assert isinstance(event, Arrived)
        candidate = event.candidate
        x = 4.0 * candidate.point - 2.0
        assert np.abs(4.0 * x * (x**2 - 1.0) + SLOPES).max() < 1e-3
        assert (12.0 * x**2 - 4.0).min() > 0.0
        assert candidate.source == "estimated"
        assert isinstance(candidate.hessian, LowRank)
        assert candidate.hessian.spectrum.max() < 0.0
        assert candidate.origin.cost < D
    assert sum(event.candidate.origin.cost for event in events) == context.nfev


def test_estimated_curvature_is_about_right():
    event = run(begin(a_context(wells), np.random.default_rng(3).random((1, D))), wells)[0]
    exact = 16.0 * (12.0 * (4.0 * event.candidate.point - 2.0) ** 2 - 4.0)
    H = np.asarray(event.candidate.hessian)
    assert abs(np.linalg.slogdet(H)[1] - np.log(exact).sum()) < 0.1 * D
    assert np.linalg.eigvalsh(-H)[0] > 0.5 * exact.min()
    assert np.linalg.eigvalsh(-H)[-1] < 2.0 * exact.max()


@pytest.mark.parametrize("levels", [1, 5, D])
def test_a_search_that_begins_at_a_saddle_leaves_it(levels):
    """There the slope is zero, as it is along the way of starts that are symmetric."""

    def even(z):
        x = 4.0 * z - 2.0
        return -((x**2 - 1.0) ** 2).sum(axis=-1), -16.0 * x * (x**2 - 1.0), None

    start = np.full(D, 0.75)
    start[:levels] = 0.5
    event = run(begin(a_context(even), [start], kind=BETWEEN_MODES), even)[0]
    assert isinstance(event, Arrived)
    np.testing.assert_allclose(np.abs(4.0 * event.candidate.point - 2.0), 1.0, atol=1e-4)


def test_maxima_at_bounds_are_reached():
    def slope(z):
        x = z - np.where(np.arange(D) < 5, 1.3, 0.5)
        return -50.0 * (x**2).sum(axis=-1), -100.0 * x, None

    event = run(begin(a_context(slope), np.random.default_rng(4).random((1, D))), slope)[0]
    np.testing.assert_allclose(event.candidate.point, np.where(np.arange(D) < 5, 1.0, 0.5), atol=1e-6)

    def corner(z):
        return z.sum(axis=-1), np.ones_like(z), None

    event = run(begin(a_context(corner), np.random.default_rng(4).random((1, D))), corner)[0]
    np.testing.assert_array_equal(event.candidate.point, np.ones(D))


def test_known_modes_are_recognised():
    context = a_context(wells)
    start = np.random.default_rng(6).random((1, D))
    first = run(begin(context, start), wells)[0].candidate
    j = freeze(context, first.point, first.value, first.hessian)
    event = run(begin(context, start), wells)[0]
    assert event == Recognised(event.origin, j)
    assert event.origin.cost < 0.6 * first.origin.cost
    other = run(begin(context, 1.0 - start), wells)[0]
    assert isinstance(other, Arrived)


def test_slow_searches_go_on_by_whole_models():
    context = a_context(valley)
    event = run(begin(context, np.random.default_rng(7).random((1, D))), valley)[0]
    assert event.candidate.source == "differences"
    np.testing.assert_allclose(event.candidate.point, 0.5, atol=1e-6)
    assert event.candidate.origin.cost < 6 * D


def test_a_search_that_cannot_look_beside_its_maximum_ends():
    """The function fails everywhere but at the points of its first steps."""
    context = a_context(wells)
    local = begin(context, np.random.default_rng(8).random((1, D)))
    for _ in range(200):
        blocks = local.ask()
        told = answer(context, blocks, wells)
        if blocks[0].kind == "CURVE":
            told = [each._replace(gradient=np.full_like(each.gradient, np.nan)) for each in told]
        events = local.tell(blocks, told)
        if events:
            break
    assert not isinstance(events[0], Arrived)


def test_what_a_search_keeps_is_proportional_to_the_dimension():
    def size(d):
        table = LimitedTable(d)
        return sum(np.prod(getattr(table, each.name).shape[1:]) for each in table.columns())

    assert size(400) - size(200) == pytest.approx(2.0 * (size(200) - size(100)))
    assert LimitedTable(50).axes.shape == (0, KEPT, 50)


def test_saddles_are_not_listed():
    """A third of the coordinates of f have an inflection where their slope vanishes, and no minimum inside."""

    def fun(x):
        return (x[:, 9:] ** 2).sum(axis=1) + (x[:, :9] ** 3).sum(axis=1)

    def jac(x):
        return np.concatenate([3.0 * x[:, :9] ** 2, 2.0 * x[:, 9:]], axis=1)

    result = find_minima(fun, [(-1.0, 1.0)] * D, jac=jac, vectorized=True, maxfev=600, rng=0)
    assert result.modes
    assert all(mode.kind == "boundary" for mode in result.modes)
    assert result.fun == pytest.approx(-9.0)


def test_many_dimensions_use_this_machine():
    context = a_context(wells)
    local = begin(context, np.random.default_rng(9).random((2, D)))
    assert isinstance(local.limited, Limited)
    assert len(local.limited.table) == 2
    assert not len(local.trust_region.table)


def test_maxima_of_models_that_have_none_are_not_compared():
    """Where the function is curved upward they are beyond all numbers, and a tree of modes knows none beside them."""
    context = a_context(wells)
    for place in np.random.default_rng(10).random((60, D)):
        freeze(context, place, 0.0)
    starts = 0.5 + 0.02 * np.random.default_rng(11).standard_normal((40, D))
    assert len(run(begin(context, starts, radius=0.01), wells)) == 40
