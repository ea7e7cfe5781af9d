"""SciPy's minimize with a method that is a multistart, and modes as SciPy's results."""

import copy
import warnings
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult, minimize

import allmodes
from allmodes.adapters.scipy import Multistart, as_optimize_result, multistart

BOUNDS = [(-3, 3), (-2, 2)]
MINIMA = [[0.0898, -0.7127], [-0.0898, 0.7127], [1.7036, -0.7961], [-1.7036, 0.7961]]


def camel(x, factor=1.0):
    a, b = x
    return factor * ((4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2)


def slope(x, factor=1.0):
    a, b = x
    return factor * np.array([8 * a - 8.4 * a**3 + 2 * a**5 + b, a + 16 * b**3 - 8 * b])


def places(modes):
    return [[round(float(entry), 4) for entry in mode.x] for mode in modes]


def test_minimize_takes_it_as_a_method_and_returns_the_best_and_all_modes():
    found = minimize(camel, [0.5, 0.5], jac=slope, bounds=BOUNDS, method=multistart(n=40, rng=0))
    assert isinstance(found, OptimizeResult)
    assert found.success
    assert found.fun == min(run.fun for run in found.runs) == pytest.approx(-1.0316284535)
    assert all(place in places(found.modes) for place in MINIMA)
    assert found.modes == found.allmodes.modes
    assert sum(mode.hits for mode in found.modes) == 40
    assert found.allmodes.coverage.searches == 40
    assert found.nfev == sum(run.nfev for run in found.runs) + found.allmodes.nfev
    assert found.njev == sum(run.njev for run in found.runs) + found.allmodes.njev
    assert "40 local searches, 5 distinct ends" in found.message


def test_its_runs_are_those_of_a_loop():
    found = minimize(camel, [0.5, 0.5], jac=slope, bounds=BOUNDS, method=multistart(n=6, rng=3))
    assert found.starts[0].tolist() == [0.5, 0.5]
    assert len(np.unique(found.starts, axis=0)) == 6
    assert (np.abs(found.starts) <= [3.0, 2.0]).all()
    for start, run in zip(found.starts, found.runs, strict=True):
        alone = minimize(camel, start, jac=slope, bounds=BOUNDS)
        assert run.x.tolist() == alone.x.tolist()
        assert run.nfev == alone.nfev
    again = multistart(n=6, rng=3)(camel, [0.5, 0.5], jac=slope, bounds=BOUNDS)
    assert again.starts.tolist() == found.starts.tolist()
    other = multistart(n=6, rng=4)(camel, bounds=BOUNDS)
    assert other.starts[1:].tolist() != found.starts[1:].tolist()


def test_local_searches_run_where_they_are_sent():
    with ProcessPoolExecutor(2) as executor:
        apart = multistart(n=6, rng=3, workers=executor.map)(camel, [0.5, 0.5], jac=slope, bounds=BOUNDS)
    here = multistart(n=6, rng=3)(camel, [0.5, 0.5], jac=slope, bounds=BOUNDS)
    assert [run.x.tolist() for run in apart.runs] == [run.x.tolist() for run in here.runs]
    assert apart.nfev == here.nfev
    with pytest.raises(TypeError, match="workers is 2; wanted a function like map"):
        multistart(workers=2)


def test_starts_fill_the_bounds():
    starts = multistart(n=64, rng=0)(camel, bounds=BOUNDS, maxiter=1).starts
    boxes = np.floor((starts + np.array([3.0, 2.0])) / [1.5, 1.0]).astype(int)
    counts = np.unique(boxes, axis=0, return_counts=True)[1]
    assert len(counts) == 16
    assert counts.max() <= 5  # 4 of 64 in each of 16, as of Sobol points


def test_the_method_tolerance_options_and_arguments_reach_every_local_search():
    method = multistart("Nelder-Mead", n=3, rng=0)
    found = minimize(
        camel, [0.5, 0.5], args=(2.0,), bounds=Bounds([-3, -2], [3, 2]), method=method, options={"maxiter": 5}
    )
    assert {run.nit for run in found.runs} == {5}
    assert [camel(run.x, 2.0) for run in found.runs] == pytest.approx([run.fun for run in found.runs])
    assert "njev" not in found
    loose, tight = (
        minimize(camel, [0.5, 0.5], bounds=BOUNDS, tol=tol, method=multistart("L-BFGS-B", n=4, rng=0)).runs
        for tol in (0.1, 1e-12)
    )
    assert sum(run.nfev for run in loose) < sum(run.nfev for run in tight)
    single = minimize(camel, [0.5, 0.5], args=2.0, bounds=BOUNDS, method=multistart(n=3, rng=0))
    assert single.fun == pytest.approx(2.0 * -1.0316284535)


def test_values_and_gradients_together():
    both = minimize(lambda x: (camel(x), slope(x)), [0.5, 0.5], jac=True, bounds=BOUNDS, method=multistart(n=12, rng=0))
    directly = multistart(n=12, rng=0)(lambda x: (camel(x), slope(x)), [0.5, 0.5], jac=True, bounds=BOUNDS)
    apart = minimize(camel, [0.5, 0.5], jac=slope, bounds=BOUNDS, method=multistart(n=12, rng=0))
    assert places(both.modes) == places(directly.modes) == places(apart.modes)
    assert both.nfev == apart.nfev


def test_a_callback_sees_the_local_searches():
    seen = []
    minimize(camel, [0.5, 0.5], bounds=BOUNDS, method=multistart(n=2, rng=0), callback=seen.append)
    assert len(seen) > 4


def test_without_bounds_starts_are_around_x0():
    found = minimize(camel, [1.0, 0.0], method=multistart(n=16, rng=0, spread=1.5))
    assert (np.abs(found.starts - [1.0, 0.0]) <= 1.5).all()
    assert found.modes
    with pytest.raises(ValueError, match="bounds and x0 are both None"):
        multistart(n=3)(camel)


def test_ends_that_are_no_optima_are_seen():
    found = minimize(camel, [0.5, 0.5], bounds=BOUNDS, method=multistart(n=12, rng=0), options={"maxiter": 1})
    assert "unconverged" in found.allmodes.audit.states
    unchecked = minimize(camel, [0.5, 0.5], bounds=BOUNDS, method=multistart(n=12, rng=0, check=False))
    assert {mode.kind for mode in unchecked.modes} == {"unverified"}
    assert unchecked.allmodes.nfev == 0


def test_constrained_ends_are_grouped():
    line = LinearConstraint([[1.0, 1.0]], 1.0, 1.0)
    found = minimize(camel, [0.5, 0.5], bounds=BOUNDS, constraints=line, method=multistart("SLSQP", n=8, rng=0))
    assert found.x.sum() == pytest.approx(1.0)
    assert {mode.kind for mode in found.modes} == {"unverified"}
    old = {"type": "eq", "fun": lambda x: x[0] + x[1] - 1.0}
    same = minimize(camel, [0.5, 0.5], bounds=BOUNDS, constraints=old, method=multistart("SLSQP", n=8, rng=0))
    assert same.allmodes.nfev == 0
    assert same.x == pytest.approx(found.x, abs=1e-5)


def test_a_fixed_coordinate_stays():
    found = minimize(camel, [0.5, 0.25], bounds=[(-3, 3), (0.25, 0.25)], method=multistart("L-BFGS-B", n=6, rng=0))
    assert {mode.x[1] for mode in found.modes} == {0.25}


def test_what_is_printed_is_short():
    found = minimize(camel, [0.5, 0.5], bounds=BOUNDS, method=multistart(n=20, rng=0))
    assert "<the results of 20 local searches>" in repr(found)
    assert len(repr(found).splitlines()) < 45


def test_what_cannot_be_done():
    with pytest.raises(ValueError, match="n is 0"):
        multistart(n=0)
    with (
        warnings.catch_warnings(action="ignore"),
        pytest.raises(ValueError, match="fun was finite at none of the ends of 3 local searches"),
    ):
        minimize(lambda x: np.nan, [0.5], bounds=[(0, 1)], method=multistart(n=3))

    def fails(x):
        raise RuntimeError("the solver gave up")

    with pytest.raises(RuntimeError, match="the solver gave up"):
        minimize(fails, [0.5], bounds=[(0, 1)], method=multistart(n=3))


# ---- a mode as an OptimizeResult


def test_a_mode_as_an_optimize_result():
    result = allmodes.find_minima(camel, BOUNDS, jac=slope, rng=0)
    alone = minimize(camel, result.modes[0].x, jac=slope, method="BFGS")
    found = as_optimize_result(result.modes[0], slope)
    assert isinstance(found, OptimizeResult)
    assert found.success
    assert found.status == 0
    assert found.message == "minimum, global"
    assert found.x == pytest.approx(alone.x, abs=1e-5)
    assert found.fun == pytest.approx(alone.fun)
    assert found.jac == pytest.approx([0.0, 0.0], abs=1e-4)
    assert found.hess @ found.hess_inv == pytest.approx(np.eye(2), abs=1e-9)
    assert "jac" not in as_optimize_result(result.modes[0])
    found.x[:] = 0.0
    assert result.modes[0].x[0] != 0.0
    assert copy.deepcopy(found).message == found.message


def test_a_whole_result_is_refused_with_a_hint():
    result = allmodes.find_minima(lambda x: x[0] ** 2, [(-3, 3)], rng=0, maxfev=30)
    with pytest.raises(TypeError, match=r"mode is a Result; wanted one of its modes, such as result\[0\]"):
        as_optimize_result(result)


def test_coordinates_at_a_bound_do_not_move():
    modes = allmodes.find_minima(camel, [(-3, 3), (-0.5, 2)], jac=slope, rng=0).modes
    held = as_optimize_result(next(mode for mode in modes if mode.kind == "boundary"), slope)
    assert held.jac[1] > 1.0
    assert held.hess_inv[1].tolist() == [0.0, 0.0]
    assert held.hess_inv[0, 0] == pytest.approx(1.0 / held.hess[0, 0])


def test_what_is_not_known_is_left_out():
    maximum = allmodes.find_maxima(lambda x: -((x[0] - 1) ** 2), [(-3, 3)], rng=0).modes[0]
    assert "hess_inv" not in as_optimize_result(maximum)
    assert as_optimize_result(maximum).hess[0, 0] == pytest.approx(-2.0, rel=1e-3)
    unverified = multistart(n=4, rng=0, check=False)(camel, bounds=BOUNDS).modes[0]
    found = as_optimize_result(unverified)
    assert not found.success
    assert found.status == 1
    assert "hess" not in found


def test_the_interface_of_scipy_is_the_one_that_the_adapter_was_written_for():
    given = {}

    def method(fun, x0, **options):
        given.update(options)
        return OptimizeResult(x=x0, fun=fun(x0))

    minimize(camel, [0.5, 0.5], jac=slope, bounds=BOUNDS, tol=1e-3, method=method, options={"maxiter": 7})
    names = {"args", "jac", "hess", "hessp", "bounds", "constraints", "callback", "tol", "maxiter"}
    assert set(given) == names, "scipy.optimize.minimize calls its methods with other arguments"
    assert isinstance(multistart(), Multistart)
