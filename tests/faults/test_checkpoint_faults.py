"""Files that are damaged, foreign or cannot be written: said clearly, left alone, and no run is lost."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest

from allmodes import ModeFinder, Status, find_minima
from allmodes.storage import files

BOX = [(-2.0, 2.0), (-2.0, 2.0)]
KILOBYTE = 1024


def wells(x):
    return (x[0] ** 2 - 1.0) ** 2 + x[1] ** 2


def content(result):
    modes = [(mode.x.tobytes(), mode.fun, mode.hits) for mode in result.modes]
    return result.x.tobytes(), result.fun, result.nfev, result.nit, result.status, modes


def search(path, maxfev=80):
    return find_minima(wells, BOX, rng=1, maxfev=maxfev, checkpoint=path)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.ckpt"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a good checkpoint."""
    path = tmp_path_factory.mktemp("good") / "run.ckpt"
    search(path)
    return path.read_bytes()


# ---- what is damaged


def refused(path, content, match=r"run\.ckpt"):
    """A file with this content is refused by name, and left as it is."""
    path.write_bytes(content)
    with pytest.raises(ValueError, match=match) as error:
        ModeFinder.load(path)
    assert path.read_bytes() == content
    return str(error.value)


def test_every_truncation_in_the_first_and_last_kilobyte(path, whole):
    lengths = [*range(KILOBYTE), *range(len(whole) - KILOBYTE, len(whole))]
    for length in lengths:
        refused(path, whole[:length])


def test_random_bytes_flipped(path, whole):
    """Noticed, or in one of the few bytes that say nothing about what a zip file holds, such as time stamps."""
    rng = np.random.default_rng(0)
    original = ModeFinder.load(written(path, whole))
    noticed = 0
    for _ in range(300):
        flipped = bytearray(whole)
        flipped[int(rng.integers(len(whole)))] ^= int(rng.integers(1, 256))
        path.write_bytes(flipped)
        try:
            found = ModeFinder.load(path)
        except ValueError as error:
            noticed += "run.ckpt" in str(error)
        else:
            assert content(found.result) == content(original.result)
        assert path.read_bytes() == flipped
    assert noticed > 250


def written(path, content):
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (lambda whole: whole[:-100], "is not a whole file saved by allmodes: found something else than an npz file"),
        (lambda whole: b"", "found something else than an npz file, or a part of one"),
        (lambda whole: b"# notes of mine\n" * 100, "found something else than an npz file"),
        (lambda whole: whole[:3000] + b"?" + whole[3001:], "is not a whole file saved by allmodes"),
    ],
)
def test_the_search_says_what_was_found_and_what_to_do(path, whole, damage, found):
    path.write_bytes(damage(whole))
    before = path.read_bytes()
    with pytest.raises(ValueError, match=found) as error:
        search(path)
    assert "run.ckpt" in str(error.value)
    assert "The file is left as it is: move it away, or pass another checkpoint, to begin anew." in str(error.value)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["run.ckpt"]


def test_a_good_previous_file_is_mentioned_and_can_be_used(path):
    expected = search(path, 120)
    path.unlink()
    search(path)
    previous = path.with_name("run.ckpt.previous")
    assert ModeFinder.load(previous).nfev <= ModeFinder.load(path).nfev
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"run\.ckpt\.previous, is whole \(\d+ evaluations\): copy it over this one"):
        search(path)
    previous.replace(path)
    assert search(path, 120).nfev == expected.nfev


def test_what_was_chosen_for_a_small_budget_is_resumed_with_a_larger_one(path):
    calls = []

    def counted(x):
        calls.append(tuple(x))
        return wells(x)

    assert find_minima(counted, BOX, rng=1, maxfev=40, checkpoint=path).method == "surrogate"
    assert len(calls) == 40
    result = find_minima(counted, BOX, rng=1, maxfev=120, checkpoint=path)
    assert result.method == "auto"
    assert len(calls) <= 120
    assert len(set(calls)) == len(calls) - 1  # one point is evaluated twice, to see whether there is noise
    with pytest.raises(ValueError, match=r"method='auto'; this one has 'local'"):
        find_minima(wells, BOX, rng=1, maxfev=120, checkpoint=path, method="local")


