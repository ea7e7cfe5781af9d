"""What data tell of parameters: their covariance, and what is not determined, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_WIDE = 0.25  # of the bounds: a flat prior between them has a standard deviation of 0.29
_VAGUE = 0.5  # of the value: an error that leaves a parameter open, if a combination with another is known
_SHARP = 0.1  # of the errors of two parameters: the error of a combination that is known much better than they
_TAKES_PART = 0.3  # of a unit vector: what a parameter has in a direction that is named
_FELT = 1e-130  # where no parameter is felt at all: its square is not 0
_NULL = 1e-6  # of a unit vector: less is rounding

Floats = NDArray[np.float64]


class Covariance(NamedTuple):
    """Of parameters (D, D): infinite where nothing is known; `finite`, the same with errors that are huge instead."""

    known: Floats
    finite: Floats


def covariance(J: Floats, scale: float) -> Covariance:
    """scale (J^T J)^-1 of a Jacobian (m, D), by singular values; columns of fixed parameters are NaN there.

    Parameters that take part in a direction in which no residual changes have infinite variances.

    >>> covariance(np.array([[1.0, 1.0], [1.0, 1.0]]), 1.0).known
    array([[inf, nan],
           [nan, inf]])
    """
    (m, D), free = J.shape, np.flatnonzero(~np.isnan(J).any(axis=0))
    known, finite = np.zeros((D, D)), np.zeros((D, D))
    if not len(free):
        return Covariance(known, finite)
    sizes = np.sqrt(np.einsum("md,md->d", J[:, free], J[:, free]))
    is_felt = sizes > 0.0
    units = np.where(is_felt, sizes, 1.0)
    _, singular, V = np.linalg.svd(J[:, free] / units, full_matrices=True)
    singular = np.concatenate([singular, np.zeros(len(free) - len(singular))])
    least = np.finfo(np.float64).eps * max(m, len(free)) * max(float(singular[0]), _FELT)
    is_null = singular <= least
    # what is not felt is as unknown as what cannot be told apart
    huge = V.T @ (V / np.maximum(singular, least)[:, None] ** 2)
    good = V[~is_null].T @ (V[~is_null] / singular[~is_null][:, None] ** 2)
    is_open = (np.abs(V[is_null]) > _NULL).any(axis=0) | ~is_felt
    good[is_open], good[:, is_open] = np.nan, np.nan
    good[is_open, is_open] = np.inf
    both = np.outer(units, units)
    with np.errstate(invalid="ignore", over="ignore"):
        known[np.ix_(free, free)], finite[np.ix_(free, free)] = scale * good / both, scale * huge / both
    return Covariance(known, finite)


def undetermined(x: Floats, covariance: Floats, widths: Floats, names: Sequence[str]) -> tuple[str, ...]:
    """What the data leave open, in words: parameters known only through a combination, or hardly at all.

    Args:
        x: the parameters (D,).
        covariance: of their errors (D, D), finite.
        widths: of their bounds (D,), infinite where open.
        names: of the parameters.

    >>> errors = np.array([[4.0, 4.0], [4.0, 4.01]])
    >>> undetermined(np.array([2.0, 2.0]), errors, np.full(2, 10.0), ["a", "b"])
    ('a and b only through their difference',)
    """
    errors = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        is_wide = errors > _WIDE * widths
        is_vague = is_wide | (errors > _VAGUE * np.abs(x))
    said, named = [], set[int]()
    for i, j in combinations(np.flatnonzero(is_vague & (errors > 0.0)).tolist(), 2):
        how = _combination(x[[i, j]], covariance[np.ix_([i, j], [i, j])])
        if how and not {i, j} <= named:
            said.append(f"{names[i]} and {names[j]} only through their {how}")
            named |= {i, j}
    rest = [i for i in np.flatnonzero(is_wide).tolist() if i not in named]
    if not rest:
        return tuple(said)
    scaled = covariance[np.ix_(rest, rest)] / np.outer(errors[rest], errors[rest])
    direction = np.abs(np.linalg.eigh(scaled)[1][:, -1])
    together = [i for i, part in zip(rest, direction, strict=True) if part > _TAKES_PART]
    if len(together) > 1 and np.abs(scaled - np.eye(len(rest))).max() > _VAGUE:
        said.append(f"{_listed([names[i] for i in together])} only in combination")
        rest = [i for i in rest if i not in together]
    return (*said, *(f"{names[i]} hardly at all" for i in rest))


def _combination(x: Floats, covariance: Floats) -> str:
    """Which combination of two parameters is known much better than both: the best one, or none."""
    errors = np.sqrt(np.diagonal(covariance))
    correlation = float(covariance[0, 1] / errors[0] / errors[1])
    found = {"sum": _share(errors, correlation), "difference": _share(errors, -correlation)}
    if (x != 0.0).all():  # errors of logarithms
        with np.errstate(over="ignore"):
            errors, correlation = errors / np.abs(x), correlation * float(np.prod(np.sign(x)))
        found |= {"product": _share(errors, correlation), "ratio": _share(errors, -correlation)}
    best = min(found, key=found.__getitem__)
    return best if found[best] < _SHARP else ""


def _share(errors: Floats, correlation: float) -> float:
    """The error of a sum of two, as a share of the smaller of their own."""
    if not np.isfinite(errors).all() or not errors.min() > 0.0:
        return math.inf
    ratio = float(errors.max() / errors.min())
    return math.sqrt(max(0.0, 1.0 + ratio * ratio + 2.0 * correlation * ratio))


def _listed(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"
