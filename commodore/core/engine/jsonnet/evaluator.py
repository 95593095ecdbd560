"""Evaluate the Jsonnet files of an instance, and collect the output of `std.trace`."""

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
    """Evaluates the Jsonnet files of one instance, and counts files and CPU time.

    Args:
        root: the working directory; file names in traces are relative to it.
    """

    def __init__(self, root: Path) -> None:
        self.traces: list[str] = []
        self._root = f"{root}{os.sep}"
        self._files = 0
        self._seconds = 0.0

    def evaluate(
        self, path: str, text: str, *, importer: Importer, natives: Natives, ext_vars: Mapping[str, str]
    ) -> str:
        """Evaluate a Jsonnet file to JSON text. The file is not read: `text` is its content.

        Raises:
            JsonnetError: the evaluation failed.
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
        """Return the counts of all evaluations so far."""
        return Evaluations(self._files, self._seconds)


def _sink() -> IO[bytes]:
    """Open a temporary file, in memory if the system supports that."""
    return open(os.memfd_create("traces"), "w+b") if sys.platform == "linux" else tempfile.TemporaryFile()


@contextlib.contextmanager
def _listening(lines: list[str]) -> Iterator[None]:
    """Add the lines written to file descriptor 2, which `std.trace` writes to, to `lines` at the end of the block."""
    try:
        stderr = os.dup(2)
    except OSError:  # closed: traces are discarded
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
