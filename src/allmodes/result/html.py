"""A result as a notebook shows it: what was found, a table of modes, two small pictures, what may be missing."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from allmodes.modes.coverage import counted
from allmodes.result.columns import LEFT, Column, columns_of, hidden_text, weighed
from allmodes.result.fit_table import with_error
from allmodes.result.mode import point_text, share_text
from allmodes.result.sketch import sketches_of
from allmodes.result.table import first_failure, legend_of, one_of, reasons_of
from allmodes.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from allmodes.result.mode import Mode
    from allmodes.result.result import Result

_SHOWN = 20  # modes
_SHOWN_COORDINATES = 12
_CELL = "padding:0.15em 0.6em;text-align:{};white-space:nowrap;border:0;background:none;color:inherit"
_HEAD = _CELL + ";font-weight:600;border-bottom:1px solid currentColor"
_LINE = "margin:0.3em 0;max-width:60em"


def html_of(result: Result) -> str:
    """HTML without scripts or style sheets, in the colours of the page that it is on."""
    parts = [f"<strong>{_said(_found(result))}</strong> {_said(_how(result))}"]
    if result.modes:
        parts += [_table(result), *map(_said, _legend(result)), sketches_of(result)]
        parts.append(f"<strong>What may be missing:</strong> {_said(str(result.coverage))}.")
    elif math.isfinite(result.fun):
        parts.append(_said(f"best point {point_text(result.x, result.named(result.x))}, value {result.fun:.6g}"))
    parts.append(f'<span style="opacity:0.75">{_said(f"{result.status.name}: {result.message}")}</span>')
    if result.nfail:
        parts.append(_said(f"{counted(result.nfail, 'evaluation')} failed{first_failure(result.failures)}"))
    lines = "".join(f'<div style="{_LINE}">{part}</div>' for part in parts if part)
    return f'<div class="allmodes-result" style="overflow-x:auto;color:inherit">{lines}</div>'


def _said(text: str) -> str:
    return escape(visible(text))


def _found(result: Result) -> str:
    """How many of what."""
    count = len(result.modes)
    if result.is_roots:
        proved = sum(mode.root is not None and mode.root.certified for mode in result.modes)
        return f"{counted(count, 'root')} ({proved} certified)"
    found = counted(count, "explanation" if result.is_fit else one_of(result))
    if not weighed(result):
        return found
    best = sum(mode.is_global for mode in result.modes)
    return f"{found} ({best} global)" if count > 1 else found


def _how(result: Result) -> str:
    """In how many dimensions, at what cost."""
    runs = f"{counted(len(result.audit), 'run')}, " if result.audit is not None else ""
    return f"in {len(result.x)}-d, {runs}{counted(result.nfev, 'evaluation')}, method {result.method}"


def _table(result: Result) -> str:
    shown = result.modes[:_SHOWN]
    columns = _of_fits(result, shown) if result.is_fit else columns_of(result, shown)
    columns = columns[: len(columns) - max(0, len(result.x) - _SHOWN_COORDINATES)]
    head = "".join(_cell("th", title or "rank", title) for title, _ in columns)
    rows = zip(*(cells for _, cells in columns), strict=True)
    titles = [title for title, _ in columns]
    body = "".join(f"<tr>{''.join(map(_cell, ['td'] * len(row), row, titles))}</tr>" for row in rows)
    style = "border-collapse:collapse;font-variant-numeric:tabular-nums;margin:0"
    return f'<table style="{style}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _cell(tag: str, text: str, title: str) -> str:
    style = (_HEAD if tag == "th" else _CELL).format("left" if title in LEFT else "right")
    return f'<{tag} style="{style}">{escape(text)}</{tag}>'


def _of_fits(result: Result, modes: Sequence[Mode]) -> list[Column]:
    """How well each explains the data, and its parameters with their errors."""
    fits = [mode.fit for mode in modes]
    columns: list[Column] = [
        ("", [f"{i}{'*' if mode.is_global else ' '}" for i, mode in enumerate(modes, 1)]),
        ("chi2", ["" if fit is None else f"{fit.chi2:.6g}" for fit in fits]),
        ("reduced chi2", ["" if fit is None else f"{fit.reduced_chi2:.4g}" for fit in fits]),
        ("weight", [share_text(mode.weight) for mode in modes]),
        ("hits", [str(mode.hits) for mode in modes]),
    ]
    for i, name in enumerate(map(visible, result.coordinate_names)):
        columns.append((name, [_parameter(mode, i) for mode in modes]))
    return columns


def _parameter(mode: Mode, i: int) -> str:
    x = float(mode.x[i])
    if mode.fit is None or i in mode.active:
        return f"{x:.6g}{' (bound)' if i in mode.active else ''}"
    return with_error(x, float(mode.fit.standard_errors[i]))


def _legend(result: Result) -> list[str]:
    """How to read the table, what it leaves out, and what is to be known of single modes."""
    lines = ["* best; weights: shares of the posterior" if result.is_fit else legend_of(result)]
    lines = [] if result.is_roots else lines
    more, hidden = len(result.modes) - _SHOWN, result.coordinate_names[_SHOWN_COORDINATES:]
    if more > 0:
        lines.append(f"... and {more} more: result.to_dataframe() has all of them")
    if hidden:
        lines.append(f"{hidden_text(hidden)} not shown: result.to_dataframe(), or result[0].x and so on")
    shown = result.modes[:_SHOWN]
    for i, mode in enumerate(shown, 1):
        lines += [f"{i}: the data determine {words}" for words in (mode.fit.undetermined if mode.fit else ())]
    return lines + [f"not certified: {reason}" for reason in reasons_of(shown)]
