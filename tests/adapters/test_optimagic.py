"""optimagic with an algorithm that finds every optimum."""

import pickle

import numpy as np
import pytest

om = pytest.importorskip("optimagic")

from allmodes.adapters import optimagic as adapter  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of what optimagic is made of
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

PARAMS = {"a": 0.5, "b": 0.25}
BOUNDS = om.Bounds(lower={"a": -3.0, "b": -2.0}, upper={"a": 3.0, "b": 2.0})
MINIMA = [
    [0.0898, -0.7127],
    [-0.0898, 0.7127],
    [1.7036, -0.7961],
    [-1.7036, 0.7961],
    [1.6071, 0.5687],
    [-1.6071, -0.5687],
]
TIMES = np.linspace(0.0, 3.0, 30)
DATA = np.exp(-0.5 * TIMES) + np.exp(-2.0 * TIMES)


def camel(p):
    a, b = p["a"], p["b"]
    return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2


def slope(p):
    a, b = p["a"], p["b"]
    return {"a": 8 * a - 8.4 * a**3 + 2 * a**5 + b, "b": a + 16 * b**3 - 8 * b}


@om.mark.least_squares
def decays(p):
    return np.exp(-p[0] * TIMES) + np.exp(-p[1] * TIMES) - DATA


def places(result):
    return sorted([round(float(one.params["a"]), 4), round(float(one.params["b"]), 4)] for one in modes(result))


def modes(result):
    return result.algorithm_output["modes"]


@pytest.mark.parametrize("scaling", [False, True])
@pytest.mark.parametrize("jac", [None, slope])
def test_all_modes_are_in_the_parameters_of_the_user(scaling, jac):
    result = om.minimize(
        camel, params=PARAMS, jac=jac, bounds=BOUNDS, scaling=scaling, algorithm=adapter.AllModes(seed=0)
    )
    assert result.success
    assert places(result) == sorted(MINIMA)
    assert result.fun == pytest.approx(-1.0316284535)
    assert result.params == pytest.approx(modes(result)[0].params)
    for one in modes(result):
        assert one.fun == pytest.approx(camel(one.params), abs=1e-9)
        assert one.kind == "minimum"
    assert [one.is_global for one in modes(result)] == [True, True, False, False, False, False]
    assert sum(one.weight for one in modes(result)) == pytest.approx(1.0)
    found = result.algorithm_output["result"]
    assert result.n_fun_evals == found.nfev == len(result.history.fun)
    assert (found.njev > 0) == (jac is not None)
    is_inside = abs(found.modes[0].x[0]) == pytest.approx(0.0898, abs=1e-3)  # optimagic divides by the values at first
    assert is_inside == (not scaling)


def test_values_with_derivatives_are_used():
    both = om.minimize(
        camel, params=PARAMS, fun_and_jac=lambda p: (camel(p), slope(p)), bounds=BOUNDS,
        algorithm=adapter.AllModes(seed=0),
    )  # fmt: skip
    assert places(both) == sorted(MINIMA)
    assert both.n_jac_evals > 0


def test_maxima_keep_their_sign_and_fixed_parameters_their_values():
    result = om.maximize(
        lambda p: -camel(p), params=PARAMS, bounds=BOUNDS, scaling=True,
        constraints=om.FixedConstraint(lambda p: p["b"]),
        algorithm=adapter.AllModes, algo_options={"seed": 0, "stopping_maxfun": 1500},
    )  # fmt: skip
    assert len(modes(result)) == 3
    for one in modes(result):
        assert one.params["b"] == 0.25
        assert one.kind == "maximum"
        assert one.fun == pytest.approx(-camel(one.params), abs=1e-9)
    assert result.fun == pytest.approx(max(one.fun for one in modes(result)))


def test_constraints_that_optimagic_transforms_hold_in_every_mode():
    """Probabilities, which optimagic searches in other coordinates."""
    result = om.minimize(
        lambda p: ((p - 0.6) ** 2 * (p - 0.1) ** 2).sum(), params=np.array([0.3, 0.3, 0.4]),
        constraints=om.ProbabilityConstraint(lambda p: p),
        algorithm=adapter.AllModes(seed=0, stopping_maxfun=1500),
    )  # fmt: skip
    assert len(modes(result)) >= 2
    for one in modes(result):
        assert one.params.sum() == pytest.approx(1.0)
        assert (one.params >= 0.0).all()


