"""Run what the pages show: every block of code, in order, and compare what it prints with what the page says.

    python docs/pages.py PAGE.md ...             run pages; pictures that they make are put beside them
    python docs/pages.py --update PAGE.md ...    and write what they print now into them

A page is one Python session in an empty directory. How blocks are understood:

    python      runs; one that begins with the comment "# NAME.py" becomes that file instead
    toml        becomes the file named in its first line
    text        what the block before it prints
    console     lines after "$ " are commands, the others what they print; if nothing is shown nothing is compared
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
# Pages with tests of their own (a terminal, an engine for every block), and one that a command writes.
APART = ("session.md", "workers.md", "reproduction.md")
# Packages that pages about adapters show; without them these pages are not run.
PEERS = frozenset(
    {"arviz", "gest_api", "libensemble", "lmfit", "mpmath", "numpyro", "optimagic", "pymc", "pypesto", "torch"}
)
_FILE = re.compile(r"# (\S+\.(?:py|toml))\n")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_TINY = 1e-9  # rounding errors around zero are as good as zero
_COUNT = 0.05  # share by which counts of evaluations may differ: rounding differs between processors
_COLOURS = 128  # of a picture that is kept


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the lines of the page that hold the text."""

    language: str
    text: str
    first: int
    last: int


def blocks(text: str) -> list[Block]:
    """The blocks of code of a page, without documentation directives. An indented block has no language."""
    found = []
    for token in MarkdownIt().parse(text):
        if token.type in ("fence", "code_block") and not token.info.startswith("{"):
            first, last = token.map or (0, 0)
            found.append(Block(token.info.partition(" ")[0], token.content, first + 1, last - 1))
    return found


def pages() -> list[Path]:
    """Every page whose blocks are run here: README and docs, but those in APART."""
    found = [path for path in DOCS.glob("*.md") if path.name not in APART]
    return [ROOT / "README.md", *sorted(found), *sorted(DOCS.glob("gallery/*.md")), *sorted(DOCS.glob("adapters/*.md"))]


def needs_torch(path: Path) -> bool:
    return any("import torch" in block.text for block in blocks(path.read_text(encoding="utf-8")))


def missing(path: Path) -> list[str]:
    """The tools that a page speaks to and that are not installed: it is not run then."""
    code = "\n".join(block.text for block in blocks(path.read_text(encoding="utf-8")) if block.language == "python")
    named = set(re.findall(r"^(?:import|from) (\w+)", code, flags=re.MULTILINE))
    return sorted(name for name in named & PEERS if importlib.util.find_spec(name) is None)


@dataclass
class Shown:
    """What a page shows as printed, and what is printed now."""

    where: str
    wanted: str
    got: str
    block: Block

    @property
    def agrees(self) -> bool:
        return agree(self.wanted, self.got)


@dataclass
class Session:
    """A page being run in a directory."""

    page: Path
    folder: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "page"})
    printed: str | None = None

    def run(self) -> Iterator[Shown]:
        """Run all blocks; yields what is shown as printed."""
        for block in blocks(self.page.read_text(encoding="utf-8")):
            where = f"{self.page.name}, line {block.first + 1}"
            if block.language == "text":
                if self.printed is None:
                    raise ValueError(f"{where}: a block of text that follows no block of Python")
                yield Shown(where, block.text, self.printed, block)
                self.printed = None
            elif block.language == "console":
                yield from self._console(block, where)
            elif block.language in ("python", "toml"):
                self._python(block, where)
            elif block.language == "bibtex":
                if block.text.count("{") != block.text.count("}"):
                    raise ValueError(f"{where}: braces do not match")
            else:
                raise ValueError(f"{where}: a block of {block.language or 'nothing'!r}; nothing would check it")

    def _python(self, block: Block, where: str) -> None:
        named = _FILE.match(block.text)
        self.printed = None
        if named:
            (self.folder / named[1]).write_text(block.text, encoding="utf-8")
        elif block.language == "toml":
            raise ValueError(f"{where}: toml without a first line '# NAME.toml'")
        else:
            out = io.StringIO()
            # lines keep their numbers: a traceback names the line of the page
            code = compile("\n" * block.first + block.text, str(self.page), "exec", dont_inherit=True)
            with contextlib.redirect_stdout(out):
                exec(code, self.names)
            self.printed = out.getvalue()

    def _console(self, block: Block, where: str) -> Iterator[Shown]:
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, _, wanted = part.partition("\n")
            got = command_output(shlex.split(command, comments=True), self.folder)
            if wanted.strip():
                yield Shown(f"{where}: {command}", wanted, got, block)


