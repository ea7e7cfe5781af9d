"""One npz file: flat arrays, the tree that says what they are part of, and a JSON header.

The header holds the format, the versions, what the file is, the settings it was made with and a checksum of the rest. A
file is written under another name and renamed once it is on the disk: there is a complete one at every moment.

`FORMAT_VERSION` counts the ways of writing a file, `STATE_VERSION` what the state in it means: it goes up when a search
that was saved before could not go on exactly. Classes that are only moved or renamed need neither, see `stored`.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import io
import json
import math
import os
import platform
import secrets
import shutil
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.storage.packing import Arrays, Tree, pack, unpack

FORMAT = "allmodes state"
FORMAT_VERSION = 1
STATE_VERSION = 7
_FIRST_STATE_VERSION = 1  # of files whose header names none
_ZIP = b"PK\x03\x04"  # how an npz file begins
_NPY = ".npy"  # how its entries end
_PREVIOUS = ".previous"


def save(
    path: str | os.PathLike[str],
    value: Any,
    *,
    kind: str,
    note: str = "",
    settings: dict[str, Any] | None = None,
    keeps_previous: bool = False,
) -> None:
    """Write a value to one npz file. An old file stays whole until the new one is, whatever happens in between.

    Args:
        path: the file, used as it is given.
        value: anything `pack` takes.
        kind: what it is, in a word; `load` must be given the same word.
        note: any text, kept in the header.
        settings: what JSON can hold, kept in the header for those who read it without allmodes.
        keeps_previous: whether to keep the previous file, with `.previous` appended to its name.
    """
    readable = json.loads(json.dumps(settings or {}, default=repr), parse_constant=str)  # infinite numbers as words
    content = _content(value, {"kind": kind, "note": note, "settings": readable})
    target = Path(os.path.realpath(path))  # a link stays a link
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot save to {os.fspath(path)}: the directory {target.parent} does not exist.")
    temporary = _temporary(target)
    try:
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if keeps_previous and target.exists():
            _keep(target)
        os.replace(temporary, target)
        _sync_directory(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def previous_path(path: str | os.PathLike[str]) -> Path:
    """Where `save` keeps the file before the last."""
    target = Path(os.path.realpath(path))
    return target.with_name(target.name + _PREVIOUS)


def clear_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove what processes killed while writing this file have left behind."""
    target = Path(os.path.realpath(path))
    digits = "[0-9a-f]" * 8
    for name in (target.name, target.name + _PREVIOUS):
        for leftover in target.parent.glob(f".{_literal(name)}.{digits}.tmp"):
            with contextlib.suppress(OSError):  # another process was quicker, or it is not ours to remove
                leftover.unlink()


