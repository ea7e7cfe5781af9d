"""What is stated and what is not, when the weights of some modes cannot be trusted."""

from types import SimpleNamespace

import numpy as np
import pytest
from weighed_targets import found, two_gaussians

from allmodes.masses.estimate import masses
from allmodes.masses.start import Start
from allmodes.masses.target import Target
from allmodes.masses.weights import Weighed

RNG = np.random.default_rng(0)
HEAVY = -1.2 * np.log(RNG.random(1000))
LIGHT = 0.3 * RNG.standard_normal(3000)


def told(share, logs=HEAVY):
    """Two modes, of which the second has the share and these weights."""
    first, second = LIGHT - np.logaddexp.reduce(LIGHT), logs - np.logaddexp.reduce(logs)
    log_weights = np.concatenate([first + np.log(1.0 - share), second + np.log(share)])
    owner = np.repeat([0, 1], [3000, 1000])
    result = found(two_gaussians)
    z = np.full((4000, 2), 0.5)
    weighed = Weighed(z, np.zeros(4000), log_weights, owner, owner, np.bincount(owner))
    with Target(result, two_gaussians, (), True, None, 1, "raise") as target:
        start = Start((), np.log([1.0 - share, share]), np.inf)
        return masses(result, target, start, weighed, 0)


def test_both_are_stated_where_both_are_known():
    found = told(0.4, logs=LIGHT[:1000])
    np.testing.assert_allclose(found.mass, [0.6, 0.4], atol=1e-2)
    assert found[0].standard_error < 0.02
    assert found.reason == found[0].reason == found[1].reason == ""


def test_what_is_not_known_of_one_is_an_error_of_the_others():
    found = told(0.04)
    assert np.isnan([found[1].mass, found[1].log_evidence]).all()
    assert found[1].reason.startswith("k-hat is 1.")
    share = 1.0 - found[0].mass
    assert found[0].mass == pytest.approx(0.96, abs=0.03)
    assert found[0].standard_error >= 0.9 * max(share, 0.04)
    assert found.standard_error >= 0.9 * max(share, 0.04)
    assert found[0].log_evidence_error < 0.02  # that is of this mode alone


def test_nothing_is_stated_of_the_total_where_too_much_is_unknown():
    found = told(0.5)
    assert np.isnan(found.mass).all()
    assert np.isnan(found.log_evidence)
    assert found.reason == "too much of it may be in mode 2, whose evidence is not known"
    assert found[0].log_evidence == pytest.approx(np.log(0.5), abs=0.02)
    assert "what share of the total" in found[0].reason


def test_too_few_draws_to_judge():
    result = found(two_gaussians)
    weighed = Weighed(
        np.full((8, 2), 0.5), np.zeros(8), np.array([0.0, -1, -2, -3, -1, 0, 0, -2.5]), np.repeat([0, 1], 4),
        np.repeat([0, 1], 4), np.array([4, 4]),
    )  # fmt: skip
    with Target(result, two_gaussians, (), True, None, 1, "raise") as target:
        each = masses(result, target, Start((), np.zeros(2), np.inf), weighed, 0)
    assert each[0].reason == "only 4 draws: too few to judge the weights by; draw more"


def test_no_density_at_any_draw():
    weighed = SimpleNamespace(totals=np.zeros(2), z=np.zeros((30, 2)))
    with pytest.raises(ValueError, match="at all of 30 draws around 2 modes"):
        masses(found(two_gaussians), None, None, weighed, 0)
