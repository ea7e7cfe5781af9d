"""Write the page on the command line: commands, options and exit codes as click knows them.

python docs/command_line.py     writes docs/command-line.md
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import click

from allmodes.cli import app
from allmodes.cli.exits import TEXT

PAGE = Path(__file__).parent / "command-line.md"
_INTRODUCTION = """# Command line

The command `allmodes` comes with the extra `cli` (`pip install 'allmodes[cli]'`); plots also need `plot`, and reports
`report`. After `make demo` it is `.venv/bin/allmodes`. [A terminal session](session.md) shows what it prints.
"""


def commands() -> dict[str, click.Command]:
    """Every command by its name, in the order of the help."""
    return dict(app.main.commands)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<")


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _options(command: click.Command) -> Iterator[str]:
    """A table of the options of a command."""
    context = click.Context(command, **app.main.context_settings)
    yield from ("| option | what it does |", "| --- | --- |")
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record and isinstance(parameter, click.Option):
            yield f"| {_code(record[0])} | {_cell(' '.join(record[1].split()))} |"
    yield ""


def _paragraph(text: str) -> Iterator[str]:
    """One of a help text; what it keeps line by line (after a backspace) becomes a list."""
    if not text.startswith("\b"):
        yield from (_cell(textwrap.fill(" ".join(text.split()), 120)), "")
        return
    lines = [line.strip() for line in text.removeprefix("\b\n").splitlines()]
    if lines[0] == "Exit codes:":
        return
    is_example = lines[0].startswith("Example")
    if is_example:
        yield from (lines.pop(0), "")
    for line in lines:
        name, *rest = re.split(r"\s{2,}", line, maxsplit=1)
        yield f"- `{line}`" if is_example else f"- {_code(name)}: {_cell(' '.join(rest))}"
    yield ""


def _command(name: str, command: click.Command) -> Iterator[str]:
    context = click.Context(command, info_name=f"allmodes {name}", **app.main.context_settings)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield from (f"## allmodes {name}", "", f"`{usage}`", "")
    for text in (command.help or "", command.epilog or ""):
        for paragraph in filter(None, map(str.strip, text.split("\n\n"))):
            yield from _paragraph(paragraph)
    yield from _options(command)


def exit_codes() -> dict[int, str]:
    """What a command ends with, and why."""
    joined = re.sub(r"\n\s{6,}", " ", TEXT)
    return {int(code): text for code, text in re.findall(r"^\s+(\d+)\s+(.*)$", joined, flags=re.MULTILINE)}


def text() -> str:
    """The page."""
    lines = [_INTRODUCTION, "| command | what it does |", "| --- | --- |"]
    for name, command in commands().items():
        lines.append(f"| [{name}](#allmodes-{name}) | {_cell(command.get_short_help_str(100))} |")
    lines += ["", "## Exit codes", "", "| code | meaning |", "| --- | --- |"]
    lines += [f"| {code} | {meaning} |" for code, meaning in exit_codes().items()]
    lines.append("")
    for name, command in commands().items():
        lines += _command(name, command)
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
