"""Evaluate Jsonnet with go-jsonnet, and parse its errors. For workers only: the Go runtime does not survive a fork."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commodore.base.errors import CommodoreError, Location

if TYPE_CHECKING:
    from commodore.core.confinement import Confinement

Importer = Callable[[str, str], tuple[str, bytes]]
"""Called with the importing file's folder and the text of the import; returns the file's path and content."""

Natives = Mapping[str, tuple[tuple[str, ...], Callable[..., Any]]]
"""Native functions by name: their parameters' names and the function."""

_FRAME = re.compile(
    r"(?P<file>[^\s:][^:\n]*):(?:(?P<line>\d+):(?P<column>\d+)|\((?P<line2>\d+):(?P<column2>\d+)\))[-\d():]*(?:\s|$)"
)
_LIBRARIES = str(Path(__file__).resolve().parents[3])
_IMPORT_FAILED = "importer error: "
_NATIVE_FAILED = "failed to execute native callback"
_WRONG_TARGET = "CMD-ENG-008"
"""Code of an error in another target's settings. That target has the same error, which is reported once."""


class JsonnetError(Exception):
    """An evaluation failed.

    Args:
        message: the reason in one paragraph, without places.
        locations: the frames of the trace, users' files first.
    """

    def __init__(self, message: str, locations: tuple[Location, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.locations = locations


def evaluate(path: str, text: str, *, importer: Importer, natives: Natives, ext_vars: Mapping[str, str]) -> str:
    """Evaluate a Jsonnet file to JSON text. The file is not read: `text` is its content.

    Raises:
        JsonnetError: the evaluation failed; the cause may be an error of a native function or an import.
        CommodoreError: a native function or an import was refused for safety.
    """
    if "\0" in text:
        raise JsonnetError(f"{path} contains a NUL character")
    import _gojsonnet  # starts the Go runtime: as late as possible, and never in a process that forks workers

    failures: list[tuple[str, Exception]] = []

    def recorded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except Exception as error:
                failures.append((name, error))
                raise

        return call

    table = {name: (names, recorded(name, function)) for name, (names, function) in natives.items()}
    try:
        return str(
            _gojsonnet.evaluate_snippet(
                path, text, import_callback=recorded("", importer), native_callbacks=table, ext_vars=dict(ext_vars)
            )
        )
    except RuntimeError as error:
        raise _explain(str(error), failures) from error
    except UnicodeDecodeError as error:  # occurs after failed imports: go-jsonnet's message is not always UTF-8
        raise _explain(error.object.decode("utf-8", "replace"), failures) from error


def _explain(text: str, failures: list[tuple[str, Exception]]) -> Exception:
    message, locations = _read_trace(text)
    if failures and (_NATIVE_FAILED in message or _IMPORT_FAILED in message):
        name, cause = failures[-1]
        if isinstance(cause, CommodoreError) and (cause.exit_code != 1 or cause.code == _WRONG_TARGET):
            return cause
        reason = cause.message if isinstance(cause, CommodoreError | JsonnetError) else _describe(cause)
        # Imports have no name; internal functions that no user has called are not named.
        message = f"native function {name!r}: {reason}" if name and not name.startswith("commodore_") else reason
        if isinstance(cause, CommodoreError | JsonnetError):
            locations = (*locations, *cause.locations)
    return JsonnetError(message, locations)


def _describe(error: Exception) -> str:
    return str(error) if isinstance(error, OSError | ValueError) and str(error) else f"{type(error).__name__}: {error}"


def _read_trace(text: str) -> tuple[str, tuple[Location, ...]]:
    """Split an error of go-jsonnet into the message and its locations.

    A run-time error is a message followed by indented frames, the innermost first. A syntax error begins with its
    location and ends with a copy of the line.
    """
    runtime = text.startswith("RUNTIME ERROR: ")
    if not runtime:
        match = _FRAME.match(text)
        if match is None:
            return text.strip(), ()
        return text[match.end() :].partition("\n\n")[0].strip(), (_location(match),)
    lines = text.removeprefix("RUNTIME ERROR: ").split("\n")
    first = next((number for number, line in enumerate(lines) if _is_frame(line)), len(lines))
    frames = [match for line in lines[first:] if (match := _FRAME.match(line.strip()))]
    places = list(dict.fromkeys(_location(frame) for frame in frames if not frame["file"].startswith("<")))
    places.sort(key=lambda place: _is_library(place.place))
    return "\n".join(lines[:first]).strip(), tuple(places)


def _is_frame(line: str) -> bool:
    return line.startswith("\t") and _FRAME.match(line.strip()) is not None


def _is_library(file: str) -> bool:
    """Check if a file belongs to commodore or Kapitan; their frames come last, as errors are mostly in users' files."""
    return file.startswith(_LIBRARIES) or file.endswith("/kapitan/lib/kapitan.libjsonnet")


def _location(match: re.Match[str]) -> Location:
    return Location(match["file"], int(match["line"] or match["line2"]), int(match["column"] or match["column2"]))


def read_source(path: str, confinement: Confinement, seen: Callable[[str, bytes], None]) -> str:
    """Read a file's text. `seen` is called with its path and content.

    Raises:
        JsonnetError: it is a folder, cannot be read, or is not UTF-8.
        PolicyError: reading it is not allowed.
    """
    try:
        content = confinement.read(path)
        seen(path, content)
        return content.decode()
    except UnicodeDecodeError as error:
        raise JsonnetError(f"{path} is not UTF-8 text") from error
    except OSError as error:
        raise JsonnetError(f"cannot read {path}: {error.strerror}") from error


def find_text(path: str, confinement: Confinement, seen: Callable[[str, bytes], None]) -> bytes | None:
    """Read a file's text as UTF-8 with `\\n` line ends, as Kapitan passes it to Jsonnet; None if it does not exist or
    reading it is not allowed. See `read_source`.
    """
    from commodore.core.confinement import is_absent  # imported late: lookups of cached results load this module, too

    if not confinement.is_open(path):
        return None
    try:
        return read_source(path, confinement, seen).replace("\r\n", "\n").replace("\r", "\n").encode()
    except JsonnetError as error:
        if isinstance(error.__cause__, OSError) and is_absent(error.__cause__):
            return None
        raise
