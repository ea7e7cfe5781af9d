"""Saving plain state: everything comes back exactly, nothing else is taken, damage is noticed."""

import io
import json
import math
import os
import zipfile
from dataclasses import dataclass, field, make_dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import pytest

import allmodes
from allmodes import Status
from allmodes.storage import STATE_VERSION, files, load, pack, save, stored, unpack


@stored
@dataclass
class Part:
    """A mutable class, to be shared, with something that is not stored."""

    name: str
    other: Any = None
    cache: Any = field(default=None, metadata={"stored": False})
    log: list[int] = field(default_factory=lambda: [7], metadata={"stored": False})


@stored
@dataclass(frozen=True, slots=True)
class Frozen:
    """A class that checks what it is given, once."""

    x: Any
    made: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "made", self.made + 1)


@stored
class Pair(NamedTuple):
    """A named tuple with a default."""

    first: Any
    second: Any = 2


@stored
class Colour(Enum):
    """An enum that is not of numbers."""

    RED = "r"


class Unknown(NamedTuple):
    """Not registered."""

    x: int


def through_json(value):
    """The value packed, written as strict JSON, and unpacked."""
    tree, arrays = pack(value)
    return unpack(json.loads(json.dumps(tree, allow_nan=False)), arrays)


def same(a, b):
    """Equal in type, bits and structure."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert a.tobytes() == b.tobytes()
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for left, right in zip(a, b, strict=True):
            same(left, right)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        same(list(a.values()), list(b.values()))
    elif isinstance(a, (float, np.floating)):
        assert np.float64(a).tobytes() == np.float64(b).tobytes()
    else:
        assert a == b
    return True


PLAIN = [
    None,
    True,
    False,
    0,
    -3,
    2**200,
    0.1,
    -0.0,
    5e-324,
    1.7976931348623157e308,
    1e22,
    math.nan,
    math.inf,
    -math.inf,
    "",
    'a "quoted" \\ line\nand \u00fc \u2211 \U0001f600 \udc80',
    [],
    [1, 2.0, "3", [None]],
    (),
    (1, (2.0, [3])),
    {},
    {"b": 1, "a": {"tuple": (1, 2), "": None}},
    {"array": [1, 2]},
    {"float": "nan"},
    set(),
    {"b", "a"},
    frozenset({"gradient", "hessian"}),
    Status.CONVERGED,
    Status.DIVERGED,
    Colour.RED,
    Pair(1, Pair(np.ones(2), None)),
]


# numbered: sets are written in another order by every process
@pytest.mark.parametrize("value", PLAIN, ids=[f"{i}-{type(value).__name__}" for i, value in enumerate(PLAIN)])
def test_plain_values_come_back_exactly(value):
    assert same(through_json(value), value)


DTYPES = ["bool", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]


@pytest.mark.parametrize("dtype", [*DTYPES, "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3), (0, 3), (2, 1, 3)])
def test_arrays_and_their_scalars_come_back_exactly(dtype, shape):
    array = np.asarray(3 * np.abs(np.random.default_rng(0).normal(size=shape))).astype(dtype)
    assert same(through_json([array, array[..., None]]), [array, array[..., None]])
    for scalar in array.reshape(-1)[:1]:
        assert same(through_json(scalar), scalar)


def test_special_floats_in_arrays_come_back_bit_by_bit():
    array = np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0, 5e-324, np.pi])
    assert same(through_json(array), array)
    assert same(through_json(np.float64("nan")), np.float64("nan"))


def test_other_byte_orders_and_strides_keep_their_numbers():
    swapped = np.arange(6.0).astype(">f8").reshape(2, 3)
    found = through_json(swapped)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, swapped)
    strided = np.arange(20.0)[::-3]
    np.testing.assert_array_equal(through_json(strided), strided)


def test_memory_order_is_kept():
    """Products and sums of the same numbers in another order may round differently."""
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    found = through_json([array, array.copy(order="C")])
    assert found[0].flags.f_contiguous
    assert found[1].flags.c_contiguous
    np.testing.assert_array_equal(found[0], array)


def test_restored_arrays_own_their_memory_and_can_be_written_to():
    a, b = through_json([np.zeros(3), np.zeros(3)])
    a += 1.0
    assert a.flags.owndata
    np.testing.assert_array_equal(b, 0.0)


def test_instances_come_back_with_their_fields_alone():
    part = Part("a", other=np.arange(3), cache=lambda: None, log=[1, 2])
    found = through_json(part)
    assert type(found) is Part
    assert found.name == "a"
    np.testing.assert_array_equal(found.other, part.other)
    assert found.cache is None
    assert found.log == [7]
    assert through_json(part).log is not found.log


def test_no_constructor_runs():
    frozen = Frozen(1.5)
    found = through_json(frozen)
    assert (found.x, found.made) == (1.5, 1)
    assert found == frozen


def test_what_is_shared_stays_shared():
    part, rng = Part("shared"), np.random.default_rng(3)
    equal_but_other = Part("shared")
    value = {"a": [part, rng], "b": Pair(part, rng), "c": Part("outer", other=(part, rng)), "d": equal_but_other}
    found = through_json(value)
    shared, stream = found["a"]
    assert found["b"].first is shared
    assert found["c"].other[0] is shared
    assert found["d"] == shared
    assert found["d"] is not shared
    assert found["b"].second is stream
    assert found["c"].other[1] is stream
    assert stream is not rng


def test_instances_that_refer_to_each_other():
    a, b = Part("a"), Part("b")
    a.other, b.other = b, [a]
    found = through_json(a)
    assert found.other.other[0] is found
    assert found.other.name == "b"


@pytest.mark.parametrize("name", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_generators_go_on_as_they_would_have(name):
    rng = np.random.Generator(getattr(np.random, name)(np.random.SeedSequence(5)))
    rng.spawn(2)
    rng.random(3)
    rng.integers(10, size=3, dtype=np.int32)  # leaves half a word behind
    found = through_json(rng)
    assert type(found.bit_generator) is type(rng.bit_generator)
    np.testing.assert_array_equal(
        found.integers(2**31, size=5, dtype=np.int32), rng.integers(2**31, size=5, dtype=np.int32)
    )
    np.testing.assert_array_equal(found.standard_normal(1000), rng.standard_normal(1000))
    np.testing.assert_array_equal(found.spawn(1)[0].random(5), rng.spawn(1)[0].random(5))


@pytest.mark.parametrize("seed", [None, 2**100, [1, 2, 3], np.arange(3)])
def test_generators_of_any_seed_can_be_stored(seed):
    rng = np.random.default_rng(seed)
    found = through_json(rng)
    assert found.random() == rng.random()
    assert found.spawn(1)[0].random() == rng.spawn(1)[0].random()


def test_a_generator_without_a_seed_sequence_can_be_stored():
    rng = np.random.Generator(np.random.RandomState(4)._bit_generator)
    assert through_json(rng).random() == rng.random()


# ---- what is refused

REFUSED = [
    (lambda: None, r"^the value is of type builtins.function, which cannot be stored; wanted numbers"),
    ([1, {"f": lambda: None}], r"^\[1\]\['f'\] is of type builtins.function"),
    (Part("a", other=[0, 1, Pair(1, print)]), r"^\.other\[2\]\.second is of type"),
    ({1: 2}, r"^the value has the key 1; only strings"),
    (Part("a", other={("a",): 2}), r"^\.other has the key \('a',\)"),
    ([Unknown(1)], r"^\[0\] is of type .*Unknown, which cannot be stored; .* a class marked @stored"),
    ({1, 2}, r"^the value is of type builtins.set"),
    (b"bytes", "builtins.bytes"),
    (1j, "builtins.complex"),
    (np.array(["a"]), "^the value is an array of <U1; only numbers and bools"),
    ((np.array([None]),), r"^\[0\] is an array of object"),
    (np.datetime64("2020-01-01"), "an array of datetime64"),
    (np.zeros(2, dtype=[("a", float)]), "an array of "),
    (np.ma.masked_array([1.0]), "MaskedArray"),
    (np.random.RandomState(0), "RandomState"),
]


@pytest.mark.parametrize(("value", "message"), REFUSED)
def test_what_cannot_be_stored_is_refused_with_its_path(value, message):
    with pytest.raises(TypeError, match=message):
        pack(value)


def test_a_foreign_bit_generator_is_refused():
    class Own(np.random.PCG64):
        pass

    with pytest.raises(TypeError, match=r"^\[0\] uses the bit generator Own; only NumPy's own"):
        pack([np.random.Generator(Own(1))])


def test_what_is_no_plain_data_is_refused():
    with pytest.raises(TypeError, match="Plain is neither a dataclass"):
        stored(type("Plain", (), {}))
    with pytest.raises(TypeError, match=r"^\[0\]: a seed sequence has a pool of 300 words; at most 256 can be stored"):
        pack([np.random.Generator(np.random.PCG64(np.random.SeedSequence(0, pool_size=300)))])


# ---- keys


@pytest.fixture
def registry(monkeypatch):
    """What is registered in a test is forgotten after it."""
    from allmodes.storage import registry

    monkeypatch.setattr(registry, "_classes", dict(registry._classes))
    monkeypatch.setattr(registry, "_keys", dict(registry._keys))
    return registry


def a_class(name, module="allmodes.new.places", **fields):
    """A dataclass that says it was defined elsewhere."""
    made = make_dataclass(name, fields or {"x": Any})
    made.__module__ = module
    return made


def test_keys_are_modules_below_the_package_and_qualified_names(registry):
    assert registry.key_of(Status) == "status.Status"
    assert registry.key_of(Part) == f"{__name__}.Part"
    assert registry.key_of(stored(a_class("Places"))) == "new.places.Places"
    assert registry.key_of(stored(key="place")(a_class("Places"))) == "place"
    assert registry.key_of(Unknown) is None
    assert registry.class_of(f"{__name__}.Part") is Part


def test_classes_of_one_name_in_different_modules_are_both_stored(registry):
    ours, theirs = stored(a_class("Record", "allmodes.new.starts")), stored(a_class("Record", "allmodes.report"))
    found = through_json([ours(1), theirs(2)])
    assert [type(each) for each in found] == [ours, theirs]
    assert [each.x for each in found] == [1, 2]


def test_two_classes_with_one_key_are_refused(registry):
    """Whether it is their key or was one before; the same class may be marked again."""
    first = stored(formerly=("old.places.Places",))(a_class("Places"))
    assert stored(first) is first
    wanted = r"two stored classes have the key 'new\.places\.Places': allmodes\.new\.places\.Places and"
    with pytest.raises(ValueError, match=wanted):
        stored(a_class("Places"))
    with pytest.raises(ValueError, match=r"two stored classes have the key 'old\.places\.Places'"):
        stored(a_class("Places", "allmodes.old.places"))
    with pytest.raises(ValueError, match=r"two stored classes have the key 'new\.places\.Places'"):
        stored(key="other", formerly=("new.places.Places",))(a_class("Other"))
    with pytest.raises(ValueError, match=r"Places is stored as 'new\.places\.Places' already"):
        stored(key="another")(first)
    assert "other" not in registry._classes


def test_a_class_that_was_moved_and_renamed_reads_its_old_files(registry, path):
    old = stored(a_class("Places", "allmodes.old.places", means=Any))
    save(path, {"all": [old(np.arange(3.0))]}, kind="test")
    assert class_names(path) == {"old.places.Places"}
    for key in ("old.places.Places", old):
        del (registry._classes if key != old else registry._keys)[key]
    new = a_class("Sites", "allmodes.newer.places", means=Any)
    with pytest.raises(ValueError, match=r"the class old\.places\.Places is not known here"):
        load(path, kind="test")
    stored(formerly=("old.places.Places",))(new)
    (found,) = load(path, kind="test")["all"]
    assert type(found) is new
    np.testing.assert_array_equal(found.means, np.arange(3.0))
    save(path, found, kind="test")
    assert class_names(path) == {"newer.places.Sites"}


def class_names(path):
    """Keys of the classes in a file."""
    with np.load(path) as archive:
        content = json.loads(archive["tree"].tobytes())
    return {entry["class"][0] for entry in content["objects"]}


def test_a_field_that_is_not_stored_needs_a_default():
    @dataclass
    class Careless:
        cache: Any = field(metadata={"stored": False})

    with pytest.raises(TypeError, match=r"Careless\.cache is not stored and has no default"):
        stored(Careless)
    with pytest.raises(TypeError, match="Careless, which cannot be stored"):
        pack(Careless(1))


# ---- files


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.npz"


VALUE = {"x": np.arange(12.0).reshape(3, 4), "part": Part("a", other=math.nan), "rng": np.random.default_rng(1)}


def test_a_file_holds_the_value(path):
    save(path, VALUE, kind="test", note="by hand")
    found = load(path, kind="test")
    same(found["x"], VALUE["x"])
    assert math.isnan(found["part"].other)
    assert found["rng"].bit_generator.state == VALUE["rng"].bit_generator.state
    assert os.listdir(path.parent) == ["state.npz"]
    found = load(str(path), kind="test")
    same(found["x"], VALUE["x"])


HEADER = ("format", "format_version", "state_version", "kind", "note", "numpy", "settings")


def test_the_header_is_readable_without_allmodes(path):
    save(path, VALUE, kind="test", note="by hand", settings={"maxfev": 3})
    with np.load(path, allow_pickle=False) as archive:
        header = json.loads(archive["header"].tobytes())
        assert set(archive.files) == {"header", "tree", "float64"}
        assert all(archive[name].dtype.kind != "O" for name in archive.files)
    assert {name: header[name] for name in HEADER} == {
        "format": "allmodes state",
        "format_version": 1,
        "state_version": STATE_VERSION,
        "kind": "test",
        "note": "by hand",
        "numpy": np.__version__,
        "settings": {"maxfev": 3},
    }
    assert set(header) == {*HEADER, "sha256", "allmodes", "scipy", "python"}


def test_an_old_file_is_replaced_only_by_a_whole_one(path, monkeypatch):
    save(path, "old", kind="test")
    with pytest.raises(TypeError):
        save(path, print, kind="test")

    def full(file, **arrays):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space left"):
        save(path, "new", kind="test")
    assert load(path, kind="test") == "old"
    assert os.listdir(path.parent) == ["state.npz"]
    monkeypatch.undo()
    save(path, "new", kind="test")
    assert load(path, kind="test") == "new"


def test_a_link_stays_a_link(path):
    save(path, 1, kind="test")
    link = path.with_name("latest")
    link.symlink_to(path)
    save(link, 2, kind="test")
    assert link.is_symlink()
    assert load(path, kind="test") == 2


def test_a_missing_file_or_directory_is_said(path):
    with pytest.raises(FileNotFoundError):
        load(path, kind="test")
    with pytest.raises(FileNotFoundError, match=r"the directory .*nowhere does not exist"):
        save(path.parent / "nowhere" / "x.npz", 1, kind="test")


def test_another_kind_is_said(path):
    save(path, 1, kind="finder")
    with pytest.raises(ValueError, match=r"state\.npz holds a finder; a result was wanted\."):
        load(path, kind="result")


def write(path, header=None, **arrays):
    """A file with a right checksum and whatever else."""
    versions = {"format_version": 1, "state_version": STATE_VERSION, "allmodes": "9.9"}
    given = {"format": "allmodes state", "kind": "test"} | versions | (header or {})
    given = {name: value for name, value in given.items() if value is not None}
    given["sha256"] = files._checksum(given, arrays)
    np.savez(path, header=files._as_bytes(given), **arrays)


def tree(value, objects=()):
    return files._as_bytes({"value": value, "objects": list(objects)})


def test_a_newer_format_is_said(path):
    write(path, {"format_version": 2}, other=np.zeros(3))
    with pytest.raises(ValueError, match=r"has format version 2, written by allmodes 9\.9; this .* up to 1\. Update"):
        load(path, kind="test")


@pytest.mark.parametrize(("version", "said"), [(None, 1), (2, 2), (6, 6), ("4", 4)])
def test_another_state_version_is_said_and_what_to_do(path, version, said):
    """Also that of the first files, which named none, whatever classes are in it."""
    write(path, {"state_version": version, "allmodes": "0.0.9"}, tree=tree({"object": 0}, [{"class": ["Gone", {}]}]))
    with pytest.raises(ValueError, match=r"state\.npz was saved by") as error:
        load(path, kind="test")
    assert str(error.value) == (
        f"{path} was saved by allmodes 0.0.9 with state version {said}; this allmodes {allmodes.__version__} reads "
        f"version {STATE_VERSION}. Load it with the allmodes that saved it, or begin anew; what it has found, x and "
        "fun of every mode, can be passed as warm_start."
    )


def test_what_other_programs_write_is_refused(path):
    wanted = r"state\.npz is not a whole file saved by allmodes: found "
    for content in (b"", b"PK", b"hello", b"PK\x03\x04" + bytes(100), os.urandom(1000)):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=wanted + "something else than an npz file, or a part of one"):
            load(path, kind="test")
    np.save(path, np.zeros(3))
    with pytest.raises(ValueError, match=wanted + "something else"):
        load(path, kind="test")
    np.savez(path, x=np.zeros(3))
    with pytest.raises(ValueError, match=wanted + r"no header, only \['x'\]"):
        load(path, kind="test")
    write(path, {"format": "other"})
    with pytest.raises(ValueError, match=wanted + "a header of another format"):
        load(path, kind="test")
    np.savez_compressed(path, header=np.zeros(10**6))
    with pytest.raises(ValueError, match=wanted + r"the compressed entry header\.npy"):
        load(path, kind="test")


def test_pickled_objects_are_never_read(path):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("a file was executed",))

    np.savez(path, header=np.array([Trap()]))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        load(path, kind="test")


def test_every_truncation_is_noticed(path):
    save(path, VALUE, kind="test")
    content = path.read_bytes()
    for length in range(0, len(content), 7):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"state\.npz"):
            load(path, kind="test")


def test_flipped_bits_are_noticed_or_do_not_matter(path):
    """Some bytes of a zip file say nothing about its content, such as time stamps."""
    save(path, VALUE, kind="test")
    content = bytearray(path.read_bytes())
    noticed = 0
    for i, bit in zip(range(0, len(content), 3), np.random.default_rng(0).integers(8, size=len(content)), strict=False):
        content[i] ^= 1 << int(bit)
        path.write_bytes(content)
        try:
            found = load(path, kind="test")
        except ValueError:
            noticed += 1
        else:
            same(found["x"], VALUE["x"])
            assert found["part"].name == "a"
        content[i] ^= 1 << int(bit)
    assert noticed > 0.7 * len(content) / 3


def test_a_changed_number_is_noticed_by_the_checksum(path):
    """A file rewritten by another program has right zip checksums."""
    save(path, VALUE, kind="test")
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays["float64"][3] += 1e-9
    np.savez(path, **arrays)
    with pytest.raises(
        ValueError, match=r"state\.npz is damaged: its checksum is [0-9a-f]{64}, its header says [0-9a-f]{64}"
    ):
        load(path, kind="test")


FORGED = [
    (tree({"object": 0}, [{"class": ["os.system", {}]}]), "the class os.system is not known here"),
    (
        tree({"object": 0}, [{"class": [f"{__name__}.Part", {"name": "a", "evil": 1}]}]),
        "Part has no evil; another version",
    ),
    (tree({"object": 0}, [{"class": [f"{__name__}.Part", {}]}]), r"Part\.name is missing; another version"),
    (tree({"object": 0}, [{"class": [f"{__name__}.Part", {"name": "a", "cache": 1}]}]), "Part has no cache"),
    (tree({"object": 0}, [{"generator": ["Generator", None]}]), "the bit generator Generator is not known"),
    (tree({"named": [f"{__name__}.Pair", {"first": 1, "third": 2}]}), "Pair has no third"),
    (tree({"named": [f"{__name__}.Pair", {}]}), "does not fit"),
    (tree({"named": [f"{__name__}.Part", {}]}), "does not fit"),
    (tree({"enum": ["status.Status", "NONE"]}), "does not fit"),
    (tree({"object": 3}), "does not fit"),
    (tree({"array": ["float64", 0, [3], "C"]}), "does not fit"),
    (tree({"array": ["tree", 0, [3], "C"]}), "does not fit"),
    (tree([{"array": ["tree", 0, [-1], "C"]}] * 1000), r"found an array of tree at 0 with the shape \[-1\]"),
    (tree({"array": ["tree", -4, [2], "C"]}), r"found an array of tree at -4"),
    (
        tree({"array": ["tree", 0, [10**15, 0], "C"]}),
        r"an array without numbers and with the shape \[1000000000000000, 0\]",
    ),
    (
        tree({"object": 0}, [{"generator": ["PCG64", {"dict": {"seed": {"dict": {"pool_size": 10**9}}}}]}]),
        "a pool of 1000000000",
    ),
    (tree({"eval": "1"}), "does not fit"),
    (tree({"a": 1, "b": 2}), "does not fit"),
    (np.frombuffer(b"{", dtype=np.uint8), "does not fit"),
    (np.frombuffer(b"[" * 100_000, dtype=np.uint8), "does not fit"),
]


@pytest.mark.parametrize(("content", "message"), FORGED)
def test_a_file_that_was_made_up_is_refused(path, content, message):
    write(path, tree=content)
    with pytest.raises(ValueError, match=message):
        load(path, kind="test")


def test_a_field_that_came_later_gets_its_default(path):
    write(path, tree=tree({"object": 0}, [{"class": [f"{__name__}.Part", {"name": "a"}]}]))
    assert load(path, kind="test") == Part("a")
    write(path, tree=tree({"named": [f"{__name__}.Pair", {"first": 1}]}))
    assert load(path, kind="test") == Pair(1, 2)


def test_an_array_that_claims_to_be_huge_is_refused(path):
    write(path, tree=tree(None))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
        claim = io.BytesIO()
        np.lib.format.write_array_header_1_0(claim, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
        archive.writestr("float64.npy", claim.getvalue())
    with pytest.raises(ValueError, match=r"state\.npz"):
        load(path, kind="test")
