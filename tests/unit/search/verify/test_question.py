"""Questions: what each may be asked, and that all of them can be saved."""

from __future__ import annotations

import numpy as np
import pytest
from judging import candidate_at, make_context

from allmodes.search.archive import Frozen
from allmodes.search.candidate import LOCAL, RETURN, Origin
from allmodes.search.symmetry_given import group_of
from allmodes.search.verify.comparison import Between, LevelPath, Ridge
from allmodes.search.verify.components import AroundComponent, Polish
from allmodes.search.verify.edges import AtEdge
from allmodes.search.verify.images import AtImages
from allmodes.search.verify.kinks import AroundKink, ComesBack
from allmodes.search.verify.question import BySearch, ByValues, Optimum
from allmodes.search.verify.stationarity import FarGround, LevelGround, Remeasured, WeakAxes
from allmodes.storage import pack, unpack


def bowl(x):
    return -float(((x - 0.5) ** 2).sum())


MIDDLE = np.full(2, 0.5)
CANDIDATE = candidate_at(bowl, MIDDLE, factor=1e-3 * np.eye(2))
GROOVE = candidate_at(lambda x: -float((x[0] - 0.5) ** 2), MIDDLE)
OPTIMUM = Optimum(CANDIDATE, "flat", True)
PATH = LevelPath(OPTIMUM, 0, np.array([[0.1, 0.1], [0.5, 0.5]]))
QUESTIONS = [
    AroundComponent(CANDIDATE), AroundKink(CANDIDATE), Between(OPTIMUM, 0, np.zeros(2)),
    ComesBack(CANDIDATE, np.eye(2)),
    FarGround(GROOVE), WeakAxes(GROOVE), LevelGround(GROOVE), Polish(OPTIMUM),
    AtEdge(OPTIMUM), AtImages(OPTIMUM), PATH, Remeasured(CANDIDATE), Ridge(Optimum(GROOVE, "optimum", True), PATH),
]  # fmt: skip
BY_VALUES = [question for question in QUESTIONS if isinstance(question, ByValues)]
ORIGIN = Origin(LOCAL, RETURN, 0, question=0)


def a_context():
    """Whose function has a mode and a symmetry, which some questions are about."""
    context = make_context(2)
    record = Frozen(np.zeros(2), -np.eye(2), np.zeros(2, bool), "flat", "derivatives", 1)
    context.archive.add(np.zeros(2), -0.5, record)
    context.group = group_of([0, 1], context.box)
    return context


def asked(question):
    """What a question wants to know, as plain data."""
    context = a_context()
    if isinstance(question, ByValues):
        return [question.points(context)]
    return list(question.search(context, ORIGIN))


def test_all_questions_there_are_are_here():
    assert {type(question) for question in QUESTIONS} == {*ByValues.__subclasses__(), *BySearch.__subclasses__()}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: type(question).__name__)
def test_a_question_asks_for_points_inside_the_bounds(question):
    context = a_context()
    if isinstance(question, ByValues):
        points = question.points(context)
    else:
        search = question.search(context, ORIGIN)
        points = search.point[None]
        assert search.origin is ORIGIN
        assert search.radius > 0.0
    assert len(points)
    assert context.box.inside(points).all()


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: type(question).__name__)
def test_a_question_is_stored(question):
    restored = unpack(*pack(question))
    assert type(restored) is type(question)
    for before, after in zip(asked(question), asked(restored), strict=True):
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("question", BY_VALUES, ids=lambda each: type(each).__name__)
def test_values_that_failed_lead_to_no_point_that_is_not_finite(question):
    context = a_context()
    points = question.points(context)
    with np.errstate(all="ignore"):
        step = question.answer(context, points, np.full(len(points), -np.inf))
    for part in step if isinstance(step, tuple) else ():
        if isinstance(part, np.ndarray):
            assert np.isfinite(part).all()
