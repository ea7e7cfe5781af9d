"""Everything a search consists of: what is saved and loaded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from allmodes.known import Known
from allmodes.objective.evaluator import Evaluator
from allmodes.objective.frame import Frame
from allmodes.result import History
from allmodes.round import Round
from allmodes.settings import Settings
from allmodes.storage import stored
from allmodes.strategy.search import Search
from allmodes.strategy.strategy import Strategy

_MOST_FAILURES = 20  # kept, as by one evaluator: a search that is resumed often stays bounded


@stored
class Tally(NamedTuple):
    """What evaluators have called and seen fail, over all the parts of a search.

    Args:
        njev, nhev: points at which gradients and Hessians were computed.
        nfail: points at which something failed, failures (point, kind, text) the first of them.
        compiled_from: number of the first round that compiled code evaluates, once the function was seen to be JAX's:
            such code may round differently. None while it was not.
    """

    njev: int = 0
    nhev: int = 0
    nfail: int = 0
    failures: tuple[Any, ...] = ()
    compiled_from: int | None = None

    def plus(self, evaluator: Evaluator) -> Tally:
        """This and what an evaluator has done since it was made."""
        failures = (*self.failures, *(tuple(failure) for failure in evaluator.failures))
        return Tally(
            self.njev + evaluator.njev,
            self.nhev + evaluator.nhev,
            self.nfail + evaluator.nfail,
            failures[:_MOST_FAILURES],
            evaluator.compiled_from,
        )


@stored
@dataclass
class FinderState:
    """What a ModeFinder is made of."""

    settings: Settings
    frame: Frame
    search: Search
    strategy: Strategy
    round: Round
    known: Known
    history: History = field(default_factory=History)
    tally: Tally = field(default_factory=Tally)
    nit: int = 0
    nfail: int = 0
    njev: int = 0
    nhev: int = 0
    elapsed: float = 0.0
    reason: str = ""
    is_out_of_budget: bool = False
    stopped: str = ""
    stopped_status: int = 0
