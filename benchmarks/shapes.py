"""Scales and symmetry stated or not: evaluations until every mode is found.

python benchmarks/shapes.py --runs 5 --first-seed 100 --json benchmarks/results/shapes.json
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allmodes import find_fits, find_minima
from allmodes.result import Result
from results import Results, arguments, digits, reached, seeds_of

MOST = 6000  # evaluations
NOTE = (
    f"At most {MOST} evaluations. All: the median of the evaluations after which the last of the known modes was "
    "found, one for all images where a symmetry is stated; found: the mean share of them, in %; made: the median of "
    "all."
)
CLOSE = 1e-3  # relative: within that a mode is a known one

Floats = NDArray[np.float64]
TIMES = np.logspace(-3, 3, 60)
POSITIONS = np.array([-3.0, -0.5, 2.5])  # of the classes of a mixture
DATA = np.concatenate([place + 0.5 * np.linspace(-1.5, 1.5, 40) for place in POSITIONS])


def rates(k: Floats) -> Floats:
    """Residuals of two rates, 0.01 and 10, over six decades."""
    model = np.exp(-k[0] * TIMES) + np.exp(-k[1] * TIMES)
    return np.asarray(model - np.exp(-0.01 * TIMES) - np.exp(-10.0 * TIMES))


def classes(m: Floats) -> float:
    """Minus the mean log likelihood of a mixture of three equal classes, by their positions: labels may switch."""
    logs = -0.5 * ((DATA[:, None] - m) / 0.5) ** 2
    return float(-np.logaddexp.reduce(logs, axis=1).mean())


def two_rates(seed: int, **given: Any) -> Result:
    return find_fits(rates, [(1e-3, 1e3)] * 2, rng=seed, maxfev=MOST, **given)


def three_classes(seed: int, **given: Any) -> Result:
    return find_minima(classes, [(-5, 5)] * 3, rng=seed, maxfev=MOST, **given)


def when(result: Result, known: Floats) -> Floats:
    """Evaluations after which each of the known modes (J, d) was found; infinite where it was not."""
    found = [[mode.found_at for mode in result.modes if np.allclose(mode.x, x, rtol=CLOSE)] for x in known]
    return np.array([min(each, default=np.inf) for each in found])


def main() -> None:
    given = arguments(__doc__ or "", runs=5).parse_args()
    results = Results("Scales and symmetry", given, NOTE)
    results.table(["problem", "stated", "modes", "found", "all", "made"])
    slow_first, best = np.array([0.01, 10.0]), three_classes(0, n_modes=None).x
    swaps = np.array([best[list(p)] for p in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))])
    both, one = np.array([slow_first, slow_first[::-1]]), slow_first[None]
    cases: list[tuple[str, Callable[..., Result], str, dict[str, Any], Floats]] = [
        ("two rates", two_rates, "nothing", {}, both),
        ("two rates", two_rates, "scale", {"scale": "log"}, both),
        ("two rates", two_rates, "scale and symmetry", {"scale": "log", "symmetry": [0, 1]}, one),
        ("three classes", three_classes, "nothing", {}, swaps),
        ("three classes", three_classes, "symmetry", {"symmetry": [0, 1, 2]}, np.sort(best)[None]),
    ]
    for name, run, stated, said, known in cases:
        ends = [(when(result, known), result.nfev) for result in (run(seed, **said) for seed in seeds_of(given))]
        share = 100.0 * np.mean([np.isfinite(places).mean() for places, _ in ends])
        last = float(np.median([places.max() for places, _ in ends]))
        made = float(np.median([nfev for _, nfev in ends]))
        results.row(name, stated, len(known), digits(share, 0), reached(last), reached(made))
    results.write()


if __name__ == "__main__":
    main()
