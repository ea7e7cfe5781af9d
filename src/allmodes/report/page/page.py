"""The report page: one HTML file that works without a server and without a network (extra [report])."""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from allmodes.hints import Constraints
from allmodes.modes.coverage import counted
from allmodes.objective import Objective
from allmodes.report import region
from allmodes.report.page import data, figures, text
from allmodes.report.page.table import number, table
from allmodes.result import Result
from allmodes.result.columns import weighed
from allmodes.result.fit_table import fit_table

_TEMPLATES = "templates"
_SCRIPTS = (
    "values.js", "plots.js", "modes.js", "course.js", "tree.js", "table.js", "choosing.js", "page.js",
)  # fmt: skip  # in the order in which they need each other
_WIDE = 79  # columns of the table of explanations
_AT_ONCE = 200  # rows of the table that are laid out before one scrolls
# What would end a script element, begin a comment in it or a line of JavaScript, as JSON may write it instead.
_ESCAPED = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def write_report(
    result: Result,
    path: str | os.PathLike[str],
    *,
    fun: Callable[..., Any] | Objective | None = None,
    title: str | None = None,
    constraints: Constraints | None = None,
) -> Path:
    """Write the report of a result as one HTML file, about 2 MB (the plots' code, packed), and return its path.

    Args:
        result: of find_minima or find_maxima.
        path: of the file; one that is there is replaced.
        fun: the function, as it was searched: draws its contours below the modes, for up to ten pairs of coordinates,
            as far as twenty seconds reach.
        title: at the top of the page.
        constraints: as in `find_minima`, for results that were loaded; others know theirs.
    """
    if constraints is not None:
        result = replace(result, constraints=region.known(result, constraints))
    target = Path(path)
    target.write_text(html(result, fun=fun, title=title), encoding="utf-8", newline="\n")
    return target


def html(result: Result, *, fun: Callable[..., Any] | Objective | None = None, title: str | None = None) -> str:
    """The page as text; arguments as for `write_report`."""
    plotly, script = _plotly(), "\n".join(map(_read, _SCRIPTS))
    drawn = data.of(result, fun)
    found = counted(len(result.modes), *text.noun(result))
    page = (
        _environment()
        .get_template("page.html")
        .render(
            title=title or f"{found} in {counted(len(result.x), 'dimension')}",
            style=_read("page.css"),
            script=script,
            policy=_policy(plotly, script),
            plotly=_packed(plotly),
            data=_as_json(drawn),
            figures=figures.of(result, drawn, fun is not None),
            result=result,
            text=text.of(result),
            table=table(result),
            at_once=_AT_ONCE,
            has_contours=bool(drawn["slices"]),
            number=number,
            is_roots=text.is_of_roots(result),
            is_weighed=weighed(result) and not text.is_of_roots(result),
            explanations="\n".join(fit_table(result, _WIDE)) if result.is_fit else "",
        )
    )
    return str(page.encode("utf-8", "backslashreplace").decode("utf-8"))  # half a surrogate pair has no UTF-8


def _as_json(content: Any) -> str:
    """Data that may stand in a script element."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")).translate(_ESCAPED)


def _policy(*scripts: str) -> str:
    """Nothing is loaded from anywhere, and no script runs but these."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; script-src {allowed}"


def _read(name: str) -> str:
    return (resources.files(__package__) / _TEMPLATES / name).read_text(encoding="utf-8")


def _plotly() -> str:
    """The code of plotly.js. The Python package ships one bundle, of all kinds of plots."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError("a report needs plotly: pip install 'allmodes[report]'.") from error
    return str(get_plotlyjs())


@functools.lru_cache(maxsize=1)
def _packed(code: str) -> str:
    """A third of its size, as letters that may stand in HTML."""
    return base64.b64encode(gzip.compress(code.encode(), mtime=0)).decode("ascii")


def _environment() -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise ImportError("a report needs jinja2: pip install 'allmodes[report]'.") from error
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(_read), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