def command_output(words: list[str], folder: Path) -> str:
    """Run a command that a page shows. Those that install or build are checked against the project's files."""
    match words:
        case ["pip", "install", *what]:
            extras = re.findall(r"\[([^]]*)\]", " ".join(what))
            known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
            unknown = {name for group in extras for name in group.split(",")} - set(known["optional-dependencies"])
            if unknown:
                raise ValueError(f"there is no extra {', '.join(sorted(unknown))}")
            return ""
        case ["make", *targets]:
            makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
            for target in targets:
                if not re.search(rf"^{re.escape(target)}:", makefile, flags=re.MULTILINE):
                    raise ValueError(f"the Makefile has no target {target}")
            return ""
        case ["allmodes", *arguments]:
            command = [sys.executable, "-c", "from allmodes.cli import main; main()", *arguments]
        case ["python", *arguments]:
            command = [sys.executable, *arguments]
        case _:
            raise ValueError(f"a page shows the command {shlex.join(words)!r}, which nothing checks")
    found = importlib.util.find_spec("allmodes")  # commands run the same source as the page
    source = Path(found.origin).parents[1] if found and found.origin else ROOT / "src"
    environment = os.environ | {"COLUMNS": "80", "NO_COLOR": "1", "PYTHONPATH": str(source)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(words)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def agree(wanted: str, got: str) -> bool:
    """The same words; numbers up to one unit of the last digit shown, counts of 20 and more up to 5 %."""
    pairs = [([*_NUMBER.finditer(text)], "".join(_NUMBER.sub("0", text).split())) for text in (wanted, got)]
    (numbers, words), (others, other_words) = pairs
    if words != other_words or len(numbers) != len(others):
        return False
    return all(_is_close(a[0], b[0]) for a, b in zip(numbers, others, strict=True))


def _is_close(a: str, b: str) -> bool:
    x, y = float(a), float(b)
    if a == b or max(abs(x), abs(y)) < _TINY:
        return True
    if re.fullmatch(r"\d+", a) and re.fullmatch(r"\d+", b):
        return min(x, y) >= 20 and abs(x - y) <= _COUNT * max(x, y)
    return abs(x - y) <= 1.01 * max(_unit(a), _unit(b))


def _unit(number: str) -> float:
    """One unit of the last digit of a number as it is written."""
    mantissa, _, exponent = number.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    return float(10.0 ** (int(exponent or 0) - digits))


def pictures(text: str) -> list[str]:
    """The files that a page shows as pictures, beside it."""
    return re.findall(r"!\[[^]]*\]\((\w[\w.-]*\.png)\)", text)


def keep_picture(made: Path, kept: Path) -> None:
    """Copy a picture with a palette of few colours, which is a third of the size."""
    from PIL import Image

    Image.open(made).convert("RGB").quantize(_COLOURS).save(kept, optimize=True)


def update(page: Path, shown: list[Shown]) -> None:
    """Write what is printed now into the page; commands keep what is shown of them."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for item in reversed([item for item in shown if item.block.language == "text" and item.wanted != item.got]):
        lines[item.block.first : item.block.last] = item.got.rstrip("\n").split("\n")
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    wrong = 0
    for page in [Path(name).resolve() for name in arguments if name != "--update"]:
        if missing(page):
            sys.stdout.write(f"{page.name}: not run, without {', '.join(missing(page))}\n")
            continue
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            begun = time.perf_counter()
            shown = list(Session(page, Path(folder)).run())
            seconds = time.perf_counter() - begun
            for name in pictures(page.read_text(encoding="utf-8")):
                if Path(folder, name).exists():
                    keep_picture(Path(folder, name), page.parent / name)
        differing = [item for item in shown if not item.agrees]
        if "--update" in arguments:
            update(page, shown)
        else:
            wrong += len(differing)
        sys.stdout.write(f"{page.name}: {seconds:.1f} s, {len(differing)} of {len(shown)} outputs differ\n")
        for item in differing:
            sys.stdout.write(f"--- {item.where}, shown:\n{item.wanted}--- printed:\n{item.got}")
    return 1 if wrong else 0


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")
    raise SystemExit(main(sys.argv[1:]))
