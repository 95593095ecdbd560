"""Which engine evaluates an instance's Jsonnet files, and what came of it.

go-jsonnet is the engine of record: catalogs' bytes come from it. jrsonnet is used where it was chosen; what
it cannot do, go-jsonnet does, file by file. A check asks both and compares.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from commodore.base.errors import CommodoreError, EnvironmentFault, InputError, did_you_mean
from commodore.base.names import requirement
from commodore.core.engine.jsonnet import go as _jsonnet
from commodore.core.engine.jsonnet import jrsonnet as _jrsonnet
from commodore.core.engine.jsonnet.go import Importer, Natives
from commodore.core.engine.tasks import Evaluations

GO, JRSONNET, CHECK = "go", "jrsonnet", "check"
_PARAMETER = "parameters.commodore.jsonnet.engine"
_SHOWN = 60


def check_jsonnet_engine(asked: str) -> None:
    """Make sure that the engine that a user asks for is there.

    Raises:
        EnvironmentFault: it is not installed.
    """
    if asked != GO and not _jrsonnet.is_installed():
        raise EnvironmentFault(
            "CMD-ENG-054",
            "the Jsonnet engine jrsonnet is not installed",
            hint=f"install the extra: pip install '{requirement('jrsonnet')}'",
        )


def engine_of(asked: str, instance: str, node: Mapping[str, Any]) -> str:
    """The engine for an instance: what its parameter says, else what is asked for.

    A check covers every instance whose parameter does not say `go`. What only the parameter asks for and is not
    installed is done with go-jsonnet: not everybody who compiles a component needs the extra.

    Raises:
        InputError: the parameter names no engine.
    """
    own: Any = node["parameters"]
    for key in ("commodore", "jsonnet", "engine"):
        own = own.get(key) if isinstance(own, Mapping) else None
    if own not in (None, GO, JRSONNET):
        raise InputError(
            "CMD-ENG-053",
            f"instance {instance!r}: {_PARAMETER} is {_short(own)}, which is no Jsonnet engine",
            hint=did_you_mean(str(own), (GO, JRSONNET)) or f"it is {GO} or {JRSONNET}",
        )
    chosen = asked if own is None or (asked == CHECK and own == JRSONNET) else str(own)
    return chosen if chosen == GO or _jrsonnet.is_installed() else GO


class Evaluator:
    """Evaluates the Jsonnet files of one instance and counts.

    Args:
        engine: `go`, `jrsonnet` or `check`; see `engine_of`.
        instance: whose files they are.
        root: the working directory: messages name files relative to it.
    """

    def __init__(self, engine: str, instance: str, root: Path) -> None:
        self.engine = engine
        self.traces: list[str] = []
        self._instance = instance
        self._root = f"{root}{os.sep}"
        self._heard: list[str] = []
        self._files = 0
        self._seconds = {GO: 0.0, JRSONNET: 0.0}
        self._fallbacks: list[tuple[str, str]] = []
        self.differences: list[CommodoreError] = []

    def evaluate(
        self, path: str, text: str, *, importer: Importer, natives: Natives, ext_vars: Mapping[str, str]
    ) -> str:
        """The JSON text that a Jsonnet file evaluates to. It is not read: `text` is what is in it.

        Raises:
            JsonnetError: go-jsonnet cannot evaluate it.
            CommodoreError: a native function or an import was refused for safety.
        """
        self._files += 1
        other: str | None = None
        if self.engine != GO:
            try:
                other = self._timed(
                    JRSONNET,
                    lambda: _jrsonnet.evaluate(path, text, importer=importer, natives=natives, ext_vars=ext_vars),
                )
            except _jrsonnet.GaveUpError as reason:
                self._fallbacks.append((path, str(reason)))
            else:
                if self.engine == JRSONNET:
                    self.traces += self._heard
                    return other
        try:
            result = self._timed(
                GO, lambda: _jsonnet.evaluate(path, text, importer=importer, natives=natives, ext_vars=ext_vars)
            )
        finally:
            self.traces += self._heard
        if other is not None and (difference := first_difference(json.loads(result), json.loads(other))):
            self.differences.append(
                InputError(
                    "CMD-ENG-055",
                    f"instance {self._instance!r}: jrsonnet evaluates a Jsonnet file to something else: {difference}",
                    hint=f"set {_PARAMETER} to {GO} for this instance",
                    locations=[path],
                )
            )
        return result

    def evaluations(self) -> Evaluations:
        """What was done so far."""
        return Evaluations(
            self.engine,
            self._instance,
            self._files,
            tuple(self._fallbacks),
            len(self.differences),
            self._seconds[GO],
            self._seconds[JRSONNET],
        )

    def _timed(self, engine: str, evaluate: Callable[[], str]) -> str:
        """Evaluate, and note how long it took and what was told meanwhile."""
        start = time.process_time()
        try:
            with _listening() as collected:
                return evaluate()
        finally:
            self._seconds[engine] += time.process_time() - start
            self._heard = [line.replace(self._root, "") for line in collected]


def _sink() -> IO[bytes]:
    """A file in memory, where the system has that."""
    return open(os.memfd_create("traces"), "w+b") if sys.platform == "linux" else tempfile.TemporaryFile()


@contextlib.contextmanager
def _listening() -> Iterator[list[str]]:
    """Collect the lines that are written to file descriptor 2, where `std.trace` writes; they are there at the end."""
    lines: list[str] = []
    try:
        stderr = os.dup(2)
    except OSError:  # closed: there is no reader
        yield lines
        return
    with os.fdopen(stderr, "wb"), _sink() as sink:
        os.dup2(sink.fileno(), 2)
        try:
            yield lines
        finally:
            os.dup2(stderr, 2)
            sink.seek(0)
            lines += sink.read().decode(errors="replace").splitlines()


def first_difference(record: Any, other: Any, place: str = "$") -> str:
    """Where two JSON values differ, and how; empty if they do not.

    The order of keys and the spelling of numbers do not count, whether a number is whole does: it is written otherwise.
    """
    if type(record) is not type(other):
        return _differ(place, record, other)
    if isinstance(record, dict):
        if record.keys() != other.keys():
            return _differ(place, sorted(record.keys() - other.keys()), sorted(other.keys() - record.keys()), "fields ")
        found = (first_difference(record[key], other[key], f"{place}.{key}") for key in sorted(record))
        return next((one for one in found if one), "")
    if isinstance(record, list):
        if len(record) != len(other):
            return _differ(place, len(record), len(other), "length ")
        found = (
            first_difference(*both, f"{place}[{index}]") for index, both in enumerate(zip(record, other, strict=True))
        )
        return next((one for one in found if one), "")
    return "" if record == other else _differ(place, record, other)


def _differ(place: str, record: Any, other: Any, what: str = "") -> str:
    if isinstance(record, str) and isinstance(other, str):  # show where long texts part
        same = next((i for i, (a, b) in enumerate(zip(record, other, strict=False)) if a != b), 0)
        begin = max(0, min(same, len(record), len(other)) - _SHOWN // 3)
        record, other = record[begin : begin + _SHOWN], other[begin : begin + _SHOWN]
    return f"at {place} {what}{_short(other)} in place of go-jsonnet's {_short(record)}"


def _short(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN + 2 else text[:_SHOWN] + "…"


def notes_of(evaluations: Evaluations) -> tuple[str, ...]:
    """What is worth telling of an instance to those who want details."""
    return tuple(
        f"instance {evaluations.instance!r}: {path} is evaluated with go-jsonnet; jrsonnet: {reason}"
        for path, reason in evaluations.fallbacks
    )


def summary(all_of_them: Sequence[Evaluations]) -> str:
    """One line on the files for which jrsonnet was asked; empty if it was for none."""
    asked = [one for one in all_of_them if one.engine != GO and one.files]
    if not asked:
        return ""
    files, fallbacks = sum(one.files for one in asked), sum(len(one.fallbacks) for one in asked)
    did = f"Jsonnet: {files - fallbacks} of {files} files evaluated with jrsonnet"
    if fallbacks:
        did += f", {fallbacks} with go-jsonnet only ({JRSONNET} cannot; -v shows which and why)"
    if any(one.engine == CHECK for one in asked):
        did += f"; compared with go-jsonnet, {sum(one.differences for one in asked) or 'none'} differ"
    return did
