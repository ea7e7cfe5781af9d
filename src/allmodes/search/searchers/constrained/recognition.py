"""Which known mode a local search under constraints is falling into, long before it arrives."""

from __future__ import annotations

import numpy as np

from allmodes.search.context import Context
from allmodes.search.searchers.constrained.launch import TRIAL, Launch
from allmodes.search.searchers.constrained.tuning import TUNING


def recognised(context: Context, launch: Launch) -> int:
    """The mode whose model explains value and slope here, and where the next step ends on the same active set; or -1.

    All of these have to agree: a search that is stopped for the wrong mode is a mode lost.
    """
    archive, constraints = context.archive, context.constraints
    if launch.stage != TRIAL or not len(archive) or constraints is None:
        return -1
    trial, active = launch.asked[0], None
    for j in map(int, archive.neighbours(launch.point[None])[0]):
        way = context.box.difference(launch.point, archive.means[j])
        far, held = float(np.abs(way).max()), archive.records[j].held
        rise = launch.value + float(archive.values[j])
        if held is None or far > TUNING.reach or rise < 0.0:
            continue
        ahead = float(np.abs(context.box.difference(trial, archive.means[j])).max())
        if ahead > TUNING.ahead * far:
            continue
        slope, bent = -archive.records[j].gradient, held.model @ way
        if abs(slope @ way + 0.5 * way @ bent - rise) > TUNING.alike * rise + context.tolerances.rounding():
            continue
        change = launch.gradient - slope
        unexplained = float(np.linalg.norm(change - bent))
        if unexplained > TUNING.alike * float(np.linalg.norm(change)) + 1e-6 * float(np.linalg.norm(slope)):
            continue
        if active is None:
            active = np.abs(constraints.rows(trial) - constraints.margin) <= TUNING.active
        if np.array_equal(active[~constraints.is_equality], held.rows[~constraints.is_equality]):
            return j
    return -1
