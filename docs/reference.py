"""Write the pages that come from the source: the reference, and the map from the paper's labels to functions.

python docs/reference.py     prints the map
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
LABELS = ROOT / "tests" / "unit" / "paper_labels.txt"
_TAG = "Paper: "


@dataclass(frozen=True)
class Page:
    """A page of the reference.

    Attributes:
        name: of its file.
        names: what it describes: functions, classes, and modules for all that is public in them.
    """

    name: str
    title: str
    text: str
    names: tuple[str, ...]


PAGES = (
    Page(
        "finding", "Finding modes", "One call, or the same search as an object, and what both return.",
        ("allmodes.find_minima", "allmodes.find_maxima", "allmodes.find_fits", "allmodes.curve_fit",
         "allmodes.find_roots", "allmodes.audit", "allmodes.ModeFinder", "allmodes.Result", "allmodes.Mode",
         "allmodes.modes.coverage.Coverage", "allmodes.result.History", "allmodes.result.Fit",
         "allmodes.result.Audit", "allmodes.result.Root", "allmodes.result.Barriers", "allmodes.result.Way",
         "allmodes.result.Masses", "allmodes.result.ModeMass", "allmodes.result.Draws", "allmodes.Status",
         "allmodes.report.accessor.Plots", "allmodes.report.page.write_report", "allmodes.hints"),
    ),
    Page(
        "adapters", "Adapters",
        "Other tools' problems in, their results out; [pages](../adapters/index.md) show each at work.",
        ("allmodes.adapters.pypesto.minimize", "allmodes.adapters.lmfit.minimize", "allmodes.adapters.lmfit.fit",
         "allmodes.adapters.lmfit.Fits", "allmodes.adapters.optimagic.Optimum", "allmodes.adapters.scipy.multistart",
         "allmodes.adapters.scipy.Multistart", "allmodes.adapters.scipy.as_optimize_result",
         "allmodes.adapters.numpyro.find_modes", "allmodes.adapters.pymc.find_modes",
         "allmodes.adapters.posterior.PosteriorModes", "allmodes.adapters.gest.FinishedError"),
    ),
    Page(
        "nva", "Natural variational annealing",
        "The namespace `allmodes.nva`: the expert call, the algorithms of the paper, and what a run returns.",
        ("allmodes.nva.anneal", "allmodes.nva.presets", "allmodes.nva.Algorithm", "allmodes.Objective",
         "allmodes.nva.Run", "allmodes.nva.Runs", "allmodes.nva.Trace", "allmodes.nva.Mixture",
         "allmodes.nva.schedules"),
    ),
    Page(
        "parts", "Parts", "What algorithms are made of. [Add a part](../extending.md) shows how to write one.",
        ("allmodes.nva.families", "allmodes.nva.covariances", "allmodes.nva.estimators", "allmodes.nva.proposals",
         "allmodes.nva.utilities", "allmodes.nva.control_variates", "allmodes.nva.updates", "allmodes.nva.namespace"),
    ),
    Page(
        "problems", "Problems and baselines", "Functions whose modes are known, metrics, and methods to compare with.",
        ("allmodes.problems", "allmodes.problems.applications", "allmodes.problems.metrics",
         "allmodes.problems.hapke", "allmodes.problems.gllim", "allmodes.problems.mean_shift", "allmodes.baselines"),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Tagged:
    """Something in the source that carries a `Paper:` line."""

    module: str
    name: str  # empty for the module itself
    text: str
    labels: tuple[str, ...]

    @property
    def path(self) -> str:
        return f"{self.module}.{self.name}" if self.name else self.module


def tagged(source: Path = SOURCE) -> Iterator[Tagged]:
    """All that carries a `Paper:` line, in the order of the files."""
    for path in sorted((source / "allmodes").rglob("*.py")):
        module = ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")
        yield from _tagged_in(ast.parse(path.read_text(encoding="utf-8")), module, "")


def _tagged_in(node: Any, module: str, name: str) -> Iterator[Tagged]:
    docstring = ast.get_docstring(node) or ""
    lines = [line.removeprefix(_TAG) for line in docstring.splitlines() if line.startswith(_TAG)]
    if lines:
        labels = tuple(label.strip() for line in lines for label in line.partition(" (")[0].split(","))
        yield Tagged(module, name, docstring.splitlines()[0], labels)
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef):
            yield from _tagged_in(child, module, f"{name}.{child.name}".strip("."))


def _public(module: ModuleType) -> list[str]:
    """The public names of a module: its `__all__`, or what is defined in it."""
    if hasattr(module, "__all__"):
        return [name for name in module.__all__ if not inspect.ismodule(getattr(module, name))]
    # `power = Power` is the same thing again
    own = {name: thing for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__}
    return [name for name, thing in own.items() if not name.startswith("_") and getattr(thing, "__name__", "") == name]


def _resolve(path: str) -> Any:
    """The object at a dotted path."""
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise LookupError(f"there is nothing at {path}")


def _members(page: Page) -> list[tuple[str, list[str]]]:
    """Sections of a page: a heading and the paths below it."""
    sections: list[tuple[str, list[str]]] = []
    for path in page.names:
        thing = _resolve(path)
        if inspect.ismodule(thing):
            sections.append((path.removeprefix("allmodes."), [f"{path}.{name}" for name in _public(thing)]))
        elif sections and sections[-1][0] == "":
            sections[-1][1].append(path)
        else:
            sections.append(("", [path]))
    return sections


def _directive(path: str) -> str:
    """autodoc of one object."""
    thing = _resolve(path)
    if inspect.ismodule(thing):
        return f"```{{eval-rst}}\n.. automodule:: {path}\n```\n"
    if not inspect.isclass(thing):
        kind = "autofunction" if callable(thing) else "autodata"
        return f"```{{eval-rst}}\n.. {kind}:: {path}\n```\n"
    return f"```{{eval-rst}}\n.. autoclass:: {path}\n   :members:\n```\n"


def _page(page: Page) -> str:
    lines = [f"# {page.title}", "", page.text, ""]
    for heading, paths in _members(page):
        if heading:
            summary = (inspect.getdoc(_resolve(f"allmodes.{heading}")) or "").splitlines()[:1]
            lines += [f"## {heading}", "", *summary, ""]
        lines += [_directive(path) for path in paths]
    return "\n".join(lines)


def documented() -> dict[int, str]:
    """Where each public thing is described: its identity -> its public path."""
    return {id(_resolve(path)): path for page in PAGES for _, paths in _members(page) for path in paths}


def _target(item: Tagged, public: dict[int, str]) -> str | None:
    """The path under which the reference describes it; None if it does not."""
    if not item.name:
        return None
    outer, _, method = item.name.partition(".")
    path = public.get(id(_resolve(f"{item.module}.{outer}")))
    return None if path is None else path + (f".{method}" if method else "")


def _plain(text: str) -> str:
    """Words of a docstring in a cell of a Markdown table."""
    return "".join(f"\\{letter}" if letter in r"|*_<[]" else letter for letter in text)


def equation_map(items: list[Tagged], public: dict[int, str]) -> str:
    """A table: the paper's label, the function, and what it does."""
    places = defaultdict(list)
    for item in items:
        for label in item.labels:
            places[label].append(item)
    rows = ["| label in the paper | in the code | what it does |", "| --- | --- | --- |"]
    for label in sorted(places, key=str.lower):
        for i, item in enumerate(places[label]):
            role = "mod" if not item.name else "obj"
            short = ".".join(filter(None, (item.module.rpartition(".")[2], item.name)))
            link = f"{{py:{role}}}`{short} <{_target(item, public) or item.path}>`"
            rows.append(f"| {f'`{label}`' if i == 0 else ''} | {link} | {_plain(item.text)} |")
    missing = [label for label in LABELS.read_text(encoding="utf-8").split() if label not in places]
    rows += [
        "",
        f"Labels without a function of their own ({len(missing)}): sections, statements and proofs, figures, and",
    ]
    rows += [
        "equations that are steps on the way to one above: " + ", ".join(f"`{label}`" for label in missing) + ".",
        "",
    ]
    return "\n".join(rows)


def _paper_page(items: list[Tagged], public: dict[int, str]) -> str:
    """What carries a label and is not public."""
    paths = dict.fromkeys(item.path for item in items if _target(item, public) is None)
    text = "What carries a label of the paper but is not a public name. It may change without notice."
    return "\n".join(["# The paper's equations, inside", "", text, "", *map(_directive, paths)])


def write(docs: Path) -> None:
    """All generated pages; files that are up to date are left alone, so that builds stay incremental."""
    items, public = list(tagged()), documented()
    pages = {page.name: _page(page) for page in PAGES}
    pages |= {"inside": _paper_page(items, public), "equation-map": equation_map(items, public)}
    folder = docs / "generated"
    folder.mkdir(exist_ok=True)
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.stdout.write(equation_map(list(tagged()), documented()))
