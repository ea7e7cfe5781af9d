"""What the report page says in words and in its table."""

from __future__ import annotations

import math
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from allmodes.modes.coverage import counted, percent
from allmodes.report.page import rerun
from allmodes.report.page.data import MOST_MODES
from allmodes.result import Mode, Result
from allmodes.status import Status

MOST_COORDINATES = 40  # columns of the table; a wider one cannot be read
_WIDE = 13  # columns: more do not fit a printed page, so that modes are printed as paragraphs
_LEAVES_OPEN = 0.05  # a bound on the share of local searches that end in something new: above it more are advised
_LIKELY = 0.5  # new modes from as many evaluations again, likewise
_LONGEST_NAME = 40  # characters of a heading
_MOST_TEXT = 2000  # characters of an error text


class Column(NamedTuple):
    """Of the table: its heading, what it means, and its style: "text", "coordinate" or none."""

    heading: str
    meaning: str
    style: str = ""


class Cell(NamedTuple):
    """What is shown, what it is sorted by, and the whole number if less is shown."""

    shown: str
    key: str
    whole: str = ""


class Table(NamedTuple):
    """Modes, one row each; the remark says what is left out."""

    columns: list[Column]
    rows: list[list[Cell]]
    is_wide: bool
    remark: str


class Failure(NamedTuple):
    """An evaluation that failed."""

    point: str
    kind: str
    text: str


class Text(NamedTuple):
    """Everything that is said outside the table and the plots."""

    outcome: str
    completeness: str
    advice: list[str]
    facts: list[tuple[str, str]]
    settings: list[tuple[str, str]]
    versions: list[tuple[str, str]]
    command: str
    snippet: str
    remarks: list[str]
    failures: list[Failure]


def of(result: Result) -> Text:
    """The page's words."""
    skipped = ("budget", "seed", "order", "command")  # said by maxfev, rng, jac and hess, and above
    settings = {"method": result.method, **result.settings}
    settings["maxfev"] = settings.get("budget", settings.get("maxfev"))
    settings["rng"] = settings.get("seed")
    if "function" in settings:
        settings["function"] = PurePath(str(settings["function"])).name  # where it was is nobody's business
    return Text(
        outcome=result.message.removesuffix(result.status.advice).strip(),
        completeness=_completeness(result),
        advice=_advice(result),
        facts=_facts(result),
        settings=[(name, _said(value)) for name, value in settings.items() if name not in skipped],
        versions=[(str(name), str(version)) for name, version in result.versions.items()],
        command=str(result.settings.get("command", "")),
        snippet=rerun.snippet(result),
        remarks=rerun.remarks(result),
        failures=[_failure(*tuple(failure)[:3]) for failure in result.failures],
    )


def number(value: float, digits: int = 6) -> str:
    """As a table shows it, with a real minus sign.

    >>> number(-0.25), number(float("inf")), number(1234567.0)
    ('\u22120.25', '\u221e', '1.23457e+06')
    """
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.{digits}g}".replace("-", "−")


def point(x: Any, most: int = 12) -> str:
    """Coordinates between brackets, with dots after so many."""
    shown = ", ".join(number(float(entry)) for entry in x[:most])
    return f"[{shown}{', …' if len(x) > most else ''}]"


def table(result: Result) -> Table:
    """The modes, best first."""
    modes, names = result.modes[:MOST_MODES], result.coordinate_names[:MOST_COORDINATES]
    has_errors = any(mode.standard_error is not None for mode in modes)
    has_gradients = any(math.isfinite(mode.gradient_norm) for mode in modes)  # without derivatives it is not measured
    columns = [Column("rank", "Best first"), Column("value", "Value of the function")]
    columns += [Column("error", "Standard error of the value")] if has_errors else []
    columns += [
        Column("kind", "Minimum or maximum inside, at a bound, flat, or not verified", "text"),
        Column("weight", f"Share at temperature {number(result.temperature, 3)}"),
        Column("flatness", "The larger, the wider"),
        *([Column("gradient", "Length of the gradient")] if has_gradients else []),
        Column("hits", "Local searches that ended here"),
        Column("found at", "Evaluations made by then"),
        *(Column(_cut(name), f"Coordinate {name}", "coordinate") for name in names),
    ]
    rows = [_row(rank, mode, has_errors, has_gradients)[: len(columns)] for rank, mode in enumerate(modes, 1)]
    return Table(columns, rows, len(columns) > _WIDE, _left_out(result))


