"""Which components move, are tested, are stopped, have converged."""

import numpy as np
from population_runs import add_mode, make_context

from allmodes.search.events import Arrived, Recognised
from allmodes.search.searchers.population.components import ARMS, HOP, MIX, POOL, Components, ComponentStart
from allmodes.storage import pack, unpack


def run(components, values_of, rounds, radius=0.1):
    """All that is said and all that ends in some rounds, and the evaluations by arm."""
    said, ended, spent = [], [], np.zeros(len(ARMS), int)
    for _ in range(rounds):
        points = components.ask()
        assert components.context.box.inside(points).all()
        events, ends, costs = components.tell(points, values_of(points), radius)
        assert sum(costs) == len(points)
        said, ended, spent = said + events, ended + ends, spent + costs
    return said, ended, spent


def bowl(points):
    return -((points - 0.4) ** 2).sum(axis=1)


def started(point, arm=MIX, context=None, spread=0.02, **given):
    context = context or make_context()
    context.observe_level(bowl(np.random.default_rng(0).random((100, 2))))
    components = Components(context)
    components.add(ComponentStart(np.array(point), spread, arm, **given))
    return components


def two_hills(points):
    return np.maximum(bowl(points), -3 * ((points - 0.8) ** 2).sum(axis=1))


def test_a_component_converges_and_is_paused():
    components = started([0.5, 0.5])
    said, ended, _ = run(components, bowl, 150)
    (event,) = said
    assert isinstance(event, Arrived)
    assert len(components) == 1
    assert not ended
    assert len(components.ask()) == 0


def test_the_early_test_stops_on_the_same_hill_and_not_on_another():
    context = make_context()
    mode = add_mode(context, [0.4, 0.4], 0.0)
    said, _, _ = run(started([0.55, 0.5], context=context, spread=0.002), two_hills, 6)
    assert [event.mode for event in said if isinstance(event, Recognised)] == [mode]
    context = make_context()
    add_mode(context, [0.4, 0.4], 0.0)
    said, _, _ = run(started([0.75, 0.75], context=context), two_hills, 150)
    assert [type(event) for event in said] == [Arrived]


def test_components_of_the_pool_are_stopped_close_to_a_mode():
    for radius, arm, is_stopped in ((0.4, POOL, True), (0.1, POOL, False), (0.4, MIX, False)):
        context = make_context()
        add_mode(context, [0.6, 0.5], 0.0)
        components = started([0.5, 0.5], arm, context)
        said, _, _ = run(components, bowl, 1, radius)
        assert bool(said) is is_stopped
        assert len(components) == 1 - is_stopped


def test_components_are_stopped_where_others_ended_in_the_mode_but_for_one_in_four():
    context = make_context()
    mode = add_mode(context, [0.45, 0.45], -0.005)
    components = Components(context)
    for _ in range(3):
        components.captures.end(mode, mode, 0.0)
    for _ in range(8):
        components.add(ComponentStart(np.array([0.5, 0.5]), 0.001, POOL))
    said, _, _ = run(components, bowl, 1, radius=0.0)
    assert [event.origin.number for event in said] == [1, 2, 3, 5, 6, 7]
    assert components.captures.right.tolist() == [3]  # those that were stopped teach nothing


def test_one_that_runs_on_teaches_from_how_far_it_was_drawn_in():
    context = make_context()
    mode = add_mode(context, [0.4, 0.4], 0.0)
    components = started([0.45, 0.45], POOL, context, 0.005)
    run(components, bowl, 100, radius=0.0)
    assert components.captures.right.tolist() == [1]
    assert mode == 0
    components = started([0.75, 0.75], POOL, context, 0.002)
    run(components, two_hills, 150, radius=0.0)
    assert len(components.captures.passed) == 1
    assert components.captures.passed[0] > 0.2


