"""The search for all roots: who is asked, what is said, and that every root is found once."""

from __future__ import annotations

import numpy as np
import pytest

from allmodes import find_roots
from allmodes.search.searchers.roots import roots


def himmelblau(x):
    return np.array([4 * x[0] * (x[0] ** 2 + x[1] - 11) + 2 * (x[0] + x[1] ** 2 - 7),
                     2 * (x[0] ** 2 + x[1] - 11) + 4 * x[1] * (x[0] + x[1] ** 2 - 7)])  # fmt: skip


@pytest.mark.parametrize("seed", [0, 1])
def test_all_roots_are_found_once(seed):
    result = find_roots(himmelblau, [(-6, 6)] * 2, rng=seed)
    assert len(result.modes) == 9
    assert all(mode.residual_norm < 1e-10 for mode in result.modes)
    apart = np.abs(np.array([a.x - b.x for a in result.modes for b in result.modes if a is not b])).max(axis=1)
    assert apart.min() > 0.1


def test_systems_without_roots_say_so():
    result = find_roots(lambda x: [x[0] ** 2 + x[1] ** 2 + 1, x[0] - x[1]], [(-3, 3)] * 2, rng=0, maxfev=600)
    assert not result.modes
    assert "ended at no root" in result.message


def test_square_systems_are_searched_as_they_are_and_others_as_squares(monkeypatch):
    asked = []
    usual = roots.Roots.ask

    def ask(self):
        asked.append(type(self))
        return usual(self)

    monkeypatch.setattr(roots.Roots, "ask", ask)
    find_roots(lambda x: [x[0] ** 2 - 1, x[1] - 0.5], [(-3, 3)] * 2, rng=0, maxfev=300)
    assert asked
    asked.clear()
    found = find_roots(lambda x: [x[0] ** 2 - 1, x[1] - 0.5, x[0] * x[1] - 0.5 * x[0]], [(-3, 3)] * 2, rng=0)
    assert not asked
    assert len(found.modes) == 2
