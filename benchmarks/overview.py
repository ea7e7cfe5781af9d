"""The table of README: what is found, beside the best peer with as many evaluations, from `benchmarks/results`.

`python benchmarks/page.py` writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from results import head, line

BEGIN = "| problems | calls allowed | found | allmodes | best peer |"

Facts = dict[str, dict[str, Any]]


class Row(NamedTuple):
    """One line: what was measured on which problems for how many calls, ours, theirs, and whose that is."""

    problems: str
    calls: str
    what: str
    ours: float
    theirs: float
    peer: str
    form: Callable[[float], str]

    def cells(self) -> list[str]:
        """As text; the better one of the two in bold."""
        ours, theirs = self.form(self.ours), self.form(self.theirs)
        is_ours, is_theirs = (ours != theirs and self.ours > self.theirs), (ours != theirs and self.theirs > self.ours)
        marked = [f"**{text}**" if is_best else text for text, is_best in ((ours, is_ours), (theirs, is_theirs))]
        return [self.problems, self.calls, self.what, marked[0], f"{marked[1]} {self.peer}"]


def table(facts: Facts) -> str:
    """The table in Markdown."""
    columns = [cell.strip() for cell in BEGIN.strip("|").split("|")]
    return "\n".join([*head(columns), *(line(row.cells()) for row in _rows(facts))])


def _percent(share: float) -> str:
    return f"{share:.0f} %"


def _columns(facts: Facts, name: str, number: int = 0) -> dict[str, list[Any]]:
    """A table of a file by its columns."""
    found = facts[name]["tables"][number]
    return dict(zip(found["columns"], map(list, zip(*found["rows"], strict=True)), strict=True))


def _rows(facts: Facts) -> Iterator[Row]:
    ours, theirs = _columns(facts, "velocities")["found"]
    yield Row(
        "the velocities above", "20,000", "of 9 explanations, mean of 20 runs", ours, theirs, "least_squares",
        "{:.1f}".format,
    )  # fmt: skip
    calls = ("20,000 (50,000 in d > 10)", "2,000 (5,000 in d > 10)")
    for number, given in enumerate(("values alone", "gradients")):
        found = _columns(facts, "applications", number)
        ours, theirs = (100.0 * found[f"{name}: found"][-1] for name in ("allmodes", "multistart"))
        problems = f"{len(found['d']) - 1} problems from applications, {given}"
        yield Row(problems, calls[number], "known optima", ours, theirs, "L-BFGS-B", _percent)
    found = _columns(facts, "fits")
    ours, theirs = (float(np.mean(found[f"{name} found"])) for name in ("find_fits", "multistart"))
    yield Row(
        f"{len(found['d'])} fits, Jacobian given", "4,000", "known optima", ours, theirs, "least_squares", _percent
    )
    for number, given in enumerate(("Jacobian given", "values alone")):
        found = _columns(facts, "roots", number)
        peer = max(("Newton", "root"), key=lambda name: np.nansum(np.asarray(found[name], float)))
        ours, theirs = (float(np.mean(found[name])) for name in ("find_roots", peer))
        called = {"Newton": "Newton's method", "root": "scipy.optimize.root"}[peer]
        problems = f"{len(found['d'])} systems of equations, {given}"
        yield Row(problems, "400 (d + 1)", "real roots", ours, theirs, called, _percent)
    calls = ("100 (d + 1)", "40 (d + 1)")
    for number, given in enumerate(("values alone", "gradients")):
        found = _columns(facts, "constraints", number)
        ours, theirs = (float(np.mean(found[f"{name}: found"])) for name in ("allmodes", "SLSQP"))
        problems = f"{len(found['d'])} problems with constraints, {given}"
        yield Row(problems, calls[number], "local minima", ours, theirs, "SLSQP", _percent)
    means = {row[0]: 100.0 * row[1] for row in facts["cec2013"]["tables"][1]["rows"]}
    ours, theirs = means["allmodes"], means["RS-CMSA-ESII"]
    yield Row(
        "20 niching functions of CEC2013", "50,000 to 400,000", "global optima", ours, theirs, "RS-CMSA-ESII",
        "{:.1f} %".format,
    )  # fmt: skip
