"""Search by values alone: what is found, what is said, and that verdicts are obeyed."""

import numpy as np
import pytest
from population_runs import COST, HIMMELBLAU, add_mode, found, himmelblau, make_context, matches, play, search

from allmodes.objective import Evaluation
from allmodes.search.candidate import POPULATION, Origin
from allmodes.search.events import Arrived, KnownMode, NewMode, Recognised, Rejected
from allmodes.search.searchers.population.components import ComponentStart
from allmodes.search.searchers.population.population import Population
from allmodes.search.searchers.population.tuning import TUNING
from allmodes.storage import pack, unpack

WIDE = ((-6, 6), (-6, 6))


def bowl(x):
    return -((x - 0.3) ** 2).sum(axis=1)


def first_arrival(population, values_of, rounds=500):
    for _ in range(rounds):
        arrived = [event for event in play(population, values_of, 1) if isinstance(event, Arrived)]
        if arrived:
            return arrived[0].candidate
    raise AssertionError("nothing arrived")


@pytest.mark.parametrize("is_global", [True, False])
def test_himmelblau_from_values(is_global):
    population = search(Population(make_context(WIDE, 12_000, is_global=is_global)), himmelblau)
    assert matches(found(population), HIMMELBLAU, 1e-3)


def test_a_simple_search_ends_by_itself():
    population = search(Population(make_context(WIDE, 10**6, is_global=True)), himmelblau)
    assert "no new mode" in population.ending
    assert population.context.nfev < 10**5
    assert "pool 4" in population.account


def test_a_search_can_be_stored_between_ask_and_tell():
    whole = search(Population(make_context(WIDE, 8000, is_global=True)), himmelblau)
    part = search(Population(make_context(WIDE, 8000, is_global=True)), himmelblau, rounds=60)
    part = search(unpack(*pack(part)), himmelblau)
    np.testing.assert_array_equal(found(whole), found(part))
    population = search(Population(make_context(WIDE, 8000)), himmelblau, rounds=30)
    asked = population.ask(True).points
    again = unpack(*pack(population))
    for one in (population, again):
        one.tell(Evaluation(himmelblau(one.context.box.to_user(asked))))
    np.testing.assert_array_equal(population.ask(True).points, again.ask(True).points)


def test_a_component_that_has_converged_arrives_once_and_waits():
    population = Population(make_context())
    candidate = first_arrival(population, bowl)
    np.testing.assert_allclose(candidate.point, 0.3, atol=1e-3)
    assert candidate.origin.member == POPULATION == population.name
    assert candidate.origin.start == "pool"
    assert candidate.factor is not None
    widths = np.linalg.svd(candidate.factor, compute_uv=False)
    assert widths.min() <= candidate.radius <= widths.max()
    others = [event for event in play(population, bowl, 30) if isinstance(event, Arrived)]
    assert candidate.origin.number not in [event.candidate.origin.number for event in others]
    assert not population.ending


def test_a_new_mode_credits_its_arm_and_pays_for_the_verdict():
    population = Population(make_context())
    candidate = first_arrival(population, bowl)
    spent = population.bandit.spent["pool"]
    mode = add_mode(population.context, candidate.point, candidate.value)
    population.judged(NewMode(candidate.origin._replace(cost=COST), mode))
    assert population.bandit.found == {"pool": 1}
    assert population.bandit.spent["pool"] == spent + COST


def test_a_rejected_component_ends():
    population = Population(make_context())
    candidate = first_arrival(population, bowl)
    before = len(population.components)
    population.judged(Rejected(candidate.origin, candidate.point, candidate.value, "a whim"))
    assert len(population.components) == before - 1
    assert not population.bandit.found


def test_a_known_mode_ends_the_component():
    population = Population(make_context())
    candidate = first_arrival(population, bowl)
    mode = add_mode(population.context, candidate.point, candidate.value)
    before = len(population.components)
    population.judged(KnownMode(candidate.origin, mode))
    assert len(population.components) == before - 1
    assert not population.bandit.found


def test_components_on_a_known_hill_are_recognised_and_not_verified():
    context = make_context()
    mode = add_mode(context, [0.3, 0.3], 0.0)
    events = play(Population(context), bowl, 60)
    recognised = [event for event in events if isinstance(event, Recognised)]
    assert recognised
    assert all(event.mode == mode and event.origin.member == POPULATION for event in recognised)
    assert not any(isinstance(event, Arrived) for event in events)
    assert context.archive.hits.tolist() == [0]  # whoever routes the events counts


def test_local_optima_are_given_up_when_only_the_best_count():
    def uneven(x):
        return np.exp(-((x[:, 0] - 2) ** 2) * 4) + 0.5 * np.exp(-((x[:, 0] - 7) ** 2) * 4)

    every = search(Population(make_context([(0, 10)], 8000)), uneven)
    assert matches(np.sort(found(every), axis=0), np.array([[2.0], [7.0]]), 1e-3)
    context = make_context([(0, 10)], 8000, is_global=True)
    add_mode(context, [0.2], 1.0)
    best = search(Population(context), uneven)
    assert len(context.archive) == 1
    assert [funnel.point[0] for funnel in best.hops.funnels] == pytest.approx([0.7], abs=1e-3)


def test_failures_are_survived():
    def broken(x):
        return np.where(x.sum(axis=1) > 2.5, -np.inf, himmelblau(x))  # two of the modes are lost

    points = found(search(Population(make_context(WIDE, 15_000, is_global=True)), broken))
    assert np.linalg.norm(points[:, None] - HIMMELBLAU[[1, 2]], axis=2).min(axis=0).max() < 1e-3


