"""Evaluating Jsonnet files in a process of its own, which is ended when it takes too much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from commodore.base.cancellation import Cancellation
from commodore.base.programs.python_children import ask_once, of_module
from commodore.base.programs.running import Bounds

_WORKER = "commodore.core.render._jsonnet_worker"


@dataclass(frozen=True, slots=True)
class JsonnetTask:
    """A file to be evaluated.

    Attributes:
        root: the folder that imports must not leave, links followed.
        search: folders that imports are looked for in after that of the importing file, in this order.
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
class Evaluated:
    """What came of a file.

    Attributes:
        value: JSON text; None if it does not evaluate.
        imports: absolute paths of the files that it has imported.
        refused: imports that it must not read, or cannot: the name, and why it cannot (empty if it must not).
        complaint: the words of go-jsonnet; text of those who import comes with rubbish behind it.
    """

    value: str | None
    imports: list[str]
    refused: list[tuple[str, str]]
    complaint: str


def evaluate_jsonnet(
    files: Sequence[JsonnetTask], size: int, bounds: Bounds, cancellation: Cancellation
) -> list[Evaluated]:
    """Evaluate files, all in one process.

    Args:
        size: the most bytes of a file that is read.

    Raises:
        OutOfBounds: it was ended.
        ChildEnded: it has ended, mostly for want of memory or stack.
    """
    request = {"size": size, "files": [asdict(file) for file in files]}
    answers = ask_once(of_module(_WORKER), request, bounds, cancellation)
    return [Evaluated(**answer) for answer in answers]
