"""The page about the constants, from what was measured of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from constants import Constant

_MATTERS = float(np.log(1.1))  # a ratio of evaluations that is worth a word
_FEWER = 0.005  # share of the modes: a loss or gain of less is chance on any bed of this size
_STANDARD_ERRORS = 2.0
_NAMES = ("halved", "doubled")

_HEAD = """# Constants of the search

Every constant of the search, its unit and its reason, and what comes of it when it is halved and doubled: the modes
found of all there are, with the constant halved / as it is / doubled, and the evaluations to 90 % of the modes over
those with the constant as it is (geometric means over the cases; a share that is not reached counts with twice the most
evaluations used). Standard errors are from resampling the seeds.

`neither matters` means that both changes stay within 10 % of the evaluations or within two standard errors, find as
many modes within two standard errors, and list as many that are false or double. `not read` means that every run was
the same to the last digit: these cases do not get to it, or it is read when modules are imported. A whole number is
never below 1, a share never above it.

Written by `python benchmarks/tuning.py`, from `benchmarks/tuning.json`.
"""


def page(constants: list[Constant], kept: dict[str, Any], package: str) -> str:
    """The page, with a table for each folder."""
    folders: dict[str, list[Constant]] = {}
    for constant in constants:
        folders.setdefault(constant.module.removeprefix(f"{package}.").rpartition(".")[0] or package, []).append(
            constant
        )
    measured = [kept[each.address] for each in constants if each.address in kept]
    lines = [_HEAD]
    if measured:
        seeds, commits = measured[0]["seeds"], sorted({each["commit"] for each in measured})
        unmoved = sum(flag(each).startswith(("neither", "not read")) for each in measured)
        lines.append(
            f"{len(constants)} constants, {len(measured)} of them measured, {unmoved} without a difference; seeds "
            f"{seeds[0]} to {seeds[-1]}, commit {', '.join(commits)}.\n"
        )
    for folder, members in folders.items():
        lines += [f"## {folder}\n", *table(members, kept), ""]
    return "\n".join(lines).rstrip() + "\n"


def table(constants: list[Constant], kept: dict[str, Any]) -> Iterator[str]:
    """Lines of the table of one folder."""
    yield "| constant | value | unit | reason | modes found | halved | doubled | |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for constant in constants:
        start = f"| `{constant.name}` | {constant.value:g} | {cell(constant.unit)} | {cell(constant.why)} |"
        measured = kept.get(constant.address)
        if measured is None:
            yield f"{start} | | | not measured |"
            continue
        stale = "; measured at another value" if measured["value"] != constant.value else ""
        found = " / ".join(shown(measured, name) for name in ("halved", "as is", "doubled"))
        ratios = " | ".join(ratio(measured.get(name)) for name in _NAMES)
        yield f"{start} {found} of {measured['known']} | {ratios} | {flag(measured)}{stale} |"


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def shown(measured: dict[str, Any], name: str) -> str:
    variant = measured.get(name)
    return "–" if variant is None or variant["problem"] else str(variant["found"])


def ratio(variant: dict[str, Any] | None) -> str:
    """Of the evaluations to 90 %."""
    if variant is None:
        return "–"
    if variant["problem"]:
        return "fails"
    if variant["is_same"]:
        return "same"
    mean = np.exp(variant["log_ratio"])
    return f"{mean:.2f} ± {mean * variant['error']:.2f}"


def flag(measured: dict[str, Any]) -> str:
    """What there is to say of a constant in a few words."""
    variants = {name: measured[name] for name in _NAMES if name in measured}
    if not variants:
        return "no other value"
    if all(each["is_same"] for each in variants.values()):
        return "not read"
    said = [
        f"{name}: {', '.join(words)}" for name, each in variants.items() if (words := effects(each, measured["as is"]))
    ]
    return "; ".join(said) or "neither matters"


def effects(variant: dict[str, Any], as_is: dict[str, Any]) -> list[str]:
    """How a variant differs from the bed as it is, beyond chance."""
    if variant["problem"]:
        return ["fails"]
    said = []
    if abs(variant["gain"]) > max(_FEWER, _STANDARD_ERRORS * variant["gain_error"]):
        said.append("more modes" if variant["gain"] > 0.0 else "fewer modes")
    if abs(variant["log_ratio"]) > max(_MATTERS, _STANDARD_ERRORS * variant["error"]):
        said.append("slower" if variant["log_ratio"] > 0.0 else "sooner")
    for key, word in (("false", "false modes"), ("doubles", "doubles")):
        if variant[key] != as_is[key]:
            said.append(f"{variant[key] - as_is[key]:+d} {word}")
    return said
