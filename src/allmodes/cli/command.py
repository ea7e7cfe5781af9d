"""The command that makes a result again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from allmodes.cli.kinds import Bounds, Points, Yes
from allmodes.cli.settings import SETTINGS, Setting

_NO_PART = ("out", "report", "checkpoint_every")  # of what is searched, and how
_PAIRS = 2  # pairs of bounds that are written one by one even if all are the same


def command_of(target: str, settings: dict[str, Any]) -> str:
    """What to type, in the directory of the files that are named.

    >>> command_of("/home/me/model.py:energy", {"bounds": [[-6.0, 6.0], [0.0, None]], "seed": 1})
    'allmodes find model.py:energy --bounds -6:6,0: --seed 1'
    """
    settings = {key: value for key, value in settings.items() if key not in _NO_PART}
    bounds = settings.get("bounds") or []
    if len(bounds) > _PAIRS and all(pair == bounds[0] for pair in bounds):
        settings |= {"bounds": bounds[:1], "dimension": len(bounds)}
    words = [word for setting in SETTINGS if setting.key in settings for word in _words(setting, settings[setting.key])]
    return shlex.join(["allmodes", "find", Path(target).name, *words])


def _words(setting: Setting, value: Any) -> list[str]:
    """An option and its value, as they are typed."""
    if isinstance(setting.kind, Yes):
        return [setting.option] if value else []
    if isinstance(setting.kind, Bounds):
        return [setting.option, ",".join(":".join(map(_number, pair)) for pair in value)]
    if isinstance(setting.kind, Points):
        return [word for point in value for word in (setting.option, ",".join(map(_number, point)))]
    if value is True:
        return [setting.option, "all" if setting.key == "periodic" else "true"]
    if setting.key == "log":
        return [setting.option, "all" if value == "log" else ",".join(value)]
    if isinstance(value, list):
        return [setting.option, ",".join(map(str, value))] if value else []
    return [setting.option, Path(value).name if ".py:" in str(value) else str(value)]


def _number(value: float | None) -> str:
    """As short as it is exact; nothing for a side that is open."""
    return "" if value is None else repr(float(value)).removesuffix(".0")
