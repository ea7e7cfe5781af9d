"""A generator of gest_api: exactly so many fresh points, ids that are checked, and an end."""

import copy
import inspect
import pickle

import numpy as np
import pytest

gest_api = pytest.importorskip("gest_api")

from gest_api.vocs import VOCS  # noqa: E402

from allmodes.adapters import gest  # noqa: E402

VARIABLES = {"core": [-3.0, 3.0], "edge": [-2.0, 2.0]}
BEST = [0.0898420, -0.7126564]


def vocs(**given):
    return VOCS(**({"variables": VARIABLES, "objectives": {"energy": "MINIMIZE"}} | given))


def generator(given=None, **settings):
    return gest.Generator(given or vocs(), **({"rng": 0} | settings))


def camel(point):
    a, b = point["core"], point["edge"]
    return {"energy": (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (4 * b**2 - 4) * b**2}


def evaluated(points):
    return [point | camel(point) for point in points]


def places(points):
    return {(point["core"], point["edge"]) for point in points}


def searched(made, n, late=0):
    """All points of a search in batches of n, so many of which are ingested later and in another order."""
    asked, waiting, rng = [], [], np.random.default_rng(1)
    while True:
        try:
            points = made.suggest(n)
            assert len(points) == n
        except gest.FinishedError:
            made.ingest(evaluated(waiting))
            return asked
        asked += points
        waiting = [(waiting + points)[i] for i in rng.permutation(len(waiting) + n)]
        waiting, ready = waiting[:late], waiting[late:]
        made.ingest(evaluated(ready))


@pytest.mark.parametrize(("n", "late"), [(1, 0), (4, 0), (16, 0), (4, 9)])
def test_exactly_so_many_fresh_points_until_it_ends(n, late):
    made = generator()
    asked = searched(made, n, late)
    assert len(places(asked)) == len(asked) == len({point["_id"] for point in asked})
    assert made.is_finished
    assert made.result.status.name == "NOTHING_NEW"
    assert len(made.result.modes) == 6
    assert len(asked) == made.result.nfev < 2000


def test_without_a_number_it_suggests_what_is_due_and_in_the_end_nothing():
    made = generator()
    while points := made.suggest():
        assert all(set(point) == {"core", "edge", "_id"} for point in points)
        made.ingest(evaluated(points))
    assert "nothing_new" in made.stop()
    assert len(made.result.modes) == 6


def test_what_is_left_over_is_there_for_those_who_ask_for_fewer():
    made = generator(maxfev=10)
    made.suggest(7)
    with pytest.raises(gest.FinishedError, match="4 points are asked for and 3 are left: the last evaluations are out"):
        made.suggest(4)
    assert len(made.suggest(1)) == 1
    assert len(made.suggest()) == 2
    assert made.suggest() == []
    with pytest.raises(ValueError, match="none is left"):
        made.suggest(1)


@pytest.mark.parametrize("n", [0, -1, 2.0, True])
def test_odd_numbers_of_points(n):
    with pytest.raises((ValueError, TypeError), match="num_points is"):
        generator().suggest(n)


def test_points_that_nobody_asked_for_do_not_keep_it_alive():
    """Three of them with every batch, and five hundred before it begins."""
    rng = np.random.default_rng(0)

    def others(n):
        return evaluated({"core": a, "edge": b} for a, b in rng.uniform([-3, -2], [3, 2], (n, 2)))

    made = generator(maxfev=8000)
    made.ingest(others(500))
    assert made.result.nfev == 500
    while not made.is_finished:
        made.ingest(evaluated(made.suggest(4)) + others(3))
    assert "nothing_new" in made.stop()
    assert len(made.result.modes) == 6


@pytest.mark.parametrize("lost", [range(9)])
def test_points_that_never_come_back_do_not_keep_it_alive(lost):
    made = generator(maxfev=8000)
    while not made.is_finished:
        made.ingest([point for point in evaluated(made.suggest(4)) if point["_id"] not in lost])
    assert "nothing_new" in made.stop()
    assert len(made.result.modes) == 6


def test_points_that_come_back_very_late_are_taken_as_they_are():
    made = generator()
    late = evaluated(made.suggest(5))
    for _ in range(60):
        made.ingest(evaluated(made.suggest(4)))
    made.ingest(late)
    assert made.result.nfev == 245
    assert len(made.result.modes) >= 2


def test_maxima_and_constants_and_where_it_begins():
    variables = {name: {"type": "ContinuousVariable", "domain": bounds, "default_value": 0.5}
                 for name, bounds in VARIABLES.items()}  # fmt: skip
    made = generator(vocs(variables=variables, objectives={"energy": "MAXIMIZE"}, constants={"charge": 2.0}))
    points = made.suggest(12)
    assert (0.5, 0.5) in places(points)
    assert {point["charge"] for point in points} == {2.0}
    while points:
        made.ingest([point | {"energy": -camel(point)["energy"]} for point in points])
        points = made.suggest()
    assert made.result.fun == pytest.approx(1.0316285)
    assert made.result.maximise


class TestIngest:
    def test_the_same_result_twice_counts_once(self):
        made = generator()
        points = evaluated(made.suggest(4))
        made.ingest(points[:2] + points[:1])
        made.ingest(points)
        assert made.result.nfev == 4

    def test_coordinates_may_be_left_out_where_there_is_an_id(self):
        made = generator()
        made.ingest([camel(point) | {"_id": point["_id"]} for point in made.suggest(4)])
        assert made.result.nfev == 4

    @pytest.mark.parametrize("number", [4, -5, 1.5, "0", True])
    def test_unknown_ids_are_refused_and_nothing_is_taken(self, number):
        made = generator()
        points = evaluated(made.suggest(4))
        with pytest.raises(ValueError, match="which this generator has not suggested: it has suggested 4 points"):
            made.ingest([points[0], points[1] | {"_id": number}])
        assert made.result.nfev == 0

    def test_ids_as_tables_hand_them_on(self):
        made = generator()
        first, second, third = evaluated(made.suggest(3))
        other = evaluated([{"core": 1.0, "edge": 1.0}])[0]
        made.ingest([first | {"_id": np.int64(0)}, second | {"_id": 1.0}, other | {"_id": float("nan")}])
        assert made.result.nfev == 3
        made.ingest([third | {"_id": None}])
        assert made.result.nfev == 4

    def test_a_point_that_is_not_the_one_that_was_suggested(self):
        made = generator()
        (point,) = evaluated(made.suggest(1))
        with pytest.raises(ValueError, match=r"has core = 2\.5, and suggested was"):
            made.ingest([point | {"core": 2.5}])
        made.ingest([point | {"core": float(np.float32(point["core"]))}])
        assert made.result.nfev == 1

    @pytest.mark.parametrize("failed", [{"energy": np.nan}, {"energy": None}, {"energy": np.inf}, {"_status": 3},
                                        {"xopt_error": True}])  # fmt: skip
    def test_failures(self, failed):
        made = generator(maxfev=400)
        while points := made.suggest():
            made.ingest([point | (failed if point["core"] > 2.0 else camel(point)) for point in points])
        assert made.result.nfail > 0
        assert len(made.result.modes) >= 4

    def test_a_function_that_always_fails_ends_it(self):
        made = generator()
        while points := made.suggest():
            made.ingest([point | {"energy": np.nan} for point in points])
        assert made.result.status.name == "ALL_FAILED"

    @pytest.mark.parametrize(
        ("result", "error", "told"),
        [
            ({"core": 1.0, "edge": 1.0}, ValueError, "no 'energy'"),
            ({"core": 1.0, "energy": 1.0}, ValueError, "no 'edge'"),
            ({"core": 9.0, "edge": 1.0, "energy": 1.0}, ValueError, "outside its bounds"),
            ({"core": 1.0, "edge": np.nan, "energy": 1.0}, ValueError, "nan"),
            ({"core": 1.0, "edge": 1.0, "energy": "low"}, TypeError, "energy of a result is 'low'; wanted a number"),
            ({"core": 1.0, "edge": 1.0, "energy": [1.0, 2.0]}, TypeError, "wanted a number"),
            ("nonsense", TypeError, "not a list of dicts"),
        ],
    )
    def test_what_is_wrong_is_said(self, result, error, told):
        with pytest.raises(error, match=told):
            generator().ingest([result])

    def test_one_result_without_its_list(self):
        with pytest.raises(TypeError, match="not a list of dicts"):
            generator().ingest({"core": 1.0, "edge": 1.0, "energy": 1.0})


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"objectives": {"a": "MINIMIZE", "b": "MINIMIZE"}}, "has 2 objectives"),
        ({"objectives": {}}, "has 0 objectives"),
        ({"objectives": {"a": "EXPLORE"}}, "ExploreObjective; wanted MINIMIZE or MAXIMIZE"),
        ({"constraints": {"c": ["LESS_THAN", 0.0]}}, "constraints .*add a penalty"),
        ({"variables": {"a": {1, 2, 3}}}, "DiscreteVariable; wanted real numbers"),
        ({"variables": {}}, "has no variables"),
    ],
)
def test_what_a_search_does_not_have_is_refused(given, told):
    with pytest.raises(ValueError, match=told):
        generator(vocs(**given))


