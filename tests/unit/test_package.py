"""The package as a whole: what importing it costs, its doctests, and its references to the paper."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import allmodes

# Every label and tag of the paper's LaTeX source, one per line.
LABELS = set((Path(__file__).parent / "paper_labels.txt").read_text(encoding="utf-8").split())
SOURCES = sorted(Path(allmodes.__file__).parent.rglob("*.py"))
MODULES = ["allmodes", *(found.name for found in pkgutil.walk_packages(allmodes.__path__, "allmodes."))]


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_importing_the_package_imports_neither_jax_nor_matplotlib():
    loaded = set(run_python("import sys, allmodes; print(*sorted(sys.modules))"))
    assert {"allmodes", "allmodes.nva.engine.anneal", "numpy"} <= loaded
    heavy = {"jax", "jaxlib", "matplotlib", "pandas", "torch", "click", "rich", "cma", "ioh", "jinja2", "plotly"}
    assert not {name for name in loaded if name.split(".")[0] in heavy}
    assert "scipy.stats" not in loaded  # it takes longer than all the rest


def test_a_run_in_numpy_imports_neither_jax_nor_matplotlib():
    code = (
        "import sys\n"
        "from allmodes import nva\n"
        "run = nva.anneal(lambda x: -(x**2).sum(), algorithm=nva.presets.fs_nva_gm(), means=[[1.0]], covariances=1.0,\n"
        "                 temperature=1.0, learning_rate=0.1, steps=3, rng=0)\n"
        "repr(run)\n"
        "print(*sorted(sys.modules))"
    )
    assert not {"jax", "matplotlib"} & set(run_python(code))


def test_every_public_name_is_there():
    assert len(set(allmodes.__all__)) == len(allmodes.__all__)
    for name in allmodes.__all__:
        assert getattr(allmodes, name) is not None
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", allmodes.__version__)


def test_the_top_level_is_small():
    names = {
        "find_minima",
        "find_maxima",
        "find_fits",
        "find_roots",
        "curve_fit",
        "ModeFinder",
        "Result",
        "Mode",
        "Status",
        "Objective",
        "audit",
    }
    assert set(allmodes.__all__) == names | {"nva", "problems", "baselines"}


MOVED = ["anneal", "presets", "Algorithm", "Run", "Runs", "Trace", "schedules", "proposals", "estimators", "updates"]


@pytest.mark.parametrize("name", [*MOVED, "utilities", "control_variates", "families", "covariances"])
def test_names_of_the_engine_that_moved_still_work_with_a_warning(name):
    with pytest.warns(DeprecationWarning, match=rf"^allmodes\.{name} is now allmodes\.nva\.{name}; ") as caught:
        found = getattr(allmodes, name)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found is getattr(allmodes.nva, name)
    assert name not in allmodes.__all__
    assert name in allmodes.nva.__all__


def test_old_names_can_be_imported_and_unknown_ones_are_said():
    with pytest.warns(DeprecationWarning, match=r"allmodes\.nva\.presets"):
        from allmodes import presets
    assert presets is allmodes.nva.presets
    with pytest.raises(AttributeError, match="module 'allmodes' has no attribute 'find_saddles'"):
        allmodes.find_saddles  # noqa: B018
    assert not hasattr(allmodes, "Mixture")  # was never here


def test_what_new_parts_are_made_of_is_public():
    nva = allmodes.nva
    bases = [
        nva.estimators.Estimator, nva.estimators.ScoreEstimator, nva.families.Family, nva.families.ExponentialFamily,
        nva.covariances.Covariance, nva.covariances.Elementwise, nva.schedules.Schedule, nva.utilities.Utility,
        nva.control_variates.ControlVariate, nva.proposals.Proposal,
    ]  # fmt: skip
    assert all(inspect.isabstract(base) for base in bases)
    assert nva.namespace(np.zeros(1)) is np


@pytest.mark.parametrize("name", MODULES)
def test_public_names_of_a_module_exist(name):
    module = importlib.import_module(name)
    for public in getattr(module, "__all__", ()):
        try:
            is_there = hasattr(module, public)
        except ImportError as error:  # of a class made of a tool's own, where the tool is not installed
            is_there = name.startswith("allmodes.adapters.") and "this adapter needs" in str(error)
        assert is_there


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0


def test_there_are_doctests():
    """The test above would pass without any."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    counted = {name: sum(len(test.examples) for test in finder.find(importlib.import_module(name))) for name in MODULES}
    assert sum(counted.values()) >= 15
    assert counted["allmodes.nva.engine.anneal"] >= 3


def docstrings(path):
    """Every docstring of a source file, also those of private functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            text = ast.get_docstring(node)
            if text:
                yield text


def tags(text):
    """The labels in the lines `Paper: label, label (a note)` of a docstring."""
    for line in re.findall(r"^\s*Paper: (.*)$", text, flags=re.MULTILINE):
        yield from (tag.strip() for tag in re.sub(r"\([^)]*\)", "", line).split(","))


CITED = [(path.name, tag) for path in SOURCES for text in docstrings(path) for tag in tags(text)]


@pytest.mark.parametrize(("file", "tag"), sorted(set(CITED)))
def test_references_to_the_paper_name_labels_that_exist(file, tag):
    assert tag in LABELS


def test_tags_are_read_as_they_are_written():
    text = "One line.\n\n    Paper: eq:one, G_mu-bb (a note, with a comma)\n\nPaper: alg:two"
    assert list(tags(text)) == ["eq:one", "G_mu-bb", "alg:two"]
    assert "eq:no_such_label" not in LABELS


def test_the_main_equations_are_cited():
    """Estimators, algorithms and the decomposition they rest on each have a place in the code."""
    cited = {tag for _, tag in CITED}
    estimators = {"G_pi", "G_mu-bb", "G_Sigma-bb", "G_mu-grad", "G_Sigma-grad", "G_Sigma-hess", "G_mu-fs", "G_Sigma-fs"}
    algorithms = {"alg:snga", "alg:snga_annealing", "alg:snga_annealing_gaussian", "alg:snga_annealing_utility"}
    assert estimators | algorithms | {"eq:potential_decomposition", "prop:grad_hess_logmixture"} <= cited


def test_every_mention_of_the_paper_is_a_tag():
    """A misspelt `Paper` line would not be seen by the tests above."""
    for path in SOURCES:
        for text in docstrings(path):
            for line in text.splitlines():
                if re.match(r"\s*paper\s*:", line, flags=re.IGNORECASE):
                    assert re.match(r"\s*Paper: \S", line), (path.name, line)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_modules_say_what_they_are(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_the_package_is_typed():
    assert (Path(allmodes.__file__).parent / "py.typed").exists()
