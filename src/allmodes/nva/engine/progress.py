"""What is shown and reported of a run in progress."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.terminal import Line


class Snapshot(NamedTuple):
    """What a callback is given: the state of a run after a step."""

    step: int
    temperature: float
    means: NDArray[np.float64]
    weights: NDArray[np.float64]
    nfev: int
    best_value: float


@dataclass
class ProgressLine:
    """Shows the progress of runs. `offset` counts the steps of runs already done."""

    label: str
    steps: int
    is_shown: bool
    offset: int = 0
    line: Line = field(init=False)

    def __post_init__(self) -> None:
        self.line = Line(self.is_shown)

    def update(self, step: int, temperature: float, best_value: float) -> None:
        step += self.offset

        def text(elapsed: float) -> str:
            left = elapsed / max(step, 1) * (self.steps - step)
            state = f"{step}/{self.steps} steps  temperature {temperature:.2g}  best {best_value:.5g}"
            return f"{self.label}  {state}  {left:.0f} s left"

        self.line.show(text)

    def close(self) -> None:
        self.line.close()
