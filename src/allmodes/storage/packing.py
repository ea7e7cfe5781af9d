"""Plain state as a tree that JSON can hold and flat arrays, one per dtype; and back.

Classes are looked up by their keys (`registry`), never imported.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from allmodes.storage.registry import class_of, is_saved, key_of

_DTYPES = frozenset({"bool", "complex64", "complex128", "float16", "float32", "float64"}) | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}  # those of the same size on every machine
_BIT_GENERATORS = {
    cls.__name__: cls
    for cls in (np.random.MT19937, np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64)
}
_LARGEST_POOL = 256  # words in the pool of a seed sequence (NumPy's has 4): mixing takes time quadratic in its size
_LONGEST_EMPTY = 2**20  # rows without numbers cost nothing in a file, and much when something is made for each of them

Tree: TypeAlias = dict[str, Any]
Arrays: TypeAlias = dict[str, NDArray[Any]]


# ---- values to trees


def pack(value: Any) -> tuple[Tree, Arrays]:
    """A tree that JSON can hold and the arrays it refers to; TypeError names the path of what cannot be stored.

    Dataclass instances and generators that are referred to twice are restored as one.

    >>> tree, arrays = pack({"x": np.arange(3.0), "n": 2})
    >>> unpack(tree, arrays)
    {'x': array([0., 1., 2.]), 'n': 2}
    """
    packer = _Packer()
    node = packer.node(value, "")
    return {"value": node, "objects": packer.objects}, packer.arrays()


class _Packer:
    """Nodes are JSON values; whatever is not None, bool, int, str, list or a finite float is {tag: content}."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self.numbers: dict[int, int] = {}  # id of an object to its place in the table
        self.pools: dict[str, list[NDArray[Any]]] = {}
        self.sizes: dict[str, int] = {}

    def node(self, value: Any, path: str) -> Any:
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is list:
            return self.nodes(value, path)
        if kind is tuple:
            return {"tuple": self.nodes(value, path)}
        if kind is dict:
            return {"dict": self.items(value, path)}
        if kind in (set, frozenset) and all(type(entry) is str for entry in value):
            return {kind.__name__: sorted(value)}
        if kind is np.ndarray or isinstance(value, np.generic):
            return {"array" if kind is np.ndarray else "scalar": self.array(np.asarray(value), path)}
        if kind is np.random.Generator or key_of(kind):
            return self.instance(value, path)
        raise TypeError(
            f"{path or 'the value'} is of type {kind.__module__}.{kind.__qualname__}, which cannot be stored; wanted "
            "numbers, strings, arrays, generators, lists, tuples, dicts, sets of strings, or a class marked @stored."
        )

    def nodes(self, values: Any, path: str) -> list[Any]:
        return [self.node(entry, f"{path}[{i}]") for i, entry in enumerate(values)]

    def items(self, values: dict[Any, Any], path: str) -> dict[str, Any]:
        for key in values:
            if type(key) is not str:
                raise TypeError(f"{path or 'the value'} has the key {key!r}; only strings can be stored as keys.")
        return {key: self.node(entry, f"{path}[{key!r}]") for key, entry in values.items()}

    def array(self, array: NDArray[Any], path: str) -> list[Any]:
        """[dtype, offset in the pool of that dtype, shape, order]; the order too, because sums depend on it."""
        name = array.dtype.name
        if name not in _DTYPES:
            raise TypeError(
                f"{path or 'the value'} is an array of {array.dtype}; only numbers and bools can be stored."
            )
        order: Literal["C", "F"] = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        offset = self.sizes.get(name, 0)
        self.pools.setdefault(name, []).append(array.ravel(order=order).astype(name))
        self.sizes[name] = offset + array.size
        return [name, offset, list(array.shape), order]

    def arrays(self) -> Arrays:
        return {name: np.concatenate(parts) for name, parts in self.pools.items()}

    def instance(self, value: Any, path: str) -> Any:
        cls = type(value)
        if isinstance(value, enum.Enum):
            return {"enum": [key_of(cls), value.name]}
        if isinstance(value, tuple):
            fields = {name: self.node(part, f"{path}.{name}") for name, part in value._asdict().items()}  # type: ignore[attr-defined]
            return {"named": [key_of(cls), fields]}
        if id(value) not in self.numbers:
            self.numbers[id(value)] = len(self.objects)
            self.objects.append(None)  # takes its place before its parts, which may refer back to it
            entry = self.generator(value, path) if cls is np.random.Generator else self.fields(value, path)
            self.objects[self.numbers[id(value)]] = entry
        return {"object": self.numbers[id(value)]}

    def fields(self, value: Any, path: str) -> dict[str, Any]:
        names = [field.name for field in dataclasses.fields(value) if is_saved(field)]
        nodes = {name: self.node(getattr(value, name), f"{path}.{name}") for name in names}
        return {"class": [key_of(type(value)), nodes]}

    def generator(self, rng: np.random.Generator, path: str) -> dict[str, Any]:
        """The state of the stream, and of the seed sequence that `spawn` continues."""
        name = type(rng.bit_generator).__name__
        if _BIT_GENERATORS.get(name) is not type(rng.bit_generator):
            raise TypeError(f"{path or 'the value'} uses the bit generator {name}; only NumPy's own can be stored.")
        seed = rng.bit_generator.seed_seq
        state: dict[str, Any] = {
            "stream": rng.bit_generator.state,
            "seed": seed.state if type(seed) is np.random.SeedSequence else None,
        }
        _check_pool(state["seed"] or {}, f"{path or 'the value'}: ")
        return {"generator": [name, self.node(state, path)]}


