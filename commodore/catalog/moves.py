"""Find dependencies whose versions have changed since the catalog's last commit."""

from __future__ import annotations

import re
from dataclasses import dataclass

from commodore.base.context import Context
from commodore.base.printable import only_printable
from commodore.catalog.message import SUBJECT, sections
from commodore.catalog.metadata import CompileMetadata, RepositoryVersion
from commodore.core.sources.git import Git, PublishedClone

_KINDS = ("component", "package", "configuration")
_TITLE = re.compile(r"(?P<title>\S.*):")
_ENTRY = re.compile(r" \* (?P<name>\S+)(?: \(\S+\))?: (?P<version>.*) \((?P<sha>[0-9a-f]{4,64})\)")


@dataclass(frozen=True, slots=True)
class Move:
    """A changed dependency.

    Attributes:
        kind: `component`, `package` or `configuration`.
        name: the instance or package; `global` or `tenant`.
        before: its version and commit, such as `v1.0.0 (1a2b3c4)`; None if it is new.
        after: its current version and commit; None if it was removed.
    """

    kind: str
    name: str
    before: str | None
    after: str | None


def moves_since(clone: PublishedClone, metadata: CompileMetadata, context: Context) -> tuple[Move, ...]:
    """Return the changes since the last catalog commit of this program, or of the published one.

    Empty without such a commit.

    Raises:
        EnvironmentFault: git fails.
    """
    if clone.empty:
        return ()
    command = ["log", "-1", "--fixed-strings", f"--grep={SUBJECT}", "--format=%B", clone.sha]
    message = Git(clone.path, context).run(command).text
    return moves_between(message, metadata) if message.startswith(SUBJECT) else ()


def moves_between(message: str, metadata: CompileMetadata) -> tuple[Move, ...]:
    """Return the differences between a commit's message and the current compile, by kind and name."""
    before = _read(message)
    return tuple(
        Move(kind, name, _shown(was), _shown(now))
        for kind, (title, repositories) in zip(_KINDS, sections(metadata).items(), strict=True)
        for name in sorted(before.get(title, {}).keys() | repositories.keys())
        if not _is_same(was := before.get(title, {}).get(name), now := _entry(repositories.get(name)))
    )


@dataclass(frozen=True, slots=True)
class _Entry:
    """A version and the abbreviation of its commit."""

    version: str
    short_sha: str
    sha: str


def _read(message: str) -> dict[str, dict[str, _Entry]]:
    """Return the entries of a commit message by title and name."""
    entries: dict[str, dict[str, _Entry]] = {}
    below: dict[str, _Entry] = {}
    for line in message.splitlines():
        if (title := _TITLE.fullmatch(line)) is not None:
            below = entries.setdefault(title["title"], {})
        elif (entry := _ENTRY.fullmatch(line)) is not None:
            below[entry["name"]] = _Entry(entry["version"], entry["sha"], entry["sha"])
    return entries


def _entry(used: RepositoryVersion | None) -> _Entry | None:
    return None if used is None else _Entry(only_printable(used.version), used.short_sha, used.sha)


def _shown(entry: _Entry | None) -> str | None:
    return None if entry is None else f"{entry.version} ({entry.short_sha})"


def _is_same(was: _Entry | None, now: _Entry | None) -> bool:
    if was is None or now is None:
        return was is now
    return was.version == now.version and now.sha.startswith(was.sha)
