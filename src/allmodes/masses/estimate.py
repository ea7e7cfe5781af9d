"""From weighted draws to masses and evidence with their errors, or to the reason why they are not stated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allmodes.masses.sampling import LARGEST_K, is_known
from allmodes.masses.start import Start
from allmodes.masses.target import Target
from allmodes.masses.weights import Weighed
from allmodes.modes.coverage import counted
from allmodes.result.masses import Draws, Masses, ModeMass
from allmodes.result.mode import Mode, point_text
from allmodes.result.result import Result

_MOST_UNKNOWN = 1.0 / 3.0  # share of the evidence in modes without one of their own: with more the total is not stated
_HIGHER = 0.1  # by which a draw is clearly better than a mode that was located as well as values allow
HELD = "held by a bound: not a mode of the density if the bound is only where you looked"

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Estimates:
    """Of all modes, each (K,).

    Attributes:
        log_evidence, error: of each mode, whether they are to be stated or not.
        mass, mass_error: likewise.
        is_known: whether the weights of the mode allow an evidence.
        unknown: the share of the evidence that may be in modes of which that is not known.
    """

    log_evidence: Floats
    error: Floats
    mass: Floats
    mass_error: Floats
    is_known: Flags
    unknown: float


def masses(result: Result, target: Target, start: Start, weighed: Weighed, rounds: int) -> Masses:
    """All that is told of draws."""
    if not weighed.totals.sum() > 0.0:
        raise ValueError(
            f"log_density is -inf, or failed, at all of {counted(len(weighed.z), 'draw')} around "
            f"{counted(len(result.modes), 'mode')}, though not at the modes themselves: a density that is 0 almost "
            "everywhere has no mass to weigh."
        )
    found = _estimates(start, weighed)
    laplace = start.laplace()
    is_stated = found.unknown <= _MOST_UNKNOWN
    modes = tuple(
        ModeMass(
            x=mode.x, kind=mode.kind, ess=float(weighed.ess[k]), num_draws=int(weighed.num_draws[k]),
            mass=_if(known and is_stated, found.mass[k]),
            standard_error=_if(known and is_stated, found.mass_error[k]),
            log_evidence=_if(known, found.log_evidence[k]), log_evidence_error=_if(known, found.error[k]),
            pareto_k=float(weighed.pareto_k[k]), laplace=float(laplace[k]),
            laplace_log_evidence=float(start.log_evidence[k]),
            reason=_reason(weighed, k) if not known else "" if is_stated else _OF_TOTAL,
            note=HELD if _is_held(mode) else "",
        )
        for k, (mode, known) in enumerate(zip(result.modes, found.is_known, strict=True))
    )  # fmt: skip
    log_total = float(np.log(weighed.totals.sum())) + weighed.top
    error = float(np.hypot(weighed.deviation(weighed.weights) / weighed.totals.sum(), found.unknown))
    refused = [k + 1 for k in np.flatnonzero(~found.is_known).tolist()]
    return Masses(
        modes=modes, log_evidence=_if(is_stated, log_total), standard_error=_if(is_stated, error),
        ess=float(weighed.totals.sum() ** 2 / (weighed.weights**2).sum()), draws=_draws(target, weighed),
        nfev=target.nfev, num_zero=target.num_zero, nfail=target.nfail, failures=tuple(target.failures),
        rounds=rounds, names=result.coordinate_names, note=_of_better(target, start, weighed),
        reason="" if is_stated else f"too much of it may be in {_listed(refused)}, whose evidence is not known",
    )  # fmt: skip


_OF_TOTAL = "its evidence is known, but not what share of the total that is: too much may be in other modes"


def _estimates(start: Start, weighed: Weighed) -> _Estimates:
    totals, total = weighed.totals, weighed.totals.sum()
    num = weighed.num_modes
    mass = totals / total
    known = is_known(weighed)
    laplace = np.nan_to_num(start.laplace())
    unknown = float(np.maximum(mass, laplace)[~known].sum())
    error, mass_error = np.zeros(num), np.zeros(num)
    for k in range(num):
        own = np.where(weighed.owner == k, weighed.weights, 0.0)
        error[k] = weighed.deviation(own) / max(totals[k], 1e-300)
        mass_error[k] = np.hypot(weighed.deviation(own - mass[k] * weighed.weights) / total, mass[k] * unknown)
    with np.errstate(divide="ignore"):
        return _Estimates(np.log(totals) + weighed.top, error, mass, mass_error, known, min(unknown, 1.0))


def _of_better(target: Target, start: Start, weighed: Weighed) -> str:
    """What to say if a draw is higher than every mode."""
    x = target.box.to_user(weighed.z)
    heights = weighed.log_p - target.log_slopes(x)
    best = int(heights.argmax())
    if not heights[best] > start.highest + _HIGHER:
        return ""
    return (
        f"a draw at {point_text(x[best])} is higher than every mode by {heights[best] - start.highest:.3g}: a mode is "
        "missing there, or log_density is not what was searched"
    )


def _reason(weighed: Weighed, k: int) -> str:
    """Why the evidence of a mode is not stated."""
    n, shape = int(weighed.num_draws[k]), float(weighed.pareto_k[k])
    if not weighed.totals[k] > 0.0:
        return "the density is 0 at all of its draws"
    if np.isnan(shape):
        return f"only {counted(n, 'draw')}: too few to judge the weights by; draw more"
    return f"k-hat is {shape:.2f}, above {LARGEST_K}: a few draws would decide, and more would change the answer"


def _is_held(mode: Mode) -> bool:
    """Whether a bound holds a mode back, or would do so to one that is not listed as an optimum."""
    return mode.kind == "boundary" or (bool(mode.active) and mode.kind in ("flat", "unverified"))


def _draws(target: Target, weighed: Weighed) -> Draws:
    weight = weighed.weights / weighed.weights.sum()
    return Draws(target.box.to_user(weighed.z), weighed.owner, weighed.log_weights, weight)


def _if(is_stated: bool | np.bool_, number: float) -> float:
    return float(number) if is_stated else float("nan")


def _listed(numbers: list[int]) -> str:
    """Modes by their numbers from 1, as in tables.

    >>> _listed([2]), _listed([1, 3])
    ('mode 2', 'modes 1, 3')
    """
    shown = ", ".join(map(str, numbers[:6])) + (", ..." if len(numbers) > 6 else "")
    return f"mode{'s' if len(numbers) > 1 else ''} {shown}"
