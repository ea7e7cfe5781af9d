"""The keys under which files know classes do not change by accident."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import pytest

import allmodes
from allmodes.storage import STATE_VERSION
from allmodes.storage.registry import class_of, key_of

FILE = Path(__file__).parent / "storage_keys.txt"
FIRST, *LISTED = FILE.read_text(encoding="utf-8").split("\n")[:-1]
ADVICE = (
    "When a class is renamed or moved, give it its old key: @stored(formerly=(...,)). When a class is gone, or means "
    "something else, raise STATE_VERSION in storage/files.py. Then run `python tests/unit/test_storage_keys.py`, "
    f"which writes {FILE.name} anew."
)


def stored_keys() -> list[str]:
    """The keys of all stored classes of the package."""
    modules = [importlib.import_module(found.name) for found in pkgutil.walk_packages(allmodes.__path__, "allmodes.")]
    classes = {each for module in modules for each in vars(module).values() if isinstance(each, type)}
    return sorted(key for each in classes if each.__module__.startswith("allmodes.") and (key := key_of(each)))


def test_the_list_is_of_this_state_version():
    assert f"STATE_VERSION {STATE_VERSION}" == FIRST, f"{FILE.name} is of another version. {ADVICE}"


def test_the_list_is_in_order():
    assert sorted(set(LISTED)) == LISTED


@pytest.fixture(scope="module")
def keys():
    return stored_keys()


def test_every_key_that_files_may_have_is_known(keys):
    unknown = []
    for key in LISTED:
        try:
            class_of(key)
        except ValueError:
            unknown.append(key)
    assert not unknown, f"files may have these keys, which no class has now: {', '.join(unknown)}. {ADVICE}"


def test_every_key_is_listed(keys):
    new = sorted(set(keys) - set(LISTED))
    assert not new, f"these keys are not in {FILE.name}: {', '.join(new)}. {ADVICE}"


if __name__ == "__main__":
    FILE.write_text("\n".join([f"STATE_VERSION {STATE_VERSION}", *stored_keys()]) + "\n", encoding="utf-8")
