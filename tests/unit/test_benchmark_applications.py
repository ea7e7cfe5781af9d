"""The benchmark on applications: what it counts, and what it takes for found, new and false."""

import json
from dataclasses import replace

import numpy as np
import pytest

import applications
import known_optima
import page
from allmodes.problems.applications import APPLICATIONS, cyclohexane, heptane, star_dome
from local_cases import of_problem


def listed(problem, x, at=0.0):
    """Points as a method would list them."""
    low, high = problem.bounds.T
    return applications.Listed((np.asarray(x) - low) / (high - low), np.full(len(x), at), 7)


@pytest.mark.parametrize("name", APPLICATIONS)
def test_known_optima_are_found_and_none_is_new_or_false(name):
    problem = APPLICATIONS[name]()
    verdict = applications.judged(problem, 0, listed(problem, problem.modes))
    assert verdict == (1.0, 1.0, 1.0, len(problem.modes), 0, 0, 7)
    late = applications.judged(problem, 1, listed(problem, problem.modes, applications.budget(problem, 1)))
    assert (late.share, late.half) == (1.0, 0.0)


@pytest.mark.parametrize("name", APPLICATIONS)
def test_an_optimum_that_was_not_known_is_new(name):
    """The list without its last one, and that one as an entry."""
    problem = APPLICATIONS[name]()
    fewer = replace(problem, modes=problem.modes[:-1], is_global=problem.is_global[:-1])
    verdict = applications.judged(fewer, 0, listed(problem, problem.modes[-1:]))
    assert (verdict.share, verdict.new, verdict.false) == (0.0, 1, 0)


def test_a_point_that_is_no_optimum_is_false():
    problem = cyclohexane()
    verdict = applications.judged(problem, 0, listed(problem, problem.modes[:2] + 1.0))
    assert (verdict.share, verdict.entries, verdict.new, verdict.false) == (0.0, 2, 0, 2)
    nothing = applications.judged(problem, 0, listed(problem, np.zeros((0, 3))))
    assert nothing[:6] == (0.0, 0.0, 0.0, 0, 0, 0)


def test_around_a_seam_an_optimum_is_found():
    problem = heptane()
    verdict = applications.judged(problem, 0, listed(problem, problem.modes + 2.0 * np.pi))
    assert verdict.share == 1.0


def test_budgets_are_kept_and_every_value_counts():
    problem = cyclohexane()
    points = applications.Counted(problem, 0)
    z = np.array([0.3, 0.6, 1.0])
    value, slope = points(z)
    case = of_problem(problem)
    assert points.nfev == 4
    assert value == case.value(z[None])[0]
    np.testing.assert_allclose(slope, case.gradient(z[None])[0], rtol=1e-5)
    exact = applications.Counted(problem, 1)
    np.testing.assert_array_equal(exact(z)[1], case.gradient(z[None])[0])
    assert exact.nfev == 1
    exact.budget = 1
    with pytest.raises(applications.Spent):
        exact(z)
    assert (applications.budget(problem, 0), applications.budget(problem, 1)) == (20_000, 2_000)
    assert applications.budget(star_dome(), 0) == 50_000


def test_multistart_lists_every_end_once(monkeypatch):
    monkeypatch.setattr(applications, "SMALL_BUDGET", 3_000)
    problem = cyclohexane()
    found = applications.multistart(problem, 0, 0)
    assert found.nfev <= 3_000
    case = of_problem(problem)
    apart = case.apart(found.points[:, None], found.points) + np.eye(len(found.points))
    assert apart.min() > applications.SAME
    assert (found.at <= found.nfev).all()
    assert applications.judged(problem, 0, found).share > 0.5


def test_hessians_of_a_case_are_those_of_its_gradient():
    case = of_problem(star_dome())
    z = np.random.default_rng(0).random((2, 21))
    ahead, behind = (case.gradient(z + step) for step in (1e-4 * np.eye(21)[3], -1e-4 * np.eye(21)[3]))
    np.testing.assert_allclose(case.hessian(z)[:, 3], (ahead - behind) / 2e-4, rtol=1e-4, atol=1e-4)


class TestKnownOptima:
    def test_what_is_not_listed_is_new(self):
        problem = cyclohexane()
        fewer = replace(problem, modes=problem.modes[1:], is_global=problem.is_global[1:])
        found = known_optima.ends(fewer, 64, 0)
        assert found.hits.sum() + found.nowhere < 64
        np.testing.assert_allclose(found.new, problem.modes[:1], atol=1e-6)
        assert len(known_optima.ends(problem, 64, 0).new) == 0

    def test_new_ones_are_written_into_the_list(self, tmp_path, monkeypatch):
        path = tmp_path / "known.json"
        before = known_optima.LIST.read_text(encoding="utf-8")
        path.write_text(before, encoding="utf-8")
        monkeypatch.setattr(known_optima, "LIST", path)
        known_optima.add("heptane", np.zeros((0, 4)))
        assert path.read_text(encoding="utf-8") == before
        known_optima.add("heptane", np.full((1, 4), 1 / 3))
        assert json.loads(path.read_text(encoding="utf-8"))["heptane"][-1] == [0.333333333333] * 4


def test_the_table_of_the_comparison_is_that_of_the_file(tmp_path):
    """`python benchmarks/page.py` writes it anew."""
    text = page.COMPARISON.read_text(encoding="utf-8")
    assert text == page.compared(text)
    facts = json.loads(json.dumps(page.results()["applications"]))
    row = facts["tables"][0]["rows"][0]
    row[facts["tables"][0]["columns"].index("allmodes: found")] = 0.123
    (tmp_path / "applications.json").write_text(json.dumps(facts), encoding="utf-8")
    other = page.compared(text, tmp_path)
    assert other.count("0.12") == text.count("0.12") + 1
    assert len(other.splitlines()) == len(text.splitlines())
    with pytest.raises(ValueError, match="no table in the text"):
        page.compared("nothing")
