"""Problems that people have: robots, chemistry, fits, likelihoods, molecules, structures, design.

All are minimised in their fields; here they are turned upside down, as every `Problem` is maximised. They have exact
gradients and no Hessians, and run in NumPy alone. Known optima were established by Newton's method from thousands of
starts; those held by bounds are listed with the others.
"""

from collections.abc import Callable

from allmodes.problems.applications.antenna_array import antenna_array
from allmodes.problems.applications.cyclohexane import cyclohexane
from allmodes.problems.applications.economics import economics
from allmodes.problems.applications.galaxies import galaxies
from allmodes.problems.applications.heptane import heptane
from allmodes.problems.applications.phase_retrieval import phase_retrieval
from allmodes.problems.applications.propane import propane
from allmodes.problems.applications.stack_loss import stack_loss
from allmodes.problems.applications.star_dome import star_dome
from allmodes.problems.applications.stewart_platform import stewart_platform
from allmodes.problems.applications.thurber_network import thurber_network
from allmodes.problems.problem import Problem

# What makes them, by name; robots and chemistry first, then fits, then energies and designs.
APPLICATIONS: dict[str, Callable[[], Problem]] = {
    made.__name__: made
    for made in (
        stewart_platform, cyclohexane, propane, economics, galaxies, stack_loss, thurber_network, phase_retrieval,
        heptane, star_dome, antenna_array,
    )
}  # fmt: skip

__all__ = [
    "antenna_array",
    "cyclohexane",
    "economics",
    "galaxies",
    "heptane",
    "phase_retrieval",
    "propane",
    "stack_loss",
    "star_dome",
    "stewart_platform",
    "thurber_network",
]
