"""Tables of modes: rounding is not seen, every width is used, what does not fit is named."""

import numpy as np
import pytest
from test_result import mode, result

from allmodes.result.columns import columns_of, texts, values_of
from allmodes.result.fit_table import with_error


def cells(found, title):
    return dict(columns_of(found, found.modes))[title]


def of(values, **changes):
    return result(modes=tuple(mode([1.0, 2.0], value, **changes) for value in values))


def test_equally_good_modes_look_equal():
    assert values_of(result(), of([4e-15, 3e-13, 6e-13, 1.3e-11], is_global=True).modes) == ["0"] * 4
    assert values_of(result(), of([0.39788736, 0.39788789], is_global=True).modes) == ["0.397887"] * 2
    assert values_of(result(), of([0.3978999, 0.3979001], is_global=True).modes) == ["0.3979"] * 2


def test_values_that_differ_stay_apart():
    assert values_of(result(), of([-1.2, -1.19999, 3e-4]).modes) == ["-1.2", "-1.19999", "0.0003"]
    assert values_of(result(), of([1e-9, 2e-9]).modes) == ["1e-09", "2e-09"]
    noisy = of([0.31, 0.33], is_global=True, standard_error=0.02)
    assert values_of(result(), noisy.modes) == ["0.31", "0.33"]


def test_zeros_at_rounding_are_zero_and_equal_coordinates_look_equal():
    one, other = mode([2.4e-11, 1.16005], 0.0), mode([-8.8e-12, 1.160049999999], -1e-17)
    found = result(modes=(one, other), bounds=np.array([(-2.0, 2.0), (-2.0, 2.0)]))
    assert cells(found, "x0") == ["0", "0"]
    assert len(set(cells(found, "x1"))) == 1
    assert cells(found, "value") == ["0", "0"]


def test_small_numbers_that_say_something_are_shown():
    rate = (mode([1e-10, 5.0]), mode([3e-10, 6.0]))
    bounds = np.array([(1e-12, 1e3), (0.0, 9.0)])
    on_a_log_scale = result(modes=rate, bounds=bounds, settings={"scale": ["log", "linear"]})
    assert cells(on_a_log_scale, "x0") == ["1e-10", "3e-10"]
    assert cells(result(modes=rate, bounds=np.array([(0.0, 1e-9), (0.0, 9.0)])), "x0") == ["1e-10", "3e-10"]
    assert cells(result(modes=rate), "x0") == ["1e-10", "3e-10"]


def test_a_weight_that_is_small_is_not_zero():
    assert cells(result(modes=(mode([1.0, 0.0], weight=1e-9), mode([2.0, 0.0], weight=0.5))), "weight") == [
        "1e-09",
        "0.5000",
    ]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_said(value):
    assert texts(np.array([value, 1.0]), 5, 1e-9, 1e-9) == [f"{value:g}", "1"]


def test_no_zero_has_a_sign():
    assert with_error(-1e-7, 0.003) == "0.0000 ± 0.0030"
    assert texts(np.array([-0.0, -1e-20]), 5, 1e-9, 1e-9) == ["0", "0"]


@pytest.mark.parametrize("wide", [80, 120, 200])
def test_the_table_uses_the_terminal_and_names_what_does_not_fit(wide, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(wide))
    lines = repr(result(d=30)).splitlines()
    assert wide - 14 < max(map(len, lines)) < wide
    heading = next(line for line in lines if line.split()[:2] == ["value", "kind"])
    hidden = len(heading.split()) - 1 - 4  # coordinates that are there
    said = " ".join(" ".join(lines).split())
    assert f"x{hidden} to x29 not shown: result[0].x and so on, result.to_dataframe(), or a wider" in said
    assert "result[0].x and so on" not in repr(result(d=3))


def test_zeros_at_rounding_are_zero_where_bounds_are_open_too():
    tiny = (mode([1.0, -1.7e-13], hessian=np.eye(2)), mode([-1.0, 4.8e-12], hessian=np.eye(2)))
    open_, sharp = np.array([(-np.inf, np.inf)] * 2), 1e24 * np.eye(2)
    assert cells(result(modes=tiny, bounds=open_, temperature=0.4), "x1") == ["0", "0"]
    narrow = tuple(mode(each.x, hessian=sharp) for each in tiny)
    assert cells(result(modes=narrow, bounds=open_, temperature=0.4), "x1") == ["-1.7e-13", "4.8e-12"]
