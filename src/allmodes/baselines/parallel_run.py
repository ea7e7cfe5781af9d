"""What the instances of a baseline return together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allmodes.status import Status

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False, eq=False)
class ParallelRun:
    """Where K independent instances ended and what that took.

    Arrays have the shape of the starts: (K, d), or (H, K, d) for H replicates.

    Attributes:
        name: of the method.
        points: (..., K, d) where the instances ended; NaN for those that diverged.
        values: (..., K) of the objective there; NaN also if they were not asked for.
        status: CONVERGED when every instance stopped by itself, DIVERGED when at least one diverged.
        nit: steps done by the instance that took most.
        nfev, njev, nhev: points at which the objective, its gradient and its Hessian were evaluated, all instances
            together; those for `values` included.
        trace_steps: (n,) steps done at each entry of the trace; the first is 0, the last the end.
        trace: (n, ..., K, d) where the instances were.
    """

    name: str
    points: Floats
    values: Floats
    status: Status
    nit: int
    nfev: int
    njev: int
    nhev: int
    trace_steps: NDArray[np.int64]
    trace: Floats

    @property
    def has_diverged(self) -> NDArray[np.bool_]:
        """Which instances stopped being finite, (..., K)."""
        return np.asarray(~np.isfinite(self.points).all(axis=-1))

    @property
    def success(self) -> bool:
        return self.status.success

    @property
    def message(self) -> str:
        """How it ended, with advice if something went wrong."""
        if self.status == Status.CONVERGED:
            return "Every instance stopped by itself before the last step."
        if self.status == Status.DIVERGED:
            gone = self.has_diverged
            return (
                f"{int(gone.sum())} of {gone.size} instances stopped being finite; their points are NaN. Lower the "
                "learning rate, or start closer to the modes; a function to be minimised diverges too: this maximises."
            )
        return self.status.message

    def __repr__(self) -> str:
        cost = f"{self.nfev} values, {self.njev} gradients, {self.nhev} Hessians"
        return f"{self.name}: {self.values.size} instances, {self.nit} steps, {cost}, {self.status.name}"


class Path:
    """Keeps where all instances are after some of the steps, and after the last."""

    def __init__(self, starts: Floats, every: int) -> None:
        self.every = every
        self.steps = [0]
        self.places = [starts.copy()]

    def see(self, step: int, places: Floats) -> None:
        """Where the instances are after a step."""
        if step % self.every == 0:
            self.keep(step, places)

    def keep(self, step: int, places: Floats) -> None:
        """The same, whatever the step; once."""
        if step > self.steps[-1]:
            self.steps.append(step)
            self.places.append(places.copy())
