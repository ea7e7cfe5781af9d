"""The command that makes a result again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from allmodes.cli.bounds import Bounds, is_choice
from allmodes.cli.kinds import Objects, Points, Symmetry, Yes
from allmodes.cli.settings import SETTINGS, Setting

_NO_PART = ("out", "report", "checkpoint_every")  # of what is searched, and how
_PAIRS = 2  # pairs of bounds that are written one by one even if all are the same


def command_of(target: str, settings: dict[str, Any]) -> str:
    """What to type, in the directory of the files that are named.

    >>> command_of("/home/me/model.py:energy", {"bounds": [[-6.0, 6.0], [0.0, None]], "rng": 1})
    'allmodes find model.py:energy --bounds -6:6,0: --rng 1'
    """
    settings = {key: value for key, value in settings.items() if key not in _NO_PART}
    bounds = settings.get("bounds") or []
    if len(bounds) > _PAIRS and all(pair == bounds[0] for pair in bounds):
        settings |= {"bounds": bounds[:1], "dimension": len(bounds)}
    task = settings.get("task", "find")
    data = [Path(settings.pop("data")).name] if "data" in settings else []
    words = [word for setting in SETTINGS if setting.key in settings for word in _words(setting, settings[setting.key])]
    return shlex.join(["allmodes", task, Path(target).name, *data, *words])


def _words(setting: Setting, value: Any) -> list[str]:
    """An option and its value, as they are typed."""
    if isinstance(setting.kind, Yes):
        return [setting.option] if value else []
    if isinstance(setting.kind, Bounds):
        return [setting.option, ",".join(map(_entry, value))]
    if isinstance(setting.kind, Symmetry):
        return [setting.option, _symmetry(value)]
    if isinstance(setting.kind, Objects):
        return [word for name in value for word in (setting.option, Path(name).name)]
    if isinstance(setting.kind, Points):
        return [word for point in value for word in (setting.option, ",".join(map(_number, point)))]
    if value is True:
        return [setting.option, "all" if setting.key in ("periodic", "integer") else "true"]
    if setting.key == "log":
        return [setting.option, "all" if value == "log" else ",".join(value)]
    if isinstance(value, list):
        return [setting.option, ",".join(map(str, value))] if value else []
    return [setting.option, Path(value).name if ".py:" in str(value) else str(value)]


def _entry(entry: list[Any]) -> str:
    """A pair, or choices."""
    if is_choice(entry):
        return "/".join(each if isinstance(each, str) else _number(each) for each in entry)
    return ":".join(map(_number, entry))


def _symmetry(value: Any) -> str:
    """Blocks or signs as they are typed; anything else as it stands in a file."""
    if isinstance(value, dict) and list(value) == ["sign"] and not any(isinstance(i, list) for i in value["sign"]):
        return "sign:" + ",".join(map(str, value["sign"]))
    blocks = value if isinstance(value, list) else []
    if not blocks or any(isinstance(i, list) for block in blocks if isinstance(block, list) for i in block):
        return str(value)
    return "/".join(",".join(map(str, block)) if isinstance(block, list) else str(block) for block in blocks)


def _number(value: float | None) -> str:
    """As short as it is exact; nothing for a side that is open."""
    return "" if value is None else repr(float(value)).removesuffix(".0")
