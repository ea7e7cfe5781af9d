"""Constants: every one has a unit and a reason, and there are not too many."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import FrozenInstanceError, dataclass, fields

import pytest

import allmodes.search
from allmodes.search.constants import constant

RECORDS = [
    importlib.import_module(found.name).TUNING
    for found in pkgutil.walk_packages(allmodes.search.__path__, "allmodes.search.")
    if found.name.endswith(".tuning")
]
CONSTANTS = [(type(record).__module__, each) for record in RECORDS for each in fields(record)]


def test_a_constant_keeps_its_unit_and_its_reason():
    @dataclass(frozen=True)
    class Tuning:
        width: float = constant(0.5, "box", "half of it is left")

    assert Tuning().width == 0.5
    assert dict(fields(Tuning)[0].metadata) == {"unit": "box", "why": "half of it is left"}
    with pytest.raises(FrozenInstanceError):
        Tuning().width = 1.0


@pytest.mark.parametrize(("module", "each"), CONSTANTS, ids=lambda value: getattr(value, "name", ""))
def test_every_constant_says_what_it_is_measured_in_and_why(module, each):
    assert each.metadata["unit"].strip()
    assert len(each.metadata["why"].split()) >= 3
    assert isinstance(each.default, (int, float))
    assert not isinstance(each.default, bool)


def test_there_are_not_too_many():
    """Those of constraints, whole numbers, roots and models are in folders of their own, and fits have a few."""
    folders = "constrained", "discrete", "roots", "surrogate"
    apart = [
        each
        for module, each in CONSTANTS
        if any(folder in module for folder in folders) or each.name.endswith("_of_fits")
    ]
    assert len(RECORDS) >= 7
    assert len(CONSTANTS) - len(apart) < 120
    assert len(apart) < 95
