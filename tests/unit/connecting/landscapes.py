"""Functions of points (..., d) whose saddles are known, and barriers by flooding a grid: truth that needs no ways."""

from __future__ import annotations

import numpy as np


def himmelblau(x):
    x = np.asarray(x)
    return (x[..., 0] ** 2 + x[..., 1] - 11) ** 2 + (x[..., 0] + x[..., 1] ** 2 - 7) ** 2


# Stationary points with one negative eigenvalue, by Newton's method from a fine grid, and their values.
HIMMELBLAU = {
    13.3119263: (3.3851542, 0.0738518), 67.7191501: (0.0866775, 2.8842547),
    104.0151629: (-3.0730258, -0.0813530), 178.3372392: (-0.1279613, -1.9537150),
}  # fmt: skip


def camel(x):
    x = np.asarray(x)
    a, b = x[..., 0], x[..., 1]
    return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (-4 + 4 * b**2) * b**2


def double_wells(x):
    """Tilted double wells, one for each coordinate: modes at every choice of a side."""
    x = np.asarray(x)
    return ((x**2 - 1) ** 2 + 0.1 * x).sum(axis=-1)


# Of one coordinate: x (x^2 - 1) = -0.025 at the deep minimum, the saddle and the other minimum.
WELLS = np.sort(np.roots([4.0, 0.0, -4.0, 0.1]).real)
DEEP, PASS, SHALLOW = double_wells(WELLS[:, None])


def bent(x):
    """Two minima at the ends of a bent valley: the straight way goes over a mountain."""
    x = np.asarray(x)
    a, b = x[..., 0], x[..., 1]
    return 10 * (b - a**2) ** 2 + 0.5 * (a**2 - 1) ** 2 + 0.1 * a


def ring(x):
    """Two minima on a circle, with a mountain in the middle that the straight way leads over."""
    x = np.asarray(x)
    angle = np.arctan2(x[..., 1], x[..., 0])
    return 10 * (np.hypot(x[..., 0], x[..., 1]) - 1) ** 2 + 0.3 * np.cos(2 * angle) + 0.05 * np.sin(angle)


def kinked(x):
    x = np.asarray(x)
    return np.abs(np.abs(x[..., 0]) - 1) + np.abs(np.abs(x[..., 1]) - 1) + 0.1 * x[..., 0] + 0.3 * x[..., 1]


def rastrigin(x):
    x = np.asarray(x)
    return (x**2 - 10 * np.cos(2 * np.pi * x) + 10).sum(axis=-1)


def flooded(fun, bounds, modes, n=201):
    """Barriers (J, J) between modes by a rising flood on a grid of a plane: too high, by what the grid steps over."""
    sides = [np.linspace(low, high, n) for low, high in bounds]
    values = fun(np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1)).ravel()
    places = [[np.abs(side - entry).argmin() for side, entry in zip(sides, mode, strict=True)] for mode in modes]
    owners: dict[int, list[int]] = {}
    for k, (i, j) in enumerate(places):
        owners.setdefault(i * n + j, []).append(k)
    parent, found = np.full(n * n, -1), np.full((len(modes),) * 2, np.nan)
    members: dict[int, list[int]] = {}

    def lake(cell):
        while parent[cell] != cell:
            parent[cell] = parent[parent[cell]]
            cell = parent[cell]
        return cell

    around = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]
    for cell in np.argsort(values).tolist():
        parent[cell], members[cell] = cell, list(owners.get(cell, []))
        row, column = divmod(cell, n)
        for a, b in around:
            beside = (row + a) * n + column + b
            if not (0 <= row + a < n and 0 <= column + b < n) or parent[beside] < 0:
                continue
            one, other = lake(cell), lake(beside)
            if one != other:
                for i in members[one]:
                    for j in members[other]:
                        found[i, j] = found[j, i] = values[cell]
                parent[other] = one
                members[one] += members.pop(other)
    np.fill_diagonal(found, fun(np.array(modes)))
    return found
