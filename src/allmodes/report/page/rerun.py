"""The call that makes a result again, as Python text, and what it cannot say."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from allmodes.finding import find_minima
from allmodes.result import Result
from allmodes.search.methods import METHODS

_OF_A_PACKAGE = ("jax", "torch", "autograd", "2-point")  # derivatives that are asked for by a word
_AS_THEY_ARE = ("target", "n_modes", "maxfev", "maxiter", "maxtime", "effort", "xtol", "noise", "polish", "vectorized")
_TASKS = {
    "fit": ("find_fits", "residuals,  # the function"),
    "roots": ("find_roots", "F,  # the function"),
    "audit": ("audit", "ends, values,  # of the runs; with fun=fun for checks"),
}  # calls that are not of find_minima and find_maxima
_OF_FITS = {"loss": "linear", "f_scale": 1.0}  # and their defaults
_WIDTH = 88  # of a line, on a page that prints on A4


def snippet(result: Result) -> str:
    """A call of the function that made it, with all that differs from the defaults."""
    name = "find_maxima" if result.maximise else "find_minima"
    name, what = _TASKS.get(result.settings.get("task", ""), (name, "fun,  # the function"))
    arguments = "".join(f"    {line},\n" for line in _arguments(result))
    return f"import allmodes\n\nresult = allmodes.{name}(\n    {what}\n{arguments})\nprint(result)\n"


def remarks(result: Result) -> list[str]:
    """What the call leaves open."""
    settings = result.settings
    said = []
    if settings.get("seed") is None:
        said.append("No whole number was given as seed (rng): another run draws other random numbers.")
    if _is_assembly(result):
        said.append(f"The method was an assembly of parts called {result.method}: pass the same one as method.")
    if isinstance(settings.get("x0"), str):
        said.append(f"x0 was {settings['x0']}, too many to be written here: pass them again.")
    if isinstance(settings.get("starts"), str):
        said.append(f"starts was {settings['starts']}: pass the same.")
    if settings.get("warm_start"):
        said.append(f"Values at {settings['warm_start']} points were known (warm_start): pass them again.")
    if settings.get("constraints"):
        said.append("It was searched under constraints, which are functions: pass the same ones.")
    if settings.get("task") == "fit":
        said.append("Errors of the data (sigma) are not kept here: pass the same ones.")
    if settings.get("workers", 1) != 1:
        said.append(f"workers was {settings['workers']}; it changes the time, not the result.")
    return said


def _is_assembly(result: Result) -> bool:
    return result.audit is None and result.settings.get("method", result.method) not in METHODS


def _arguments(result: Result) -> list[str]:
    """name=value, one for each line."""
    settings, lines = result.settings, []
    if result.bounds is not None:
        choices = settings.get("choices") or {}
        sides = [_side(*pair) for pair in result.bounds.tolist()]
        lines.append(_bounds([ascii(choices[str(i)]) if str(i) in choices else side for i, side in enumerate(sides)]))
    if settings.get("integrality"):
        lines.append(f"integrality={[int(i in settings['integrality']) for i in range(len(result.x))]!r}")
    lines += [f"{name}={settings[name]!r}" for name in ("x0", "starts") if isinstance(settings.get(name), list)]
    lines += [f"{name}={_derivative(settings[name])}" for name in ("jac", "hess") if settings.get(name) is not None]
    if settings.get("task") == "audit" and result.maximise:
        lines.append("maximise=True")
    if not _is_assembly(result) and settings.get("method", "auto") not in ("auto", "audit"):
        lines.append(f"method={settings['method']!r}")
    defaults = inspect.signature(find_minima).parameters
    lines += [
        f"{name}={settings[name]!r}"
        for name in _AS_THEY_ARE
        if name in settings and settings[name] != defaults[name].default
    ]
    if settings.get("periodic"):
        lines.append(f"periodic={settings['periodic']!r}")
    lines += [
        f"{name}={settings[name]!r}"
        for name in ("scale", "spread", "within", "min_distance")
        if settings.get(name) is not None
    ]
    if settings.get("symmetry") is not None:
        lines.append(f"symmetry={_symmetry(settings['symmetry'])}")
    if settings.get("constraints"):
        lines.append("constraints=constraints")
    lines += [f"{name}={settings[name]!r}" for name, usual in _OF_FITS.items() if settings.get(name, usual) != usual]
    if settings.get("on_error", "raise") != "raise":
        lines.append(f"on_error={settings['on_error']!r}")
    if settings.get("options"):
        lines.append(f"options={settings['options']!r}")
    if result.names and result.names != tuple(f"x{i}" for i in range(len(result.x))):
        lines.append(_in_lines("names", [ascii(name) for name in result.names]))
    return [*lines, f"rng={settings.get('seed')!r}"]


def _symmetry(said: Any) -> str:
    """A function by its name, anything else as it is."""
    return said if isinstance(said, str) and said.isidentifier() else repr(said)


def _bounds(sides: list[str]) -> str:
    """Of all coordinates; in short if they are the same."""
    if len(sides) > 2 and len(set(sides)) == 1:
        return f"bounds=[{sides[0]}] * {len(sides)}"
    return _in_lines("bounds", sides)


def _side(low: float, high: float) -> str:
    """Bounds of one coordinate; None where it is open."""
    return f"({', '.join(repr(bound) if np.isfinite(bound) else 'None' for bound in (low, high))})"


def _derivative(value: Any) -> str:
    """Of jac or hess: a word as a word, a function by its name."""
    if isinstance(value, bool) or value in _OF_A_PACKAGE:
        return repr(value)
    return f"{value}" if str(value).isidentifier() else f"...  # was {value!a}"


def _in_lines(name: str, entries: list[str]) -> str:
    """A list on one line if it fits, otherwise with an entry on each."""
    line = f"{name}=[{', '.join(entries)}]"
    if len(line) <= _WIDTH:
        return line
    return f"{name}=[\n" + "".join(f"        {entry},\n" for entry in entries) + "    ]"
