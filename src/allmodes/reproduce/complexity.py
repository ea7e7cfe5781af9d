"""How often every algorithm calls the objective, its gradient and its Hessian: counted, beside the published formulas.

Paper: tab:complexity_algorithm
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from allmodes.baselines import parallel_cma_es, parallel_newton, parallel_sga
from allmodes.nva.annealing import Algorithm, estimators, presets
from allmodes.nva.engine import anneal
from allmodes.objective import Objective
from allmodes.problems import symmetric_mixture
from allmodes.reproduce.compare import AGREE, DIFFERS, Number
from allmodes.reproduce.experiment import Context, Experiment, Outcome, Row

FUNCTIONS = {"fun": "l", "jac": "grad l", "hess": "hess l"}
_SIGNS = {"fun": r"$\ell$", "jac": r"$\nabla \ell$", "hess": r"$\nabla^2 \ell$"}
_RATE, _TEMPERATURE = 0.01, 0.1  # small steps: what is counted does not depend on them
_SIGMA0 = 1.0
_WRONG = "the number of calls is another"


class Size(NamedTuple):
    """B~ samples, K components, T steps, level eta."""

    B: int
    K: int
    T: int
    eta: float

    @property
    def population(self) -> int:
        """Samples of which the share eta is selected."""
        return round(self.B / self.eta)

    def formula(self, text: str) -> float:
        """The value of a published formula."""
        B, K, T, eta = self
        return {"0": 0, "BKT": B * K * T, "BT": B * T, "BKT/eta": B * K * T / eta, "BT/eta": B * T / eta}[text]


class Tally:
    """An objective whose calls are counted: `calls` are points at which fun, jac and hess were called."""

    def __init__(self, objective: Objective) -> None:
        self.calls = dict.fromkeys(FUNCTIONS, 0)
        self.objective = Objective(**{name: self._counted(name, objective) for name in FUNCTIONS}, vectorized=True)

    def _counted(self, name: str, objective: Objective) -> Callable[[Any], Any]:
        function = getattr(objective, name)

        def call(points: Any) -> Any:
            self.calls[name] += len(points)
            return function(points)

        return call


def _annealed(algorithm: Algorithm, selects: bool = False) -> Callable[..., Any]:
    def go(objective: Objective, starts: Any, size: Size, rng: np.random.Generator) -> None:
        anneal(
            objective, algorithm=algorithm, means=starts, covariances=1.0, temperature=_TEMPERATURE,
            learning_rate=_RATE, num_samples=size.population if selects else size.B, steps=size.T, rng=rng,
        )  # fmt: skip

    return go


def _sga(objective: Objective, starts: Any, size: Size, rng: np.random.Generator) -> None:
    parallel_sga(objective, starts, learning_rate=_RATE, steps=size.T, num_samples=size.B, end_values=False)


def _newton(objective: Objective, starts: Any, size: Size, rng: np.random.Generator) -> None:
    parallel_newton(objective, starts, learning_rate=_RATE, steps=size.T, num_samples=size.B, end_values=False)


def _cma_es(objective: Objective, starts: Any, size: Size, rng: np.random.Generator) -> None:
    parallel_cma_es(
        objective, starts, sigma0=_SIGMA0, steps=size.T, num_samples=size.population, num_selected=size.B, rng=rng,
        end_values=False,
    )  # fmt: skip


_FROM_VALUES = estimators.Hessian(mean=estimators.BlackBox())
ALGORITHMS: dict[str, Callable[..., Any]] = {
    "pSGA": _sga,
    "pNewton": _newton,
    "pCMA-ES": _cma_es,
    "NVA-GM (Hessian)": _annealed(presets.nva_gm(2)),
    "NVA-GM (Hessian, means from values)": _annealed(presets.nva_gm(2, estimator=_FROM_VALUES)),
    "NVA-GM (gradient)": _annealed(presets.nva_gm(1)),
    "NVA-GM (black-box)": _annealed(presets.nva_gm(0)),
    "NVA-GM-IS (Hessian)": _annealed(presets.nva_gm_is(2)),
    "NVA-GM-IS (Hessian, means from values)": _annealed(presets.nva_gm_is(2, estimator=_FROM_VALUES)),
    "NVA-GM-IS (gradient)": _annealed(presets.nva_gm_is(1)),
    "NVA-GM-IS (black-box)": _annealed(presets.nva_gm_is(0)),
    "FS-NVA-GM": _annealed(presets.fs_nva_gm(), selects=True),
    "FS-NVA-GM-IS": _annealed(presets.fs_nva_gm_is(), selects=True),
}


def count(name: str, size: Size, *, rng: np.random.Generator) -> dict[str, int]:
    """Calls of fun, jac and hess in one run."""
    problem = symmetric_mixture()
    tally = Tally(problem.objective)
    low, high = problem.bounds.T
    ALGORITHMS[name](tally.objective, rng.uniform(low, high, (size.K, len(low))), size, rng)
    return tally.calls


def run(context: Context) -> Outcome:
    """Every algorithm at every size."""
    settings = context.settings
    sizes = [Size(**size, eta=settings["eta"]) for size in settings["sizes"]]
    jobs = [(algorithm["name"], size) for algorithm in settings["algorithms"] for size in sizes]
    results = iter(context.map(count, jobs, "runs"))
    numbers, table = [], []
    for algorithm in settings["algorithms"]:
        calls = [next(results) for _ in sizes]
        numbers += [_number(algorithm, function, sizes, [call[function] for call in calls]) for function in FUNCTIONS]
        table += [_row(algorithm, size, call) for size, call in zip(sizes, calls, strict=True)]
    return Outcome(numbers, table, settings["text"])


def _row(algorithm: dict[str, str], size: Size, calls: dict[str, int]) -> Row:
    line: Row = {"algorithm": algorithm["name"], **size._asdict()}
    for function, shown in FUNCTIONS.items():
        line |= {f"{shown} published": algorithm[function], f"{shown} counted": calls[function]}
    return line


def _number(algorithm: dict[str, str], function: str, sizes: list[Size], counted: list[int]) -> Number:
    """One formula beside the counts; agrees if one of its alternatives fits all sizes."""
    choices = algorithm[function].split(" or ")
    fits = [all(size.formula(choice) == n for size, n in zip(sizes, counted, strict=True)) for choice in choices]
    values = " or ".join(f"{sizes[0].formula(choice):.0f}" for choice in choices)
    formula = algorithm[function].replace("B", "B~")
    published = formula if formula == values else f"{formula} = {values}"
    return Number(
        f"{algorithm['name']}: calls of {FUNCTIONS[function]}", published, float(counted[0]), np.nan, np.nan,
        len(sizes), AGREE if any(fits) else DIFFERS, "" if any(fits) else _WRONG, 0,
    )  # fmt: skip


def draw(figure: Any, outcome: Outcome) -> None:
    """The paper's table, with the counts of the first size beside the formulas."""
    ax = figure.subplots()
    ax.axis("off")
    first = outcome.table[0]
    size = tuple(first[letter] for letter in "BKT")
    lines = [line for line in outcome.table if tuple(line[letter] for letter in "BKT") == size]
    cells = [[_cell(line[f"{f} published"], line[f"{f} counted"]) for f in FUNCTIONS.values()] for line in lines]
    table = ax.table(
        cells, rowLabels=[line["algorithm"] for line in lines], colLabels=list(_SIGNS.values()), loc="center",
        cellLoc="center",
    )  # fmt: skip
    table.auto_set_font_size(False)
    table.set_fontsize(9)
    table.scale(1.0, 1.5)
    ax.set_title(
        rf"calls: published formula, and what was counted for $\tilde B$ = {size[0]}, $K$ = {size[1]}, "
        rf"$T$ = {size[2]}, $\eta$ = {first['eta']:g}",
        fontsize=10,
    )


def _cell(formula: str, counted: int) -> str:
    letters = formula.replace("/eta", r" / \eta").replace("B", r"\tilde B")
    shown = " or ".join(f"${part}$" for part in letters.split(" or "))
    return shown if formula == str(counted) else f"{shown}   ({counted})"


EXPERIMENTS = {
    "complexity": Experiment(
        "complexity", "calls of the objective and its derivatives", ("tab:complexity_algorithm",), 1, run, draw,
        ("cma",), (9.0, 5.2),
    ),
}  # fmt: skip
