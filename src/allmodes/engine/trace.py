"""How a run went, step by step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import logsumexp_and_shares
from allmodes.engine.plan import Plan
from allmodes.mixture.mixture import Mixture


@dataclass(frozen=True)
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
    """Collects rows (step, means, log-ratios, mean values, best value) and makes a Trace of them."""

    plan: Plan
    rows: list[tuple[int, Any, Any, Any, float]] = field(default_factory=list)

    def start(self, mixture: Mixture) -> None:
        self.add(0, mixture, np.full(self.plan.K, np.nan), -np.inf)

    def add(self, step: int, mixture: Mixture, mean_values: Any, best_value: float) -> None:
        means = self.plan.algorithm.family.means(mixture.components)
        self.rows.append((step, means, mixture.log_ratios, mean_values, best_value))

    def extend(self, steps: Any, means: Any, log_ratios: Any, mean_values: Any, best_values: Any) -> None:
        """Many rows at once."""
        self.rows.extend(zip(steps.tolist(), means, log_ratios, mean_values, best_values.tolist(), strict=True))

    def finish(self) -> Trace:
        step, means, log_ratios, mean_values, best_value = (np.array(column) for column in zip(*self.rows, strict=True))
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
