"""The tools that adapters speak to, imported when they are needed."""

from __future__ import annotations

import importlib
from typing import Any


def peer(module: str, extra: str = "") -> Any:
    """A module of another package, or an error that says what to install.

    >>> peer("math").floor(1.5)
    1
    >>> peer("no_such_package.inside", extra="lmfit")
    Traceback (most recent call last):
    ImportError: this adapter needs no_such_package: pip install 'allmodes[lmfit]'
    """
    name = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != name:
            raise  # the package is there, and something that it needs is not
        raise ImportError(f"this adapter needs {name}: pip install 'allmodes[{extra or name}]'") from error
