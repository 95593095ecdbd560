"""Which paths of a branch are ours to change, and which of them no Application writes any more."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commodore.base.errors import PolicyError
from commodore.core.sources.git import redact, repository_key
from commodore.hydrate.layout import FILES, HYDRATOR, METADATA, read_metadata
from commodore.hydrate.model import CommitRequest, Scope, Writing

_FEW = 3
"""Paths that may go without being asked about."""


@dataclass(frozen=True, slots=True)
class Owned:
    """Output paths of a branch.

    Attributes:
        ours: with the names of our files there.
        foreign: hydrated by another program.
        stale: ours, but no Application writes there any more.
    """

    ours: Mapping[str, tuple[str, ...]]
    foreign: tuple[str, ...]
    stale: tuple[str, ...]


def examine(metadata: Mapping[str, bytes], scope: Scope, adopt: Collection[str]) -> Owned:
    """Sort the output paths of a branch.

    Args:
        metadata: the content of each `hydrator.metadata` below the root, by its folder.
        adopt: paths of another program that become ours.
    """
    ours: dict[str, tuple[str, ...]] = {}
    foreign: list[str] = []
    dry = repository_key(scope.dry_url)
    for folder, content in sorted(metadata.items()):
        data = read_metadata(content)
        if folder in adopt:
            ours[folder] = FILES
        elif not is_hydrated_here(content):
            foreign.append(folder)
        elif _is_of(data, dry, scope):
            ours[folder] = _names(data)
    stale = tuple(folder for folder in ours if folder not in scope.written)
    return Owned(ours, tuple(foreign), stale)


def check_removal(owned: Owned, removed: Sequence[str], request: CommitRequest, writing: Writing) -> None:
    """See that not most of a branch goes at once, nor all of one to which no Application writes any more.

    Args:
        removed: the output paths that would go.

    Raises:
        PolicyError: CMD-HYD-031.
    """
    gone = len(removed)
    is_little = bool(request.scope.written) and (gone <= _FEW or gone * 2 <= len(owned.ours))
    if writing.allow_mass_removal or is_little:
        return
    raise PolicyError(
        "CMD-HYD-031",
        f"{gone} of {len(owned.ours)} output paths of the branch {request.branch} of {redact(request.url)} would be"
        " removed",
        hint="see whether all Applications were found; if that is meant, add --allow-mass-removal",
    )


def is_hydrated_here(metadata: bytes | None) -> bool:
    """Whether metadata of an output path are those of this program."""
    return str(read_metadata(metadata).get("hydrator", "")).split("/")[0] == HYDRATOR


def _is_of(data: Mapping[str, Any], dry: str, scope: Scope) -> bool:
    source = data.get("drySource")
    revision = source.get("targetRevision") if isinstance(source, Mapping) else None
    try:
        same = repository_key(str(data.get("repoURL"))) == dry
    except Exception:
        return False
    return same and (revision or "HEAD") in {one or "HEAD" for one in scope.dry_revisions}


def _names(data: Mapping[str, Any]) -> tuple[str, ...]:
    files = data.get("files")
    if not isinstance(files, list):
        return FILES
    return tuple(sorted({*(name for name in files if name in FILES), METADATA}))
