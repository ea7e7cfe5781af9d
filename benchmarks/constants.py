"""The constants of the search, found by walking its package, and set to other values in a running process.

A module `tuning` of a folder under `allmodes.search` holds a frozen dataclass `Tuning` and one instance of it,
`TUNING`, whose fields are read when they are needed: setting a field of that instance changes the search.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, NamedTuple

PACKAGE = "allmodes.search"


class Constant(NamedTuple):
    """One field of a `Tuning`."""

    module: str
    name: str
    value: Any
    unit: str
    why: str

    @property
    def address(self) -> str:
        return f"{self.module}.{self.name}"


def find_constants(package: str = PACKAGE) -> list[Constant]:
    """All numbers among the fields of all `TUNING` under the package, in the order of their modules and fields."""
    found: list[Constant] = []
    root = importlib.import_module(package)
    inside = pkgutil.walk_packages(root.__path__, f"{package}.")
    for name in sorted(each.name for each in inside if each.name.rpartition(".")[2] == "tuning"):
        tuning = importlib.import_module(name).TUNING
        found += [
            Constant(name, each.name, value, each.metadata.get("unit", ""), each.metadata.get("why", ""))
            for each in fields(tuning)
            if isinstance(value := getattr(tuning, each.name), int | float) and not isinstance(value, bool)
        ]
    return found


def set_constants(settings: Iterable[str]) -> None:
    """Set constants, each as "package.module.field=value"; the type of a value stays what it is."""
    for setting in settings:
        address, _, text = setting.partition("=")
        module, _, name = address.rpartition(".")
        tuning = importlib.import_module(module).TUNING
        old = getattr(tuning, name)  # an error for a name that does not exist
        object.__setattr__(tuning, name, type(old)(float(text)))