def test_the_file_of_another_program_or_of_another_kind_is_refused(path):
    with open(path, "wb") as file:
        np.savez(file, x=np.zeros(3))
    with pytest.raises(ValueError, match=r"found no header, only \['x'\].* The file is left as it is"):
        search(path)
    path.unlink()
    result = search(path)
    result.save(path)
    with pytest.raises(ValueError, match="holds a result; a mode finder was wanted"):
        search(path)


def test_a_search_of_another_allmodes_goes_on_with_a_warning(path, monkeypatch):
    """Its state means the same here; what the search makes of it may differ."""
    monkeypatch.setattr(files, "_installed", lambda: {"allmodes": "0.0.7", "numpy": "2", "scipy": "1", "python": "3"})
    search(path)
    monkeypatch.undo()
    said = r"^the checkpoint .*run\.ckpt was saved by allmodes 0\.0\.7, and this is allmodes \S+: the search goes on"
    for attempt in (ModeFinder.load, search):
        with pytest.warns(RuntimeWarning, match=said):
            attempt(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search(path)  # it was saved by this one meanwhile


def test_a_search_of_another_state_version_is_refused_and_left_alone(path, monkeypatch):
    """Its modes are a warm start for the one that begins anew."""
    monkeypatch.setattr(files, "STATE_VERSION", 1)
    old = search(path, maxfev=120)
    monkeypatch.undo()
    before = path.read_bytes()
    said = r"run\.ckpt was saved by allmodes \S+ with state version 1; this allmodes \S+ reads version 7\. Load it with"
    for attempt in (ModeFinder.load, search):
        with pytest.raises(ValueError, match=said):
            attempt(path)
    assert path.read_bytes() == before
    known = [mode.x for mode in old.modes], [mode.fun for mode in old.modes]
    assert len(find_minima(wells, BOX, rng=2, maxfev=240, warm_start=known).modes) >= len(old.modes)


class Trap:
    """A pickle that leaves a trace when it is read."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return (os.mkdir, (str(self.trace),))


@pytest.mark.parametrize("where", ["header", "tree", "float64", "added", "instead"])
def test_a_smuggled_pickle_is_never_executed(path, whole, tmp_path, where):
    trace = tmp_path / "executed"
    trap = io.BytesIO()
    np.lib.format.write_array(trap, np.array([Trap(trace)], dtype=object), allow_pickle=True)
    if where == "instead":
        smuggled = trap.getvalue()
    else:
        buffer = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(whole)) as source, zipfile.ZipFile(buffer, "w") as target:
            for name in source.namelist():
                target.writestr(name, trap.getvalue() if name == f"{where}.npy" else source.read(name))
            if where == "added":
                target.writestr("object.npy", trap.getvalue())
        smuggled = buffer.getvalue()
    said = refused(path, smuggled)
    assert "pickled objects" in said or "something else" in said
    assert not trace.exists()
    np.load(io.BytesIO(trap.getvalue()), allow_pickle=True)  # the trap works
    assert trace.exists()


def test_a_small_file_that_unfolds_to_a_large_one_is_refused_unread(path, whole):
    """Compressed entries, entries that lie on each other, and arrays that claim more than there is."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.npy", bytes(50_000_000))
    refused(path, buffer.getvalue(), r"the compressed entry header\.npy; allmodes does not compress")
    refused(path, overlapping(whole, 40), r"found entries that claim \d+ bytes in a file of \d+")
    buffer = io.BytesIO(whole)
    with zipfile.ZipFile(buffer, "a") as archive:
        claim = io.BytesIO()
        np.lib.format.write_array_header_1_0(claim, {"descr": "<f8", "fortran_order": False, "shape": (10**9,)})
        archive.writestr("int8.npy", claim.getvalue())
    refused(path, buffer.getvalue(), r"found 0 bytes in int8\.npy, which claims 8000000000")


