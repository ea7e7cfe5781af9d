"""The few array operations that NumPy and JAX do not share.

Everything else is written once against the array-API namespace of its arguments, so that the same function runs in
NumPy and, jitted, in JAX.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import scipy.special

# numpy.ndarray or jax.Array: the two have no common static type.
Array: TypeAlias = Any


def namespace(array: Array) -> Any:
    """The module (numpy or jax.numpy) whose functions take this array."""
    return np if isinstance(array, np.ndarray) else array.__array_namespace__()


def special(array: Array) -> ModuleType:
    """The module of special functions (gammaln, digamma, i0e, ...) that takes this array."""
    if isinstance(array, np.ndarray):
        return scipy.special
    import jax.scipy.special

    return jax.scipy.special


def logsumexp_and_shares(a: Array, axis: int = 0) -> tuple[Array, Array]:
    """log sum exp(a) along an axis, and the shares exp(a) / sum exp(a), from one pass of exponentials.

    The sum is -inf where all entries are.
    """
    xp = namespace(a)
    top = a.max(axis=axis, keepdims=True)
    top = xp.where(top == -xp.inf, 0.0, top)
    shares = xp.exp(a - top)
    total = shares.sum(axis=axis, keepdims=True)
    with np.errstate(divide="ignore"):  # log 0 = -inf is the right answer
        log_total = (top + xp.log(total)).squeeze(axis)
    shares /= xp.where(total > 0, total, 1.0)
    return log_total, shares


def logsumexp(a: Array, axis: int = 0) -> Array:
    """log sum exp(a) along an axis; -inf where all entries are -inf."""
    return logsumexp_and_shares(a, axis)[0]


def cholesky(matrices: Array) -> Array:
    """Lower Cholesky factors of a stack; a matrix that is not positive definite gives NaN, in NumPy as in JAX."""
    if not isinstance(matrices, np.ndarray):
        return namespace(matrices).linalg.cholesky(matrices)
    try:
        return np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        factors = np.full_like(matrices, np.nan)
        for i in np.ndindex(matrices.shape[:-2]):  # the rare path: find the ones that fail
            try:
                factors[i] = np.linalg.cholesky(matrices[i])
            except np.linalg.LinAlgError:
                continue
        return factors


def solve_lower(L: Array, b: Array) -> Array:
    """L^-1 b for a stack of lower-triangular matrices."""
    if isinstance(L, np.ndarray):
        # A batched LU beats a Python loop over triangular solves; L is already its own U^T, so no accuracy is lost.
        return np.linalg.solve(L, b)
    import jax.scipy.linalg

    return jax.scipy.linalg.solve_triangular(L, b, lower=True)


def map_leaves(function: Callable[..., Any], *trees: Any) -> Any:
    """Apply a function to matching arrays of equally built (named) tuples; None stays None."""
    first = trees[0]
    if first is None:
        return None
    if not isinstance(first, tuple):
        return function(*trees)
    parts = [map_leaves(function, *part) for part in zip(*trees, strict=True)]
    return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)


def leaves(tree: Any) -> list[Array]:
    """All arrays in nested (named) tuples, in order."""
    if tree is None:
        return []
    if not isinstance(tree, tuple):
        return [tree]
    return [leaf for part in tree for leaf in leaves(part)]
