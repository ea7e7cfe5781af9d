"""Which ends of many runs are one place, by position and value alone: nothing is evaluated.

Runs that end in one optimum stop where their tolerances let them: a cloud around it, the farther off the worse. The
best end of a cloud stands for it. First all ends within a radius of a better one belong to it, in the order of values:
groups do not grow from member to member, so that ends that lie in between join no two optima. Then groups nearby are
joined if their values are those of one optimum: as much worse as the parabola says that the ends of the better group
lie on, or equal along a chain of several, as on the floor of a valley.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

_RADII = (1e-3, 1e-2)  # of the box: ends this close are one place, in the second case where all are as far apart
_ASKED = 1000  # ends that are looked at to see how far apart they are
_REACH = 30.0  # radii: farther from each other groups are never joined
_FARTHEST = 0.03  # of the box: likewise
_NEIGHBOURS = 12  # of a group, among which a better one is looked for
_FEWEST = 3  # ends besides the best that show a parabola
_MARGIN = 4.0  # times: how far off a parabola's curvature a value may be
STOPS = 1e-7  # of max(|f|, 1): where optimisers stop, ten times and more (L-BFGS-B: 2e-9, least_squares: 1e-8)
_TINY = 1e-300
_ROUNDED = 1e-12  # of max(|f|, 1): differences of values that show no curvature
_CHAIN = 4  # groups of equal values beside each other that make a valley
_MOST_MET = 200_000  # ends and neighbours that are looked up at once: a bound on memory


class Groups(NamedTuple):
    """Who belongs to whom, as places among the ends.

    Args:
        leaders: for each end the best end within a radius that it belongs to, (n,); itself for a leader.
        joined: for each end the leader of all groups that were joined with its own, (n,).
        chained: (n,), whether that was along a chain of equal values.
    """

    leaders: Indices
    joined: Indices
    chained: NDArray[np.bool_]


def group(points: Array, losses: Array, radius: float, periodic: Indices | None = None) -> Groups:
    """Groups of ends (n, d) in unit coordinates with losses (n,), smaller is better; all finite.

    Args:
        radius: ends closer than this in every coordinate are one place.
        periodic: numbers of the coordinates that have the period 1.

    >>> ends = np.array([[0.1], [0.9001], [0.1001], [0.9], [0.5]])
    >>> group(ends, np.array([0.0, 1.1, 0.1, 1.0, 2.0]), 0.01).leaders.tolist()
    [0, 3, 0, 3, 4]
    """
    tree = _tree(points, periodic)
    leaders = _stars(tree, points, losses, radius)
    lead = np.unique(leaders)
    lead = lead[np.argsort(losses[lead], kind="stable")]
    place = np.zeros(len(points), np.intp)
    place[lead] = np.arange(len(lead))
    reach = max(radius, min(_REACH * radius, _FARTHEST))
    onto = _onto_parabolas(points, losses, leaders, lead, periodic, reach)
    along, chained = _along_chains(points, losses, lead, periodic, reach)
    joined = lead[np.where(chained, along, along[onto])]
    return Groups(leaders, joined[place[leaders]], chained[place[leaders]])


def scatter(points: Array, periodic: Indices | None = None) -> float:
    """A radius that suits ends (n, d): three times how far one is from the next, between 0.1 % and 1 % of the box."""
    n = len(points)
    if n < 2:
        return _RADII[0]
    some = np.linspace(0, n - 1, min(n, _ASKED)).astype(np.intp)
    tree = _tree(points, periodic)
    apart = tree.query(tree.data[some], [2], p=np.inf, distance_upper_bound=_RADII[1])[0]
    typical = float(np.median(apart))
    return float(np.clip(3.0 * typical, *_RADII)) if np.isfinite(typical) else _RADII[0]


def _wrapped(points: Array, periodic: Indices | None) -> Array:
    """Points with periodic coordinates from 0 to 1, without 1."""
    if periodic is None or not len(periodic):
        return points
    wrapped = points.copy()
    wrapped[:, periodic] %= 1.0
    wrapped[:, periodic] *= wrapped[:, periodic] < 1.0  # what rounding has made the period itself
    return wrapped


def _tree(points: Array, periodic: Indices | None) -> Any:
    from scipy.spatial import KDTree  # late: importing it takes a while

    size = np.zeros(points.shape[1])
    if periodic is not None:
        size[periodic] = 1.0
    box = size if size.any() else None
    return KDTree(_wrapped(points, periodic), boxsize=box, balanced_tree=False, compact_nodes=False)


def _stars(tree: Any, points: Array, losses: Array, radius: float) -> Indices:
    """For each end the best one within the radius that is a leader, (n,): the best end that is left leads the next."""
    n = len(points)
    leaders = np.full(n, -1, np.intp)
    left, many = np.argsort(losses, kind="stable"), 1
    while len(left):
        some, found = left[:many], tree.query_ball_point(tree.data[left[:many]], radius, p=np.inf)
        for i, near in zip(some.tolist(), found, strict=True):
            if leaders[i] < 0:
                rows = np.array(near, np.intp)
                leaders[rows[leaders[rows] < 0]] = i
        left = left[many:]
        left = left[leaders[left] < 0]
        met = sum(map(len, found)) / len(some)
        many = int(np.clip(_MOST_MET / max(met, 1.0), 1, 2 * many))
    return leaders


def _onto_parabolas(
    points: Array, losses: Array, leaders: Indices, lead: Indices, periodic: Indices | None, reach: float
) -> Indices:
    """For each leader that of a better group nearby on whose parabola it lies, itself without one; places in `lead`."""
    own = np.arange(len(lead))
    low, high = _parabolas(points, losses, leaders, lead, periodic)
    rivals = np.flatnonzero(high > 0.0)
    if not len(rivals) or len(lead) < 2:
        return own
    k = min(_NEIGHBOURS, len(rivals))
    tree = _tree(points[lead[rivals]], periodic)
    asked = _wrapped(points[lead], periodic)
    apart, near = tree.query(asked, [*range(1, k + 1)], p=np.inf, distance_upper_bound=reach)
    which = np.append(rivals, len(lead))[near]  # those that are not there have infinite distances
    is_near = np.isfinite(apart) & (which < own[:, None])  # better ones come first
    rows, columns = np.nonzero(is_near)
    which, found = which[rows, columns], own.copy()
    step = _difference(points[lead[rows]], points[lead[which]], periodic)
    bend = (losses[lead[rows]] - losses[lead[which]]) / np.maximum((step**2).sum(axis=1), _TINY)
    fits = (bend >= low[which] / _MARGIN) & (bend <= high[which] * _MARGIN)
    rows, which = rows[fits][::-1], which[fits][::-1]
    found[rows] = which  # of several the nearest, which is written last
    while not np.array_equal(found, found[found]):  # always to a better one: two that stay are never joined
        found = found[found]
    return found


def _difference(a: Array, b: Array, periodic: Indices | None) -> Array:
    step = a - b
    if periodic is not None and len(periodic):
        step[..., periodic] -= np.round(step[..., periodic])
    return step


def _parabolas(
    points: Array, losses: Array, leaders: Indices, lead: Indices, periodic: Indices | None
) -> tuple[Array, Array]:
    """Between which loss over squared distance the members of each leader in `lead` lie, zero where too few show it."""
    members = np.flatnonzero(leaders != np.arange(len(leaders)))
    owner = leaders[members]
    step = _difference(points[members], points[owner], periodic)
    squares, rise = (step**2).sum(axis=1), losses[members] - losses[owner]
    shows = (rise > _ROUNDED * np.maximum(np.abs(losses[owner]), 1.0)) & (squares > 0.0)
    place = np.full(len(leaders), -1)
    place[lead] = np.arange(len(lead))
    rows, bends = place[owner[shows]], rise[shows] / squares[shows]
    order = np.lexsort((bends, rows))
    rows, bends = rows[order], bends[order]
    first, last = (np.searchsorted(rows, np.arange(len(lead)), side=side) for side in ("left", "right"))
    count = last - first
    low, high = np.zeros(len(lead)), np.zeros(len(lead))
    seen = count >= _FEWEST
    low[seen] = bends[(first + count // 10)[seen]]
    high[seen] = bends[(last - 1 - count // 10)[seen]]
    return low, high


def _along_chains(
    points: Array, losses: Array, lead: Indices, periodic: Indices | None, reach: float
) -> tuple[Indices, NDArray[np.bool_]]:
    """For each leader the best of those in its chain, of equal values and each beside the next, and whether there is
    a chain: several of them, as on the floor of a valley."""
    own, chained = np.arange(len(lead)), np.zeros(len(lead), np.bool_)
    value = losses[lead]
    stop = STOPS * np.maximum(np.abs(value), 1.0)
    beside = np.append(value[1:] - value[:-1] <= stop[:-1], False)
    level = np.flatnonzero(beside | np.append(False, beside[:-1]))  # others have no equal at all
    if len(level) < _CHAIN:
        return own, chained
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    tree = _tree(points[lead[level]], periodic)
    k = min(_NEIGHBOURS + 1, len(level))
    apart, near = tree.query(tree.data, [*range(1, k + 1)], p=np.inf, distance_upper_bound=reach)
    rows, columns = np.nonzero(np.isfinite(apart))
    others = near[rows, columns]
    is_level = np.abs(value[level[rows]] - value[level[others]]) <= stop[level[rows]]
    pairs = (rows[is_level], others[is_level])
    links = coo_array((np.ones(len(pairs[0]), np.int8), pairs), shape=(len(level), len(level)))
    number, chain = connected_components(links, directed=False)
    best = np.full(number, len(level))
    np.minimum.at(best, chain, np.arange(len(level)))  # they are in the order of their losses
    is_valley = np.bincount(chain, minlength=number)[chain] >= _CHAIN
    own[level[is_valley]] = level[best[chain[is_valley]]]
    chained[level[is_valley]] = True
    return own, chained
