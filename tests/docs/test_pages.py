"""Every block of code in README and docs runs, and prints what the page shows."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import command_line
import pages
import pytest

from allmodes.cli import exits

ROOT = Path(__file__).parents[2]
WIDEST = 91  # letters of a line of code that a page of the documentation shows without a break, 1280 pixels wide
LARGEST, LARGEST_OF_ALL = 80_000, 1_000_000  # bytes of a picture, and of all in the gallery


def name_of(path):
    return str(path.relative_to(ROOT)) + (" needs torch" if pages.needs_torch(path) else "")


# torch warns of itself when it derives; processes that a killed one has left are no concern of a page
@pytest.mark.filterwarnings("ignore:.*torch.jit")
@pytest.mark.parametrize("page", pages.pages(), ids=name_of)
def test_the_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    for name in pages.missing(page):
        pytest.importorskip(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    for shown in pages.Session(page, tmp_path).run():
        assert shown.agrees, f"{shown.where} shows\n{shown.wanted}\nand now prints\n{shown.got}"
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    if page.parent.name == "gallery" and page.stem != "index":
        pictures = pages.pictures(page.read_text(encoding="utf-8"))
        assert pictures
        assert all((tmp_path / picture).stat().st_size > 0 for picture in pictures)


@pytest.mark.parametrize("page", pages.pages(), ids=name_of)
def test_no_line_of_code_is_wider_than_a_page(page):
    lines = [line for block in pages.blocks(page.read_text(encoding="utf-8")) for line in block.text.splitlines()]
    assert not [line for line in lines if len(line) > WIDEST]


def test_the_gallery_has_its_pictures_and_they_are_small():
    made = {path.name: path.stat().st_size for path in (ROOT / "docs" / "gallery").glob("*.png")}
    assert len(made) >= 8
    assert max(made.values()) < LARGEST
    assert sum(made.values()) < LARGEST_OF_ALL
    named = [pages.pictures(page.read_text(encoding="utf-8")) for page in (ROOT / "docs" / "gallery").glob("*.md")]
    assert set(made) == {name for names in named for name in names}


def test_all_documentation_is_run():
    """What is left out has a test of its own or is written by a command."""
    run = {path.relative_to(ROOT / "docs").as_posix() for path in pages.pages()[1:]}
    every = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    left = {name for name in every - run if not name.startswith(("generated/", "_build/"))}
    assert left <= set(pages.APART)


def test_the_page_on_the_command_line_is_what_click_says():
    """`python docs/command_line.py` writes it anew."""
    page = command_line.PAGE.read_text(encoding="utf-8")
    for name, command in command_line.commands().items():
        section = page.partition(f"## allmodes {name}\n")[2].partition("\n## ")[0]
        named = set(re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", section))
        wanted = {opt for each in command.params for opt in (*each.opts, *each.secondary_opts) if opt.startswith("-")}
        assert wanted <= named, f"allmodes {name}: {wanted - named}"
    assert page == command_line.text()


def test_the_page_on_the_command_line_has_the_exit_codes():
    assert set(command_line.exit_codes()) == {0, 1, 2, 130, 143}
    assert all(f"| {code} | {text} |" in command_line.text() for code, text in command_line.exit_codes().items())
    assert {exits.FOUND, exits.FAILED, exits.USAGE, exits.INTERRUPTED, exits.TERMINATED} == set(
        command_line.exit_codes()
    )


def page_of(tmp_path, text):
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    return pages.Session(path, tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "```\nwithout a language\n```",
        "text\n\n    indented\n",
        "```text\noutput of nothing\n```",
        "```console\n$ rm -r /\n```",
        "```console\n$ make coffee\n```",
        "```console\n$ pip install 'allmodes[nonsense]'\n```",
        "```console\n$ allmodes find nothing-of-this-name\n```",
        "```toml\nkey = 1\n```",
        "```bibtex\n@article{a\n```",
        "```python\n1 / 0\n```",
    ],
)
def test_blocks_that_nothing_would_check_are_refused(tmp_path, text):
    with pytest.raises((ValueError, RuntimeError, ZeroDivisionError)):
        list(page_of(tmp_path, text).run())


def test_a_page_is_one_session_with_files_and_commands(tmp_path):
    text = """
```python
# tool.py
print("of the file")
```

```python
a = 1.0
```

```python
print(f"{a / 3:.3f}")
```

```text
0.333
```

```console
$ python tool.py
of the file
```
"""
    shown = list(page_of(tmp_path, text).run())
    assert [item.got for item in shown] == ["0.333\n", "of the file\n"]
    assert all(item.agrees for item in shown)


@pytest.mark.parametrize(
    ("wanted", "got"),
    [
        ("x = 1.234", "x = 1.235"),
        ("1180 evaluations", "1204 evaluations"),
        ("value 2.1e-16", "value 7.0e-12"),
        ("[ 1.  -0.5]", "[1. -0.5]"),
    ],
)
def test_output_that_differs_by_rounding_agrees(wanted, got):
    assert pages.agree(wanted, got)


@pytest.mark.parametrize(
    ("wanted", "got"),
    [
        ("x = 1.234", "x = 1.236"),
        ("1180 evaluations", "1380 evaluations"),
        ("4 modes", "5 modes"),
        ("True", "False"),
        ("minimum", "minimum 2"),
        ("0.001", "0.003"),
        ("weight 0.22", "weight -0.22"),
    ],
)
def test_output_that_differs_is_seen(wanted, got):
    assert not pages.agree(wanted, got)


def test_what_is_printed_now_can_be_written_into_a_page(tmp_path):
    session = page_of(tmp_path, "```python\nprint(1)\nprint(2)\n```\n\n```text\n0\n```\n\nEnd.\n")
    pages.update(session.page, list(session.run()))
    assert session.page.read_text(encoding="utf-8").endswith("```text\n1\n2\n```\n\nEnd.\n")
