"""How `allmodes find` ends, and `allmodes resume` goes on."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli_cases import MINIMA, find, run, values, written

from allmodes import Result

pytestmark = pytest.mark.usefixtures("place")


class TestEndings:
    @pytest.mark.parametrize(("function", "code"), [("interrupted", 130), ("terminated", 143)])
    def test_signals_print_and_save_what_is_found(self, function, code):
        shown = find(function, "--out", "run")
        assert shown.exit_code == code
        assert "minim" in shown.stdout.splitlines()[0]
        assert f"Ended by {'Ctrl-C' if code == 130 else 'SIGTERM'}. Saved. Resume: allmodes resume run" in shown.stderr
        assert "Interrupted: this is what was found so far." in shown.stdout
        assert written("run")["status"] == "INTERRUPTED"
        assert written("run")["nfev"] == 199

    @pytest.mark.parametrize(("function", "code"), [("interrupted", 130), ("terminated", 143)])
    def test_signals_without_a_directory_print_json(self, function, code):
        shown = find(function, "--json")
        assert shown.exit_code == code
        assert json.loads(shown.stdout)["status"] == "INTERRUPTED"

    def test_handlers_are_put_back(self):
        before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
        find("terminated", "--out", "run")
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before

    def test_a_failing_function_shows_its_point_and_its_own_traceback(self):
        shown = find("fails", "--out", "run")
        assert shown.exit_code == 1
        assert "in helper" in shown.stderr
        assert "ValueError: too large" in shown.stderr
        assert "the function failed at x = [" in " ".join(shown.stderr.split())
        assert "allmodes/" not in shown.stderr
        with pytest.raises(ValueError, match="too large"):
            find("fails", "--out", "run", "--debug", "--force")

    @pytest.mark.parametrize(
        ("function", "told"), [("nothing", "fun returned None for one point"), ("no_such", "has no 'no_such'")]
    )
    def test_nothing_is_left_of_a_search_that_never_began(self, function, told):
        shown = find(function)
        assert shown.exit_code in (1, 2)
        assert told in " ".join(shown.stderr.split())
        assert not list(Path().glob("allmodes-*"))

    def test_failures_that_are_survived_are_saved(self):
        shown = find("fails", "--on-error", "nan", "--out", "run")
        assert shown.exit_code == 0
        assert "Failed evaluations: " in shown.stdout
        assert written("run")["failures"][0]["text"] == "ValueError: too large"
        assert len(Result.load("run/result.npz").failures) == len(written("run")["failures"])

    def test_values_that_are_not_finite(self):
        shown = find("nan", "--out", "run")
        assert shown.exit_code == 1
        assert "no finite value at any point" in shown.stdout
        assert written("run")["fun"] is None

    @pytest.mark.parametrize("out", ["clis_model.py/run", "/dev/null/run"])
    def test_a_directory_that_cannot_be_written(self, out):
        shown = find("energy", "--out", out)
        assert shown.exit_code == 2
        assert f"cannot write to the directory {out}: Not a directory" in " ".join(shown.stderr.split())

    def test_a_full_disk(self):
        """Files may not grow beyond 16 kB: the modes are printed all the same."""
        command = [sys.executable, "-m", "allmodes.cli", "find", "himmelblau", "--out", "run", "--seed", "1"]
        limited = ["bash", "-c", 'ulimit -f 16; exec "$@"', "bash", *command]
        done = subprocess.run(limited, capture_output=True, text=True)
        assert done.returncode == 1
        assert "4 maxima" in done.stdout
        assert "could not be written to run: File too large" in done.stderr
        assert sorted(path.name for path in Path("run").iterdir()) == ["checkpoint.npz", "run.json"]

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "allmodes", "problems"], stdout=full, stderr=subprocess.PIPE, text=True
            )
        assert done.returncode == 1
        assert done.stderr == "the output could not be written: No space left on device.\n"

    def test_a_reader_that_has_seen_enough(self):
        reading, writing = os.pipe()
        os.close(reading)
        command = [sys.executable, "-m", "allmodes.cli", "find", "himmelblau", "--n-modes", "1", "-q", "--out", "run"]
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True)
        os.close(writing)
        assert done.stderr == ""
        assert values("run")  # written before it was printed

    @pytest.mark.parametrize(
        ("words", "told"),
        [
            (["--bounds", "0,1"], "Invalid value for '--bounds': '0,1' was found ('0' is not LOW:HIGH)"),
            (["--bounds", "0:1", "--maxfev", "many"], "wanted a whole number of at least 1"),
            (["--bounds", "0:1", "--x0", "5"], "x0 has 5.0 in coordinate 0, outside its bounds"),
            (["--bounds", "0:1", "--names", "a,b"], "wanted 1 strings"),
            ([], "Give --bounds"),
        ],
    )
    def test_wrong_options_are_explained_in_80_columns(self, words, told):
        shown = run("find", "clis_model.py:energy", *words)
        assert shown.exit_code == 2
        assert told in " ".join(shown.stderr.split())
        assert max(map(len, shown.stderr.splitlines())) <= 80
        assert not list(Path().glob("allmodes-*"))


class TestResume:
    def test_goes_on_exactly(self):
        find("energy", "--out", "whole")
        assert find("interrupted", "--out", "run").exit_code == 130
        shown = run("resume", "run", "--target", "clis_model.py:energy")
        assert shown.exit_code == 0
        assert "resuming run: importing clis_model.py:energy" in shown.stderr
        assert written("run")["nfev"] == written("whole")["nfev"]
        assert written("run")["modes"] == written("whole")["modes"]

    def test_after_a_failure_and_a_correction(self):
        find("energy", "--out", "whole")
        shown = find("fails_late", "--out", "run")
        assert shown.exit_code == 1
        assert "the licence has run out" in shown.stderr
        assert "allmodes resume run" in shown.stderr
        run("resume", "run", "--target", "clis_model.py:energy")
        assert written("run")["modes"] == written("whole")["modes"]

    def test_from_another_directory(self, place, monkeypatch):
        find("energy", "--out", "run", "--max-evaluations", "60", "--jac", "clis_model.py:gradient")
        (place / "elsewhere").mkdir()
        monkeypatch.chdir(place / "elsewhere")
        shown = run("resume", "../run", "--max-evaluations", "2000")
        assert shown.exit_code == 0, shown.stderr
        assert values("../run") == pytest.approx(MINIMA, abs=1e-4)

    def test_with_a_larger_budget(self):
        find("energy", "--out", "run", "--max-evaluations", "60")
        assert written("run")["nfev"] == 60
        assert run("resume", "run", "--max-evaluations", "2000").exit_code == 0
        assert values("run") == pytest.approx(MINIMA, abs=1e-4)
        assert json.loads(Path("run/run.json").read_text())["settings"]["maxfev"] == 2000

    def test_what_is_finished_stays_as_it_is(self):
        find("energy", "--out", "run")
        before = written("run")
        shown = run("resume", "run", "--max-evaluations", "100000")
        assert (shown.exit_code, shown.stdout) == (0, "")
        assert shown.stderr.startswith("nothing to do: ")
        assert "A larger budget would not change that" in " ".join(shown.stderr.split())
        assert written("run") == before
        assert json.loads(run("resume", "run", "--json").stdout)["nfev"] == before["nfev"]

    @pytest.mark.parametrize(
        ("limit", "told"),
        [
            (["--max-evaluations", "60"], "60 of 60 evaluations are made. To search on, raise --maxfev."),
            (["--n-modes", "1"], "found. To search on, raise --n-modes."),
            (["--max-rounds", "1"], "1 of 1 rounds are done. To search on, raise --maxiter."),
        ],
    )
    def test_a_budget_that_is_spent_is_told(self, limit, told):
        find("energy", "--out", "run", *limit)
        before = written("run")
        for words in ([], limit):
            shown = run("resume", "run", *words)
            assert " ".join(shown.stderr.split()).startswith("nothing to do: ")
            assert told in " ".join(shown.stderr.split())
        assert written("run") == before
        assert run("resume", "run", limit[0], "1000").exit_code == 0
        assert written("run")["nfev"] > before["nfev"]

    def test_a_budget_below_what_is_spent_is_refused(self):
        find("energy", "--out", "run", "--max-evaluations", "60")
        shown = run("resume", "run", "--max-evaluations", "50")
        assert shown.exit_code == 2
        assert "--maxfev is 50; 60 evaluations have already been made" in " ".join(shown.stderr.split())
        assert json.loads(Path("run/run.json").read_text())["settings"]["maxfev"] == 60

    def test_the_report_of_what_is_finished(self):
        pytest.importorskip("plotly")
        find("energy", "--out", "run", "--n-modes", "1")
        assert run("resume", "run", "--report").exit_code == 0
        assert Path("run/report.html").exists()

    def test_a_checkpoint_that_is_damaged(self):
        find("energy", "--out", "run", "--n-modes", "1")
        Path("run/checkpoint.npz").write_bytes(b"no")
        shown = run("resume", "run")
        assert (shown.exit_code, "checkpoint.npz.previous" in shown.stderr) == (2, True)

    def test_a_search_that_was_killed_can_be_seen(self):
        assert find("interrupted", "--out", "run").exit_code == 130
        before = run("show", "run").stdout
        Path("run/result.npz").unlink()
        shown = run("show", "run")
        assert shown.stdout.splitlines()[1:4] == before.splitlines()[1:4]
        assert "Not finished" in shown.stdout
        assert shown.stderr == "Resume it: allmodes resume run\n"

    def test_what_cannot_be_resumed_is_explained(self, place):
        assert "there is no directory nowhere" in run("resume", "nowhere").stderr
        (place / "empty").mkdir()
        assert "it has no run.json" in run("resume", "empty").stderr
        find("energy", "--out", "run", "--n-modes", "1")
        Path("run/checkpoint.npz").unlink()
        assert "has no checkpoint.npz" in run("resume", "run").stderr
        for text in ("{", "[]", '{"target": "a:b", "settings": {"rng": -1}}', '{"target": 1, "settings": {}}'):
            Path("run/run.json").write_text(text)
            shown = run("resume", "run")
            assert (shown.exit_code, "is damaged" in shown.stderr) == (2, True)

    def test_a_function_that_is_gone_is_named(self):
        find("energy", "--out", "run", "--n-modes", "1")
        Path("clis_model.py").unlink()
        shown = run("resume", "run")
        assert (shown.exit_code, "does not exist" in " ".join(shown.stderr.split())) == (2, True)  # lines are wrapped
