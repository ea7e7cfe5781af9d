"""Is the log density the function whose modes were found, with the right sign and up to a constant?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.result.result import Result

_SLACK = 0.1  # by which it may differ from one mode to another,
_SHARE = 0.01  # and as a share of the differences between modes

Floats = NDArray[np.float64]


def check_values(result: Result, values: Floats) -> None:
    """Refuse values (K,) at the modes that cannot be those of the log density that was searched."""
    known = np.isfinite(values)
    if not known.any():
        found = "-inf" if np.isneginf(values).any() else "NaN, or failed,"
        raise ValueError(
            f"log_density is {found} wherever there is a mode, as at x = {result.modes[0].x.tolist()}; wanted the "
            "log density whose maxima they are, up to a constant."
        )
    searched = (1.0 if result.maximise else -1.0) * np.array([mode.fun for mode in result.modes])[known]
    here, slack = values[known], _SLACK + _SHARE * float(np.ptp(searched))
    is_other = np.ptp(here - searched) > slack
    called, wanted = ("find_maxima(f)", "f itself") if result.maximise else ("find_minima(f)", "-f")
    if _is_negative(here, searched) or (is_other and np.ptp(here + searched) <= slack):
        raise ValueError(
            f"log_density has the wrong sign: at the best mode it is {here[0]:.6g}. It is the log density, whatever "
            f"was searched; this result is of {called}, so that {wanted} was wanted, up to a constant."
        )
    if is_other:
        off = here - searched - np.median(here - searched)
        mode = result.modes[int(np.flatnonzero(known)[np.argmax(np.abs(off))])]
        raise ValueError(
            f"log_density is not the function whose modes these are: between modes it differs from that by up to "
            f"{np.ptp(off):.3g}, most at x = {mode.x.tolist()}. This result is of {called}, and {wanted} was wanted, "
            "up to a constant; or search with find_maxima(log_density)."
        )


def _is_negative(here: Floats, searched: Floats) -> bool:
    """Whether values are those that were searched with the other sign, and not all of them 0."""
    size = float(np.abs(searched).max())
    return bool(size > _SLACK and (np.abs(here + searched) <= 1e-9 * size).all())
