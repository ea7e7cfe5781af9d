"""What is known of a function at a batch of points."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from allmodes.arrays import Array

# Which derivatives are needed besides the value: a subset of {"gradient", "hessian"}.
Needs: TypeAlias = frozenset[str]

VALUE: Needs = frozenset()
GRADIENT: Needs = frozenset({"gradient"})
HESSIAN: Needs = frozenset({"hessian"})
BY_ORDER: list[Needs] = [VALUE, GRADIENT, GRADIENT | HESSIAN]  # of derivatives


class Evaluation(NamedTuple):
    """Values (N,), and the derivatives that were asked for: gradients (N, d), Hessians (N, d, d).

    An estimator says in advance what it needs and reads only that.
    """

    value: Array
    gradient: Array = None
    hessian: Array = None

    def plus(self, factor: Array, other: Evaluation) -> Evaluation:
        """self + factor * other, for everything both know."""
        return Evaluation(
            *(None if a is None or b is None else _plus(a, factor, b) for a, b in zip(self, other, strict=True))
        )


def _plus(a: Array, factor: Array, b: Array) -> Array:
    result = factor * b
    result += a  # in place under NumPy: Hessians can be large
    return result
