"""Modes and their images by a symmetry that the user stated: what is known of one is known of all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allmodes.search.archive import Archive, Frozen
from allmodes.search.context import Context
from allmodes.search.group import Group

_APART = 3.0  # times `same`: images of a mode on a mirror are off by twice its own error

Array = NDArray[np.float64]


def add_images(context: Context, mode: int) -> None:
    """Put the images of a new mode into the archive: searches are recognised by them, and they cost nothing."""
    group, archive, box = context.group, context.archive, context.box
    if group is None:
        return
    numbers, places = group.distinct(box, archive.means[mode].copy(), _APART * context.tolerances.same)
    for number, place in zip(numbers[1:].tolist(), places[1:], strict=True):
        archive.add(place, float(archive.values[mode]), group.record(number, archive.records[mode]), mode, number)


def change(archive: Archive, group: Group | None, mode: int, point: Array, value: float, record: Frozen) -> None:
    """A mode or an image of one is located better, and so are all its images."""
    if group is None:
        archive.change(mode, point, value, record)
        return
    number = int(archive.maps[mode])
    if number:
        point, record = group.back(number, point), group.record(number, record, is_back=True)
    places = archive.box.project(group.images(point))
    for j in archive.orbit(mode).tolist():
        by = int(archive.maps[j])
        archive.change(j, places[by], value, group.record(by, record) if by else record)


def listed(context: Context, orbit: NDArray[np.intp]) -> int:
    """The number of the mode that is listed for all in an orbit."""
    if context.group is None:
        return int(orbit[0])
    return int(orbit[context.group.chosen(context.box.to_user(context.archive.means[orbit]))])
