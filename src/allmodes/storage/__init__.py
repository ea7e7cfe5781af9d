"""Saves plain state in one npz file, without pickle: nothing in a file is ever executed."""

from allmodes.storage.files import clear_leftovers, load, previous_path, save, versions
from allmodes.storage.packing import pack, stored, unpack

__all__ = ["clear_leftovers", "load", "pack", "previous_path", "save", "stored", "unpack", "versions"]
