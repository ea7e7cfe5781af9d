"""complexity: calls are counted where the objective is called."""

import csv

import numpy as np
import pytest

from allmodes.baselines import parallel_newton, parallel_sga
from allmodes.nva import anneal, presets
from allmodes.problems import symmetric_mixture
from allmodes.reproduce import experiment
from allmodes.reproduce.compare import AGREE, DIFFERS
from allmodes.reproduce.complexity import ALGORITHMS, Size, Tally, count
from allmodes.reproduce.experiment import Context
from allmodes.reproduce.writing import write

COMPLEXITY = experiment("complexity")


@pytest.fixture(scope="module")
def outcome():
    return COMPLEXITY.run(Context(COMPLEXITY.settings, 1))


def test_every_formula_of_the_table_is_what_was_counted(outcome):
    assert [number.verdict for number in outcome.numbers] == [AGREE] * 39
    assert {line["algorithm"] for line in outcome.table} == set(ALGORITHMS)


def test_some_counts_by_hand(outcome):
    """B~ = 4, K = 3, T = 5, eta = 1/4."""
    first = {line["algorithm"]: line for line in outcome.table if line["T"] == 5}
    counted = {name: tuple(line[f"{f} counted"] for f in ("l", "grad l", "hess l")) for name, line in first.items()}
    assert counted["pSGA"] == (0, 60, 0)
    assert counted["pNewton"] == (0, 60, 60)
    assert counted["pCMA-ES"] == (240, 0, 0)
    assert counted["NVA-GM (Hessian)"] == (60, 60, 60)
    assert counted["NVA-GM (Hessian, means from values)"] == (60, 0, 60)
    assert counted["NVA-GM-IS (gradient)"] == (20, 20, 0)
    assert counted["FS-NVA-GM"] == (240, 0, 0)
    assert counted["FS-NVA-GM-IS"] == (80, 0, 0)


def test_a_wrong_formula_would_be_seen():
    settings = COMPLEXITY.settings
    settings["algorithms"] = [{"name": "NVA-GM (gradient)", "fun": "BKT", "jac": "BT", "hess": "0 or BKT"}]
    fun, jac, hess = COMPLEXITY.run(Context(settings, 1)).numbers
    assert (fun.verdict, jac.verdict, hess.verdict) == (AGREE, DIFFERS, AGREE)
    assert (jac.published, jac.here) == ("B~T = 20", 60.0)
    assert jac.reason


def test_the_counts_that_runs_report_are_the_calls_that_were_made():
    problem = symmetric_mixture()
    points = np.random.default_rng(0).uniform(-2, 2, (3, 2))
    for go in (
        lambda objective: parallel_sga(objective, points, learning_rate=0.1, steps=7, num_samples=2),
        lambda objective: parallel_newton(objective, points, steps=4, tolerance=1e-3),
        lambda objective: anneal(
            objective, algorithm=presets.nva_gm(2), means=points, covariances=1.0, temperature=1.0, learning_rate=0.1,
            steps=6, rng=0,
        ),
    ):  # fmt: skip
        tally = Tally(problem.objective)
        run = go(tally.objective)
        assert tally.calls == {"fun": run.nfev, "jac": run.njev, "hess": run.nhev}


def test_counts_do_not_depend_on_the_seed():
    size = Size(2, 3, 4, 0.25)
    counts = [count("FS-NVA-GM-IS", size, rng=np.random.default_rng(seed)) for seed in (0, 1)]
    assert counts == [{"fun": 32, "jac": 0, "hess": 0}] * 2


def test_the_files_are_written(outcome, tmp_path):
    write(COMPLEXITY, outcome, tmp_path)
    with (tmp_path / "complexity.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 39  # 13 algorithms, 3 sizes
    text = (tmp_path / "complexity.md").read_text(encoding="utf-8")
    assert "| pSGA: calls of grad l | B~KT = 60 | 60 |" in text
    assert "39 agree" in text
    assert (tmp_path / "complexity.png").stat().st_size > 10_000
