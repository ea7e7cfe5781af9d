"""python -m allmodes.cli"""

from allmodes.cli import main

main(prog_name="allmodes")