def test_everything_failing_is_survived():
    population = search(Population(make_context(WIDE, 3000)), lambda x: np.full(len(x), -np.inf))
    assert len(population.context.archive) == 0


def test_components_that_only_fail_make_room():
    """Single good values in a desert: no generation meets one again."""
    context = make_context(maxfev=10**6)
    population = Population(context)
    starts = np.random.default_rng(0).random((40, 2))
    population.add_points(starts, np.arange(40.0))
    play(population, lambda x: np.full(len(x), -np.inf), 100)
    assert population.components.begun > 0
    assert len(population.components) == 0


def test_periodic_modes_are_found_once():
    population = search(Population(make_context([(0, 2 * np.pi)], 8000, periodic=[0])), lambda x: np.cos(x[:, 0]))
    assert len(found(population)) == 1


def test_noisy_modes_are_told_apart_by_distance():
    noise = np.random.default_rng(9)
    population = Population(make_context(WIDE, 15_000, noise=1.0))
    search(population, lambda x: himmelblau(x) + noise.standard_normal(len(x)))
    distance = np.linalg.norm(found(population)[:, None] - HIMMELBLAU, axis=2)
    assert (distance.min(axis=0) < 0.4).all()


def test_what_is_left_of_a_noisy_search_is_narrow_and_curved():
    noise = np.random.default_rng(9)
    population = Population(make_context(WIDE, 15_000, noise=1.0))
    play(population, lambda x: himmelblau(x) + noise.standard_normal(len(x)), 15)
    candidates = population.narrow(0.1)
    assert candidates
    for candidate in candidates:
        assert candidate.radius < 0.1
        assert (np.linalg.eigvalsh(candidate.hessian) < 0).all()


def test_points_of_others_are_free_starts():
    population = Population(make_context(WIDE, 10_000, is_global=True))
    population.add_points(population.context.box.to_unit(HIMMELBLAU), himmelblau(HIMMELBLAU))
    search(population, himmelblau, rounds=90)
    assert len(found(population)) == 4


@pytest.mark.parametrize(("d", "maxfev"), [(1, 6000), (8, 30_000)])
def test_any_dimension(d, maxfev):
    population = search(
        Population(make_context([(-1, 1)] * d, maxfev, is_global=True)), lambda x: -((x - 0.2) ** 2).sum(axis=1)
    )
    assert matches(found(population), np.full((1, d), 0.2), 1e-3)


def twin_hills(x):
    """A wide hill, and far from it a needle of the same height."""
    wide, narrow = ((x - [0.3, 0.5]) ** 2).sum(axis=1), ((x - [0.8, 0.5]) ** 2).sum(axis=1)
    return np.maximum(1.0 - wide, 1.0 - 3000.0 * narrow)


def test_components_go_on_from_where_local_searches_got_stuck():
    counts = []
    for is_told in (False, True):
        population, point = Population(make_context(maxfev=8000, is_global=True)), np.array([0.8005, 0.5])
        if is_told:
            population.add_stuck(point, float(twin_hills(point[None])[0]))
        counts.append(len(found(search(population, twin_hills))))
    assert counts == [1, 2]


def shubert(x):
    """18 global maxima in pairs, among hundreds of local ones."""
    j = np.arange(1, 6)
    return -np.prod((j * np.cos((j + 1) * x[:, :, None] + j)).sum(axis=2), axis=1)


def test_hops_lead_from_local_optima_to_the_best():
    population = search(Population(make_context([(-10, 10)] * 2, 25_000, is_global=True)), shubert)
    np.testing.assert_allclose(shubert(found(population)), 186.7309, atol=1e-3)
    assert population.bandit.found["hop"] > 0


def test_one_larger_population_at_a_time_goes_on_from_the_best_local_optimum():
    population = Population(make_context())
    population.hops.add(np.array([0.8, 0.9]), -2.0)
    population.hops.add(np.array([0.3, 0.4]), -1.0)
    for _ in range(50):
        population.tell(Evaluation(bowl(population.ask(is_settled=True).points)))
        if len(population.large):
            break
    assert population.large.evolution.size == TUNING.large_size * population.components.evolution.size
    assert population.hops.reheat().point.tolist() == [0.8, 0.9]
    assert population.hops.reheat() is None
    assert len(population.large) == 1


def test_a_verdict_on_a_larger_population_ends_it_alone():
    population = Population(make_context())
    for components, arm in ((population.components, "pool"), (population.large, "reheat")):
        components.add(ComponentStart(np.array([0.5, 0.5]), 0.01, arm))
        components.labels.is_waiting[:] = True
    population.judged(Rejected(Origin(POPULATION, "reheat", 0), np.array([0.5, 0.5]), 0.0, "a whim"))
    assert (len(population.components), len(population.large)) == (1, 0)


def test_kinds_of_starts_share_slots_however_long_they_stay():
    """Hops that found nothing, and cost much, hold few slots; what is drawn often fills the others."""
    population = Population(make_context(maxfev=10**6))
    population.bandit.charge("hop", 10**6)
    for _ in range(100):
        population.bandit.succeed("pool")
    for _ in range(TUNING.slots):
        arm = population._choose(["pool", "hop"])
        population.components.add(ComponentStart(np.full(2, 0.5), 0.1, arm))
    assert population.components.running("pool") >= TUNING.slots - 1


def test_a_larger_population_begins_where_its_share_is_not_used():
    population = Population(make_context())
    arms = ["pool", "reheat"]
    population.bandit.charge("pool", 10**5)
    for _ in range(10):
        population.bandit.succeed("reheat")
    assert population._is_due("reheat", arms)
    population.bandit.charge("reheat", 10**6)
    population.bandit.found.clear()
    assert not population._is_due("reheat", arms)
