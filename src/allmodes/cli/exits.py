"""How a command ends."""

from __future__ import annotations

from typing import Any, NoReturn

import click

from allmodes.cli.console import say

FOUND = 0
FAILED = 1  # finished without a mode, or the function failed, or something could not be written
USAGE = 2  # wrong options, settings or files; a target that is not there
INTERRUPTED = 130  # as in shells: 128 plus the number of the signal
TERMINATED = 143

TEXT = """\b
Exit codes:
  0    modes were found
  1    the search ended without a mode, the function failed, or the result
       could not be written
  2    options, settings, target or files are not as they should be
  130  ended by Ctrl-C; what was found is printed and saved
  143  ended by SIGTERM; likewise"""

LOOK = """\b
Exit codes:
  0    it was printed
  2    options or files are not as they should be
  130  ended by Ctrl-C"""
DRAW = """\b
Exit codes:
  0    the file is written
  1    the file could not be written
  2    options, target or files are not as they should be, or the result
       has nothing of that kind to draw
  130  ended by Ctrl-C"""


class Usage(click.ClickException):
    """Something that the user can fix; one or several lines, without the usage of the command."""

    exit_code = USAGE

    def show(self, file: Any = None) -> None:
        say(f"Error: {self.message}")


def fail(text: str, code: int = FAILED) -> NoReturn:
    """Say why, and end."""
    say(f"Error: {text}")
    raise click.exceptions.Exit(code)
