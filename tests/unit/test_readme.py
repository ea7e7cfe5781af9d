"""What the README shows works."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np

import allmodes

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_example_finds_all_modes_of_himmelblau() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    names: dict[str, object] = {"print": lambda *_: None}
    exec(block, names)
    modes = np.array([[3.0, 2.0], [-2.805118, 3.131312], [-3.779310, -3.283186], [3.584428, -1.848126]])
    found = np.array([mode.x for mode in names["result"].modes])  # type: ignore[attr-defined]
    assert len(found) == len(modes)
    assert (np.abs(modes[:, None] - found[None]).max(axis=2).min(axis=1) < 1e-5).all()


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
