"""Every module of the search is imported by a test module, or by what several of them share."""

from __future__ import annotations

import ast
import pkgutil
from pathlib import Path

import pytest

import allmodes.search

TESTS = Path(__file__).parents[2]
MODULES = [
    found.name
    for found in pkgutil.walk_packages(allmodes.search.__path__, "allmodes.search.")
    if not found.ispkg and not found.name.endswith(".tuning")  # all of these are walked in test_constants.py
]


def imported_by(path: Path) -> set[str]:
    """Modules that a file imports, by any of the ways to write that."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


IMPORTED = set().union(*(imported_by(path) for path in TESTS.rglob("*.py")))


def test_the_search_has_modules():
    assert len(MODULES) > 50


@pytest.mark.parametrize("module", MODULES)
def test_every_module_is_imported_by_a_test(module):
    assert module in IMPORTED, f"no test imports {module}: write tests of what it does."
