"""The command `allmodes` (extra [cli]: click and rich). Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import sys

try:
    import click as _click
    import rich as _rich

    from allmodes.cli.app import main
except ImportError as error:  # pragma: no cover - said in one line, not in a traceback
    if error.name not in ("click", "rich"):
        raise
    sys.exit(f"the command allmodes needs {error.name}: pip install 'allmodes[cli]'.")
except KeyboardInterrupt:  # before the commands are there, to catch it themselves
    sys.exit(130)

__all__ = ["main"]

del _click, _rich
