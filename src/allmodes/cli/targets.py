"""What is searched: a function that the user names, or a built-in problem. Nothing else is imported or executed."""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from allmodes.cli.errors import users_traceback
from allmodes.cli.exits import Usage
from allmodes.problems.named import NAMED, named

_KINDS = "FILE.py:FUNCTION, MODULE:FUNCTION, a settings file (run.toml) or a built-in problem (see: allmodes problems)"


@dataclass(frozen=True)
class Target:
    """What find_minima and find_maxima get of it.

    Attributes:
        text: its name, files with their whole path: what a run is resumed by.
        name: a short one, for directories.
        arguments: fun and, of a problem, jac, hess, bounds, vectorized and, if it wraps around, periodic.
        maximise: of a problem, whether its modes are maxima; None for a function.
    """

    text: str
    name: str
    arguments: dict[str, Any]
    maximise: bool | None = None


def is_function(text: str) -> bool:
    """Whether a target names a function, not a problem."""
    return ":" in text


def shown(text: str) -> str:
    """A target as it is shown: a file below this directory without the path to it."""
    here = f"{Path.cwd()}/"
    return text.removeprefix(here)


def check_name(text: str) -> str:
    """The target as it is kept, checked as far as possible without importing anything."""
    if not is_function(text):
        name = text.lower().replace("_", "-")
        if name in NAMED:
            return name
        raise Usage(f"there is no target {text!r}{_advice(text, name)} Wanted {_KINDS}.")
    place, function = text.rsplit(":", 1)
    if not place or not function.isidentifier():
        raise Usage(f"the target is {text!r}; wanted FILE.py:FUNCTION or MODULE:FUNCTION, such as model.py:energy.")
    if place.endswith(".py"):
        path = Path(place)
        if not path.is_file():
            what = "is a directory" if path.is_dir() else "does not exist"
            raise Usage(f"the target is {text}; the file {place} {what}.")
        return f"{path.resolve()}:{function}"
    if "/" in place or not all(part.isidentifier() for part in place.split(".")):
        raise Usage(f"the target is {text!r}; {place!r} is neither a FILE.py nor a MODULE.")
    return text


def _advice(text: str, name: str) -> str:
    path = Path(text)
    if path.suffix == ".py":
        functions = ", ".join(f"{text}:{found}" for found in _functions(path)) if path.is_file() else f"{text}:FUNCTION"
        return f". Name the function in the file, too: {functions or f'{text}:FUNCTION'}."
    close = get_close_matches(name, NAMED, 1)
    return f"; did you mean {close[0]}?" if close else "."


def _functions(path: Path) -> list[str]:
    """Names of the functions that a file defines, without executing it."""
    try:
        body = ast.parse(path.read_text(encoding="utf-8")).body
    except (OSError, SyntaxError, ValueError):
        return []
    return [node.name for node in body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]


def load(text: str, dimension: int | None = None) -> Target:
    """Import the function that a checked target names, or make the problem."""
    if is_function(text):
        place, function = text.rsplit(":", 1)
        name = Path(place).stem if place.endswith(".py") else place.rpartition(".")[2]
        return Target(text, f"{name}-{function}", {"fun": load_function(text)})
    try:
        problem = named(text, dimension)
    except (ValueError, ImportError) as error:
        raise Usage(str(error)) from None
    f = problem.objective
    arguments = {
        "fun": f.fun, "jac": f.jac, "hess": f.hess, "vectorized": f.vectorized, "bounds": problem.bounds.tolist(),
    }  # fmt: skip
    if problem.periodic:
        arguments["periodic"] = list(problem.periodic)
    return Target(text, text, arguments, maximise=True)


def load_function(text: str) -> Callable[..., Any]:
    """Import the function that MODULE:FUNCTION or FILE.py:FUNCTION names."""
    function = load_object(text)
    if not callable(function):
        place, name = text.rsplit(":", 1)
        raise Usage(f"{name!r} in {place} is of type {type(function).__name__}; a function was wanted.")
    return function


def load_object(text: str) -> Any:
    """Import what MODULE:NAME or FILE.py:NAME names."""
    place, name = text.rsplit(":", 1)
    module = _import(place)
    if not hasattr(module, name):
        public = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        close = get_close_matches(name, public, 1)
        meant = f"did you mean {close[0]}?" if close else f"it has {', '.join(public[:10]) or 'no functions'}."
        raise Usage(f"{place} has no {name!r}; {meant}")
    return getattr(module, name)


def _import(place: str) -> ModuleType:
    """A module by its name or by its file."""
    try:
        if place.endswith(".py"):
            return _import_file(Path(place).resolve())
        with _first(Path.cwd()):
            return importlib.import_module(place)
    except SyntaxError as error:
        raise Usage(f"{error.filename}, line {error.lineno}: {error.msg}. The target cannot be imported.") from None
    except ModuleNotFoundError as error:
        if error.name is not None and (place == error.name or place.startswith(f"{error.name}.")):
            advice = "Is it in this directory, or installed? Name a file with its ending: model.py:energy."
            raise Usage(f"there is no module {error.name!r}. {advice}") from None
        raise Usage(f"{place} imports {error.name!r}, which is not installed here.") from None
    except (Exception, SystemExit) as error:
        raise Usage(f"{place} cannot be imported; it raised\n{users_traceback(error)}") from None


@contextlib.contextmanager
def _first(directory: Path) -> Iterator[None]:
    """The directory first on the path while a target is imported, as Python itself has it, and last afterwards.

    It stays because functions may import when they are called and workers import the target; it goes last so that
    nothing in it is imported instead of a package that this program needs later.
    """
    path = str(directory)
    sys.path.insert(0, path)
    try:
        yield
    finally:
        sys.path.remove(path)
        if path not in sys.path:
            sys.path.append(path)


def _import_file(path: Path) -> ModuleType:
    """The module of a file, under its own name if that is found there: workers import it by its name."""
    known = sys.modules.get(path.stem)
    if known is not None and getattr(known, "__file__", None) == str(path):
        return known
    with _first(path.parent):
        is_taken = known is not None or not path.stem.isidentifier()
        module = _executed(f"target_{path.stem}" if is_taken else path.stem, path)
    if is_taken or _origin(path.stem) != str(path):
        del sys.modules[module.__name__]  # cannot be found by its name: functions are sent to workers by value
    return module


def _executed(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _origin(name: str) -> str | None:
    """The file that another process would import by this name."""
    spec = importlib.machinery.PathFinder.find_spec(name)
    return None if spec is None or spec.origin is None else str(Path(spec.origin).resolve())
