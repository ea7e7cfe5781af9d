"""Saves plain state in one npz file, without pickle: nothing in a file is ever executed."""

from allmodes.storage.files import (
    STATE_VERSION,
    clear_leftovers,
    dumps,
    load,
    load_from,
    previous_path,
    save,
    versions,
    write,
)
from allmodes.storage.packing import pack, unpack
from allmodes.storage.registry import stored

__all__ = [
    "STATE_VERSION",
    "clear_leftovers",
    "dumps",
    "load",
    "load_from",
    "pack",
    "previous_path",
    "save",
    "stored",
    "unpack",
    "versions",
    "write",
]
