"""Constraints, whole numbers, choices, symmetry, fits and roots on the command line."""

import json

import pytest
from cli_cases import run, written

from allmodes.cli.command import command_of

pytestmark = pytest.mark.usefixtures("place")

MODEL = """
from scipy.optimize import NonlinearConstraint
import numpy as np

def energy(x):
    return (x[0] ** 2 + x[1] - 11.0) ** 2 + (x[0] + x[1] ** 2 - 7.0) ** 2

def wood(x):
    return energy([{"oak": -4.0, "ash": 3.0}[x[0]], float(x[1])])

def both(x):
    return energy(x) + energy(x[::-1])

def disc(x):
    return 9.0 - x[0] ** 2 - x[1] ** 2

limits = [NonlinearConstraint(disc, 0.0, np.inf), {"type": "ineq", "fun": lambda x: x[0] + 4.0}]
number = 3

def decay(t, a, k):
    return a * np.exp(-k * t)

def residuals(x):
    return decay(np.arange(9.0), *x) - decay(np.arange(9.0), 2.0, 0.5)

def equations(x):
    return [x[0] ** 2 + x[1] ** 2 - 4.0, x[0] - x[1]]
"""
BOX = ["--bounds", "-6:6,-6:6"]


@pytest.fixture
def place(empty_place):
    (empty_place / "clis_model.py").write_text(MODEL)
    lines = [f"{t},{2.0 * 0.6**t + 0.01 * (t % 3)},0.01" for t in range(9)]
    (empty_place / "data.csv").write_text("\n".join(["t,y,error", *lines]))
    return empty_place


def found(task, name, *words):
    shown = run(task, f"clis_model.py:{name}", *words, "--seed", "1", "--out", "run", "-q")
    assert shown.exit_code == 0, shown.output
    assert max(map(len, shown.output.splitlines())) <= 80
    return written("run"), shown.output


