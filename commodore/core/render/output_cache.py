"""Outputs of helm and kustomize, cached by everything that they depend on, in the results cache."""

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
_MOST = 64 << 20  # bytes of a chart or kustomization; a larger one is not cached


@dataclass
class OutputCache:
    """A cache of programs' outputs.

    Args:
        root: the folder of the results cache; None disables it.
        profile: the version of Argo CD whose programs are used.
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
        """Return a program's output, and the `way` it was obtained, see `Obtained`: cached for the same files and
        arguments, or else from running it now.

        Not cached are outputs of templates with random functions, of files that change meanwhile, of Applications with
        a password in a URL, and failures.

        Args:
            program: helm or kustomize; its identity is a part of the key.
            described: JSON-ready data, everything that the output depends on in addition to the files.
            files: returns the files that are read, by names that do not depend on their place; None if they are
                unknown.

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
    """Yield the files of a folder, with links followed.

    Args:
        name: the prefix of the files' names.
    """
    for path, entry in walk(folder, follow=True):
        if not entry.is_dir():
            yield f"{name}/{path}", Path(entry.path)


def _contents(files: Iterable[tuple[str, Path]] | None) -> Mapping[str, bytes] | None:
    """Return the files' contents by name; None if one is unreadable, or they are too large."""
    if files is None:
        return None
    contents: dict[str, bytes] = {}
    size = 0
    try:
        for name, path in files:
            size += os.stat(path).st_size
            if size > _MOST:
                return None
            contents[name] = path.read_bytes()
    except OSError:
        return None
    return contents


def _shows_password(output: bytes) -> bool:
    return b"argoproj.io/" in output and b"@" in output and holds_credentials(output.decode("utf-8", "replace"))


def _digests(contents: Mapping[str, bytes]) -> list[tuple[str, str]]:
    return [(name, hashlib.sha256(content).hexdigest()) for name, content in sorted(contents.items())]
