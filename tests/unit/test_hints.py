"""Types in the signatures of the public calls."""

import inspect
from typing import Any, get_args, get_type_hints

import pytest

from allmodes import ModeFinder, audit, curve_fit, find_fits, find_maxima, find_minima, find_roots, hints

CALLS = [find_minima, find_maxima, find_fits, curve_fit, find_roots, audit, ModeFinder.__init__]
# Where everything is welcome: what fun takes besides x, pools of any library, ends of any optimiser, data of any kind.
OPEN = {"args", "workers", "ends", "xdata", "self"}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__qualname__)
def test_every_argument_has_a_type(call):
    found = get_type_hints(inspect.unwrap(call))
    named = [name for name, each in inspect.signature(call).parameters.items() if each.kind is not each.VAR_KEYWORD]
    assert not {name for name in named if name not in OPEN and found.get(name, Any) is Any}


@pytest.mark.parametrize("name", hints.__all__)
def test_every_type_is_one_of_some_argument_and_is_no_any(name):
    wanted = getattr(hints, name)
    assert Any not in (wanted, *get_args(wanted))
    texts = [str(inspect.unwrap(call).__annotations__.values()) for call in CALLS]
    assert any(name in text for text in texts)
