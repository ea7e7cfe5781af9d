"""The command line and Python use one word for one thing; others are understood, or answered with the right one."""

import inspect
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from allmodes import cli, find_fits, find_minima, find_roots
from allmodes.cli.aliases import OfResult, Understanding
from allmodes.cli.app import main
from allmodes.cli.settings import ALIASES, SETTINGS

# Options that are not what the argument takes: coordinates in place of words, a file in place of an array.
DIFFERENT = {"log": "scale", "integer": "integrality", "constraint": "constraints"}


def run(*words):
    return CliRunner().invoke(cli.main, [str(word) for word in words])


def test_options_are_called_as_arguments():
    for setting in SETTINGS:
        if setting.argument and setting.key not in DIFFERENT:
            assert setting.option == f"--{setting.argument.replace('_', '-')}"
    arguments = {name for each in (find_minima, find_fits, find_roots) for name in inspect.signature(each).parameters}
    assert {setting.argument for setting in SETTINGS if setting.argument} <= arguments


@pytest.mark.parametrize(("other", "own"), sorted(ALIASES.items()))
def test_other_names_are_understood_and_not_shown(other, own):
    shown = " ".join(run("find", "--help").output.split())
    assert own in shown
    assert f"{other} " not in shown


@pytest.mark.usefixtures("empty_place")
def test_a_search_with_old_names_is_that_with_new_ones():
    old = run("find", "himmelblau", "--seed=1", "--max-evaluations", 300, "--modes", "global", "--max-rounds=90",
              "--max-time", "60", "--json")  # fmt: skip
    new = run("find", "himmelblau", "--rng", 1, "--maxfev", 300, "--target", "global", "--maxiter", 90, "--maxtime",
              60, "--json")  # fmt: skip
    assert old.exit_code == new.exit_code == 0
    assert json.loads(old.stdout)["modes"] == json.loads(new.stdout)["modes"]
    said = json.loads(old.stdout)["settings"]["command"]
    assert said == "allmodes find himmelblau --target global --maxfev 300 --maxiter 90 --maxtime 60.0 --rng 1"


@pytest.mark.usefixtures("empty_place")
def test_directories_of_earlier_versions_are_read():
    run("find", "himmelblau", "--rng", 1, "--maxiter", 2, "--out", "run", "-q")
    file = Path("run/run.json")
    file.write_text(file.read_text().replace('"maxiter"', '"max_rounds"').replace('"rng"', '"seed"'))
    run("resume", "run", "--max-rounds", 4)
    assert json.loads(file.read_text())["settings"] == {"rng": 1, "maxiter": 4}
    assert json.loads(Path("run/result.json").read_text())["nit"] == 4


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("--tol", "--xtol"), ("--random-state", "--rng"), ("--max-nfev", "--maxfev"), ("--n-jobs", "--workers"),
        ("--p0", "--x0"), ("--scale", "--log"), ("--maxfv", "--maxfev"),
    ],
)  # fmt: skip
def test_unknown_options_are_told_which_was_meant(given, meant):
    shown = run("find", "himmelblau", given, "1")
    assert shown.exit_code == 2
    assert meant in shown.stderr


def test_what_follows_two_hyphens_is_no_option():
    context = main.make_context("allmodes", ["find"])
    command = main.commands["find"]
    assert isinstance(command, Understanding)
    with pytest.raises(Exception, match="--seed"):
        command.make_context("find", ["--", "himmelblau", "--seed"], parent=context)


@pytest.mark.usefixtures("empty_place")
def test_target_is_the_function_only_where_results_are_looked_at():
    for name in ("plot", "report", "resume"):
        assert isinstance(main.commands[name], OfResult)
        assert "--fun FUN" in run(name, "--help").output
    run("find", "himmelblau", "--rng", 1, "--maxiter", 2, "--out", "run", "-q")
    shown = run("plot", "run", "landscape", "--target", "missing.py:f")
    assert "the file missing.py does not exist" in " ".join(shown.stderr.split())
