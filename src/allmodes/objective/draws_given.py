"""What users pass as `starts`, checked: draws of a prior, or a function that makes them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.checks import real_array
from allmodes.objective.bounds_given import check_order, sides
from allmodes.objective.bounds_scipy import as_pairs
from allmodes.objective.grids import without_choices
from allmodes.objective.scales import to_log

POOL = 4096  # draws taken of a sampler: quantiles known to 2 %, and more than most searches begin at
WIDTH = 6.0  # scales that the region around the median spans: three either way; with ten, searches cost a third more
_FEWEST = 2  # draws for each coordinate: fewer tell no quantiles
_QUANTILES = (0.16, 0.5, 0.84)  # of a normal distribution the median and one deviation to both sides
_LEAST = 1e-12  # of the size of draws: a scale below that is rounding

Floats = NDArray[np.float64]


class Draws(NamedTuple):
    """Draws (n, D) inside the bounds, and how many were given before those outside were left out."""

    points: Floats
    given: int


def draws_of(starts: Any, rng: Any, bounds: Any = None) -> Draws | None:
    """The draws (n, D) that a search begins at: those given that are inside the bounds, or 4,096 of a sampler.

    Args:
        starts: draws (n, D); a function (rng, n) -> (n, D); or None.
        rng: whatever numpy.random.default_rng takes. A sampler gets a generator of its own, made from it.
        bounds: as the user gave them.
    """
    if starts is None:
        return None
    draws = _sampled(starts, rng) if callable(starts) else real_array("starts", starts, "draws (n, d)")
    if draws.ndim != 2 or not draws.size:
        raise ValueError(f"starts has shape {draws.shape}; wanted draws (n, d), one in each row, or a sampler.")
    return Draws(draws if bounds is None else _within(draws, bounds), len(draws))


def _sampled(sampler: Any, rng: Any) -> Floats:
    """Draws of a sampler, refused unless it returned what was asked for."""
    try:
        found = sampler(np.random.default_rng(np.random.default_rng(rng).integers(2**32, size=4)), POOL)
    except TypeError as error:
        raise TypeError(
            f"starts(rng, {POOL}) raised TypeError: {error}; wanted a function (rng, n) -> (n, d)."
        ) from error
    try:
        draws = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError) as error:
        kind = type(found).__name__
        raise ValueError(f"starts(rng, {POOL}) returned a {kind} that is no array of numbers: {error}") from error
    if draws.ndim != 2 or len(draws) != POOL:
        raise ValueError(f"starts(rng, {POOL}) returned shape {draws.shape}; wanted ({POOL}, d), a draw in each row.")
    if not (is_finite := np.isfinite(draws).all(axis=1)).all():
        raise ValueError(
            f"starts(rng, {POOL}) returned {int((~is_finite).sum())} draws that are not finite; sample again where it "
            "fails. (A function that fails at finite draws does no harm.)"
        )
    return draws


def _within(draws: Floats, bounds: Any) -> Floats:
    """The draws that are inside the bounds, in coordinates that these leave free."""
    lower, upper = sides(without_choices(as_pairs(bounds, draws.shape[1]))[0], draws)
    check_order(lower, upper)
    if draws.shape[1] != len(lower):
        raise ValueError(f"starts has {draws.shape[1]} coordinates, and bounds has {len(lower)}; wanted as many.")
    is_free = lower < upper
    draws = np.where(is_free, draws, lower)
    return draws[((draws >= lower) & (draws <= upper)).all(axis=1)]


def region_of(
    draws: Draws,
    free: NDArray[np.bool_],
    is_log: NDArray[np.bool_] | None,
    has_levels: bool = False,
    spread: Any = None,
) -> tuple[Floats, Floats]:
    """The median of draws (1, D), and how far around it to look (D,); both in logarithms where these are searched.

    Refused where draws tell neither.
    """
    if has_levels:
        raise ValueError("starts are draws of real coordinates; with whole numbers or choices leave starts out.")
    if spread is not None:
        raise ValueError("spread is given beside starts, which say how far to look; it belongs to x0: leave it out.")
    n, least = len(draws.points), max(2, _FEWEST * int(free.sum()))
    if n < least:
        counted = f"{draws.given} draw{'s' if draws.given != 1 else ''}"
        counted += f", {n} of them inside the bounds," if n < draws.given else ""
        raise ValueError(
            f"starts has {counted} of {int(free.sum())} free coordinates; wanted at least {least}, "
            "two for each, and better a hundred."
        )
    median, scale = location(to_log(draws.points, is_log))
    none = free & ~(scale > _LEAST * np.abs(median))
    if none.any():
        i = int(np.argmax(none))
        value = np.median(draws.points[:, i])
        raise ValueError(
            f"starts has no spread in coordinate {i}: from 16 to 84 % of its draws are {value:g}. Fix it by bounds "
            f"({value:g}, {value:g}), or draw it from where it may lie."
        )
    return median[None], WIDTH / 2 * scale


def location(draws: Floats) -> tuple[Floats, Floats]:
    """Medians and scales (D,) of draws (n, D), half of what lies between 16 and 84 % of them.

    By quantiles, for tails may be as heavy as they like.
    """
    low, median, high = np.quantile(draws, _QUANTILES, axis=0)
    return median, high / 2 - low / 2
