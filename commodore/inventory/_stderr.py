"""What reclass-rs writes straight to file descriptor 2, separated from what other threads write meanwhile."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator

_KNOWN = re.compile(rb"ignore missing class |\[WARN\] |Missing class '|While initializing global thread pool")
_PANIC = re.compile(rb"\n?thread '[^\n]*' (?:\(\d+\) )?panicked at .*", re.DOTALL)
_ONE_AT_A_TIME = threading.Lock()  # the descriptor belongs to the process, so that two redirections would cross


@contextlib.contextmanager
def captured() -> Iterator[list[str]]:
    """Collect reclass-rs's warnings; the list is filled at the end. Everything else goes where it should have gone."""
    lines: list[str] = []
    with _ONE_AT_A_TIME:
        try:
            saved = os.dup(2)
        except OSError:  # closed: there is no reader
            yield lines
            return
        if sys.stderr is not None:
            sys.stderr.flush()
        with os.fdopen(saved, "wb", buffering=0) as stderr, tempfile.TemporaryFile() as sink:
            os.dup2(sink.fileno(), 2)
            try:
                yield lines
            finally:
                os.dup2(saved, 2)
                sink.seek(0)
                written = _PANIC.sub(b"", sink.read())
                for line in written.splitlines(keepends=True):
                    if _KNOWN.match(line):
                        lines.append(line.decode(errors="replace").rstrip())
                    else:
                        stderr.write(line)
