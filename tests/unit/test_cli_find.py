"""`allmodes find`: what is printed and what is written."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cli_cases import BOUNDS, MINIMA, MODEL, find, run, values, written
from rich.console import Console

from allmodes import Result, find_maxima, find_minima
from allmodes.cli.command import command_of
from allmodes.cli.progress import Watch
from allmodes.cli.tables import show_result
from allmodes.problems.named import named
from allmodes.progress import Progress, progress_of

pytestmark = pytest.mark.usefixtures("place")


class TestFind:
    def test_prints_a_table_and_writes_the_result(self):
        shown = find("energy", "--out", "run", "--names", "width,height")
        assert shown.exit_code == 0, shown.output
        assert shown.stdout.startswith("4 minima (1 global) of clis_model.py:energy, ")
        assert "width" in shown.stdout
        assert max(map(len, shown.output.splitlines())) <= 80
        assert values("run") == pytest.approx(MINIMA, abs=1e-4)
        result = Result.load("run/result.npz")
        assert [mode.fun for mode in result.modes] == values("run")
        assert result.settings["function"] == f"{Path.cwd()}/clis_model.py:energy"
        assert "searching clis_model.py:energy, rng 1, in run" in shown.stderr
        assert "\x1b" not in shown.output

    def test_has_all_the_settings(self):
        words = ["--modes", "global", "--method", "local", "--n-modes", "1", "--max-time", "60", "--max-evaluations",
                 "5e3", "--on-error", "nan", "--x0", "1,1", "--x0", "2,2", "--xtol", "1e-5", "--temperature", "2",
                 "--checkpoint-every", "5", "--periodic", "0", "--width", "4", "--order", "fixed", "--patience", "7",
                 "--max-rounds", "900", "--effort", "0.5"]  # fmt: skip
        assert find("energy", "--out", "run", *words).exit_code == 0
        settings = written("run")["settings"]
        expected = {"target": "global", "method": "local", "n_modes": 1, "maxtime": 60.0, "maxfev": 5000, "seed": 1,
                    "on_error": "nan", "x0": [[1.0, 1.0], [2.0, 2.0]], "xtol": 1e-5, "periodic": [0],
                    "maxiter": 900, "effort": 0.5,
                    "options": {"temperature": 2.0, "width": 4, "order": "fixed", "patience": 7,
                                                "checkpoint_every": 5.0}}  # fmt: skip
        assert {key: settings[key] for key in expected} == expected

    def test_same_seed_same_result_as_the_library(self):
        find("energy", "--out", "run")
        namespace = {}
        exec(MODEL, namespace)
        result = find_minima(namespace["energy"], [(-6, 6), (-6, 6)], rng=1)
        assert values("run") == [mode.fun for mode in result.modes]
        assert written("run")["nfev"] == result.nfev

    @pytest.mark.parametrize(
        ("function", "words"),
        [
            ("energy", ["--jac", "clis_model.py:gradient"]),
            ("energy", ["--jac", "clis_model:gradient", "--hess", "2-point"]),
            ("energy", ["--jac", "2-point"]),
            ("both", ["--jac", "true"]),
            ("batch", ["--vectorized"]),
            ("energy", ["--workers", "2", "--max-evaluations", "2000"]),
        ],
    )
    def test_ways_to_call_a_function(self, function, words):
        assert find(function, "--out", "run", *words).exit_code == 0
        assert values("run") == pytest.approx(MINIMA, abs=1e-4)

    @pytest.mark.parametrize("spelling", ["--maximise", "--maximize"])
    def test_maxima(self, spelling):
        shown = find("upside_down", spelling, "--out", "run")
        assert "4 maxima" in shown.stdout
        assert values("run") == pytest.approx([-value for value in MINIMA], abs=1e-4)

    def test_problems_bring_bounds_sign_and_derivatives(self):
        shown = run("find", "vincent", "--dimension", "1", "--seed", "0", "--out", "run")
        assert "6 maxima (6 global) of vincent" in shown.stdout
        assert written("run")["njev"] > 0
        run("find", "himmelblau", "--seed", "0", "--out", "plain", "--jac", "2-point", "--bounds", "0:6,0:6")
        assert written("plain")["njev"] == 0
        assert np.round(written("plain")["modes"][0]["x"], 3).tolist() == [3.0, 2.0]

    def test_a_file_of_settings_and_options_over_it(self):
        Path("run.toml").write_text(
            'target = "clis_model.py:energy"\nbounds = [[-6, 6], [-6, 6]]\nseed = 1\nout = "run"\nn_modes = 2\n'
        )
        assert run("find", "run.toml", "--n-modes", "1").exit_code == 0
        assert written("run")["settings"]["n_modes"] == 1
        assert written("run")["settings"]["seed"] == 1

    def test_directories_without_a_name_get_one(self):
        for name in ("allmodes-clis_model-energy", "allmodes-clis_model-energy-2"):
            find("energy", "--n-modes", "1")
            assert values(name)

    def test_a_result_is_not_replaced_unless_that_is_wanted(self):
        find("energy", "--out", "run", "--n-modes", "1")
        before = Path("run/result.json").read_text()
        shown = find("energy", "--out", "run", "--n-modes", "2")
        assert shown.exit_code == 2
        assert "run holds a result." in shown.stderr
        assert all(word in " ".join(shown.stderr.split()) for word in ("show run", "resume run", "--force", "--out"))
        assert Path("run/result.json").read_text() == before
        assert find("energy", "--out", "run", "--n-modes", "2", "--force").exit_code == 0
        assert len(values("run")) >= 2

    def test_no_mode_ends_with_1(self):
        shown = find("energy", "--out", "run", "--max-evaluations", "5")
        assert shown.exit_code == 1
        assert "no minimum of clis_model.py:energy, 5 evaluations" in shown.stdout
        assert "(--maxfev)" in shown.stdout
        assert "(maxfev)" not in shown.stdout
        assert written("run")["modes"] == []

    def test_many_coordinates_and_modes_fit(self):
        words = ["--seed", "0", "--max-evaluations", "3000", "--out", "run"]
        shown = run("find", "styblinski-tang", "--dimension", "8", "--names", ",".join("abcdefgh"), *words)
        lines = shown.stdout.splitlines()
        assert max(map(len, lines)) <= 80
        assert lines[1].endswith("...")
        assert any(line.startswith("e to h not shown: allmodes show run --mode N, or --json") for line in lines)
        assert any(line.startswith("... and ") for line in lines)
        assert "* global" in run("show", "run").stdout
        assert len(run("show", "run", "--all").stdout.splitlines()) > len(lines) - 1

    @pytest.mark.parametrize("width", [40, 45, 50, 60, 300])
    def test_a_coordinate_is_shown_however_narrow(self, width):
        find("energy", "--out", "run", "--max-evaluations", "300")
        console = Console(file=io.StringIO(), width=width)
        show_result(console, Result.load("run/result.npz"), "energy", "run")
        lines = console.file.getvalue().splitlines()
        assert max(map(len, lines)) <= width
        head = next(line for line in lines if "value" in line)
        assert "x0" in head
        left_out = [name for name in ("kind", "weight", "hits", "x1") if name not in head]
        told = " ".join(" ".join(lines).split())
        assert (f"{', '.join(left_out)} not shown: allmodes show run --mode N" in told) == (width < 60)

    def test_the_report(self):
        pytest.importorskip("plotly")
        shown = run("find", "himmelblau", "--report", "--out", "run", "--n-modes", "1")
        assert shown.exit_code == 0
        assert "report.html" in shown.stderr
        assert "<html" in Path("run/report.html").read_text(encoding="utf-8")

    def test_a_page_of_somebody_else_is_not_replaced_by_the_report(self):
        pytest.importorskip("jinja2")
        page = Path("run/report.html")
        page.parent.mkdir()
        page.write_text("<p>mine</p>")
        words = ("himmelblau", "--out", "run", "--n-modes", "1")
        shown = run("find", *words, "--report")
        assert shown.exit_code == 2
        told = " ".join(shown.stderr.split())
        assert "report.html was not written by allmodes" in told
        assert "--force" in told
        assert (page.read_text(), os.listdir("run")) == ("<p>mine</p>", ["report.html"])
        assert run("find", *words).exit_code == 0
        assert run("resume", "run", "--report").exit_code == 2
        assert page.read_text() == "<p>mine</p>"
        assert run("find", *words, "--report", "--force").exit_code == 0
        assert run("resume", "run", "--report").exit_code == 0  # over one of its own
        assert "allmodes" in page.read_text(encoding="utf-8")

    def test_a_search_that_cannot_begin_leaves_other_files_alone(self):
        page = Path("run/report.html")
        page.parent.mkdir()
        page.write_text("<p>mine</p>")
        assert find("fails", "--out", "run", "--n-modes", "0").exit_code != 0
        assert find("nothing", "--out", "run").exit_code != 0
        assert os.listdir("run") == ["report.html"]

    def test_the_report_has_contours_of_functions_that_are_quick(self, monkeypatch):
        pytest.importorskip("plotly")
        shown = find("talks", "--report", "--out", "run", "--n-modes", "1")
        assert "no contours" not in shown.stderr
        assert "hello" not in shown.stdout
        assert '"slices":{}' not in Path("run/report.html").read_text(encoding="utf-8")
        monkeypatch.setattr("allmodes.cli.running._WAITED", 1e-9)
        shown = find("energy", "--report", "--out", "slow", "--n-modes", "1")
        told = " ".join(shown.stderr.split())
        assert "allmodes report slow --fun clis_model.py:energy" in told
        assert '"slices":{}' in Path("slow/report.html").read_text(encoding="utf-8")

    def test_the_report_has_the_command(self):
        pytest.importorskip("plotly")
        find("energy", "--report", "--out", "run", "--n-modes", "1")
        page = Path("run/report.html").read_text(encoding="utf-8")
        command = "allmodes find clis_model.py:energy --bounds -6:6,-6:6 --n-modes 1 --rng 1"
        assert command in page
        assert str(Path.cwd()) not in page
        before = values("run")
        assert run(*command.split()[1:], "--out", "again").exit_code == 0
        assert values("again") == before

    def test_every_setting_is_in_the_command(self):
        settings = {"bounds": [[-6.0, 6.0]] * 3, "maximise": True, "vectorized": False, "jac": "/a/b.py:f",
                    "noise": True, "periodic": [0, 2], "names": ["a b", "c"], "x0": [[0.5, 1.0], [2.0, 3.0]],
                    "hess": "2-point", "out": "/home/me"}  # fmt: skip
        assert command_of("m:f", settings) == (
            "allmodes find m:f --bounds -6:6 --dimension 3 --maximise --jac b.py:f --hess 2-point --noise true "
            "--periodic 0,2 --names 'a b,c' --x0 0.5,1 --x0 2,3"
        )

    def test_the_report_is_asked_for_before_the_search(self, monkeypatch):
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        shown = run("find", "himmelblau", "--report", "--out", "run")
        assert (shown.exit_code, "allmodes[report]" in shown.stderr) == (2, True)
        assert not Path("run/result.npz").exists()


class TestJson:
    def test_is_all_there_is_on_stdout(self, place):
        """In a process, for what C code and child processes print does not pass through Python."""
        command = [
            sys.executable,
            "-m",
            "allmodes.cli",
            "find",
            "clis_model.py:talks",
            *BOUNDS,
            "--seed",
            "1",
            "--json",
        ]
        done = subprocess.run([*command, "--max-evaluations", "200"], capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        assert found["nfev"] == 200
        assert "hello from Python" in done.stderr
        assert "hello from C" in done.stderr
        assert sorted(path.name for path in place.iterdir() if "pycache" not in path.name) == ["clis_model.py"]

    def test_is_what_is_written(self):
        shown = find("energy", "--out", "run", "--json")
        assert json.loads(shown.stdout) == written("run")
        assert json.loads(run("show", "run", "--json").stdout) == written("run")

    def test_wants_a_directory_for_a_report(self):
        shown = find("energy", "--json", "--report")
        assert (shown.exit_code, "--out DIR" in shown.stderr) == (2, True)


class TestWatching:
    def test_a_function_sees_every_piece(self):
        seen = []
        result = find_minima(lambda x: (x[0] ** 2 - 1) ** 2, [(-2, 2)], rng=0, progress=seen.append)
        assert all(isinstance(progress, Progress) for progress in seen)
        assert seen[-1].nfev == result.nfev
        assert seen[-1].modes == len(result.modes) == 2
        assert seen[-1].best == pytest.approx(0.0, abs=1e-9)
        assert {progress.temperature for progress in seen} == {None}

    def test_the_temperature_of_annealing_falls(self):
        seen = []
        find_minima(
            lambda x: 8.0 * (x[0] ** 2 - 1) ** 2, [(-2, 2)], rng=0, method="anneal", maxfev=3000, progress=seen.append
        )
        first = [progress.temperature for progress in seen if progress.temperature is not None]
        assert first[0] > 1.0
        assert first[0] > first[5] > first[10] > 0.0

    def test_annealing_that_joins_a_search_is_seen(self):
        """It joins only where just the best modes count and nearly every local search finds another."""
        problem = named("rastrigin-funnels", 4)  # in two dimensions are 66, of which the same are found twice too soon
        seen = []
        f = problem.objective
        find_maxima(
            f.fun, problem.bounds, jac=f.jac, hess=f.hess, vectorized=True, rng=0, target="global", maxfev=6000,
            progress=seen.append,
        )  # fmt: skip
        assert seen[0].temperature is None
        assert any(progress.temperature is not None for progress in seen)

    def test_it_costs_no_result(self, monkeypatch):
        from allmodes import ModeFinder
        from allmodes.driver import Driver

        driver = ModeFinder([(-2, 2)], rng=0)._driver
        monkeypatch.setattr(Driver, "result", property(lambda self: pytest.fail("built")))
        assert progress_of(driver).nfev == 0

    def test_a_log_gets_a_line_now_and_then(self, monkeypatch, capsys):
        monkeypatch.setattr("allmodes.cli.progress._PLAIN_EVERY", 0.0)
        found = Progress(1200, 30000, 4000.0, 1, float("nan"), None)
        with Watch(is_quiet=False) as watch:
            watch(found)
        assert capsys.readouterr().err == "1200 evaluations  1 mode  1:06:40\n"
        with Watch(is_quiet=True) as watch:
            watch(found)
        assert capsys.readouterr().err == ""

    def test_during_a_slow_call_it_says_for_how_long(self, monkeypatch, capsys):
        watch = Watch(is_quiet=False)
        watch.text, watch.heard = "12 evaluations  " + "x" * 200, watch.heard - 7.3
        watch._tick()
        (shown,) = capsys.readouterr().err.splitlines()
        assert len(shown) == 79
        assert shown.endswith("x  no value for 7 s")
        watch.heard += 7.0
        watch._tick()
        assert capsys.readouterr().err == ""

    def test_what_warns_is_told_in_a_line(self):
        shown = find("warns", "--out", "run", "--max-evaluations", "50")
        told = " ".join(shown.stderr.split())
        assert "Warning: units are mixed (" in told
        assert told.count("units are mixed") == 1
