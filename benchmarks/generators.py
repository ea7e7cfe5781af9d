"""Six-hump camel by generators of gest_api, blind: ours, and libEnsemble's APOSMM with as many evaluations.

    python benchmarks/generators.py --runs 20 --json benchmarks/results/generators.json

Blind: nobody is told where minima are. Needs libensemble, mpmath (APOSMM imports it) and nlopt.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes.adapters import gest
from results import Results, arguments, digits, reached, seeds_of

BATCH = 4
METHODS = {"LN_BOBYQA": "NLopt's BOBYQA", "scipy_Nelder-Mead": "SciPy's Nelder-Mead"}
SAMPLE = 100  # random points before APOSMM's first local search, as in libEnsemble's own tests
NEAR = 1e-3  # in each coordinate: this close a minimum is found, ten times as far it is another one
BOUNDS = {"x1": [-3.0, 3.0], "x2": [-2.0, 2.0]}
_HALF = [[-0.0898420131, 0.7126564030], [-1.7036067150, 0.7960835687], [-1.6071047529, -0.5686514549]]
MINIMA = np.array([*_HALF, *(-np.array(_HALF))])
NOTE = (
    "Six-hump camel on [-3, 3] x [-2, 2] by suggest and ingest, four points at a time. Our search ends by itself; "
    "APOSMM, which does not, then has as many evaluations with the same seed. Its defaults, four local searches at a "
    "time, 100 random points first. Of the six: minima within 0.001 of a listed one, mean; listed: minima that it "
    "names, mean; false: those farther than 0.01 from all six, of all runs; repeats: what else is listed beyond one "
    "for each minimum, mean. Evaluations: to the end, median. Until all six: the median evaluation after which all six "
    "are listed, and the largest."
)
COLUMNS = (
    "generator", "local searches", "evaluations", "runs with all six", "of the six", "listed", "repeats", "false",
    "until all six", "the largest", "ended by itself",
)  # fmt: skip

Floats = NDArray[np.float64]


class Outcome(NamedTuple):
    """One run.

    Attributes:
        evaluations: in all.
        listed: (n, 2), what it says are minima.
        until: after how many evaluations all six were listed; infinite if they never were.
        is_over: whether it ended by itself.
    """

    evaluations: int
    listed: Floats
    until: float
    is_over: bool

    @property
    def apart(self) -> Floats:
        """How far each listed minimum is from each of the six."""
        return np.asarray(np.abs(self.listed[:, None] - MINIMA).max(axis=2).reshape(-1, len(MINIMA)))

    @property
    def found(self) -> int:
        return int((self.apart < NEAR).any(axis=0).sum())

    @property
    def false(self) -> int:
        return int((self.apart.min(axis=1) > 10.0 * NEAR).sum()) if len(self.listed) else 0


def camel(point: dict[str, Any]) -> dict[str, Any]:
    """The point with its value."""
    x, y = point["x1"], point["x2"]
    return point | {"f": (4.0 - 2.1 * x**2 + x**4 / 3.0) * x**2 + x * y + (4.0 * y**2 - 4.0) * y**2}


def ours(seed: int) -> Outcome:
    """Our generator to its end."""
    from gest_api.vocs import VOCS

    generator = gest.Generator(VOCS(variables=BOUNDS, objectives={"f": "MINIMIZE"}), rng=seed)
    until, listed = np.inf, np.zeros((0, 2))
    while True:
        try:
            points = generator.suggest(BATCH)
        except gest.FinishedError:
            points = generator.suggest()
        if not points:
            break
        generator.ingest([camel(point) for point in points])
        listed = np.array([mode.x for mode in generator.result.modes]).reshape(-1, 2)
        outcome = Outcome(generator.result.nfev, listed, until, generator.is_finished)
        if np.isinf(until) and outcome.found == len(MINIMA):
            until = outcome.evaluations
    return Outcome(generator.result.nfev, listed, until, generator.is_finished)


def aposmm(seed: int, evaluations: int, method: str) -> Outcome:
    """APOSMM with so many evaluations."""
    import libensemble.gen_funcs

    libensemble.gen_funcs.rc.aposmm_optimizers = ["nlopt" if method.startswith("LN") else "scipy"]
    from gest_api.vocs import VOCS
    from libensemble.gen_classes import APOSMM

    names, cube = list(BOUNDS), [f"{name}_on_cube" for name in BOUNDS]
    variables = BOUNDS | {name: [0.0, 1.0] for name in cube}
    generator = APOSMM(
        VOCS(variables=variables, objectives={"f": "MINIMIZE"}), max_active_runs=BATCH, initial_sample_size=SAMPLE,
        variables_mapping={"x": names, "x_on_cube": cube, "f": ["f"]}, localopt_method=method,
    )  # fmt: skip
    generator.persis_info["rand_stream"] = np.random.default_rng(seed)  # in 1.6.1 its random_seed is not used
    listed, told, until = np.zeros((0, 2)), 0, np.inf
    points = generator.suggest(SAMPLE)
    while told < evaluations:
        generator.ingest([camel(point) for point in points])
        told += len(points)
        points = generator.suggest(min(BATCH, max(evaluations - told, 1)))  # minima are told of with the next points
        news = [row["x"] for update in generator.suggest_updates() for row in update]
        listed = np.concatenate([listed, np.array(news).reshape(-1, 2)])
        if np.isinf(until) and Outcome(told, listed, until, False).found == len(MINIMA):
            until = told
    generator.finalize()
    return Outcome(told, listed, until, False)


def row(results: Results, name: str, method: str, runs: list[Outcome]) -> None:
    """What came out of all runs."""
    found, until = np.array([run.found for run in runs]), np.array([run.until for run in runs])
    repeats = [len(run.listed) - run.found - run.false for run in runs]
    results.row(
        name, method, reached(float(np.median([run.evaluations for run in runs]))),
        f"{(found == len(MINIMA)).sum()} of {len(runs)}", digits(float(found.mean()), 2),
        digits(float(np.mean([len(run.listed) for run in runs])), 1), digits(float(np.mean(repeats)), 1),
        sum(run.false for run in runs), reached(float(np.median(until))), reached(float(until.max())),
        f"{sum(run.is_over for run in runs)} of {len(runs)}",
    )  # fmt: skip


def main() -> None:
    given = arguments(__doc__ or "", runs=20).parse_args()
    results = Results("Generators: six-hump camel, blind", given, NOTE)
    results.table(COLUMNS)
    mine = [ours(seed) for seed in seeds_of(given)]
    row(results, "allmodes", "trust regions", mine)

    for method, name in METHODS.items():
        theirs = [aposmm(seed, run.evaluations, method) for seed, run in zip(seeds_of(given), mine, strict=True)]
        row(results, "APOSMM", name, theirs)
    results.say(f"With libensemble {version('libensemble')}, nlopt {version('nlopt')}.")
    results.write()


if __name__ == "__main__":
    main()
