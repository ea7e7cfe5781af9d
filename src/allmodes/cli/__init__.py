"""The command `allmodes` (extra [cli]: click and rich). Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import sys

try:
    import click as _click
    import rich as _rich
except ImportError as error:  # pragma: no cover - said in one line, not in a traceback
    sys.exit(f"the command allmodes needs {error.name}: pip install 'allmodes[cli]'.")

from allmodes.cli.app import main

__all__ = ["main"]

del _click, _rich
