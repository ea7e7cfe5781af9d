"""Looking at results, listing problems, help and completion."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cli_cases import run

from allmodes import Result, find_maxima, find_minima
from allmodes.cli.look import KINDS
from allmodes.problems.named import NAMED, named

pytestmark = pytest.mark.usefixtures("model_place")


@pytest.fixture(scope="module")
def annealed():
    problem = named("symmetric-mixture")
    f = problem.objective
    return find_maxima(
        f.fun, problem.bounds, jac=f.jac, hess=f.hess, vectorized=True, method="anneal", maxfev=3000, rng=3
    )


def told(shown):
    return " ".join(shown.stderr.split())


class TestShow:
    def test_by_directory_npz_and_json(self):
        run("find", "himmelblau", "--seed", "0", "--out", "run")
        shown = [run("show", path).stdout for path in ("run", "run/result.npz", "run/result.json")]
        assert shown[0].startswith("4 maxima (4 global) of himmelblau, ")
        assert shown == shown[:1] * 3

    def test_a_result_of_the_library(self, annealed):
        annealed.save("mine.npz")
        assert run("show", "mine.npz").stdout.startswith("4 maxima (3 global) of mine.npz, ")

    def test_everything_about_a_mode(self, annealed):
        annealed.save("mine.npz")
        shown = run("show", "mine.npz", "--mode", "4")
        mode = annealed.modes[3]
        assert f"mode 4 of 4: maximum, value {mode.fun:.10g}" in shown.stdout
        assert f"x1  {mode.x[1]:.10g}" in shown.stdout
        assert "there are 4 modes" in told(run("show", "mine.npz", "--mode", "5"))

    def test_bounds_that_hold_a_mode_and_long_names(self):
        names = ["a coordinate with a long name", "b"]
        result = find_minima(lambda x: x[0] + x[1] ** 2, [(0, 1), (-1, 1)], rng=0, names=names)
        result.save("mine.npz")
        assert "(at a bound)" in run("show", "mine.npz", "--mode", "1").stdout
        assert "a coordinat~" in run("show", "mine.npz").stdout

    def test_noisy_results_have_errors(self):
        rng = np.random.default_rng(0)
        result = find_minima(
            lambda x: x[0] ** 2 + 0.01 * rng.standard_normal(), [(-1, 1)], rng=0, noise=0.01, maxfev=500
        )
        result.save("mine.npz")
        assert "error" in run("show", "mine.npz").stdout.splitlines()[1]

    @pytest.mark.parametrize(
        ("path", "text"),
        [("nowhere", "there is no nowhere"), (".", ". has no result.npz"), ("model.py", "model.py is")],
    )
    def test_what_is_no_result_is_explained(self, path, text):
        shown = run("show", path)
        assert shown.exit_code == 2
        assert text in told(shown)

    @pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
    def test_any_locale_will_do(self, encoding):
        result = find_minima(lambda x: x[0] ** 2, [(-1, 1)], rng=0, names=["größe"])
        result.save("mine.npz")
        command = [sys.executable, "-m", "allmodes.cli", "show", "mine.npz"]
        done = subprocess.run(command, capture_output=True, env=os.environ | {"PYTHONIOENCODING": encoding}, check=True)
        shown = done.stdout.decode(encoding)
        assert ("größe" if encoding == "utf-8" else "gr??e") in shown
        assert ("───" if encoding == "utf-8" else "---") in shown


class TestPlot:
    def test_some_kinds_are_of_some_results_only(self, annealed):
        annealed.save("mine.npz")
        for kind, why in (("map", "here are 2"), ("tree", "has no barriers yet")):
            shown = run("plot", "mine.npz", kind)
            assert shown.exit_code == 2
            assert why in told(shown)
        fun = lambda x: float(((x**2 - 1) ** 2).sum())  # noqa: E731
        found = find_minima(fun, [(-2, 2)] * 3, rng=0).connect(fun, maxfev=300, rng=0)
        found.save("deep.npz")
        for kind in ("map", "tree"):
            assert run("plot", "deep.npz", kind).exit_code == 0
            assert Path(f"{kind}.png").read_bytes()[:4] == b"\x89PNG"

    @pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("map", "tree")])
    def test_every_kind_is_drawn(self, annealed, kind):
        annealed.save("mine.npz")
        shown = run("plot", "mine.npz", kind)
        assert shown.exit_code == 0, shown.stderr
        file = Path(f"{kind}.{'gif' if kind == 'animate' else 'png'}")
        assert file.read_bytes()[:4] == (b"GIF8" if kind == "animate" else b"\x89PNG")
        without = ", without contours: name the function with --fun, as in --fun model.py:energy"
        assert told(shown) == f"written: {file}{without if kind in ('landscape', 'animate') else ''}"

    def test_kinds_are_those_of_the_library(self):
        from allmodes.report import accessor

        assert all(hasattr(accessor.Plots, kind) for kind in KINDS)

    def test_contours_are_of_the_problem_or_of_the_function_that_is_named(self, monkeypatch):
        seen = []
        monkeypatch.setattr("allmodes.report.accessor.landscape", lambda result, fun, *rest: seen.append(fun) or Axes())
        run("find", "himmelblau", "--seed", "0", "--out", "run")
        run("find", "model.py:energy", "--bounds", "-6:6,-6:6", "--seed", "0", "--out", "mine")
        points = np.array([[1.0, 2.0], [3.0, 2.0]])
        assert run("plot", "run", "landscape").exit_code == 0
        assert seen.pop()(points).tolist() == pytest.approx([-68.0, 0.0])
        run("plot", "run", "landscape", "--target", "model.py:energy")  # called as the search called its function
        run("plot", "mine", "landscape")
        assert seen.pop() is None  # nothing is imported that is not named
        run("plot", "mine", "landscape", "--target", "model.py:energy")
        assert seen.pop()(points[0]) == pytest.approx(68.0)
        run("plot", "mine", "landscape", "--target", "himmelblau")
        assert seen.pop()(points[0]) == pytest.approx(-68.0)

    def test_another_annealing_run(self, annealed):
        annealed.save("mine.npz")
        shown = run("plot", "mine.npz", "animate", "--run", "99")
        assert (shown.exit_code, "--run is 99; wanted one that was kept: [0" in told(shown)) == (2, True)
        last = int(annealed.trace.run[-1])
        assert run("plot", "mine.npz", "animate", "--run", last).exit_code == 0
        assert "--run is for animate" in told(run("plot", "mine.npz", "modes", "--run", "0"))

    @pytest.mark.parametrize(
        ("words", "code", "text"),
        [
            (["weights"], 2, "here; search with --method anneal. allmodes plot RESULT modes shows the weights"),
            (["animate"], 2, "search with --method anneal."),
            (["animate", "-o", "x.png"], 2, "animate cannot be drawn"),
            (["pie"], 2, "'pie' is not one of 'landscape', 'pairs'"),
            (["modes", "-o", "x.foo"], 2, "Format 'foo' is not supported"),
            (["modes", "-o", "nowhere/x.png"], 1, "nowhere/x.png cannot be written: No such file or directory"),
            (["landscape", "--coordinates", "0,7"], 2, "--coordinates has 7"),
            (["modes", "--coordinates", "0,1"], 2, "--coordinates is for landscape, pairs and animate"),
            (["landscape", "--target", "model.py:nothing"], 2, "has no 'nothing'"),
        ],
    )
    def test_what_cannot_be_drawn_is_explained(self, words, code, text):
        run("find", "himmelblau", "--seed", "0", "--out", "run", "--n-modes", "1")
        shown = run("plot", "run", *words)
        assert shown.exit_code == code
        assert text in told(shown)


class Axes:
    """Axes that are not drawn."""

    figure = type("Figure", (), {"savefig": lambda self, file, dpi: None})()


class TestReport:
    def test_is_written(self, annealed):
        pytest.importorskip("plotly")
        annealed.save("mine.npz")
        shown = run("report", "mine.npz", "-o", "page.html")
        assert shown.exit_code == 0
        assert "without contours: name the function with --fun" in told(shown)
        assert "mine.npz" in Path("page.html").read_text(encoding="utf-8")

    def test_that_cannot_be_written_is_explained(self, annealed):
        pytest.importorskip("plotly")
        annealed.save("mine.npz")
        shown = run("report", "mine.npz", "-o", "nowhere/page.html")
        assert (shown.exit_code, "cannot be written" in told(shown)) == (1, True)


class TestProblems:
    def test_are_listed_in_80_columns(self):
        shown = run("problems")
        lines = shown.stdout.splitlines()
        assert max(map(len, lines)) <= 80
        row = next(line for line in lines if line.startswith("six-hump-camel"))
        assert row.split() == ["six-hump-camel", "2", "[-3,", "3]", "x", "[-2,", "2]", "6", "2"]
        assert all(any(line.startswith(name) for line in lines) for name in NAMED if not NAMED[name].needs)

    def test_without_ioh_its_functions_are_not_listed(self, monkeypatch):
        monkeypatch.setattr("allmodes.cli.problems.find_spec", lambda name: None)
        shown = run("problems")
        assert "cec2013" not in shown.stdout
        assert "it needs ioh, pip install 'allmodes[reproduce]'" in told(shown)

    def test_one_is_shown_with_its_modes(self):
        shown = run("problems", "banana").stdout
        assert "seven modes on the ridge" in " ".join(shown.split())
        assert "* 0.5 at [0, 0]" in shown
        assert "... and 702 more" in run("problems", "shubert").stdout
        assert "8 known maxima" in run("problems", "styblinski-tang", "--dimension", "3").stdout
        assert "bounds [-5, 5]^2 x [8, 35]^3 x [-1.5, 2.5]^3" in run("problems", "galaxies").stdout
        assert "periodic 0, 1, 2, 3" in run("problems", "heptane").stdout

    def test_wrong_names_are_explained(self):
        assert "did you mean banana?" in told(run("problems", "bananna"))
        assert run("problems", "--dimension", "3").exit_code == 2


def test_a_result_is_read_back_as_it_was(annealed):
    annealed.save("mine.npz")
    assert json.loads(run("show", "mine.npz", "--json").stdout)["nfev"] == Result.load("mine.npz").nfev


def test_control_characters_in_names_do_not_reach_the_terminal(tmp_path):
    """A result may come from anywhere, and a name in it may hold what clears the screen."""
    names = ["a\x1b[2J", "b\x07"]
    result = find_minima(lambda x: x @ x, [(-1, 1)] * 2, names=names, rng=0, maxfev=100)
    path = tmp_path / "result.npz"
    replace(result, message="done \x1b[31m", method="m\x1b").save(path)
    for more in ([], ["--mode", "1"]):
        shown = run("show", str(path), *more)
        assert "a\\x1b[2J" in shown.stdout
        assert not set("\x1b\x07") & set(shown.stdout + shown.stderr)
    assert "length of the gradient not measured" in " ".join(shown.stdout.split())
    assert not set("\x1b\x07") & set(repr(Result.load(path)))
