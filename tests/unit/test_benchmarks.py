"""Results of the benchmarks: the page says what the files say, and so do the figures in comparison.md and README."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import overview
import page
import results

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(path for path in (ROOT / "benchmarks").glob("*.py") if "results = Results(" in path.read_text("utf-8"))
ALL = page.results()


def rows_of(name, columns):
    """The cells of some columns of the first table of a file, by what the first column says."""
    table = ALL[name]["tables"][0]
    places = [table["columns"].index(column) for column in columns]
    return {row[0]: [str(row[place]) for place in places] for row in table["rows"]}


def shown_rows(text, head):
    """The rows of the table of a page that begins with this heading, cells without emphasis."""
    lines = text.partition(head)[2].splitlines()[2:]
    table = lines[: next(i for i, line in enumerate([*lines, ""]) if not line.startswith("|"))]
    return [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in table]


def test_the_page_is_what_the_files_say():
    """`python benchmarks/page.py` writes it anew."""
    assert page.PAGE.read_text(encoding="utf-8") == page.text()


def test_another_number_is_another_page(tmp_path):
    facts = json.loads(json.dumps(ALL["kinks"]))
    (tmp_path / "kinks.json").write_text(results.dumped(facts), encoding="utf-8")
    before = page.text(tmp_path)
    facts["tables"][0]["rows"][0][2] = 391
    (tmp_path / "kinks.json").write_text(results.dumped(facts), encoding="utf-8")
    assert before != page.text(tmp_path) == before.replace("| cone | 1 | 390 |", "| cone | 1 | 391 |")


@pytest.mark.parametrize("name", ALL)
def test_a_result_can_be_traced(name):
    facts = ALL[name]
    assert {"title", "command", "commit", "seeds", "runs", "versions", "note", "tables"} == set(facts)
    script = re.match(r"python (benchmarks/\w+\.py)", facts["command"])[1]
    assert (ROOT / script) in SCRIPTS
    assert re.fullmatch(r"[0-9a-f]{7,}", facts["commit"]), "results that are kept are of a commit"
    assert len(facts["seeds"]) == facts["runs"] > 0
    assert (page.FOLDER / f"{name}.json").read_text(encoding="utf-8") == results.dumped(facts)
    for table in facts["tables"]:
        assert len(set(table["columns"])) == len(table["columns"])
        assert {len(row) for row in table["rows"]} == {len(table["columns"])}


def test_the_comparison_has_the_figures_of_the_files():
    text = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    with_derivatives = rows_of("all_modes", [f"{n}, 100 %" for n in ("allmodes", "Newton", "L-BFGS-B", "SHGO")])
    shown = shown_rows(text, "| problem (modes) | allmodes | multistart Newton | multistart L-BFGS-B | SciPy SHGO |")
    assert {row[0].partition(" (")[0]: row[1:] for row in shown} == with_derivatives
    values = rows_of("all_modes_values", ["allmodes", "multistart L-BFGS-B"])
    shown = shown_rows(text, "| problem (modes) | allmodes | multistart L-BFGS-B |")
    assert [row[1:] for row in shown] == list(values.values())
    kinks = rows_of("kinks", ["allmodes", "Nelder-Mead", "L-BFGS-B"])
    shown = shown_rows(text, "| function (minima) | allmodes | multistart Nelder–Mead | multistart L-BFGS-B |")
    assert [row[1:] for row in shown[:-1]] == list(kinks.values())[:-1]  # of the last one shares are told
    means = {row[0]: row[1:] for row in ALL["cec2013"]["tables"][1]["rows"]}
    shown = shown_rows(text, "| | mean peak ratio | dynamic F1 |")
    names = ("allmodes", "RS-CMSA-ESII", "HillVallEA19")
    assert [float(row[1]) for row in shown] == [pytest.approx(means[name][0], abs=5.1e-4) for name in names]
    assert float(shown[0][2]) == pytest.approx(means["allmodes"][3], abs=5.1e-4)


def test_the_table_of_missing_modes_has_the_figures_of_the_file():
    text = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    table = ALL["missing_modes"]["tables"][0]
    rows = {tuple(row[:2]): dict(zip(table["columns"], row, strict=True)) for row in table["rows"]}
    shown = shown_rows(text, "| functions | modes found by the whole budget |")
    assert [row[0] for row in shown] == [name for name, rule in rows if rule == "now, default"]
    for name, _, lost, given, used, holds, below in shown:
        ways = "default", "given"
        told = [[rows[name, f"{rule}, {way}"]["lost"] for rule in ("before", "now")] for way in ways]
        assert [[int(cell) for cell in cells.split(", ")] for cells in (lost, given)] == told
        medians = [rows[name, f"{rule}, default"]["evaluations, median"] for rule in ("before", "now")]
        assert [int(cell) for cell in used.split(", ")] == medians
        now = rows[name, "now, default"]
        assert (holds, below) == (f"{now['range holds, %']} %", f"{now['below bound, %']} %")


def test_the_readme_has_the_figures_of_the_files():
    """`python benchmarks/page.py` writes its table."""
    text = page.README.read_text(encoding="utf-8")
    assert page.introduced(text) == text
    with pytest.raises(ValueError, match="no table"):
        page.introduced("nothing")


def test_the_story_of_the_readme_is_that_of_the_file():
    found = rows_of("velocities", ["explanations", "runs with all", "runs with the best two"])
    ours, theirs = found["curve_fit of allmodes"], found["multistart of least_squares"]
    words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    text = " ".join(page.README.read_text(encoding="utf-8").split())
    assert f"found all {words[int(ours[0])]} in {ours[1]} of 20 runs;" in text
    assert f"in {theirs[1]} of 20, and in {20 - int(theirs[2])} of 20 they missed one of the best two." in text


def test_the_better_figure_is_in_bold_and_neither_of_equal_ones():
    def cells(ours, theirs):
        return overview.Row("problems", "calls", "what", ours, theirs, "peer", "{:.0f}".format).cells()[3:]

    assert cells(91.0, 88.0) == ["**91**", "88 peer"]
    assert cells(88.0, 91.0) == ["88", "**91** peer"]
    assert cells(87.4, 86.6) == ["87", "87 peer"]


class TestResults:
    def test_what_is_printed_is_written(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(sys, "argv", ["/some/where/kinks.py", "--runs", "2", "--json", "x.json", "--first-seed=7"])
        monkeypatch.chdir(tmp_path)
        given = results.arguments("text", runs=5).parse_args()
        made = results.Results("A title", given, "A note.")
        made.table(["name", "a", "b"])
        made.row("first", results.digits(1 / 3, 2), results.reached(float("inf")))
        made.row("sec|ond", results.digits(float("nan"), 2), results.reached(12.6))
        made.say("So it is.")
        made.write()
        facts = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
        assert facts["command"] == "python benchmarks/kinks.py --runs 2 --first-seed=7"
        assert (facts["seeds"], facts["runs"], facts["note"]) == ([7, 8], 2, "A note. So it is.")
        assert facts["tables"][0]["rows"] == [["first", 0.33, ">"], ["sec|ond", None, 13]]
        assert "| sec\\|ond |  | 13 |" in capsys.readouterr().out
        assert "| first | 0.33 | > |" in page.section(facts)

    def test_a_row_fits_its_table(self, monkeypatch, capsys):
        monkeypatch.setattr(sys, "argv", ["kinks.py"])
        made = results.Results("A title", results.arguments("text").parse_args([]))
        made.table(["a", "b"])
        with pytest.raises(ValueError, match="1 cells; the table has 2 columns"):
            made.row(1)

    def test_numbers_of_a_column_have_as_many_digits(self):
        assert page.aligned([[1.0, 5], [0.125, ">"], [None, 3]]) == [["1.000", 5], ["0.125", ">"], [None, 3]]

    @pytest.mark.parametrize(("seeds", "told"), [([3, 4, 5], "3 to 5"), ([1, 5, 6], "1, 5, 6")])
    def test_seeds_are_told(self, seeds, told):
        assert results.spoken(seeds) == told

    def test_the_commit_is_unknown_outside_of_git(self, tmp_path, monkeypatch):
        monkeypatch.setattr(results, "HERE", tmp_path)
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
        assert results.commit() == "unknown"

    def test_one_run_where_runs_are_not_counted(self):
        assert results.seeds_of(argparse.Namespace(first_seed=4)) == range(4, 5)


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_script_takes_a_seed_and_writes_json(script):
    shown = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True, check=True).stdout
    assert "--first-seed" in shown
    assert "--json FILE" in shown


@pytest.mark.slow
def test_a_script_writes_what_the_page_can_show(tmp_path):
    given = ["--runs", "1", "--first-seed", "90", "--problems", "asymmetric mixture", "--json", tmp_path / "one.json"]
    subprocess.run([sys.executable, ROOT / "benchmarks" / "all_modes.py", *given], capture_output=True, check=True)
    facts = page.results(tmp_path)["one"]
    assert facts["command"] == "python benchmarks/all_modes.py --runs 1 --first-seed 90 --problems 'asymmetric mixture'"
    assert facts["seeds"] == [90]
    assert set(facts["versions"]) >= {"python", "numpy", "scipy"}
    assert "| asymmetric mixture | 3 |" in page.text(tmp_path)


def test_the_comparison_counts_constrained_problems_as_the_file_does():
    text = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    for table, name in zip(ALL["constraints"]["tables"], ("values", "gradients"), strict=True):
        rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
        ours, theirs = ([row[f"{each}: found"] for row in rows] for each in ("allmodes", "SLSQP"))
        all_found = [[float("inf") if row[f"{each}: all"] == results.BEYOND else row[f"{each}: all"] for row in rows]
                     for each in ("allmodes", "SLSQP")]  # fmt: skip
        quick = sum(a < float("inf") and a <= 0.5 * b for a, b in zip(*all_found, strict=True))
        more = sum(a > b for a, b in zip(ours, theirs, strict=True))
        fewer = sum(a < b for a, b in zip(ours, theirs, strict=True))
        false = [round(sum(row[f"{each}: false"] for row in rows)) for each in ("allmodes", "SLSQP")]
        means = [round(sum(found) / len(rows)) for found in (ours, theirs)]
        counted = [f"{more} of {len(rows)}", fewer, quick, *means, *false]
        assert f"| {name} | {' | '.join(map(str, counted))} |" in text
    small = [row for row in ALL["constraints"]["tables"][0]["rows"] if row[-1] is not None]
    assert f"On the {len(small)} problems of two and three coordinates" in text