def test_a_large_population_is_not_given_up_while_it_is_wide():
    """Its best value rises late: a plateau with a narrow peak, lower than what is known."""
    for factor, is_given_up in ((1, True), (10, False)):
        context = make_context(is_global=True)
        add_mode(context, [0.9, 0.1], 1.0)
        components = Components(context, factor)
        components.add(ComponentStart(np.array([0.5, 0.5]), 0.3, MIX))
        rng = np.random.default_rng(1)
        _, ended, _ = run(components, lambda points: rng.random(len(points)) * 1e-3, 40)  # noqa: B023
        assert bool(ended) is is_given_up


def test_a_hop_says_which_it_was_when_it_is_given_up():
    context = make_context(is_global=True)
    add_mode(context, [0.9, 0.1], 1.0)
    _, ended, _ = run(started([0.41, 0.4], HOP, context, 0.005, target=-1e-6, hop=6), bowl, 150)
    assert [end.hop for end in ended] == [6]


def test_a_worse_optimum_ends_without_a_verdict_where_only_the_best_count():
    context = make_context(is_global=True)
    add_mode(context, [0.9, 0.1], 1.0)
    said, ended, _ = run(started([0.5, 0.5], context=context), bowl, 150)
    assert not said
    ((point, value, hop),) = ended
    np.testing.assert_allclose(point, 0.4, atol=0.02)
    assert hop == -1
    assert value < 0


def test_converging_onto_a_known_mode_needs_no_verdict():
    """Also where the early test says nothing: the function falls between, as one with a spike does."""

    def spiky(points):
        distance = np.abs(points - 0.4).max(axis=1)
        return np.where(distance < 1e-4, 1.0 - distance, -1.0 - distance)

    context = make_context()
    mode = add_mode(context, [0.4, 0.4], 1.0)
    said, _, _ = run(started([0.4, 0.4], context=context, spread=3e-5), spiky, 200)
    assert [(type(event), event.mode) for event in said] == [(Recognised, mode)]


def test_verdicts_are_by_number_and_strangers_change_nothing():
    components = started([0.5, 0.5])
    run(components, bowl, 150)
    assert components.judged(7) is None
    assert len(components) == 1
    np.testing.assert_allclose(components.judged(0), 0.4, atol=1e-3)
    assert len(components) == 0


def test_a_verdict_may_come_while_points_are_in_flight():
    """One component has arrived, another moves: rows keep their places until the next points are asked for."""
    components = started([0.4, 0.4], spread=1e-9)
    for _ in range(100):
        points = components.ask()
        events, *_ = components.tell(points, bowl(points), 0.1)
        if events:
            break
    components.add(ComponentStart(np.array([0.7, 0.7]), 0.01, MIX))
    points = components.ask()
    components.judged(0)
    components.tell(points, bowl(points), 0.1)
    assert len(components) == 1
    best = points[bowl(points).argmax()]
    np.testing.assert_array_equal(components.evolution.state.best_point[-1], best)
    components.ask()
    np.testing.assert_array_equal(components.evolution.state.best_point, best[None])


def test_components_are_stored_between_ask_and_tell():
    components = started([0.5, 0.5])
    run(components, bowl, 5)
    points = components.ask()
    again = unpack(*pack(components))
    for one in (components, again):
        one.tell(points, bowl(points), 0.1)
    np.testing.assert_array_equal(components.ask(), again.ask())


def test_a_component_that_is_tested_again_and_again_is_given_up_all_the_same():
    """Tests and giving up take turns: on a hill of its own, worse than the best, it passes every test."""

    def ridge(points):
        return two_hills(points) - np.where(points[:, 0] > 0.6, 0.5, 0.0)

    context = make_context(is_global=True)
    add_mode(context, [0.4, 0.4], 0.0)
    components = started([0.8, 0.81], HOP, context, 0.01, target=-0.4, hop=2)
    for _ in range(200):
        points = components.ask()
        _, ends, _ = components.tell(points, ridge(points), 0.1)
        if ends:
            break
    assert [end.hop for end in ends] == [2]
    assert components.evolution.state.age[0] <= 2 * components.evolution.window
