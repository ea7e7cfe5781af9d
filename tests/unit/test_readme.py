"""What the README shows works."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

import allmodes

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_example_finds_every_explanation() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    names: dict[str, Any] = {"print": lambda *_: None}
    exec(block, names)
    found = [mode.x[1] for mode in names["fits"].modes if mode.chi2 < 12.0]
    wanted = [3.748, 1.364, 2.846, 1.259, 4.899, 2.209, 3.324, 1.539, 1.426]
    np.testing.assert_allclose(found, wanted, atol=2e-3)


def test_the_readme_is_short_and_its_links_exist() -> None:
    assert len(README.splitlines()) < 100
    links = re.findall(r"\]\((?!http)([^)]+)\)", README)
    assert links
    assert all((Path(__file__).parents[2] / link).exists() for link in links)


def test_the_citations_name_this_version() -> None:
    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == allmodes.__version__, "the installed package is of another version: make clean"
    cited = (root / "CITATION.cff").read_text(encoding="utf-8")
    assert all(f"  - name: {author['name']}\n" in cited for author in project["authors"])
    assert f"license: {project['license']}\n" in cited
    for name, pattern in (("CITATION.cff", r"^version: (\S+)$"), ("docs/faq.md", r"version = \{(\S+)\}")):
        found = re.findall(pattern, (root / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert found == [allmodes.__version__], name
    assert f"## {allmodes.__version__} " in (root / "CHANGELOG.md").read_text(encoding="utf-8")


def test_ci_runs_all_tests_on_every_python_that_is_named() -> None:
    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [text.rpartition(" ")[2] for text in project["classifiers"] if re.search(r":: 3\.\d+$", text)]
    assert project["requires-python"] == f">={named[0]}"
    workflow = (root / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    assert re.findall(r"3\.\d+", workflow) == named
    assert re.search(r"run: make .*\btest$", workflow, flags=re.MULTILINE)
