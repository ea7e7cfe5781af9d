"""Results elsewhere: npz files, JSON for other programs that holds the whole result as well, data frames."""

from __future__ import annotations

import base64
import binascii
import importlib
import io
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allmodes import storage

if TYPE_CHECKING:
    from allmodes.result.result import Result

_PLAIN = "allmodes.report.plain"  # a higher layer: found by name when it is asked for
_KIND = "result"
_WHOLE = "saved"  # the key that holds the npz file, for `load`
_OTHERS = (".csv", ".html", ".htm", ".txt", ".xlsx", ".parquet", ".pkl", ".pickle", ".png", ".pdf", ".yaml", ".toml")


def as_dict(result: Result) -> dict[str, Any]:
    """A result as plain data."""
    data: dict[str, Any] = importlib.import_module(_PLAIN).as_dict(result)
    return data


def as_json(result: Result) -> str:
    """The same as text."""
    text: str = importlib.import_module(_PLAIN).as_json(result)
    return text


def as_frame(result: Result) -> Any:
    """The modes as a pandas DataFrame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("to_dataframe needs pandas: pip install allmodes[dataframe]") from error
    columns = ["fun", "kind", "is_global", "weight", "flatness", "gradient_norm", "hits", "found_at"]
    if any(mode.multipliers is not None for mode in result.modes):
        columns += ["violation", "active_constraints"]
    columns += ["residual_norm", "condition", "certified"] if result.is_roots else []
    columns += ["multiplicity"] if any((mode.multiplicity or 1) > 1 for mode in result.modes) else []
    points = [[mode.choices.get(i, entry) for i, entry in enumerate(mode.x)] for mode in result.modes]
    rows = [[*(getattr(mode, name) for name in columns), *x] for mode, x in zip(result.modes, points, strict=True)]
    ranks = pd.RangeIndex(1, len(rows) + 1, name="rank")
    return pd.DataFrame(rows, columns=[*columns, *result.coordinate_names], index=ranks)


def save(result: Result, path: str | os.PathLike[str]) -> None:
    """Write a result: JSON if the path ends in .json, or else npz; refused where it ends as files of another kind."""
    ending = Path(path).suffix.lower()
    if ending in _OTHERS:
        raise ValueError(
            f"{os.fspath(path)} ends in {ending}; wanted .npz, or .json for other programs. result.report(path) writes "
            "a page, and result.to_dataframe() a table."
        )
    whole = storage.dumps(result, kind=_KIND, note=f"{result.method}: {len(result.modes)} modes")
    if ending != ".json":
        storage.write(path, whole)
        return
    data = as_dict(result) | {_WHOLE: base64.b64encode(whole).decode()}
    storage.write(path, (json.dumps(data, indent=1, allow_nan=False) + "\n").encode())


def load(path: str | os.PathLike[str]) -> Any:
    """What `save` wrote."""
    name = os.fspath(path)
    with open(path, "rb") as file:
        if file.read(1) != b"{":
            file.seek(0)
            return storage.load_from(file, name, kind=_KIND)
        file.seek(0)
        content = file.read()
    try:
        data = json.loads(content)
        whole = base64.b64decode(data[_WHOLE], validate=True) if _WHOLE in data else None
    except (ValueError, TypeError, binascii.Error) as error:
        raise ValueError(f"{name} is not a whole file saved by allmodes: {error}") from error
    if whole is None:
        raise ValueError(
            f"{name} is JSON for other programs, without the whole result. Load what result.save wrote; the command "
            "writes result.npz beside its result.json."
        )
    return storage.load_from(io.BytesIO(whole), name, kind=_KIND)
