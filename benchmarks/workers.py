"""What workers give and what they cost: evaluations per second of a function that sleeps, for every engine.

    python benchmarks/workers.py                       # serial, loky, and dask and ray if they are installed
    python benchmarks/workers.py --engines serial loky

Ray listens on every address and asks the network for its own; give it a network with nothing but the loopback:

    unshare --map-root-user --net sh -c 'ip link set lo up; python benchmarks/workers.py'

Batches are as wide as a search makes them late on. The first, in which processes start and chunks are measured, is
reported as the start; of the others the best counts. Efficiency is the speed-up over serial for each worker; overhead
is the time of a worker for an evaluation beyond that of serial.

A second table has whole searches (Styblinski-Tang in four dimensions from values alone, 10 ms each): seconds per
evaluation on two processes beside those in one, for several widths.
"""

from __future__ import annotations

import contextlib
import importlib.util
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from allmodes import find_maxima, problems
from allmodes.objective import VALUE
from allmodes.objective.bounds import Box
from allmodes.objective.derivatives import Source
from allmodes.objective.evaluator import Evaluator
from allmodes.objective.workers.local import Processes
from results import Results, arguments, digits

# Seconds that an evaluation sleeps, points in a batch: about a second of work in each.
SIZES = {1e-3: 512, 1e-2: 128, 1e-1: 16}
REPEATS = 5
SEARCHED, EVALUATIONS = 1e-2, 1000  # seconds of an evaluation in a search, and how many
WORKERS = (1, 2)
NOTE = (
    f"A function that sleeps, best of {REPEATS} batches. Efficiency is the speed-up over serial for each worker, in %; "
    "overhead is the time of a worker for an evaluation beyond that of serial, in ms."
)


@contextlib.contextmanager
def serial(n: int) -> Iterator[Any]:
    yield 1


@contextlib.contextmanager
def loky(n: int) -> Iterator[Any]:
    yield Processes(n)


@contextlib.contextmanager
def dask(n: int) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            host="127.0.0.1", n_workers=n, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextlib.contextmanager
def ray(n: int) -> Iterator[Any]:
    import ray as engine

    engine.init(
        num_cpus=n, _node_ip_address="127.0.0.1", include_dashboard=False, log_to_driver=False, logging_level="ERROR"
    )
    try:
        yield engine
    finally:
        engine.shutdown()


ENGINES = {"serial": serial, "loky": loky, "dask": dask, "ray": ray}
PACKAGES = {"loky": "joblib", "dask": "distributed", "ray": "ray"}


def installed() -> list[str]:
    """The engines that can be measured here."""
    return [name for name in ENGINES if name not in PACKAGES or importlib.util.find_spec(PACKAGES[name])]


def measure(workers: Any, seconds: float, N: int, seed: int) -> tuple[float, float]:
    """Seconds of the first batch beyond the best one, and of the best one."""
    points = np.random.default_rng(seed).uniform(size=(N, 2))

    def fun(x: Any) -> float:
        time.sleep(seconds)
        return float(x.sum())

    times = []
    with Evaluator(Source.make(fun, box=Box.make([(0, 1), (0, 1)])), workers=workers) as evaluator:
        for _ in range(1 + REPEATS):
            began = time.perf_counter()
            evaluator.evaluate(points)
            times.append(time.perf_counter() - began)
    return times[0] - min(times[1:]), min(times[1:])


def search(workers: int, width: int | None, seed: int) -> tuple[int, float]:
    """Evaluations and seconds of a search of a slow function."""
    problem = problems.styblinski_tang(4)

    def fun(x: Any) -> float:
        time.sleep(SEARCHED)
        return float(problem.objective.evaluate(x[None], VALUE).value[0])

    options = None if width is None else {"width": width}
    began = time.perf_counter()
    result = find_maxima(fun, problem.bounds, rng=seed, maxfev=EVALUATIONS, workers=workers, options=options)
    return result.nfev, time.perf_counter() - began


def searches(seed: int, results: Results) -> None:
    title = f"A search of {EVALUATIONS} evaluations, {1e3 * SEARCHED:.0f} ms each, loky"
    results.table(["width", "seconds, 1 worker", "seconds, 2 workers", "speed-up"], title)
    search(2, None, seed)  # processes start
    for width in (None, 8, 16):
        (_, alone), (_, both) = search(1, width, seed), search(2, width, seed)
        results.row(width or "default", digits(alone, 1), digits(both, 1), digits(alone / both, 2))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), default=installed())
    given = parser.parse_args()
    results = Results("Workers", given, NOTE)
    measured = ["evaluations/s", "speed-up", "efficiency, %", "overhead, ms", "start, s"]
    results.table(["ms", "engine", "workers", *measured])
    alone = {seconds: measure(1, seconds, N, given.first_seed)[1] for seconds, N in SIZES.items()}
    for name in given.engines:
        for n in WORKERS if name != "serial" else WORKERS[:1]:
            for seconds, N in SIZES.items():
                start, best = 0.0, alone[seconds]
                if name != "serial":
                    with ENGINES[name](n) as workers:
                        start, best = measure(workers, seconds, N, given.first_seed)
                gain = alone[seconds] / best
                overhead = 1e3 * (n * best - alone[seconds]) / N
                gains = [digits(N / best, 1), digits(gain, 2), round(100 * gain / n)]
                results.row(round(1e3 * seconds), name, n, *gains, digits(overhead, 2), digits(start, 1))
    searches(given.first_seed, results)
    results.write()


if __name__ == "__main__":
    main()
