"""What a search writes to the logger "allmodes": modes and changes of plan at INFO, every round at DEBUG."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass

from allmodes.modes.coverage import counted
from allmodes.result.mode import point_text
from allmodes.round import Round
from allmodes.state import FinderState

LOG = logging.getLogger("allmodes")
_ONE_BY_ONE = 10  # new modes of a round that get a line each


@dataclass
class Journal:
    """What was said already, so that only what is new is said.

    Attributes:
        modes: how many had been found.
        plan: who takes part, and what was seen of the function; None before anything was said.
    """

    modes: int = 0
    plan: tuple[str, ...] | None = None

    def note(self, state: FinderState, round_: Round) -> None:
        """A round was told; only called where somebody listens."""
        plan = _plan(state)
        if self.plan is None:
            self._say_beginning(state, plan)
        if LOG.isEnabledFor(logging.DEBUG):
            _say_round(state, round_)
        self._say_modes(state)
        if plan != self.plan:
            self._say_plan(state, plan)

    def _say_beginning(self, state: FinderState, plan: tuple[str, ...]) -> None:
        settings, self.plan = state.settings, plan
        LOG.info(
            "search of %s, method %s, at most %d evaluations, %s so far%s%s",
            counted(state.frame.box.D, "coordinate"), settings.method, settings.maxfev, counted(self.modes, "mode"),
            f"; with {', '.join(state.search.parts)}" if state.search.parts else "",
            "".join(f"; {seen}" for seen in plan[-2:] if seen),
        )  # fmt: skip

    def _say_modes(self, state: FinderState) -> None:
        archive, before = state.context.archive, self.modes
        self.modes = now = len(archive)
        new = [j for j in archive.own.tolist() if j >= before]
        for j in new[:_ONE_BY_ONE]:
            x = state.frame.box.to_user(archive.means[j][None])[0]
            kind = archive.records[j].kind.replace("optimum", "maximum" if state.frame.maximise else "minimum")
            value = state.frame.value(float(archive.values[j]))
            LOG.info(
                "mode %d: %s, value %.6g at %s, found after %d evaluations",
                j + 1, kind, value, point_text(x), state.context.nfev,
            )  # fmt: skip
        if len(new) > _ONE_BY_ONE:
            LOG.info("%d more modes found, %d in all", len(new) - _ONE_BY_ONE, now)
        if now < before:
            LOG.info("%s turned out to be none; %d are left", counted(before - now, "mode"), now)

    def _say_plan(self, state: FinderState, plan: tuple[str, ...]) -> None:
        before, self.plan = self.plan or (), plan
        joined = [part for part in plan if part and part not in before]
        left = [part for part in before if part and part not in plan]
        if joined:
            account = state.search.account if set(joined) & set(state.search.parts) else ""
            LOG.info("the plan changes: %s%s", "; ".join(joined), f" ({account})" if account else "")
        elif left:
            LOG.info("the plan changes: without %s", ", ".join(left))


def _plan(state: FinderState) -> tuple[str, ...]:
    """Who takes part, and what was seen of the function."""
    seen = state.diagnosis.account if state.diagnosis.is_over else ""
    return (f"{type(state.search).__name__.lower()} search", *state.search.parts, seen, state.context.asymmetry)


def _say_round(state: FinderState, round_: Round) -> None:
    best = state.frame.value(state.context.best_value)
    LOG.debug(
        "round %d: %s%s%s; %s, %s, best %s",
        round_.number, counted(len(round_.points), "point"),
        f" with {' and '.join(sorted(round_.needs))}" if round_.needs else "",
        f", {int(round_.is_free.sum())} of them known" if round_.is_free.any() else "",
        counted(state.context.nfev, "evaluation"), counted(len(state.context.archive), "mode"),
        f"{best:.6g}" if math.isfinite(best) else "none",
    )  # fmt: skip
