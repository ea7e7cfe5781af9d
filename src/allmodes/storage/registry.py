"""Which classes can be stored, and under which keys files know them.

A key is a stable name: by default the module below `allmodes` and the qualified name of the class. A class that is
moved or renamed keeps its old keys in `formerly`, so that files written before can still be read. Classes are looked up
by key among those marked `@stored`, never imported.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Any, TypeVar, overload

from allmodes.status import Status

_PACKAGE = "allmodes."
_Class = TypeVar("_Class", bound=type)

_classes: dict[str, type] = {}  # by key, former keys included
_keys: dict[type, str] = {}


@overload
def stored(cls: _Class, /) -> _Class: ...
@overload
def stored(*, key: str = "", formerly: tuple[str, ...] = ()) -> Callable[[_Class], _Class]: ...
def stored(cls: _Class | None = None, /, *, key: str = "", formerly: tuple[str, ...] = ()) -> Any:
    """Class decorator: a dataclass, NamedTuple or enum whose instances can be saved.

    A dataclass is saved by its fields and restored without calling its constructor. Fields with
    `metadata={"stored": False}` are left out and get their defaults back.

    Args:
        key: under which files know the class; by default its module below `allmodes` and its qualified name.
        formerly: keys that it had before it was moved or renamed; files that have them can still be read.
    """
    if cls is None:
        return lambda decorated: _register(decorated, key, formerly)
    return _register(cls, key, formerly)


def _register(cls: _Class, key: str, formerly: tuple[str, ...]) -> _Class:
    if not (dataclasses.is_dataclass(cls) or _is_named_tuple(cls) or issubclass(cls, enum.Enum)):
        raise TypeError(f"{cls.__name__} is neither a dataclass, a NamedTuple nor an enum; nothing else can be stored.")
    for field in dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ():
        if not is_saved(field) and not _has_default(field):
            raise TypeError(f"{cls.__name__}.{field.name} is not stored and has no default; give it one.")
    key = key or _keys.get(cls) or f"{cls.__module__}.{cls.__qualname__}".removeprefix(_PACKAGE)
    if _keys.get(cls, key) != key:
        raise ValueError(f"{_name(cls)} is stored as {_keys[cls]!r} already; a class has one key.")
    for each in (key, *formerly):
        other = _classes.get(each, cls)
        if other is not cls:
            raise ValueError(
                f"two stored classes have the key {each!r}: {_name(other)} and {_name(cls)}. Give one of them another "
                "with @stored(key=...)."
            )
    _classes.update(dict.fromkeys((key, *formerly), cls))
    _keys[cls] = key
    return cls


def key_of(cls: type) -> str | None:
    """The key of a class; None if it was not marked `@stored`."""
    return _keys.get(cls)


def class_of(key: str) -> type:
    """The class with this key, or with this former key."""
    if key not in _classes:
        raise ValueError(f"the class {key} is not known here; another version of allmodes wrote this.")
    return _classes[key]


def is_saved(field: dataclasses.Field[Any]) -> bool:
    """Whether a field of a dataclass is part of what is stored."""
    return bool(field.metadata.get("stored", True))


def _has_default(field: dataclasses.Field[Any]) -> bool:
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def _is_named_tuple(cls: type) -> bool:
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


stored(Status)
