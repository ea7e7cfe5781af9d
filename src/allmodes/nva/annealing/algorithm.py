"""An algorithm is an assembly of parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from allmodes.checks import instance, number, whole_number
from allmodes.nva.annealing.estimators import BlackBox, Estimator
from allmodes.nva.annealing.proposals import PerComponent, Proposal
from allmodes.nva.annealing.updates import ImprovedBLR
from allmodes.nva.mixture.families import Family, Gaussian
from allmodes.nva.mixture.families.family import Rule
from allmodes.objective import Needs


@dataclass(frozen=True)
class Algorithm:
    """Parts that fit together, checked when they are put together.

    Args:
        name: what the algorithm is called in messages.
        family: distribution of the components.
        estimator: how natural gradients are estimated.
        proposal: where the objective is evaluated.
        rule: how a step along a natural gradient is taken.
        num_samples: mini-batch size B when the call does not say.
        damping: tau; after every covariance update Sigma becomes Sigma + tau I. Gaussian components only.
        burn_in: kappa; the covariances stay as they are for this many steps. Gaussian components only.
        weight_limit: clips the log-ratios v_k to [-weight_limit, weight_limit] after every update; None does not. The
            paper's own code clips at 10 without saying so: no weight is then below about 5e-5 times that of the last
            component, and a component on a poor mode never dies.
        is_annealed: False for algorithms that are defined for one temperature.

    Paper: app:cec_benchmark (damping, burn_in)
    """

    name: str = "NVA-M"
    family: Family = Gaussian()
    estimator: Estimator = BlackBox()
    proposal: Proposal = PerComponent()
    rule: Rule = ImprovedBLR()
    num_samples: int = 4
    damping: float = 0.0
    burn_in: int = 0
    weight_limit: float | None = None
    is_annealed: bool = True

    def __post_init__(self) -> None:
        instance("family", self.family, Family, "Write families.Gaussian(), families.Gamma(), ...")
        instance("estimator", self.estimator, Estimator, "Write estimators.BlackBox(), estimators.Gradient(), ...")
        instance("proposal", self.proposal, Proposal, "Write proposals.PerComponent() or proposals.Importance().")
        if isinstance(self.rule, type) or not hasattr(self.rule, "precision_change"):
            raise TypeError(f"rule is {self.rule!r}; write updates.ImprovedBLR() or updates.NaturalGradient().")
        whole_number("num_samples", self.num_samples, 1)
        whole_number("burn_in", self.burn_in, 0)
        number("damping", self.damping, at_least=0.0)
        if self.weight_limit is not None:
            number("weight_limit", self.weight_limit, above=0.0)
        family = type(self.family).__name__
        if self.estimator.is_gaussian_only and not self.family.is_differentiable:
            raise ValueError(
                f"{self.estimator!r} needs Gaussian components and {family} components were given; use BlackBox() or "
                "FitnessShaped(), which work for every family."
            )
        if self.damping or self.burn_in:
            if not isinstance(self.family, Gaussian):
                raise ValueError(f"damping and burn_in are for Gaussian components; {family} components were given.")
            if not self.family.moves_spread:
                raise ValueError("damping and burn_in are for covariances that move; Fixed covariances were given.")

    @property
    def needs(self) -> Needs:
        """The derivatives of the objective that one step reads besides the value."""
        return self.estimator.needs(self.family)

    def with_parts(self, **parts: Any) -> Algorithm:
        """The same algorithm with some parts exchanged.

        >>> Algorithm().with_parts(damping=1e-10).damping
        1e-10
        """
        return replace(self, **parts)
