"""What shapes a problem on the command line, and the arguments of find_minima that it becomes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from allmodes.cli.bounds import is_choice
from allmodes.cli.data import read_draws
from allmodes.cli.exits import Usage
from allmodes.cli.targets import load_object, shown

_WANTED = (
    "wanted a scipy.optimize.LinearConstraint or NonlinearConstraint, a dict, a list of these, or a function c(x) that "
    "is at least 0 where x is feasible"
)


def constraints_of(names: list[str]) -> list[Any]:
    """The constraints that FILE.py:NAME and MODULE:NAME name, as SciPy has them; a function is to be at least 0."""
    found: list[Any] = []
    for name in names:
        thing = load_object(name)
        for each in thing if isinstance(thing, list | tuple) else [thing]:
            if isinstance(each, dict) or hasattr(each, "lb"):
                found.append(each)
            elif callable(each):
                found.append({"type": "ineq", "fun": each})
            else:
                raise Usage(f"the constraint {shown(name)} is of type {type(each).__name__}; {_WANTED}.")
    return found


def integrality_of(chosen: Any, names: list[str] | None, D: int | None) -> Any:
    """True, or a flag for each coordinate, of coordinates by name or number."""
    if chosen is True:
        return True
    if D is None:
        raise Usage("--integer names coordinates, whose number is not known; give --bounds for each, or --integer all.")
    known = names or [f"x{i}" for i in range(D)]
    flags = [0] * D
    for each in chosen:
        if each in known:
            place = known.index(each)
        elif each.isdecimal() and int(each) < D:
            place = int(each)
        else:
            raise Usage(f"--integer has {each!r}; coordinates are 0 to {D - 1}, or by name {', '.join(known)}.")
        flags[place] = 1
    return flags


def shape(given: dict[str, Any], settings: dict[str, Any]) -> None:
    """Make arguments of names of constraints and of whole numbers, and of a file of draws."""
    if "starts" in settings:
        names, given["starts"] = read_draws(Path(settings["starts"]))
        if names is not None:
            given.setdefault("names", names)
    if "constraint" in settings:
        given["constraints"] = constraints_of(settings["constraint"])
    if "integer" in settings:
        bounds = given.get("bounds")
        points = given.get("x0")
        D = len(bounds) if bounds is not None else len(points[0]) if points else None
        given["integrality"] = integrality_of(settings["integer"], given.get("names"), D)
    if "bounds" in given:
        given["bounds"] = [each if is_choice(each) else tuple(each) for each in given["bounds"]]
