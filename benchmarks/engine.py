"""Microseconds per iteration of the engine, beside the published milliseconds and the plain transcript.

    python benchmarks/engine.py            everything, a few minutes
    python benchmarks/engine.py --quick    a few rows, for a quick check

Each row is timed in one process, best of seven (of three for K of 64 and more); compile time is apart. Compare ratios
within one run: absolute times depend on the machine. "plain" is the loop transcript of the paper's algorithms that the
golden tests use.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allmodes import Objective, problems
from allmodes.nva import Algorithm, anneal, presets, schedules
from allmodes.nva.engine.jax_driver import JaxProgram
from allmodes.nva.engine.plan import make_plan
from allmodes.nva.engine.progress import ProgressLine
from allmodes.nva.mixture import Mixture, log_density
from allmodes.nva.mixture.covariances import Fixed, Full
from allmodes.nva.mixture.mixture import LARGEST_TEMPORARY
from results import Results, arguments, digits, reached

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "golden"))
import transcript  # type: ignore[import-not-found]

# Published milliseconds per iteration. Paper: tab:runtime_sym, tab:runtime_st
PUBLISHED: dict[str, dict[str, tuple[float, ...]]] = {
    "symmetric mixture": {
        "K": (2, 3, 4, 5),
        "NVA-GM": (3.7, 6.6, 9.8, 14.0),
        "NVA-GM (fc)": (3.2, 5.7, 8.8, 12.3),
        "FS-NVA-GM": (11.0, 12.1, 12.8, 13.5),
        "FS-NVA-GM (fc)": (10.9, 11.3, 12.3, 13.0),
    },
    "Styblinski–Tang": {
        "K": (2, 4, 6, 8, 10, 12, 14, 16, 18, 20),
        "NVA-GM": (2.7, 8.4, 17.8, 30.6, 45.0, 64.4, 86.6, 111.0, 141.0, 173.0),
        "NVA-GM (fc)": (2.1, 6.8, 14.1, 24.1, 38.3, 53.1, 70.6, 91.1, 116.0, 143.0),
        "FS-NVA-GM": (1.3, 2.2, 4.0, 5.3, 7.1, 9.2, 11.6, 14.4, 17.0, 20.5),
        "FS-NVA-GM (fc)": (0.76, 2.1, 2.9, 4.3, 6.0, 8.3, 10.4, 12.4, 15.1, 18.4),
    },
}
TEMPERATURE = {"symmetric mixture": schedules.power(1.0, 1.0), "Styblinski–Tang": schedules.power(40_000.0, 2.0)}
RATE = {"symmetric mixture": schedules.coupled(0.1, 0.8), "Styblinski–Tang": schedules.coupled(1e-4, 0.5)}
BOUNDED_RATE = 0.05  # fitness-shaped updates diverge with the published rate
STEPS = 200
REPEATS = 7
LARGE = 64  # from this K on, 3 repeats
NOTE = (
    f"Best of {REPEATS} (3 from K = {LARGE} on), {STEPS} iterations each, compile time apart. Published: the paper's "
    "times, on its machine; plain: the loop transcript of the algorithms that the golden tests use. log q: share of a "
    "NumPy iteration spent on the mixture density and its derivatives; products: share of the matrix products of that "
    "density, timed alone."
)
SIZES = ((20, 4), (64, 4), (128, 4), (512, 4), (512, 16), (512, 64))

ALGORITHMS: dict[str, Algorithm] = {
    "NVA-GM": presets.nva_gm(order=2),
    "NVA-GM (fc)": presets.nva_gm(order=2, covariance=Fixed(Full())),
    "FS-NVA-GM": presets.fs_nva_gm(),
    "FS-NVA-GM (fc)": presets.fs_nva_gm(covariance=Fixed(Full())),
}


class Case(NamedTuple):
    """What is timed: a function, the box in which the components start, and the seed of where."""

    name: str
    objective: Objective
    bounds: NDArray[np.float64]
    seed: int


def best_of(function: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Seconds of the fastest call."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return min(times)


def settings(case: Case, name: str) -> dict[str, Any]:
    rate: Any = BOUNDED_RATE if name.startswith("FS") else RATE[case.name]
    return {"temperature": TEMPERATURE[case.name], "learning_rate": rate}


def starts(case: Case, K: int) -> NDArray[np.float64]:
    low, high = case.bounds.T
    return np.random.default_rng([K, case.seed]).uniform(low, high, size=(K, len(low)))


def numpy_seconds(case: Case, name: str, K: int, steps: int) -> float:
    """Seconds per iteration under the NumPy driver."""

    def run(count: int = steps) -> Any:
        return anneal(
            case.objective,
            algorithm=ALGORITHMS[name],
            means=starts(case, K),
            covariances=1.0,
            steps=count,
            rng=case.seed,
            **settings(case, name),
        )

    run(2)
    return best_of(run, REPEATS if K < LARGE else 3) / steps


def jax_seconds(case: Case, name: str, K: int, steps: int) -> tuple[float, float]:
    """Seconds per iteration under the JAX driver, and seconds to compile."""
    algorithm = ALGORITHMS[name]
    given = settings(case, name)
    means = starts(case, K)
    plan = make_plan(algorithm, case.objective, K, len(case.bounds), steps=steps, **given)
    program = JaxProgram(plan)
    mixture = Mixture(np.zeros(K), algorithm.family.start(means, 1.0))

    def run() -> None:
        program.run([mixture], [np.random.default_rng(case.seed)], None, ProgressLine("", steps, False))

    first = best_of(run, 1)
    later = best_of(run, REPEATS if K < LARGE else 3)
    return later / steps, first - later


def plain_objective(case: Case) -> transcript.Function:
    """The objective of one point at a time, as a transcript would have it."""
    if case.name == "Styblinski–Tang":
        return transcript.Function(
            lambda x: -0.5 * np.sum(x**4 - 16 * x**2 + 5 * x),
            lambda x: -2 * x**3 + 16 * x - 2.5,
            lambda x: np.diag(-6 * x**2 + 16),
        )
    angle = np.pi / 2 + 2 * np.pi * np.arange(1, 4) / 3
    gamma, S = np.stack([np.sin(angle), np.cos(angle)], axis=1), np.array([np.eye(2) / 0.54] * 3)
    pi = np.full(3, 1 / 3)
    return transcript.Function(*(lambda x, i=i: transcript.log_mixture(x, pi, gamma, S, i)[i] for i in range(3)))


def plain_seconds(case: Case, name: str, K: int) -> float:
    """Seconds for one iteration of the plain transcript."""
    d = len(case.bounds)
    l = plain_objective(case)  # noqa: E741
    is_fixed, is_shaped = name.endswith("(fc)"), name.startswith("FS")
    B = ALGORITHMS[name].num_samples
    parts = transcript.Parts(gamma_Sigma=None if is_fixed else transcript.G_Sigma_hess)
    if is_shaped:
        covariance = None if is_fixed else transcript.G_Sigma_fs
        parts = transcript.Parts(transcript.G_mu_fs, covariance, u=transcript.cma_es_utilities(B, B // 4))
        l = transcript.Function(l.value, None, None)  # noqa: E741
    elif is_fixed:
        l = transcript.Function(l.value, l.gradient, None)  # noqa: E741
    z = np.random.default_rng(case.seed).standard_normal((K, B, d))
    mu, S, v = starts(case, K), np.array([np.eye(d)] * K), np.zeros(K)
    return best_of(lambda: transcript.nva_gm_step(l, mu, S, v, z, 1.0, 1e-4, parts))


def published_table(case: Case, sizes: tuple[int, ...], results: Results) -> None:
    measured = ["published, us", "plain, us", "NumPy, us", "JAX, us", "compile, s", "plain/NumPy", "plain/JAX"]
    results.table(["method", "K", *measured], f"{case.name} (d = {len(case.bounds)})")
    for name in ALGORITHMS:
        for K in sizes:
            published = PUBLISHED[case.name][name][PUBLISHED[case.name]["K"].index(K)]
            plain = plain_seconds(case, name, K)
            numpy_time = numpy_seconds(case, name, K, STEPS)
            jax_time, compile_time = jax_seconds(case, name, K, STEPS)
            times = [reached(1e6 * seconds) for seconds in (1e-3 * published, plain, numpy_time, jax_time)]
            gains = [reached(plain / numpy_time), reached(plain / jax_time)]
            results.row(name, K, *times, digits(compile_time, 1), *gains)


def product_seconds(K: int, d: int, B: int) -> float:
    """Seconds for the matrix products of one Hessian iteration alone, in the blocks that the engine uses."""
    n = min(K * B, max(1, LARGEST_TEMPORARY // (K * d)))
    rng = np.random.default_rng(0)
    x, C = rng.standard_normal((K, n, d)), rng.standard_normal((K, d, d))
    by_point, r = x.swapaxes(0, 1), rng.random((n, K))

    def products() -> None:
        x @ C  # whitened residuals
        x @ C.mT  # their pulls
        r[:, None, :] @ by_point  # mean pulls
        by_point.mT @ by_point  # sums of outer products over components
        r @ C.reshape(K, -1)  # mixed precisions

    return best_of(products, 3) * (K * B / n)


def size_table(sizes: tuple[tuple[int, int], ...], seed: int, results: Results) -> None:
    columns = ["K", "d", "NumPy, us", "JAX, us", "compile, s", "log q, %", "products, %"]
    results.table(columns, "Hessian NVA-GM on Styblinski–Tang, larger sizes (B = 4)")
    for K, d in sizes:
        case = Case("Styblinski–Tang", problems.styblinski_tang_objective(), np.array([[-4.0, 4.0]] * d), seed)
        steps = max(2, min(STEPS, 2_000_000 // (K * K * d)))
        numpy_time = numpy_seconds(case, "NVA-GM", K, steps)
        jax_time, compile_time = jax_seconds(case, "NVA-GM", K, steps)
        parts = [100 * seconds / numpy_time for seconds in (density_seconds(K, d), product_seconds(K, d, 4))]
        times = [reached(1e6 * seconds) for seconds in (numpy_time, jax_time)]
        results.row(K, d, *times, digits(compile_time, 1), *map(reached, parts))


def density_seconds(K: int, d: int) -> float:
    """Seconds for log q, its gradient and its Hessian at the points of one iteration."""
    family = ALGORITHMS["NVA-GM"].family
    rng = np.random.default_rng(0)
    mixture = Mixture(np.zeros(K), family.start(rng.uniform(-4.0, 4.0, (K, d)), 1.0))
    points = family.sample(mixture.components, rng.standard_normal((K, 4, d)))[0].reshape(-1, d)
    return best_of(lambda: log_density(family, mixture, points, frozenset({"gradient", "hessian"})), 3)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="a few rows only")
    given = parser.parse_args()
    results = Results("Microseconds per iteration of the engine", given, NOTE)
    symmetric, styblinski_tang = problems.symmetric_mixture(), problems.styblinski_tang(4)
    for problem, some in ((symmetric, (5,)), (styblinski_tang, (20,))):
        sizes = some if given.quick else tuple(int(K) for K in PUBLISHED[problem.name]["K"])
        published_table(Case(problem.name, problem.objective, problem.bounds, given.first_seed), sizes, results)
    size_table(SIZES[:2] if given.quick else SIZES, given.first_seed, results)
    results.write()


if __name__ == "__main__":
    main()
