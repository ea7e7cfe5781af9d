"""python -m allmodes: the command."""

from allmodes.cli import main

if __name__ == "__main__":
    main(prog_name="allmodes")
