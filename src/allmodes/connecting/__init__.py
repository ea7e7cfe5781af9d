"""The lowest ways between modes: `Result.connect`."""

from allmodes.connecting.connect import connect

__all__ = ["connect"]
