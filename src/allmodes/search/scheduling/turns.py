"""Whose turn it is: the member that pays best, and who may join when the function proves rough or rugged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from allmodes.search.candidate import ANNEALING, EDGES, LOCAL, OVERVIEW, POPULATION, REFINEMENT, SYMMETRY
from allmodes.search.context import Context
from allmodes.search.scheduling.bandit import Bandit
from allmodes.search.scheduling.tuning import TUNING
from allmodes.search.searcher import Searcher
from allmodes.search.searchers.multistart import Multistart
from allmodes.search.searchers.population.overview import Overview, usual_cost
from allmodes.storage import stored

_HALF = 0.5  # of all evaluations, for looks at the whole box until the best value is known
_VALLEYS = 0.25  # share, of the searches that ended in no mode, whose patience ran out: no kink keeps them that long


@stored
@dataclass
class Turns:
    """Decides which member begins something new.

    Attributes:
        multistart: what became of the local searches so far.
        may_join: names of members that join when the function proves rough or rugged.
        bandit: what each member has brought.
    """

    context: Context
    multistart: Multistart
    may_join: tuple[str, ...]
    bandit: Bandit = field(init=False)

    def __post_init__(self) -> None:
        self.bandit = Bandit(TUNING.first_mode_cost * (self.context.box.d + 1))

    @property
    def is_rough(self) -> bool:
        """Whether most local searches end at no optimum."""
        counts = self.multistart.counts
        is_judged = counts.searches >= TUNING.few and not counts.runaways
        return is_judged and counts.nowhere > TUNING.rough * counts.searches

    @property
    def why_nowhere(self) -> str:
        """What stopped the local searches that ended at no optimum, in words."""
        counts = self.multistart.counts
        if counts.tired > _VALLEYS * counts.nowhere:
            return ", in narrow valleys, before they reached the end"
        if 2 * counts.level > counts.nowhere:
            return ", on level ground, where nothing shows the way"
        if self.context.has_failed:
            return ", at steps or kinks, or where the function ends, for it failed at some points"
        return ", at steps or kinks: the function is rough"

    @property
    def is_rugged(self) -> bool:
        """Whether nearly every local search found another mode: small traps, perhaps on a few broad funnels."""
        searches = self.multistart.counts.fresh.ended
        is_judged = self.context.nfev >= TUNING.first_mode_cost and searches >= 2 * TUNING.few
        return is_judged and self.multistart.unseen > TUNING.rugged

    def recruits(self, members: Mapping[str, Searcher]) -> list[str]:
        """Who joins now: populations on a rough function, annealing on a rugged one if only the best modes count.

        A function that fails at some points has edges, and may be best at one.
        """
        context, is_global, is_rough = self.context, self.context.is_global, self.is_rough
        is_cheap = usual_cost(context.box.d) <= TUNING.overview * context.maxfev  # else it would cost many modes
        is_wanted = {
            POPULATION: is_rough,
            ANNEALING: is_global and self.is_rugged,
            EDGES: context.has_failed,
            OVERVIEW: context.order == 0 and (is_rough or is_global or (is_cheap and self.multistart.is_endless)),
        }
        return [name for name in self.may_join if name not in members and is_wanted[name]]

    def choose(self, members: Mapping[str, Searcher], has_enough: bool = False) -> str:
        """Whose turn it is, among local searches, unless there were enough, and members with something left to try."""
        going = [name for name, member in members.items() if not member.ending]
        spent = self.bandit.spent
        is_early = self.context.is_global and not self.context.is_late  # better modes may make all images worthless
        if SYMMETRY in going and (has_enough or (not is_early and spent.get(SYMMETRY, 0) <= spent.get(LOCAL, 0))):
            return SYMMETRY  # an image of a mode costs little; where there are thousands, better modes are wanted, too
        if self.multistart.is_passive:
            return going[0] if going else LOCAL
        if REFINEMENT in going and (has_enough or self.context.is_late or len(going) == 1):
            return REFINEMENT
        if EDGES in going and (has_enough or spent.get(EDGES, 0) <= spent.get(LOCAL, 0)):
            return EDGES
        going = [name for name in going if name not in (SYMMETRY, REFINEMENT, EDGES)]
        if not going or (self.multistart.counts.searches < TUNING.few and not has_enough):
            return LOCAL
        among = going if has_enough else [LOCAL, *going]
        is_level_known = self._is_level_known(members)
        share = TUNING.looks if is_level_known else _HALF  # who searches for single modes says little about the whole
        if OVERVIEW in going and spent.get(OVERVIEW, 0) < share * sum(spent.values()):
            return OVERVIEW
        if ANNEALING in going and self.context.order and spent.get(ANNEALING, 0) < spent.get(LOCAL, 0):
            return ANNEALING  # as much as local searches had: what these found says little about broad funnels
        if is_level_known:
            among = [name for name in among if name != OVERVIEW] or among
            return max(among, key=self._promise)
        if self.is_rough:  # what local searches found says little about what is left: turns are even
            return min(among, key=lambda name: spent.get(name, 0))
        return max(among, key=self.bandit.rate)

    def _promise(self, name: str) -> float:
        """New modes per evaluation; of local searches not more is hoped for than as often as they find other modes."""
        fresh = self.multistart.counts.fresh
        credit = (1 + (fresh.hits == 1).sum()) / (1 + fresh.ended) if name == LOCAL else 1.0
        return self.bandit.recent_rate(name, float(credit))

    def _is_level_known(self, members: Mapping[str, Searcher]) -> bool:
        """Whether the best value is known in all likelihood, so that turns go to who finds more modes that have it.

        It is if the last look at the whole box ended there, and it was not the only one to find it.
        """
        overview = members.get(OVERVIEW)
        if (
            not self.context.is_global
            or not isinstance(overview, Overview)
            or overview.last not in self.context.counted
        ):
            return False
        return overview.is_back or len(self.context.counted) > 1
