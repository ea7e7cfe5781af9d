"""What a search returns: how it reads, as a dict, as a table, on disk."""

import json
import sys
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from allmodes import Status, storage
from allmodes.modes.coverage import estimate
from allmodes.nva.mixture import Mixture
from allmodes.nva.mixture.covariances import Factors
from allmodes.nva.mixture.families.gaussian import GaussianComponents
from allmodes.result import History, Mode, Result, best_of, files

WIDTH = 80


def mode(x, fun=-1.5, **changes):
    d = len(x)
    settings = {
        "kind": "minimum",
        "is_global": False,
        "gradient_norm": 1e-9,
        "hessian": 2.0 * np.eye(d),
        "eigenvalues": np.full(d, 2.0),
        "curvature_from": "derivatives",
        "flatness": 0.5,
        "weight": 0.25,
        "hits": 3,
        "found_at": 120,
    }
    return Mode(np.asarray(x, dtype=float), fun, **settings | changes)


def history():
    found = History()
    for row in ((0, np.inf, 0), (10, -1.0, 1), (30, -1.5, 2)):
        found.add(*row)
    return found


def result(d=2, n=3, **changes):
    rng = np.random.default_rng(0)
    modes = tuple(mode(5 * rng.normal(size=d), 0.3 * i - 1.5, is_global=i == 0) for i in range(n))
    x, fun = best_of(modes, np.zeros(d), 7.0, d)
    settings = {
        "x": x,
        "fun": fun,
        "success": True,
        "status": Status.CONVERGED,
        "message": "Twenty local searches in a row ended in known modes.",
        "nfev": 1234,
        "njev": 1000,
        "nhev": 0,
        "nit": 40,
        "modes": modes,
        "coverage": estimate(np.array([12, 5, 1])),
        "temperature": 0.0123,
        "nfail": 0,
        "failures": (),
        "history": history(),
        "mixture": None,
        "method": "find_minima (local)",
    }
    return Result(**settings | changes)


# ---- modes


def test_a_mode_reads_as_one_short_line():
    assert (
        repr(mode([0.0898, -0.7127], -1.0316284, is_global=True))
        == "Mode(-1.03163 at [0.0898, -0.7127], minimum, global)"
    )
    assert repr(mode([1.0] * 5, kind="boundary")) == "Mode(-1.5 at [1, 1, 1, 1, ...], boundary)"
    assert len(repr(mode([-1.23456789e-300] * 9, -1.23456789e-300, kind="unverified"))) < 100


def test_modes_and_results_do_not_change():
    with pytest.raises(AttributeError):
        mode([1.0]).fun = 2.0
    with pytest.raises(AttributeError):
        result().x = np.zeros(2)


@pytest.mark.parametrize(
    ("modes", "x", "fun", "expected"),
    [
        ((mode([1.0, 2.0], 3.0), mode([4.0, 5.0], 6.0)), np.zeros(2), 0.0, ([1.0, 2.0], 3.0)),
        ((), np.array([8.0, 9.0]), 10, ([8.0, 9.0], 10.0)),
        ((), None, None, ([np.nan, np.nan], np.nan)),
    ],
)
def test_the_best_is_a_mode_or_a_point_or_nothing(modes, x, fun, expected):
    found = best_of(modes, x, fun, 2)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])
    assert type(found[1]) is float


# ---- history


def test_a_history_has_the_changes_the_first_and_the_last_row():
    found = History()
    for row in ((0, np.inf, 0), (5, np.inf, 0), (10, 3.0, 0), (20, 3.0, 0), (30, 3.0, 1), (40, 3.0, 1), (50, 3.0, 1)):
        found.add(*row)
    np.testing.assert_array_equal(found.nfev, [0, 10, 30, 50])
    np.testing.assert_array_equal(found.best, [np.inf, 3.0, 3.0, 3.0])
    np.testing.assert_array_equal(found.modes, [0, 0, 1, 1])
    assert len(found) == 4


def test_values_that_are_not_known_are_no_change():
    found = History()
    for nfev in range(5):
        found.add(nfev, np.nan, 0)
    np.testing.assert_array_equal(found.nfev, [0, 4])


