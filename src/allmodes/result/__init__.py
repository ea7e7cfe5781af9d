"""What a search returns: `Result` and its parts."""

from allmodes.result.fit import Fit
from allmodes.result.history import History
from allmodes.result.masses import Draws, Masses, ModeMass
from allmodes.result.mode import Mode, best_of
from allmodes.result.paths import Paths
from allmodes.result.result import Result
from allmodes.result.root import Root
from allmodes.result.trace import AnnealingTrace

__all__ = [
    "AnnealingTrace",
    "Draws",
    "Fit",
    "History",
    "Masses",
    "Mode",
    "ModeMass",
    "Paths",
    "Result",
    "Root",
    "best_of",
]
