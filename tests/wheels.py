"""The wheel with the oldest and the newest of what it supports: Python, NumPy and SciPy. `make wheels` runs this.

    python tests/wheels.py [PYTHON ...]

Interpreters, oldest first, are those that are named, or those of the classifiers in pyproject.toml that are here. The
first gets the lowest versions that pyproject.toml allows, the last one what pip finds.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLE = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", flags=re.DOTALL)


def call(*words: object, **given) -> str:
    """What a command prints; it is an error if it fails."""
    return subprocess.run([*map(str, words)], check=True, capture_output=True, text=True, **given).stdout


def interpreters(project) -> list[str]:
    """Of the versions that are named, oldest first, those that are here and start."""
    named = [text.rpartition(" ")[2] for text in project["classifiers"] if re.search(r":: 3\.\d+$", text)]
    found = [path for path in (shutil.which(f"python{version}") for version in named) if path]
    return [path for path in found if not subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode]


def lowest(project) -> list[str]:
    """Requirements with their lowest versions alone: numpy==2.1.0 for numpy>=2.1."""
    return [f"{text.replace('>=', '==')}.0" for text in project["dependencies"]]


def check(python: str, requirements: list[str], wheel: Path, place: Path) -> str:
    """Install the wheel into a new environment and run README's example there; which versions these were."""
    call(python, "-m", "venv", place / "env")
    inside = place / "env" / "bin" / "python"
    call(inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, *requirements)
    ((code, wanted),) = EXAMPLE.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    (place / "example.py").write_text(code, encoding="utf-8")
    printed = call(inside, "-W", "error", "example.py", cwd=place)
    if printed != wanted:
        raise SystemExit(f"{python} prints\n{printed}\nREADME shows\n{wanted}")
    names = "import numpy, platform, scipy; print(platform.python_version(), numpy.__version__, scipy.__version__)"
    return "Python {}, NumPy {}, SciPy {}".format(*call(inside, "-c", names).split())


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pythons = sys.argv[1:] or interpreters(project)
    with tempfile.TemporaryDirectory() as folder:
        call(sys.executable, "-m", "build", "--outdir", folder, ROOT)
        (wheel,) = Path(folder).glob("*.whl")
        for name, python, pins in (("oldest", pythons[0], lowest(project)), ("newest", pythons[-1], [])):
            place = Path(folder) / name
            place.mkdir()
            print(f"{name}: README's example runs with {check(python, pins, wheel, place)}", flush=True)


if __name__ == "__main__":
    main()
