"""Kinds of settings: read from text (options) or from TOML, checked, kept as plain data (JSON)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import click

from allmodes.cli.offers import Parameter


class Kind(Parameter, ABC):
    """One kind of value. `take` raises ValueError where a value is not as `wanted` says."""

    name = "VALUE"
    wanted = ""

    @abstractmethod
    def take(self, value: Any) -> Any:
        """The value of an option (a text) or of a TOML file (anything), as plain data."""

    def checked(self, value: Any) -> Any:
        """The value, or a ValueError that says what was found and what was wanted."""
        try:
            return self.take(value)
        except (ValueError, TypeError, OverflowError) as error:
            more = f" ({error})" if isinstance(error, WrongPart) else ""
            raise ValueError(f"{value!r} was found{more}; wanted {self.wanted}") from None

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """For click."""
        try:
            return self.checked(value)
        except ValueError as error:
            return self.fail(f"{error}.", param, ctx)


class WrongPart(ValueError):  # noqa: N818
    """Which part of a value is wrong, in a few words."""


def number(value: Any) -> float:
    """A real number from text or TOML; booleans are not numbers, and NaN is never wanted."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError
    found = float(value)
    if math.isnan(found):
        raise ValueError
    return found


class Whole(Kind):
    """A whole number of at least `least`; 1e5 and 100_000 are fine."""

    name = "N"

    def __init__(self, least: int, also: tuple[int, ...] = (), wanted: str = "") -> None:
        self.least, self.also = least, also
        self.wanted = wanted or f"a whole number of at least {least}"

    def take(self, value: Any) -> int:
        found = int(number(value))
        if found != number(value) or not (found >= self.least or found in self.also):
            raise ValueError
        try:
            return int(value)  # exact, however large
        except ValueError:
            return found


class Real(Kind):
    """A finite number above zero."""

    name = "NUMBER"

    def __init__(self, wanted: str = "a number above 0") -> None:
        self.wanted = wanted

    def take(self, value: Any) -> float:
        found = number(value)
        if not (found > 0.0 and math.isfinite(found)):
            raise ValueError
        return found


class Word(Kind):
    """One of a few words; `former` maps old ones, still accepted, to those of today."""

    def __init__(self, words: tuple[str, ...], former: Mapping[str, str] = MappingProxyType({})) -> None:
        self.words, self.former = words, former
        self.name = "|".join(words)
        self.wanted = f"one of {', '.join(words)}"

    def take(self, value: Any) -> str:
        found = self.former.get(value, value) if isinstance(value, str) else value
        if found not in self.words:
            raise ValueError
        return str(found)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(word) for word in self.words if word.startswith(incomplete)]


