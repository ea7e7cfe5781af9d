"""Commands that understand what their options were called before, and what Python calls them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import click

from allmodes.cli.settings import ALIASES, SETTINGS
from allmodes.keywords import elsewhere

_FUNCTION = MappingProxyType({"--target": "--fun"})  # of commands that do not choose among modes


class Understanding(click.Command):
    """A command whose options have other names as well, which its help does not show."""

    aliases: Mapping[str, str] = ALIASES

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Arguments with the names of today; an unknown option is told what else it may be called."""
        own = {name for param in self.params for name in (*param.opts, *param.secondary_opts)}
        end = args.index("--") if "--" in args else len(args)
        known = [_renamed(each, self.aliases, own) for each in args[:end]]
        try:
            return super().parse_args(ctx, known + args[end:])
        except click.NoSuchOption as error:
            meant = _meant(error.option_name, own)
            if not meant:
                raise
            name = error.option_name
            raise click.NoSuchOption(name, f"No such option {name}; did you mean {meant}?", ctx=ctx) from None


class OfResult(Understanding):
    """A command that looks at results: `--target` was their function."""

    aliases = ALIASES | _FUNCTION


def _renamed(word: str, aliases: Mapping[str, str], own: set[str]) -> str:
    name, is_equal, value = word.partition("=")
    new = aliases.get(name, name)
    return f"{new}{is_equal}{value}" if name not in own and new in own else word


def _meant(option: str, own: set[str]) -> str:
    """The option for what others call so, or for an argument of Python."""
    name = option.lstrip("-").replace("-", "_")
    argument = elsewhere(name)
    found = [each.option for each in SETTINGS if each.argument and each.argument == argument and each.option in own]
    return found[0] if found else ""
