"""runtime: every entry of both tables is timed and judged. How long anything takes is not tested."""

import csv

import numpy as np
import pytest

from allmodes.reproduce import experiment, runtime
from allmodes.reproduce.compare import AGREE, BETTER, DIFFERS
from allmodes.reproduce.experiment import Context
from allmodes.reproduce.runtime import Case, median_interval, time_of
from allmodes.reproduce.writing import write

RUNTIME = experiment("runtime")


def small():
    settings = RUNTIME.settings
    settings["steps"] = dict.fromkeys(settings["steps"], 2)
    for given in settings["problems"].values():
        given["components"] = given["components"][:2]
        given["published"] = {method: row[:2] for method, row in given["published"].items()}
    return settings


@pytest.fixture(scope="module")
def outcome():
    return RUNTIME.run(Context(small(), 2))


def test_every_entry_is_timed(outcome):
    assert len(outcome.table) == len(outcome.numbers) == 2 * 6 * 2
    assert {line["method"] for line in outcome.table} == set(RUNTIME.settings["steps"])
    for line in outcome.table:
        assert 0.0 <= line["ms low"] <= line["ms"] <= line["ms high"]
        assert line["repeats"] == 2


def test_the_published_tables_are_whole():
    problems = RUNTIME.settings["problems"]
    assert problems["sym"]["components"] == [2, 3, 4, 5]
    assert problems["st"]["components"] == list(range(2, 21, 2))
    for given in problems.values():
        assert list(given["published"]) == list(RUNTIME.settings["steps"])
        for row in given["published"].values():
            assert len(row) == len(given["components"])
            assert np.all(np.diff(row) > 0)
    assert problems["st"]["published"]["NVA-GM"][-1] == 173.0
    assert problems["sym"]["published"]["pSGA"][0] == 0.39


@pytest.mark.parametrize(
    ("times", "verdict"), [([1.0, 1.1, 1.2], BETTER), ([2.0, 2.7, 3.0], AGREE), ([5.0, 6.0, 7.0], DIFFERS)]
)
def test_verdicts(times, verdict):
    number = runtime._number(Case("st", "NVA-GM", 2, 2.7), np.array(times), RUNTIME.settings)
    assert number.verdict == verdict
    assert bool(number.reason) == (verdict == DIFFERS)
    assert number.here == np.median(times)
    assert "ms" in number.what


def test_time_to_set_up_is_taken_off(monkeypatch):
    clock = iter([0.0, 0.5, 1.0, 3.5])  # half a second without steps, 2.5 with 10
    monkeypatch.setattr(runtime, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(runtime, "go", lambda case, settings, steps, seed: None)
    assert time_of(Case("st", "NVA-GM", 2, 2.7), {"steps": {"NVA-GM": 10}}, 0) == pytest.approx(200.0)


def test_the_interval_of_a_median():
    # Of 20 the 6th and the 15th enclose the median with 95.9 %; of 3 only the outermost come near.
    assert median_interval(np.arange(1.0, 21.0)) == (10.5, 6.0, 15.0)
    assert median_interval(np.array([3.0, 1.0, 2.0])) == (2.0, 1.0, 3.0)


def test_the_interval_of_a_median_covers_as_often_as_it_says():
    draws = np.random.default_rng(0).exponential(size=(2000, 15))
    intervals = np.array([median_interval(row)[1:] for row in draws])
    covered = np.mean((intervals[:, 0] <= np.log(2)) & (np.log(2) <= intervals[:, 1]))
    assert 0.95 - 3 * np.sqrt(0.95 * 0.05 / 2000) < covered <= 0.99


def test_the_files_are_written(outcome, tmp_path):
    write(RUNTIME, outcome, tmp_path)
    with (tmp_path / "runtime.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["published ms"]) for row in rows[:2]] == [3.7, 6.6]
    assert "NVA-GM (fc)" in (tmp_path / "runtime.md").read_text(encoding="utf-8")
    assert (tmp_path / "runtime.png").stat().st_size > 10_000
