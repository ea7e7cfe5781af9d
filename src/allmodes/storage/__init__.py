"""Saves plain state in one npz file, without pickle: nothing in a file is ever executed."""

from allmodes.storage.files import load, save
from allmodes.storage.packing import pack, stored, unpack

__all__ = ["load", "pack", "save", "stored", "unpack"]
