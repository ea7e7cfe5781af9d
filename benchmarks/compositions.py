"""Composed functions of our own: at every centre another kind of hill, smooth, rippled or rugged; how many are found?

    python benchmarks/compositions.py --runs 2 --first-seed 0
    python benchmarks/compositions.py --functions mixed-10 rippled-5 --runs 3

Centres, rotations, kinds and the way they are blended (by inverse powers of distances) are those of no published suite:
constants of the search by values alone are chosen here.
"""

from __future__ import annotations

import zlib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from results import Results, arguments, digits, reached, seeds_of

Floats = NDArray[np.float64]

NOTE = (
    "Composed functions: n centres, at each a maximum of value 0. Share: of those with an entry within 1e-4 of the "
    "box and 1e-5 of the height; mean over time: of that share over the budget."
)
FOUND_WITHIN, ACCURACY = 1e-4, 1e-5
BUDGET = 300_000
HEIGHT = 1000.0  # mean fall of every hill in the box, before blending
SHARPNESS = 4.0  # power of the inverse distances that blend


def bowl(z: Floats) -> Floats:
    """A sphere."""
    return (z**2).sum(axis=-1)


def eggs(z: Floats) -> Floats:
    """A bowl with cosines on it, in every coordinate."""
    return (z**2 + 7.0 * (1.0 - np.cos(2.6 * np.pi * z))).sum(axis=-1)


def fractal(z: Floats) -> Floats:
    """Cosines of ever smaller height and width: a cusp with ripples at all scales."""
    total = np.zeros(z.shape[:-1])
    for k in range(14):
        total += 0.55**k * (1.0 - np.cos(2.0 * np.pi * 2.4**k * z / 5.0)).sum(axis=-1)
    return total


def waves(z: Floats) -> Floats:
    """A broad bowl with a product of waves on it."""
    scaled = z / np.sqrt(np.arange(1, z.shape[-1] + 1))
    return (z**2).sum(axis=-1) / 40.0 + 1.0 - np.cos(2.0 * scaled).prod(axis=-1)


KINDS = {"bowl": bowl, "eggs": eggs, "fractal": fractal, "waves": waves}
MIXTURES = {
    "mixed": ["eggs", "eggs", "fractal", "fractal", "waves", "waves", "bowl", "bowl"],
    "rippled": ["waves", "fractal", "fractal", "bowl", "waves", "bowl"],
    "rugged": ["eggs", "eggs", "eggs", "waves", "waves", "bowl"],
}
FUNCTIONS = ["mixed-3", "rippled-5", "mixed-5", "rugged-5", "rippled-10", "mixed-10", "rugged-10", "mixed-20"]


@dataclass(frozen=True)
class Composition:
    """A function on [-1, 1]^d, to be maximised, with its maxima `modes` (n, d), of value 0."""

    modes: Floats
    turns: Floats  # (n, d, d), from the box to each hill's own coordinates
    heights: Floats  # (n,)
    kinds: tuple[str, ...]

    def __call__(self, points: Floats) -> Floats:
        """Values (N,) at points (N, d)."""
        apart = points[:, None] - self.modes
        squared = np.maximum((apart**2).mean(axis=2), 1e-300)
        weights = (squared.min(axis=1, keepdims=True) / squared) ** SHARPNESS
        weights /= weights.sum(axis=1, keepdims=True)
        return -sum(
            weights[:, i] * KINDS[kind](apart[:, i] @ self.turns[i]) / self.heights[i]
            for i, kind in enumerate(self.kinds)
        )


def make(name: str) -> Composition:
    """The function of a name such as "mixed-10"."""
    mixture, d = name.split("-")[0], int(name.split("-")[1])
    rng, kinds = np.random.default_rng(zlib.crc32(name.encode())), MIXTURES[mixture]
    modes = rng.uniform(-0.9, 0.9, (len(kinds), d))
    turns: list[Floats] = []
    heights: list[float] = []
    for kind in kinds:
        rotation = np.linalg.qr(rng.standard_normal((d, d)))[0]
        turns.append(5.0 * rotation * rng.uniform(0.7, 1.4, d))
        places = rng.uniform(-1.0, 1.0, (2000, d)) - modes[len(heights)]
        heights.append(KINDS[kind](places @ turns[-1]).mean() / HEIGHT)
    return Composition(modes, np.array(turns), np.array(heights), tuple(kinds))


def found_at(composition: Composition, budget: int, seed: int, method: str) -> Floats:
    """After how many evaluations each maximum was found; infinite for those that were not."""
    from allmodes import ModeFinder

    d = composition.modes.shape[1]
    finder = ModeFinder(
        [(-1.0, 1.0)] * d, maximise=True, target="global", method=method, maxfev=budget, rng=seed
    )  # fmt: skip
    while not finder.stop():
        points = finder.ask()
        if len(points):
            finder._driver.tell_round(composition(points))
    archive = finder._driver.state.context.archive
    modes = (composition.modes + 1.0) / 2.0
    apart = np.abs(archive.means - modes[:, None]).max(axis=2)
    at = np.array([float(record.found_at) for record in archive.records])
    is_found = (apart < FOUND_WITHIN) & (archive.values > -ACCURACY)
    return np.where(is_found, at, np.inf).min(axis=1, initial=np.inf)


def run(name: str, seed: int, budget: int, method: str) -> Floats:
    """One run, in any process."""
    return found_at(make(name), budget, seed, method)


def main() -> None:
    parser = arguments(__doc__, runs=2)
    parser.add_argument("--functions", nargs="+", default=FUNCTIONS)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--budget", type=int, default=BUDGET)
    parser.add_argument("--method", default="auto")
    given = parser.parse_args()
    results = Results("Composed functions", given, NOTE)
    results.table(["function", "centres", "share", "over time", "last at", "kinds missed"])
    shares, times = [], []
    solve = partial(run, budget=given.budget, method=given.method)
    with ProcessPoolExecutor(given.processes) as pool:
        for name in given.functions:
            at = np.array(list(pool.map(partial(solve, name), seeds_of(given))))
            kinds = make(name).kinds
            missed = [f"{kind} {i + 1}: {n}" for i, kind in enumerate(kinds) if (n := int(np.isinf(at[:, i]).sum()))]
            is_found = np.isfinite(at)
            shares.append(is_found.mean())
            times.append(np.where(is_found, 1.0 - at / given.budget, 0.0).mean())
            last = float(np.median(np.where(is_found, at, 0.0).max(axis=1)))
            results.row(name, len(kinds), digits(shares[-1], 3), digits(times[-1], 3), reached(last), ", ".join(missed))
    results.row("mean", None, digits(float(np.mean(shares)), 3), digits(float(np.mean(times)), 3), None, None)
    results.write()


if __name__ == "__main__":
    main()
