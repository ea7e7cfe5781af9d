"""Masses as text of 80 columns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from allmodes.modes.coverage import counted
from allmodes.result.mode import share_text
from allmodes.result.table import aligned
from allmodes.terminal import visible, wrapped

if TYPE_CHECKING:
    from allmodes.result.masses import Masses, ModeMass

_SHOWN = 20  # modes
_LONGEST_NAME = 12
_ROUNDING = 1e-15  # of a share
_UNSEEN = (
    "k-hat cannot see mass that no draw reached: modes that were not found are not in the evidence (see the result's "
    "coverage)."
)


def text_of(masses: Masses) -> str:
    """What was drawn, the evidence, a line for each mode, and why numbers are not stated."""
    drawn = f"{counted(len(masses.draws), 'draw')}, effectively {masses.ess:.0f}"
    spent = f"{counted(masses.nfev, 'evaluation')} of the log density, {counted(masses.rounds, 'round')} of fitting"
    lines = wrapped(f"masses of {counted(len(masses), 'mode')}: {drawn}; {spent}")
    lines += wrapped(_evidence(masses))
    lines += ["", *_table(masses), "", *_reasons(masses), *wrapped(_UNSEEN)]
    lines += wrapped(masses.note)
    if masses.nfail:
        lines += wrapped(f"log_density failed at {counted(masses.nfail, 'draw')}, which weigh nothing.")
    return visible("\n".join(lines))


def _evidence(masses: Masses) -> str:
    if masses.reason:
        return f"log evidence not stated: {masses.reason}"
    return f"log evidence {with_error(masses.log_evidence, masses.standard_error)}"


def _table(masses: Masses) -> list[str]:
    shown = masses.modes[:_SHOWN]
    columns = [
        ["", *(f"{i}{'b' if each.note else ' '}" for i, each in enumerate(shown, 1))],
        ["mass", *(_number(each.mass, share_text(each.mass)) for each in shown)],
        ["error", *(_number(each.standard_error, _error(each.standard_error)) for each in shown)],
        [
            "log evidence",
            *(
                _number(each.log_evidence, f"{each.log_evidence:.{_decimals(each.log_evidence_error)}f}")
                for each in shown
            ),
        ],
        ["error", *(_number(each.log_evidence_error, f"{each.log_evidence_error:.1g}") for each in shown)],
        ["k-hat", *(_shape(each) for each in shown)],
        ["ess", *(f"{each.ess:.0f}" for each in shown)],
        ["Laplace", *(_number(each.laplace, share_text(each.laplace)) for each in shown)],
    ]
    for i, name in enumerate(masses.names):
        columns.append([visible(name)[:_LONGEST_NAME], *(f"{each.x[i]:.4g}" for each in shown)])
    more = len(masses) - _SHOWN
    return [*aligned(columns), *([f"... and {more} more"] if more > 0 else [])]


def with_error(value: float, error: float) -> str:
    """A number with as many decimals as its error allows.

    >>> with_error(242.74912, 0.00412)
    '242.749 +- 0.004'
    """
    decimals = _decimals(error)
    return f"{value:.{decimals}f} +- {error:.{decimals}f}"


def _decimals(error: float) -> int:
    return min(max(-math.floor(math.log10(error)), 0), 9) if error > 0.0 else 3


def _number(value: float, text: str) -> str:
    return "-" if math.isnan(value) else text


def _error(error: float) -> str:
    """The error of a share: the only mode has all of the mass, up to rounding."""
    return "0" if error < _ROUNDING else f"{error:.1g}"


def _shape(each: ModeMass) -> str:
    return "-" if not math.isfinite(each.pareto_k) else f"{each.pareto_k:.2f}"


def _reasons(masses: Masses) -> list[str]:
    """Why masses are not stated and what else is to be known, each reason once, with the modes it is of."""
    said: dict[str, list[str]] = {}
    for i, each in enumerate(masses.modes[:_SHOWN], 1):
        if each.reason:
            said.setdefault(each.reason, []).append(str(i))
    lines = []
    for reason, numbers in said.items():
        which = f"mode{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"
        lines += wrapped(f"{which} not stated: {reason}. Laplace's value stands alone, without an error.")
    notes = dict.fromkeys(each.note for each in masses.modes if each.note)
    return lines + [line for note in notes for line in wrapped(f"b {note}")]