def test_settings():
    with pytest.raises(TypeError, match="names is given; it follows from the VOCS"):
        generator(names=["a", "b"])
    with pytest.raises(TypeError, match="did you mean 'maxfev'"):
        generator(max_nfev=3)
    with pytest.raises(ValueError, match="annealing has to know all points of a step"):
        generator(method="anneal")
    with pytest.raises(TypeError, match=r"wanted a gest_api\.vocs\.VOCS"):
        generator({"variables": VARIABLES})
    assert generator(n_modes=1, options={"order": "fixed"}).result.settings["n_modes"] == 1


@pytest.mark.parametrize("copied", [lambda made: pickle.loads(pickle.dumps(made)), copy.deepcopy])
def test_a_generator_travels(copied):
    made = generator()
    for _ in range(20):
        made.ingest(evaluated(made.suggest(4)))
    other = copied(made)
    assert made.suggest(4) == other.suggest(4)


class TestWithLibEnsemble:
    """Its manager hands points out and results in; it ends where the search ends."""

    @pytest.fixture(autouse=True)
    def _here(self, tmp_path, monkeypatch):
        pytest.importorskip("libensemble")
        monkeypatch.chdir(tmp_path)

    def ensemble(self, made, simulator, **criteria):
        from libensemble import Ensemble
        from libensemble.alloc_funcs.start_only_persistent import only_persistent_gens
        from libensemble.specs import AllocSpecs, ExitCriteria, GenSpecs, LibeSpecs, SimSpecs

        ensemble = Ensemble(
            libE_specs=LibeSpecs(comms="threads", nworkers=3, gen_on_manager=True, disable_log_files=True),
            gen_specs=GenSpecs(generator=made, vocs=made.vocs, batch_size=4),
            sim_specs=SimSpecs(simulator=simulator, vocs=made.vocs),
            alloc_specs=AllocSpecs(alloc_f=only_persistent_gens),
            exit_criteria=ExitCriteria(**criteria),
        )
        history, _, flag = ensemble.run()
        assert flag == 0
        return history

    def test_it_ends_by_itself(self):
        made = generator(closing=True)
        history = self.ensemble(made, camel, sim_max=5000, stop_val=gest.STOP)
        assert made.is_finished
        assert len(made.result.modes) == 6
        assert made.result.status.name == "NOTHING_NEW"
        assert 0 <= history["sim_ended"].sum() - made.result.nfev <= 8  # the last batch, which says that it is over
        asked = history[(history["_id"] >= 0) & history["sim_ended"]]
        assert len(set(zip(asked["core"], asked["edge"], strict=True))) == len(asked)

    def test_a_number_of_simulations(self):
        made = generator()
        history = self.ensemble(made, camel, sim_max=60)
        assert history["sim_ended"].sum() >= 60
        assert made.result.fun == pytest.approx(-1.0316285, abs=0.1)
        assert not made.is_finished

    def test_simulations_that_fail(self):
        made = generator(closing=True, n_modes=2)
        self.ensemble(made, lambda p: camel(p) if p["core"] < 1.5 else {"energy": np.nan}, sim_max=3000,
                      stop_val=gest.STOP)  # fmt: skip
        assert made.result.nfail > 0
        assert len(made.result.modes) >= 2


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what optimas is made of
class TestWithOptimas:
    @pytest.fixture(autouse=True)
    def _here(self, tmp_path, monkeypatch):
        pytest.importorskip("optimas")
        monkeypatch.chdir(tmp_path)

    def test_explorations_until_it_is_over(self):
        from optimas.evaluators import FunctionEvaluator
        from optimas.explorations import Exploration
        from optimas.generators import ExternalGenerator

        def simulate(point, output):
            output["energy"] = np.nan if point["core"] > 2.5 else camel(point)["energy"]

        made = generator(n_modes=6)
        exploration = Exploration(
            generator=ExternalGenerator(ext_gen=made, vocs=made.vocs), sim_workers=4, libe_comms="threads",
            evaluator=FunctionEvaluator(function=simulate),
        )  # fmt: skip
        while not made.is_finished and len(exploration.history) < 3000:
            exploration.run(40)
        assert len(made.result.modes) == 6
        assert made.result.nfail > 0


