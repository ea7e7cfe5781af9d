"""The modes of a posterior as text of 80 columns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from allmodes.adapters.names import entries
from allmodes.modes.coverage import counted
from allmodes.result.mode import share_text
from allmodes.result.table import aligned
from allmodes.terminal import visible, wrapped

if TYPE_CHECKING:
    from allmodes.adapters.posterior import PosteriorModes
    from allmodes.result import Masses

_SHOWN = 20  # modes
_LONGEST_NAME = 12


def text_of(posterior: PosteriorModes) -> str:
    """How the search ended, a line for each mode in the model's names, the evidence, which masses are not stated."""
    result = posterior.result
    lines = wrapped(
        f"posterior: {counted(len(posterior), 'mode')} in {len(result.x)}-d, "
        f"{counted(result.nfev, 'evaluation')} of the log density"
    )
    lines += wrapped(f"status {result.status.name}: {result.message}")
    if posterior.modes:
        lines += [*wrapped(f"coverage: {result.coverage}"), "", *_table(posterior)]
    if posterior.masses is not None:
        lines += _unstated(posterior.masses)
    if not posterior.program.jacobian:
        lines += wrapped("maxima of the density of the constrained parameters, without the Jacobian: no masses")
    return visible("\n".join(lines))


def _table(posterior: PosteriorModes) -> list[str]:
    shown = posterior.result.modes[:_SHOWN]
    columns = [["", *(f"{i}{'*' if mode.is_global else ' '}" for i, mode in enumerate(shown, 1))]]
    if posterior.masses is not None:
        weighed = posterior.masses.modes[:_SHOWN]
        columns += [
            ["mass", *("-" if math.isnan(each.mass) else share_text(each.mass) for each in weighed)],
            ["error", *("-" if math.isnan(each.mass) else f"{each.standard_error:.1g}" for each in weighed)],
        ]
        if any(math.isnan(each.mass) for each in weighed):
            columns.append(
                ["Laplace", *("-" if math.isnan(each.laplace) else share_text(each.laplace) for each in weighed)]
            )
    columns += [
        ["log density", *(f"{mode.fun:.6g}" for mode in shown)],
        _left(["kind", *(mode.kind for mode in shown)]),
    ]
    for name, value in posterior.modes[0].items():
        for i, title in enumerate(entries(name, np.shape(value))):
            entry = [f"{np.ravel(mode[name])[i]:.4g}" for mode in posterior.modes[:_SHOWN]]
            columns.append([visible(title)[:_LONGEST_NAME], *entry])
    more = len(posterior) - _SHOWN
    return [*aligned(columns), *([f"... and {more} more"] if more > 0 else []), "* global"]


def _left(words: list[str]) -> list[str]:
    """Words as a left-aligned column."""
    return [word.ljust(max(map(len, words))) for word in words]


def _unstated(masses: Masses) -> list[str]:
    """The evidence, and why masses are not stated."""
    numbers: dict[str, list[str]] = {}
    for i, each in enumerate(masses.modes, 1):
        if each.reason:
            numbers.setdefault(each.reason, []).append(str(i))
    lines = [] if masses.reason else wrapped(f"log evidence {masses.log_evidence:.5g} +- {masses.standard_error:.2g}")
    for reason, which in numbers.items():
        lines += wrapped(f"mass of mode{'s' if len(which) > 1 else ''} {', '.join(which)} not stated: {reason}")
    return lines