def _literal(name: str) -> str:
    """A name without special characters of `glob`."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _content(value: Any, about: Tree) -> memoryview:
    """The bytes of the file."""
    tree, arrays = pack(value)
    arrays["tree"] = _as_bytes(tree)
    header = {"format": FORMAT, "format_version": FORMAT_VERSION, "state_version": STATE_VERSION, **about}
    header |= versions()
    header["sha256"] = _checksum(header, arrays)
    buffer = io.BytesIO()
    np.savez(buffer, header=_as_bytes(header), **arrays)  # type: ignore[arg-type]
    return buffer.getbuffer()


def _temporary(target: Path) -> Path:
    """Beside the target: renaming is atomic only within one file system."""
    return target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")


def _keep(target: Path) -> None:
    """Give the file its second name as well: it is never without the first one."""
    previous = previous_path(target)
    other = _temporary(previous)
    try:
        try:
            os.link(target, other)
        except OSError:  # a file system without links
            shutil.copyfile(target, other)
        os.replace(other, previous)
    finally:
        other.unlink(missing_ok=True)


def _sync_directory(directory: Path) -> None:
    """Flush the new name to the disk; where directories cannot be opened, that is left to the system."""
    with contextlib.suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def load(path: str | os.PathLike[str], *, kind: str, goes_on: bool = False) -> Any:
    """The value in a file that `save` wrote; ValueError says what is wrong with the file.

    Args:
        path: the file.
        kind: what has to be in it.
        goes_on: whether what was saved is continued, so that another version of allmodes may continue it differently.
    """
    name = os.fspath(path)
    with open(path, "rb") as file:
        try:
            header, arrays = _read(file)
        except Exception as error:  # whatever NumPy and zipfile raise on files that are damaged or not theirs
            raise ValueError(f"{name} is not a whole file saved by allmodes: {error}") from error
    _check_header(name, header, arrays, kind)
    try:
        value = unpack(json.loads(arrays["tree"].tobytes()), arrays)
    except Exception as error:  # the tree names or lacks something
        raise ValueError(f"{name} does not fit this version of allmodes: {error}") from error
    saved, here = header.get("allmodes"), versions()["allmodes"]
    if goes_on and saved != here:
        warnings.warn(
            f"the checkpoint {name} was saved by allmodes {saved}, and this is allmodes {here}: the search goes on, "
            "perhaps not as it would have there. For the same result, go on with the version that saved it.",
            RuntimeWarning,
            stacklevel=3,
        )
    return value


@functools.cache
def _installed() -> dict[str, str]:
    named = {name: importlib.metadata.version(name) for name in ("allmodes", "scipy")}
    return named | {"numpy": np.__version__, "python": platform.python_version()}


def versions() -> dict[str, str]:
    """Of allmodes, scipy, numpy and python."""
    return dict(_installed())


def _as_bytes(tree: Tree) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(tree, allow_nan=False, separators=(",", ":")).encode(), dtype=np.uint8)


def _read(file: Any) -> tuple[Tree, Arrays]:
    """The header and the arrays; a header alone if its format is newer than this one."""
    if file.read(len(_ZIP)) != _ZIP or not zipfile.is_zipfile(file):
        raise ValueError("found something else than an npz file, or a part of one.")
    with zipfile.ZipFile(file) as archive:
        entries = {info.filename.removesuffix(_NPY): info for info in archive.infolist()}
        _check_sizes(archive, os.fstat(file.fileno()).st_size)
        if "header" not in entries:
            raise ValueError(f"found no header, only {list(entries)}.")
        header = json.loads(_array(archive, entries.pop("header")).tobytes())
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise ValueError("found a header of another format.")
        names = () if _is_newer(header) else entries
        return header, {name: _array(archive, entries[name]) for name in names}


def _check_sizes(archive: zipfile.ZipFile, size: int) -> None:
    """Refuse a small file that would unpack to a large one, before anything is read from it."""
    for info in archive.infolist():
        if info.compress_type != zipfile.ZIP_STORED:
            raise ValueError(f"found the compressed entry {info.filename}; allmodes does not compress.")
    declared = sum(info.file_size for info in archive.infolist())
    if declared > size:
        raise ValueError(f"found entries that claim {declared} bytes in a file of {size}.")


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray[Any]:
    """The array in one entry; never one of objects, and never one larger than the entry."""
    content = io.BytesIO(archive.read(info))
    version = np.lib.format.read_magic(content)
    if version != (1, 0):  # what NumPy writes for all headers of less than 64 kB
        raise ValueError(f"found the entry {info.filename} in version {version} of the npy format.")
    shape, _, dtype = np.lib.format.read_array_header_1_0(content)
    if dtype.hasobject:
        raise ValueError(f"found pickled objects in {info.filename}; they are never read (allow_pickle=False).")
    wanted = math.prod(shape) * dtype.itemsize
    found = info.file_size - content.tell()
    if wanted != found:
        raise ValueError(f"found {found} bytes in {info.filename}, which claims {wanted}.")
    content.seek(0)
    return np.lib.format.read_array(content, allow_pickle=False)


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
    version, writer = header.get("state_version", _FIRST_STATE_VERSION), header.get("allmodes")
    if version != STATE_VERSION:
        raise ValueError(
            f"{name} was saved by allmodes {writer} with state version {version}; this allmodes "
            f"{versions()['allmodes']} reads version {STATE_VERSION}. Load it with the allmodes that saved it, or "
            "begin anew; what it has found, x and fun of every mode, can be passed as warm_start."
        )


def _checksum(header: Tree, arrays: Arrays) -> str:
    """SHA-256 of the header without its checksum and of every array with its name, dtype and shape."""
    digest = hashlib.sha256(_as_bytes(header).data)
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.name} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