def overlapping(whole, times):
    """A zip file whose directory lists the same entries again and again."""
    buffer = io.BytesIO(whole)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.filelist *= times
        archive._didModify = True
    return buffer.getvalue()


def test_arrays_that_share_their_numbers_are_refused(path):
    """Each would be a copy: a tree of a megabyte could ask for a gigabyte."""
    pool = np.zeros(1000)
    node = {"array": ["float64", 0, [1000], "C"]}
    arrays = {"tree": files._as_bytes({"value": [node] * 2, "objects": []}), "float64": pool}
    header = {"format": files.FORMAT, "format_version": files.FORMAT_VERSION, "kind": "mode finder"}
    header["state_version"] = files.STATE_VERSION
    header["sha256"] = files._checksum(header, arrays)
    np.savez(path, header=files._as_bytes(header), **arrays)
    os.rename(path.with_name("run.ckpt.npz"), path)
    with pytest.raises(ValueError, match="arrays of float64 are together larger than what is stored"):
        ModeFinder.load(path)


# ---- what cannot be written


class Full:
    """A disk with room for so many bytes: a file on it takes what fits and then fails."""

    def __init__(self, room):
        self.room = room

    def __call__(self, *args, **kwargs):
        file = open(*args, **kwargs)  # noqa: SIM115  (closed by what is returned)
        write = file.write
        disk = self

        class Limited:
            def __enter__(self):
                return self

            def __exit__(self, *error):
                file.close()

            def __getattr__(self, name):
                return getattr(file, name)

            def write(self, content):
                fitting = min(len(content), disk.room)
                disk.room -= fitting
                write(bytes(content)[:fitting])
                if fitting < len(content):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        return Limited() if "x" in args[1] else file


@pytest.mark.parametrize("room", [0, 1, 1000, 20_000])
def test_a_full_disk_is_a_warning_and_the_result_is_whole(path, monkeypatch, room):
    expected = find_minima(wells, BOX, rng=1, maxfev=60)
    monkeypatch.setattr(files, "open", Full(room), raising=False)
    with pytest.warns(RuntimeWarning, match=r"run\.ckpt could not be written: .*No space left") as caught:
        result = find_minima(wells, BOX, rng=1, maxfev=60, checkpoint=path, options={"checkpoint_every": 1e-9})
    assert len(caught) == 1  # not one for every attempt
    assert content(result) == content(expected)
    assert [name for name in os.listdir(path.parent) if name.endswith(".tmp")] == []


def test_a_disk_that_fills_up_keeps_the_last_whole_file(path, monkeypatch):
    first = search(path)
    before = path.read_bytes()
    monkeypatch.setattr(files, "open", Full(100), raising=False)
    with pytest.warns(RuntimeWarning, match="what was written before is still there"):
        second = search(path, 120)
    assert second.nfev == 120
    assert path.read_bytes() == before
    monkeypatch.undo()
    assert content(search(path)) == content(first)


def test_it_warns_again_when_there_was_room_in_between(path, monkeypatch):
    monkeypatch.setattr(files, "open", Full(0), raising=False)
    calls = []

    def callback(intermediate_result):
        calls.append(None)
        files.open.room = 10**9 if len(calls) == 2 else 0

    with pytest.warns(RuntimeWarning) as caught:
        find_minima(
            wells, BOX, rng=1, maxfev=60, checkpoint=path, callback=callback, options={"checkpoint_every": 1e-9}
        )
    assert len(caught) == 2
    assert path.exists()


LIMITED = """
import json, resource, sys, warnings
from allmodes import find_minima
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    result = find_minima(lambda x: (x[0] ** 2 - 1.0) ** 2 + x[1] ** 2, [(-2.0, 2.0)] * 2, rng=1, maxfev=90,
                         checkpoint=sys.argv[1])
print(json.dumps([result.nfev, result.fun, len(result.modes), [str(warning.message) for warning in caught]]))
"""


