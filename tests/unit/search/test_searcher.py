"""The protocols: what a search may leave out, and that every member of a scheduler keeps to them."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from allmodes.objective import VALUE, Evaluation
from allmodes.objective.bounds import Box
from allmodes.search import candidate
from allmodes.search.archive import Archive
from allmodes.search.context import Context
from allmodes.search.scheduling.scheduler import Scheduler
from allmodes.search.searcher import Block, Request, Searcher, Strategy
from allmodes.search.searchers.annealing.annealing import Annealing
from allmodes.search.searchers.noisy.noisy import Noisy
from allmodes.search.searchers.population.population import Population
from allmodes.search.single import Single
from allmodes.storage import pack, unpack

MEMBERS = [Population, Annealing]


class Least(Strategy):
    """What no search can do without."""

    def ask(self):
        return Request(np.zeros((0, 1)))

    def tell(self, evaluation, ticket=0):
        return

    @property
    def ending(self):
        return "done"


def make_context(**settings):
    box = Box.make([(0, 1), (0, 1)])
    return Context(box, Archive(box), np.random.default_rng(0), **settings)


def test_what_a_search_may_leave_out():
    search = Least()
    search.add_points(np.zeros((1, 1)), np.zeros(1))
    assert (search.is_ready, search.fresh.ended, search.temperature, search.account) == (False, 0, None, "")
    assert search.ask().needs == VALUE


@pytest.mark.parametrize("protocol", [Strategy, Searcher])
def test_a_protocol_is_not_a_search(protocol):
    with pytest.raises(TypeError, match="abstract"):
        protocol()


@pytest.mark.parametrize("kind", [*MEMBERS, Scheduler, Noisy, Single])
def test_concrete_classes_are_not_subclassed(kind):
    assert kind.__subclasses__() == []
    assert not inspect.isabstract(kind)


@pytest.mark.parametrize("kind", MEMBERS)
def test_members_have_names_of_their_own(kind):
    names = {value for key, value in vars(candidate).items() if key.isupper()}
    assert kind.name in names
    assert len({each.name for each in MEMBERS}) == len(MEMBERS)


@pytest.mark.parametrize("kind", MEMBERS)
@pytest.mark.parametrize("fails", [False, True])
def test_a_member_writes_no_archive_and_asks_inside_the_box(kind, fails):
    context = make_context(maxfev=2000)
    member = kind(context)
    events = []
    for _ in range(400):
        request = member.ask(is_settled=True)
        if not len(request.points) or member.ending or events:
            break
        assert context.box.inside(request.points).all()
        value = -((request.points - 0.4) ** 2).sum(axis=1)
        events += member.tell(Evaluation(np.where(fails, -np.inf, value), None, None))
        context.observe(request.points, value, len(value))
    assert len(context.archive) == 0
    assert bool(events) is not fails
    assert isinstance(member.account, str)


def test_a_block_is_stored():
    block = Block("verifier", "Between", np.array([3]), np.random.default_rng(0).random((1, 5, 2)))
    restored = unpack(*pack(block))
    assert restored[:2] == block[:2]
    np.testing.assert_array_equal(restored.points, block.points)
