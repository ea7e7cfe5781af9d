"""`Result.masses`: arguments checked, draws made, told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from allmodes.checks import whole_number
from allmodes.masses.estimate import masses
from allmodes.masses.sampling import sample
from allmodes.masses.start import start
from allmodes.masses.target import Target
from allmodes.result.masses import Masses
from allmodes.result.result import Result

_FEWEST = 100  # draws


def masses_of(
    result: Result, log_density: Callable[..., Any], *, draws: int, rounds: int, rng: Any, vectorized: bool, args: Any,
    symmetry: Any, workers: Any, on_error: str,
) -> Masses:  # fmt: skip
    """See `Result.masses`."""
    draws, rounds = whole_number("draws", draws, _FEWEST), whole_number("rounds", rounds, 0)
    generator = np.random.default_rng(rng)
    with Target(result, log_density, args, vectorized, symmetry, workers, on_error) as target:
        first = start(result, target)
        weighed, done = sample(target, first, draws, rounds, generator)
        return masses(result, target, first, weighed, done)
