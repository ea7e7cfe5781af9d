"""Plots of fits: data with every explanation, profiles of a parameter, and where local searches ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from allmodes.checks import real_array
from allmodes.modes.coverage import counted
from allmodes.objective.bounds import Box
from allmodes.objective.residuals import SumOfSquares, sum_of_squares
from allmodes.report import canvas
from allmodes.result import Mode, Result

_MOST = 6  # explanations that can be told apart by their colours
_SIZE = (6.4, 4.8)
_FLAT = (6.4, 3.6)
_UPPER = (0.0, 0.34, 1.0, 0.66)  # panels: left, bottom, width, height
_LOWER = (0.0, 0.0, 1.0, 0.28)
_FINE = 400  # points of a curve
_STEPS = 15  # of a local search at each point of a profile: it begins beside the answer
_LEVELS = ((1.0, "68 %"), (3.84, "95 %"))  # of a rise of chi2, for one parameter
_TOP = 12.0  # of a profile, at least
_HIGHEST = 60.0  # rise of chi2 beyond which nothing is drawn, and followed
_APART = 0.03  # of the width of a waterfall: numbers closer than this would hide each other
_AROUND = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)  # standard errors from an explanation

Floats = NDArray[np.float64]


def _fitted(result: Result, kind: str) -> tuple[Mode, ...]:
    """The explanations that are drawn."""
    if not result.is_fit:
        raise ValueError(f"plot.{kind} draws results of find_fits and curve_fit; this result has no residuals.")
    return tuple(mode for mode in result.modes[:_MOST] if mode.fit is not None)


def _colour(i: int) -> str:
    return canvas.LINES[i % len(canvas.LINES)]


# ---- data and explanations


def fits(result: Result, f: Callable[..., Any], xdata: Any, ydata: Any, sigma: Any = None, ax: Any = None) -> Any:
    """See `allmodes.report.accessor.Plots.fits`."""
    shown = _fitted(result, "fits")
    y, x = real_array("ydata", ydata, "the data (m,)"), np.asarray(xdata)
    is_line = x.ndim == 1 and x.dtype.kind in "buif" and len(x) == len(y)
    places = x.astype(np.float64) if is_line else np.arange(len(y), dtype=np.float64)
    order = places.argsort(kind="stable")
    ax = canvas.axes_or_new(ax, _SIZE)
    ax.set_axis_off()
    upper, lower = ax.inset_axes(_UPPER), ax.inset_axes(_LOWER)
    errors = None if sigma is None or np.ndim(sigma) > 1 else np.broadcast_to(sigma, y.shape)
    upper.errorbar(places, y, yerr=errors, fmt="o", color="0.35", markersize=3.0, linewidth=0.8, label="data")
    for i, mode in enumerate(shown):
        said = np.asarray(f(xdata if not is_line else x, *mode.x), dtype=np.float64)
        fine, curve = _curve(f, places, mode.x) if is_line else (places, said)
        text = f"{i + 1}: chi2 {mode.fit.chi2:.4g}, weight {mode.weight:.3f}"  # type: ignore[union-attr]
        style = {"color": _colour(i), "linewidth": 1.6 if i == 0 else 1.1, "linestyle": "-" if i == 0 else "--"}
        upper.plot(fine, curve, **style, label=text)
        lower.plot(places[order], (y - said)[order], **style, marker=".", markersize=3.0)
    lower.axhline(0.0, color=canvas.REFERENCE, linewidth=0.8)
    upper.tick_params(labelbottom=False)
    upper.legend(fontsize=canvas.SMALL, frameon=False)
    upper.set(ylabel="data")
    lower.set(xlabel="x" if is_line else "number of the datum", ylabel="data less fit")
    lower.set_xlim(upper.get_xlim())
    more = len(result.modes) - len(shown)
    also = f"; the best {len(shown)} are shown" if more else ""
    canvas.set_title(ax, f"{counted(len(result.modes), 'explanation')}{also}")
    return ax


def _curve(f: Callable[..., Any], places: Floats, x: Floats) -> tuple[Floats, Floats]:
    """The model along a line through the places of the data; at these alone if it knows no others."""
    fine = np.linspace(places.min(), places.max(), _FINE)
    try:
        curve = np.asarray(f(fine, *x), dtype=np.float64)
    except Exception:  # a user's model may be made for its data alone
        curve = np.zeros(0)
    if curve.shape == fine.shape:
        return fine, curve
    order = places.argsort(kind="stable")
    return places[order], np.asarray(f(places, *x), dtype=np.float64)[order]


# ---- profiles


class Profile(NamedTuple):
    """The least cost at values of a parameter (n,), by the explanation that the search began at, (J, n).

    NaN where the evaluations did not reach; `nfev` counts them.
    """

    values: Floats
    costs: Floats
    nfev: int

    @property
    def merged(self) -> Floats:
        """The least over all explanations, (n,)."""
        return np.asarray(np.fmin.reduce(self.costs, axis=0))


def profile_of(
    result: Result, parameter: int | str, residuals: Callable[..., Any] | None = None, points: int = 41,
    maxfev: int = 5000,
) -> Profile:  # fmt: skip
    """Least costs with a parameter held at each of so many values; from every explanation outward, in turn.

    Explanations that are far worse than the best are left out. One is followed until it is far worse than all that are
    shown, or joins another that was there before.
    """
    shown, (i,) = _fitted(result, "profile"), canvas.chosen(result, parameter)
    part = _problem(result, residuals)
    shown = tuple(mode for mode in shown if 2.0 * (mode.fun - shown[0].fun) <= _HIGHEST * result.temperature)
    values, starts = _values(result, shown, i, points), [mode.x[i] for mode in shown]
    costs, search = np.full((len(shown), len(values)), np.nan), _Counted(part, maxfev)
    worst = shown[0].fun + 0.5 * _top(2.0 * (shown[-1].fun - shown[0].fun) / result.temperature) * result.temperature
    walks = [
        _Walk(row, step, int(np.abs(values - starts[row]).argmin()), mode.x.copy())
        for row, mode in enumerate(shown)
        for step in (1, -1)
    ]
    for walk in walks:
        costs[walk.row, walk.k] = shown[walk.row].fun
    while walks:
        going = []
        for row, step, k, x in walks:
            here, others = costs[row, k], np.delete(costs[:, k], row)
            if 0 <= k + step < len(values) and here <= worst and not (others <= here).any():
                k += step
                x, costs[row, k] = search.least(np.where(np.arange(len(x)) == i, values[k], x), i)
                going.append(_Walk(row, step, k, x))
        walks = going
    return Profile(values, costs, search.nfev)


class _Walk(NamedTuple):
    """From an explanation to larger or smaller values of the parameter: at the kth of them, with all others at x."""

    row: int
    step: int
    k: int
    x: Floats


def _top(highest: float) -> float:
    """How high a picture of explanations that rise so far reaches."""
    return float(np.clip(1.3 * highest, _TOP, 1.3 * _HIGHEST))


def _values(result: Result, shown: tuple[Mode, ...], i: int, points: int) -> Floats:
    """Where to look: closely around each explanation, as far as its error reaches, and evenly between them."""
    low, high = canvas.limits(result, i)
    errors = np.array([mode.fit.standard_errors[i] for mode in shown if mode.fit is not None])
    errors = np.where(np.isfinite(errors), errors, high - low)
    places = np.array([mode.x[i] for mode in shown])
    around = np.concatenate([[0.0], *([k, -k] for k in _AROUND)])
    near = (places[:, None] + errors[:, None] * around).ravel()
    near = near[(near >= low) & (near <= high)]
    return np.unique(
        np.concatenate([near, canvas.spaced((near.min(), near.max()), max(3, points), canvas.is_log(result, i))])
    )


class _Counted:
    """A sum of squares, minimised with a parameter held, as long as evaluations are left."""

    def __init__(self, part: SumOfSquares, maxfev: int) -> None:
        self.part, self.maxfev, self.nfev = part, maxfev, 0

    def least(self, x: Floats, held: int) -> tuple[Floats, float]:
        """The best point with its coordinate `held` as it is, and the cost there; NaN if nothing is left."""
        part, box = self.part, self.part.box
        places = np.flatnonzero(box.free & (np.arange(len(x)) != held))
        each = part.cost(part.provides).nfev

        def whole(z: Floats) -> Floats:
            y = x.copy()
            y[places] = z
            return y[None]

        def residuals(z: Floats) -> Floats:
            self.nfev += 1
            return part.residuals(whole(z))[0]

        def jacobian(z: Floats) -> Floats:
            self.nfev += each - 1
            y = whole(z)
            return part.jacobian(y, part.residuals(y))[0][:, places]

        if self.nfev + _STEPS * each > self.maxfev:
            return x, np.nan
        if not len(places):
            return x, float(part.loss.cost(residuals(x[places])))
        rho = part.loss.rho
        loss: Any = "linear" if rho is None else lambda z: np.array(rho(z))
        inside = np.clip(x[places], box.lower[places], box.upper[places])
        limits = box.lower[places], box.upper[places]
        try:
            end = least_squares(
                residuals, inside, jac=jacobian, bounds=limits, loss=loss, f_scale=part.loss.scale, x_scale="jac",
                max_nfev=_STEPS,
            )  # fmt: skip
        except ValueError:  # residuals that are not finite: nothing is known there
            return x, np.nan
        return whole(end.x)[0], float(end.cost)


def _problem(result: Result, residuals: Callable[..., Any] | None) -> SumOfSquares:
    if residuals is not None:
        return sum_of_squares(residuals, None, (), False, Box.make(result.bounds, result.x), None, "linear", 1.0)
    if result.problem is None:
        raise ValueError(
            "this result does not know its residuals, for it was loaded from a file or sent by another process; pass "
            "residuals= to plot.profile, a function (d,) -> (m,) that has been divided by the errors."
        )
    return result.problem


def profile(
    result: Result, parameter: int | str, residuals: Callable[..., Any] | None = None, points: int = 41,
    maxfev: int = 5000, ax: Any = None,
) -> Any:  # fmt: skip
    """See `allmodes.report.accessor.Plots.profile`."""
    seen = profile_of(result, parameter, residuals, points, maxfev)
    (i,) = canvas.chosen(result, parameter)
    ax = canvas.axes_or_new(ax, _FLAT)
    best = min(result.modes[0].fun, float(np.nanmin(seen.costs)))
    rises = 2.0 * (seen.costs - best) / result.temperature
    at_modes = [2.0 * (mode.fun - best) / result.temperature for mode in result.modes[: len(rises)]]
    top = _top(max(at_modes))
    for row, rise in enumerate(rises):
        ax.plot(seen.values, rise, color=_colour(row), linewidth=1.0, linestyle="--", label=f"from {row + 1}")
        ax.plot(result.modes[row].x[i], at_modes[row], "o", color=_colour(row), markersize=5.0, clip_on=True)
    ax.plot(seen.values, np.fmin.reduce(rises, axis=0), color="black", linewidth=1.8, label="all", zorder=1.5)
    for level, text in _LEVELS:
        ax.axhline(level, color=canvas.REFERENCE, linewidth=0.8, linestyle=":")
        ax.annotate(text, (0.995, level), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=7.0)
    ax.set(xlabel=canvas.labels(result)[i], ylabel="rise of chi2", ylim=(-0.03 * top, top))
    ax.set_xlim(seen.values[0], seen.values[-1])
    if canvas.is_log(result, i):
        canvas.make_log(ax, "x")
    ax.legend(fontsize=canvas.SMALL, frameon=False, ncols=2)
    canvas.set_title(ax, f"Profile over all explanations, {seen.nfev} evaluations")
    return ax


# ---- where local searches ended


def waterfall(result: Result, ax: Any = None) -> Any:
    """See `allmodes.report.accessor.Plots.waterfall`."""
    ax = canvas.axes_or_new(ax, _FLAT)
    if not result.modes:
        return canvas.say(ax, "No mode was found.")
    hits, values = np.array([max(1, mode.hits) for mode in result.modes]), canvas.heights(result)
    ends, numbered = np.cumsum(hits), -np.inf
    for i, (end, n, value) in enumerate(zip(ends, hits, values, strict=True)):
        ranks = np.arange(end - n + 1, end + 1)
        ax.plot(ranks, np.full(n, value), ".", color=canvas.GLOBAL if result.modes[i].is_global else canvas.LOCAL)
        if ranks[0] - numbered >= _APART * ends[-1]:
            ax.annotate(str(i + 1), (ranks[0], value), xytext=(0.0, 5.0), textcoords="offset points", fontsize=7.0)
            numbered = ranks[0]
    least = values[values > 0.0].min(initial=np.inf)
    if not result.maximise and (values > 0.0).all() and values.max() > 100.0 * least:
        ax.set_yscale("log")
    ax.set(xlabel="local search, best first", ylabel="cost" if result.is_fit else "value")
    found = counted(len(values), "explanation" if result.is_fit else "mode")
    canvas.set_title(ax, f"{counted(int(ends[-1]), 'local search', 'local searches')} that ended in {found}")
    return ax
