"""Are the listed optima of applications all there are? Many local searches, each finished by Newton's method.

    python benchmarks/known_optima.py --starts 2000 --first-seed 500
    python benchmarks/known_optima.py --names stack_loss --starts 20000 --add   # writes new ones into the list

The list is `known.json` in `allmodes.problems.applications`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from allmodes.problems import Problem, applications
from local_cases import of_problem
from results import Results, arguments, digits

LIST = Path(applications.__file__).with_name("known.json")
SAME = 1e-4  # of the box: optima that are closer are one
NOTE = (
    "Local searches (L-BFGS-B with exact gradients, in units of the box) from Sobol points, each finished by Newton's "
    "method. Nowhere: no strict optimum was reached. Least hit: the listed optimum that fewest of them ended in."
)

Floats = NDArray[np.float64]


class Ends(NamedTuple):
    """Where searches ended: how often in each listed optimum, how often nowhere, and at which new places (n, d)."""

    hits: NDArray[np.int64]
    nowhere: int
    new: Floats


def ends(problem: Problem, starts: int, seed: int) -> Ends:
    """Searches from so many Sobol points."""
    case, search = of_problem(problem), minimize_in(problem)
    places = list((problem.modes - case.lower) / case.width)
    counts, nowhere = [0] * len(places), 0
    for start in case.starts(starts, seed):
        end = case.polished(search(start))
        if end is None:
            nowhere += 1
            continue
        end = np.where(case.is_periodic, end % 1.0, end)
        apart = case.apart(np.array(places), end)
        if apart.min() > SAME:
            places.append(end)
            counts.append(0)
            apart = np.append(apart, 0.0)
        counts[int(apart.argmin())] += 1
    known = len(problem.modes)
    new = case.lower + case.width * np.array(places[known:]).reshape(-1, problem.dimension)
    return Ends(np.array(counts[:known]), nowhere, new)


def minimize_in(problem: Problem) -> Any:
    """L-BFGS-B in units of the box, as a function of the start."""
    case = of_problem(problem)
    solve: Any = minimize
    given: dict[str, Any] = {
        "jac": True, "method": "L-BFGS-B", "options": {"ftol": 0.0, "gtol": 1e-9, "maxiter": 5000, "maxfun": 10**5},
        "bounds": [(None, None) if wraps else (0.0, 1.0) for wraps in case.is_periodic],
    }  # fmt: skip

    def search(start: Floats) -> Floats:
        found = solve(lambda z: (float(case.value(z[None])[0]), case.gradient(z[None])[0]), start, **given).x
        return np.where(case.is_periodic, found % 1.0, found)

    return search


def add(name: str, places: Floats) -> None:
    """Write places into the list."""
    listed = json.loads(LIST.read_text(encoding="utf-8"))
    listed[name] += [[float(f"{entry:.12g}") for entry in place] for place in places]
    parts = []
    for key, all_ in listed.items():
        rows = ",\n".join(f"  {json.dumps(row)}" for row in all_)
        parts.append(f' "{key}": [\n{rows}\n ]')
    LIST.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--starts", type=int, default=2000, help="of each problem (2000)")
    parser.add_argument("--names", nargs="*", choices=sorted(applications.APPLICATIONS), help="of problems (all)")
    parser.add_argument("--add", action="store_true", help="write new optima into the list")
    given = parser.parse_args()
    results = Results("Known optima of applications", given, NOTE)
    results.table(["problem", "optima", "hit", "least hit", "new", "nowhere, %"])
    for name, make in applications.APPLICATIONS.items():
        if given.names and name not in given.names:
            continue
        problem = make()
        found = ends(problem, given.starts, given.first_seed)
        share = digits(100.0 * found.nowhere / given.starts, 1)
        hit = int((found.hits > 0).sum())
        results.row(problem.name, len(problem.modes), hit, int(found.hits.min()), len(found.new), share)
        if given.add and len(found.new):
            add(name, found.new)
    results.write()


if __name__ == "__main__":
    main()
