"""The instruments of benchmarks/: the bed counts what it should, and constants are found and set."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
STUB = """
from dataclasses import dataclass, field

@dataclass(frozen=True)
class Tuning:
    reach: float = field(default=0.5, metadata={"unit": "box", "why": "as far as it goes"})
    share: float = field(default=0.8, metadata={"unit": "share", "why": "most of it"})
    steps: int = field(default=3, metadata={"unit": "steps", "why": "enough"})
    least: int = field(default=1, metadata={"unit": "steps", "why": "one at least"})
    is_quick: bool = True

TUNING = Tuning()
"""


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import bed
    import bed_cases
    import bed_compare
    import constants
    import tuning
    import tuning_page

    modules = (bed, bed_cases, bed_compare, constants, tuning, tuning_page)
    return {module.__name__: module for module in modules}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "stub_search" / "searchers" / "local"
    folder.mkdir(parents=True)
    for place in (folder, folder.parent, folder.parent.parent):
        (place / "__init__.py").touch()
    (folder / "tuning.py").write_text(STUB)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith("stub_search")]:
        monkeypatch.delitem(sys.modules, name)
    return "stub_search"


def test_the_bed_tells_found_double_false_and_extra_modes_apart(benchmarks):
    bed, case = benchmarks["bed"], benchmarks["bed_cases"].cases()["smooth/Himmelblau, order 0"]
    known = case.make()
    points = np.vstack([known.places[:2], known.places[:1] + 1e-3, [[0.0, 0.0]]])
    listed = bed.judge(case, known, points, np.array([40, 30, 50, 20]))
    assert (listed["found"], listed["doubles"], listed["false"], listed["extra"]) == (2, 1, 1, 0)
    assert listed["to90"] is None
    assert listed["last"] == 40


def test_known_modes_of_the_bed_stay_where_they_are(benchmarks):
    bed = benchmarks["bed"]
    for name in (
        "boundary/wave d=2, order 0",
        "periodic/coupled torsion, order 0",
        "rough/composition d=2 K=6, order 1, global",
    ):
        known = benchmarks["bed_cases"].cases()[name].make()
        assert all(bed.is_optimum(known, x) for x in known.places)
        moved = known.bounds[:, 0] + np.ptp(known.bounds, axis=1) * 0.41
        assert not bed.is_optimum(known, moved)


def test_a_run_of_the_bed_counts_evaluations(benchmarks):
    run = benchmarks["bed"].run("smooth/Himmelblau, order 2", 5)
    assert run.found == run.known == 4
    assert run.counted == run.nfev
    assert 0 < run.to90 <= run.to100 <= run.nfev


def test_modes_of_other_shapes_are_what_they_should_be(benchmarks):
    cases = benchmarks["bed_cases"].cases()
    roots = cases["roots/slope of Himmelblau, order 1"].make()
    assert roots.count == 9
    assert np.abs(roots.fun(roots.places)).max() < 1e-4
    held = cases["constrained/HS16, order 0"].make()
    (constraint,) = held.settings["constraints"]
    assert (constraint.fun(held.places) > -1e-6).all()
    lattice = cases["whole/lattice d=5, order 0"].make()
    steps = np.vstack([np.eye(5), -np.eye(5)])
    assert all((lattice.fun(x + steps) > lattice.fun(x)).all() for x in lattice.places)


def test_a_search_of_another_shape_counts_what_is_not_known_as_false(benchmarks):
    bed, case = benchmarks["bed"], benchmarks["bed_cases"].cases()["whole/mixed Himmelblau, order 0"]
    run = bed.run(case.name, 5)
    assert (run.found, run.known, run.false, run.extra) == (4, 4, 0, 0)
    listed = bed.judge(case, case.make(), np.array([[-3.0, -3.0]]), np.array([20]))
    assert (listed["found"], listed["false"]) == (0, 1)


def test_constants_of_a_shape_are_measured_with_its_cases(benchmarks):
    tuning, constants = benchmarks["tuning"], benchmarks["constants"]
    found = {each.address: tuning.cases_of(each) for each in constants.find_constants()}
    assert found["allmodes.search.searchers.roots.tuning.window"] == "roots/"
    assert found["allmodes.search.searchers.local.tuning.growth_of_fits"] == "fits/"
    assert found["allmodes.search.searchers.local.tuning.growth"].startswith("smooth/")
    assert all(benchmarks["bed"].chosen(pattern) for pattern in set(found.values()))


def test_missing_modes_are_never_the_better_result(benchmarks):
    compare = benchmarks["bed_compare"]
    rest = {"known": 2, "false": 0, "doubles": 0, "extra": 0, "seconds": 1.0}
    before = [{"found": 2, "to90": 900, "to100": 900, "nfev": 1000, **rest} for _ in range(3)]
    after = [{"found": 1, "to90": None, "to100": None, "nfev": 100, **rest} for _ in range(3)]
    case = compare.compared("a/b", before, after, np.random.default_rng(0))
    assert np.exp(case.ratios["to90"].mean) == pytest.approx(2000 / 900)
    assert case.remarks == "fewer modes, slower, uses less"


def test_constants_are_found_and_set_in_place(benchmarks, package):
    constants = benchmarks["constants"]
    found = {each.name: each for each in constants.find_constants(package)}
    assert list(found) == ["reach", "share", "steps", "least"]
    assert found["reach"].address == "stub_search.searchers.local.tuning.reach"
    assert (found["reach"].unit, found["reach"].why) == ("box", "as far as it goes")
    tuning = sys.modules[found["reach"].module].TUNING
    constants.set_constants([f"{found['steps'].address}=6", f"{found['reach'].address}=0.25"])
    assert (tuning.steps, type(tuning.steps), tuning.reach) == (6, int, 0.25)
    with pytest.raises(AttributeError):
        constants.set_constants([f"{found['steps'].module}.typo=6"])


def test_other_values_stay_whole_and_shares_stay_below_one(benchmarks, package):
    others = {
        each.name: benchmarks["tuning"].other_values(each) for each in benchmarks["constants"].find_constants(package)
    }
    assert others == {
        "reach": {"halved": 0.25, "doubled": 1.0},
        "share": {"halved": 0.4, "doubled": 1.0},
        "steps": {"halved": 2, "doubled": 6},
        "least": {"doubled": 2},
    }


def test_the_page_says_what_does_not_matter(benchmarks, package):
    tuning, write = benchmarks["tuning"], benchmarks["tuning_page"].page
    members = benchmarks["constants"].find_constants(package)
    as_is = tuning.Variant(0.5, 10)
    variants = {
        "reach": tuning.Variant(0.25, 10, log_ratio=0.02, error=0.03, is_same=False),
        "share": tuning.Variant(0.4, 8, gain=-0.2, gain_error=0.05, is_same=False),
        "steps": tuning.Variant(1, 10),
    }
    kept = {
        each.address: {
            "value": each.value, "seeds": [1, 2], "commit": "x", "known": 10,
            "as is": vars(as_is), "halved": vars(variants[each.name]), "doubled": vars(as_is),
        }
        for each in members if each.name in variants
    }  # fmt: skip
    rows = {line.split("`")[1]: line for line in write(members, kept, package).splitlines() if line.startswith("| `")}
    assert rows["reach"].endswith("| 1.02 ± 0.03 | same | neither matters |")
    assert rows["share"].endswith("halved: fewer modes |")
    assert rows["steps"].endswith("not read |")
    assert rows["least"].endswith("not measured |")
