"""allmodes fit, roots"""

from __future__ import annotations

from typing import Any

import click

from allmodes.cli import exits
from allmodes.cli.aliases import Understanding
from allmodes.cli.find import search, searching


@click.command("fit", cls=Understanding, short_help="Find every explanation of data.", epilog=exits.TEXT)
@click.argument("target", metavar="FUN")
@click.argument("data", required=False, type=click.Path())
@searching("fit")
def fit_command(target: str, data: str | None, **chosen: Any) -> None:
    """Find every explanation of data: all parameters that fit well, with their errors.

    FUN is FILE.py:FUNCTION, or a settings file run.toml with the options below as keys. Without DATA the function
    is of a point (d,) and returns the residuals (m,). With DATA, a file with columns x, y and perhaps the error of y,
    it is a curve: of x (m,) and each parameter, and returns (m,).

    \b
    Examples:
      allmodes fit model.py:residuals --bounds 0:6,0:6
      allmodes fit model.py:decay data.csv --bounds 0:6,0:6
    """
    search("fit", target, data=data, **chosen)


@click.command("roots", cls=Understanding, short_help="Find every root of equations.", epilog=exits.TEXT)
@click.argument("target", metavar="FUN")
@searching("roots")
def roots_command(target: str, **chosen: Any) -> None:
    """Find every root of a system of equations F(x) = 0, with a proof for each where one can be had.

    FUN is FILE.py:FUNCTION (of a point (d,), returns (m,)), or a settings file run.toml with the options below as
    keys. A proof needs a function of arithmetic and NumPy's functions alone.

    \b
    Example:
      allmodes roots model.py:equations --bounds -3:3,-3:3
    """
    search("roots", target, **chosen)
