"""The group of all commands, and what holds for each of them."""

from __future__ import annotations

import errno
import sys
from typing import Any

import click

from allmodes import starting
from allmodes.cli.audit import audit_command
from allmodes.cli.completion import completion_command
from allmodes.cli.console import say, wrapped
from allmodes.cli.exits import FAILED, INTERRUPTED
from allmodes.cli.find import find_command
from allmodes.cli.look import plot_command, report_command, show_command
from allmodes.cli.problems import problems_command
from allmodes.cli.reproduce import reproduce_command
from allmodes.cli.resume import resume_command
from allmodes.cli.tasks import fit_command, roots_command

_WIDTH = 80  # columns of help texts


class WrappedError(click.UsageError):
    """A mistake in the options, reported in 80 columns."""

    def __init__(self, error: click.UsageError) -> None:
        super().__init__(wrapped(f"Error: {error.format_message()}").removeprefix("Error: "), error.ctx)


class Commands(click.Group):
    """Ends in good order when output cannot be written, on a full disk for instance."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which they are used."""
        return list(self.commands)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Mistakes in the options before a command are reported in 80 columns, too."""
        try:
            return super().make_context(*args, **kwargs)
        except click.UsageError as error:
            raise WrappedError(error) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Ctrl-C outside a search ends with its code, too."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            raise WrappedError(error) from None
        except KeyboardInterrupt:
            say("stopped.")
            raise click.exceptions.Exit(INTERRUPTED) from None

    def main(self, *args: Any, **kwargs: Any) -> Any:
        _print_what_can_be_printed()
        try:
            starting.over()
            return super().main(*args, **kwargs)
        except KeyboardInterrupt:  # between the imports and a command
            sys.exit(INTERRUPTED)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
                raise
            say(f"the output could not be written: {error.strerror}.")
            sys.exit(FAILED)


def _print_what_can_be_printed() -> None:
    """A letter that the locale cannot print becomes a question mark, not a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": _WIDTH},
    epilog="\b\nExample:\n  allmodes find himmelblau",
)
@click.version_option(package_name="allmodes", prog_name="allmodes")
def main() -> None:
    """Find every good optimum of a function, not just one."""


for _command in (
    find_command, fit_command, roots_command, audit_command, resume_command, show_command,
    plot_command, report_command, problems_command, reproduce_command, completion_command,
):  # fmt: skip
    main.add_command(_command)
