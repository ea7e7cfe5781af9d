"""Settings of the command: as options and in a TOML file."""

import inspect
import json

import pytest
from click.testing import CliRunner

from allmodes import cli, find_fits, find_minima, find_roots
from allmodes.cli.bounds import Bounds
from allmodes.cli.exits import Usage
from allmodes.cli.find import completed
from allmodes.cli.kinds import (
    Derivative,
    Listed,
    Noise,
    Objects,
    Periodic,
    Points,
    Real,
    Symmetry,
    Text,
    Whole,
    Wholes,
    Word,
    Yes,
    a_name,
)  # fmt: skip
from allmodes.cli.settings import BY_KEY, SETTINGS, TASKS, of_task
from allmodes.cli.settings_file import read_settings
from allmodes.search.methods import METHODS


class TestKinds:
    @pytest.mark.parametrize(
        ("kind", "text", "value"),
        [
            (Bounds(), "-6:6,0:1", [[-6.0, 6.0], [0.0, 1.0]]),
            (Bounds(), " -1e3 : 5 ", [[-1000.0, 5.0]]),
            (Bounds(), "0:,:1,:", [[0.0, None], [None, 1.0], [None, None]]),
            (Bounds(), "-inf:inf", [[None, None]]),
            (Bounds(), [[-6, 6], [0, 1]], [[-6.0, 6.0], [0.0, 1.0]]),
            (Bounds(), [-6, 6], [[-6.0, 6.0]]),
            (Bounds(), ["-6:6", "0:"], [[-6.0, 6.0], [0.0, None]]),
            (Bounds(), "oak/ash,0.5/1/2,0:1", [["oak", "ash"], [0.5, 1.0, 2.0], [0.0, 1.0]]),
            (Bounds(), [["oak", "ash"], [1, 2, 3], [0, 1]], [["oak", "ash"], [1, 2, 3], [0.0, 1.0]]),
            (Wholes(), "all", True),
            (Wholes(), "n,2", ["n", "2"]),
            (Objects(), "m.py:disc", ["m.py:disc"]),
            (Objects(), ["m.py:a", "m:b"], ["m.py:a", "m:b"]),
            (Symmetry(), "0,1/2,c", [[0, 1], [2, "c"]]),
            (Symmetry(), "sign:0,2", {"sign": [0, 2]}),
            (Whole(1), "10_000", 10_000),
            (Whole(1), "1e5", 100_000),
            (Whole(1), 3, 3),
            (Whole(0), "18446744073709551617", 18446744073709551617),
            (Whole(1, (-1,)), "-1", -1),
            (Real(), "2.5", 2.5),
            (Word(("all", "global")), "all", "all"),
            (Yes(), True, True),
            (Text("a text"), "a", "a"),
            (Listed("names", a_name), "x, y", ["x", "y"]),
            (Points(), "1,-2", [[1.0, -2.0]]),
            (Points(), [1, 2], [[1.0, 2.0]]),
            (Points(), [[1, 2], [3, 4]], [[1.0, 2.0], [3.0, 4.0]]),
            (Periodic(), "0,2", [0, 2]),
            (Periodic(), "all", True),
            (Periodic(), False, []),
            (Noise(), "0.5", 0.5),
            (Noise(), "true", True),
            (Derivative(), "jax", "jax"),
            (Derivative(), "true", True),
            (Derivative(), "model.py:gradient", "model.py:gradient"),
        ],
    )
    def test_are_read(self, kind, text, value):
        assert kind.checked(text) == value
        assert json.loads(json.dumps(kind.checked(text))) == value  # that is how they are kept

    @pytest.mark.parametrize(
        ("kind", "text"),
        [
            (Bounds(), "0,1"), (Bounds(), "1:0"), (Bounds(), "a:b"), (Bounds(), "1:2:3"), (Bounds(), "0:nan"),
            (Bounds(), ""), (Bounds(), []), (Bounds(), 3), (Bounds(), [[1, [2], 3]]), (Bounds(), [[True, 2]]),
            (Bounds(), "1/2"), (Bounds(), "oak/"), (Wholes(), ""), (Wholes(), 1), (Objects(), "disc"), (Objects(), [3]),
            (Symmetry(), "0,1"), (Symmetry(), 3),
            (Whole(1), "0"), (Whole(1), "1.5"), (Whole(1), "inf"), (Whole(1), True), (Whole(1), "x"), (Whole(1), [1]),
            (Real(), "0"), (Real(), "inf"), (Real(), "nan"), (Real(), None),
            (Word(("all", "global")), "some"), (Word(("all", "global")), ["all"]),
            (Yes(), 1), (Yes(), "true"), (Text("a text"), ""), (Text("a text"), 3),
            (Listed("names", a_name), "x,,y"), (Listed("names", a_name), [3]), (Listed("names", a_name), []),
            (Points(), "1,inf"), (Points(), "1;2"), (Points(), []), (Points(), [[1], 2]),
            (Periodic(), "-1"), (Periodic(), 1), (Noise(), "-1"), (Noise(), "some"),
            (Derivative(), "tensorflow"), (Derivative(), False),
        ],
    )  # fmt: skip
    def test_say_what_was_found_and_wanted(self, kind, text):
        with pytest.raises(ValueError, match=r"was found.*wanted") as told:
            kind.checked(text)
        assert repr(text) in str(told.value)
        assert kind.wanted in str(told.value)

    def test_of_bounds_say_which_part(self):
        with pytest.raises(ValueError, match=r"\(3 is not below 2\)"):
            Bounds().checked("0:1,3:2")


