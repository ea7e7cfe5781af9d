"""ARCHITECTURE.md and CONTRIBUTING.md name files, modules and parts that are there; the plan stays on one page."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "allmodes"
PLAN, GUIDE = (ROOT / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md"))
# Paths are below one of these, or below the folder of the search that was named before, as `searchers/constrained/`.
BELOW = (ROOT, ROOT / "src", SOURCE, SOURCE / "search", SOURCE / "objective", ROOT / "tests")
ELSEWHERE = {
    "ask",
    "tell",
    "events",
    "lax.scan",
    "Paper",
    "NAME.toml",
}  # of the protocol, of JAX, of docstrings


def code(text):
    """What stands between backticks outside of blocks; calls and arguments without their brackets."""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return [re.sub(r"\(.*", "", found) for found in re.findall(r"`([^`\n]+)`", prose)]


def names_in(path):
    """Classes, functions and assigned names of a module, at any depth."""
    names = {path.stem, path.parent.name}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
    return names


@pytest.fixture(scope="module")
def known():
    return set().union(*(names_in(path) for path in SOURCE.rglob("*.py")))


def exists(path):
    """Whether a path with or without .py is there, below any of the folders that pages start from."""
    path = path.rstrip("/")
    return any(
        (folder / path).exists() or (folder / f"{path}.py").exists()
        for folder in (*BELOW, *(each for each in (SOURCE / "search").rglob("*") if each.is_dir()))
    )


@pytest.mark.parametrize("page", [PLAN, GUIDE], ids=lambda page: page.name)
def test_every_path_is_there(page):
    named = {each for each in code(page.read_text(encoding="utf-8")) if re.fullmatch(r"[\w./-]+", each)}
    paths = {each for each in named if "/" in each or each.endswith((".py", ".md", ".toml"))} - ELSEWHERE
    paths = {each for each in paths if not each.startswith(".venv")}
    assert len(paths) > 10
    assert not {each for each in paths if not exists(each)}


def test_every_part_of_the_plan_is_there(known):
    words = {each for each in code(PLAN.read_text(encoding="utf-8")) if re.fullmatch(r"[A-Za-z_]\w*(\.\w+)?", each)}
    missing = {each for each in words - ELSEWHERE if not set(each.split(".")) <= known and not exists(each)}
    assert not missing


def test_a_part_that_is_gone_would_be_seen(known):
    assert "scheduler" in known
    assert "funnel_claims" not in known
    assert exists("verify/same_mode.py")
    assert not exists("strategy/claims.py")


def test_the_table_of_layers_has_every_module():
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"][
        0
    ]
    listed = {name.removeprefix("allmodes.").split(".")[0] for row in layers["layers"] for name in row.split(" | ")}
    text = PLAN.read_text(encoding="utf-8")
    table = text[text.index("| layer |") : text.index("## Decisions")]
    shown = {name for row in re.findall(r"^\| (`.*?) \|", table, flags=re.MULTILINE) for name in code(row)}
    modules = {
        path.stem if path.is_file() else path.name
        for path in SOURCE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    } - {"__init__", "__main__"}
    assert modules == listed
    assert modules == shown


def test_the_plan_is_one_page():
    assert len(PLAN.read_text(encoding="utf-8").splitlines()) < 130
