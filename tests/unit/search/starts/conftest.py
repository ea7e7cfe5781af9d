"""A context with a few modes, for starts that are made of them."""

import numpy as np
import pytest

from allmodes.objective.bounds import Box
from allmodes.search.archive import Archive, Frozen
from allmodes.search.context import Context


@pytest.fixture
def make_context():
    def make(modes=(), values=None, box=None, is_global=False, curvature=200.0, seed=0, **settings):
        """Round modes of height 2 and this curvature, in a function of level 0 and scale 1."""
        box = box or Box.make([(0, 1), (0, 1)])
        context = Context(box, Archive(box), np.random.default_rng(seed), order=2, is_global=is_global, **settings)
        context.observe_level(np.linspace(-1.0, 1.0, 101))
        d = box.d
        for i, mode in enumerate(modes):
            record = Frozen(np.zeros(d), -curvature * np.eye(d), np.zeros(d, bool), "optimum", "derivatives", 1)
            context.archive.add(np.asarray(mode, dtype=float), 2.0 if values is None else values[i], record)
        return context

    return make
