"""The command allmodes audit: files of runs in, what they have found out."""

import json

import numpy as np
import pytest
from cli_cases import run

from allmodes import Result
from allmodes.cli.audit import audit_command
from allmodes.cli.exits import Usage
from allmodes.cli.runs import read_runs

pytestmark = pytest.mark.usefixtures("model_place")

TABLE = "run;a;b;Cost;note\n0;3.0;2.0;0.0;first\n1;3.00001;2.0;1e-9;\n2;-2.805118;3.131313;0.0;x\n3;0;0;170;cut\n"


def told(shown):
    return " ".join(shown.stderr.split())


@pytest.fixture
def table(tmp_path, monkeypatch):
    path = tmp_path / "runs.csv"
    path.write_text(TABLE, encoding="utf-8")
    (tmp_path / "plain.py").write_text(
        "def himmelblau(x):\n    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2\n\n\n"
        "def fails(x):\n    raise OSError('no licence')\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    return path


class TestFiles:
    @pytest.mark.parametrize("mark", [",", ";", "\t", "  "])
    def test_tables_between_any_marks(self, tmp_path, mark):
        path = tmp_path / "some.csv"
        path.write_text(mark.join(["a", "fun"]) + "\n" + mark.join(["1.5", "2"]) + "\n", encoding="utf-8")
        found = read_runs(path)["ends"]
        assert {name: column.tolist() for name, column in found.items()} == {"a": [1.5], "fun": [2.0]}

    def test_words_stay_words_and_gaps_are_no_numbers(self, table):
        found = read_runs(table)["ends"]
        assert found["note"].tolist() == ["first", "", "x", "cut"]
        assert read_runs(table, "b")["ends"]["fun"].tolist() == [2.0, 2.0, 3.131313, 0.0]
        table.write_text("a,Fun,b\n1,2,3\n", encoding="utf-8")
        assert {name: each.tolist() for name, each in read_runs(table, "b")["ends"].items()} == {
            "fun": [3.0],
            "a": [1.0],
        }
        table.write_text("a,fun\n1,\nNA,2\n", encoding="utf-8")
        np.testing.assert_array_equal(read_runs(table)["ends"]["fun"], [np.nan, 2.0])

    def test_npz_and_json(self, tmp_path):
        np.savez(tmp_path / "runs.npz", ends=np.ones((2, 3)), values=np.zeros(2), starts=np.zeros((2, 3)))
        assert {name: np.shape(part) for name, part in read_runs(tmp_path / "runs.npz").items()} == {
            "ends": (2, 3), "values": (2,), "starts": (2, 3),
        }  # fmt: skip
        path = tmp_path / "runs.json"
        path.write_text('[{"x": [1, 2], "fun": 0.5, "x0": [0, 0]}]', encoding="utf-8")
        assert read_runs(path) == {"ends": [[1, 2]], "values": [0.5], "starts": [[0, 0]]}
        path.write_text('{"ends": [[1]], "values": [2]}', encoding="utf-8")
        assert read_runs(path) == {"ends": [[1]], "values": [2]}

    @pytest.mark.parametrize(
        ("name", "content", "said"),
        [
            ("a.csv", "1,2\n3,4\n", "has no heading"),
            ("a.csv", "", "is empty"),
            ("a.csv", "\n\n", "is empty"),
            ("a.csv", "a,fun\n", "has no line of numbers"),
            ("a.csv", "a,a\n1,2\n", "columns of the same name"),
            ("a.csv", "a,fun\n1\n", "line 1 of the table: 1 entries; the heading has 2"),
            ("a.json", "{", "is no JSON"),
            ("a.json", "[3]", "holds something else"),
            ("a.json", '{"a": 1}', "has a; wanted"),
            ("a.npz", "text", "cannot be read"),
        ],
    )
    def test_what_cannot_be_read_is_said(self, tmp_path, name, content, said):
        (tmp_path / name).write_text(content, encoding="utf-8")
        with pytest.raises(Usage, match=said):
            read_runs(tmp_path / name)


class TestAudit:
    def test_without_the_function(self, table):
        shown = run("audit", table, "--bounds", "-6:6,-6:6")
        assert shown.exit_code == 0
        assert shown.stdout.startswith("3 distinct places in 4 runs of runs.csv, 0 evaluations")
        assert "values in Cost, coordinates a, b" in told(shown)
        assert "Without fun it is not known" in " ".join(shown.stdout.split())
        assert max(map(len, shown.stdout.splitlines())) <= 80

    def test_with_the_function_and_kept(self, table):
        words = ("audit", table, "--bounds", "-6:6", "--dimension", "2", "--fun", "plain.py:himmelblau", "--out", "run")
        shown = run(*words)
        assert shown.exit_code == 0
        assert shown.stdout.startswith("2 minima in 4 runs of runs.csv, ")
        assert "written to run: result.npz, result.json" in told(shown)
        result = Result.load("run/result.npz")
        assert result.audit.count("unconverged") == 1
        assert result.settings["function"].endswith("plain.py:himmelblau")
        with open("run/result.json", encoding="utf-8") as file:
            assert json.load(file)["audit"]["states"][3] == "unconverged"
        assert run("show", "run").exit_code == 0
        again = run(*words)
        assert again.exit_code == 2
        assert "--force" in told(again)
        assert run(*words, "--force", "--quiet").stderr == ""

    def test_a_built_in_problem_brings_its_bounds(self, table):
        table.write_text("a,b,fun\n3,2,0\n-2.805118,3.131313,0\n", encoding="utf-8")
        shown = run("audit", table, "--fun", "himmelblau", "--json")
        assert len(json.loads(shown.stdout)["modes"]) == 2
        assert shown.stderr == ""

    def test_the_report_and_the_plot(self, table):
        assert run("audit", table, "--out", "run", "--report").exit_code == 0
        with open("run/report.html", encoding="utf-8") as file:
            assert "distinct place" in file.read()
        assert run("plot", "run", "waterfall", "-o", "w.png").exit_code == 0

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["nothing.csv"], "there is no file nothing.csv"),
            (["runs.csv", "--report"], "--out DIR"),
            (["runs.csv", "--value", "nope"], "--value is nope"),
            (["runs.csv", "--bounds", "10:11,10:11"], "all 4 ends are outside the bounds"),
            (["runs.csv", "--names", "a,c"], "lack ['c']"),
            (["runs.csv", "--fun", "plain.py:nothing"], "has no 'nothing'"),
        ],
    )
    def test_what_is_wrong_is_said(self, table, words, said):
        shown = run("audit", *words)
        assert shown.exit_code == 2
        assert said in told(shown)

    def test_a_function_that_fails_ends_with_one(self, table):
        shown = run("audit", table, "--fun", "plain.py:fails", "--bounds", "-6:6,-6:6")
        assert shown.exit_code == 1
        assert "no licence" in told(shown)

    def test_ctrl_c_keeps_what_was_checked(self, table):
        (table.parent / "stopped.py").write_text(
            "from plain import himmelblau\n\ncalls = []\n\n\ndef stopped(x):\n    calls.append(x)\n"
            "    if len(calls) > 20:\n        raise KeyboardInterrupt\n    return himmelblau(x)\n",
            encoding="utf-8",
        )
        shown = run("audit", "runs.csv", "--fun", "stopped.py:stopped", "--bounds", "-5:5,-5:5", "--out", "run")
        assert shown.exit_code == 130
        assert Result.load("run/result.npz").status.name == "INTERRUPTED"

    def test_its_options_are_those_of_other_commands(self):
        assert {"bounds", "maxfev", "xtol", "rng"} <= {each.name for each in audit_command.params}
