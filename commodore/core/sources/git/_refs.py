"""Refs of a bare clone, read once per fetch, and the resolution of versions by them."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from commodore.base.context import Context
from commodore.base.files.sealed import read_note, write_note
from commodore.base.files.tree import files
from commodore.base.files.workspace import guard_disk
from commodore.base.values.commits import is_commit
from commodore.core.sources.git.runner import Git

Kind = Literal["branch", "tag", "revision"]

BRANCHES = "refs/remotes/origin/"
TAGS = "refs/tags/"
DISCARDED = "refs/commodore/discarded/"

_ABBREVIATED = re.compile(r"^[0-9a-fA-F]{4,64}$")
_DESCRIBED = re.compile(r"^.+-\d+-g[0-9a-f]{4,64}$")
_SUFFIX = re.compile(r"[~^]")


@dataclass(frozen=True, slots=True)
class Revision:
    """A resolved version: the requested name, the commit (full hexadecimal id), and the kind of the name."""

    version: str
    sha: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class RemoteRefs:
    """Branches and tags as the remote had them at the last fetch: short name -> object id.

    `commits` maps a tag to the commit it points at; tags of other objects, or of tags, are left out.
    `short` has the abbreviations, of at least six digits, of all commits that a branch or a tag points at.
    """

    branches: Mapping[str, str]
    tags: Mapping[str, str]
    commits: Mapping[str, str]
    head: str | None
    short: Mapping[str, str] = field(default_factory=dict)

    @property
    def tips(self) -> frozenset[str]:
        """All commits that a branch or a tag of the remote points at."""
        return frozenset(self.branches.values()) | frozenset(self.commits.values())


NO_REFS = RemoteRefs({}, {}, {}, None)
"""The refs of a clone before its first fetch."""


def read_refs(bare: Path, context: Context) -> RemoteRefs:
    """Read the remote's branches and tags from a bare clone: one git process, none if nothing has changed since."""
    storage = _describe_storage(bare)
    noted = _read_note(bare, storage)
    if noted is not None:
        return noted
    refs = _list_refs(bare, context)
    write_note(bare / _NOTE, asdict(refs), "refs", storage)
    return refs


def write_refs(bare: Path, refs: RemoteRefs) -> None:
    """Write branches and tags into an empty bare repository, which keeps refs in files and has all objects."""
    names = {BRANCHES + name: sha for name, sha in refs.branches.items()}
    names.update({TAGS + name: sha for name, sha in refs.tags.items()})
    lines = [f"{sha} {name}\n".encode("utf-8", "surrogateescape") for name, sha in names.items()]
    lines.sort(key=lambda line: line.partition(b" ")[2])
    with guard_disk(bare):
        (bare / "packed-refs").write_bytes(b"# pack-refs with: sorted \n" + b"".join(lines))
        if refs.head is not None:
            (bare / BRANCHES).mkdir(parents=True, exist_ok=True)
            content = f"ref: {BRANCHES}{refs.head}\n"
            (bare / BRANCHES / "HEAD").write_bytes(content.encode("utf-8", "surrogateescape"))
    write_note(bare / _NOTE, asdict(refs), "refs", _describe_storage(bare))


def refs_from(content: Mapping[str, Any]) -> RemoteRefs:
    """Return `RemoteRefs` from the output of `dataclasses.asdict`.

    Raises:
        TypeError: the content has another shape.
    """
    refs = RemoteRefs(**content)
    if not all(isinstance(names, dict) for names in (refs.branches, refs.tags, refs.commits, refs.short)):
        raise TypeError("branches, tags and commits must be mappings")
    return refs


_NOTE = "commodore-refs"


def _describe_storage(bare: Path) -> str:
    """Return a digest of the files with the refs and their times. Git replaces these files, it never modifies them."""
    entries: list[tuple[str, int, int, int]] = []
    for start in ("packed-refs", "refs", "reftable"):
        for path in _files(bare / start):
            status = os.lstat(path)
            entries.append((os.path.relpath(path, bare), status.st_mtime_ns, status.st_size, status.st_ino))
    return hashlib.sha256(json.dumps(sorted(entries)).encode()).hexdigest()


def _files(start: Path) -> Iterator[Path]:
    if start.is_file():
        yield start
    yield from (path for _, path in files(start, links=True))


def _read_note(bare: Path, storage: str) -> RemoteRefs | None:
    try:
        return refs_from(read_note(bare / _NOTE, "refs", storage))
    except (LookupError, TypeError, AttributeError):
        return None


def _list_refs(bare: Path, context: Context) -> RemoteRefs:
    fields = "%(refname)%00%(objectname)%00%(objecttype)%00%(*objectname)%00%(*objecttype)%00%(symref)"
    layout = f"{fields}%00%(objectname:short=6)%00%(*objectname:short=6)"
    answer = Git(bare, context).run(["for-each-ref", f"--format={layout}", BRANCHES, TAGS])
    branches: dict[str, str] = {}
    tags: dict[str, str] = {}
    commits: dict[str, str] = {}
    short: dict[str, str] = {}
    head: str | None = None
    for line in answer.text.splitlines():
        name, sha, kind, peeled, peeled_kind, symref, abbreviated, peeled_abbreviated = line.split("\0")
        if kind == "commit":
            short[sha] = abbreviated
        elif peeled_kind == "commit":
            short[peeled] = peeled_abbreviated
        if name == BRANCHES + "HEAD":
            head = symref.removeprefix(BRANCHES) if symref.startswith(BRANCHES) else None
        elif name.startswith(BRANCHES):
            branches[name.removeprefix(BRANCHES)] = sha
        else:
            tag = name.removeprefix(TAGS)
            tags[tag] = sha
            if kind == "commit":
                commits[tag] = sha
            elif peeled_kind == "commit":
                commits[tag] = peeled
    return RemoteRefs(branches, tags, commits, head, short)


def match_name(version: str, refs: RemoteRefs) -> tuple[str, Kind] | None:
    """Return the object that the name of a branch or tag points at; a branch is preferred to a tag."""
    if is_commit(version):
        return None  # an object id is never looked up as a name, so that a local copy of it can be trusted
    if version in refs.branches:
        return refs.branches[version], "branch"
    if version in refs.tags:
        return refs.commits.get(version, refs.tags[version]), "tag"
    return None


def expression(version: str, refs: RemoteRefs, default_branch: str) -> str | None:
    """Return a git revision expression for `version` that names objects only, so that no stale local ref is used.

    Returns None when the version's base is neither a ref of the remote nor an object id.
    """
    cut = _SUFFIX.search(version)
    base, suffix = (version[: cut.start()], version[cut.start() :]) if cut else (version, "")
    match = match_name(base, refs) or _match_long_name(base, refs)
    if match is None and base in ("HEAD", "@", "origin", "origin/HEAD"):
        match = match_name(default_branch, refs)
    if match is not None:
        return match[0] + suffix
    if _ABBREVIATED.match(base):
        return base + suffix
    if _DESCRIBED.match(base):
        return base.rpartition("-g")[2] + suffix
    return None


def _match_long_name(name: str, refs: RemoteRefs) -> tuple[str, Kind] | None:
    for prefix in ("refs/heads/", "heads/", BRANCHES, "remotes/origin/", "origin/"):
        if name.startswith(prefix) and name.removeprefix(prefix) in refs.branches:
            return refs.branches[name.removeprefix(prefix)], "revision"
    for prefix in (TAGS, "tags/"):
        if name.startswith(prefix) and name.removeprefix(prefix) in refs.tags:
            return refs.tags[name.removeprefix(prefix)], "revision"
    return None
