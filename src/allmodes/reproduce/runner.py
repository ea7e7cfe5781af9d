"""Run experiments and write them down: one, or all of them on one page."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from allmodes.reproduce import MODULES, experiment
from allmodes.reproduce.compare import AGREE, BETTER, DIFFERS
from allmodes.reproduce.experiment import Context, Experiment, Outcome
from allmodes.reproduce.writing import section, write

PAGE = "reproduction.md"
FOLDER = "reproduction"  # beside the page: its tables, pictures and numbers
_ORDER = (AGREE, BETTER, DIFFERS)


def check_needs(wanted: Experiment) -> None:
    """Say which packages are missing before anything runs."""
    missing = [name for name in wanted.needs if importlib.util.find_spec(name) is None]
    if missing:
        raise ImportError(f"{wanted.name} needs {', '.join(missing)}: pip install 'allmodes[reproduce]'.")


def source() -> str:
    """The commit this is run from, or the version of the package where it is not a checkout."""
    try:
        here = Path(__file__).parent
        shown = subprocess.run(
            ["git", "-C", str(here), "describe", "--always", "--dirty", "--exclude=*"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        tracked = subprocess.run(
            ["git", "-C", str(here), "ls-files", "--error-unmatch", "runner.py"], capture_output=True
        )
        if tracked.returncode == 0:
            return f"commit {shown.stdout.strip()}"
    except (OSError, subprocess.CalledProcessError):
        pass
    from importlib.metadata import version

    return f"version {version('allmodes')}"


@dataclass(frozen=True)
class How:
    """How to run: replicates (None for each experiment's own), seed, workers, and the progress callback."""

    runs: int | None = None
    seed: int = 0
    workers: Any = 1
    report: Callable[[int, int, str], None] = lambda done, total, text: None


def reproduce(
    name: str, directory: Path, how: How, settings: dict[str, Any] | None = None, *, with_page: bool = True
) -> Outcome:
    """Run one experiment and write NAME.csv, NAME.png, NAME.json and, if it is to have a page, NAME.md."""
    wanted = experiment(name)
    check_needs(wanted)
    runs = wanted.runs if how.runs is None else how.runs
    began = time.monotonic()
    commit = source()
    context = Context(wanted.settings if settings is None else settings, runs, how.seed, how.workers, how.report)
    outcome = wanted.run(context)
    options = f" --runs {runs}" if runs != wanted.runs else ""
    options += f" --seed {how.seed}" if how.seed else ""
    made = f"`allmodes reproduce {name}{options}`, {commit}, {_spoken(time.monotonic() - began)}"
    write(wanted, outcome, directory, made, with_page=with_page)
    return outcome


def reproduce_all(directory: Path, how: How, *, keep: bool = False, names: Sequence[str] = tuple(MODULES)) -> Path:
    """Run every experiment and write reproduction.md; with `keep`, those already there are not run again.

    The page is rewritten after each experiment, so that nothing is lost.
    """
    for name in names:
        check_needs(experiment(name))
    for name in names:
        if not (keep and (directory / FOLDER / f"{name}.json").exists()):
            reproduce(name, directory / FOLDER, how, with_page=False)
        page = write_page(directory)
    return page


def write_page(directory: Path) -> Path:
    """reproduction.md from the experiments that are there."""
    folder = directory / FOLDER
    facts = [json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
             for name in MODULES if (folder / f"{name}.json").exists()]  # fmt: skip
    lines = [
        "# The paper's results, run again", "",
        "Every published number beside ours: Le Minh, Arbel, Möllenhoff, Khan and Forbes, *Natural Variational "
        "Annealing for Multimodal Optimization*, arXiv 2501.04667. Written by `allmodes reproduce all`; one section "
        f"for each experiment, with its commit. NumPy {np.__version__}, SciPy {scipy.__version__}.", "",
        "*Agree*: closer than the errors of both allow (95 %), within 0.02 of the limit of a weight, or as the "
        "text claims in words. *Better*: beyond the published number in the direction that is good. *Differs*: "
        "neither, with the reason.", "",
        "Rows as printed are independent of the published numbers. Corrected rows are not quite: where a setting "
        "had to be corrected, it was chosen by looking at the same experiment. On Styblinski-Tang the pace (five "
        "times slower), the rate 5e-4 of FS-NVA-GM and the hundredth of pSGA's; on the symmetric mixture the "
        "bound 0.05; for CEC2013 the bound 0.1, the best of five (0.02 to 0.5) on F4 and F6; for Hapke's model "
        "the whole schedule. That they agree says that such a setting exists, not that the paper used it.", "",
        "| experiment | | agree | better | differs | not published |", "| --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for fact in facts:
        counts = Counter(number["verdict"] for number in fact["numbers"])
        cells = [str(counts[verdict]) for verdict in (*_ORDER, "")]
        anchor = f"[{fact['name']}](#{fact['name']})"
        lines.append(f"| {anchor} | {fact['title']} | {' | '.join(cells)} |")
    for fact in facts:
        lines += ["", section(fact, f"{FOLDER}/").rstrip()]
    page = directory / PAGE
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return page


def _spoken(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"