def test_the_interface_of_gest_api_is_the_one_that_the_adapter_was_written_for():
    base = gest_api.Generator
    assert issubclass(gest.Generator, base)
    assert {"__init__", "_validate_vocs", "suggest"} == set(base.__abstractmethods__), "see allmodes/adapters/gest.py"
    assert list(inspect.signature(base.suggest).parameters) == ["self", "num_points"]
    assert list(inspect.signature(base.ingest).parameters) == ["self", "results"]
    assert base.returns_id is False
    made = vocs(constants={"charge": 2.0})
    assert made.variables["core"].domain == [-3.0, 3.0]
    assert made.variables["core"].default_value is made.variables["core"].dtype is None
    assert made.constants["charge"].value == 2.0
    assert type(made.objectives["energy"]).__name__ == "MinimizeObjective"
    assert not made.constraints


def test_the_interface_of_libensemble_is_the_one_that_the_adapter_was_written_for():
    pytest.importorskip("libensemble")
    from libensemble.specs import GenSpecs
    from libensemble.utils.misc import np_to_list_dicts

    specs = GenSpecs(generator=generator(), vocs=vocs())
    assert ("_id", int) in specs.outputs, "libEnsemble keeps ids in another way: see allmodes/adapters/gest.py"
    table = np.zeros(2, dtype=[("core", float), ("_id", int)])
    table["_id"] = [7, -1]
    assert [each.get("_id") for each in np_to_list_dicts(table)] == [7, None]
