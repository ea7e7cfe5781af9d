"""Results of the inversion of a measured reflectance: numbers beside the published ones, a table, and text."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from allmodes.problems.gllim import GaussianMixture
from allmodes.problems.hapke import OBSERVATION, misfit, reflectance
from allmodes.reproduce.compare import AGREE, BETTER, DIFFERS, NONE, Number, compare_share, mean_interval
from allmodes.reproduce.experiment import Row

MINIMUM, PLATEAU, SADDLE = "minimum", "plateau", "saddle"
_TAIL = 0.975  # of Student's distribution, for intervals of 95 %
_UNPRINTED = "not printed"
_EDGE = 1e-4  # of the box: closer than this is on it
_SEEDS = "another training set gives another mixture"
_MODEL = "the model here is not the paper's"
_ALONE = "one training cannot tell"

Floats = NDArray[np.float64]


class Training(NamedTuple):
    """One training set and what follows from it.

    Attributes:
        posterior: the mixture at the observation.
        modes: of its density, (J, 4), best first.
        log_densities: there, (J,).
        from_means: how many of the modes mean shift finds from the component means alone.
        signal: the one of the training set that is most correlated with the observation, (10,).
    """

    posterior: GaussianMixture
    modes: Floats
    log_densities: Floats
    from_means: int
    signal: Floats


class Minimum(NamedTuple):
    """Where a search on the exact misfit ended; from a plateau and from a saddle a path leads down."""

    x: Floats
    value: float
    kind: str


class Found(NamedTuple):
    """Everything there is to report.

    Attributes:
        trainings: the searches below are made on the first.
        matched: for each training, which of its modes each published one has become, (4,); -1 for none of its own.
        annealed: which modes each run of NVA-GM found, (H, J).
        searched: which modes each run of find_maxima found, (H, J).
        evaluations: of one run of NVA-GM, and of find_maxima on average.
        minima: of the exact misfit.
    """

    trainings: list[Training]
    matched: list[NDArray[np.intp]]
    annealed: NDArray[np.bool_]
    searched: NDArray[np.bool_]
    evaluations: tuple[int, float]
    minima: list[Minimum]


def numbers(found: Found, published: dict[str, Any]) -> list[Number]:
    """Every published number beside ours."""
    result = []
    for j, (x, printed) in enumerate(zip(published["modes"], published["misfits"], strict=True), 1):
        here = float(misfit(np.array([x]))[0])
        agrees = f"{here:.{len(printed.partition('.')[2])}f}" == printed
        why = "" if agrees else _MODEL
        what = f"misfit of the published Psi_{j} by the model here"
        result.append(Number(what, printed, here, here, here, 1, AGREE if agrees else DIFFERS, why, digits=6))
    for j, x in enumerate(published["modes"][: published["inside"]], 1):
        largest = float(np.abs(reflectance(np.array([x]))[0] - OBSERVATION).max())
        what, claim = f"largest difference of the signal of Psi_{j} to the observation", f"within {published['band']}"
        verdict = AGREE if largest <= published["band"] else DIFFERS
        result.append(Number(what, claim, largest, largest, largest, 1, verdict, _MODEL if verdict == DIFFERS else ""))
    for j in range(len(published["modes"])):
        result += _of_one_mode(found, published, j)
    counts = found.annealed.sum(axis=1).astype(np.float64)
    mean, low, high = mean_interval(counts)
    verdict = BETTER if mean > published["most"] else AGREE
    what = "modes found by a run of NVA-GM"
    why = f"of {found.annealed.shape[1]}; the paper does not say how many its mixture has"
    result.append(Number(what, f"at most {published['most']}", mean, low, high, len(counts), verdict, why, digits=1))
    for label, hits in (("NVA-GM", found.annealed), ("find_maxima", found.searched)):
        what = f"share of the modes found by a run of {label}"
        result.append(compare_share(what, hits.mean(axis=1), None, claim=_UNPRINTED))
    return result


def _of_one_mode(found: Found, published: dict[str, Any], j: int) -> list[Number]:
    """What a published mode has become: whether it is there, its place, log-density and misfit, over all trainings."""
    name, printed = f"Psi_{j + 1}", np.array(published["modes"][j])
    pairs = [(one, int(mine[j])) for one, mine in zip(found.trainings, found.matched, strict=True)]
    is_there = np.array([float(k >= 0) for _, k in pairs])
    what = f"share of trainings in which {name} has a mode of its own"
    result = [compare_share(what, is_there, None, claim=_UNPRINTED, digits=1)]
    pairs = [(one, k) for one, k in pairs if k >= 0]
    if not pairs:
        return result
    places = np.array([one.modes[k] for one, k in pairs])
    mean, low, high = _spread(np.abs(places - printed).max(axis=1))
    between = _movement(found)
    verdict = NONE if between == 0.0 else AGREE if mean <= between else DIFFERS
    why = f"modes move by up to {between:.2f} from one training here to another" if between else _ALONE
    shown = f"({', '.join(f'{x:.3f}' for x in printed)})"
    what = f"distance of the mode uphill of {name}"
    result.append(Number(what, shown, mean, max(0.0, low), high, len(pairs), verdict, why))
    densities = np.array([one.log_densities[k] for one, k in pairs])
    result.append(_one_more("log-density of the mode uphill of " + name, published["log_densities"][j], densities, 2))
    misfits = _one_more("misfit of the mode uphill of " + name, published["misfits"][j], misfit(places), 5)
    return [*result, replace(misfits, low=max(0.0, misfits.low))]


def _one_more(what: str, printed: str, values: Floats, digits: int) -> Number:
    """A published value beside those of trainings: it agrees where it could be the one of another training."""
    mean, low, high = _spread(values)
    if len(values) == 1:
        return Number(what, printed, mean, low, high, 1, NONE, _ALONE, digits)
    agrees = low <= float(printed) <= high
    verdict = AGREE if agrees else DIFFERS
    return Number(what, printed, mean, low, high, len(values), verdict, "" if agrees else _SEEDS, digits)


def _spread(values: Floats) -> tuple[float, float, float]:
    """The mean of trainings, and the interval in which one more would lie with 95 % (the paper has one)."""
    n, mean = len(values), float(values.mean())
    half = float(student.ppf(_TAIL, n - 1) * values.std(ddof=1) * np.sqrt(1.0 + 1.0 / n)) if n > 1 else 0.0
    return mean, mean - half, mean + half


def _row(
    what: str, training: Any, x: Any, log_density: Any, misfit_here: float, more: tuple[Any, ...] = ("",) * 4
) -> Row:
    place = {f"x{i + 1}": float(value) for i, value in enumerate(x)}
    keys = ("nearest published", "distance", "found by NVA-GM", "found by find_maxima")
    named = dict(zip(keys, more, strict=True))
    return {"what": what, "training": training, **place, "log-density": log_density, "misfit": misfit_here, **named}


def table(found: Found, published: dict[str, Any]) -> list[Row]:
    """Published modes, modes of every training, and what was found on the exact misfit."""
    places = np.array(published["modes"])
    rows = [
        _row("published", "", x, float(value), float(here))
        for x, value, here in zip(places, published["log_densities"], misfit(places), strict=True)
    ]
    for i, training in enumerate(found.trainings):
        apart = np.abs(training.modes[:, None] - places[None]).max(axis=2)
        for k, (x, value, here) in enumerate(
            zip(training.modes, training.log_densities, misfit(training.modes), strict=True)
        ):
            shares = ("", "") if i else (float(found.annealed[:, k].mean()), float(found.searched[:, k].mean()))
            more = (f"Psi_{int(apart[k].argmin()) + 1}", float(apart[k].min()), *shares)
            rows.append(_row("mode of the posterior", i + 1, x, float(value), float(here), more))
    return rows + [_row(f"{one.kind} of the exact misfit", "", one.x, "", one.value) for one in found.minima]


def text(found: Found, settings: dict[str, Any]) -> str:
    """What is the paper's, what differs, and what was found."""
    training, annealing = settings["training"], settings["annealing"]
    first, trainings = found.trainings[0], found.trainings
    per_run, in_all = found.annealed.sum(axis=1).mean(), int(found.annealed.any(axis=0).sum())
    minima = [minimum.x for minimum in found.minima if minimum.kind == MINIMUM]
    parts = [
        "**The paper's:** the observation (Nontronite, ten geometries), 100,000 simulated pairs with noise of standard "
        "deviation 0.05, GLLiM with 40 components, NVA-GM with K = 10 run ten times. Its mean square errors are sums "
        "over the ten geometries.",
        "**Not in the paper, and ours:** the angles of the geometries (recovered from published signals: the four "
        "misfits agree to all printed digits), pairs drawn evenly in the unit box, isotropic noise in GLLiM, the start "
        f"and the length of its fit ({training['iterations']} iterations), the annealing schedule (omega_1 = "
        f"{annealing['omega_1']:g}, alpha = {annealing['alpha']:g}, rho_1 = {annealing['rho_1']:g}, beta = "
        f"{annealing['beta']:g}, {annealing['steps']} steps), and when a mode counts as found (within "
        f"{settings['search']['tolerance']} in every coordinate).",
        "**Training sets.** The mixture depends on the pairs it was fitted to and on where the fit began: "
        f"{len(trainings)} trainings have {_range([len(one.modes) for one in trainings])} modes. A climb from a "
        "published mode shows what has become of it: its place moves by up to "
        f"{_movement(found):.2f} in a coordinate from one training to another, and where two published modes lead to "
        f"the same mode, the further one has none of its own.{_weakest(found)} The rows below on modes uphill are "
        "means over the trainings, with the interval in which one more would lie with 95 %: the paper's is one more.",
        f"**What NVA-GM finds** on the first training ({training['pairs']} pairs, {training['components']} "
        f"components): {per_run:.1f} of {len(first.modes)} modes in a run, {in_all} in {len(found.annealed)} runs "
        f"together, {found.evaluations[0]} evaluations each. `find_maxima`: {found.searched.sum(axis=1).mean():.1f} in "
        f"{found.evaluations[1]:.0f}. The truth is mean shift from all component means and from {training['draws']} "
        f"draws; the means alone lead to {sum(one.from_means for one in trainings)} of the "
        f"{sum(len(one.modes) for one in trainings)} modes of all trainings. The paper does not say how many its "
        "mixture has.",
        _mode_lines(found),
        "**The exact likelihood** needs no surrogate: `find_minima` on the misfit of the model itself over the unit "
        f"box, from values, finds {_counted(minima)}. The published modes belong to the surrogate. Where the asymmetry "
        "x3 is 0 or 1 the backscattering share x4 has no effect; where the slope x2 is 0 the first derivative along it "
        "vanishes. A search may stop on such a plateau or saddle, but a path leads down from it.",
        _minimum_lines(found),
    ]  # fmt: skip
    return "\n\n".join(parts)


