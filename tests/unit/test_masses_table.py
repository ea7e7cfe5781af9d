"""Masses as text: errors say how many decimals there are, many modes and coordinates are cut, reasons are told once."""

import dataclasses

import numpy as np
import pytest
from weighed_targets import found, two_gaussians

from allmodes.masses.weigh import masses_of
from allmodes.result.masses_table import text_of, with_error

MASSES = masses_of(
    found(two_gaussians), two_gaussians, draws=200, rounds=0, rng=0, vectorized=True, args=(), symmetry=None, workers=1,
    on_error="raise",
)  # fmt: skip


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [(242.7491, 0.0041, "242.749 +- 0.004"), (-62.3, 12.0, "-62 +- 12"), (1.5, 0.0, "1.500 +- 0.000")],
)
def test_decimals_follow_the_error(value, error, text):
    assert with_error(value, error) == text


def test_many_modes_and_coordinates_are_cut():
    many = dataclasses.replace(
        MASSES, modes=tuple(dataclasses.replace(MASSES[0], x=np.arange(12.0)) for _ in range(30)),
        names=tuple(f"coordinate_number_{i}" for i in range(12)),
    )  # fmt: skip
    lines = text_of(many).splitlines()
    assert max(map(len, lines)) < 80
    assert "... and 10 more" in lines
    assert sum(line.endswith("  ...") for line in lines) == 21
    assert any("mass" in line and "coordinate_n" in line for line in lines)


def test_a_reason_is_told_once_with_the_modes_it_is_of():
    refused = dataclasses.replace(
        MASSES[0], mass=np.nan, log_evidence=np.nan, reason="too few draws", note="of a bound"
    )
    text = text_of(dataclasses.replace(MASSES, modes=(refused, refused), reason="nothing is known"))
    assert "modes 1, 2 not stated: too few draws. Laplace's value stands alone" in " ".join(text.split())
    assert text.count("b of a bound") == 1
    assert "log evidence not stated: nothing is known" in text
    row = next(line for line in text.splitlines() if line.startswith("1b"))
    assert (row.split()[1], row.split()[3]) == ("-", "-")


def test_the_only_mode_has_all_of_the_mass_without_an_error_of_rounding():
    text = text_of(dataclasses.replace(MASSES, modes=(dataclasses.replace(MASSES[0], mass=1.0, standard_error=6e-17),)))
    row = next(line for line in text.splitlines() if line.startswith("1 "))
    assert row.split()[1:3] == ["1.0000", "0"]
