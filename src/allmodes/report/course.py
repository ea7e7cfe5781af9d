"""How a search went over its evaluations: weights and temperature, modes found and best value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.modes.coverage import counted
from allmodes.report import canvas
from allmodes.result import AnnealingTrace, Result
from allmodes.result.columns import values_of

_SIZE = (6.2, 4.6)
_LARGE_RANGE = 1e3  # of best values, from which on the gap to the last is drawn by orders of magnitude
_SMALLEST = 1e-8  # of the largest distance to the last value: smaller ones are drawn as this

Floats = NDArray[np.float64]


def annealed(result: Result, what: str) -> AnnealingTrace:
    """The trace, or an error that says which results have one."""
    if result.trace is None or not len(result.trace):
        raise ValueError(
            f'{what} shows how annealing went, and the method "{result.method}" did not anneal here; search with '
            'method="anneal" or an engine assembly such as nva.presets.nva_gm(). plot.modes() shows the weights at the '
            "end."
        )
    return result.trace


def weights(result: Result, ax: Any = None) -> Any:
    """See `allmodes.report.accessor.Plots.weights`."""
    return draw_weights(annealed(result, "weights"), canvas.axes_or_new(ax, _SIZE))


def draw_weights(trace: AnnealingTrace, ax: Any, unit: str = "evaluations") -> Any:
    """Weights of all components above, the temperature below; runs are separate."""
    above, below = canvas.panels(ax, 2, 1)
    for number, frames in enumerate(trace.runs):
        spent = trace.nfev[frames]
        shares = np.stack([trace.weights[i] for i in frames])
        for k in range(shares.shape[1]):
            above.plot(spent, shares[:, k], color=canvas.LINES[k % len(canvas.LINES)], linewidth=1.1)
        below.plot(spent, trace.temperature[frames], color="0.25", linewidth=1.3)
        if number:
            for panel in (above, below):
                panel.axvline(spent[0], color="0.8", linewidth=0.8, zorder=0)
    above.set(ylabel="weight", ylim=(0.0, None))
    below.set(ylabel="temperature", xlabel=unit)
    if (trace.temperature > 0.0).all() and np.ptp(trace.temperature) > 0.0:
        below.set_yscale("log")
    K, runs = max(map(len, trace.weights)), len(trace.runs)
    canvas.set_title(ax, counted(K, "component") + (f" at most, {runs} annealing runs" if runs > 1 else ""))
    _share(above, below)
    return ax


def convergence(result: Result, ax: Any = None) -> Any:
    """See `allmodes.report.accessor.Plots.convergence`."""
    ax = canvas.axes_or_new(ax, _SIZE)
    history = result.history
    if not len(history):
        return canvas.say(ax, "Nothing was evaluated.")
    above, below = canvas.panels(ax, 2, 1)
    style = {"where": "post", "linewidth": 1.4}
    is_audit = result.audit is not None  # what went on are runs
    nfev = np.append(history.nfev, history.nfev[-1] if is_audit else result.nfev)
    above.step(nfev, np.append(history.modes, history.modes[-1]), color=canvas.GLOBAL, **style)
    above.set(ylabel="modes found", ylim=(0.0, 1.05 * max(1, history.modes.max())))
    above.yaxis.get_major_locator().set_params(integer=True)
    best = np.append(history.best, history.best[-1])
    is_known = np.isfinite(best)
    gap = np.abs(best - best[-1])
    rising = gap[is_known & (gap > 0.0)]
    if len(rising) > 1 and rising.max() > _LARGE_RANGE * rising.min():
        floor = max(rising.min(), _SMALLEST * rising.max())
        below.step(nfev[is_known], np.maximum(gap, floor)[is_known], color=canvas.LOCAL, **style)
        below.set(ylabel="best value: distance\nto the last", yscale="log")
    else:
        below.step(nfev[is_known], best[is_known], color=canvas.LOCAL, **style)
        below.set(ylabel="best value")
    below.set(xlabel="runs" if is_audit else "evaluations")
    _share(above, below)
    value = values_of(result, result.modes)[0] if result.modes else f"{result.fun:.6g}"
    title = f"{counted(len(result.modes), 'mode')}, best value {value}"
    if result.coverage.searches:
        title += f"; {result.coverage.rarely}"
    canvas.set_title(ax, title)
    return ax


def _share(above: Any, below: Any) -> None:
    """One axis of evaluations for both."""
    limits = [panel.get_xlim() for panel in (above, below)]
    for panel in (above, below):
        panel.set_xlim(min(low for low, _ in limits), max(high for _, high in limits))
        panel.grid(color="0.92", linewidth=0.6)
        panel.set_axisbelow(True)
        panel.tick_params(labelsize=canvas.SMALL)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    above.tick_params(labelbottom=False)
