"""What a search did and why, in a sentence for the user."""

from __future__ import annotations

from collections.abc import Mapping

from allmodes.modes.coverage import counted
from allmodes.search.candidate import ANNEALING
from allmodes.search.context import Context
from allmodes.search.scheduling.turns import Turns
from allmodes.search.searcher import Searcher
from allmodes.search.searchers.multistart import Multistart


def account_of(context: Context, multistart: Multistart, turns: Turns, members: Mapping[str, Searcher]) -> str:
    """How many local searches there were, what other members did, and what the function proved to be."""
    spent = {name: count for name, count in turns.bandit.spent.items() if count}
    searches, text = multistart.counts.searches, ", ".join(f"{name} {count}" for name, count in spent.items())
    parts = [counted(searches, "local search", "local searches")] if searches or not members else []
    parts += [member.account for name, member in members.items() if name in spent]
    if len(spent) > 1 and not multistart.is_passive:
        parts.append(f"points: {text}" if context.is_derived else f"evaluations: {text}")
    if turns.is_rough and not multistart.is_passive and not context.is_random:
        parts.append(f"most local searches ended in no mode{turns.why_nowhere}")
    if ANNEALING in members and not multistart.is_passive:
        parts.append("nearly every local search found another mode: the function is rugged")
    return "; ".join(parts)
