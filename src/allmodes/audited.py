"""Makes a `Result` from ends and what is known of their places."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.ends import Ends
from allmodes.modes import coverage
from allmodes.modes.grouping import STOPS, Groups
from allmodes.objective.bounds import Box
from allmodes.result import Audit, History, Mode, Result
from allmodes.result.audit import ALONE, ARRIVED, FAILED, NO_OPTIMUM, OUTSIDE, UNCHECKED, UNCONVERGED
from allmodes.search.judged import Judged, Verdict
from allmodes.status import Status
from allmodes.storage import versions

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_BESIDE = 1e-3  # of the box: a mode of the result this close to one of the archive is that one
_SAYS_NO = "its optimiser says that it did not converge"


class Places(NamedTuple):
    """Ends as they were grouped.

    Args:
        ends: as given, with values.
        box: their units.
        maximise: whether large values are good.
        rows: (m,), the ends that can be compared; `units` (m, d) and `groups` are theirs.
        is_outside: (n,), which ends are outside the bounds.
        xtol: within which ends are one place.
    """

    ends: Ends
    box: Box
    maximise: bool
    rows: Indices
    units: Array
    groups: Groups
    is_outside: NDArray[np.bool_]
    xtol: float

    @property
    def values(self) -> Array:
        """As given, (n,)."""
        assert self.ends.values is not None
        return self.ends.values

    @property
    def losses(self) -> Array:
        """Values (m,) of those that can be compared: smaller is better."""
        return (-1.0 if self.maximise else 1.0) * self.values[self.rows]

    def apart(self, points: Array) -> Array:
        """How far the ends (m, d) are from points (m, d), in the largest coordinate."""
        return np.asarray(np.abs(self.box.difference(self.units, points)).max(axis=1))


class Said(NamedTuple):
    """What is known of the ends that can be compared: see `Audit`."""

    labels: Indices
    codes: Indices
    distances: Array
    because: Indices
    reasons: tuple[str, ...] = ()


# ---- by the ends alone


def unchecked(places: Places) -> Result:
    """The result without a function: places are listed, and nobody knows what they are."""
    groups, ends, rows = places.groups, places.ends, places.rows
    roots, labels, sizes = np.unique(groups.joined, return_inverse=True, return_counts=True)
    distances = places.apart(places.units[groups.joined])
    codes = np.where((distances <= places.xtol) | groups.chained, ARRIVED, UNCONVERGED)
    codes[(sizes == 1)[labels]] = ALONE
    because = np.full(len(rows), -1)
    if ends.converged is not None:
        denied = (codes == ALONE) & ~ends.converged[rows]
        codes[denied], labels[denied], because[denied] = UNCONVERGED, -1, 0
        distances[denied] = np.nan
    listed = np.unique(labels[labels >= 0])
    order = listed[np.argsort(places.losses[roots[listed]], kind="stable")]
    rank = np.full(len(roots) + 1, -1)
    rank[order] = np.arange(len(order))
    labels = rank[labels]
    best = roots[order]
    values, points = places.values[rows[best]], ends.points[rows[best]]
    is_best = np.abs(values - values[:1]) <= STOPS * np.maximum(np.abs(values), 1.0)
    valleys = tuple(int(i) for i in np.unique(labels[groups.chained & (labels >= 0)]))
    said = Said(labels, codes, distances, because, (_SAYS_NO,))
    audit = _audit(places, said, is_checked=False, checked=0, valleys=valleys)
    unknown = np.full((places.box.D, places.box.D), math.nan)
    known = zip(points, values.tolist(), is_best.tolist(), *_hits(audit, len(best)), strict=True)
    modes = tuple(_mode(*each, unknown) for each in known)
    empty = Result(
        np.full(places.box.D, np.nan), math.nan, False, Status.STEPS_DONE, "", 0, 0, 0, 0, modes, coverage.Coverage(),
        math.nan, 0, (), History(), None, "audit", maximise=places.maximise, versions=versions(),
    )  # fmt: skip
    return finished(empty, audit, places)


def _mode(x: Array, fun: float, is_best: bool, hits: int, found_at: int, unknown: Array) -> Mode:
    """A place of which nothing is known but its value; all share the Hessian that is not known."""
    nothing = math.nan
    return Mode(
        x=x, fun=fun, kind="unverified", is_global=is_best, gradient_norm=nothing, hessian=unknown,
        eigenvalues=unknown[0], curvature_from="", flatness=nothing, weight=nothing, hits=hits, found_at=found_at,
    )  # fmt: skip


# ---- by following the best end of each place


def checked(places: Places, result: Result, judged: Judged, leaders: Indices, polish: bool) -> tuple[Result, Audit]:
    """The result of following the ends `leaders` (K,), in the order in which they were followed, and its audit."""
    ranks = _ranks(places.box, result, judged)
    verdicts = {int(leaders[int(number)]): verdict for number, verdict in judged.verdicts.items()}
    said = _said(places, verdicts, ranks)
    if not polish:
        far = said.codes == UNCONVERGED
        said.labels[far] = -1
        reached = np.unique(said.labels[said.labels >= 0])
        rank = np.full(len(result.modes) + 1, -1)
        rank[reached] = np.arange(len(reached))
        said = said._replace(labels=rank[said.labels])
        result = replace(result, modes=tuple(result.modes[i] for i in reached))
    return result, _audit(places, said, is_checked=True, checked=len(verdicts))


def _ranks(box: Box, result: Result, judged: Judged) -> Indices:
    """For each mode of the archive its place in the result, -1 if it is not listed; and -1 for none, at the end."""
    means = judged.context.archive.means
    ranks = np.full(len(means) + 1, -1)
    if not result.modes:
        return ranks
    units = box.to_unit(np.array([mode.x for mode in result.modes]))
    for j, mean in enumerate(means):
        apart = np.abs(box.difference(units, mean)).max(axis=1)
        if apart.min() <= _BESIDE:
            ranks[j] = apart.argmin()
    return ranks


def _said(places: Places, verdicts: dict[int, Verdict], ranks: Indices) -> Said:
    """What the verdicts on leaders say of all ends."""
    m, d = places.units.shape
    mode, point, because = np.full(m, -1), np.full((m, d), np.nan), np.full(m, -1)
    is_judged, reasons = np.zeros(m, bool), list[str]()
    for leader, verdict in verdicts.items():
        mode[leader], point[leader], is_judged[leader] = ranks[verdict.mode], verdict.point, True
        if mode[leader] < 0:
            reason = verdict.reason or "a plateau below the best value"
            reasons += [] if reason in reasons else [reason]
            because[leader] = reasons.index(reason)
    leaders = places.groups.leaders
    follows = np.where(is_judged[leaders], leaders, places.groups.joined)  # of those not looked at, what they look like
    labels = mode[follows]
    distances = np.where(labels >= 0, places.apart(np.nan_to_num(point[follows])), np.nan)
    codes = np.where(labels < 0, NO_OPTIMUM, np.where(distances <= places.xtol, ARRIVED, UNCONVERGED))
    codes[~is_judged[leaders]] = UNCHECKED
    return Said(labels, codes, distances, np.where(is_judged[leaders], because[leaders], -1), tuple(reasons))


# ---- both


def _audit(
    places: Places, said: Said, *, is_checked: bool, checked: int, valleys: tuple[int, ...] = ()
) -> Audit:  # fmt: skip
    """What is said of all ends, those that cannot be compared among them."""
    n, rows = len(places.values), places.rows
    labels, because, distances = np.full(n, -1), np.full(n, -1), np.full(n, np.nan)
    codes = np.where(places.is_outside, OUTSIDE, FAILED)
    labels[rows], codes[rows], distances[rows], because[rows] = said.labels, said.codes, said.distances, said.because
    return Audit(
        labels, codes, distances, places.values, said.reasons, because, places.xtol, is_checked,
        len(np.unique(places.groups.leaders if is_checked else places.groups.joined)), checked, valleys,
    )  # fmt: skip


def finished(result: Result, audit: Audit, places: Places) -> Result:
    """The result with its hits, its coverage, and how the runs went one after the other."""
    J = len(result.modes)
    labels, ends = audit.labels, places.ends
    known = zip(result.modes, *_hits(audit, J), strict=True)
    modes = tuple(
        mode if (mode.hits, mode.found_at) == (n, at) else replace(mode, hits=n, found_at=at) for mode, n, at in known
    )
    once = labels if ends.starts is None else labels[np.unique(ends.starts, axis=0, return_index=True)[1]]
    counts, lost = np.bincount(once[once >= 0], minlength=J), int((once < 0).sum())
    covered = coverage.estimate(counts, lost=lost, nfev=len(labels), cost=1.0)
    best = modes[0] if modes else None
    x, fun = (best.x, best.fun) if best else _best_end(places)
    status = result.status if modes or result.status is Status.INTERRUPTED else Status.NO_MODE
    message = " ".join([str(audit), result.message]).strip()
    return replace(
        result, modes=modes, x=x, fun=fun, success=status.success and bool(modes), status=status, message=message,
        coverage=replace(covered, of_runs=True), history=_history(places, labels), names=ends.names or _plain(places),
        bounds=np.stack([places.box.lower, places.box.upper], axis=1), audit=audit, method="audit",
        settings=_settings(result, places),
    )  # fmt: skip


def _hits(audit: Audit, J: int) -> tuple[list[int], list[int]]:
    """How many ends belong to each of so many modes, and which is the first, from 1; 0 without any."""
    which, where = np.unique(audit.labels, return_index=True)
    first = np.zeros(J, np.int64)
    first[which[which >= 0]] = where[which >= 0] + 1
    return np.bincount(audit.labels[audit.labels >= 0], minlength=J).tolist(), first.tolist()


def _best_end(places: Places) -> tuple[Array, float]:
    best = places.rows[int(np.argmin(places.losses))]
    return places.ends.points[best], float(places.values[best])


def _plain(places: Places) -> tuple[str, ...]:
    return tuple(f"x{i}" for i in range(places.box.D))


def _settings(result: Result, places: Places) -> dict[str, Any]:
    """What was asked for, as plain data."""
    asked = {"task": "audit", "method": "audit", "xtol": places.xtol, "runs": len(places.values)}
    kept = ("jac", "hess", "maxfev", "budget", "seed", "periodic", "options", "order", "vectorized", "workers")
    return asked | {name: result.settings[name] for name in kept if name in result.settings}


def _history(places: Places, labels: NDArray[np.int64]) -> History:
    """The best value and the modes known after so many runs, in the order in which they were given."""
    sign = -1.0 if places.maximise else 1.0
    values = np.where(np.isfinite(places.values), sign * places.values, np.inf)
    values[places.is_outside] = np.inf
    best, history = np.minimum.accumulate(values), History()
    new = np.zeros(len(labels), bool)
    which, where = np.unique(labels, return_index=True)
    new[where[which >= 0]] = True
    found = np.cumsum(new)
    changed = new.copy()
    changed[1:] |= best[1:] < best[:-1]
    changed[[0, -1]] = True
    for i in np.flatnonzero(changed).tolist():
        history.add(i + 1, sign * best[i] if np.isfinite(best[i]) else math.nan, int(found[i]))
    return history
