"""Products of different families over the coordinates: mixed domains."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes.arrays import Array, namespace
from allmodes.checks import instance, whole_number
from allmodes.nva.mixture.families.bernoulli import Bernoulli
from allmodes.nva.mixture.families.family import Family, Rates, Rule
from allmodes.nva.mixture.families.gaussian import Gaussian


@dataclass(frozen=True)
class Product(Family):
    """Independent blocks of coordinates, each with its own family.

    Covariances are given block by block, in a list.

    >>> mixed = Product((Gaussian(), 2), (Bernoulli(), 3))
    >>> components = mixed.start(np.array([[0.0, 0.0, 0.5, 0.5, 0.5]]), [1.0, None])
    """

    blocks: tuple[tuple[Family, int], ...]

    def __init__(self, *blocks: tuple[Family, int]) -> None:
        blocks = blocks or ((Gaussian(), 1), (Bernoulli(), 1))
        for block in blocks:
            if not isinstance(block, tuple) or len(block) != 2:
                raise TypeError(
                    f"block is {block!r}; wanted pairs of a family and its number of coordinates: "
                    "Product((Gaussian(), 2), (Gamma(), 1))."
                )
            family, size = block
            instance("family", family, Family, "Write Product((Gaussian(), 2), (Gamma(), 1)).")
            whole_number("number of coordinates", size, 1)
        object.__setattr__(self, "blocks", tuple(blocks))

    @property
    def _slices(self) -> list[slice]:
        ends = accumulate((size for _, size in self.blocks), initial=0)
        return [slice(start, end) for start, end in pairwise(ends)]

    def _families(self) -> list[Family]:
        return [family for family, _ in self.blocks]

    def _each(self, method: str, *arguments: Any) -> list[Any]:
        """Call a method of every block's family with its own part of every argument."""
        return [getattr(f, method)(*part) for f, *part in zip(self._families(), *arguments, strict=True)]

    def start(self, means: NDArray[np.float64], covariances: Any) -> Any:
        d = sum(size for _, size in self.blocks)
        if means.shape[1] != d:
            raise ValueError(f"means has {means.shape[1]} coordinates; the blocks of {self!r} have {d} in all.")
        if not isinstance(covariances, (list, tuple)) or len(covariances) != len(self.blocks):
            raise ValueError(
                f"covariances is {covariances!r}; a Product needs a list with one entry for each of its "
                f"{len(self.blocks)} blocks, for instance [0.5, None]."
            )
        return tuple(self._each("start", [means[:, s] for s in self._slices], covariances))

    def check_points(self, name: str, points: NDArray[np.float64]) -> None:
        self._each("check_points", [name] * len(self.blocks), [points[..., s] for s in self._slices])

    def means(self, components: Any) -> Array:
        parts = self._each("means", components)
        return namespace(parts[0]).concat(parts, axis=-1)

    def covariances(self, components: Any) -> Array:
        parts = self._each("covariances", components)
        whole = np.zeros((*parts[0].shape[:-2], self._slices[-1].stop, self._slices[-1].stop))
        for part, s in zip(parts, self._slices, strict=True):
            whole[..., s, s] = part
        return whole

    def noise(self, rng: np.random.Generator, shape: tuple[int, ...], d: int) -> Any:
        return tuple(family.noise(rng, shape, size) for family, size in self.blocks)

    def sample(self, components: Any, noise: Any) -> tuple[Array, Any]:
        drawn = self._each("sample", components, noise)
        points = [points for points, _ in drawn]
        return namespace(points[0]).concat(points, axis=-1), tuple(local for _, local in drawn)

    def locate(self, components: Any, points: Array) -> Any:
        return tuple(self._each("locate", components, [points[..., s] for s in self._slices]))

    def log_components(self, components: Any, points: Array) -> Array:
        return sum(self._each("log_components", components, [points[..., s] for s in self._slices]))

    def natural_gradient(self, components: Any, local: Any, scores: Array) -> Any:
        return tuple(self._each("natural_gradient", components, local, [scores] * len(self.blocks)))

    def step(self, components: Any, direction: Any, rates: Rates, rule: Rule) -> Any:
        count = len(self.blocks)
        return tuple(self._each("step", components, direction, [rates] * count, [rule] * count))
