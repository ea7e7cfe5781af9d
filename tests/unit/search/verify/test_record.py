"""What is kept of an optimum: which bounds are active, and where its curvature comes from."""

import numpy as np
import pytest
from judging import candidate_at, make_context

from allmodes.search.verify.question import Optimum
from allmodes.search.verify.record import frozen_of, is_rough


def bowl(x):
    return -float(((x - np.array([0.5, -0.2])) ** 2).sum())


def test_a_coordinate_that_the_slope_pushes_against_its_bound_is_active():
    context, point = make_context(2), np.array([0.5, 0.0])
    context.nfev = 17
    record = frozen_of(context, Optimum(candidate_at(bowl, point), "boundary"), point)
    assert record.active.tolist() == [False, True]
    assert (record.kind, record.source, record.found_at) == ("boundary", "differences", 17)


def test_of_a_component_the_coordinates_at_bounds_are_active_whatever_its_slope():
    context, point = make_context(2), np.array([0.5, 0.0])
    candidate = candidate_at(bowl, point, source="component", gradient=np.zeros(2))
    assert frozen_of(context, Optimum(candidate, "boundary"), point).active.tolist() == [False, True]
    assert not frozen_of(context, Optimum(candidate, "optimum"), point).active.any()


def test_a_record_does_not_change_with_the_candidate():
    context, candidate = make_context(2), candidate_at(bowl, [0.5, 0.2])
    record = frozen_of(context, Optimum(candidate, "optimum"), candidate.point)
    candidate.hessian[:] = candidate.gradient[:] = 7.0
    assert record.hessian[0, 0] == pytest.approx(-2.0, abs=1e-4)
    assert record.gradient[0] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(("source", "is_kinked", "wanted"), [
    ("derivatives", False, False), ("derivatives", True, True), ("component", False, True),
])  # fmt: skip
def test_curvature_of_components_and_across_kinks_is_a_guess(source, is_kinked, wanted):
    candidate = candidate_at(bowl, [0.5, 0.2], source=source, is_kinked=is_kinked)
    assert is_rough(candidate) == wanted
    record = frozen_of(make_context(2), Optimum(candidate, "optimum"), candidate.point)
    assert (record.source == "component") == wanted
