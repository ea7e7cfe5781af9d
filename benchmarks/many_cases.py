"""Functions of ten to a hundred coordinates with gradients by hand, of more optima than anyone can count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Case(NamedTuple):
    """A function of points (n, d) to be minimised in a box.

    Attributes:
        bounds: (d, 2).
        both: values (n,) and gradients (n, d).
    """

    bounds: Floats
    both: Callable[[Floats], tuple[Floats, Floats]]


def wells(d: int) -> Case:
    """Separable double wells, each with a slope of its own."""
    slopes = np.random.default_rng(d).uniform(-0.3, 0.3, d)

    def both(x: Floats) -> tuple[Floats, Floats]:
        return ((x**2 - 1.0) ** 2 + slopes * x).sum(axis=1), 4.0 * x * (x**2 - 1.0) + slopes

    return Case(np.array([[-2.0, 2.0]] * d), both)


def coupled_wells(d: int) -> Case:
    """Double wells on a chain, each of which pulls at the next: a scalar field on a lattice, no two modes cross."""
    slopes = np.random.default_rng(d).uniform(-0.1, 0.1, d)

    def both(x: Floats) -> tuple[Floats, Floats]:
        apart = np.diff(x, axis=1)
        g = 4.0 * x * (x**2 - 1.0) + slopes
        g[:, 1:] += 0.8 * apart
        g[:, :-1] -= 0.8 * apart
        return ((x**2 - 1.0) ** 2 + slopes * x).sum(axis=1) + 0.4 * (apart**2).sum(axis=1), g

    return Case(np.array([[-2.0, 2.0]] * d), both)


def mixture(d: int, K: int = 400) -> Case:
    """Minus the logarithm of a mixture of K Gaussians of random place, weight and widths."""
    rng = np.random.default_rng(d)
    means, widths = rng.uniform(0.1, 0.9, (K, d)), 0.08 * np.exp(rng.uniform(-0.7, 0.7, (K, d)))
    logs = np.log(rng.dirichlet(np.ones(K)) + 0.1 / K) - np.log(widths).sum(axis=1)

    def both(x: Floats) -> tuple[Floats, Floats]:
        values, slopes = np.empty(len(x)), np.empty_like(x)
        for i, point in enumerate(x):
            z = (point - means) / widths
            each = logs - 0.5 * np.einsum("kd,kd->k", z, z)
            highest = each.max()
            shares = np.exp(each - highest)
            total = shares.sum()
            values[i], slopes[i] = -highest - np.log(total), (shares / total) @ (z / widths)
        return values, slopes

    return Case(np.array([[0.0, 1.0]] * d), both)


def network(d: int) -> Case:
    """A network with d / 5 hidden units of three inputs each, fitted to 200 points, with weight decay."""
    rng, hidden = np.random.default_rng(d), d // 5
    inputs = np.column_stack([rng.uniform(-1.0, 1.0, (200, 3)), np.ones(200)])
    wanted = np.sin(3.0 * inputs[:, 0]) * np.cos(2.0 * inputs[:, 1]) + inputs[:, 2] ** 2

    def both(x: Floats) -> tuple[Floats, Floats]:
        values, slopes = np.empty(len(x)), np.empty_like(x)
        for i, point in enumerate(x):
            inner, outer = point[: 4 * hidden].reshape(hidden, 4), point[4 * hidden :]
            signals = np.tanh(inputs @ inner.T)
            wrong = signals @ outer - wanted
            back = (wrong[:, None] * outer) * (1.0 - signals**2)
            values[i] = 0.5 * (wrong**2).mean() + 0.5e-3 * (point**2).sum()
            slopes[i] = np.append((back.T @ inputs).ravel(), signals.T @ wrong) / len(inputs) + 1e-3 * point
        return values, slopes

    return Case(np.array([[-5.0, 5.0]] * d), both)


def dome(d: int) -> Case:
    """A star dome (Hangai and Kawamata, 1972) with as many sides as coordinates allow, under unequal small loads."""
    sides = round(d / 3) - 1
    angles = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.stack([25.0 * np.cos(angles), 25.0 * np.sin(angles), np.full(sides, 6.216)], axis=1)
    turned = angles + np.pi / sides
    feet = np.stack([43.3 * np.cos(turned), 43.3 * np.sin(turned), np.zeros(sides)], axis=1)
    nodes = np.concatenate([[[0.0, 0.0, 8.216]], ring, feet])
    n, i = sides + 1, np.arange(sides)
    rings = 1 + i
    bars = np.concatenate([
        np.stack([0 * i, rings], axis=1), np.stack([rings, 1 + (i + 1) % sides], axis=1),
        np.stack([rings, n + i], axis=1), np.stack([rings, n + (i - 1) % sides], axis=1),
    ])  # fmt: skip
    lengths = np.sqrt(((nodes[bars[:, 0]] - nodes[bars[:, 1]]) ** 2).sum(axis=1))
    loads = 0.004 * np.random.default_rng(d).uniform(0.1, 0.4, n)
    flat = nodes[:n] * [1.0, 1.0, 0.0]
    ends = np.zeros((len(nodes), len(bars)))
    ends[bars[:, 0], range(len(bars))], ends[bars[:, 1], range(len(bars))] = 1.0, -1.0

    def both(x: Floats) -> tuple[Floats, Floats]:
        moved = x.reshape(len(x), n, 3)
        where = np.concatenate([flat + moved, np.broadcast_to(nodes[n:], (len(x), sides, 3))], axis=1)
        gaps = where[:, bars[:, 0]] - where[:, bars[:, 1]]
        now = np.sqrt((gaps**2).sum(axis=2))
        stretched = 10.0 * (now - lengths) / lengths
        values = 0.5 * ((now - lengths) * stretched).sum(axis=1) + moved[:, :, 2] @ loads
        slopes = (ends @ (gaps * (stretched / now)[..., None]))[:, :n]
        slopes[:, :, 2] += loads
        return values, slopes.reshape(len(x), -1)

    return Case(np.array([[-1.5, 1.5], [-1.5, 1.5], [-12.0, 12.0]] * n), both)


def lines(d: int) -> Case:
    """A fit of d / 2 spectral lines, their places and heights, to a spectrum of that many, with a prior."""
    rng, count = np.random.default_rng(d), d // 2
    axis, width = np.linspace(0.0, 1.0, 8 * count), 0.3 / count
    places, heights = np.sort(rng.uniform(0.05, 0.95, count)), rng.uniform(0.5, 2.0, count)

    def shapes(c: Floats) -> tuple[Floats, Floats]:
        z = (axis - c[:, None]) / width
        bell = np.exp(-0.5 * z**2)
        return bell, bell * z / width

    data, usual = heights @ shapes(places)[0], np.linspace(0.05, 0.95, count)

    def both(x: Floats) -> tuple[Floats, Floats]:
        values, slopes = np.empty(len(x)), np.empty_like(x)
        for i, point in enumerate(x):
            c, h = point[:count], point[count:]
            bell, moved = shapes(c)
            wrong = h @ bell - data
            values[i] = 0.5 * wrong @ wrong + 0.5 * ((h - 1.0) @ (h - 1.0)) + 5.0 * ((c - usual) @ (c - usual))
            slopes[i] = np.append(h * (moved @ wrong) + 10.0 * (c - usual), bell @ wrong + (h - 1.0))
        return values, slopes

    return Case(np.array([[0.0, 1.0]] * count + [[0.0, 3.0]] * count), both)


CASES: dict[str, Callable[[int], Case]] = {
    "double wells": wells,
    "chain of wells": coupled_wells,
    "mixture": mixture,
    "network": network,
    "star dome": dome,
    "lines": lines,
}


def in_dimensions(name: str, d: int) -> int:
    """The nearest number of coordinates that a family has."""
    return 3 * round(d / 3) if name == "star dome" else d


def check_gradients(case: Case, rng: Any) -> float:
    """The largest relative difference between the gradient and differences of values at a random point."""
    lower, upper = case.bounds.T
    x = rng.uniform(lower, upper)
    h = 1e-6 * (upper - lower)
    moved = np.concatenate([x + np.diag(h), x - np.diag(h)])
    values, slope = case.both(moved)[0].reshape(2, -1), case.both(x[None])[1][0]
    return float(np.abs((values[0] - values[1]) / (2.0 * h) - slope).max() / np.abs(slope).max())
