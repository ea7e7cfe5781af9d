"""Narrow and bent valleys, narrow basins, and starts at an optimum: what is found, where, and what it is called."""

import numpy as np
import pytest
from local_runs import a_context, begin, run
from scipy.optimize import rosen

from allmodes import find_minima
from allmodes.search.events import Arrived
from local_cases import cases
from local_methods import ours

QUINTIC = np.polyint(np.poly([-0.97, -0.81, -0.56, 0.49]))
SLOPE = np.polyder(QUINTIC)
PEAK = np.array([0.2, -0.3, 0.1, 0.4])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_bent_valley_in_a_wide_box_is_followed_to_its_end(seed):
    """The floor is 2500 times flatter than the walls, which rise to 8e7."""
    result = find_minima(rosen, [(-30, 30)] * 2, maxfev=10_000, rng=seed)
    (mode,) = result.modes
    assert mode.kind == "minimum"
    assert mode.fun < 1e-7
    np.testing.assert_allclose(mode.x, 1.0, atol=10 * 60 * 1e-6)


@pytest.mark.parametrize("seed", [5, 6])
def test_a_skewed_minimum_of_condition_1e6_is_located_by_values_as_well_as_rounding_allows(seed):
    """A fall of 1e-15 is 5e-7 away along the valley; the slope across it is a million times as large."""
    rng = np.random.default_rng(seed)
    Q, centre = np.linalg.qr(rng.standard_normal((2, 2)))[0], rng.uniform(0.2, 0.8, 2)

    def skewed(x):
        z = [0.09, 90.0] * (Q.T @ (x - centre))
        return float((np.exp(z) - z).sum())

    (mode,) = find_minima(skewed, [(0, 1)] * 2, maxfev=4000, rng=seed).modes
    assert mode.kind == "minimum"
    assert np.abs(mode.x - centre).max() < 1e-5


@pytest.mark.parametrize("jac", [None, lambda x: np.polyval(SLOPE, x)])
@pytest.mark.parametrize("seed", range(5))
def test_a_narrow_basin_is_not_leapt_over(jac, seed):
    """Its barriers are 0.16 and 0.25 away from the minimum, in a box 4 wide with far more relief."""
    result = find_minima(lambda x: np.polyval(QUINTIC, x[0]), [(-2, 2)], jac=jac, rng=seed)
    minima = sorted(mode.x[0] for mode in result.modes if mode.kind == "minimum")
    np.testing.assert_allclose(minima, [-0.81, 0.49], atol=10 * 4e-6)
    assert [mode.x[0] for mode in result.modes if mode.kind != "minimum"] == [-2.0]


def rotated_quadratic(condition):
    """The matrix of a quadratic in four dimensions whose axes lie anywhere."""
    Q = np.linalg.qr(np.random.default_rng(3).normal(size=(4, 4)))[0]
    return Q @ np.diag(np.geomspace(1.0, condition, 4)) @ Q.T


@pytest.mark.parametrize(("condition", "has_slopes"), [(1e6, False), (1e8, False), (1e8, True)])
def test_a_strict_minimum_is_one_whatever_its_condition(condition, has_slopes):
    A = rotated_quadratic(condition)
    jac = (lambda x: A @ (x - PEAK)) if has_slopes else None
    result = find_minima(lambda x: 0.5 * (x - PEAK) @ A @ (x - PEAK), [(-1, 1)] * 4, jac=jac, rng=0, maxfev=4000)
    (mode,) = result.modes
    assert mode.kind == "minimum"
    np.testing.assert_allclose(mode.x, PEAK, atol=10 * 2e-6)


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2


def beale(x):
    return sum((c - x[0] * (1.0 - x[1] ** k)) ** 2 for k, c in ((1, 1.5), (2, 2.25), (3, 2.625)))


STRICT = {
    "Himmelblau": (himmelblau, 6, (3, 2)),
    "Beale": (beale, 4.5, (3, 0.5)),
    "Rosenbrock": (rosen, 2, (1, 1)),
    "Rosenbrock, wide": (rosen, 60, (1, 1)),
    "far above zero": (lambda x: 1e6 + (x**2).sum(), 3, (0, 0)),
    "condition 1e8": (lambda x: x[0] ** 2 + 1e8 * x[1] ** 2, 1, (0, 0)),
    "spike": (lambda x: -np.exp(-5e3 * (x**2).sum()), 1, (0, 0)),
}


@pytest.mark.parametrize("name", list(STRICT))
def test_a_start_that_is_a_strict_minimum_is_listed_as_it_is(name):
    function, width, x0 = STRICT[name]
    result = find_minima(function, [(-width, width)] * 2, x0=[x0], method="local", maxfev=300, rng=0)
    (mode,) = [mode for mode in result.modes if np.abs(mode.x - x0).max() < 1e-3 * width]
    assert mode.kind == "minimum"
    np.testing.assert_allclose(mode.x, x0, atol=1e-14 * width)


@pytest.mark.parametrize("width", [60, 300, 1000])
def test_a_last_step_that_leads_down_along_a_bend_does_not_lose_the_optimum(width):
    """Differences see the bend of the valley as a slope, which leads away from a start on the optimum."""

    def valley(z):
        x = (2.0 * z - 1.0) * width
        return -rosen(np.moveaxis(x, -1, 0)), None, None

    start = (1.0 / width + 1.0) / 2.0
    (event,) = run(begin(a_context(0), [(start, start)]), valley)
    assert isinstance(event, Arrived)
    np.testing.assert_allclose(event.candidate.point, start, atol=1e-15)


def test_the_curvature_of_a_bent_valley_is_right_where_most_searches_arrive():
    """To a hundredth; some measure it a little earlier, and no search measures it twice."""
    true, off = np.linalg.eigvalsh([[802.0, -400.0], [-400.0, 200.0]]), []
    for seed in range(5):
        (mode,) = find_minima(rosen, [(-2, 2)] * 2, method="local", maxfev=300, rng=seed).modes
        off.append(np.abs(np.linalg.eigvalsh(mode.hessian) / true - 1.0).max())
    assert np.median(off) < 0.01
    assert max(off) < 0.2


def test_a_peak_at_which_a_bound_would_release_the_search_is_tried_once():
    """At a bound the model promises a way inward, a twentieth of xtol away, and the function says no each time."""
    start = np.array([1.0, 0.5])
    H = np.array([[-10.0, -1e5], [-1e5, -1e10]])

    def stubborn(z):
        slope = np.broadcast_to([1e-3, 500.0], z.shape)
        return -np.abs(z - start).sum(axis=-1), slope, np.broadcast_to(H, (*z.shape, 2))

    context = a_context(2, function=stubborn)
    (event,) = run(begin(context, [start]), stubborn)
    assert isinstance(event, Arrived)
    np.testing.assert_array_equal(event.candidate.point, start)
    assert context.nfev == 2


@pytest.mark.parametrize("start", [1, 10])
def test_a_search_by_hessians_at_bounds_ends(start):
    """Osborne's second function, a sum of four peaks: at the bounds steps to the peak of the model are refused."""
    (case,) = cases(None, ["Osborne 2"])
    starts = case.starts(10, 0)
    ended = ours(case, 2, starts[start], case.value(starts))
    assert ended.end < 1000
    assert ended.is_listed