def test_a_long_history_is_thinned():
    found = History()
    longest = 0
    for n in range(5000):
        found.add(n, -float(n), n // 10)
        longest = max(longest, len(found))
    assert longest <= 1000
    assert len(found) > 300
    assert (found.nfev[0], found.nfev[-1]) == (0, 4999)
    assert (np.diff(found.nfev) > 0).all()
    assert np.diff(found.nfev).max() < 2 * 16  # cells of 16: the smallest power of two that leaves at most 500
    np.testing.assert_array_equal(found.best, -found.nfev)


def test_many_changes_at_once_are_thinned_too():
    found = History()
    for n in range(3000):
        found.add(7, -float(n), n)
    assert 2 <= len(found) <= 1000
    assert found.modes[-1] == 2999


def test_an_empty_history_has_empty_columns():
    found = History()
    assert found.nfev.shape == found.best.shape == found.modes.shape == (0,)
    assert (found.nfev.dtype, found.best.dtype) == (np.int64, np.float64)


def test_a_copy_stays_as_it_was():
    found = history()
    copy = found.copy()
    found.add(99, -9.0, 9)
    np.testing.assert_array_equal(copy.nfev, [0, 10, 30])


# ---- as a dict


def test_it_reads_like_an_optimize_result():
    found = result()
    for name in ("x", "fun", "success", "status", "message", "nfev", "njev", "nhev", "nit"):
        assert name in found
        assert found[name] is getattr(found, name)
        assert found.get(name) is getattr(found, name)
    assert set(dict(found)) == set(found.keys())
    assert dict(**found)["nfev"] == found.nfev
    assert "nothing" not in found
    assert "to_dataframe" not in found
    assert found.get("nothing") is None
    assert found.get("nothing", 3) == 3
    with pytest.raises(KeyError, match="a Result has no 'nothing'; it has x, fun, success"):
        found["nothing"]


def test_it_is_the_sequence_of_its_modes():
    found, nothing = result(), result(n=0)
    assert [one.fun for one in found] == [one.fun for one in found.modes]
    assert len(found) == 3
    assert len(nothing) == 0
    assert found
    assert nothing  # as of SciPy: that there is a result is no question of what it found
    assert found[0] is found.modes[0]
    assert found[np.int64(-1)] is found.modes[-1]
    assert found[1:] == found.modes[1:]
    assert list(reversed(found)) == list(reversed(found.modes))
    assert found.modes[1] in found
    best, *others = found
    assert best.is_global
    assert len(others) == 2
    with pytest.raises(IndexError, match=r"result\[3\] is no mode; there are 3, from result\[0\]"):
        found[3]
    with pytest.raises(TypeError, match="wanted the name of an attribute, or the number of a mode"):
        found[1.5]


# ---- as text


def rows(text):
    """The lines of the table of modes, below its heading."""
    lines = text.splitlines()
    (heading,) = (i for i, line in enumerate(lines) if line.split()[:2] == ["value", "kind"] or "  error  " in line)
    end = next(i for i, line in enumerate(lines) if line.startswith("* global; weights at temperature"))
    return lines[heading + 1 : end]


def test_the_table_of_an_example():
    found = replace(
        result(),
        modes=(
            mode([0.0898, -0.7127], -1.0316, is_global=True, weight=0.75, hits=12),
            mode([-3.0, 2.0], 10.25, kind="boundary", hits=1),
        ),
        names=("mass", "a very long name indeed"),
    )
    assert repr(found).splitlines() == [
        "find_minima (local): 1234 evaluations, 2 modes in 2-d",
        "status CONVERGED: Twenty local searches in a row ended in known modes.",
        "coverage: 3 modes found; probably 0 to 61 more (90 %), where about 5 % of local",
        "  searches from new places would end",
        "",
        "      value  kind      weight  hits    mass  a very long~",
        "1*  -1.0316  minimum   0.7500    12  0.0898       -0.7127",
        "2     10.25  boundary  0.2500     1      -3             2",
        "* global; weights at temperature 0.0123",
    ]


@pytest.mark.parametrize("n", [0, 1, 3, 25])
@pytest.mark.parametrize("d", [1, 2, 4, 50])
def test_the_representation_fits_a_terminal(d, n):
    text = repr(result(d, n))
    assert max(map(len, text.splitlines())) <= WIDTH
    if n:
        assert len(rows(text)) == min(n, 20) + (n > 20)
        assert all(("..." in line) is (d > 4) for line in rows(text)[: min(n, 20)])
        assert ("... and 5 more" in text) is (n > 20)
    else:
        assert "0 modes" in text
        assert "value 7" in text


def test_numbers_of_every_size_fit_the_table():
    extreme = [-1.23456789e-300, -1.23456789e300, np.nan, -np.inf]
    modes = tuple(
        mode(extreme, fun, kind="unverified", weight=weight, hits=10**7, standard_error=1.23456e-300)
        for fun in extreme
        for weight in (1.0, np.nan, 1e-300)
    )
    text = repr(result(4, modes=modes * 2, nfev=10**9, names=("a name too long for its column",) * 4))
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "1.2e-300" in text
    assert "-1.2346e-300" in text


def test_standard_errors_are_shown_where_there_are_any():
    noisy = result(modes=(mode([1.0, 2.0], standard_error=0.012), mode([3.0, 4.0])))
    first, second = rows(repr(noisy))
    assert first.split() == ["1", "-1.5", "0.012", "minimum", "0.2500", "3", "1", "2"]
    assert second.split() == ["2", "-1.5", "minimum", "0.2500", "3", "3", "4"]
    assert "error" not in repr(result())


def test_without_modes_the_best_point_is_shown():
    assert "best point (result.x) [0, 0], value 7" in repr(result(n=0))
    nothing = result(n=0, x=np.full(2, np.nan), fun=np.nan)
    assert "best point (result.x) [nan, nan], value nan" in repr(nothing)


class Record(NamedTuple):
    """Somebody's record of a failure."""

    point: object
    kind: str
    text: str


@pytest.mark.parametrize("make", [tuple, lambda parts: Record(*parts)])
def test_failures_are_told(make):
    failures = (make((np.array([1.0, 2.0]), "exception", "ValueError: no\nsuch point")),) * 2
    text = repr(result(nfail=7, failures=failures))
    assert text.endswith("7 evaluations failed; the first at x = [1, 2]: exception, ValueError: no such\n  point")
    assert repr(result(nfail=1)).endswith("\n1 evaluation failed.")
    long = repr(result(nfail=7, failures=(make((np.zeros(50), "exception", "x" * 5000)),)))
    assert max(map(len, long.splitlines())) <= WIDTH
    assert len(long) < 2000


# ---- elsewhere


def test_it_becomes_a_dataframe():
    found = result()
    frame = found.to_dataframe()
    columns = ["fun", "kind", "is_global", "weight", "flatness", "gradient_norm", "hits", "found_at"]
    assert list(frame.columns) == [*columns, "x0", "x1"]
    assert list(frame.index) == [1, 2, 3]  # ranks
    assert frame.index.name == "rank"
    np.testing.assert_array_equal(frame["fun"], [one.fun for one in found.modes])
    np.testing.assert_array_equal(frame[["x0", "x1"]], [one.x for one in found.modes])
    assert frame["is_global"].dtype == bool
    assert frame["hits"].dtype == np.int64
    assert list(result(names=("mass", "fun")).to_dataframe().columns) == [*columns, "mass", "fun"]
    assert list(result(n=0).to_dataframe().columns) == [*columns, "x0", "x1"]


def test_without_pandas_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install allmodes\[dataframe\]"):
        result().to_dataframe()


@pytest.mark.parametrize("name", ["result.npz", "result.json", "RESULT.JSON", "result", "run.2026"])
def test_it_comes_back_from_disk(tmp_path, name):
    path = tmp_path / name
    K = 3
    components = GaussianComponents(np.arange(6.0).reshape(K, 2), Factors(np.ones((K, 2, 2)), np.ones((K, 2, 2))))
    saved = result(
        mixture=Mixture(np.array([-1.0, -np.inf, 0.0]), components),
        names=("a", "b"),
        nfail=1,
        failures=((np.array([1.0, np.nan]), "exception", "no"),),
    )
    saved.save(path)
    found = Result.load(path)
    assert repr(found) == repr(saved)
    assert found.status is Status.CONVERGED
    assert found.keys() == saved.keys()
    np.testing.assert_array_equal(found.x, saved.x)
    for one, other in zip(found.modes, saved.modes, strict=True):
        np.testing.assert_array_equal(one.hessian, other.hessian)
        assert one.fun == other.fun
    assert found.history.rows == saved.history.rows
    assert found.coverage == saved.coverage
    assert isinstance(found.mixture, Mixture)
    np.testing.assert_array_equal(found.mixture.components.mu, components.mu)
    np.testing.assert_array_equal(found.mixture.log_ratios, saved.mixture.log_ratios)
    np.testing.assert_array_equal(found.failures[0][0], [1.0, np.nan])


def test_json_is_for_other_programs_and_for_load(tmp_path):
    found, path = result(x=np.array([np.nan, np.inf])), tmp_path / "r.json"
    found.save(path)
    data = json.loads(path.read_text())
    assert data.pop("saved")
    assert data == found.to_dict() == json.loads(found.to_json())
    assert data["x"] == [None, None]
    assert [one["fun"] for one in data["modes"]] == [one.fun for one in found]
    np.testing.assert_array_equal(Result.load(path).x, found.x)
    path.write_text(found.to_json())
    with pytest.raises(ValueError, match=r"r\.json is JSON for other programs, without the whole result. Load what"):
        Result.load(path)
    for broken in ("{", '{"saved": 3}', '{"saved": "!"}', '{"saved": "AAAA"}'):
        path.write_text(broken)
        with pytest.raises(ValueError, match=r"r\.json is not a whole file saved by allmodes"):
            Result.load(path)


def test_other_endings_are_refused(tmp_path):
    assert files.as_json(result()) == result().to_json()
    with pytest.raises(ValueError, match=r"r\.csv ends in \.csv; wanted \.npz, or \.json"):
        result().save(tmp_path / "r.csv")
    assert not list(tmp_path.iterdir())


def test_what_is_not_a_result_is_refused(tmp_path):
    path = tmp_path / "result.npz"
    storage.save(path, 3, kind="finder")
    with pytest.raises(ValueError, match=r"result\.npz holds a finder; a result was wanted"):
        Result.load(path)
    storage.save(path, 3, kind="result")
    with pytest.raises(ValueError, match=r"result\.npz holds a int; a Result was wanted"):
        Result.load(path)


def test_a_result_without_modes_says_so_when_one_is_asked_for():
    with pytest.raises(IndexError, match=r"result\[0\] is no mode; none was found: see result\.message"):
        result(modes=())[0]
