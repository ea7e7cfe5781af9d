"""Whose turn it is (the most productive member), and which members join on a rough or rugged function."""

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

_HALF = 0.5  # of all evaluations, for searches of the whole box until the best value is known
_VALLEYS = 0.25  # share of the searches that ended in no mode because their patience ran out: at a kink they end sooner


@stored
@dataclass
class Turns:
    """Decides which member begins something new.

    Attributes:
        multistart: the outcomes of the local searches so far.
        may_join: names of members that join when the function proves rough or rugged.
        bandit: the modes found and evaluations spent by each member.
    """

    context: Context
    multistart: Multistart
    may_join: tuple[str, ...]
    bandit: Bandit = field(init=False)

    def __post_init__(self) -> None:
        self.bandit = Bandit(TUNING.first_mode_cost * (self.context.box.d + 1))

    @property
    def is_rough(self) -> bool:
        """Whether most local searches end without reaching an optimum."""
        counts = self.multistart.counts
        is_judged = counts.searches >= TUNING.few and not counts.runaways
        return is_judged and counts.nowhere > TUNING.rough * counts.searches

    @property
    def why_nowhere(self) -> str:
        """What stopped the local searches that did not reach an optimum, in words."""
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
        """Whether nearly every local search found a different mode: small traps, perhaps on a few broad funnels."""
        searches = self.multistart.counts.fresh.ended
        is_judged = self.context.nfev >= TUNING.first_mode_cost and searches >= 2 * TUNING.few
        return is_judged and self.multistart.unseen > TUNING.rugged

    def recruits(self, members: Mapping[str, Searcher]) -> list[str]:
        """Members that join now: populations if the function is rough, annealing if it is rugged and the target global.

        A function that fails at some points has edges, and its optimum may be on one.
        """
        context, is_global, is_rough = self.context, self.context.is_global, self.is_rough
        is_cheap = usual_cost(context.box.d) <= TUNING.overview * context.maxfev  # otherwise it would cost many modes
        is_wanted = {
            POPULATION: is_rough,
            ANNEALING: is_global and self.is_rugged,
            EDGES: context.has_failed,
            OVERVIEW: context.order == 0 and (is_rough or is_global or (is_cheap and self.multistart.is_endless)),
        }
        return [name for name in self.may_join if name not in members and is_wanted[name]]

    def choose(self, members: Mapping[str, Searcher], has_enough: bool = False) -> str:
        """Choose among members with something left to try and, unless there were enough of them, local searches."""
        going = [name for name, member in members.items() if not member.ending]
        spent = self.bandit.spent
        is_early = self.context.is_global and not self.context.is_late  # better modes may make images worthless
        if SYMMETRY in going and (has_enough or (not is_early and spent.get(SYMMETRY, 0) <= spent.get(LOCAL, 0))):
            return SYMMETRY  # an image costs little, but with thousands of them better modes are wanted, too
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
        share = TUNING.looks if is_level_known else _HALF  # searches for single modes say little about the whole box
        if OVERVIEW in going and spent.get(OVERVIEW, 0) < share * sum(spent.values()):
            return OVERVIEW
        if ANNEALING in going and self.context.order and spent.get(ANNEALING, 0) < spent.get(LOCAL, 0):
            return ANNEALING  # an equal share: what local searches find says little about broad funnels
        if is_level_known:
            among = [name for name in among if name != OVERVIEW] or among
            return max(among, key=self._promise)
        if self.is_rough:  # what local searches found says little about the rest: equal turns
            return min(among, key=lambda name: spent.get(name, 0))
        return max(among, key=self.bandit.rate)

    def _promise(self, name: str) -> float:
        """Expected new modes per evaluation; for local searches, limited by how often they find different modes."""
        fresh = self.multistart.counts.fresh
        credit = (1 + (fresh.hits == 1).sum()) / (1 + fresh.ended) if name == LOCAL else 1.0
        return self.bandit.recent_rate(name, float(credit))

    def _is_level_known(self, members: Mapping[str, Searcher]) -> bool:
        """Whether the best value is probably known, so that turns go to members that find more modes with that value.

        It is if the last search of the whole box ended there, and was not the only one to find it.
        """
        overview = members.get(OVERVIEW)
        if (
            not self.context.is_global
            or not isinstance(overview, Overview)
            or overview.last not in self.context.counted
        ):
            return False
        return overview.is_back or len(self.context.counted) > 1
