import numpy as np
import pytest

from allmodes.search.scheduling.bandit import Bandit
from allmodes.storage import pack, unpack


def a_bandit(first_cost=3.0, **records):
    """An arm for each record (successes, cost)."""
    bandit = Bandit(first_cost)
    for arm, (successes, cost) in records.items():
        bandit.charge(arm, cost)
        for _ in range(successes):
            bandit.succeed(arm)
    return bandit


def share(bandit, arm, arms, n=2000, seed=0):
    return np.mean(np.array(bandit.draw(np.random.default_rng(seed), arms, n)) == arm)


def test_an_arm_that_pays_is_drawn_and_one_that_does_not_is_not():
    assert share(a_bandit(good=(20, 100), bad=(0, 100)), "good", ["good", "bad"]) > 0.95


def test_arms_that_pay_alike_are_drawn_alike():
    assert 0.45 < share(a_bandit(one=(20, 100), two=(20, 100)), "one", ["one", "two"]) < 0.55


def test_the_cheaper_of_two_arms_is_preferred():
    assert share(a_bandit(dear=(10, 1000), cheap=(10, 100)), "cheap", ["dear", "cheap"]) > 0.95


def test_an_arm_that_was_never_tried_is_tried():
    assert share(a_bandit(old=(5, 100)), "new", ["old", "new"]) > 0.5


def test_one_arm_needs_no_random_number():
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    assert a_bandit().draw(rng, ["only"], 3) == ["only"] * 3
    assert rng.bit_generator.state == before


def test_the_order_of_charges_of_other_arms_does_not_matter():
    first, second = a_bandit(one=(2, 10), two=(1, 30)), a_bandit(two=(1, 30), one=(2, 10))
    arms = ["one", "two", "three"]
    assert first.draw(np.random.default_rng(1), arms, 50) == second.draw(np.random.default_rng(1), arms, 50)


def test_a_rate_is_successes_per_evaluation_with_one_credited():
    bandit = a_bandit(first_cost=10.0, arm=(3, 30))
    assert bandit.rate("arm") == pytest.approx(4 / 40)
    assert bandit.rate("never tried") == pytest.approx(1 / 10)


def test_the_recent_rate_is_that_of_the_later_half():
    bandit = a_bandit(first_cost=10.0, rich=(50, 100), poor=(0, 40))
    assert bandit.recent_rate("rich") == pytest.approx(51 / 60)
    assert bandit.recent_rate("poor") == pytest.approx(1 / 30)
    bandit.charge("rich", 100)
    assert bandit.recent_rate("rich") == pytest.approx(1 / 110)
    bandit.succeed("rich")
    assert bandit.recent_rate("rich") == pytest.approx(2 / 110)
    assert bandit.recent_rate("rich", credit=0.1) == pytest.approx(1.1 / 110)
    assert bandit.recent_rate("never tried") == pytest.approx(1 / 10)


def test_an_arm_that_stopped_paying_is_left():
    bandit = a_bandit(once=(20, 100), steady=(4, 100))
    assert share(bandit, "once", ["once", "steady"]) > 0.95
    bandit.charge("once", 2000)
    assert share(bandit, "once", ["once", "steady"]) < 0.2
    assert bandit.spent == {"once": 2100, "steady": 100}
    assert bandit.found == {"once": 20, "steady": 4}


def test_a_bandit_is_saved():
    bandit = a_bandit(one=(2, 10), two=(1, 30))
    copy, arms = unpack(*pack(bandit)), ["one", "two"]
    rng, same = np.random.default_rng(2), np.random.default_rng(2)
    assert copy.draw(rng, arms, 20) == bandit.draw(same, arms, 20)
    assert copy.choose(rng, arms) == bandit.choose(same, arms)