# ---- trees to values


def unpack(tree: Tree, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """The value that `pack` was given; ValueError when the tree names a class or field that is not known here."""
    return _Unpacker(tree["objects"], arrays).value(tree["value"])


class _Unpacker:
    def __init__(self, objects: list[Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.objects = objects
        self.pools = arrays
        self.made: dict[int, Any] = {}
        self.left = {name: pool.size for name, pool in arrays.items()}  # numbers that no array has been made of

    def value(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.value(entry) for entry in node]
        if not isinstance(node, dict):
            return node
        ((tag, content),) = node.items()
        return _READERS[tag](self, content)

    def values(self, nodes: dict[str, Any]) -> dict[str, Any]:
        return {name: self.value(node) for name, node in nodes.items()}

    def array(self, content: list[Any]) -> NDArray[Any]:
        name, offset, shape, order = content
        if min([offset, *shape]) < 0:  # NumPy would read -1 as "whatever is left"
            raise ValueError(
                f"found an array of {name} at {offset} with the shape {shape}; wanted no negative numbers."
            )
        size = math.prod(shape)
        if not size and max(shape) > _LONGEST_EMPTY:
            raise ValueError(f"found an array without numbers and with the shape {shape}; wanted none so long.")
        self.left[name] -= size
        if self.left[name] < 0:  # every number belongs to one array: a file cannot grow in memory
            raise ValueError(f"the arrays of {name} are together larger than what is stored of them.")
        flat = self.pools[name][offset : offset + size]
        return flat.reshape(shape, order=order).astype(name, order=order)  # a copy: owns its memory

    def named(self, content: list[Any]) -> Any:
        cls = class_of(content[0])
        _check_fields(cls, content[1], cls._fields)  # type: ignore[attr-defined]
        return cls(**self.values(content[1]))

    def object(self, number: int) -> Any:
        if number not in self.made:
            ((tag, (name, content)),) = self.objects[number].items()
            if tag == "generator":
                self.made[number] = self.generator(name, content)
            else:
                self.made[number] = object.__new__(class_of(name))  # known before its parts, which may refer back to it
                self.fill(self.made[number], content)
        return self.made[number]

    def fill(self, target: Any, nodes: dict[str, Any]) -> None:
        """Set the fields as they were, past frozen classes and constructors."""
        fields = dataclasses.fields(target)
        _check_fields(type(target), nodes, tuple(field.name for field in fields if is_saved(field)))
        for field in fields:
            if field.name in nodes:
                value = self.value(nodes[field.name])
            elif field.default_factory is not dataclasses.MISSING:
                value = field.default_factory()
            elif field.default is not dataclasses.MISSING:
                value = field.default
            else:
                raise ValueError(f"{type(target).__name__}.{field.name} is missing; another version wrote this.")
            object.__setattr__(target, field.name, value)

    def generator(self, name: str, node: Any) -> np.random.Generator:
        if name not in _BIT_GENERATORS:
            raise ValueError(f"the bit generator {name} is not known here.")
        state = self.value(node)
        seed = state["seed"] or {"entropy": 0}
        _check_pool(seed)
        bits = _BIT_GENERATORS[name](np.random.SeedSequence(**seed))
        bits.state = state["stream"]
        return np.random.Generator(bits)


_READERS: dict[str, Any] = {
    "float": lambda _, text: float(text),
    "tuple": lambda reader, nodes: tuple(map(reader.value, nodes)),
    "dict": _Unpacker.values,
    "set": lambda _, entries: set(entries),
    "frozenset": lambda _, entries: frozenset(entries),
    "array": _Unpacker.array,
    "scalar": lambda reader, content: reader.array(content)[()],
    "enum": lambda _, names: class_of(names[0])[names[1]],  # type: ignore[index]
    "named": _Unpacker.named,
    "object": _Unpacker.object,
}


def _check_pool(seed: dict[str, Any], where: str = "") -> None:
    """Refuse the state of a seed sequence with a pool so large that mixing it would keep a process busy for hours."""
    size = seed.get("pool_size", 0)
    if size > _LARGEST_POOL:
        raise TypeError(f"{where}a seed sequence has a pool of {size} words; at most {_LARGEST_POOL} can be stored.")


def _check_fields(cls: type, given: dict[str, Any], known: tuple[str, ...]) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ValueError(f"{cls.__name__} has no {', '.join(unknown)}; another version of allmodes wrote this.")
