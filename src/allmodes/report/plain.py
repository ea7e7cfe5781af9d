"""A result as plain data: numbers, texts, lists and dicts, for JSON and other programs."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from allmodes.modes.coverage import Coverage
from allmodes.result import Mode, Result

_DERIVED = {
    "fit": ("chi2", "reduced_chi2", "dof", "standard_errors", "correlations", "aic", "bic"),
    "root": ("residual_norm", "radius"),
}  # properties of the parts of a mode
FORMAT = 1  # of the keys below; grows when one changes its meaning


def as_dict(result: Result) -> dict[str, Any]:
    """The result for other programs. Numbers that are not finite are None.

    Keys:
        format: 1.
        success, status, message: how the search ended; status is the name of a `Status`.
        x, fun: of the best mode, or of the best point evaluated.
        modes: best first, each a dict with x, fun, kind, is_global, weight, flatness, gradient_norm, eigenvalues,
            hessian, curvature_from, hits, found_at, standard_error, active, choices (by coordinate), multiplicity,
            violation, active_constraints and multipliers; fit (of find_fits and curve_fit) and root (of find_roots)
            are dicts with what `Fit` and `Root` have, None elsewhere.
        nfev, njev, nhev, nit, nfail: counts.
        seconds: that the search took.
        coverage: missing_modes and missing_range (how many modes were not found, and between which numbers, with
            probability level), share and share_upper (of local searches from new places that would end in one, and a
            bound on it), and what these follow from: counts (of such searches that ended in each mode), searches (in
            any), lost (in none), nfev and cost (evaluations so far, and for each of them).
        temperature: of the weights.
        maximise, method, names, bounds: what was asked for; a bound that is None is open.
        symmetries: matrices that change no value.
        failures: a list of point, kind and text.
        history: lists nfev, best and modes.
        settings, versions: to run it again.
        audit: of `allmodes.audit` labels, states, distances and values of all ends, and what else `Audit` has; None
            elsewhere.
    """
    return {
        "format": FORMAT,
        "success": bool(result.success),
        "status": result.status.name,
        "message": result.message,
        "x": plain(result.x),
        "fun": plain(result.fun),
        "modes": [_mode(mode) for mode in result.modes],
        **{name: int(getattr(result, name)) for name in ("nfev", "njev", "nhev", "nit", "nfail")},
        "seconds": plain(result.seconds),
        "coverage": _coverage(result.coverage),
        "temperature": plain(result.temperature),
        "maximise": result.maximise,
        "method": result.method,
        "names": list(result.names),
        "bounds": plain(result.bounds),
        "symmetries": plain(result.symmetries),
        "failures": [_failure(failure) for failure in result.failures],
        "history": {name: plain(getattr(result.history, name)) for name in ("nfev", "best", "modes")},
        "settings": plain(result.settings),
        "versions": plain(result.versions),
        "audit": None if result.audit is None else plain(_fields(result.audit) | {"states": result.audit.states}),
    }


def write_json(result: Result, path: str | os.PathLike[str]) -> None:
    """Write `as_dict` to a file, whole or not at all."""
    path = Path(path)
    half = path.with_name(f".{path.name}.half")
    try:
        half.write_text(as_json(result) + "\n", encoding="utf-8")
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def as_json(result: Result) -> str:
    """`as_dict` as text that every JSON reader takes: ASCII, no NaN."""
    return json.dumps(as_dict(result), indent=1, allow_nan=False)


def _coverage(coverage: Coverage) -> dict[str, Any]:
    derived = ("missing_modes", "missing_range", "share", "share_upper")
    return plain({name: getattr(coverage, name) for name in derived} | _fields(coverage))


def _mode(mode: Mode) -> dict[str, Any]:
    parts = {name: _part(getattr(mode, name), also) for name, also in _DERIVED.items()}
    known = {name: plain(parts.get(name, value)) for name, value in _fields(mode).items() if name != "named"}
    return known | {"choices": plain(mode.choices)}


def _part(part: Any, derived: tuple[str, ...]) -> dict[str, Any] | None:
    """What is known of a mode of a fit or of equations, with what follows from it."""
    return None if part is None else _fields(part) | {name: getattr(part, name) for name in derived}


def _failure(failure: Any) -> dict[str, Any]:
    point, kind, text = tuple(failure)[:3]
    return {"point": plain(point), "kind": str(kind), "text": str(text)}


def _fields(thing: Any) -> dict[str, Any]:
    """Names and values of a dataclass or a named tuple."""
    names = getattr(thing, "_fields", None) or tuple(getattr(thing, "__dataclass_fields__", ()))
    return {name: getattr(thing, name) for name in names}


def plain(value: Any) -> Any:
    """Anything as plain data; what is unknown becomes text.

    >>> plain({"x": np.array([1.0, np.nan]), 2: (True, np.int64(3))})
    {'x': [1.0, None], '2': [True, 3]}
    """
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, bool | int | str) or value is None:
        return value if not isinstance(value, int) or isinstance(value, bool) else int(value)
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(entry) for entry in value]
    return str(value)
