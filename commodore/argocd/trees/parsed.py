"""Parsed documents of files, cached by content during a run and between runs."""

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
"""Its results had passwords in URLs, so they are deleted."""
_STORED_KINDS = frozenset(("Application", "ApplicationSet", "AppProject"))
"""Kinds that are stored. Others may have passwords: Secrets, values of charts, generators of kustomizations."""
_USER = re.compile(r"(?:(?:git\+)?ssh://)?[\w.-]+@")
_MAX_RATIO = 2
"""Maximum of stored contents per content that a run has read, enough for a few branches."""


class ParsedFiles:
    """The YAML documents of a repository's files.

    Documents that define Applications are stored as one result per repository, with a line per content. A changed file
    is parsed again; a file that cannot be parsed, or has other objects or a URL with a password, in every run.

    Args:
        root: the result store; None stores nothing.
        repository: identities of the repository; all its branches and checkouts share the stored documents.
    """

    def __init__(self, root: Path | None, repository: Iterable[str], limits: Limits) -> None:
        self._store = ResultStore(root, limits) if root is not None else None
        names = sorted(repository)
        self._subject = _subject(_KIND, names)
        self._stored = dict(self._read_stored())
        if self._store is not None and not self._stored:
            self._store.forget(_subject(_FORMER, names), _SHAPE, [])
        self._used: dict[str, bytes] = {}

    def documents(self, content: bytes, place: str) -> list[tuple[Any, int]]:
        """Return the non-empty documents of a text, each with the number of its first line.

        Raises:
            InputError: see `read_placed_documents`.
        """
        digest = hashlib.sha256(content).hexdigest()
        line = self._used.get(digest) or self._stored.get(digest)
        if line is not None:
            self._used[digest] = line
            return [(value, number) for value, number in json.loads(line)]
        documents = list(read_placed_documents(content, place=place))
        if all(
            isinstance(value, dict) and value.get("kind") in _STORED_KINDS and _is_open(value) for value, _ in documents
        ):
            self._used[digest] = json.dumps(documents).encode()
        return documents

    def keep(self) -> None:
        """Store the documents that this run has read, and those of earlier runs up to a maximum."""
        if self._store is None or self._used.keys() <= self._stored.keys():
            return
        lines = dict(self._used)
        for digest, line in self._stored.items():
            if len(lines) >= _MAX_RATIO * len(self._used):
                break
            lines.setdefault(digest, line)
        content = b"".join(b"%s %s\n" % (digest.encode(), line) for digest, line in lines.items())
        self._store.add(self._subject, {}, Result(((_NAME, 0o644, content),)))

    def _read_stored(self) -> Iterator[tuple[str, bytes]]:
        result = self._store.find(self._subject, _SHAPE, []) if self._store is not None else None
        for _, _, content in result.files if result is not None else ():
            for line in content.splitlines() if isinstance(content, bytes) else ():
                digest, _, value = line.partition(b" ")
                yield digest.decode(), value


def _subject(kind: str, names: list[str]) -> str:
    return hashlib.sha256(json.dumps([kind, names]).encode()).hexdigest()


def _is_open(value: Any) -> bool:
    """Check that no text of a document may be a URL with a password, or contain one."""
    if isinstance(value, dict):
        return all(map(_is_open, value.values()))
    if isinstance(value, list):
        return all(map(_is_open, value))
    if not isinstance(value, str) or "@" not in value:
        return True
    if "\n" in value:
        return not holds_credentials(value)
    # In any spelling: text before an @ that is more than a user name and has a colon may have a password.
    return _USER.match(value) is not None or ":" not in value.rpartition("@")[0]
