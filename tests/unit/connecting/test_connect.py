"""Ways between modes: their barriers are those that are known, and cost no more than allowed."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from landscapes import (
    DEEP,
    HIMMELBLAU,
    PASS,
    SHALLOW,
    WELLS,
    bent,
    camel,
    double_wells,
    flooded,
    himmelblau,
    kinked,
    rastrigin,
    ring,
)

from allmodes import Result, find_fits, find_maxima, find_minima, find_roots
from allmodes.connecting import connect

SQUARE = [(-6.0, 6.0)] * 2


class Counted:
    """A function that knows how often it was called."""

    def __init__(self, fun):
        self.fun, self.calls = fun, 0

    def __call__(self, x):
        self.calls += 1
        return float(self.fun(x))


def found_of(fun, bounds, **settings):
    return find_minima(fun, bounds, vectorized=True, rng=0, **settings)


@pytest.fixture(scope="module")
def four():
    return found_of(himmelblau, SQUARE)


@pytest.fixture(scope="module")
def connected(four):
    return four.connect(himmelblau, rng=0)


# ---- barriers are right


def test_the_saddles_of_himmelblau(connected):
    ways = connected.barriers.ways
    assert [way.value for way in ways] == pytest.approx(list(HIMMELBLAU), rel=1e-8)
    for way, place in zip(ways, HIMMELBLAU.values(), strict=True):
        np.testing.assert_allclose(way.x, place, atol=2e-4)
        assert way.is_saddle
    assert connected.barriers.is_complete


def test_it_is_another_result_and_only_barriers_are_new(four, connected):
    assert four.barriers is None
    assert connected.modes is four.modes
    assert connected.nfev == four.nfev


@pytest.mark.parametrize(
    ("fun", "bounds", "close"),
    [
        (himmelblau, SQUARE, 1e-3), (camel, [(-3, 3), (-2, 2)], 1e-3), (bent, [(-2, 2), (-1, 3)], 2e-3),
        (ring, [(-2, 2)] * 2, 2e-3), (rastrigin, [(-1.7, 1.7)] * 2, 2e-3), (kinked, [(-2, 2)] * 2, 3e-3),
    ],
)  # fmt: skip
def test_barriers_are_those_of_a_flood(fun, bounds, close):
    found = found_of(fun, bounds)
    barriers = found.connect(fun, rng=0).barriers
    truth = flooded(fun, bounds, [mode.x for mode in found.modes])
    size = np.ptp(truth)
    np.testing.assert_allclose(barriers.matrix, truth, atol=close * size)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_double_wells(d):
    found = found_of(double_wells, [(-2, 2)] * d)
    barriers = found.connect(double_wells, rng=0).barriers
    assert len(barriers.merges) == 2**d - 1
    for merge in barriers.merges:
        rank = merge.worse[0]
        shallow = int((found.modes[rank - 1].x > 0.0).sum())
        assert merge.value == pytest.approx(PASS + (shallow - 1) * SHALLOW + (d - shallow) * DEEP, abs=1e-8)
        at = np.sort(np.abs(merge.way.x - WELLS[1]))
        assert at[0] < 1e-3
    assert barriers.depths[1:] == pytest.approx(PASS - SHALLOW)


def test_wells_that_are_bent_turned_and_stretched():
    """By a map that keeps heights, and so barriers, but leaves nothing straight."""
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]

    def warped(x):
        y = (x @ turned) * [0.5, 1.0, 2.0]
        z = y.copy()
        z[:, 1:] -= 0.3 * (y[:, :-1] ** 2 - 1)
        return double_wells(z)

    found = found_of(warped, [(-5.0, 5.0)] * 3)
    assert len(found.modes) == 8
    barriers = found.connect(warped, rng=0).barriers
    assert barriers.depths[1:] == pytest.approx(PASS - SHALLOW, abs=1e-6)
    assert all(merge.way.is_saddle for merge in barriers.merges)


def test_thirty_two_modes_in_five_dimensions_by_gradients():
    bounds = [(-2.0, 2.0)] * 5
    found = found_of(double_wells, bounds, jac=lambda x: 4 * x * (x**2 - 1) + 0.1)
    assert len(found.modes) == 32
    barriers = found.connect(double_wells, jac=lambda x: 4 * x * (x**2 - 1) + 0.1, rng=0).barriers
    assert barriers.njev > 0
    assert len(barriers.ways) == 80  # edges of a cube: of 496 pairs
    assert barriers.depths[1:] == pytest.approx(PASS - SHALLOW)
    assert barriers.is_complete
    poor = found.connect(double_wells, maxfev=120, rng=0).barriers  # less than the straight lines need
    assert poor.nfev <= 120
    assert not poor.is_complete
    assert 0 < len(poor.merges) < 31
    assert np.isinf(poor.matrix).any()


def test_maxima_have_passes_below_them(connected):
    negative = find_maxima(lambda x: -himmelblau(x), SQUARE, vectorized=True, rng=0)
    barriers = negative.connect(lambda x: -himmelblau(x), rng=0).barriers
    assert [merge.value for merge in barriers.merges] == pytest.approx([-13.3119263, -67.7191501, -104.0151629])
    np.testing.assert_allclose(barriers.matrix, -connected.barriers.matrix, atol=1e-6)
    assert barriers.depths == pytest.approx(connected.barriers.depths)


def test_ways_lead_around_where_the_function_fails(four):
    def holed(x):
        return np.where(np.hypot(x[:, 0] - 3.385, x[:, 1] - 0.074) < 0.6, np.nan, himmelblau(x))

    barriers = four.connect(holed, rng=0).barriers
    assert np.isfinite(barriers.matrix).all()
    assert barriers.between(2, 4) > 67.0
    pieces = [way.points for way in barriers.ways]
    for points in pieces:
        shares = np.linspace(0.0, 1.0, 50)[:, None]
        line = np.concatenate([a + shares * (b - a) for a, b in pairwise(points)])
        assert np.isfinite(holed(line)).mean() > 0.99


def test_periodic_coordinates_are_left_at_one_end_and_entered_at_the_other():
    def waves(x):
        return np.cos(2 * x[:, 0]) + 0.3 * np.cos(x[:, 0] + 1.0)

    found = found_of(waves, [(0.0, 2 * np.pi)], periodic=True)
    barriers = found.connect(waves, rng=0).barriers
    x = np.linspace(0.0, 2 * np.pi, 20001)[:, None]
    inside = [np.sort([mode.x[0] for mode in found.modes[:2]])]
    between = (x[:, 0] > inside[0][0]) & (x[:, 0] < inside[0][1])
    values = waves(x)
    assert barriers.between(1, 2) == pytest.approx(min(values[between].max(), values[~between].max()), abs=1e-6)


def test_coordinates_in_logarithms():
    def scales(x):
        return np.sin(3 * np.log(x[:, 0]))

    found = found_of(scales, [(0.1, 100.0)], scale="log")
    barriers = found.connect(scales, rng=0).barriers
    assert {round(merge.value, 6) for merge in barriers.merges} == {1.0}
    assert all(merge.way.is_saddle for merge in barriers.merges)


def test_residuals_of_fits_are_known():
    t = np.linspace(0.0, 3.0, 30)
    data = np.cos(2.0 * t)
    fit = find_fits(lambda p: np.cos(p[0] * t) - data, [(0.1, 9.0)], rng=0)
    assert len(fit.modes) > 2
    barriers = fit.connect(rng=0).barriers

    def cost(w):
        return 0.5 * ((np.cos(w[:, None] * t) - data) ** 2).sum(axis=1)

    places = [mode.x[0] for mode in fit.modes]
    for i, j in ((1, 2), (1, 3), (2, 3)):
        low, high = sorted((places[i - 1], places[j - 1]))
        assert barriers.between(i, j) == pytest.approx(cost(np.linspace(low, high, 4001)).max(), rel=1e-4)


# ---- what it costs


@pytest.mark.parametrize("maxfev", [0, 1, 10, 11, 33, 34, 47, 90, 150, 500])
def test_no_evaluation_too_many(four, maxfev):
    counted = Counted(himmelblau)
    barriers = connect(four, counted, vectorized=False, maxfev=maxfev, rng=0).barriers
    assert counted.calls == barriers.nfev <= maxfev


def test_more_evaluations_make_barriers_lower_and_never_higher(four):
    matrices = [four.connect(himmelblau, maxfev=maxfev, rng=0).barriers.matrix for maxfev in (34, 100, 200, 500)]
    for before, after in pairwise(matrices):
        assert (after <= before + 1e-9).all()
    assert matrices[0].max() > matrices[-1].max() + 1.0


def test_the_same_seed_gives_the_same_ways(four, connected):
    again = four.connect(himmelblau, rng=0)
    assert repr(again.barriers) == repr(connected.barriers)
    assert again.barriers.nfev == connected.barriers.nfev


# ---- what is kept and refused


def test_barriers_are_saved_and_loaded(connected, tmp_path):
    connected.save(tmp_path / "r.npz")
    loaded = Result.load(tmp_path / "r.npz")
    assert repr(loaded.barriers) == repr(connected.barriers)
    np.testing.assert_array_equal(loaded.barriers.matrix, connected.barriers.matrix)
    np.testing.assert_array_equal(loaded.barriers.ways[0].points, connected.barriers.ways[0].points)


def test_one_mode_has_nothing_to_be_joined_with(four):
    alone = replace(four, modes=four.modes[:1]).connect(himmelblau)
    assert alone.barriers.nfev == 0
    assert alone.barriers.merges == ()
    assert alone.barriers.is_complete


def test_what_cannot_be_connected_is_refused_with_the_reason(four):
    whole = find_minima(lambda x: float(((x - 3) ** 2).sum()), [(0, 9)] * 2, integrality=True, rng=0)
    noisy = replace(four, settings=four.settings | {"noise": 0.1})
    bound = replace(four, settings=four.settings | {"constraints": ["c"]})
    roots = find_roots(lambda x: [x[0] ** 2 - 1.0], [(-2, 2)], rng=0)
    for result, why in ((whole, "whole numbers"), (noisy, "noisy"), (bound, "constraints"), (roots, "roots")):
        with pytest.raises(ValueError, match=why):
            result.connect(himmelblau)


def test_another_function_is_refused(four):
    with pytest.raises(ValueError, match="fun is 1 at the best mode, where the search found 4"):
        four.connect(lambda x: himmelblau(x) + 1.0)
    with pytest.raises(ValueError, match=r"fun failed at the best mode \(raised: TypeError"):
        four.connect(lambda x, y: x + y)


def test_what_is_missing_or_misspelt_is_said(four):
    with pytest.raises(TypeError, match=r"needs the function, as it was searched: result\.connect\(fun\)"):
        four.connect()
    with pytest.raises(TypeError, match="did you mean 'maxfev'"):
        four.connect(himmelblau, max_nfev=3)
    with pytest.raises(ValueError, match="maxfev is -1"):
        four.connect(himmelblau, maxfev=-1)