def _row(rank: int, mode: Mode, has_errors: bool, has_gradients: bool) -> list[Cell]:
    kind = f"{mode.kind}{', global' if mode.is_global else ''}"
    error = math.nan if mode.standard_error is None else mode.standard_error
    return [
        Cell(str(rank), str(rank)),
        _numeric(mode.fun),
        *([_numeric(error, 2)] if has_errors else []),
        Cell(kind, kind),
        _numeric(mode.weight, 4),
        _numeric(mode.flatness, 4),
        *([_numeric(mode.gradient_norm, 2)] if has_gradients else []),
        Cell(str(mode.hits), str(mode.hits)),
        Cell(str(mode.found_at), str(mode.found_at)),
        *(_numeric(float(entry)) for entry in mode.x),
    ]


def _cut(name: str) -> str:
    """A name as long as a heading may be; the whole of it is shown when one points at it."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _numeric(value: float, digits: int = 6) -> Cell:
    value = float(value)
    return Cell(number(value, digits), repr(value), repr(value))


def _left_out(result: Result) -> str:
    said = []
    if len(result.modes) > MOST_MODES:
        said.append(f"The best {MOST_MODES} of {len(result.modes)} modes are shown.")
    if len(result.x) > MOST_COORDINATES:
        said.append(f"The first {MOST_COORDINATES} of {len(result.x)} coordinates are shown.")
    return " ".join([*said, "result.modes holds all."]) if said else ""


def _facts(result: Result) -> list[tuple[str, str]]:
    best = sum(mode.is_global for mode in result.modes)
    derivatives = [counted(result.njev, "gradient"), counted(result.nhev, "Hessian")]
    counts = [counted(result.nfev, "evaluation"), *(text for text in derivatives if not text.startswith("0 "))]
    return [
        ("Modes", f"{len(result.modes)} ({best} global)" if result.modes else "none"),
        ("Best value", number(result.fun)),
        ("Best point", point(result.x, 4)),
        ("Cost", ", ".join(counts)),
        ("Time", _duration(result.seconds)),
        ("Method", result.method),
    ]


def _duration(seconds: float) -> str:
    if seconds < 100.0:
        return f"{seconds:.2g} s"
    minutes = round(seconds / 60.0)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _completeness(result: Result) -> str:
    if not result.modes:
        return "No mode was found, so nothing can be said."
    said = str(result.coverage)
    return f"{said[0].upper()}{said[1:]}."


def _advice(result: Result) -> list[str]:
    """What to do next, from how the search ended and what was found."""
    said = [result.status.advice] if result.status.advice else []
    covered, kinds = result.coverage, [mode.kind for mode in result.modes]
    is_done = result.status in (Status.ENOUGH_MODES, Status.STOPPED)
    is_open = covered.share_upper > _LEAVES_OPEN or covered.expected(result.nfev) > _LIKELY
    if result.modes and covered.searches and is_open and not is_done:
        is_own = result.status == Status.NOTHING_NEW and result.settings.get("maxfev") is None
        longer = "maxtime" if result.status == Status.TIME_SPENT else "maxfev"
        longer = "effort (1 is normal)" if is_own else longer
        said.append(f"To find more modes, or to be surer that there are none, search longer: a larger {longer}.")
    for kind, meaning in _KINDS.items():
        if kind in kinds:
            said.append(f"{counted(kinds.count(kind), 'mode')} of kind {kind}: {meaning}")
    if result.nfail:
        share = percent(result.nfail / max(1, result.nfev))
        said.append(f"{counted(result.nfail, 'evaluation')} failed ({share}); see below where and why.")
    return said


_KINDS = {
    "boundary": "held by a bound. Wider bounds may let it move to a better place.",
    "constrained": "held by a constraint. Its multiplier says what moving the constraint would gain.",
    "flat": "level in some direction. Points along that direction are as good.",
    "unverified": "its derivatives could not confirm it. Look at the function there before relying on it.",
}


def _failure(where: Any, kind: Any, text: Any) -> Failure:
    said = str(text)
    cut = said if len(said) <= _MOST_TEXT else f"{said[:_MOST_TEXT]} …"
    return Failure(point(np.atleast_1d(np.asarray(where, dtype=np.float64))), str(kind), cut)


def _said(value: Any) -> str:
    """A setting in words."""
    if value is None or value in ([], {}):
        return "not given"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else repr(value)