class Yes(Kind):
    """True or false."""

    wanted = "true or false"

    def take(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise TypeError
        return value


class Text(Kind):
    """Some text."""

    name = "TEXT"

    def __init__(self, wanted: str, name: str = "TEXT") -> None:
        self.wanted, self.name = wanted, name

    def take(self, value: Any) -> str:
        if not isinstance(value, str) or not value:
            raise TypeError
        return value


class Listed(Kind):
    """Several values, separated by commas in text."""

    name = "A,B,..."

    def __init__(self, wanted: str, each: Callable[[Any], Any]) -> None:
        self.wanted, self.each = wanted, each

    def take(self, value: Any) -> list[Any]:
        entries = value.split(",") if isinstance(value, str) else value
        if not isinstance(entries, list) or not entries:
            raise TypeError
        return [self.each(entry.strip() if isinstance(entry, str) else entry) for entry in entries]


def a_name(value: Any) -> str:
    """A word that is not empty."""
    if not isinstance(value, str) or not value:
        raise TypeError
    return value


class Points(Kind):
    """A point, or several."""

    name = "X0,X1,..."
    wanted = "numbers separated by commas, one for each coordinate; in a file [1, 2] or [[1, 2], [3, 4]]"

    def take(self, value: Any) -> list[list[float]]:
        if isinstance(value, str):
            return [[_finite(part) for part in value.split(",")]]
        if isinstance(value, list) and value and all(isinstance(entry, list) for entry in value):
            return [[_finite(part) for part in entry] for entry in value]
        if isinstance(value, list) and value:
            return [[_finite(part) for part in value]]
        raise TypeError


def _finite(value: Any) -> float:
    found = number(value)
    if math.isinf(found):
        raise ValueError
    return found


class Periodic(Kind):
    """Coordinates that wrap around."""

    name = "I,J,...|all"
    wanted = "numbers of coordinates, from 0, separated by commas, or all; in a file [0, 2] or true"

    def take(self, value: Any) -> bool | list[int]:
        if value is True or value == "all":
            return True
        if value is False:
            return []
        entries = value.split(",") if isinstance(value, str) else value
        if not isinstance(entries, list):
            raise TypeError
        return [Whole(0).take(entry) for entry in entries]


class Logs(Kind):
    """Coordinates on a logarithmic scale."""

    name = "NAME,...|all"
    wanted = 'names or numbers of coordinates, separated by commas, or all; in a file ["k1", "k2"] or true'

    def take(self, value: Any) -> str | dict[str, str]:
        if value is True or value in ("all", "log"):
            return "log"
        if isinstance(value, dict):
            return {str(name): "log" for name in value}
        entries = value.split(",") if isinstance(value, str) else value
        if not isinstance(entries, list) or not entries or any(isinstance(entry, bool | float) for entry in entries):
            raise TypeError
        return {a_name(str(entry).strip()): "log" for entry in entries}


class Wholes(Kind):
    """Coordinates that are whole numbers."""

    name = "NAME,...|all"
    wanted = 'names or numbers of coordinates, separated by commas, or all; in a file ["n", "k"] or true'

    def take(self, value: Any) -> bool | list[str]:
        if value is True or value == "all":
            return True
        entries = value.split(",") if isinstance(value, str) else value
        if not isinstance(entries, list) or not entries or any(isinstance(entry, bool | float) for entry in entries):
            raise TypeError
        return [a_name(str(entry).strip()) for entry in entries]


class Objects(Kind):
    """Objects in files or modules."""

    name, wanted = "FILE.py:NAME", "FILE.py:NAME or MODULE:NAME; in a file also a list of these"

    def take(self, value: Any) -> list[str]:
        entries = [value] if isinstance(value, str) else value
        if not isinstance(entries, list) or not entries or not all(isinstance(each, str) for each in entries):
            raise TypeError
        if any(":" not in each for each in entries):
            raise ValueError
        return entries


class Symmetry(Kind):
    """Blocks of coordinates that may be exchanged, or coordinates that change sign together."""

    name = "I,J/K,L|sign:I,J"
    wanted = (
        "blocks of coordinates that may be exchanged, as in 0,1/2,3, or coordinates that change sign together, as in "
        "sign:0,2; in a file [[0, 1], [2, 3]] or {sign = [0, 2]}"
    )

    def take(self, value: Any) -> list[Any] | dict[str, Any]:
        if not isinstance(value, str):
            if not isinstance(value, list | dict) or not value:
                raise TypeError
            return value
        if value.startswith("sign:"):
            return {"sign": [_place(part) for part in value.removeprefix("sign:").split(",")]}
        blocks = [[_place(part) for part in block.split(",")] for block in value.split("/")]
        if len(blocks) < 2:
            raise ValueError
        return blocks


def _place(text: str) -> int | str:
    """A coordinate by its number or its name."""
    found = a_name(text.strip())
    return int(found) if found.isdecimal() else found


class Noise(Kind):
    """Standard deviation of a value."""

    name = "SD|true"
    wanted = "the standard deviation of a value (a number above 0), or true to have it measured"

    def take(self, value: Any) -> bool | float:
        if isinstance(value, bool) or value in ("true", "false"):
            return value is True or value == "true"
        return Real().take(value)


class Derivative(Kind):
    """Where a derivative comes from."""

    packages = ("jax", "torch", "autograd", "2-point")
    name = "HOW"
    wanted = "jax, torch, autograd, 2-point, true (the function returns it), or FILE.py:FUNCTION or MODULE:FUNCTION"

    def take(self, value: Any) -> bool | str:
        if value is True or value == "true":
            return True
        if isinstance(value, str) and (value in self.packages or ":" in value):
            return value
        raise ValueError

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(word) for word in (*self.packages, "true") if word.startswith(incomplete)]
