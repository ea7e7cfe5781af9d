"""The default way of searching: who gets the next round, and when others join."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

from allmodes import find_minima
from allmodes.objective import Evaluation
from allmodes.objective.bounds import Box
from allmodes.strategy.archive import Archive, Found
from allmodes.strategy.auto import Auto, Member
from allmodes.strategy.launches import Launches
from allmodes.strategy.polished import Polished
from allmodes.strategy.population import Population
from allmodes.strategy.search import Search
from allmodes.strategy.strategy import Request, Strategy

BOX = Box.make([(0, 1), (0, 1)])


@dataclass
class Fake(Strategy):
    """Asks for as many points as it is told to, and finds a mode whenever it is told to."""

    search: Search
    size: int = 100
    finds: bool = False
    over: str = ""
    asked: int = 0
    added: list = field(default_factory=list)
    launches: int = 8
    lost_launches: int = 0
    nowhere: int = 0
    runaways: int = 0
    persistence: int = 0
    points_to_screen: np.ndarray | None = None
    stranded: list = field(default_factory=list)
    is_passive: bool = False
    account: str = "fake"
    given: list = field(default_factory=list)
    batch: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(arm=np.zeros(0, np.int64)))

    def ask(self):
        self.asked += 1
        return Request(np.zeros((self.size, 2)))

    def tell(self, evaluation, ticket=0):
        if self.finds:
            add_mode(self.search, 1.0)

    def screened(self, ticket):
        return self.points_to_screen

    def add_points(self, points, values):
        self.added.append((points, values))

    @property
    def ending(self):
        return self.over


def add_mode(search, value, hits=1):
    found = Found(np.zeros(2), -np.eye(2), np.zeros(2, bool), "optimum", "derivatives", 1)
    j = search.archive.add(np.array([0.5, 0.5]), value, found)
    search.archive.hits[j] = hits


def a_search(order=0, is_global=False, maxfev=10_000):
    search = Search(BOX, Archive(BOX), np.random.default_rng(0), order=order, is_global=is_global, maxfev=maxfev)
    search.add_levels(np.linspace(-1.0, 1.0, 101))
    return search


def two(**settings):
    """Auto over two fakes."""
    search = a_search(**settings)
    auto = Auto(search, Launches(search))
    fakes = [Fake(search), Fake(search)]
    auto.launches = fakes[0]
    auto.members = [Member(fake, member.prior) for fake, member in zip(fakes, auto.members, strict=False)]
    return auto, fakes


def rounds(auto, n):
    """Who had the rounds."""
    turns = []
    for _ in range(n):
        request = auto.ask()
        turns.append(auto.flights[str(request.ticket)][0])
        auto.tell(Evaluation(np.zeros(len(request.points)), None, None))
    return turns


# ---- members


def test_populations_stand_by_only_without_derivatives():
    for order, kinds in ((0, [Launches, Population]), (1, [Launches]), (2, [Launches])):
        search = a_search(order=order)
        assert [type(member.strategy) for member in Auto(search, Launches(search)).members] == kinds


def test_launches_begin():
    """Whatever the records say, the first launches are waited for."""
    auto, (launches, _) = two()
    launches.launches = 7
    auto.members[1].successes = 1000.0
    assert rounds(auto, 5) == [0] * 5
    launches.launches = 8
    assert rounds(auto, 1) == [1]


def test_the_member_that_finds_modes_keeps_the_turn():
    auto, (launches, _) = two()
    launches.finds = True
    assert rounds(auto, 50) == [0] * 50
    assert auto.members[0].spent == 5000


def test_a_member_that_finds_nothing_gives_way():
    auto, (_, populations) = two()
    populations.finds = True
    turns = rounds(auto, 60)
    assert turns[0] == 0
    assert turns[-20:] == [1] * 20


def test_members_that_find_nothing_take_turns():
    auto, _ = two()
    turns = rounds(auto, 400)
    assert 100 < sum(turns) < 300


def test_a_record_fades_with_evaluations_spent():
    auto, (launches, _) = two(maxfev=2000)
    launches.finds = True
    rounds(auto, 1)
    assert auto.members[0].successes == 1.0
    launches.finds = False
    rounds(auto, 1)
    assert auto.members[0].successes == pytest.approx(np.exp(-100 / (0.05 * 2000)))


def test_the_rate_rises_with_modes_and_falls_with_evaluations():
    idle, vain, good, better = (Member(None, 0.5) for _ in range(4))
    for member, modes, evaluations in ((vain, 0, 1000), (good, 2, 1000), (better, 4, 1000)):
        member.successes, member.evaluations = modes, evaluations
        member.found, member.spent = modes, evaluations
    assert vain.rate(1) < idle.rate(1) < good.rate(1) < better.rate(1)
    assert idle.rate(9) < idle.rate(1)  # in more dimensions everything costs more


def test_a_member_that_has_ended_gets_no_turn():
    auto, (launches, populations) = two()
    launches.finds = True
    rounds(auto, 3)
    launches.over = "done"
    assert rounds(auto, 1) == [1]
    populations.over, launches.over = "done", ""
    assert rounds(auto, 1) == [0]


def test_when_only_the_best_count_poor_modes_are_no_success():
    auto, (launches, _) = two(is_global=True)
    add_mode(auto.search, 5.0)
    launches.finds = True  # modes of value 1
    rounds(auto, 1)
    assert len(auto.search.archive) == 2
    assert auto.members[0].successes == 0.0
    auto, (launches, _) = two(is_global=True)
    add_mode(auto.search, 1.0)
    launches.finds = True
    rounds(auto, 1)
    assert auto.members[0].successes == 1.0


def test_points_of_others_are_given_to_all():
    auto, fakes = two()
    auto.add_points(np.ones((3, 2)), np.zeros(3))
    assert [len(fake.added) for fake in fakes] == [1, 1]


def test_what_others_found_is_polished_first():
    """Launches that wait to polish go before whoever has the turn, and begin nothing else."""
    auto, (launches, populations) = two()
    auto.members[1].successes = 1000.0
    launches.given = ["a start"]
    seen = []
    launches.ask = lambda: seen.append(launches.is_passive) or Request(np.zeros((1, 2)))
    assert rounds(auto, 1) == [0]
    assert seen == [True]
    assert not launches.is_passive
    launches.given = []
    assert rounds(auto, 1) == [1]
    assert populations.asked == 1


@pytest.mark.parametrize(("nowhere", "runaways", "is_even"), [(4, 0, False), (5, 0, True), (5, 1, False)])
def test_where_most_launches_end_nowhere_turns_are_even(nowhere, runaways, is_even):
    """However many modes launches found: those that are left are others."""
    auto, (launches, _) = two()
    auto.members[0].found, auto.members[0].successes = 1000, 1000.0
    launches.nowhere, launches.runaways = nowhere, runaways
    assert sum(rounds(auto, 20)) == (10 if is_even else 0)


def test_populations_are_given_the_points_where_launches_got_stuck():
    search = a_search()
    auto = Auto(search, Launches(search))
    for _ in range(600):
        request = auto.ask()
        z = request.points
        told = Evaluation(-np.sqrt(np.abs(z - [0.3, 0.6])).sum(axis=1), None, None)  # steeper the nearer
        is_launch = auto.flights[str(request.ticket)][0] == 0
        auto.tell(told, request.ticket)
        if is_launch and auto.launches.stranded:
            break
    strands = auto.members[1].strategy.strands
    assert len(strands) == len(auto.launches.stranded) > 0
    np.testing.assert_allclose(strands.values, -np.sqrt(np.abs(strands.points - [0.3, 0.6])).sum(axis=1))


# ---- what it says about the function


@pytest.mark.parametrize(
    ("launches", "nowhere", "is_rough"), [(7, 7, False), (8, 4, False), (8, 5, True), (40, 1, False)]
)
def test_a_function_is_rough_when_most_launches_end_nowhere(launches, nowhere, is_rough):
    auto, (fake, populations) = two()
    fake.launches, fake.nowhere, fake.over, populations.over = launches, nowhere, "launches", "populations"
    assert auto.is_rough is is_rough
    assert ("rough" in auto.account) is is_rough
    assert auto.ending == ("populations" if is_rough else "launches")


def test_a_function_that_launches_run_away_on_is_not_rough():
    auto, (fake, populations) = two()
    fake.launches = fake.nowhere = fake.runaways = 20
    fake.over, populations.over = "launches", ""
    assert auto.ending == "launches"


RUGGED = {"hits": 1, "modes": 15, "launches": 15, "nfev": 1000, "is_global": True}


@pytest.mark.parametrize(
    ("changes", "is_rugged"),
    [
        ({}, True),
        ({"hits": 2}, False),
        ({"modes": 13}, False),
        ({"nfev": 999}, False),
        ({"is_global": False}, False),
        ({"launches": 14, "modes": 14}, False),
        ({"launches": 100, "modes": 100}, True),
    ],
)
def test_annealing_joins_when_nearly_every_launch_finds_another_mode(changes, is_rugged):
    case = RUGGED | changes
    auto, (fake, _) = two(is_global=case["is_global"])
    auto.search.nfev, fake.launches = case["nfev"], case["launches"]
    for _ in range(case["modes"]):
        add_mode(auto.search, 1.0, case["hits"])
    auto.ask()
    assert auto.is_rugged is is_rugged
    assert [type(member.strategy) for member in auto.members[2:]] == [Polished] * is_rugged
    assert ("rugged" in auto.account) is is_rugged
    auto.ask()
    assert len(auto.members) == 2 + is_rugged


# ---- whole searches


def rough(x):
    """Steeper the nearer: no slope says where it ends."""
    return np.sqrt(np.abs(x[..., 0] - 0.3)) + 2.0 * np.sqrt(np.abs(x[..., 1] + 0.4))


def bowl(x):
    return ((x - 0.3) ** 2).sum(axis=-1)


def test_populations_take_over_on_a_rough_function():
    result = find_minima(rough, [(-1, 1), (-1, 1)], vectorized=True, rng=0, maxfev=8000)
    assert "the function is rough" in result.message
    assert "populations" in result.message
    np.testing.assert_allclose(result.x, [0.3, -0.4], atol=1e-3)


def test_a_smooth_function_is_left_to_launches():
    result = find_minima(bowl, [(-1, 1), (-1, 1)], vectorized=True, rng=0)
    assert "launches with derivatives from differences" in result.message
    assert "rough" not in result.message
    assert "rugged" not in result.message
    np.testing.assert_allclose(result.x, [0.3, 0.3], atol=1e-6)


def rastrigin(x):
    return (x**2 - 10.0 * np.cos(2 * np.pi * x) + 10.0).sum(axis=-1)


def rastrigin_gradient(x):
    return 2.0 * x + 20.0 * np.pi * np.sin(2 * np.pi * x)


def test_annealing_is_called_for_a_rugged_function():
    """A thousand million modes, each launch in another one."""
    result = find_minima(
        rastrigin, [(-5.12, 5.12)] * 9, jac=rastrigin_gradient, target="global", vectorized=True, rng=0, maxfev=6000
    )
    assert "the function is rugged" in result.message
    assert "annealing" in result.message
