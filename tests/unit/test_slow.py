"""What is left out of the fast loop is there, and the rest is not."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import slow

TESTS = Path(slow.__file__).parent
MODULES = {path.stem: path for path in TESTS.rglob("test_*.py")}


def names_in(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_folders_and_modules_exist():
    assert all((TESTS / folder).is_dir() for folder in slow.FOLDERS)
    assert set(MODULES) >= slow.MODULES | set(slow.LONGEST)


def test_the_longest_files_have_the_first_turns():
    assert sorted(("test_bounds", *reversed(slow.LONGEST)), key=slow.turn) == [*slow.LONGEST, "test_bounds"]


@pytest.mark.parametrize("module", slow.TESTS)
def test_tests_that_are_named_exist(module):
    assert module not in slow.MODULES
    assert set(slow.TESTS[module]) <= names_in(MODULES[module])


def test_they_are_marked_and_others_are_not():
    """By the names that pytest itself collects."""
    files = ["tests/unit/test_bounds.py", "tests/unit/test_kinked_functions.py", "tests/terminal"]
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", "-m"]
    fast, slow_ones = (
        subprocess.run([*command, wanted, *files], capture_output=True, text=True, cwd=TESTS.parent, check=True).stdout
        for wanted in ("not slow", "slow")
    )
    assert "test_bounds.py: " in fast
    assert "test_kinked_functions.py: " in fast
    assert "terminal" not in fast
    assert "test_kinked_functions.py: " in slow_ones
    assert "terminal/test_session.py: " in slow_ones
    assert "test_bounds.py" not in slow_ones
