"""The directory of a run: its settings, its checkpoint and its result."""

from __future__ import annotations

import contextlib
import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allmodes.cli.exits import Usage
from allmodes.cli.settings import BY_KEY, SPELLINGS
from allmodes.cli.shapes import constraints_of

if TYPE_CHECKING:
    from allmodes.driver import Driver
    from allmodes.result import Result

_WHAT = "settings of a search by allmodes"
_MOST = 1000  # directories of one name
_GENERATOR = b'<meta name="generator" content="allmodes">'  # in the head of every report
_HEAD = 4096  # bytes: far more than stand before it


@dataclass(frozen=True)
class RunDirectory:
    """Where a run is kept."""

    path: Path

    @property
    def settings(self) -> Path:
        return self.path / "run.json"

    @property
    def checkpoint(self) -> Path:
        return self.path / "checkpoint.npz"

    @property
    def result(self) -> Path:
        return self.path / "result.npz"

    @property
    def json(self) -> Path:
        return self.path / "result.json"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    @property
    def is_used(self) -> bool:
        return any(path.exists() for path in (self.settings, self.checkpoint, self.result, self.json))

    def begin(self, target: str, settings: dict[str, Any], force: bool) -> None:
        """Make the directory and write down what is run there; refuse one that is in use."""
        if self.is_used and not force:
            state = "a result" if self.result.exists() else "a search that is not finished"
            raise Usage(
                f"{self.path} holds {state}. See it: allmodes show {self.path}. Resume it: allmodes resume "
                f"{self.path}. Replace it: --force. Keep it: another --out."
            )
        if settings.get("report") and not force:
            self.check_report("Replace it: --force. Keep it: another --out.")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if force:
                self._clear()
            self.write(target, settings)
        except OSError as error:
            raise Usage(f"cannot write to the directory {self.path}: {error.strerror}. Name another: --out.") from None

    def check_report(self, advice: str) -> None:
        """Refuse to write the report over a page that allmodes has not written."""
        try:
            with open(self.report, "rb") as file:
                is_ours = _GENERATOR in file.read(_HEAD)
        except FileNotFoundError:
            return
        except OSError as error:
            raise Usage(f"{self.report} cannot be read: {error.strerror}. {advice}") from None
        if not is_ours:
            raise Usage(f"{self.report} was not written by allmodes, and the report would replace it. {advice}")

    def abandon(self) -> None:
        """Remove what is left of a search that failed before it evaluated anything."""
        with contextlib.suppress(OSError):
            self._remove(*self._begun)
            self.path.rmdir()

    @property
    def _begun(self) -> tuple[Path, ...]:
        """What a search has written before it is finished."""
        previous = self.checkpoint.with_name(self.checkpoint.name + ".previous")
        return self.checkpoint, previous, self.settings

    def _clear(self) -> None:
        self._remove(*self._begun, self.result, self.json, self.report)

    @staticmethod
    def _remove(*paths: Path) -> None:
        for path in paths:
            path.unlink(missing_ok=True)

    def write(self, target: str, settings: dict[str, Any]) -> None:
        """Write down what is run."""
        text = json.dumps({"what": _WHAT, "target": target, "settings": settings}, indent=1)
        half = self.path / ".run.json.half"
        half.write_text(text + "\n", encoding="utf-8")
        half.replace(self.settings)

    def read(self) -> tuple[str, dict[str, Any]]:
        """The target and the settings of the run, checked: anybody may have edited the file."""
        advice = "Start a run with: allmodes find FUN --out DIR."
        if not self.path.is_dir():
            raise Usage(f"there is no directory {self.path}. {advice}")
        try:
            found = json.loads(self.settings.read_text(encoding="utf-8"))
            target, settings = found["target"], found["settings"]
            current = {SPELLINGS.get(key, key): value for key, value in settings.items()}
            checked = {key: BY_KEY[key].kind.checked(value) for key, value in current.items()}
            return BY_KEY["target"].kind.checked(target), checked
        except FileNotFoundError:
            raise Usage(f"{self.path} is not the directory of a run: it has no run.json. {advice}") from None
        except OSError as error:
            raise Usage(f"{self.settings} cannot be read: {error.strerror}.") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Usage(f"{self.settings} is damaged ({type(error).__name__}: {error}). {advice}") from None

    def finish(self, result: Result) -> None:
        """Write the result, each file whole or not at all."""
        from allmodes.report.plain import write_json

        result.save(self.result)
        write_json(result, self.json)


def free_directory(name: str) -> RunDirectory:
    """The first of allmodes-NAME, allmodes-NAME-2, ... that is not in use."""
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
    for number in range(1, _MOST):
        found = RunDirectory(Path(f"allmodes-{plain}" + (f"-{number}" if number > 1 else "")))
        if not found.is_used:
            return found
    raise Usage(f"there are {_MOST} directories allmodes-{plain}-N here. Name one: --out DIR.")


def load_result(path: Path) -> tuple[Result, str]:
    """The result in a file or in a directory, and what was searched if that is known."""
    if not path.exists():
        raise Usage(f"there is no {path}. Wanted the directory of a run, or its result.npz.")
    directory = RunDirectory(path if path.is_dir() else path.parent)
    file = directory.result if path.is_dir() or path.suffix == ".json" else path
    from allmodes.result import Result

    try:
        if not file.exists() and directory.checkpoint.exists():
            target, settings = directory.read()
            return _of_checkpoint(directory, settings), target
        result = Result.load(file)
    except FileNotFoundError:
        raise Usage(f"{path} has no result.npz. Wanted the directory of a run, or its result.npz.") from None
    except (OSError, ValueError) as error:
        raise Usage(str(error)) from None
    return result, str(result.settings.get("function", ""))


def _of_checkpoint(directory: RunDirectory, settings: dict[str, Any]) -> Result:
    """What a killed search had found when it was last saved."""
    return driver_of(directory, settings).result


def driver_of(directory: RunDirectory, settings: dict[str, Any]) -> Driver:
    """The search as it was saved. Constraints are imported anew: they are part of it."""
    from allmodes.driver import Driver

    constraints = constraints_of(settings["constraint"]) if "constraint" in settings else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is looked at, and does not go on
        driver = Driver.load(directory.checkpoint)
    driver.constrain(constraints, bool(settings.get("vectorized")))
    return driver


def constraints_of_run(path: Path, result: Result) -> Any:
    """The constraints of a run for a plot, imported anew; None without any, and where only its result is left."""
    directory = RunDirectory(path if path.is_dir() else path.parent)
    if not directory.settings.exists() or not result.settings.get("constraints"):
        return None
    from allmodes.report.region import known

    _, settings = directory.read()
    return known(result, constraints_of(settings["constraint"])) if "constraint" in settings else None
