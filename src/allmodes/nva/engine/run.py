"""What a run returns."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from allmodes.nva.annealing.algorithm import Algorithm
from allmodes.nva.engine.trace import Trace
from allmodes.nva.mixture.mixture import Mixture, log_weights
from allmodes.status import Status
from allmodes.terminal import wrapped

_SHOWN = 20  # components in a repr
_SHOWN_COORDINATES = 4
_PLOTS = "allmodes.report.accessor"  # a higher layer: found by name when it is asked for


@dataclass(frozen=True, repr=False, eq=False)
class Run:
    """The mixture at the end of a run, how it got there, and what it cost.

    Attributes:
        algorithm: what ran.
        mixture: log-ratios and components, as the next step would need them; see first_step of `anneal`.
        trace: how the run went.
        status: how it ended; `message` says it in words, with advice when something went wrong.
        nit: steps done.
        nfev, njev, nhev: points at which the objective, its gradient and its Hessian were evaluated.
        best_x, best_value: the best point evaluated and its value.
        failure_point: where the objective was not finite, if that ended the run.
    """

    algorithm: Algorithm
    mixture: Mixture
    trace: Trace
    status: Status
    nit: int
    nfev: int
    njev: int
    nhev: int
    best_x: NDArray[np.float64]
    best_value: float
    failure_point: NDArray[np.float64] | None = None

    @property
    def plot(self) -> Any:
        """Plots: `plot.landscape()`, `weights`, `animate`."""
        return importlib.import_module(_PLOTS).RunPlots(self)

    @property
    def means(self) -> NDArray[np.float64]:
        """Component means (K, d): the candidates for modes."""
        return np.asarray(self.algorithm.family.means(self.mixture.components))

    @property
    def weights(self) -> NDArray[np.float64]:
        """Mixture weights (K,), which sum to 1."""
        return np.exp(self.log_weights)

    @property
    def log_weights(self) -> NDArray[np.float64]:
        """Logarithms of the weights, finite also where a weight underflows."""
        return np.asarray(log_weights(self.mixture.log_ratios))

    @property
    def covariances(self) -> NDArray[np.float64]:
        """Component covariances (K, d, d)."""
        return np.asarray(self.algorithm.family.covariances(self.mixture.components))

    @property
    def success(self) -> bool:
        return self.status.success

    @property
    def message(self) -> str:
        where = "" if self.failure_point is None else f" It happened at x = {self.failure_point.tolist()}."
        return f"{self.status.message}{where} {self.status.advice}".strip()

    def __repr__(self) -> str:
        K, d = self.means.shape
        order = np.argsort(-self.weights, kind="stable")
        spread = np.sqrt(np.trace(self.covariances, axis1=-2, axis2=-1) / d)
        lines = [
            *wrapped(f"{self.algorithm.name}: {self.nit} steps, {self.nfev} evaluations, {K} components in {d}-d"),
            *wrapped(f"status {self.status.name}: {self.message}"),
            f"best value {self.best_value:.6g}",
            "",
            f"{'weight':>8}  {'spread':>8}  mean",
        ]
        for k in order[:_SHOWN]:
            shown = "  ".join(f"{x: .5g}".ljust(11) for x in self.means[k, :_SHOWN_COORDINATES]).rstrip()
            more = " ..." if d > _SHOWN_COORDINATES else ""
            lines.append(f"{self.weights[k]:8.4f}  {spread[k]:8.2g}  {shown}{more}")
        if K > _SHOWN:
            lines.append(f"... and {K - _SHOWN} more")
        return "\n".join(lines)


class Runs(Sequence[Run]):
    """Independent runs of one algorithm; arrays of all of them have the run as their first axis."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = tuple(runs)

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> Runs: ...
    def __getitem__(self, index: int | slice) -> Run | Runs:
        return Runs(self._runs[index]) if isinstance(index, slice) else self._runs[index]

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    def _stack(self, name: str) -> NDArray[Any]:
        return np.array([getattr(run, name) for run in self])

    @property
    def means(self) -> NDArray[np.float64]:
        """(H, K, d)."""
        return self._stack("means")

    @property
    def weights(self) -> NDArray[np.float64]:
        """(H, K)."""
        return self._stack("weights")

    @property
    def covariances(self) -> NDArray[np.float64]:
        """(H, K, d, d)."""
        return self._stack("covariances")

    @property
    def trace(self) -> tuple[Trace, ...]:
        """One trace per run."""
        return tuple(run.trace for run in self)

    @property
    def status(self) -> tuple[Status, ...]:
        """How each run ended."""
        return tuple(run.status for run in self)

    @property
    def success(self) -> bool:
        """Whether all of them ended as planned."""
        return all(run.success for run in self)

    @property
    def nfev(self) -> int:
        """Evaluations of the objective in all runs together."""
        return sum(run.nfev for run in self)

    @property
    def njev(self) -> int:
        """Evaluations of the gradient in all runs together."""
        return sum(run.njev for run in self)

    @property
    def nhev(self) -> int:
        """Evaluations of the Hessian in all runs together."""
        return sum(run.nhev for run in self)

    def __repr__(self) -> str:
        ends = ", ".join(f"{self.status.count(s)} {s.name}" for s in sorted(set(self.status)))
        name = self[0].algorithm.name if len(self) else "no"
        return f"{len(self)} runs of {name}: {self.nfev} evaluations, {ends}"
