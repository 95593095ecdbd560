"""Documents of files, kept by the content that they were parsed from: of this run, and of those before."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from commodore.base.limits import Limits
from commodore.base.yaml.kube_yaml import read_placed_documents
from commodore.core.results.result_store import Result, ResultStore, shape_of
from commodore.core.sources.git import holds_credentials

_SHAPE = shape_of([])
_NAME = "documents"
_KIND = "argocd documents 2"
_FORMER = "argocd documents 1"
"""It kept passwords in URLs."""
_KEPT = frozenset(("Application", "ApplicationSet", "AppProject"))
"""Others may hold passwords: Secrets, values of charts, generators of kustomizations."""
_USER = re.compile(r"(?:(?:git\+)?ssh://)?[\w.-]+@")
_ROOM = 2
"""How often as many contents are kept as a run has asked for: those of a few branches."""


class ParsedFiles:
    """The YAML documents of a repository's files.

    Those that define Applications are kept as one result for the repository, a line for each content. A file that has
    changed is parsed again; one that cannot be parsed, has other objects or a URL with a password, each time.

    Args:
        root: the store of results; None keeps nothing.
        repository: what tells the repository from others; all its branches and checkouts share what is kept.
    """

    def __init__(self, root: Path | None, repository: Iterable[str], limits: Limits) -> None:
        self._store = ResultStore(root, limits) if root is not None else None
        names = sorted(repository)
        self._subject = _subject(_KIND, names)
        self._before = dict(self._kept())
        if self._store is not None and not self._before:
            self._store.forget(_subject(_FORMER, names), _SHAPE, [])
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
        if all(isinstance(value, dict) and value.get("kind") in _KEPT and _is_open(value) for value, _ in found):
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


def _subject(kind: str, names: list[str]) -> str:
    return hashlib.sha256(json.dumps([kind, names]).encode()).hexdigest()


def _is_open(value: Any) -> bool:
    """Indicate that no text of a document may be a URL with a password, or hold one."""
    if isinstance(value, dict):
        return all(map(_is_open, value.values()))
    if isinstance(value, list):
        return all(map(_is_open, value))
    if not isinstance(value, str) or "@" not in value:
        return True
    if "\n" in value:
        return not holds_credentials(value)
    # However it is spelt: what begins with more than a user name and has a colon may say a password.
    return _USER.match(value) is not None or ":" not in value.rpartition("@")[0]
