"""Evaluate Jsonnet files in a process of its own, within bounds of time and memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from commodore.base.cancellation import Cancellation
from commodore.base.programs.python_children import ask_once, of_module
from commodore.base.programs.running import Bounds

_WORKER = "commodore.core.render._jsonnet_worker"


@dataclass(frozen=True, slots=True)
class JsonnetTask:
    """A file to evaluate.

    Attributes:
        root: the folder that imports must not leave, with links followed.
        search: the search path of imports, after the folder of the importing file.
        ext_vars, ext_codes, tla_vars, tla_codes: external variables and arguments, as texts and as Jsonnet.
    """

    path: str
    root: str
    search: Sequence[str] = ()
    ext_vars: Mapping[str, str] = field(default_factory=dict)
    ext_codes: Mapping[str, str] = field(default_factory=dict)
    tla_vars: Mapping[str, str] = field(default_factory=dict)
    tla_codes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JsonnetResult:
    """The result of a file.

    Attributes:
        value: JSON text; None if the evaluation failed.
        imports: absolute paths of the files that it imported.
        refused: imports that it may not read, or that are unreadable: the name, and the reason (empty if forbidden).
        complaint: the error of go-jsonnet; messages of importers have garbage appended.
    """

    value: str | None
    imports: list[str]
    refused: list[tuple[str, str]]
    complaint: str


def evaluate_jsonnet(
    files: Sequence[JsonnetTask], size: int, bounds: Bounds, cancellation: Cancellation
) -> list[JsonnetResult]:
    """Evaluate files, all in one process.

    Args:
        size: the greatest size of a file, in bytes.

    Raises:
        OutOfBounds: a bound was exceeded.
        ChildEnded: the process ended by itself, mostly for lack of memory or stack.
    """
    request = {"size": size, "files": [asdict(file) for file in files]}
    answers = ask_once(of_module(_WORKER), request, bounds, cancellation)
    return [JsonnetResult(**answer) for answer in answers]
