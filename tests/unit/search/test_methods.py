"""Ways of searching by name: what they are made of, and that all parts keep their promises."""

from __future__ import annotations

import numpy as np
import pytest

from allmodes.nva import presets
from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive
from allmodes.search.candidate import ANNEALING, POPULATION, REFINEMENT, SYMMETRY
from allmodes.search.context import Context
from allmodes.search.methods import METHODS, NOISY_METHODS, make_search
from allmodes.search.searcher import Strategy
from allmodes.search.searchers.noisy.noisy import Noisy
from allmodes.search.searchers.surrogate.surrogate import Surrogate
from allmodes.search.single import Single
from allmodes.storage import pack, unpack

SCHEDULED = [method for method in METHODS if method != "surrogate"]  # that is a search of its own
NOWHERE = np.zeros((0, 2))
LOCAL_ONLY = next(method for method in METHODS if method not in ("auto", "black-box", "anneal", "multistart"))


def make(method="auto", order=0, starts=NOWHERE, bounds=((0, 1), (0, 1)), noise=0.0, options=None, **settings):
    box = Box.make(list(bounds))
    context = Context(box, Archive(box), np.random.default_rng(0), order=order, noise=noise)
    return make_search(context, method, starts, options or {}, polish=settings.pop("polish", True), **settings)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_a_search_that_asks_inside_the_box_and_is_stored(method):
    search = make(method)
    assert isinstance(search, Strategy)
    assert search.ending == ""
    restored = unpack(*pack(search))
    request = search.ask()
    assert search.context.box.inside(request.points).all()
    assert len(request.points)
    np.testing.assert_array_equal(restored.ask().points, request.points)


@pytest.mark.parametrize(
    ("method", "order", "members"),
    [
        ("auto", 0, [SYMMETRY, POPULATION, REFINEMENT]), ("auto", 1, [SYMMETRY]), ("auto", 2, [SYMMETRY]),
        (LOCAL_ONLY, 0, [SYMMETRY]), ("multistart", 0, []),
        ("black-box", 1, [POPULATION]), ("anneal", 2, [ANNEALING]),
    ],
)  # fmt: skip
def test_members_from_the_beginning(method, order, members):
    """Populations stand by where there are no derivatives."""
    assert list(make(method, order).members) == members


@pytest.mark.parametrize("method", SCHEDULED)
def test_only_the_default_lets_others_join(method):
    assert bool(make(method).turns.may_join) is (method == "auto")


def test_a_search_of_a_model_evaluates_given_points_first():
    search = make("surrogate", starts=np.array([[0.2, 0.3]]))
    assert isinstance(search, Surrogate)
    assert search.ask().points[0].tolist() == [0.2, 0.3]


@pytest.mark.parametrize("method", SCHEDULED)
def test_methods_without_local_searches_of_their_own_begin_them_at_given_starts_only(method):
    search = make(method, starts=np.array([[0.2, 0.3]]))
    assert search.multistart.is_passive is (method in ("black-box", "anneal"))
    assert [start.point.tolist() for start in search.multistart.given] == [[0.2, 0.3]]
    assert search.ask().points[0].tolist() == [0.2, 0.3]


def test_an_assembly_is_annealed():
    algorithm = presets.nva_gm(order=1)
    assert make(algorithm, order=1).members[ANNEALING].algorithm is algorithm
    assert make("anneal", polish=False).members[ANNEALING].is_polished is False


def test_multistart_recognises_nothing_and_begins_at_random():
    search = make("multistart")
    assert search.multistart.is_plain
    assert not search.local.recognises
    assert make(LOCAL_ONLY).local.recognises


def test_options_reach_their_parts():
    search = make(options={"width": 12, "patience": 7}, persistence=99, is_exhaustive=True)
    assert search.multistart.wanted == 12
    assert search.overlap == "lanes"
    assert (search.stopping.patience, search.stopping.persistence, search.is_exhaustive) == (7, 99, True)
    assert make(options={"width": 12, "order": "completion"}).overlap == "each"
    assert make().overlap == "none"


@pytest.mark.parametrize("method", NOISY_METHODS)
@pytest.mark.parametrize("noise", [0.1, np.nan])
def test_a_noisy_function_has_its_own_search(method, noise):
    assert isinstance(make(method, noise=noise), Noisy)


def test_a_model_takes_noise_itself():
    assert isinstance(make("surrogate", noise=0.1), Surrogate)


@pytest.mark.parametrize(
    "method", [*(each for each in SCHEDULED if each not in NOISY_METHODS), presets.nva_gm(order=1)]
)
def test_methods_that_compare_single_values_refuse_noise(method):
    with pytest.raises(ValueError, match=r'noise is set and method is .*wanted method "auto" or "black-box"'):
        make(method, noise=0.1)


def test_a_domain_of_one_point_is_evaluated_once():
    assert isinstance(make(bounds=[(1, 1)], starts=np.zeros((0, 0))), Single)
