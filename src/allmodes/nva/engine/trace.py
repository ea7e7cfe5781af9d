"""How a run went, step by step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import logsumexp_and_shares
from allmodes.nva.engine.plan import Plan
from allmodes.nva.mixture.mixture import Mixture


@dataclass(frozen=True, eq=False)
class Trace:
    """Snapshots of a run; entry 0 is the start, the last entry is the end.

    Attributes:
        step: steps done, (n,).
        temperature, learning_rate: of the step that led here, (n,); those of the first step for entry 0.
        means: (n, K, d).
        weights: (n, K).
        mean_values: mean objective over every component's sample in that step, (n, K); NaN for entry 0.
        best_value: best objective value evaluated so far, (n,); -inf for entry 0.
    """

    step: NDArray[np.int64]
    temperature: NDArray[np.float64]
    learning_rate: NDArray[np.float64]
    means: NDArray[np.float64]
    weights: NDArray[np.float64]
    mean_values: NDArray[np.float64]
    best_value: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.step)


@dataclass
class Recorder:
    """Collects rows (step, means, log-ratios, mean values, best value) and makes a Trace of them.

    Only some steps are kept; the last one seen always is.
    """

    plan: Plan
    rows: list[tuple[int, Any, Any, Any, float]] = field(default_factory=list)
    last: list[tuple[int, Any, Any, Any, float]] = field(default_factory=list)

    def start(self, mixture: Mixture) -> None:
        self.see(0, mixture, np.full(self.plan.K, np.nan), -np.inf)

    def see(self, step: int, mixture: Mixture, mean_values: Any, best_value: float) -> None:
        """The mixture after a step."""
        row = (step, self.plan.algorithm.family.means(mixture.components), mixture.log_ratios, mean_values, best_value)
        if step % self.plan.trace_every == 0:
            self.rows.append(row)
        else:
            self.last = [row]

    def see_all(self, steps: Any, means: Any, log_ratios: Any, mean_values: Any, best_values: Any) -> None:
        """The mixtures after consecutive steps."""
        if len(steps):
            kept = steps % self.plan.trace_every == 0
            columns = (means, log_ratios, mean_values)
            self.rows.extend(
                zip(steps[kept].tolist(), *(c[kept] for c in columns), best_values[kept].tolist(), strict=True)
            )
            self.last = [(int(steps[-1]), *(c[-1] for c in columns), float(best_values[-1]))]

    def finish(self) -> Trace:
        rows = self.rows + [row for row in self.last if row[0] > self.rows[-1][0]]
        step, means, log_ratios, mean_values, best_value = (np.array(column) for column in zip(*rows, strict=True))
        index = np.maximum(step - 1, 0)
        weights = logsumexp_and_shares(log_ratios, axis=1)[1]
        return Trace(
            step,
            self.plan.temperatures[index] if self.plan.steps else np.full(len(step), np.nan),
            self.plan.learning_rates[index] if self.plan.steps else np.full(len(step), np.nan),
            means,
            weights,
            mean_values,
            best_value,
        )