class TestTable:
    @pytest.mark.parametrize(("task", "function"), [("find", find_minima), ("fit", find_fits), ("roots", find_roots)])
    def test_every_argument_is_one_of_the_function_that_searches(self, task, function):
        arguments = {setting.argument for setting in of_task(task) if setting.argument}
        assert arguments <= set(inspect.signature(function).parameters)

    def test_methods_are_those_of_the_library(self):
        assert BY_KEY["method"].kind.words == tuple(METHODS)

    def test_all_settings_are_options_and_keys(self):
        for task in TASKS:
            shown = CliRunner().invoke(cli.main, [task, "--help"]).output
            assert all(setting.option in shown for setting in of_task(task))
        assert {"data"} == {setting.key for setting in SETTINGS} - {s.key for task in TASKS for s in of_task(task)}


class TestTogether:
    def test_one_pair_of_bounds_for_all_coordinates(self):
        assert completed("m:f", {"bounds": [[0.0, 1.0]], "dimension": 3})["bounds"] == [[0.0, 1.0]] * 3

    def test_a_seed_is_drawn_where_there_is_none(self):
        drawn = {completed("himmelblau", {})["rng"] for _ in range(3)}
        assert len(drawn) == 3
        assert completed("himmelblau", {"rng": 0})["rng"] == 0

    def test_functions_for_derivatives_are_kept_with_the_whole_path(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "m.py").touch()
        found = completed("himmelblau", {"jac": "m.py:f", "hess": "2-point"})
        assert (found["jac"], found["hess"]) == (f"{tmp_path}/m.py:f", "2-point")
        with pytest.raises(Usage, match=r"the file n\.py does not exist"):
            completed("himmelblau", {"jac": "n.py:f"})

    def test_bounds_and_dimension_must_agree(self):
        with pytest.raises(Usage, match="2 pairs and --dimension is 3"):
            completed("m:f", {"bounds": [[0.0, 1.0]] * 2, "dimension": 3})

    def test_functions_want_bounds_or_a_point(self):
        with pytest.raises(Usage, match=r"--bounds -6:6,-6:6 .*--x0 0,0"):
            completed("m:f", {})
        assert "bounds" not in completed("m:f", {"x0": [[0.0]]})


GOOD = """
target = "model.py:energy"
bounds = [[-6, 6], [-6, 6]]
maxfev = 3000
names = ["width", "height"]
jac = "model.py:gradient"
noise = true
out = "run"
"""

BAD = """
target = 3
bounds = [[-6, 6], [1, 0]]
max_evalutions = 300
workers = 0
method = "fast"
maximise = "yes"
names = ["x", 3]
n_modes = 1.5
xyz = 1
[jac]
a = 1
"""


