"""What has to reach every worker (the user's functions and their arguments): sent once to each, then called by name."""

from __future__ import annotations

import hashlib
import importlib
import os
import pickle
import sys
from collections.abc import Callable
from functools import cached_property
from typing import Any

from allmodes.objective.errors import text_of

_KEPT = 4  # parcels a worker keeps; one search needs one or two
_PICKLERS = ("cloudpickle", "joblib.externals.cloudpickle")  # those that can send any function

INSTALL = "pip install 'allmodes[parallel]', "
THREADS = "or pass workers=concurrent.futures.ThreadPoolExecutor(n)"


class MissingError(Exception):
    """A worker was asked for a parcel that has not reached it."""


class UnreadableError(Exception):
    """A parcel reached a worker that cannot open it."""


class Parcel:
    """Contents for workers; `light` is to be sent to those that have them, `heavy` to those that may not.

    Workers in this process (threads) get the contents as they are: nothing is pickled before it has to be.
    """

    def __init__(self, contents: Any) -> None:
        self.contents = contents
        self.light = Sent(self, carries=False)
        self.heavy = Sent(self, carries=True)

    @cached_property
    def data(self) -> bytes:
        """The contents, pickled."""
        dumps = pickler()
        try:
            data = dumps(self.contents)
        except Exception as error:
            advice = (INSTALL if dumps is pickle.dumps else "make it a plain function, ") + THREADS
            raise TypeError(
                f"fun, jac, hess or args cannot be sent to worker processes ({error}); {advice}."
            ) from error
        script = getattr(sys.modules["__main__"], "__file__", None) or ""
        if dumps is pickle.dumps and b"__main__" in data and not os.path.isfile(script):
            raise TypeError(
                f"functions of an interactive session cannot be sent to worker processes; {INSTALL}{THREADS}."
            )
        return data

    @cached_property
    def name(self) -> str:
        """The same for the same contents."""
        return hashlib.blake2b(self.data, digest_size=16).hexdigest()


class Sent:
    """A parcel on its way: pickled it is the parcel's name, and with `carries` its contents as well."""

    def __init__(self, parcel: Parcel, carries: bool) -> None:
        self.parcel, self.carries = parcel, carries

    @property
    def name(self) -> str:
        """The parcel's."""
        return self.parcel.name

    def opened(self) -> Any:
        """The contents."""
        return self.parcel.contents

    def data(self) -> bytes:
        """The contents, pickled."""
        return self.parcel.data

    def __reduce__(self) -> Any:
        return arrived, (self.name, self.parcel.data if self.carries else None)


class Arrived:
    """A parcel in a worker: opened when it is first used."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name, self._data = name, data
        self._contents: Any = None
        self._is_open = False

    def opened(self) -> Any:
        """The contents, or UnreadableError."""
        if not self._is_open:
            try:
                self._contents = pickle.loads(self._data)
            except Exception as error:
                raise UnreadableError(text_of(error)) from error
            self._is_open = True
        return self._contents

    def data(self) -> bytes:
        """The contents, pickled."""
        return self._data


class Absent:
    """A parcel that has not arrived."""

    def __init__(self, name: str) -> None:
        self.name = name

    def opened(self) -> Any:
        """MissingError."""
        raise MissingError(self.name)

    data = opened


_arrived: dict[str, Arrived] = {}


def arrived(name: str, data: bytes | None) -> Arrived | Absent:
    """What a parcel becomes in a worker."""
    found = _arrived.get(name)
    if found is None and data is not None:
        while len(_arrived) >= _KEPT:
            _arrived.pop(next(iter(_arrived)), None)
        found = _arrived[name] = Arrived(name, data)
    return found or Absent(name)


def pickler() -> Callable[[Any], bytes]:
    """The most capable pickling function installed: ideally one that takes lambdas and closures."""
    for name in _PICKLERS:
        try:
            return importlib.import_module(name).dumps
        except ImportError:
            continue
    return pickle.dumps
