"""One npz file: flat arrays, the tree that says what they are part of, and a JSON header.

The header holds the format, the versions, what the file is and a checksum of all the rest.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import secrets
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.storage.packing import Arrays, Tree, pack, unpack

FORMAT = "allmodes state"
FORMAT_VERSION = 1
_ZIP = b"PK\x03\x04"  # how an npz file begins


def save(path: str | os.PathLike[str], value: Any, *, kind: str, note: str = "") -> None:
    """Write a value to one npz file. An old file stays whole until the new one is, whatever happens in between.

    Args:
        path: the file, used as it is given.
        value: anything `pack` takes.
        kind: what it is, in a word; `load` wants the same word.
        note: any text, kept in the header.
    """
    tree, arrays = pack(value)
    arrays["tree"] = _as_bytes(tree)
    header = {"format": FORMAT, "format_version": FORMAT_VERSION, "kind": kind, "note": note}
    header |= {"allmodes": importlib.metadata.version("allmodes"), "numpy": np.__version__}
    header["sha256"] = _checksum(header, arrays)
    target = Path(os.path.realpath(path))  # a link stays a link
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot save to {os.fspath(path)}: the directory {target.parent} does not exist.")
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file:
            np.savez(file, header=_as_bytes(header), **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def load(path: str | os.PathLike[str], *, kind: str) -> Any:
    """The value in a file that `save` wrote; ValueError says what is wrong with the file."""
    name = os.fspath(path)
    with open(path, "rb") as file:
        try:
            header, arrays = _read(file)
        except Exception as error:  # whatever NumPy and zipfile raise on files that are damaged or not theirs
            raise ValueError(f"{name} is not a whole file saved by allmodes: {error}") from error
    _check_header(name, header, arrays, kind)
    try:
        return unpack(json.loads(arrays["tree"].tobytes()), arrays)
    except Exception as error:  # the tree names or lacks something
        raise ValueError(f"{name} does not fit this version of allmodes: {error}") from error


def _as_bytes(tree: Tree) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(tree, allow_nan=False, separators=(",", ":")).encode(), dtype=np.uint8)


def _read(file: Any) -> tuple[Tree, Arrays]:
    """The header and the arrays; a header alone if its format is newer than this one."""
    if file.read(len(_ZIP)) != _ZIP or not zipfile.is_zipfile(file):
        raise ValueError("found something else than an npz file, or a part of one.")
    file.seek(0)
    with np.load(file, allow_pickle=False) as archive:
        packed = [info.filename for info in archive.zip.infolist() if info.compress_type != zipfile.ZIP_STORED]
        if packed:  # a small file could unfold to any size
            raise ValueError(f"found the compressed entry {packed[0]}; allmodes does not compress.")
        if "header" not in archive.files:
            raise ValueError(f"found no header, only {archive.files}.")
        header = json.loads(archive["header"].tobytes())
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise ValueError("found a header of another format.")
        names = [] if _is_newer(header) else [name for name in archive.files if name != "header"]
        return header, {name: archive[name] for name in names}


def _is_newer(header: Tree) -> bool:
    version = header.get("format_version")
    return not isinstance(version, int) or version > FORMAT_VERSION


def _check_header(name: str, header: Tree, arrays: Arrays, kind: str) -> None:
    if _is_newer(header):
        raise ValueError(
            f"{name} has format version {header.get('format_version')}, written by allmodes {header.get('allmodes')}; "
            f"this allmodes reads versions up to {FORMAT_VERSION}. Update allmodes to read it."
        )
    found = header.pop("sha256", None)
    wanted = _checksum(header, arrays)
    if found != wanted:
        raise ValueError(f"{name} is damaged: its checksum is {wanted}, its header says {found}. Use an older copy.")
    if header.get("kind") != kind:
        raise ValueError(f"{name} holds a {header.get('kind')}; a {kind} was wanted.")


def _checksum(header: Tree, arrays: Arrays) -> str:
    """SHA-256 of the header without its checksum and of every array with its name, dtype and shape."""
    digest = hashlib.sha256(_as_bytes(header).data)
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.name} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
