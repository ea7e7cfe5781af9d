"""A stated symmetry is looked at again at every new mode."""

from __future__ import annotations

import numpy as np
import pytest
from judging import candidate_at, make_context

from allmodes.search.symmetry_given import group_of
from allmodes.search.verify.images import AtImages
from allmodes.search.verify.question import Optimum

POINT = np.array([0.2, 0.7])


def bowl(x):
    return -float(((x - POINT) ** 2).sum())


def asked():
    context = make_context(2)
    context.group = group_of([0, 1], context.box)
    optimum = Optimum(candidate_at(bowl, POINT), "optimum")
    return context, optimum, AtImages(optimum)


def test_images_are_asked_for():
    context, _, question = asked()
    np.testing.assert_allclose(question.points(context), [POINT[::-1]])


@pytest.mark.parametrize("change", [0.0, 1e-9, -1e-9])
def test_equal_values_keep_the_symmetry(change):
    context, optimum, question = asked()
    value = optimum.candidate.value + change
    assert question.answer(context, question.points(context), np.array([value])) is optimum
    assert context.group is not None
    assert not context.asymmetry


@pytest.mark.parametrize("change", [0.01, -0.01])
def test_another_value_at_an_image_ends_it_and_names_both_places(change):
    context, optimum, question = asked()
    step = question.answer(context, question.points(context), np.array([optimum.candidate.value + change]))
    assert step is optimum  # which is one all the same
    assert context.group is None
    assert "[0.2 0.7]" in context.asymmetry
    assert "[0.7 0.2]" in context.asymmetry


def test_a_failure_at_an_image_says_nothing():
    context, _, question = asked()
    with np.errstate(invalid="ignore"):
        question.answer(context, question.points(context), np.array([-np.inf]))
    assert context.group is not None
