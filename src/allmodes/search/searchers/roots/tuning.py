"""Constants of searches for roots."""

from __future__ import annotations

from dataclasses import dataclass

from allmodes.search.constants import constant


@dataclass(frozen=True)
class Tuning:
    """See `search/constants.py`. Lengths are shares of the box, norms are those of F."""

    first_radius: float = constant(0.25, "box, root mean square", "first step: linear models of F hold far")
    growth: float = constant(2.0, "step", "next radius after a model that predicted well")
    shrinkage: float = constant(0.5, "step", "next radius after one that did not")
    good: float = constant(0.5, "ratio", "of the norm that was lost to what the model promised, above which it grows")
    poor: float = constant(0.1, "ratio", "likewise, below which it shrinks")
    longest: int = constant(200, "steps", "a search that takes longer is on its way to no root")

    # when it is not worth going on
    promised: float = constant(1e-3, "norm", "a model that promises less, with an exact Jacobian, is at no root")
    window: int = constant(6, "steps taken", "over which the norm has to fall; twice as many with updated Jacobians")
    fall: float = constant(0.9, "norm", "what may be left of it after these steps; 0.7 gave up half of eco-8's valleys")
    barren: int = constant(10, "trial points", "in a row without a gain worth mentioning, as in MINPACK")
    refusals: int = constant(2, "trial points", "in a row that are no better, before an updated Jacobian is renewed")
    renewals: int = constant(5, "Jacobians", "made since the norm last fell by a tenth")
    gain: float = constant(0.1, "norm", "a fall that shows that renewing Jacobians was of use")

    # arrival and recognition
    arrival: float = constant(0.1, "xtol", "a Newton step that is shorter changes nothing that the user wants to know")
    exactly: float = constant(1e-3, "xtol", "likewise where a Jacobian costs more than the next step")
    determined: float = constant(1e-6, "largest singular value", "directions along which singular systems have steps")
    agreement: float = constant(0.5, "norm", "by which the linear model at a root may miss F for a search to belong")


TUNING = Tuning()
