"""Adapters are there whether or not the tools they speak to are, and say what to install."""

import importlib
import subprocess
import sys

import numpy as np
import pytest

from allmodes.adapters.peers import peer


def test_a_module_of_a_package():
    assert peer("numpy.linalg") is np.linalg


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("pypesto", lambda adapter: adapter.minimize(None)),
        ("lmfit", lambda adapter: adapter.minimize(None, None)),
        ("optimagic", lambda adapter: adapter.AllModes()),
        ("numpyro", lambda adapter: adapter.find_modes(len)),
        ("pymc", lambda adapter: adapter.find_modes()),
    ],
)
def test_a_package_that_is_missing_is_named_when_it_is_needed(name, call, monkeypatch):
    adapter = importlib.import_module(f"allmodes.adapters.{name}")
    for module in [each for each in sys.modules if each.partition(".")[0] == name]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    if hasattr(adapter, "_algorithms"):
        adapter._algorithms.cache_clear()
    with pytest.raises(ImportError, match=rf"this adapter needs {name}: pip install 'allmodes\[{name}\]'"):
        call(adapter)


def test_the_package_of_a_protocol_is_named_by_the_adapter_that_speaks_it(monkeypatch):
    from allmodes.adapters import gest

    for module in [each for each in sys.modules if each.partition(".")[0] == "gest_api"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "gest_api", None)
    gest._generator.cache_clear()
    with pytest.raises(ImportError, match=r"this adapter needs gest_api: pip install 'allmodes\[gest\]'"):
        _ = gest.Generator
    with pytest.raises(AttributeError, match="no attribute 'Generators'"):
        _ = gest.Generators


def test_what_a_package_itself_is_missing_is_said_as_it_is(tmp_path, monkeypatch):
    (tmp_path / "broken_peer.py").write_text("import no_such_module_at_all\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="No module named 'no_such_module_at_all'"):
        peer("broken_peer")


def test_importing_the_adapters_imports_none_of_the_tools():
    code = (
        "import sys\n"
        "from allmodes.adapters import gest, lmfit, numpyro, optimagic, pymc, pypesto, scipy\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "allmodes" in loaded
    tools = {"gest_api", "jax", "lmfit", "optimagic", "pypesto", "pytensor", "xarray", "pandas", "matplotlib"}
    assert not tools & set(loaded)
