"""What the constants of the search do: each halved and doubled on a part of the bed, written to docs/tuning.md.

    python benchmarks/tuning.py --processes 2                 # what is not yet in benchmarks/tuning.json, and the page
    python benchmarks/tuning.py --only "local.*radius" --again
    python benchmarks/tuning.py --page                        # the page alone, from what was measured

Every variant is a process of its own that runs a part of the bed with seeds that nothing was chosen with; set
OMP_NUM_THREADS=1 where there are several. A constant is measured again when its value, its cases or the seeds have
changed, or with --again.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from bed import chosen, run
from bed_cases import cases
from bed_compare import Runs, compared, grouped, together
from constants import PACKAGE, Constant, find_constants, set_constants
from results import commit
from tuning_page import page

HERE = Path(__file__).resolve().parent
CACHE, PAGE = HERE / "tuning.json", HERE.parent / "docs" / "tuning.md"
FIRST_SEED, SEEDS = 31_000, 3  # nothing was chosen with these
SCALES = {"halved": 0.5, "doubled": 2.0}
AT_MOST_ONE = ("share", "chance", "probability", "confidence", "budget")  # words of units of which there is no more
# Cases for the constants of a folder, by its name; of a folder that is not here, those of "".
CASES = {
    "": "smooth/(camel|mixture d=2 K=10|banana), order 0|smooth/mixture d=5|global/(Shubert|Vincent), order 0, global"
    "|kinked/absolute values d=2|degenerate/(ring|sine).* 1|rough/composition d=[23].*0, global",
    "annealing": "methods/.*anneal",
    "noisy": "noisy/",
    "constrained": "constrained/.*0$|constrained/HS16",
    "discrete": "whole/",
    "roots": "roots/",
    "surrogate": "few/Him",
    "fits": "fits/",
    "population": "methods/.*black-box|global/.*black-box|rough/composition d=(2|3|5).*global",
    "local": "smooth/(Himmelblau|camel|Styb|mixture d=5|banana)|boundary/(wave|vertices)|periodic/torsion d=2"
    "|scales/(Ros.*d=2|bowl d=5|wells in a valley d=2)|kinked/(cone|absolute values d=2|wall)|degenerate/flat and",
    "starts": "smooth/(mixture|Vincent|needles|funnels d=2, order 2)|global/Shubert",
    "scheduling": "smooth/(mixture d=5|funnels)|global/(funnels d=2|Shubert|Vincent|camel)|rough/.* d=[23].* 0, global",
    "verify": "degenerate/.* 1|degenerate/(sine|line|flat).* 0|boundary/|kinked/(cone|absolute values d=2|wall)"
    "|periodic/.*d=2|smooth/(camel|banana)",
}


@dataclass(frozen=True)
class Variant:
    """A constant at another value, beside the bed as it is.

    Attributes:
        found, false, doubles: sums over all runs.
        gain, gain_error: modes found as a share of those known, less that of the bed as it is.
        log_ratio, error: of evaluations to 90 % of the modes, over those of the bed as it is.
        used: ratio of the evaluations used.
        is_same: whether every run was the same as before: the constant was not read.
        problem: why there is nothing of this, if the search failed.
    """

    value: float
    found: int = 0
    false: int = 0
    doubles: int = 0
    gain: float = 0.0
    gain_error: float = 0.0
    log_ratio: float = 0.0
    error: float = 0.0
    used: float = 1.0
    is_same: bool = True
    problem: str = ""


def cases_of(constant: Constant) -> str:
    """The pattern of the cases for a constant of `package.folder.tuning`; those of fits are in several folders."""
    folder = "fits" if constant.name.endswith("_of_fits") else constant.module.split(".")[-2]
    return CASES.get(folder, CASES[""])


def other_values(constant: Constant) -> dict[str, float]:
    """The value halved and doubled; whole numbers are at least 1 and stay whole, shares are at most 1."""
    values: dict[str, float] = {}
    for name, scale in SCALES.items():
        value = scale * constant.value
        if isinstance(constant.value, int):
            value = max(1, round(value))
        elif constant.value <= 1.0 and any(word in constant.unit for word in AT_MOST_ONE):
            value = min(1.0, value)
        if value != constant.value:
            values[name] = value
    return values


def bed_runs(pattern: str, seeds: Sequence[int], settings: Sequence[str] = ()) -> Runs:
    """The runs of a part of the bed in a process of its own, a copy of this one: problems are made once."""
    jobs = [(name, seed) for name in chosen(pattern) for seed in seeds]
    with ProcessPoolExecutor(1, get_context("fork"), set_constants, (settings,)) as pool:
        return [asdict(each) for each in pool.map(run, *zip(*jobs, strict=True))]


def make_problems(patterns: Sequence[str]) -> None:
    """Make the problems of cases, for all processes that follow."""
    for pattern in patterns:
        for name in chosen(pattern):
            cases()[name].make()


def measure(constant: Constant, value: float, baseline: Runs, pattern: str, seeds: Sequence[int]) -> Variant:
    """The constant at another value."""
    try:
        runs = bed_runs(pattern, seeds, [f"{constant.address}={value!r}"])
    except Exception as error:  # whatever another value does to a search
        return Variant(value, problem=str(error), is_same=False)
    before, after = grouped(baseline), grouped(runs)
    rng = np.random.default_rng(0)
    both = together("", [compared(name, before[name], after[name], rng) for name in before])
    return Variant(
        value, both.counts["found"][1], both.counts["false"][1], both.counts["doubles"][1],
        both.gain.mean, both.gain.error, both.ratios["to90"].mean, both.ratios["to90"].error,
        float(np.exp(both.ratios["nfev"].mean)), same(baseline, runs),
    )  # fmt: skip


def same(before: Runs, after: Runs) -> bool:
    """Whether runs differ in nothing but the time that they took."""
    return [{**each, "seconds": 0} for each in before] == [{**each, "seconds": 0} for each in after]


def entry(constant: Constant, baseline: Runs, pattern: str, seeds: Sequence[int]) -> dict[str, Any]:
    """All that is kept of one constant."""
    variants = {
        name: measure(constant, value, baseline, pattern, seeds) for name, value in other_values(constant).items()
    }
    return {
        "value": constant.value, "cases": pattern, "seeds": list(seeds), "commit": commit(),
        "known": sum(each["known"] for each in baseline), "runs": len(baseline),
        "as is": asdict(Variant(constant.value, *sums(baseline))),
        **{name: asdict(variant) for name, variant in variants.items()},
    }  # fmt: skip


def sums(runs: Runs) -> tuple[int, int, int]:
    """Modes found, false ones and doubles."""
    found, false, doubles = (sum(each[key] for each in runs) for key in ("found", "false", "doubles"))
    return found, false, doubles


def is_stale(kept: dict[str, Any] | None, constant: Constant, seeds: Sequence[int]) -> bool:
    """Whether a constant has to be measured."""
    now = {"value": constant.value, "cases": cases_of(constant), "seeds": list(seeds)}
    return kept is None or any(kept[key] != value for key, value in now.items())


def measure_all(constants: list[Constant], seeds: Sequence[int], processes: int, cache: Path) -> None:
    """Measure them and keep each as soon as it is known."""
    kept: dict[str, Any] = json.loads(cache.read_text()) if cache.exists() else {}
    patterns = sorted({cases_of(constant) for constant in constants})
    make_problems(patterns)
    with ThreadPoolExecutor(processes) as pool:
        baselines = dict(zip(patterns, pool.map(lambda pattern: bed_runs(pattern, seeds), patterns), strict=True))

        def one(constant: Constant) -> dict[str, Any]:
            pattern = cases_of(constant)
            return entry(constant, baselines[pattern], pattern, seeds)

        for constant, measured in zip(constants, pool.map(one, constants), strict=True):
            kept[constant.address] = measured
            cache.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
            print(f"{constant.address} = {constant.value}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a regular expression that package.folder.tuning.name matches")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="measure also what is known")
    parser.add_argument("--page", action="store_true", help="write the page, measure nothing")
    parser.add_argument("--list", action="store_true", help="the constants and the number of their cases, no more")
    parser.add_argument("--package", default=PACKAGE)
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--out", type=Path, default=PAGE)
    given = parser.parse_args()
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    every = find_constants(given.package)
    wanted = [constant for constant in every if re.search(given.only, constant.address)]
    if given.list:
        for each in wanted:
            values = " or ".join(f"{value:g}" for value in other_values(each).values())
            print(f"{each.address} = {each.value} {each.unit}: {values}; {len(chosen(cases_of(each)))} cases")
        return
    kept = json.loads(given.cache.read_text()) if given.cache.exists() else {}
    if not given.page:
        due = [each for each in wanted if given.again or is_stale(kept.get(each.address), each, seeds)]
        measure_all(due, seeds, given.processes, given.cache)
        kept = json.loads(given.cache.read_text()) if given.cache.exists() else {}
    text = page(every, kept, given.package)
    given.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
