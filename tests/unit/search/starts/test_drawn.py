import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.starts.drawn import Drawn
from allmodes.storage import pack, unpack


def drawn(n=50, d=2, seed=0, bounds=None, spread=0.2):
    box = Box.make(bounds, None if bounds else np.zeros(d))
    return Drawn(box, np.random.default_rng(seed), 0.5 + spread * np.random.default_rng(1).standard_normal((n, d)))


def test_every_draw_is_used_once_before_any_is_used_again():
    source = drawn()
    given = {point.tobytes() for point in source.points}
    first = [point.tobytes() for point in np.concatenate([source.draw(20), source.draw(30)])]
    assert len(set(first)) == 50
    assert set(first) == given
    assert not source.account
    assert not {point.tobytes() for point in source.draw(200)} & given
    assert source.account == "all 50 draws of starts were used, and 200 of them again, moved a little"


def test_draws_come_in_another_order_than_they_were_given():
    """Draws of a chain are not independent of those before them."""
    source = drawn(n=200, d=1)
    given = 0.5 + 0.2 * np.random.default_rng(1).standard_normal((200, 1))
    assert sorted(source.points[:, 0]) == sorted(given[:, 0])
    assert (source.points[:, 0] == given[:, 0]).sum() < 10


def test_points_used_again_have_the_spread_of_the_draws():
    source = drawn(n=400, d=3)
    source.draw(400)
    again = source.draw(20_000)
    np.testing.assert_allclose(np.median(again, axis=0), np.median(source.points, axis=0), atol=0.02)
    assert (again.std(axis=0) / source.points.std(axis=0) < 1.1).all()


def test_an_outlier_does_not_widen_the_jitter():
    box, points = Box.make(None, np.zeros(1)), np.random.default_rng(0).random((100, 1))
    wild = np.where(np.arange(100)[:, None] == 0, 1e9, points)
    calm, odd = (Drawn(box, np.random.default_rng(0), each).scale[0] for each in (points, wild))
    assert odd == pytest.approx(calm, rel=0.1)


def test_points_used_again_stay_inside_the_bounds():
    source = drawn(n=50, bounds=[(0.0, 1.0)] * 2, spread=0.0)
    source.points, source.scale = np.clip(source.points, 0.0, 1.0), np.full(2, 0.9)
    points = source.draw(2000)
    assert ((points >= 0.0) & (points <= 1.0)).all()


@pytest.mark.parametrize("before", [0, 30, 50, 90])
def test_a_saved_source_goes_on_where_it_was(before):
    source = drawn()
    source.draw(before)
    copy = unpack(*pack(source))
    np.testing.assert_array_equal(copy.draw(60), source.draw(60))
