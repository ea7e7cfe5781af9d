"""Does the function have the symmetry that the user stated at a new mode, too?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allmodes.search.context import Context
from allmodes.search.verify.question import ByValues, Optimum, Step
from allmodes.storage import stored

Array = NDArray[np.float64]


@stored
@dataclass(frozen=True)
class AtImages(ByValues):
    """Are the images of a new optimum as high, by each map that generates the others?

    The first look at the function compares one place. If it is symmetric but for a few places, images of a
    mode there would be listed that are none.
    """

    optimum: Optimum

    def points(self, context: Context) -> Array:
        group, point = context.group, context.box.project(self.optimum.candidate.point)
        assert group is not None
        return np.asarray(context.box.project(group.images(point)[list(group.tested)]))

    def answer(self, context: Context, points: Array, values: Array) -> Step:
        value, group = self.optimum.candidate.value, context.group
        if group is None:
            return self.optimum
        apart = np.abs(values - value)
        allowed = context.tolerances.unlike * np.maximum(np.abs(values), abs(value))
        is_wrong = ~(apart <= allowed + 10.0 * context.tolerances.tie)
        for k in np.flatnonzero(is_wrong).tolist()[:1]:
            x, image = context.box.to_user(np.stack([context.box.project(self.optimum.candidate.point), points[k]]))
            context.deny_symmetry(
                f"symmetry has the {group.words[k]}, which fun does not have at the mode x = {x}: its value at the "
                f"image x = {image} is another; from there on the search went on without it"
            )
        return self.optimum
