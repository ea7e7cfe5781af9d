"""How a saved search goes on when more is allowed than before."""

import pytest

from allmodes import find_minima
from allmodes.finder import ModeFinder
from allmodes.resuming import resumed

BOX = [(-2.0, 2.0)] * 2


def wells(x):
    return (x[0] ** 2 - 1.0) ** 2 + x[1] ** 2


def searched(path, maxfev, **given):
    return find_minima(wells, BOX, rng=1, maxfev=maxfev, checkpoint=path, **given)


def test_a_search_of_the_same_kind_goes_on_itself(tmp_path):
    path = tmp_path / "run.ckpt"
    searched(path, 90, method="local")
    saved, asked = ModeFinder.load(path), ModeFinder(BOX, rng=1, maxfev=200, method="local")
    found = resumed(saved._driver, asked._driver, path)
    assert found is saved._driver
    assert (found.nfev, found.state.settings.maxfev) == (90, 200)


def test_one_that_a_larger_budget_has_outgrown_tells_what_it_knows(tmp_path):
    path = tmp_path / "run.ckpt"
    searched(path, 40)
    saved, asked = ModeFinder.load(path), ModeFinder(BOX, rng=1, maxfev=200)
    found = resumed(saved._driver, asked._driver, path)
    assert found is asked._driver
    assert found.nfev == 40
    assert found.state.context.best_value == saved._driver.state.context.best_value


def test_another_method_is_refused(tmp_path):
    path = tmp_path / "run.ckpt"
    searched(path, 40)
    with pytest.raises(ValueError, match="holds a search with method='auto'; this one has 'local'"):
        searched(path, 40, method="local")
