"""Find every good optimum of a function, not just one."""

import allmodes.starting as _starting

# isort: split
import logging as _logging
import typing as _typing
import warnings as _warnings
from importlib.metadata import version as _version

from allmodes import baselines, nva, problems
from allmodes.auditing import audit
from allmodes.finder import ModeFinder
from allmodes.finding import find_maxima, find_minima
from allmodes.fitting import curve_fit, find_fits
from allmodes.objective import Objective
from allmodes.result import Mode, Result
from allmodes.rooting import find_roots
from allmodes.status import Status

__version__ = _version("allmodes")

del _starting
_logging.getLogger("allmodes").addHandler(_logging.NullHandler())  # nothing is written unless somebody listens

__all__ = [
    "Mode",
    "ModeFinder",
    "Objective",
    "Result",
    "Status",
    "audit",
    "baselines",
    "curve_fit",
    "find_fits",
    "find_maxima",
    "find_minima",
    "find_roots",
    "nva",
    "problems",
]

_MOVED = (  # names of allmodes.nva that were here before
    "Algorithm", "Run", "Runs", "Trace", "anneal", "control_variates", "covariances", "estimators", "families",
    "presets", "proposals", "schedules", "updates", "utilities",
)  # fmt: skip

if not _typing.TYPE_CHECKING:  # or every misspelt name would pass as Any

    def __getattr__(name: str) -> object:
        if name not in _MOVED:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        text = f"allmodes.{name} is now allmodes.nva.{name}; the old name will go in version 0.3."
        _warnings.warn(text, DeprecationWarning, stacklevel=2)
        return getattr(nva, name)
