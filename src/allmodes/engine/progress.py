"""One line on stderr that says how far a run is."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_FIRST_AFTER = 2.0  # seconds; a shorter run shows nothing
_EVERY = 0.2


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
    """Rewrites one line while runs last, and wipes it at the end. `offset` are the steps of runs already done."""

    label: str
    steps: int
    is_shown: bool
    offset: int = 0
    started: float = field(default_factory=time.monotonic)
    last: float = 0.0

    def update(self, step: int, temperature: float, best_value: float) -> None:
        if not self.is_shown:
            return
        elapsed = time.monotonic() - self.started
        if elapsed < _FIRST_AFTER or elapsed - self.last < _EVERY:
            return
        self.last = elapsed
        step += self.offset
        left = elapsed / max(step, 1) * (self.steps - step)
        text = f"{self.label}  {step}/{self.steps} steps  temperature {temperature:.2g}  best {best_value:.5g}"
        sys.stderr.write(f"\r{text}  {left:.0f} s left"[:79].ljust(79))
        sys.stderr.flush()

    def close(self) -> None:
        if self.last:
            sys.stderr.write("\r" + " " * 79 + "\r")
            sys.stderr.flush()
