"""allmodes completion"""

from __future__ import annotations

import click

_INSTALL = {
    "bash": "# Add to ~/.bashrc:  eval \"$(allmodes completion bash)\"",
    "zsh": "# Add to ~/.zshrc:  eval \"$(allmodes completion zsh)\"",
    "fish": "# Write to a file:  allmodes completion fish > ~/.config/fish/completions/allmodes.fish",
}  # fmt: skip


@click.command("completion", short_help="Print a script for completion in a shell.")
@click.argument("shell", metavar="SHELL", type=click.Choice(sorted(_INSTALL)))
def completion_command(shell: str) -> None:
    """Print what makes a shell complete commands, options, problems and kinds of plots. SHELL is bash, fish or zsh.

    \b
    Example:
      eval "$(allmodes completion bash)"
    """
    from click.shell_completion import get_completion_class

    root = click.get_current_context().find_root().command
    found = get_completion_class(shell)
    assert found is not None
    script = found.source_template % found(root, {}, "allmodes", "_ALLMODES_COMPLETE").source_vars()
    click.echo(f"{_INSTALL[shell]}\n{script}")
