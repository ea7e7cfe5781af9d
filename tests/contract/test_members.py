"""The walk that all contract tests rest on: it finds the known members, and new ones without being told."""

import sys

import members
import numpy as np
import pytest

from allmodes.nva.annealing import estimators
from allmodes.nva.annealing.estimators import Estimator
from allmodes.nva.mixture import covariances, families
from allmodes.nva.mixture.covariances import Covariance
from allmodes.nva.mixture.families import Family

KNOWN = {
    "covariances": {"Full", "Diagonal", "Isotropic"},
    "families": {"Gaussian", "Gamma", "Beta", "Bernoulli", "VonMises", "Product"},
    "estimators": {"BlackBox", "Gradient", "Hessian", "FitnessShaped"},
    "schedules": {"Constant", "Power", "Geometric", "PiecewiseConstant", "Coupled"},
    "utilities": {"CMAES", "Truncation", "NormalOrderStatistics", "Shifted"},
    "proposals": {"PerComponent", "Importance"},
    "control_variates": {"Constant", "LeaveOneOut"},
    "rules": {"NaturalGradient", "ImprovedBLR"},
    "presets": {"snga_m", "nva_m", "nva_gm", "nva_gm_is", "fs_nva_gm", "fs_nva_gm_is"},
}


@pytest.mark.parametrize("axis", KNOWN)
def test_the_walk_finds_the_known_members_once(axis):
    found = [members.name_of(member) for member in getattr(members, axis)()]
    assert KNOWN[axis] <= set(found)
    assert len(found) == len(set(found))


def test_the_walk_leaves_out_what_is_abstract_private_or_imported():
    assert "Elementwise" not in {members.name_of(member) for member in members.covariances()}
    assert "ExponentialFamily" not in {members.name_of(member) for member in members.families()}
    assert not {name for axis in KNOWN for name in map(members.name_of, getattr(members, axis)()) if name[0] == "_"}
    assert "allmodes.nva.mixture.covariances.full" not in {
        c.__module__ for c in members.own_classes("allmodes.nva.mixture.families")
    }


NEW = {
    "covariances": (
        covariances,
        Covariance,
        "from allmodes.nva.mixture.covariances.diagonal import Diagonal\n\n\nclass Brand(Diagonal):\n    pass\n",
    ),
    "families": (
        families,
        Family,
        "from allmodes.nva.mixture.families.gamma import Gamma\n\n\nclass Brand(Gamma):\n    pass\n",
    ),
    "estimators": (
        estimators,
        Estimator,
        "from allmodes.nva.annealing.estimators.black_box import BlackBox\n\n\nclass Brand(BlackBox):\n    pass\n",
    ),
}


@pytest.mark.parametrize("axis", NEW)
def test_a_new_member_in_one_file_is_found(axis, tmp_path, monkeypatch):
    package, base, source = NEW[axis]
    (tmp_path / "brand.py").write_text(source)
    before = {members.name_of(member) for member in members.members(package.__name__, base)}
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    try:
        found = members.members(package.__name__, base)
    finally:
        sys.modules.pop(f"{package.__name__}.brand", None)
        vars(package).pop("brand", None)
    assert {members.name_of(member) for member in found} == before | {"Brand"}
    assert all(isinstance(member, base) for member in found)


def test_a_new_member_whose_constructor_needs_arguments_is_an_error(tmp_path, monkeypatch):
    source = NEW["covariances"][2].replace("    pass", "    def __init__(self, rank):\n        self.rank = rank")
    (tmp_path / "needy.py").write_text(source)
    monkeypatch.setattr(covariances, "__path__", [*covariances.__path__, str(tmp_path)])
    try:
        with pytest.raises(TypeError, match="rank"):
            members.covariances()
    finally:
        sys.modules.pop(f"{covariances.__name__}.needy", None)
        vars(covariances).pop("needy", None)


@pytest.mark.parametrize("family", members.families(), ids=members.name_of)
def test_every_family_can_be_started_in_at_least_one_dimension(family):
    """The family tests skip dimensions that do not fit; none may be skipped in all of them."""
    rng = np.random.default_rng(0)
    assert any(members.start(family, 3, d, rng) is not None for d in (1, 2, 5))
