"""Results as plain data."""

import json
from enum import IntEnum

import numpy as np
import pytest

from allmodes import find_minima
from allmodes.report.plain import as_dict, as_json, plain, write_json


class Colour(IntEnum):
    RED = 1


class Odd:
    def __str__(self):
        return "odd"


@pytest.fixture(scope="module")
def result():
    def double_well(x):
        if x[0] > 1.9:
            raise ValueError('"<é')
        return (x[0] ** 2 - 1.0) ** 2

    return find_minima(double_well, [(-2, None)], rng=0, on_error="nan", names=["höhe"], maxfev=2000)


def test_everything_is_there(result):
    found = as_dict(result)
    assert set(found) >= set(result.keys()) - {"mixture", "paths", "trace", "problem", "constraints"}
    mode = found["modes"][0]
    assert mode["x"] == result.modes[0].x.tolist()
    assert set(mode) == set(result.modes[0].__dataclass_fields__) - {"named"} | {"choices"}
    assert found["status"] == result.status.name
    assert found["history"]["nfev"][-1] == result.nfev
    assert found["failures"][0]["text"] == 'ValueError: "<é'
    assert found["coverage"]["searches"] == result.coverage.searches


def test_barriers_are_there_once_they_are_known():
    def wells(x):
        return float((x[0] ** 2 - 1) ** 2 + 0.1 * x[0])

    found = find_minima(wells, [(-2, 2)], rng=0)
    assert as_dict(found)["barriers"] is None
    barriers = as_dict(found.connect(wells, rng=0))["barriers"]
    (way,) = barriers["ways"]
    assert way["modes"] == [1, 2]
    assert way["value"] == pytest.approx(1.00125, abs=1e-5)
    assert barriers["depths"][0] is None
    assert barriers["is_complete"] is True


def test_open_bounds_and_numbers_that_are_not_finite_are_null(result):
    assert as_dict(result)["bounds"] == [[-2.0, None]]
    assert plain([np.inf, -np.inf, np.nan, np.float32(0.5)]) == [None, None, None, 0.5]


def test_it_is_json_for_every_reader(result):
    def refuse(word):
        raise ValueError(word)

    text = as_json(result)
    assert json.loads(text, parse_constant=refuse)["names"] == ["höhe"]
    assert text.isascii()


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(np.int64(3), 3), (Colour.RED, 1), (True, True), (np.bool_(True), True), ({1: (2,)}, {"1": [2]}), (Odd(), "odd"),
     (None, None), (np.array(1.5), 1.5), (frozenset({"a"}), ["a"])],
)  # fmt: skip
def test_plain_values(value, wanted):
    found = plain(value)
    assert found == wanted
    assert type(found) is type(wanted)


def test_a_file_is_written_whole_or_not_at_all(result, tmp_path, monkeypatch):
    path = tmp_path / "result.json"
    write_json(result, path)
    before = path.read_text()
    assert json.loads(before) == as_dict(result)
    monkeypatch.setattr("allmodes.report.plain.as_json", lambda result: "\ud800")  # cannot be written
    with pytest.raises(UnicodeEncodeError):
        write_json(result, path)
    assert path.read_text() == before
    assert [found.name for found in tmp_path.iterdir()] == ["result.json"]
