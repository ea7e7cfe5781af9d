"""Where local searches begin, and what searchers hand to the verifier: points, and where they came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.search.curvature import Curvature
from allmodes.storage import stored

Array = NDArray[np.float64]

# Kinds of starts of local searches.
GIVEN, SPACE_FILLING, SCREENED, BETWEEN_MODES, NEAR_BEST, AT_BOUNDS, LEAPING = (
    "given", "space-filling", "screened", "between modes", "near best", "at bounds", "leaping",
)  # fmt: skip
FRESH = (SPACE_FILLING, SCREENED, AT_BOUNDS)  # starts in new places; those between modes are not
EQUATIONS = "equations"  # where the Hessian of a candidate comes from that is a simple root
POLISH, RETURN, IMAGE = "polish", "return", "image"
# Members of a search that propose candidates.
LOCAL, POPULATION, ANNEALING, SYMMETRY, OVERVIEW, REFINEMENT, EDGES = (
    "local searches", "populations", "annealing", "symmetry", "overview", "refinement", "edges",
)  # fmt: skip


@stored
class Start(NamedTuple):
    """A point (d,) to begin a local search at, the kind of start, and the first radius; 0 for the usual one."""

    point: Array
    kind: str
    radius: float = 0.0


@stored
class Origin(NamedTuple):
    """Where a candidate comes from.

    Attributes:
        member: who proposed it, and is charged for what it costs.
        start: the kind of start, for local searches; the kind of component, for populations.
        number: of the local search or component, by which its member knows it.
        cost: evaluations so far.
        question: the verification that waits for this local search, or -1.
        compared: the mode it was told apart from on its way, or -1.
        restarts: how often the verifier has sent it on to higher ground.
        recognised: the mode that it was recognised by and runs on to check, or -1.
    """

    member: str
    start: str
    number: int
    cost: int = 0
    question: int = -1
    compared: int = -1
    restarts: int = 0
    recognised: int = -1


@stored
@dataclass(frozen=True)
class Candidate:
    """A point that may be a mode, in unit coordinates.

    Attributes:
        point, value: (d,), and the value there, to be maximised.
        gradient, hessian: (d,) and (d, d), or the best guess.
        source: where the Hessian comes from: "derivatives", "differences", "component", "equations", or
            "estimated", from a few directions and steps.
        origin: where it comes from.
        radius: of the trust region, or the standard deviation of the component, when it arrived.
        gain: what the last Newton step promised: the optimum may be that much higher.
        is_kinked: whether the function was seen not to be smooth there.
        factor: (d, d), of a population component s A, whose product with its transpose is the covariance; of a search
            over kinks its inverse Hessian, whose axes lie across and along the ridge. None for others.
    """

    point: Array
    value: float
    gradient: Array
    hessian: Curvature
    source: str
    origin: Origin
    radius: float = 0.0
    gain: float = 0.0
    is_kinked: bool = False
    factor: Array | None = None
