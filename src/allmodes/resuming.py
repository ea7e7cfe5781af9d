"""How a saved search goes on with what is asked for now."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from allmodes.driver import Driver
from allmodes.search.searchers.surrogate.surrogate import Surrogate
from allmodes.state import FinderState

_SIDES = ("lower", "upper", "periodic", "is_log")
_SAME = (
    "method_given",
    "target",
    "names",
    "xtol",
    "noise",
    "polish",
    "x0",
    "starts",
    "spread",
    "symmetry",
    "within",
    "min_distance",
)  # settings that a search keeps
_MAY_CHANGE = {"checkpoint_every", "temperature"}  # options that may change when it is resumed


def resumed(saved: Driver, asked: Driver, path: Any) -> Driver:
    """The saved search with the budgets asked for now; where they outgrow a model, the search asked for."""
    take_over(saved, asked, path)
    return _handed_over(saved, asked) if _is_outgrown(saved, asked) else saved


def take_over(saved: Driver, asked: Driver, path: Any) -> None:
    """Give a saved search the budgets asked for now; refuse if its other settings differ."""
    ours, theirs = saved.state, asked.state
    for name in _SAME:
        found, wanted = getattr(ours.settings, name), getattr(theirs.settings, name)
        if repr(found) != repr(wanted):
            name = name.removesuffix("_given")
            raise ValueError(f"{path} holds a search with {name}={found!r}; this one has {wanted!r}. Use another file.")
    for name in (ours.settings.options.keys() | theirs.settings.options.keys()) - _MAY_CHANGE:
        found, wanted = ours.settings.options.get(name), theirs.settings.options.get(name)
        if found != wanted:
            raise ValueError(
                f"{path} holds a search with options[{name!r}]={found!r}; this one has {wanted!r}. Use another file."
            )
    seeds = ours.settings.seed, theirs.settings.seed
    if None not in seeds and seeds[0] != seeds[1]:
        raise ValueError(f"{path} holds a search with rng={seeds[0]}; this one has {seeds[1]}. Use another file.")
    same_box = all(np.array_equal(getattr(ours.frame.box, side), getattr(theirs.frame.box, side)) for side in _SIDES)
    same_box &= _levels(ours) == _levels(theirs)
    if not same_box or ours.frame.maximise != theirs.frame.maximise or _derivatives(ours) != _derivatives(theirs):
        raise ValueError(
            f"{path} holds a search of another problem (bounds, scale, sign or derivatives differ). Use another file."
        )
    # Budgets may have grown; what "auto" chose for the first one stays.
    ours.settings = replace(theirs.settings, seed=ours.settings.seed, method=ours.settings.method)
    ours.context.take_budget(theirs.context)
    ours.rounds.allow(ours.context.left - ours.context.kept_back)
    ours.search.take_budget(theirs.search)
    ours.stopped = ""


def _is_outgrown(saved: Driver, asked: Driver) -> bool:
    """Whether "auto" searched a model for the budget it had then, and would not for the one it has now."""
    return isinstance(saved.state.search, Surrogate) and asked.state.settings.method == "auto"


def _handed_over(saved: Driver, asked: Driver) -> Driver:
    """The search asked for, told what the one of a model evaluated; all of that counts, what was told twice, too."""
    state = saved.state
    assert isinstance(state.search, Surrogate)
    if state.context.noise:
        known = state.search.known
        values = [state.frame.value(value) if np.isfinite(value) else np.nan for value in known.told]
        asked.tell(state.frame.box.to_user(known.points), values)
    else:
        asked.tell(*state.memory.told)
        for flying in state.rounds.flying:
            asked.tell(flying.points[flying.is_known], flying.value[flying.is_known])
    none = np.zeros((0, state.frame.box.d))
    asked.state.context.observe(none, none[:, 0], saved.nfev - asked.nfev)
    return asked


def _levels(state: FinderState) -> list[str]:
    return ["" if grid is None else grid.text for grid in state.frame.box.grids]


def _derivatives(state: FinderState) -> tuple[int, bool]:
    return state.context.order, state.context.has_model