def test_the_system_refuses_to_write_more(path):
    """A limit on the size of files, as from a quota: the error comes from the system itself."""
    expected = find_minima(wells, BOX, rng=1, maxfev=90)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path), "4096"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    nfev, fun, modes, said = json.loads(done.stdout)
    assert (nfev, fun, modes) == (expected.nfev, expected.fun, len(expected.modes))
    assert len(said) == 1
    assert "File too large" in said[0]
    assert os.listdir(path.parent) == []


def test_a_directory_that_does_not_exist_is_said_before_anything_is_evaluated(tmp_path):
    calls = []
    with pytest.raises(FileNotFoundError, match=r"checkpoint is .*run\.ckpt; the directory .*nowhere does not exist"):
        find_minima(lambda x: calls.append(x), BOX, checkpoint=tmp_path / "nowhere" / "run.ckpt")
    assert calls == []


def test_leftovers_of_killed_processes_are_removed_and_nothing_else(path):
    gone = [".run.ckpt.0123abcd.tmp", ".run.ckpt.previous.0123abcd.tmp"]
    kept = [".run.ckpt.tmp", ".run.ckpt.0123abcg.tmp", ".other.ckpt.0123abcd.tmp", "run.ckpt.0123abcd.tmp"]
    for name in gone + kept:
        path.with_name(name).write_bytes(b"half")
    search(path)
    assert set(os.listdir(path.parent)) == {*kept, "run.ckpt", "run.ckpt.previous"}


def test_without_links_the_previous_file_is_a_copy(path, monkeypatch):
    def none(*args):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    search(path)
    first = path.read_bytes()
    monkeypatch.setattr(os, "link", none)
    search(path, 120)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert path.with_name("run.ckpt.previous").read_bytes() == first
    assert ModeFinder.load(path).nfev == 120


def test_a_saved_search_says_what_it_is_without_allmodes(path):
    search(path)
    with np.load(path, allow_pickle=False) as archive:
        header = json.loads(archive["header"].tobytes())
    assert header["kind"] == "mode finder"
    assert header["note"].startswith("80 evaluations, ")
    assert (header["settings"]["maxfev"], header["settings"]["method"]) == (80, "auto")
    assert {"allmodes", "numpy", "scipy", "python", "sha256"} <= set(header)


def test_a_search_that_cannot_be_stored_is_refused_before_anything_is_evaluated(path):
    from allmodes.nva import presets

    class Own(np.random.PCG64):
        """Not NumPy's own."""

    calls = []
    with pytest.raises(TypeError, match="only NumPy's own can be stored"):
        find_minima(
            lambda x: calls.append(x), BOX, checkpoint=path, rng=np.random.Generator(Own(1)), method=presets.nva_gm(0)
        )
    assert calls == []
    assert find_minima(wells, BOX, rng=1, maxfev=30, checkpoint=path).status is not Status.INTERRUPTED


@pytest.mark.parametrize(
    "other", [{"rng": 6}, {"xtol": 1e-5}, {"options": {"width": 4}}, {"x0": [[0.5, 0.5]]}, {"noise": 0.1}]
)
def test_another_setting_is_refused_and_the_file_is_left_alone(other, tmp_path):
    path = tmp_path / "run.ckpt"
    given = {"rng": 5, "maxfev": 60, "checkpoint": path}
    find_minima(lambda x: float((x**2).sum()), [(-3.0, 3.0)] * 2, **given)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"holds a search with .*Use another file"):
        find_minima(lambda x: float((x**2).sum()), [(-3.0, 3.0)] * 2, **given | other)
    assert path.read_bytes() == before


def test_a_directory_is_no_checkpoint(tmp_path):
    with pytest.raises(IsADirectoryError, match="a directory; wanted a file"):
        find_minima(lambda x: float((x**2).sum()), [(-3.0, 3.0)] * 2, checkpoint=tmp_path)
