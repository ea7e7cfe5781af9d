"""What `pip install` gives: a wheel made from the source archive, in an environment with nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pages
import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", flags=re.DOTALL)

pytestmark = pytest.mark.slow


def call(*words, **given):
    """Run a command that sees neither this environment nor the sources; the error is shown."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [str(word) for word in words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, **given)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_example_of_the_readme_runs_from_the_wheel(tmp_path):
    """One test: the archive and the wheel are made once."""
    call(sys.executable, "-m", "build", "--outdir", tmp_path / "dist", ROOT)
    (archive,) = (tmp_path / "dist").glob("*.tar.gz")
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    check_contents(archive, wheel)
    venv.create(tmp_path / "env", with_pip=True)
    folder = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin")
    call(folder / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    place = call(folder / "python", "-c", "import allmodes; print(allmodes.__file__)", cwd=tmp_path)
    assert Path(place.strip()).is_relative_to(tmp_path / "env")
    ((code, wanted),) = EXAMPLE.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    (tmp_path / "example.py").write_text(code, encoding="utf-8")
    printed = call(folder / "python", "example.py", cwd=tmp_path)
    assert pages.agree(wanted, printed), printed
    told = subprocess.run([folder / "allmodes"], capture_output=True, text=True, check=False)
    assert told.stderr == "the command allmodes needs click: pip install 'allmodes[cli]'.\n"


def check_contents(archive, wheel):
    """Tests and documentation are in the archive alone; the experiments and their settings are in the wheel."""
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {"CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "docs/conf.py"} <= names
    assert not {name for name in names if "__pycache__" in name or name.endswith(".pyc")}
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / "allmodes").rglob("*.py")}
    assert sources <= names
    assert {"allmodes/py.typed", "allmodes/reproduce/hapke.toml", "allmodes/report/page/templates/page.html"} <= names
    assert "allmodes/problems/applications/known.json" in names
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"allmodes"}