class TestFile:
    def test_is_read_with_paths_relative_to_it(self, tmp_path):
        (tmp_path / "run.toml").write_text(GOOD)
        found = read_settings(tmp_path / "run.toml")
        assert found["target"] == str(tmp_path / "model.py:energy")
        assert found["jac"] == str(tmp_path / "model.py:gradient")
        assert found["out"] == str(tmp_path / "run")
        assert found["bounds"] == [[-6.0, 6.0]] * 2
        assert found["noise"] is True

    def test_all_mistakes_are_named_with_line_key_and_what_is_allowed(self, tmp_path):
        (tmp_path / "run.toml").write_text(BAD)
        with pytest.raises(Usage) as told:
            read_settings(tmp_path / "run.toml")
        text = " ".join(told.value.message.split())
        assert "has 10 mistakes" in text
        for piece in (
            "line 2, target: 3 was found; wanted FILE.py:FUNCTION",
            "line 3, bounds: [[-6, 6], [1, 0]] was found (1 is not below 0); wanted LOW:HIGH",
            "line 4, max_evalutions: there is no such setting; did you mean maxfev?",
            "line 5, workers: 0 was found; wanted a number of processes",
            "line 6, method: 'fast' was found; wanted one of auto, local, black-box, anneal, surrogate, multistart",
            "line 7, maximise: 'yes' was found; wanted true or false",
            "line 8, names: ['x', 3] was found; wanted names",
            "line 9, n_modes: 1.5 was found; wanted a whole number of at least 1",
            "line 10, xyz: there is no such setting.",
            "Settings are fun, task, bounds, dimension",
            "line 11, jac: {'a': 1} was found; wanted jax, torch",
        ):
            assert piece in text
        assert max(map(len, told.value.message.splitlines()[1:])) <= 80

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            (b"a = = 3", "is not TOML: Invalid value (at line 1, column 5)"),
            (b"\xff\xfe", "is not UTF-8 text"),
            (b"", "fun: missing; wanted FILE.py:FUNCTION"),
        ],
    )
    def test_that_cannot_be_read_is_explained(self, tmp_path, content, told):
        (tmp_path / "run.toml").write_bytes(content)
        with pytest.raises(Usage) as error:
            read_settings(tmp_path / "run.toml")
        assert told in error.value.message

    @pytest.mark.parametrize(
        ("line", "told"),
        [
            ("random_state = 1", "random_state: there is no such setting; did you mean rng?"),
            ("max_evaluation = 1", "did you mean maxfev?"),
            ("max_iterations = 1", "did you mean maxiter?"),
            ("scale = 'log'", "did you mean log?"),
            ('target = "global"', "'global' was found without fun; wanted fun, FILE.py:FUNCTION"),
        ],
    )
    def test_names_of_arguments_in_python(self, tmp_path, line, told):
        target = "" if "target" in line else 'target = "himmelblau"\n'
        (tmp_path / "run.toml").write_text(f"{target}{line}\nzyx = 1\nwvu = 1\n")
        with pytest.raises(Usage) as error:
            read_settings(tmp_path / "run.toml")
        assert told in " ".join(error.value.message.split())
        assert error.value.message.count("dimension") == 1  # all that is allowed, once

    def test_both_spellings(self, tmp_path):
        (tmp_path / "run.toml").write_text('target = "himmelblau"\nmaximize = true\n')
        assert read_settings(tmp_path / "run.toml") == {"target": "himmelblau", "maximise": True}

    def test_names_of_python_and_earlier_ones_are_the_same(self, tmp_path):
        (tmp_path / "new.toml").write_text('fun = "himmelblau"\ntarget = "global"\nmaxfev = 9\nmaxiter = 3\nrng = 1\n')
        (tmp_path / "old.toml").write_text(
            'target = "himmelblau"\nmodes = "global"\nmax_evaluations = 9\nmax_rounds = 3\nseed = 1\n'
        )
        found = read_settings(tmp_path / "new.toml")
        assert found == {"target": "himmelblau", "modes": "global", "maxfev": 9, "maxiter": 3, "rng": 1}
        assert read_settings(tmp_path / "old.toml") == found

    def test_without_bounds_names_the_file_and_the_key(self, tmp_path):
        (tmp_path / "model.py").write_text("def energy(x):\n    return 0.0\n")
        (tmp_path / "run.toml").write_text('target = "model.py:energy"\n')
        shown = CliRunner().invoke(cli.main, ["find", str(tmp_path / "run.toml")])
        assert shown.exit_code == 2
        assert f"{tmp_path / 'run.toml'} has no bounds" in " ".join(shown.stderr.split())
        assert "bounds = [[-6, 6], [-6, 6]]" in " ".join(shown.stderr.split())

    def test_that_is_not_there_is_a_mistake(self, tmp_path):
        shown = CliRunner().invoke(cli.main, ["find", str(tmp_path / "run.toml")])
        assert shown.exit_code == 2
        assert "cannot be read" in shown.stderr


def test_the_old_name_of_a_method_is_accepted_and_not_shown():
    kind = BY_KEY["method"].kind
    assert kind.checked("launch") == kind.checked("local") == "local"
    assert "launch" not in kind.name
