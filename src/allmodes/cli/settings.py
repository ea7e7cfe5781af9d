"""Every setting of a search once: as an option, as a key of a TOML file, and as an argument of find_minima."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import click

from allmodes.cli.bounds import Bounds
from allmodes.cli.kinds import (
    Derivative,
    Kind,
    Listed,
    Logs,
    Noise,
    Objects,
    Periodic,
    Points,
    Real,
    Symmetry,
    Text,
    Whole,
    Wholes,
    Word,
    Yes,
    a_name,
)

TASKS = ("find", "fit", "roots")  # commands that search
_FIND, _FIT, _NOT_ROOTS = ("find",), ("fit",), ("find", "fit")
METHODS = ("auto", "local", "black-box", "anneal", "surrogate", "multistart")
LOSSES = ("linear", "soft_l1", "huber", "cauchy", "arctan")
_DEFAULT = re.compile(r" \[default.*?\]")
_TARGET = Text("FILE.py:FUNCTION, MODULE:FUNCTION or the name of a built-in problem", "TARGET")


@dataclass(frozen=True)
class Setting:
    """One setting.

    Attributes:
        key: in a TOML file; the option is the same with hyphens.
        kind: of its values.
        help: one line.
        argument: of find_minima that gets the value; empty if it is used otherwise.
        repeats: whether the option can be given several times, for more entries of one list.
        goes_on: whether a search that is resumed may get another value.
        also: another spelling of the key.
        former: an earlier one, or Python's; it is understood, and not shown.
        named: what the option is called, if not as the key: files have one namespace for what options and arguments of
            a command are.
        tasks: the commands that have it as an option.
    """

    key: str
    kind: Kind
    help: str
    argument: str = ""
    repeats: bool = False
    goes_on: bool = False
    also: str = ""
    former: str = ""
    named: str = ""
    tasks: tuple[str, ...] = TASKS

    @property
    def option(self) -> str:
        return "--" + (self.named or self.key).replace("_", "-")


SETTINGS = (
    Setting("bounds", Bounds(), "Where to look, as in -6:6,0:1; a side left out is open.", "bounds", repeats=True),
    Setting("dimension", Whole(1), "Number of coordinates, where --bounds has one pair for all."),
    Setting("maximise", Yes(), "Find maxima instead of minima.", also="maximize", tasks=_FIND),
    Setting("modes", Word(("all", "global")), "All modes [default], or the global ones.", "target", tasks=_NOT_ROOTS,
            named="target"),
    Setting("method", Word(METHODS, {"launch": "local"}), "How to search. [default: auto]", "method"),
    Setting("n_modes", Whole(1), "Stop when this many modes are found.", "n_modes", goes_on=True),
    Setting("maxfev", Whole(1), "Most evaluations. [default: 10,000 (d + 1)]", "maxfev", goes_on=True,
            former="max_evaluations"),
    Setting("maxiter", Whole(1), "Most rounds of evaluations.", "maxiter", goes_on=True, former="max_rounds"),
    Setting("maxtime", Real("a number of seconds above 0"), "Most seconds.", "maxtime", goes_on=True,
            former="max_time"),
    Setting("effort", Real("a number above 0"), "How far to look ahead for missing modes. [default: 1]", "effort"),
    Setting("patience", Whole(1), "Local searches without a new mode before the end, at least."),
    Setting("rng", Whole(0), "Seed of the random numbers; drawn and shown if left out.", "rng", former="seed"),
    Setting("jac", Derivative(), "Gradient: jax, torch, autograd, 2-point, true, FILE.py:F.", "jac"),
    Setting("hess", Derivative(), "Hessian, likewise.", "hess", tasks=_FIND),
    Setting("vectorized", Yes(), "The function takes points (N, d) at once.", "vectorized"),
    Setting("noise", Noise(), "The function is noisy: its standard deviation, or true.", "noise", tasks=_NOT_ROOTS),
    Setting("periodic", Periodic(), "Coordinates that wrap around, from 0, or all.", "periodic"),
    Setting("names", Listed("names separated by commas, one for each coordinate", a_name), "Names of the coordinates.",
            "names"),
    Setting("log", Logs(), "Coordinates to search in logarithms, by name or number, or all.", "scale",
            tasks=_NOT_ROOTS),
    Setting("integer", Wholes(), "Coordinates that are whole numbers, by name or number, or all.", tasks=_FIND,
            former="integrality"),
    Setting("constraint", Objects(), "Of SciPy, a dict, or a function c(x) >= 0; repeatable.", repeats=True,
            tasks=_FIND, former="constraints"),
    Setting("symmetry", Symmetry(), "Coordinates that may be exchanged or change sign.", "symmetry", tasks=_NOT_ROOTS),
    Setting("x0", Points(), "A point to start from first; repeat it for several.", "x0", repeats=True),
    Setting("spread", Real(), "How far around x0 to look, where there are no bounds.", "spread", tasks=_NOT_ROOTS),
    Setting("starts", Text("a file with a draw of a prior in each line", "FILE"), "Draws to begin at: where to look.",
            "starts", tasks=_NOT_ROOTS),
    Setting("within", Real(), "List modes at most so much worse than the best.", "within", tasks=_NOT_ROOTS),
    Setting("min_distance", Real(), "List modes at least so far apart, as a share of the bounds.", "min_distance",
            tasks=_NOT_ROOTS),
    Setting("xtol", Real(), "Accuracy of positions, as a share of the bounds.", "xtol"),
    Setting("temperature", Real(), "Temperature of the weights of modes.", tasks=_FIND),
    Setting("sigma", Real(), "Error of the data, one for all, if DATA have no third column.", "sigma", tasks=_FIT),
    Setting("absolute_sigma", Yes(), "Errors are in units of the data, not relative.", "absolute_sigma", tasks=_FIT),
    Setting("loss", Word(LOSSES), "How residuals count. [default: linear]", "loss", tasks=_FIT),
    Setting("f_scale", Real(), "Residuals above it are outliers to the loss. [default: 1]", "f_scale", tasks=_FIT),
    Setting("data", Text("a file with columns x, y and perhaps the error of y", "FILE"), "Data of a curve.",
            tasks=_FIT),
    Setting("workers", Whole(1, (-1,), "a number of processes, or -1 for one per core"), "Processes; -1: one per core.",
            "workers", goes_on=True),
    Setting("width", Whole(1), "Local searches in flight, at least: twice the workers."),
    Setting("order", Word(("fixed", "completion")), "Told in order [default], or as they come: not reproducible."),
    Setting("on_error", Word(("raise", "nan")), "Stop when the function fails [default], or go on.", "on_error",
            goes_on=True),
    Setting("timeout", Real("a number of seconds above 0"), "Seconds for one evaluation (with workers).", "timeout",
            goes_on=True),
    Setting("retries", Whole(0), "Retries of a point whose worker died. [default: 1]", "retries", goes_on=True),
    Setting("checkpoint_every", Real("a number of seconds above 0"), "Seconds between two checkpoints. [default: 60]",
            goes_on=True),
    Setting("out", Text("a directory", "DIR"), "Directory of the result. [default: allmodes-NAME]"),
    Setting("report", Yes(), "Write report.html, too.", goes_on=True),
)  # fmt: skip

TARGET = Setting("target", _TARGET, "What to search.", former="fun")
TASK = Setting("task", Word(TASKS), "Optima, fits or roots.")
BY_KEY = {setting.key: setting for setting in (TARGET, TASK, *SETTINGS)}
SPELLINGS = {
    spelling: setting.key for setting in BY_KEY.values() for spelling in (setting.also, setting.former) if spelling
}
# Options as they were called, or as arguments are called in Python.
ALIASES = {f"--{each.former.replace('_', '-')}": each.option for each in SETTINGS if each.former} | {
    "--modes": "--target",
}


def options(settings: tuple[Setting, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options of a command, in this order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for setting in reversed(settings):
            command = _option(setting)(command)
        return command

    return add


def of_task(task: str) -> tuple[Setting, ...]:
    """The settings that a command has as options; data are an argument of its own."""
    return tuple(setting for setting in SETTINGS if task in setting.tasks and setting.key != "data")


def as_before(setting: Setting) -> Setting:
    """The setting as an option for resuming a search: by default its value is kept."""
    without = _DEFAULT.sub("", setting.help)
    return setting if without == setting.help else replace(setting, help=f"{without} [default: as before]")


def _option(setting: Setting) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    if isinstance(setting.kind, Yes):
        text = f"{setting.option}/--no-{setting.option[2:]}" if setting.goes_on else setting.option
        names = (text, f"--{setting.also}") if setting.also else (text,)
        return click.option(*names, setting.key, is_flag=True, default=None, help=setting.help)
    return click.option(
        setting.option, setting.key, type=setting.kind, metavar=setting.kind.name, multiple=setting.repeats,
        help=setting.help,
    )  # fmt: skip


def given(options: dict[str, Any]) -> dict[str, Any]:
    """The settings among the options of a command that the user has given."""
    found = {key: value for key, value in options.items() if key in BY_KEY and value not in (None, ())}
    return {
        key: [entry for part in value for entry in part] if BY_KEY[key].repeats else value
        for key, value in found.items()
    }