def _weakest(found: Found) -> str:
    """A sentence on the fourth mode, if it is the weakest here as well."""
    pairs = list(zip(found.trainings, found.matched, strict=True))
    values = [[one.log_densities[mine[j]] for one, mine in pairs if mine[j] >= 0] for j in range(len(pairs[0][1]))]
    means = [float(np.mean(part)) if part else np.nan for part in values]
    return (
        " The fourth is the weakest, as in the paper." if np.isfinite(means[3]) and means[3] == np.nanmin(means) else ""
    )


def _range(counts: list[int]) -> str:
    return str(counts[0]) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"


def _counted(minima: list[Floats]) -> str:
    on_edge = all(min(x.min(), (1.0 - x).min()) < _EDGE for x in minima)
    return f"{len(minima)} {'minimum' if len(minima) == 1 else 'minima'}{', on the edge of the box' if on_edge else ''}"


def _movement(found: Found) -> float:
    """The largest distance between the places of one published mode in two trainings."""
    apart = [
        float(np.abs(a.modes[i] - b.modes[j]).max())
        for (a, mine), (b, other) in combinations(zip(found.trainings, found.matched, strict=True), 2)
        for i, j in zip(mine, other, strict=True)
        if min(i, j) >= 0
    ]
    return max(apart, default=0.0)


