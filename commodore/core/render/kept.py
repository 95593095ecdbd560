"""What helm and kustomize wrote, kept by all that it depends on, in the store of results."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from commodore.base.files.tree import walk
from commodore.base.limits import Limits
from commodore.core.render.chart_results import ChartResults
from commodore.core.render.programs import command_of
from commodore.core.sources.git import holds_credentials

_OUTPUT = "output"
_RENDERED = "rendered"
_MOST = 64 << 20  # bytes of a chart or kustomization; a larger one is not kept


@dataclass
class Kept:
    """Outputs of programs.

    Args:
        root: the store of results; None keeps nothing.
        profile: the version of Argo CD whose programs run.
    """

    root: Path | None
    limits: Limits
    profile: str = ""
    _results: dict[str, ChartResults] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def output(
        self,
        program: str,
        described: object,
        files: Callable[[], Iterable[tuple[str, Path]] | None],
        run: Callable[[], bytes],
    ) -> tuple[bytes, str]:
        """What a program writes, and the `way` that it came, see `Obtained`: what it wrote for the same files and
        arguments, or else what it writes now.

        Nothing is kept of templates with random functions, of files that change meanwhile, of what fails, and of
        Applications with a password in a URL.

        Args:
            program: helm or kustomize; its own identity counts, too.
            described: JSON-ready data, all that the output depends on beside the files.
            files: gives the files that are read, with names that do not depend on where they lie; None if they are not
                known.

        Raises:
            Unavailable: the program is not installed.
            CommodoreError: as `run` does.
        """
        if self.root is None:
            return run(), _RENDERED
        before = _contents(files())
        if before is None:
            return run(), _RENDERED
        results = self._of(program)
        key = results.key(before.values(), ["argocd", program, described, _digests(before)])
        known = results.find(key)
        if known is not None:
            return known[_OUTPUT], "cache"
        output = run()
        if key and _contents(files()) == before and not _shows_password(output):
            results.add(key, {_OUTPUT: output})
        return output, _RENDERED

    def _of(self, program: str) -> ChartResults:
        with self._lock:
            if program not in self._results:
                self._results[program] = ChartResults(self.root, command_of(program, self.profile)[0], self.limits)
            return self._results[program]


def files_below(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    """The files of a folder, with links followed.

    Args:
        name: how the names of the files begin.
    """
    for path, entry in walk(folder, follow=True):
        if not entry.is_dir():
            yield f"{name}/{path}", Path(entry.path)


def _contents(files: Iterable[tuple[str, Path]] | None) -> Mapping[str, bytes] | None:
    """The files' contents by name; None if one cannot be read, or they are too large."""
    if files is None:
        return None
    found: dict[str, bytes] = {}
    size = 0
    try:
        for name, path in files:
            size += os.stat(path).st_size
            if size > _MOST:
                return None
            found[name] = path.read_bytes()
    except OSError:
        return None
    return found


def _shows_password(output: bytes) -> bool:
    return b"argoproj.io/" in output and b"@" in output and holds_credentials(output.decode("utf-8", "replace"))


def _digests(contents: Mapping[str, bytes]) -> list[tuple[str, str]]:
    return [(name, hashlib.sha256(content).hexdigest()) for name, content in sorted(contents.items())]
