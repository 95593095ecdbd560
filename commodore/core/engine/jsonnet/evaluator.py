"""Evaluating the Jsonnet files of an instance, and collecting what they write by `std.trace`."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from commodore.core.engine.jsonnet import go as _jsonnet
from commodore.core.engine.jsonnet.go import Importer, Natives
from commodore.core.engine.tasks import Evaluations


class Evaluator:
    """Evaluates the Jsonnet files of one instance and counts.

    Args:
        root: the working directory: traces name files relative to it.
    """

    def __init__(self, root: Path) -> None:
        self.traces: list[str] = []
        self._root = f"{root}{os.sep}"
        self._files = 0
        self._seconds = 0.0

    def evaluate(
        self, path: str, text: str, *, importer: Importer, natives: Natives, ext_vars: Mapping[str, str]
    ) -> str:
        """The JSON text that a Jsonnet file evaluates to. It is not read: `text` is what is in it.

        Raises:
            JsonnetError: it does not evaluate.
            CommodoreError: a native function or an import was refused for safety.
        """
        self._files += 1
        start = time.process_time()
        collected: list[str] = []
        try:
            with _listening(collected):
                return _jsonnet.evaluate(path, text, importer=importer, natives=natives, ext_vars=ext_vars)
        finally:
            self._seconds += time.process_time() - start
            self.traces += [line.replace(self._root, "") for line in collected]

    def evaluations(self) -> Evaluations:
        """What was done so far."""
        return Evaluations(self._files, self._seconds)


def _sink() -> IO[bytes]:
    """A file in memory, where the system has that."""
    return open(os.memfd_create("traces"), "w+b") if sys.platform == "linux" else tempfile.TemporaryFile()


@contextlib.contextmanager
def _listening(lines: list[str]) -> Iterator[None]:
    """Collect the lines that are written to file descriptor 2, where `std.trace` writes; they are there at the end."""
    try:
        stderr = os.dup(2)
    except OSError:  # closed: there is no reader
        yield
        return
    with os.fdopen(stderr, "wb"), _sink() as sink:
        os.dup2(sink.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(stderr, 2)
            sink.seek(0)
            lines += sink.read().decode(errors="replace").splitlines()
