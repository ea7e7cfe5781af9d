"""What the report page says in words and in its table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from allmodes.modes.coverage import counted, percent
from allmodes.report import canvas
from allmodes.report.page import rerun
from allmodes.report.page.table import number
from allmodes.result import Audit, Result
from allmodes.result.table import coverage_of
from allmodes.status import Status

_LEAVES_OPEN = 0.05  # a bound on the share of local searches that end in something new: above it more are advised
_LIKELY = 0.5  # new modes from as many evaluations again, likewise
_MANY_FAR = 0.05  # of the runs had not converged: from there on it is worth a word
_MOST_TEXT = 2000  # characters of an error text


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


def point(x: Any, most: int = 12, named: Mapping[int, Any] = MappingProxyType({})) -> str:
    """Coordinates between brackets, or the choices they stand for, with dots after so many."""
    shown = ", ".join(str(named[i]) if i in named else number(float(entry)) for i, entry in enumerate(x[:most]))
    return f"[{shown}{', …' if len(x) > most else ''}]"


def is_of_roots(result: Result) -> bool:
    """Whether roots were searched, found or not."""
    return result.is_roots or result.settings.get("task") == "roots"


def noun(result: Result) -> tuple[str, str]:
    """What was found, one and several."""
    if is_of_roots(result):
        return "root", "roots"
    if result.is_fit or result.settings.get("task") == "fit":
        return "explanation", "explanations"
    if result.audit is not None and not result.audit.is_checked:
        return "distinct place", "distinct places"
    return ("maximum", "maxima") if result.maximise else ("minimum", "minima")


def _facts(result: Result) -> list[tuple[str, str]]:
    best = sum(mode.is_global for mode in result.modes)
    derivatives = [counted(result.njev, "gradient"), counted(result.nhev, "Hessian")]
    counts = [counted(result.nfev, "evaluation"), *(text for text in derivatives if not text.startswith("0 "))]
    if is_of_roots(result):
        proved = sum(mode.root is not None and mode.root.certified for mode in result.modes)
        found = [("Roots", f"{len(result.modes)} ({proved} certified)" if result.modes else "none")]
    else:
        found = [
            ("Modes", f"{len(result.modes)} ({best} global)" if result.modes else "none"),
            ("Best value", number(_best_value(result))),
            ("Best point", point(result.x, 4, result.named(result.x))),
        ]
    if result.audit is not None:
        checks = f"{result.audit.checked} checked" if result.audit.is_checked else "not checked"
        found = [("Runs", f"{len(result.audit):,}"), *found, ("Places", f"{result.audit.places:,}, {checks}")]
    return [
        *found,
        ("Cost", ", ".join(counts)),
        ("Time", _duration(result.seconds)),
        ("Method", result.method),
    ]


def _best_value(result: Result) -> float:
    """That of the best mode without what is rounding."""
    if result.modes and result.fun == result.modes[0].fun:
        return float(canvas.heights(result)[0])
    return result.fun


def _duration(seconds: float) -> str:
    if seconds < 100.0:
        return f"{seconds:.2g} s"
    minutes = round(seconds / 60.0)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _completeness(result: Result) -> str:
    if not result.modes:
        return f"No {'root' if is_of_roots(result) else 'mode'} was found, so nothing can be said."
    said = coverage_of(result)
    return f"{said[0].upper()}{said[1:]}."


def _advice(result: Result) -> list[str]:
    """What to do next, from how the search ended and what was found."""
    said = [result.status.advice] if result.status.advice else []
    covered, kinds = result.coverage, [mode.kind for mode in result.modes]
    is_done = result.status in (Status.ENOUGH_MODES, Status.STOPPED)
    if result.audit is not None:
        said += _after_audit(result, result.audit)
        is_done = True
    is_open = covered.share_upper > _LEAVES_OPEN or covered.expected(result.nfev) > _LIKELY
    if result.modes and covered.searches and is_open and not is_done:
        is_own = result.status == Status.NOTHING_NEW and result.settings.get("maxfev") is None
        longer = "maxtime" if result.status == Status.TIME_SPENT else "maxfev"
        longer = "effort (1 is normal)" if is_own else longer
        said.append(f"To find more modes, or to be surer that there are none, search longer: a larger {longer}.")
    for kind, meaning in _KINDS.items():
        if kind in kinds and not (result.audit is not None and not result.audit.is_checked):
            said.append(f"{counted(kinds.count(kind), 'mode')} of kind {kind}: {meaning}")
    if result.nfail:
        share = percent(result.nfail / max(1, result.nfev))
        said.append(f"{counted(result.nfail, 'evaluation')} failed ({share}); see below where and why.")
    return said


def _after_audit(result: Result, audit: Audit) -> list[str]:
    """What to do about somebody's runs."""
    said = [] if audit.is_checked else ["Pass fun: a few evaluations for each place tell which of them are optima."]
    if result.coverage.share_upper > _LEAVES_OPEN or result.coverage.expected(len(audit)) > _LIKELY:
        said.append(
            "To find more, make more runs, or search with find_minima, which stops those that find nothing new."
        )
    if audit.count("unconverged") > _MANY_FAR * len(audit):
        said.append("Many runs had not converged: give them smaller tolerances or more iterations.")
    return said


_KINDS = {
    "boundary": "held by a bound, or where the function ends. Wider bounds may let it move to a better place.",
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
