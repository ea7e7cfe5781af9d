"""mode-sym and mode-st at a small size, end to end; and that their settings are those they say they are."""

import csv

import numpy as np
import pytest

from allmodes.problems import styblinski_tang, symmetric_mixture
from allmodes.reproduce import experiment
from allmodes.reproduce.compare import DIFFERS
from allmodes.reproduce.experiment import Context
from allmodes.reproduce.modes import _temperature, best_possible
from allmodes.reproduce.writing import write

RUNS = 5
NAMES = ("mode-sym", "mode-st")


def small(name, kept, components, changes):
    """The settings with some methods, fewer steps, and what is published about those."""
    settings = experiment(name).settings
    settings["methods"] = [
        method | {"steps": changes.get(method["id"], method["steps"])}
        for method in settings["methods"]
        if method["id"] in kept
    ]
    settings |= {"components": components, "driver": "numpy"}
    known = [p for p in settings["published"] if p.get("minus", kept[0]) in kept]
    settings["published"] = [p | {"methods": [m for m in p["methods"] if m in kept]} for p in known]
    return settings


@pytest.fixture(scope="module")
def outcome():
    kept = ["nva-printed", "nva", "pcma-es", "psga"]
    settings = small("mode-st", kept, [8], {"nva-printed": 2, "pcma-es": 40, "psga": 1000})
    return experiment("mode-st").run(Context(settings, RUNS))


def line(outcome, method, variant=None):
    return next(r for r in outcome.table if r["method"] == method and variant in (None, r["variant"]))


def test_annealing_finds_more_modes_than_parallel_searches(outcome):
    nva, psga, pcma_es = line(outcome, "NVA-GM", "iBLR"), line(outcome, "pSGA"), line(outcome, "pCMA-ES")
    assert nva["GPR"] == 1.0
    assert nva["APR maximum"] == 0.5
    assert nva["APR"] > 0.45 > psga["APR"] > pcma_es["APR"] > 0.15
    assert nva["APR at 0.01"] < 0.05  # the temperature ends at 1
    assert all(r["diverged"] == 0.0 for r in (nva, psga, pcma_es))
    number = next(n for n in outcome.numbers if n.what == "NVA-GM, iBLR, K = 8: GPR")
    assert (number.published, number.here, number.runs) == ("almost always for all K", 1.0, RUNS)


def test_settings_as_printed_are_shown_to_diverge(outcome):
    printed = line(outcome, "NVA-GM")
    assert "as printed" in printed["variant"]
    assert (printed["diverged"], printed["GPR"], printed["APR"]) == (1.0, 0.0, 0.0)
    about = [n for n in outcome.numbers if n.what.startswith("NVA-GM, as printed")]
    assert {(n.here, bool(n.reason)) for n in about} == {(0.0, True)}
    assert "| NVA-GM, as printed (plain rule) | 0.00 / 0.00 | 100% |" in outcome.text


def test_fitness_shaping_on_the_symmetric_mixture_diverges_as_printed():
    settings = small("mode-sym", ["fs-printed", "psga"], [3], {"fs-printed": 40, "psga": 3000})
    outcome = experiment("mode-sym").run(Context(settings, 10))
    printed, psga = line(outcome, "FS-NVA-GM"), line(outcome, "pSGA")
    assert (printed["diverged"], printed["APR"]) == (1.0, 0.0)
    assert (psga["diverged"], psga["APR maximum"]) == (0.0, 0.75)
    assert 0.3 < psga["APR"] < 0.75
    about = [n for n in outcome.numbers if n.what.startswith("FS-NVA-GM, as printed")]
    assert [n.verdict for n in about] == [DIFFERS, DIFFERS]


