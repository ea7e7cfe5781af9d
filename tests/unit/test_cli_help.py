"""Help texts, whose examples run, and completion."""

import os
import re
import shlex
import subprocess
import sys

import pytest
from cli_cases import run
from click.testing import CliRunner

from allmodes import cli

pytestmark = pytest.mark.usefixtures("model_place")


def examples():
    """Every line below `Example` in a help text."""
    commands = {"": cli.main, **cli.main.commands}
    for name in commands:
        shown = CliRunner().invoke(cli.main, [name, "--help"] if name else ["--help"]).output
        block = re.search(r"Examples?:\n((?:    .*\n)+)", shown)
        assert block, f"{name} has no example"
        for line in block[1].splitlines():
            yield line.strip()


class TestHelp:
    @pytest.mark.parametrize("example", list(examples()))
    def test_examples_run(self, example, model_place):
        if "plot" in example or "report" in example or "resume" in example or "show" in example:
            run("find", "model.py:energy", "--bounds", "-6:6,-6:6", "--out", "run", "--seed", "0")
        if example.startswith("allmodes "):
            shown = run(*shlex.split(example)[1:])
            assert shown.exit_code == 0, shown.output
        else:
            (model_place / "allmodes").write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m allmodes.cli "$@"\n')
            (model_place / "allmodes").chmod(0o755)
            path = f"{model_place}:{os.environ['PATH']}"
            script = f"set -e; {example}; complete -p allmodes"
            done = subprocess.run(
                ["bash", "-c", script], capture_output=True, text=True, env=os.environ | {"PATH": path}
            )
            assert "_allmodes_completion" in done.stdout, done.stderr

    @pytest.mark.parametrize("name", ["", *cli.main.commands])
    def test_fits_80_columns(self, name):
        shown = CliRunner().invoke(cli.main, [name, "--help"] if name else ["--help"]).output
        assert max(map(len, shown.splitlines())) <= 80
        assert "..." not in shown.split("Commands:")[-1] or name

    @pytest.mark.parametrize("name", ["find", "resume"])
    def test_exit_codes_are_documented(self, name):
        shown = CliRunner().invoke(cli.main, [name, "--help"]).output
        assert all(re.search(rf"^    {code} ", shown, re.MULTILINE) for code in (0, 1, 2, 130, 143))

    @pytest.mark.parametrize("name", ["show", "plot", "report"])
    def test_exit_codes_of_looking_are_documented(self, name):
        shown = CliRunner().invoke(cli.main, [name, "--help"]).output
        codes = (0, 2, 130) if name == "show" else (0, 1, 2, 130)
        assert re.findall(r"^    (\d+) ", shown, re.MULTILINE) == [str(code) for code in codes]

    def test_resume_keeps_what_was(self):
        shown = " ".join(CliRunner().invoke(cli.main, ["resume", "--help"]).output.split())
        assert set(re.findall(r"\[default.*?\]", shown)) == {"[default: as before]"}

    def test_the_sign_of_problems_is_told(self):
        shown = " ".join(CliRunner().invoke(cli.main, ["find", "--help"]).output.split())
        assert "built-in problems are maximised" in shown

    def test_it_imports_nothing_heavy(self):
        code = "import sys\nfrom allmodes.cli import main\nmain(['find', '--help'], standalone_mode=False)\n"
        code += "print(*sys.modules, file=sys.stderr)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        loaded = done.stderr.split()
        assert "allmodes.cli.find" in loaded
        heavy = {"jax", "matplotlib", "torch", "pandas", "plotly", "jinja2", "ioh", "joblib"}
        assert not [name for name in loaded if name.split(".")[0] in heavy]
        assert not [name for name in loaded if name.startswith(("allmodes.reproduce", "allmodes.report"))]

    def test_ctrl_c_outside_a_search(self, monkeypatch):
        def interrupt(name, dimension):
            raise KeyboardInterrupt

        monkeypatch.setattr("allmodes.problems.named.named", interrupt)
        shown = run("problems", "banana")
        assert (shown.exit_code, shown.stderr) == (130, "stopped.\n")

    def test_ctrl_c_while_the_commands_are_imported(self):
        code = """
import sys
import allmodes

class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == "allmodes.cli.find":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
import allmodes.cli
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (130, "")


class TestCompletion:
    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_scripts_are_printed(self, shell):
        shown = run("completion", shell)
        assert shown.exit_code == 0
        assert f"_ALLMODES_COMPLETE={shell}_complete" in shown.stdout
        assert shown.stdout.startswith("# ")

    def test_shells_are_named(self):
        shown = run("completion")
        assert shown.exit_code == 2
        assert "Missing argument 'SHELL'" in shown.stderr
        assert "bash" in shown.stderr

    @pytest.mark.parametrize(
        ("line", "word"),
        [
            ("allmodes fi", "find"), ("allmodes find himm", "himmelblau"), ("allmodes problems six", "six-hump-camel"),
            ("allmodes plot run conv", "convergence"), ("allmodes find x --method bl", "black-box"),
            ("allmodes find x --jac to", "torch"), ("allmodes find x --maxf", "--maxfev"),
            ("allmodes reproduce mode-s", "mode-sym"), ("allmodes find mod", "file"),
        ],
    )  # fmt: skip
    def test_words_are_offered(self, line, word):
        words = line.split(" ")
        environment = {"_ALLMODES_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
        shown = CliRunner().invoke(cli.main, [], env=environment, prog_name="allmodes")
        assert any(word in offered.split(",") for offered in shown.output.splitlines()), shown.output
