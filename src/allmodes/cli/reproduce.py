"""allmodes reproduce"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from allmodes.cli.console import messages
from allmodes.cli.exits import INTERRUPTED
from allmodes.cli.kinds import Whole
from allmodes.cli.offers import Offered, experiments

_WRITTEN = (".csv", ".png", ".md", ".json")


@click.command("reproduce", short_help="Run an experiment of the paper.")
@click.argument("name", required=False, type=Offered("name", experiments))
@click.option("--runs", type=Whole(1), metavar="N", help="Replicates H; the paper's number if left out.")
@click.option("--workers", type=int, metavar="N", default=1, show_default=True, help="Processes; -1 for one per core.")
@click.option(
    "--rng", "--seed", "seed", type=Whole(0), metavar="N", default=0, show_default=True, help="Of all random numbers."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=Path("reproduction"),
    show_default=True,
    help="Directory for the results.",
)
@click.option("--keep", is_flag=True, help="With all: do not run again what is there already.")  # fmt: skip
def reproduce_command(
    name: str | None, runs: int | None, workers: int, seed: int, out: Path, keep: bool
) -> None:  # fmt: skip
    """Run an experiment of the paper: a table, a picture, and every published number beside ours.

    Without NAME, list the experiments. With "all", run them one after the other and write OUT/reproduction.md.

    \b
    Example:
      allmodes reproduce weight-asym --runs 20
    """
    from allmodes.reproduce import MODULES, runner
    from allmodes.reproduce.writing import verdicts

    if name is None:
        _list_experiments()
        return
    if name != "all" and name not in MODULES:
        raise click.UsageError(f"there is no experiment {name!r}; there are {', '.join(MODULES)}, and all.")
    if workers == 0 or workers < -1:
        raise click.UsageError(f"--workers is {workers}; wanted a number of processes, or -1 for one per core.")
    console = messages()
    try:
        with _progress(console) as bar:
            how = runner.How(runs, seed, workers, _reporter(bar))
            if name == "all":
                page = runner.reproduce_all(out, how, keep=keep)
            else:
                outcome = runner.reproduce(name, out, how)
    except ImportError as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        console.print("stopped; experiments that were finished are written.")
        sys.exit(INTERRUPTED)
    if name == "all":
        click.echo(f"written: {page}")
        return
    _show(outcome.numbers)
    click.echo(f"\n{verdicts(outcome.numbers)}\nwritten: {out / name}{', '.join(_WRITTEN)}")


def _list_experiments() -> None:
    from allmodes.reproduce import MODULES, experiment

    click.echo("Experiments of the paper (allmodes reproduce NAME, or: allmodes reproduce all):\n")
    for name in MODULES:
        found = experiment(name)
        runs = f"{found.runs} runs" if found.runs > 1 else "1 run"
        click.echo(f"  {name:18} {found.title:46} {runs:>8}")


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=console,
        transient=True,
    )  # fmt: skip


def _reporter(bar: Progress) -> Any:
    """Passes (done, total, text) on to one bar."""
    task = bar.add_task("", total=None)

    def report(done: int, total: int, text: str) -> None:
        bar.update(task, completed=done, total=total, description=text)

    return report


def _show(numbers: list[Any]) -> None:
    """Published numbers beside ours, in 80 columns."""
    for number in numbers:
        here, low, high = (f"{value:.{number.digits}f}" for value in (number.here, number.low, number.high))
        shown = here if low == "nan" else f"{here} ({low} to {high})"
        published = f"published {number.published}" if number.published else "not published"
        click.echo(click.wrap_text(number.what, 78))
        click.echo(f"    here {shown}, {published}" + (f": {number.verdict}" if number.verdict else ""))
