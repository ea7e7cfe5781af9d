"""What `allmodes find` searches: only what is named is imported."""

import sys

import pytest

from allmodes.cli.errors import point_of, users_traceback
from allmodes.cli.exits import Usage
from allmodes.cli.targets import check_name, load, load_function, shown
from allmodes.problems.named import NAMED, named

MODEL = """
number = 3

def energy(x):
    return float((x**2).sum())

def _hidden(x):
    return 0.0
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """An empty directory, and modules and path as they were afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    (tmp_path / "somebodys_model.py").write_text(MODEL)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def refused(text):
    with pytest.raises(Usage) as told:
        load(check_name(text))
    assert told.value.exit_code == 2
    return told.value.message


class TestNames:
    def test_of_files_are_kept_with_the_whole_path(self, place):
        assert check_name("somebodys_model.py:energy") == f"{place}/somebodys_model.py:energy"
        assert shown(f"{place}/somebodys_model.py:energy") == "somebodys_model.py:energy"

    def test_of_problems_are_lenient(self):
        assert check_name("Six_Hump_Camel") == "six-hump-camel"

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("himelblau", "did you mean himmelblau?"),
            ("xyzzy", "Wanted FILE.py:FUNCTION, MODULE:FUNCTION, a settings file (run.toml) or a built-in problem"),
            ("somebodys_model.py", "Name the function in the file, too: somebodys_model.py:energy."),
            ("nothing.py:f", "the file nothing.py does not exist"),
            (".:f", "'.' is neither a FILE.py nor a MODULE"),
            (":f", "wanted FILE.py:FUNCTION or MODULE:FUNCTION"),
            ("a.py:f()", "wanted FILE.py:FUNCTION or MODULE:FUNCTION"),
            ("no-module:f", "neither a FILE.py nor a MODULE"),
            ("nothing_here:f", "there is no module 'nothing_here'"),
            ("somebodys_model.py:nrgy", "did you mean energy?"),
            ("somebodys_model.py:f", "it has energy."),
            ("somebodys_model.py:number", "is of type int; a function was wanted"),
        ],
    )
    def test_that_are_wrong_are_explained(self, text, told):
        assert told in refused(text)

    def test_a_directory_is_no_file(self, place):
        (place / "a.py").mkdir()
        assert "a.py is a directory" in refused("a.py:f")


class TestImports:
    def test_a_file_and_a_module_are_the_same_function(self):
        by_file = load(check_name("somebodys_model.py:energy"))
        by_name = load(check_name("somebodys_model:energy"))
        assert by_file.arguments["fun"] is by_name.arguments["fun"]
        assert by_file.name == "somebodys_model-energy"

    def test_checking_a_name_imports_nothing(self, place):
        (place / "loud.py").write_text("raise SystemError")
        check_name("loud.py:f")
        check_name("loud:f")
        assert "loud" not in sys.modules

    def test_a_file_with_the_name_of_a_known_module_is_itself(self, place):
        import json

        (place / "json.py").write_text("def dumps(x):\n    return 7.0\n")
        assert load_function(f"{place}/json.py:dumps")(1) == 7.0
        assert sys.modules["json"] is json

    def test_a_file_that_others_would_not_find_by_its_name_has_none(self, place):
        """cloudpickle sends functions of such modules by value."""
        (place / "click_.py").write_text("def f(x):\n    return 7.0\n")
        (place / "this.py").write_text("def f(x):\n    return 8.0\n")  # a module of Python has the name
        assert load_function(f"{place}/click_.py:f").__module__ in sys.modules
        assert load_function(f"{place}/this.py:f")(1) == 8.0
        assert "this" not in sys.modules

    def test_nothing_in_the_directory_shadows_a_package_afterwards(self, place):
        load(check_name("somebodys_model.py:energy"))
        assert sys.path[0] != str(place)
        assert sys.path[-1] == str(place)

    def test_a_file_may_import_its_neighbours(self, place):
        (place / "neighbour_of.py").write_text("from somebodys_model import energy")
        assert load(check_name("neighbour_of.py:energy")).arguments["fun"]

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("def f(x:\n    return 1", "line 1: '(' was never closed"),
            ("import nothing_like_this", "imports 'nothing_like_this', which is not installed"),
            ("import sys\nsys.exit(3)", "SystemExit: 3"),
            ("1 / 0", "ZeroDivisionError: division by zero"),
        ],
    )
    def test_that_fail_show_the_users_code_alone(self, place, text, told):
        (place / "wrong_file.py").write_text(text)
        message = refused("wrong_file.py:f")
        assert told in message
        assert "importlib" not in message
        assert "targets.py" not in message
        assert "wrong_file" not in sys.modules


class TestProblems:
    def test_bring_everything(self):
        found = load("himmelblau")
        assert found.maximise is True
        assert set(found.arguments) == {"fun", "jac", "hess", "vectorized", "bounds"}
        assert load("heptane").arguments["periodic"] == [0, 1, 2, 3]

    def test_that_cannot_be_made_are_explained(self):
        with pytest.raises(Usage, match="dimension is 3; the problem himmelblau exists only in 2"):
            load("himmelblau", 3)
        with pytest.raises(Usage, match="at most 8"):
            load("vincent", 9)

    @pytest.mark.parametrize("name", [name for name in NAMED if not NAMED[name].needs])
    def test_have_texts_and_modes(self, name):
        problem = named(name)
        assert len(problem.modes)
        assert NAMED[name].text.strip()
        if NAMED[name].has_dimension:
            assert named(name, 4).dimension == 4

    def test_names_that_are_wrong_are_answered_with_the_right_ones(self):
        with pytest.raises(ValueError, match=r"no problem 'xyzzy'; there are himmelblau, "):
            named("xyzzy")
        assert named("himmelblau", 2).dimension == 2


class TestErrors:
    def test_of_workers_show_the_workers_traceback(self):
        error = ValueError("no")
        error.add_note('in the worker process:\nTraceback (most recent call last):\n  File "m.py", line 3, in f\n'
                       "    a\nValueError: no\n")  # fmt: skip
        error.add_note("while evaluating x = array([1., 2.]); on_error='nan' counts such points and goes on")
        assert users_traceback(error).splitlines()[1] == '  File "m.py", line 3, in f'
        assert point_of(error) == "x = [1., 2.]"

    def test_without_frames_of_the_user_are_empty(self):
        assert users_traceback(ValueError("no")) == ""
        assert point_of(ValueError("no")) is None
