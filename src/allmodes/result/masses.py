"""What the modes of a log density weigh, with errors: masses, evidence, and weighted draws."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes import storage
from allmodes.checks import whole_number
from allmodes.result.masses_table import text_of
from allmodes.storage import stored

Floats = NDArray[np.float64]


@stored
@dataclass(frozen=True, eq=False)
class Draws:
    """Draws around all modes, inside the bounds.

    Attributes:
        x: (n, d), in the user's coordinates.
        mode: (n,), the number of the mode that each belongs to, from 0.
        log_weight: (n,), logarithms of raw weights, whose exponentials sum to the evidence; -inf where there is no
            density.
        weight: (n,), smoothed weights that sum to 1.
    """

    x: Floats
    mode: NDArray[np.intp]
    log_weight: Floats
    weight: Floats

    def __len__(self) -> int:
        return len(self.x)


@stored
@dataclass(frozen=True, eq=False)
class ModeMass:
    """What one mode weighs. NaN where `reason` says why it is not stated.

    Attributes:
        x, kind: of the mode.
        mass: share of the evidence that belongs to it, and `standard_error`.
        log_evidence: logarithm of the integral of the density around it, and `log_evidence_error`.
        pareto_k: shape of the tail of its weights: above 0.7 no usual number of draws is enough, and mass and evidence
            are not stated unless its weights are nearly constant. NaN where there are too few draws to tell; -inf where
            there is no tail at all.
        ess: effective number of its draws, of which there are `num_draws`.
        laplace, laplace_log_evidence: mass and evidence by Laplace's approximation, from value and curvature alone; NaN
            on level ground and at constraints, where it is not defined.
        reason: why mass or evidence are not stated; empty where they are.
        note: what else is to be known of it, such as that a bound holds it.
    """

    x: Floats
    kind: str
    mass: float
    standard_error: float
    log_evidence: float
    log_evidence_error: float
    pareto_k: float
    ess: float
    num_draws: int
    laplace: float
    laplace_log_evidence: float
    reason: str = ""
    note: str = ""


@stored
@dataclass(frozen=True, repr=False, eq=False)
class Masses:
    """What the modes of a log density weigh; see `Result.masses`.

    Attributes:
        modes: one `ModeMass` for each mode of the result, in its order.
        log_evidence: logarithm of the integral over all modes, and `standard_error`; NaN where the modes whose evidence
            is not stated may matter.
        ess: effective number of draws.
        draws: with labels and weights; see `Draws`.
        nfev: points at which the log density was evaluated.
        num_zero: of these, where the density was 0.
        nfail, failures: where it raised or was NaN, and (point, kind, text) of some of them. They count as 0.
        rounds: of refinement that were made.
        reason: why the evidence is not stated; empty where it is.
        names: of the coordinates.
        note: what draws say against the modes, such as that one is higher than all of them; mostly empty.

    A sequence of its `modes`: `masses[0]`, `len(masses)`, `for each in masses`.
    """

    modes: tuple[ModeMass, ...]
    log_evidence: float
    standard_error: float
    ess: float
    draws: Draws
    nfev: int
    num_zero: int
    nfail: int
    failures: tuple[Any, ...]
    rounds: int
    reason: str
    names: tuple[str, ...]
    note: str = ""

    def __len__(self) -> int:
        return len(self.modes)

    def __iter__(self) -> Iterator[ModeMass]:
        return iter(self.modes)

    def __getitem__(self, index: int) -> ModeMass:
        return self.modes[index]

    @property
    def mass(self) -> Floats:
        """Masses of all modes (K,), NaN where they are not stated."""
        return np.array([each.mass for each in self.modes])

    def resample(self, n: int, rng: Any = None) -> Draws:
        """n draws that all weigh the same, by systematic resampling; a draw may come more than once.

        Args:
            n: how many.
            rng: a seed or a numpy.random.Generator.
        """
        n = whole_number("n", n, 1)
        generator, weight = np.random.default_rng(rng), self.draws.weight
        ends = np.cumsum(weight)
        places = (np.arange(n) + generator.random()) / n * ends[-1]
        chosen = generator.permutation(np.minimum(np.searchsorted(ends, places, side="right"), len(weight) - 1))
        level = np.logaddexp.reduce(self.draws.log_weight) - np.log(n)
        return Draws(self.draws.x[chosen], self.draws.mode[chosen], np.full(n, level), np.full(n, 1.0 / n))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to one npz file, without pickle."""
        storage.save(path, self, kind="masses", note=f"masses of {len(self)} modes")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Masses:
        """Read what `save` wrote."""
        masses = storage.load(path, kind="masses")
        if not isinstance(masses, cls):
            raise ValueError(f"{os.fspath(path)} holds a {type(masses).__name__}; Masses were wanted.")
        return masses

    def __repr__(self) -> str:
        return text_of(self)
