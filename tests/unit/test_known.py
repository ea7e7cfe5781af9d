"""Points whose values are known before a search: free, used, and not evaluated again."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from allmodes import ModeFinder, find_maxima, find_minima
from allmodes.known import Known
from allmodes.objective.bounds import Box

BOX = [(-3.0, 3.0), (-3.0, 3.0)]
NARROW = np.array([2.71, -2.33])


def needle(x):
    """A wide bowl with a deep hole that hardly anybody finds."""
    return float(x @ x) - 30.0 * np.exp(-((x - NARROW) @ (x - NARROW)) / 0.002)


class Recorder:
    def __init__(self, function):
        self.function, self.points = function, []

    def __call__(self, x):
        self.points.append(x.copy())
        return self.function(x)


def table(n, seed=0):
    x = np.random.default_rng(seed).uniform(-3.0, 3.0, (n, 2))
    return x, np.array([needle(point) for point in x])


@pytest.mark.parametrize("method", ["auto", "local", "multistart", "black-box", "anneal"])
def test_they_are_free_and_where_the_search_begins(method):
    x, values = table(30)
    x, values = np.vstack([x, NARROW + 0.01]), np.append(values, needle(NARROW + 0.01))
    fun = Recorder(needle)
    result = find_minima(fun, BOX, warm_start=(x, values), method=method, rng=0, maxfev=600)
    assert result.nfev == len(fun.points) <= 600
    assert result.fun <= values[-1]
    if method in ("auto", "local"):
        np.testing.assert_allclose(result.modes[0].x, NARROW, atol=1e-2)


def test_none_of_them_is_evaluated_again():
    """Without derivatives a local search begins with the value of its start, which is known."""
    x, values = table(15)
    fun = Recorder(needle)
    find_minima(fun, BOX, warm_start=(x, values), x0=x[:3], method="local", rng=0, maxfev=400)
    asked = np.array(fun.points)
    assert (np.abs(asked[:, None] - x[None]).max(axis=2) > 1e-12).all()


def test_a_search_that_is_told_all_it_asks_for_evaluates_nothing():
    fun, given = Recorder(needle), {"rng": 0, "maxfev": 200, "n_modes": 1, "options": {"check": False}}
    first = find_minima(fun, BOX, **given)
    again = Recorder(needle)
    x = np.array(fun.points)
    second = find_minima(again, BOX, x0=x[:4], warm_start=(x, [needle(p) for p in x]), **given)
    known = {point.tobytes() for point in fun.points}
    assert not any(point.tobytes() in known for point in again.points)
    assert second.fun <= first.fun + 1e-9


def test_with_gradients_they_inform_but_are_asked_for():
    finder = ModeFinder(BOX, jac=True, warm_start=([[1.0, 1.0]], [2.0]), rng=0, options={"check": False})
    points = finder.ask()
    assert finder.nfev == 0
    assert any(np.allclose(point, [1.0, 1.0]) for point in points)


def test_noisy_functions_are_asked_again():
    finder = ModeFinder(BOX, noise=True, warm_start=table(20), rng=0)
    assert len(finder.ask()) > 0
    assert finder.result.nfail == 0


def test_failures_that_are_known_are_neither_counted_nor_repeated():
    x, values = table(10)
    values[::2] = np.nan
    fun = Recorder(needle)
    result = find_minima(fun, BOX, warm_start=(x, values), x0=x[:2], method="local", rng=0, maxfev=100)
    assert result.nfail == 0
    assert not any((point == x[0]).all() for point in fun.points)


def test_the_best_of_them_is_reported_if_nothing_better_is_found():
    result = find_minima(lambda x: 5.0 + x @ x, BOX, warm_start=([[0.1, 0.2]], [-7.0]), rng=0, maxfev=3)
    assert (result.fun, result.x.round(12).tolist()) == (-7.0, [0.1, 0.2])
    assert find_maxima(lambda x: -x @ x, BOX, warm_start=([[0.1, 0.2]], [7.0]), rng=0, maxfev=3).fun == 7.0


def test_all_forms_are_the_same():
    import pandas as pd

    x, values = table(12)
    columns = {"a": x[:, 0], "fun": values, "b": x[:, 1], "note": ["-"] * 12}
    found = [
        find_minima(needle, BOX, names=["a", "b"], warm_start=given, rng=0, maxfev=100)
        for given in ((x, values), [x.tolist(), values.tolist()], columns, pd.DataFrame(columns))
    ]
    assert all(result.x.tobytes() == found[0].x.tobytes() for result in found)
    assert all(result.history.rows == found[0].history.rows for result in found)


def test_an_earlier_result_and_its_table():
    first = find_minima(needle, BOX, rng=0, maxfev=300)
    fun = Recorder(needle)
    second = find_minima(fun, BOX, rng=1, maxfev=300, warm_start=first)
    assert second.fun <= first.fun
    assert not any((point == mode.x).all() for point in fun.points for mode in first.modes)
    assert find_minima(needle, BOX, rng=1, maxfev=300, warm_start=first.to_dataframe()).nfev <= 300
    empty = dataclasses.replace(first, modes=(), fun=np.nan)
    assert find_minima(needle, BOX, rng=1, maxfev=30, warm_start=empty).nfev == 30


def test_they_are_in_the_checkpoint(tmp_path):
    given = {"warm_start": table(15), "rng": 0, "maxfev": 200, "method": "local"}
    whole = find_minima(needle, BOX, **given)
    calls = []

    def interrupted(x):
        calls.append(None)
        if len(calls) == 20:
            raise KeyboardInterrupt
        return needle(x)

    find_minima(interrupted, BOX, checkpoint=tmp_path / "run.ckpt", **given)
    rest = find_minima(interrupted, BOX, checkpoint=tmp_path / "run.ckpt", **given)
    assert rest.history.rows == whole.history.rows
    assert len(calls) == whole.nfev + 1


def test_zero_has_no_sign():
    box = Box.make([(-1.0, 1.0)])
    known = Known.of(([[0.0]], [5.0]), box, ("x0",))
    is_known, values = known.at(np.array([[-0.0], [0.5]]), box)
    assert is_known.tolist() == [True, False]
    assert values[0] == 5.0


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (3, TypeError, r"warm_start is of type int; wanted a pair \(x, values\)"),
        (np.zeros((3, 2)), TypeError, "warm_start is of type ndarray; wanted a pair"),
        (([[1.0, 2.0]], [1.0, 2.0]), ValueError, r"warm_start: values has shape \(2,\); wanted \(1,\) for 1 points"),
        (([[1.0]], [1.0]), ValueError, r"warm_start: x has shape \(1, 1\); wanted \(n, 2\)"),
        (([["a", "b"]], [1.0]), TypeError, "warm_start: x has dtype"),
        (([[1.0, 9.0]], [1.0]), ValueError, "warm_start"),
        (([[1.0, np.nan]], [1.0]), ValueError, "warm_start"),
        ({"x0": [1.0], "fun": [1.0]}, ValueError, r"warm_start has the columns \['x0', 'fun'\] and lacks \['x1'\]"),
        ({"x0": [1.0], "x1": [1.0, 2.0], "fun": [1.0]}, ValueError, "warm_start has columns of shapes"),
    ],
)
def test_what_makes_no_sense_is_said(given, error, message):
    with pytest.raises(error, match=message):
        find_minima(needle, BOX, warm_start=given)


def test_nothing_known_is_nothing():
    one = find_minima(needle, BOX, rng=0, maxfev=60)
    other = find_minima(needle, BOX, rng=0, maxfev=60, warm_start=(np.zeros((0, 2)), []))
    assert one.history.rows == other.history.rows