def _mode_lines(found: Found) -> str:
    """The modes of the first training as a table."""
    first, mine = found.trainings[0], found.matched[0].tolist()
    lines = [
        "| mode, first training | log-density | misfit | uphill of | runs of NVA-GM | runs of find_maxima |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for k, (x, value, here) in enumerate(zip(first.modes, first.log_densities, misfit(first.modes), strict=True)):
        near = f"Psi_{mine.index(k) + 1}" if k in mine else ""
        shares = [f"{int(hits[:, k].sum())} of {len(hits)}" for hits in (found.annealed, found.searched)]
        lines.append(f"| {_place(x)} | {value:.2f} | {here:.5f} | {near} | {shares[0]} | {shares[1]} |")
    return "\n".join(lines)


def _minimum_lines(found: Found) -> str:
    """What was found on the exact misfit as a table."""
    lines = ["| exact misfit | value | |", "| --- | --- | --- |"]
    for minimum in found.minima:
        kind = minimum.kind if minimum.kind == MINIMUM else f"{minimum.kind}, not a minimum"
        lines.append(f"| {_place(minimum.x)} | {minimum.value:.5f} | {kind} |")
    return "\n".join(lines)


def _place(x: Floats) -> str:
    return "(" + ", ".join(f"{value + 0.0:.3f}" for value in x) + ")"
