"""`result.plot`: the plots of a result."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from allmodes.hints import Constraints
from allmodes.nva.engine import Run
from allmodes.objective import Objective
from allmodes.report.bars import modes
from allmodes.report.canvas import VALUES
from allmodes.report.course import convergence, weights
from allmodes.report.explanations import fits, profile, waterfall
from allmodes.report.film import animate
from allmodes.report.landscape import landscape
from allmodes.report.pairs import pairs
from allmodes.report.parallel import parallel
from allmodes.report.projection import map_of_modes
from allmodes.report.runs import as_result, draw_run
from allmodes.report.tree import tree
from allmodes.report.waterfall import waterfall_of_ends
from allmodes.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = ("landscape", "pairs", "modes", "weights", "convergence", "parallel", "animate")
OF_SOME = ("tree", "map")  # results with barriers, and in three dimensions or more
OF_FITS = ("fits", "profile", "waterfall")


class Plots:
    """Plots of a result, drawn with matplotlib (pip install 'allmodes[plot]').

    Every method takes `ax=` and returns it; without it, it makes a figure of its own, which is `ax.figure`. Plots with
    several panels put them inside the axes, as `ax.child_axes`.
    """

    def __init__(self, result: Result) -> None:
        self._result = result

    def landscape(
        self,
        fun: Callable[..., Any] | Objective | None = None,
        coordinates: Sequence[int | str] | None = None,
        at: ArrayLike | None = None,
        ax: Axes | None = None,
        resolution: int | None = None,
        label: str = "value",
        constraints: Constraints | None = None,
        cmap: str = VALUES,
    ) -> Any:
        """Contours of a slice of the function, with local searches, ellipses and modes numbered by rank.

        Global modes are filled, local ones open; squares sit at a bound, pentagons at a constraint, diamonds are
        flat, triangles unverified. What constraints exclude is hatched, and equality constraints are lines. Whole
        numbers and choices are dots.
        Ways of `result.connect` are lines, with crosses at their passes, where there are two coordinates.
        Ellipses are two standard deviations at the temperature of the weights, within the slice.

        Args:
            fun: the function, as it was searched, or an Objective; of fits and roots the residuals will do. Without it
                a result of two coordinates shows contours between the points that local searches went through, and any
                other none.
            coordinates: two of them, or one, by number or name; by default the first two that are not fixed.
            at: a point (D,) that the slice goes through, or the rank of a mode; by default the best mode.
            ax: axes to draw on.
            resolution: points along each side of the slice at which `fun` is called; 101, or 801 of one coordinate.
            label: what `fun` returns, if it is not the value that was searched but its logarithm, say.
            constraints: as in `find_minima`, for results that were loaded; others know theirs.
            cmap: a colour map of matplotlib, whose light end is put where values are good, or "grey".
        """
        return landscape(self._result, fun, coordinates, at, ax, resolution, label, constraints, cmap)

    def pairs(
        self, coordinates: Sequence[int | str] | None = None, ax: Axes | None = None, fig: Figure | None = None
    ) -> Any:
        """Modes, and draws of the mixture, for every pair of coordinates.

        Args:
            coordinates: two to six of them, by number or name; by default all, or the six in which modes differ most.
            ax: axes to draw in: the panels are `ax.child_axes`, row by row.
            fig: a figure or subfigure to add axes to instead.
        """
        return pairs(self._result, coordinates, ax, fig)

    def tree(self, ax: Axes | None = None) -> Any:
        """The disconnectivity tree, after `result.connect(fun)`: lines end at the values of modes and join at barriers.

        Dotted joins are at the worst point that was seen on a way; all others are saddles. Lines that do not join are
        modes between which no way is known.
        """
        return tree(self._result, ax)

    def map(self, ax: Axes | None = None) -> Any:
        """Modes in three dimensions or more on the plane in which they differ most, with local searches and ways.

        The plane is that of the first two principal components of the modes, in shares of what is shown of each
        coordinate; the title says how much of their differences it shows.
        """
        return map_of_modes(self._result, ax)

    def modes(self, ax: Axes | None = None) -> Any:
        """Value, weight and flatness of the best thirty modes as bars."""
        return modes(self._result, ax)

    def weights(self, ax: Axes | None = None) -> Any:
        """Weights of the components and the temperature against evaluations, for results of annealing."""
        return weights(self._result, ax)

    def convergence(self, ax: Axes | None = None) -> Any:
        """Modes found and best value against evaluations."""
        return convergence(self._result, ax)

    def parallel(self, ax: Axes | None = None) -> Any:
        """Every mode as a line through all coordinates, coloured by value; the ends of an axis are its bounds."""
        return parallel(self._result, ax)

    def animate(
        self,
        path: str | os.PathLike[str],
        fun: Callable[..., Any] | Objective | None = None,
        coordinates: Sequence[int | str] | None = None,
        at: ArrayLike | None = None,
        ax: Axes | None = None,
        run: int | None = 0,
        frames: int = 60,
        fps: int = 8,
    ) -> Any:
        """Write the annealing as a GIF: components with their ellipses, larger with more weight, over contours.

        Args:
            path: of the file, ending in .gif.
            fun, coordinates, at: as in `landscape`.
            ax: axes to draw on; the film is of their whole figure, and the last frame stays.
            run: which annealing run, from 0; None for all that were kept.
            frames: at most, evenly chosen.
            fps: frames in a second.
        """
        return animate(self._result, path, fun, coordinates, at, ax, run, frames, fps)

    def fits(
        self,
        f: Callable[..., Any],
        xdata: Any,
        ydata: ArrayLike,
        sigma: ArrayLike | None = None,
        ax: Axes | None = None,
    ) -> Any:
        """Data with the curves of the best six explanations, and below what is left of the data.

        Args:
            f: the model, `f(xdata, *parameters)` -> (m,), as for `curve_fit`.
            xdata, ydata: the data; without numbers (m,) in xdata they are drawn in their order.
            sigma: errors of the data, drawn as bars.
            ax: axes to draw in: the panels are `ax.child_axes`.
        """
        return fits(self._result, f, xdata, ydata, sigma, ax)

    def profile(
        self,
        parameter: int | str,
        residuals: Callable[..., Any] | None = None,
        points: int = 41,
        maxfev: int = 5000,
        ax: Axes | None = None,
    ) -> Any:
        """How much chi2 rises when a parameter is held and all others follow: the profile of the likelihood.

        It is followed outward from each of the best six explanations; the black line is the least of all. Where it is
        below 3.84 the parameter is within its interval of 95 %, which may have several pieces.

        Args:
            parameter: by number or name.
            residuals: for results that were loaded: the function, with residuals divided by their errors.
            points: values of the parameter, between its bounds.
            maxfev: evaluations of the residuals, at most.
            ax: axes to draw on.
        """
        return profile(self._result, parameter, residuals, points, maxfev, ax)

    def waterfall(self, ax: Axes | None = None) -> Any:
        """The values that local searches ended at, best first; steps are modes that were found again and again.

        Of `allmodes.audit` all ends, coloured by how many runs ended in the same mode; crosses are not at an optimum.
        """
        if self._result.audit is not None:
            return waterfall_of_ends(self._result, self._result.audit, ax)
        return waterfall(self._result, ax)


class RunPlots:
    """Plots of a run of `anneal`."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def landscape(
        self,
        fun: Callable[..., Any] | Objective | None = None,
        coordinates: Sequence[int | str] | None = None,
        at: ArrayLike | None = None,
        ax: Axes | None = None,
        resolution: int | None = None,
    ) -> Any:
        """The paths of the means over contours of a slice, with two standard deviations of each component at the end.

        Args:
            fun: the objective, or a function of one point (d,); without it there are no contours.
            coordinates, at, ax, resolution: as for a result; the slice goes through the best point evaluated.
        """
        return draw_run(self._run, fun, coordinates, at, ax, resolution)

    def weights(self, ax: Axes | None = None) -> Any:
        """Weights of the components and the temperature against evaluations."""
        return weights(as_result(self._run), ax)

    def animate(
        self,
        path: str | os.PathLike[str],
        fun: Callable[..., Any] | Objective | None = None,
        coordinates: Sequence[int | str] | None = None,
        at: ArrayLike | None = None,
        ax: Axes | None = None,
        frames: int = 60,
        fps: int = 8,
    ) -> Any:
        """Write the run as a GIF: the means of the components, larger with more weight, over contours."""
        return animate(as_result(self._run), path, fun, coordinates, at, ax, 0, frames, fps)
