"""How the constants of the search are written down: each with its unit and its reason.

Every folder of the search has a frozen `Tuning` record in `tuning.py`; `benchmarks/tuning.py` walks these records,
halves and doubles each constant, and writes what that does into `docs/tuning.md`.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeVar

_Number = TypeVar("_Number", int, float)


def constant(default: _Number, unit: str, why: str) -> _Number:
    """A field of a `Tuning` record: its value, what it is measured in, and the reason for it."""
    made: _Number = field(default=default, metadata={"unit": unit, "why": why})
    return made
