"""A first job: eight velocities of a star, and every orbit that explains them.

Fits a sine wave of unknown period and prints all explanations. The picture has the best two, the misfit along the
period, and how often SciPy's least_squares misses a minimum, from random starts with as many evaluations.

    python examples/demo.py [picture.png]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import least_squares

import allmodes
from allmodes.report import canvas

Floats = NDArray[np.float64]

NAMES = ["amplitude", "period", "phase", "offset"]
LOWER, UPPER = np.array([0.0, 1.1, 0.0, -20.0]), np.array([30.0, 30.0, 1.0, 20.0])
DAYS = np.array([1.05, 9.98, 12.04, 16.03, 18.0, 19.06, 20.99, 22.01])
VELOCITIES = np.array([-1.5, -0.9, 5.4, -2.1, 5.8, 10.6, -4.5, 12.3])  # km/s
ERROR = 3.0  # of each
WORTH = 12.0  # chi2 of explanations that are worth a thought: 4 degrees of freedom, exceeded once in 60 times
EXPLANATIONS = 9  # of these there are, by a fine grid of periods
SAME = 0.002  # two periods are one, in logarithms
BESIDE = 0.042  # in logarithms: periods whose marks touch in the picture
RUNS = 10  # multistarts of least_squares
BUDGET = 20_000  # evaluations of the residuals


def velocity(t: Floats, amplitude: float, period: float, phase: float, offset: float) -> Floats:
    """Of a star that a companion moves on a circle."""
    return offset + amplitude * np.sin(2 * np.pi * (t / period + phase))


def explain(rng: int = 0, *, progress: bool = False) -> allmodes.Result:
    """Every explanation, the period in logarithms and the phase periodic."""
    return allmodes.curve_fit(
        velocity, DAYS, VELOCITIES, sigma=ERROR, absolute_sigma=True, bounds=(LOWER, UPPER), names=NAMES,
        scale={"period": "log"}, periodic=[2], maxfev=BUDGET, rng=rng, progress=progress,
    )  # fmt: skip


def multistart(units: int, rng: int = 0) -> Floats:
    """Period and chi2 of the ends of `least_squares` from random starts, until so many residuals are evaluated."""
    draw, ends, spent = np.random.default_rng(rng), [], 0
    low, high = LOWER.copy(), UPPER.copy()
    low[1], high[1] = np.log([LOWER[1], UPPER[1]])

    def residuals(p: Floats) -> Floats:
        return (velocity(DAYS, p[0], np.exp(p[1]), p[2], p[3]) - VELOCITIES) / ERROR

    while spent < units:
        end = least_squares(residuals, draw.uniform(low, high), bounds=(low, high))
        spent += end.nfev + len(low) * (end.njev or 0)  # a Jacobian is one evaluation for each parameter
        ends.append((np.exp(end.x[1]), 2 * end.cost))
    return np.array(ends)


def misfit(periods: Floats) -> Floats:
    """The least chi2 at each period, (n,): with the period given the model is linear, whatever the bounds."""
    angles = 2 * np.pi * DAYS / periods[:, None]
    q, _ = np.linalg.qr(np.stack([np.ones_like(angles), np.sin(angles), np.cos(angles)], axis=2))
    left = VELOCITIES - np.einsum("nij,nkj,k->ni", q, q, VELOCITIES)
    return np.asarray((left**2).sum(axis=1) / ERROR**2)


def worth(periods: Floats, misfits: Floats) -> Floats:
    """The periods of explanations that are worth a thought, in order."""
    return np.sort(periods[misfits < WORTH])


def found_by(ends: Floats, periods: Floats) -> NDArray[np.bool_]:
    """Which of the periods (n,) are among the ends (m, 2)."""
    return np.asarray(np.abs(np.log(periods / ends[:, :1])).min(axis=0) < SAME)


def minima(fits: allmodes.Result) -> Floats:
    """Period and chi2 of the modes, without that of an orbit that does not move the star."""
    return np.array([(mode.x[1], 2 * mode.fun) for mode in fits.modes if mode.x[0] > 0])


def draw(fits: allmodes.Result, missed: Floats, picture: Path) -> None:
    """The best two explanations over the data; the minima along the period, and how many runs missed each (n,)."""
    figure = Figure(figsize=(7.4, 6.0), layout="constrained")
    top, bottom = figure.subplots(2, 1)
    days = np.linspace(0, 23, 800)
    for mode, colour in zip(fits.modes[:2], canvas.LINES, strict=False):
        text = f"{mode.x[1]:.2f} days, chi2 {2 * mode.fun:.1f}"
        top.plot(days, velocity(days, *mode.x), color=colour, linewidth=1.2, label=text)
    top.errorbar(DAYS, VELOCITIES, ERROR, fmt="o", color="0.2", markersize=5, zorder=3, label="data")
    top.set(xlabel="day", ylabel="velocity (km/s)", title="One data set, two explanations", ylim=(-13, 24))
    top.legend(ncols=3, frameon=False, loc="upper center")
    periods = np.geomspace(LOWER[1], UPPER[1], 6000)
    bottom.plot(periods, misfit(periods), color="0.6", linewidth=0.9)
    found = minima(fits)
    bottom.plot(*found.T, "o", color=canvas.LINES[0], markersize=7, label=f"allmodes: {len(found)} minima")
    often = missed > 0
    text = f"least_squares: missed by so many of {RUNS} multistarts"
    bottom.plot(*found[often].T, "o", color=canvas.LINES[1], markersize=11, markerfacecolor="none", label=text)
    ringed = found[often]
    for place, count in zip(ringed, missed[often].astype(int), strict=True):
        beside = ringed[np.abs(np.log(ringed[:, 0] / place[0])) < BESIDE, 1]
        above = place[1] > beside.min()  # and the number below it would hide
        style = {"textcoords": "offset points", "ha": "center", "fontsize": 9, "color": canvas.LINES[1]}
        bottom.annotate(f"{count}", place, xytext=(0, 7 if above else -7), va="bottom" if above else "top", **style)
    title = "Every minimum along the period, and those that multistart misses"
    bottom.set(xscale="log", xlabel="period (days)", ylabel="chi2", title=title, ylim=(-4, 33))
    bottom.set_xticks(ticks := [1.5, 2, 3, 4, 5, 7, 10, 20], [f"{tick:g}" for tick in ticks])
    bottom.minorticks_off()
    bottom.legend(frameon=False, loc="lower right")
    figure.savefig(picture, dpi=130)


def main(picture: Path) -> None:
    fits = explain(progress=True)
    print(fits)
    periods = minima(fits)[:, 0]
    print(f"\n{RUNS} runs of least_squares from random starts, with as many evaluations each ...")
    missed = sum(~found_by(multistart(fits.nfev, rng), periods) for rng in range(RUNS))
    draw(fits, np.asarray(missed, dtype=np.float64), picture)
    good = worth(*np.array([(mode.x[1], 2 * mode.fun) for mode in fits.modes]).T)
    print(f"\n{len(good)} explanations with a chi2 below {WORTH:g}: periods of", *good.round(2), "days.")
    print(f"Picture: {picture.resolve()}")
    sys.exit(0 if len(good) == EXPLANATIONS else 1)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo.png"))