class TestShapes:
    @pytest.mark.parametrize("name", ["disc", "limits"])
    def test_constraints(self, name):
        result, shown = found("find", "energy", *BOX, "--constraint", f"clis_model.py:{name}", "--n-modes", "1")
        assert result["modes"][0]["kind"] == "constrained"
        assert result["modes"][0]["active_constraints"] == [0]
        assert "held by" in shown
        assert "multiplier" in run("show", "run", "--mode", "1").output
        again = run("resume", "run", "-q", "--n-modes", "2")
        assert again.exit_code == 0
        assert len(written("run")["modes"]) == 2

    def test_whole_numbers_and_choices(self):
        result, _ = found("find", "energy", *BOX, "--integer", "all")
        assert [mode["x"] for mode in result["modes"]] == [[3, 2], [-3, 3], [-4, -3], [4, -2]]
        words = ["--bounds", "oak/ash,-4:4", "--integer", "size", "--names", "wood,size", "--force"]
        result, shown = found("find", "wood", *words)
        assert {mode["choices"]["0"] for mode in result["modes"]} == {"oak", "ash"}
        assert "ash" in shown
        assert run("show", "run", "--mode", "1").output.count("ash") == 1

    def test_symmetry(self):
        result, _ = found("find", "both", *BOX, "--symmetry", "0/1", "--n-modes", "2")
        assert len(result["modes"]) == 2
        assert result["settings"]["symmetry"] == [[0], [1]]
        assert result["settings"]["command"].endswith("--symmetry 0/1")

    def test_fits(self):
        result, shown = found("fit", "residuals", "--bounds", "0:6,0:6", "--report")
        assert result["modes"][0]["x"] == pytest.approx([2.0, 0.5], abs=1e-5)
        assert set(result["modes"][0]["fit"]) >= {"chi2", "standard_errors", "covariance", "undetermined"}
        assert "explanation" in shown

    def test_a_curve_and_data(self):
        result, shown = found("fit", "decay", "data.csv", "--bounds", "0:6,0:6")
        assert result["names"] == ["a", "k"]
        assert result["settings"]["command"].startswith("allmodes fit clis_model.py:decay data.csv --bounds 0:6,0:6")
        assert "±" in shown

    def test_draws_say_where_to_look_and_name_coordinates(self, place):
        lines = [f"{(k * 7) % 11 - 5},{(k * 5) % 13 - 6}" for k in range(40)]
        (place / "draws.csv").write_text("\n".join(["east, north", *lines]))
        result, shown = found("find", "energy", "--starts", "draws.csv")
        assert result["names"] == ["east", "north"]
        assert result["coverage"]["draws"] == 40
        assert len(result["modes"]) == 4
        assert "of the prior mass" in " ".join(shown.split())
        assert "nothing to do" in run("resume", "run").output

    def test_roots(self):
        result, shown = found("roots", "equations", "--bounds", "-3:3,-3:3", "--report")
        assert [mode["root"]["certified"] for mode in result["modes"]] == [True, True]
        assert "2 roots (2 certified)" in shown
        assert "nothing to do" in run("resume", "run").output

    def test_a_file_of_settings_has_the_same_keys(self, place):
        text = 'task = "roots"\ntarget = "clis_model.py:equations"\nbounds = [[-3, 3], [-3, 3]]\nout = "run"\n'
        (place / "run.toml").write_text(text)
        assert run("find", "run.toml", "-q").exit_code == 0
        assert len(written("run")["modes"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--constraint", "clis_model.py:number"], "is of type int; wanted a scipy.optimize.LinearConstraint"),
        (["--constraint", "clis_model.py:disk"], "did you mean disc?"),
        (["--constraint", "clis_model.py:disc", "--integer", "0"], "constraints are given beside whole numbers"),
        (["--integer", "y"], "--integer has 'y'; coordinates are 0 to 1, or by name x0, x1"),
        (["--symmetry", "0/2"], "coordinates are 0 to 1"),
    ],
)
def test_mistakes_are_named(words, said):
    shown = run("find", "clis_model.py:energy", *BOX, *words)
    assert shown.exit_code == 2
    assert said in " ".join(shown.output.split())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no line of numbers"),
        ("1,2\n3", "line 2: '3' was found"),
        ("t,y\n1,2\n3,four", "line 3: '3 four' was found"),
        ("1,2,3,4", "line 1"),
    ],
)
def test_mistakes_in_data_are_named(place, text, said):
    (place / "data.csv").write_text(text)
    shown = run("fit", "clis_model.py:decay", "data.csv", "--bounds", "0:6,0:6")
    assert shown.exit_code == 2
    assert said in " ".join(shown.output.split())


@pytest.mark.parametrize(
    ("text", "said"),
    [("1,2", "starts has 1 draw of 2 free coordinates"), ("1,2\n3", "line 2: '3' was found"), ("a,b", "no line")],
)
def test_mistakes_in_draws_are_named(place, text, said):
    (place / "draws.csv").write_text(text)
    shown = run("find", "clis_model.py:energy", "--starts", "draws.csv")
    assert shown.exit_code == 2
    assert said in " ".join(shown.output.split())


def test_fits_and_roots_refuse_settings_of_others(place):
    (place / "run.toml").write_text('target = "clis_model.py:equations"\nbounds = [[-3, 3]]\nmaximise = true\n')
    shown = run("roots", "run.toml")
    assert shown.exit_code == 2
    assert "maximise is not a setting of allmodes roots" in " ".join(shown.output.split())


def test_the_command_is_written_as_it_is_typed():
    settings = {
        "bounds": [["oak", "ash"], [0.5, 1.0, 2.0], [0.0, None]], "integer": True, "constraint": ["/home/me/m.py:disc"],
        "symmetry": {"sign": [0, 2]},
    }  # fmt: skip
    assert command_of("/home/me/m.py:f", json.loads(json.dumps(settings))) == (
        "allmodes find m.py:f --bounds oak/ash,0.5/1/2,0: --integer all --constraint m.py:disc --symmetry sign:0,2"
    )
