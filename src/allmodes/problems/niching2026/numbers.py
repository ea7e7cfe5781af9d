"""The random numbers the suite is made of: those that MATLAB draws from its seeds 0 to 3.

MATLAB's generator is the Mersenne twister that `RandomState` has too. Its uniform numbers are the same ones, with 5489
in the place of the seed 0; its normal numbers come from a ziggurat of 256 layers.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import erfc

Floats = NDArray[np.float64]

COUNT = 10_000  # numbers of either kind; every instance takes them in an order of its own
_DIGITS = 10  # they are rounded to
_LAYERS = 256


@cache
def uniforms() -> Floats:
    """Uniform numbers of the seed 0, (COUNT,)."""
    return np.round(_generator(5489).random_sample(COUNT), _DIGITS)


@cache
def normals() -> Floats:
    """Normal numbers of the seed 1, (COUNT,)."""
    words = _generator(1).randint(0, 2**32, 3 * COUNT, dtype=np.uint32)  # two for a number, four for one in fifty
    ziggurat = _Ziggurat(words.astype(np.uint64))
    return np.round([ziggurat.draw() for _ in range(COUNT)], _DIGITS)


def order(n: int) -> NDArray[np.intp]:
    """The n-th permutation (n from 0) of the seed 2, (COUNT,): where uniform numbers have their places by size."""
    return np.argsort(_generator(2).random_sample((n + 1) * COUNT)[-COUNT:], kind="stable")


@cache
def lowest() -> Floats:
    """Values of the global minima of the 8 kinds, (8,), of the seed 3."""
    return np.round(500.0 - 1000.0 * _generator(3).random_sample(8), 1)


def _generator(seed: int) -> np.random.RandomState:
    return np.random.RandomState(seed)


class _Ziggurat:
    """Marsaglia and Tsang's ziggurat: layers of equal area under exp(-x^2 / 2), and a tail.

    Of two words, the first 29 bits of one and the last 24 of the other are the place in a layer, the first 8 of the
    other its number, from the top.
    """

    def __init__(self, words: NDArray[np.uint64]) -> None:
        self._pairs = iter(words.reshape(-1, 2).tolist())
        self.tail, self.widths = _layers()

    def draw(self) -> float:
        while True:
            first, second = next(self._pairs)
            place = 2.0 * ((first >> 3) * 2**24 + (second & (2**24 - 1))) / 2**53 - 1.0
            layer = _LAYERS - 1 - (second >> 24)
            x = place * self.widths[layer]
            if abs(x) < self.widths[layer + 1]:
                return x
            if layer == 0:
                return float(np.copysign(self._beyond(), place))
            low, high = np.exp(-0.5 * self.widths[[layer, layer + 1]] ** 2)
            if low + self._uniform() * (high - low) < np.exp(-0.5 * x * x):
                return x

    def _beyond(self) -> float:
        """A number in the tail."""
        while True:
            along, height = (-np.log(self._uniform()) for _ in range(2))
            along /= self.tail
            if 2.0 * height > along**2:
                return self.tail + along

    def _uniform(self) -> float:
        first, second = next(self._pairs)
        return ((first >> 5) * 2**26 + (second >> 6)) / 2**53


def _layers() -> tuple[float, Floats]:
    """Where the tail begins, and the half widths of the layers from the bottom to the top, where it is 0."""

    def made(tail: float) -> tuple[Floats, float]:
        area = tail * np.exp(-0.5 * tail**2) + np.sqrt(0.5 * np.pi) * erfc(tail / np.sqrt(2.0))
        widths = [area / np.exp(-0.5 * tail**2), tail]
        while len(widths) < _LAYERS:
            height = np.exp(-0.5 * widths[-1] ** 2) + area / widths[-1]
            if height >= 1.0:
                return np.array(widths), 1.0  # too few: the tail begins too early
            widths.append(np.sqrt(-2.0 * np.log(height)))
        return np.array([*widths, 0.0]), np.exp(-0.5 * widths[-1] ** 2) + area / widths[-1] - 1.0

    tail = float(brentq(lambda tail: made(tail)[1], 2.0, 5.0, xtol=1e-15))
    return tail, made(tail)[0]