@pytest.mark.parametrize("algorithm", ["AllModes", "AllModesLeastSquares"])
@pytest.mark.parametrize("upper", [5.0, np.inf, None])
def test_least_squares(algorithm, upper):
    bounds = None if upper is None else om.Bounds(lower=np.zeros(2), upper=np.full(2, upper))
    made = getattr(adapter, algorithm)(seed=0, stopping_maxfun=1200)
    result = om.minimize(decays, params=np.array([1.0, 1.5]), bounds=bounds, algorithm=made)
    found = result.algorithm_output["result"]
    assert found.is_fit == (algorithm == "AllModesLeastSquares")
    assert {tuple(np.round(one.params, 3)) for one in modes(result)[:2]} == {(0.5, 2.0), (2.0, 0.5)}
    for one in modes(result):
        assert one.fun == pytest.approx((decays(one.params) ** 2).sum(), abs=1e-12)
    assert result.fun == pytest.approx((decays(result.params) ** 2).sum(), abs=1e-15)


def test_a_jacobian_of_residuals_is_used():
    def jacobian(p):
        return np.stack([-TIMES * np.exp(-p[0] * TIMES), -TIMES * np.exp(-p[1] * TIMES)], axis=1)

    result = om.minimize(
        decays, params=np.array([1.0, 1.5]), jac=om.mark.least_squares(jacobian), scaling=True,
        bounds=om.Bounds(lower=np.zeros(2), upper=np.full(2, 5.0)),
        algorithm=adapter.AllModesLeastSquares(seed=0, options={"n_modes": 2}),
    )  # fmt: skip
    assert result.n_jac_evals > 0
    assert len(modes(result)) == 2


def test_options_reach_the_search():
    result = om.minimize(
        camel, params=PARAMS, bounds=BOUNDS,
        algorithm=adapter.AllModes(seed=0, target="global", stopping_maxfun=700, options={"xtol": 1e-4}),
    )  # fmt: skip
    settings = result.algorithm_output["result"].settings
    assert (settings["target"], settings["xtol"], settings["maxfev"]) == ("global", 1e-4, 700)
    with pytest.raises(TypeError, match="did you mean 'maxfev'"):
        om.minimize(camel, params=PARAMS, algorithm=adapter.AllModes(options={"max_nfev": 3}), bounds=BOUNDS)


def test_algorithms_are_classes_with_a_name_that_travel():
    algorithm = adapter.AllModes(seed=3)
    assert pickle.loads(pickle.dumps(algorithm)) == algorithm
    assert adapter.AllModes is adapter.AllModes
    assert adapter.AllModes.name == "allmodes"
    assert algorithm.with_stopping(maxfun=5).stopping_maxfun == 5
    with pytest.raises(AttributeError, match="no attribute 'AllMode'"):
        _ = adapter.AllMode


def test_functions_that_fail():
    def fails(p):
        if p["a"] > 1.0:
            raise RuntimeError("no equilibrium")
        return camel(p)

    with pytest.raises(om.exceptions.UserFunctionRuntimeError):
        om.minimize(fails, params=PARAMS, bounds=BOUNDS, algorithm=adapter.AllModes(seed=0))
    with pytest.warns(UserWarning, match="no equilibrium"):
        result = om.minimize(
            fails, params=PARAMS, bounds=BOUNDS, error_handling="continue",
            algorithm=adapter.AllModes(seed=0, stopping_maxfun=400),
        )  # fmt: skip
    assert result.fun == pytest.approx(-1.0316284535)


def test_the_interface_of_optimagic_is_the_one_that_the_adapter_was_written_for():
    from optimagic.optimization import internal_optimization_problem as internal

    problem = internal.SphereExampleInternalOptimizationProblem()
    for name in ("fun", "jac", "fun_and_jac", "bounds", "converter", "direction", "_jac", "_fun_and_jac"):
        assert hasattr(problem, name), f"optimagic's problem has no {name} any more: see allmodes/adapters/optimagic.py"
    assert problem.direction.value == "minimize"
    assert problem.converter.params_from_internal(np.ones(2)).tolist() == [1.0, 1.0]
    fields = om.optimization.algorithm.InternalOptimizeResult.__dataclass_fields__
    assert {"x", "fun", "success", "message", "status", "n_fun_evals", "n_jac_evals", "n_iterations", "info"} <= set(
        fields
    )
