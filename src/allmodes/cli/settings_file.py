"""Settings in a TOML file: all mistakes are named at once, each with its key and what is allowed."""

from __future__ import annotations

import re
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from allmodes.cli.console import item, wrapped
from allmodes.cli.exits import Usage
from allmodes.cli.settings import BY_KEY, SETTINGS, SPELLINGS

# What others call these settings.
_IN_PYTHON = {setting.argument: setting.key for setting in SETTINGS if setting.argument not in ("", setting.key)} | {
    "random_state": "rng", "function": "target", "checkpoint": "out", "max_iterations": "maxiter",
}  # fmt: skip


def read_settings(path: Path) -> dict[str, Any]:
    """The settings in a file, checked; paths in it are relative to its directory."""
    text = _text(path)
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Usage(f"{path} is not TOML: {error}. A setting looks like maxfev = 10000.") from None
    if "fun" in found and "target" in found:  # which modes, as in Python; alone it is the function
        found["modes"] = found.pop("target")
    settings, mistakes = {}, []
    for key, value in found.items():
        try:
            settings[SPELLINGS.get(key, key)] = _checked(SPELLINGS.get(key, key), value, key)
        except ValueError as error:
            mistakes.append(f"{_line(text, key)}{error}")
    if not found.keys() & {"fun", "target"}:
        mistakes.append(f"fun: missing; wanted {BY_KEY['target'].kind.wanted}.")
    if mistakes:
        count = "one mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        unknown = not found.keys() <= BY_KEY.keys() | SPELLINGS.keys()
        allowed = "\n" + wrapped(f"Settings are {', '.join(map(_name, BY_KEY))}.") if unknown else ""
        raise Usage(f"{path} has {count}:\n" + "\n".join(map(item, mistakes)) + allowed)
    return _resolved(settings, path.parent)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise Usage(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise Usage(f"{path} is not UTF-8 text, which TOML requires.") from None


def _checked(key: str, value: Any, typed: str) -> Any:
    if key not in BY_KEY:
        plain = key.lower().replace("-", "_")
        close = (
            [_IN_PYTHON.get(plain, "")] if plain in _IN_PYTHON else get_close_matches(plain, [*BY_KEY, *SPELLINGS], 1)
        )
        meant = f"; did you mean {_name(SPELLINGS.get(close[0], close[0]))}?" if close else "."
        raise ValueError(f"{key}: there is no such setting{meant}")
    if key == "target" and value in ("all", "global"):
        raise ValueError(f"target: {value!r} was found without fun; wanted fun, {BY_KEY['target'].kind.wanted}.")
    try:
        return BY_KEY[key].kind.checked(value)
    except ValueError as error:
        raise ValueError(f"{typed}: {error}.") from None


def _name(key: str) -> str:
    """What a setting is called in files, as in Python."""
    return "fun" if key == "target" else BY_KEY[key].named or key


def _line(text: str, key: str) -> str:
    """The place of a key, if it stands at the beginning of a line as keys do."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(rf"\s*\[*\s*[\"']?{re.escape(key)}[\"']?\s*[\]=.]", line):
            return f"line {number}, "
    return ""


def _resolved(settings: dict[str, Any], directory: Path) -> dict[str, Any]:
    """Paths made relative to the file."""
    for key in ("target", "jac", "hess"):
        value = settings.get(key)
        if isinstance(value, str) and ".py:" in value:
            settings[key] = str(directory / value)
    if "constraint" in settings:
        settings["constraint"] = [
            str(directory / value) if ".py:" in value else value for value in settings["constraint"]
        ]
    if "data" in settings:
        settings["data"] = str(directory / settings["data"])
    if "out" in settings:
        settings["out"] = str(directory / settings["out"])
    return settings
