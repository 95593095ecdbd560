"""Documents of files, kept by the content that they were parsed from: of this run, and of those before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from commodore.limits import Limits
from commodore.manifests.kube_yaml import read_placed_documents
from commodore.results import Result, ResultStore, shape_of

_SHAPE = shape_of([])
_NAME = "documents"
_KIND = "argocd documents 1"
_KEPT = frozenset(("Application", "ApplicationSet", "AppProject"))
"""Others may hold passwords: Secrets, values of charts, generators of kustomizations."""
_ROOM = 2
"""How often as many contents are kept as a run has asked for: those of a few branches."""


class ParsedFiles:
    """The YAML documents of a repository's files.

    Those that define Applications are kept as one result for the repository, a line for each content. A file that has
    changed is parsed again; one that cannot be parsed, or has other objects, each time.

    Args:
        root: the store of results; None keeps nothing.
        repository: what tells the repository from others; all its branches and checkouts share what is kept.
    """

    def __init__(self, root: Path | None, repository: Iterable[str], limits: Limits) -> None:
        self._store = ResultStore(root, limits) if root is not None else None
        self._subject = hashlib.sha256(json.dumps([_KIND, sorted(repository)]).encode()).hexdigest()
        self._before = dict(self._kept())
        self._asked: dict[str, bytes] = {}

    def documents(self, content: bytes, place: str) -> list[tuple[Any, int]]:
        """The documents of a text, empty ones left out, each with the line on which it begins.

        Raises:
            InputError: see `read_placed_documents`.
        """
        digest = hashlib.sha256(content).hexdigest()
        line = self._asked.get(digest) or self._before.get(digest)
        if line is not None:
            self._asked[digest] = line
            return [(value, number) for value, number in json.loads(line)]
        found = list(read_placed_documents(content, place=place))
        if all(isinstance(value, dict) and value.get("kind") in _KEPT for value, _ in found):
            self._asked[digest] = json.dumps(found).encode()
        return found

    def keep(self) -> None:
        """Keep what was asked for, for later runs; and what was kept before, as long as it is not much more."""
        if self._store is None or self._asked.keys() <= self._before.keys():
            return
        lines = dict(self._asked)
        for digest, line in self._before.items():
            if len(lines) >= _ROOM * len(self._asked):
                break
            lines.setdefault(digest, line)
        content = b"".join(b"%s %s\n" % (digest.encode(), line) for digest, line in lines.items())
        self._store.add(self._subject, {}, Result(((_NAME, 0o644, content),)))

    def _kept(self) -> Iterator[tuple[str, bytes]]:
        found = self._store.find(self._subject, _SHAPE, []) if self._store is not None else None
        for _, _, content in found.files if found is not None else ():
            for line in content.splitlines() if isinstance(content, bytes) else ():
                digest, _, value = line.partition(b" ")
                yield digest.decode(), value