def test_all_rows_have_the_same_columns_and_values_between_0_and_what_is_possible(outcome):
    for row in outcome.table:
        assert list(row) == list(outcome.table[0])
        assert (row["K"], row["runs"]) == (8, RUNS)
        for metric in ("GPR", "APR"):
            low, here, high, most = (row[f"{metric}{end}"] for end in (" low", "", " high", " maximum"))
            assert 0.0 <= low <= here <= high <= most == {"GPR": 1.0, "APR": 0.5}[metric]


def test_the_files_are_written(outcome, tmp_path):
    write(experiment("mode-st"), outcome, tmp_path)
    with (tmp_path / "mode-st.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["method"] for row in rows] == ["NVA-GM", "NVA-GM", "pCMA-ES", "pSGA"]
    assert float(rows[1]["APR"]) == line(outcome, "NVA-GM", "iBLR")["APR"]
    assert "GPR / APR" in (tmp_path / "mode-st.md").read_text(encoding="utf-8")
    assert (tmp_path / "mode-st.png").stat().st_size > 10_000


class Backwards:
    """Workers that do the last job first, and remember the jobs."""

    def map(self, function, tasks):
        self.tasks = list(tasks)
        return [function(task) for task in reversed(self.tasks)][::-1]


def test_the_order_of_jobs_changes_nothing_and_methods_share_their_starts():
    settings = small("mode-st", ["psga-printed", "psga", "pcma-es"], [2, 3], {"psga": 500, "pcma-es": 6})
    workers = Backwards()
    wanted = experiment("mode-st").run(Context(settings, 12, seed=3))
    again = experiment("mode-st").run(Context(settings, 12, seed=3, workers=workers))
    assert wanted.table == again.table
    assert wanted.numbers == again.numbers
    starts = {}
    for (_, method, chunk), _ in workers.tasks:
        starts.setdefault((method["id"], chunk.shape[1]), []).append(chunk)
    for K in (2, 3):
        first, *others = (np.concatenate(starts[name, K]) for name in ("psga", "psga-printed", "pcma-es"))
        assert first.shape == (12, K, 4)
        assert np.abs(first).max() <= 4.0
        for other in others:
            np.testing.assert_array_equal(first, other)
    assert line(again, "pSGA", "as printed")["diverged"] == 1.0
    assert line(again, "pSGA", "a hundredth of the rate")["APR"] > 0.08


def test_what_is_possible():
    assert best_possible(symmetric_mixture(), 2) == {"GPR": 2 / 3, "APR": 0.5}
    assert best_possible(symmetric_mixture(), 5) == {"GPR": 1.0, "APR": 1.0}
    assert best_possible(styblinski_tang(4), 12) == {"GPR": 1.0, "APR": 0.75}


def test_slower_annealing_covers_the_same_temperatures():
    method = {"temperature": {"start": 40000.0, "exponent": 2.0}, "slower": 5}
    temperature = _temperature(method, 1000)
    assert temperature(1) == 40000.0
    assert temperature(1000) == pytest.approx(1.0)
    assert temperature(100) == pytest.approx(40000.0 / (1.0 + 99 * 199 / 999) ** 2)


@pytest.mark.parametrize("name", NAMES)
def test_settings_refer_to_methods_that_are_there(name):
    settings = experiment(name).settings
    ids = [method["id"] for method in settings["methods"]]
    assert len(set(ids)) == len(ids)
    for published in settings["published"]:
        assert set(published["methods"]) | {published.get("minus", ids[0])} <= set(ids)
        assert set(published["components"]) <= set(settings["components"])
    drawn = [method["name"] for method in settings["methods"] if method.get("line") == "solid"]
    assert drawn == ["NVA-GM", "FS-NVA-GM", "pCMA-ES", "pSGA"]


def test_the_published_numbers_are_those_of_the_text():
    values = [p for p in experiment("mode-st").settings["published"] if "claim" not in p]
    assert [(p["metric"], p["components"], p["value"]) for p in values] == [("APR", [16], 0.92), ("APR", [16], 0.84)]
    assert {experiment(name).runs for name in NAMES} == {100}
