"""Arguments for which a shell completes words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    Parameter = click.ParamType[Any]
else:
    Parameter = click.ParamType  # generic for type checkers alone, and since click 8.2


class Offered(Parameter):
    """Any text; the words are offered, and files if none fits and they are wanted.

    Args:
        name: of the argument.
        words: called when they are wanted: what they come from may take a while to import.
        or_files: whether a file will do as well.
    """

    def __init__(self, name: str, words: Callable[[], Iterable[str]], or_files: bool = False) -> None:
        self.name, self.words, self.or_files = name, words, or_files

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        found = [CompletionItem(word) for word in self.words() if word.startswith(incomplete)]
        return found if found or not self.or_files else [CompletionItem(incomplete, type="file")]


def problems() -> Iterable[str]:
    """The names of built-in problems."""
    from allmodes.problems.named import NAMED

    return NAMED


def experiments() -> Iterable[str]:
    """The names of experiments."""
    from allmodes.reproduce import MODULES

    return (*MODULES, "all")
