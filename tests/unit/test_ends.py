"""Ends of runs are read from arrays, SciPy's results, tables and pyPESTO's results, and refused in words."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import OptimizeResult, least_squares, minimize

from allmodes.ends import read


def quadratic(x):
    return ((x - 1.0) ** 2).sum()


def test_arrays():
    found = read([[1.0, 2.0], [3.0, np.nan]], [0.5, 0.6], starts=np.zeros((2, 2)))
    assert found.points.shape == found.starts.shape == (2, 2)
    assert found.values.tolist() == [0.5, 0.6]
    assert read(np.ones((3, 1)), np.ones((3, 1))).values.shape == (3,)


def test_results_of_minimize_and_of_least_squares():
    found = read([minimize(quadratic, np.zeros(2)), OptimizeResult(x=[0.0, 1.0], fun=1.0, success=False)])
    np.testing.assert_allclose(found.points, [[1.0, 1.0], [0.0, 1.0]], atol=1e-6)
    assert found.converged.tolist() == [True, False]
    one = read(least_squares(lambda x: [x[0] - 3.0, 2.0], [0.0]))
    np.testing.assert_allclose(one.values, [2.0])  # the cost, not the residuals


def test_a_table_by_its_names():
    table = {"run": np.arange(2), "b": np.array([1.0, 2.0]), "a": np.array([3.0, 4.0]), "Cost": np.array([0.1, 0.2]),
             "success": np.array(["True", "no"]), "note": np.array(["x", "y"])}  # fmt: skip
    found = read(table)
    assert (found.names, found.column) == (("b", "a"), "Cost")
    assert found.converged.tolist() == [True, False]
    assert read(table, names=["a"]).points.tolist() == [[3.0], [4.0]]


def test_a_table_without_a_column_of_values():
    table = {"a": np.array([1, 2]), "b": np.array([3.0, 4.0])}
    found = read(table, [5.0, 6.0])
    assert found.points.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert found.values.tolist() == [5.0, 6.0]
    assert read({"x": [1.0], "y": [2.0]}, [5.0]).points.tolist() == [[1.0, 2.0]]
    assert read({0: [1.0], 1: [2.0], "fun": [5.0]}).names == ("0", "1")
    assert read(table, names=["b", "a"]).values is None
    assert read(table, names=["b", "a"]).points.tolist() == [[3.0, 1.0], [4.0, 2.0]]


def test_a_data_frame():
    pd = pytest.importorskip("pandas")
    found = read(pd.DataFrame({"k": [1.0, 2.0], "fun": [0.0, np.nan]}))
    assert found.names == ("k",)
    assert np.isnan(found.values[1])


def of_pypesto(runs):
    """What a pypesto.Result has of it, without pyPESTO."""
    problem = SimpleNamespace(
        x_free_indices=[0, 2], dim_full=3, x_scales=["lin", "lin", "log10"], x_names=["a", "fixed", "k"],
        lb_full=np.array([0.0, 1.0, -3.0]), ub_full=np.array([1.0, 1.0, 3.0]),
    )  # fmt: skip
    return SimpleNamespace(problem=problem, optimize_result=SimpleNamespace(list=runs))


def test_a_result_of_pypesto_without_its_fixed_parameters():
    runs = [{"x": np.array([0.5, 1.0, 2.0]), "fval": 3.0, "x0": np.array([0.1, 1.0, 0.0])},
            {"x": np.array([0.6, -1.0]), "fval": None, "x0": np.array([0.2, 0.0])},
            {"x": None, "fval": np.inf}]  # fmt: skip
    found = read(of_pypesto(runs))
    np.testing.assert_array_equal(found.points, [[0.5, 2.0], [0.6, -1.0], [np.nan, np.nan]])
    assert found.names == ("a", "log10(k)")
    assert found.bounds.tolist() == [[0.0, 1.0], [-3.0, 3.0]]
    assert found.starts is None  # one of them is not known
    assert read(of_pypesto(runs[:2])).starts.tolist() == [[0.1, 0.0], [0.2, 0.0]]


def test_the_real_pypesto():
    pypesto = pytest.importorskip("pypesto")
    optimize = pytest.importorskip("pypesto.optimize")
    problem = pypesto.Problem(
        pypesto.Objective(fun=lambda x: (x[0] ** 2 - 1.0) ** 2 + (x[1] - 0.5) ** 2 + x[2] ** 2), lb=[-2.0, 0.0, -1.0],
        ub=[2.0, 1.0, 1.0], x_fixed_indices=[1], x_fixed_vals=[0.5], x_names=["a", "b", "c"],
    )  # fmt: skip
    np.random.seed(0)  # noqa: NPY002  (pyPESTO's starts)
    result = optimize.minimize(problem, n_starts=3, progress_bar=False)
    found = read(result)
    assert found.names == ("a", "c")
    assert found.points.shape == found.starts.shape == (3, 2)
    np.testing.assert_allclose(np.abs(found.points), [[1.0, 0.0]] * 3, atol=1e-3)


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        (((np.zeros((3, 2)), np.zeros(2))), ValueError, "3 ends and 2 values"),
        (((np.zeros((0, 2)), np.zeros(0))), ValueError, "nothing to audit"),
        (((np.zeros(3), np.zeros(3))), ValueError, r"shape \(3,\); wanted \(n, d\)"),
        (([["a"]], [1.0]), TypeError, "real numbers were wanted"),
        (([[1.0], [1.0, 2.0]], [1.0, 1.0]), ValueError, "not an array of numbers"),
        (([1.0, 2.0], [1.0, 1.0]), ValueError, r"of one coordinate, ends\[:, None\]"),
        (([OptimizeResult(x=[1.0], fun=0.0), 3],), TypeError, "end 1 is of type int"),
        (([OptimizeResult(x=[1.0], fun=0.0), OptimizeResult(x=[1.0, 2.0], fun=0.0)],), ValueError,
         "end 1 has 2 coordinates and end 0 has 1"),
        (([OptimizeResult(x=[1.0], fun=np.zeros(2))],), ValueError, "value of end 0 has 2 entries"),
        (({"a": np.zeros(2)},), ValueError, "wanted one with the values"),
        (({"fun": np.zeros(2)},), ValueError, "a column of numbers for each coordinate"),
        (({"fun": np.zeros(2), "a": np.zeros(2)}, None, None, ["b"]), ValueError, r"lack \['b'\]"),
        (({"fun": np.zeros(2), "a": np.zeros(2)}, np.zeros(2)), ValueError, "leave one of the two out"),
        ((np.zeros((2, 1)), np.zeros(2), np.zeros((3, 1))), ValueError, r"starts has shape \(3, 1\)"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said(given, error, told):
    with pytest.raises(error, match=told):
        read(*given)
