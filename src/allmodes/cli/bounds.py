"""The kind of setting that says where to look."""

from __future__ import annotations

import math
from typing import Any

from allmodes.cli.kinds import Kind, WrongPart, number

Entry = list[Any]  # a pair of numbers, None for an open side, or choices


class Bounds(Kind):
    """Pairs lower:upper or lists of choices, one for each coordinate; a side left out is open."""

    name = "LOW:HIGH,..."
    wanted = (
        "LOW:HIGH for each coordinate, separated by commas, such as -6:6,0:1 (or one pair and the dimension; "
        "a side left out is open, as in 0:), or choices, as in oak/ash or 0.5/0.75/1; in a file also [[-6, 6], [0, 1]]"
    )

    def take(self, value: Any) -> list[Entry]:
        if isinstance(value, str):
            return [_of_text(text) for text in value.split(",")]
        if not isinstance(value, list) or not value:
            raise TypeError
        if len(value) == 2 and not any(isinstance(side, list | str) for side in value):
            return [_pair(value)]
        return [_of_text(entry) if isinstance(entry, str) else _of_file(entry) for entry in value]


def is_choice(entry: Entry) -> bool:
    """Whether an entry lists choices: words, or more than two numbers."""
    return len(entry) > 2 or any(isinstance(each, str) for each in entry)


def _of_text(text: str) -> Entry:
    if "/" in text:
        return _choices([_number_or_word(part.strip()) for part in text.split("/")])
    sides = text.strip().split(":")
    if len(sides) != 2:
        raise WrongPart(f"{text.strip()!r} is not LOW:HIGH")
    return _pair([side.strip() or None for side in sides])


def _of_file(entry: Any) -> Entry:
    if not isinstance(entry, list):
        raise WrongPart(f"{entry!r} is not a pair")
    return _choices(entry) if is_choice(entry) else _pair(entry)


def _number_or_word(text: str) -> float | str:
    try:
        return number(text)
    except ValueError:
        return text


def _choices(entry: Entry) -> Entry:
    """Choices, which are checked for good where they are used."""
    if not all(isinstance(each, str | int | float) and each != "" for each in entry):
        raise WrongPart(f"{entry!r} has a choice that is neither a word nor a number")
    if not is_choice(entry):
        raise WrongPart(f"{'/'.join(map(str, entry))} are two numbers; wanted three sizes or more, words, or LOW:HIGH")
    return entry


def _pair(pair: Entry) -> Entry:
    if len(pair) != 2:
        raise WrongPart(f"{pair!r} is not a pair")
    try:
        sides = [None if side is None else number(side) for side in pair]
    except (ValueError, TypeError):
        raise WrongPart(f"{':'.join(map(str, pair))} is not a pair of numbers") from None
    low = -math.inf if sides[0] is None else sides[0]
    high = math.inf if sides[1] is None else sides[1]
    if not low < high:
        raise WrongPart(f"{low:g} is not below {high:g}")
    return [None if math.isinf(low) else low, None if math.isinf(high) else high]
