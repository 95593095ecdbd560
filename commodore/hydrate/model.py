"""Data of hydration: Applications with a dry and a hydrated side, groups of them, and requests for commits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from commodore.base.errors import CommodoreError, Location
from commodore.base.events import Warned
from commodore.core.sources.git import Author, GitRights, repository_key

LAYOUT = 1
"""The version of the layout of hydrated branches. A new version renders everything again."""

Removal = Literal["report", "delete", "keep"]
Edited = Literal["refuse", "overwrite", "keep"]
Order = Literal["seed", "source"]
SecretPolicy = Literal["refuse", "warn", "allow"]


@dataclass(frozen=True, slots=True)
class Catalog:
    """The catalog of a cluster as the dry source. Its dry repository is the configuration of the tenant.

    Attributes:
        url, revision: the global configuration; an empty revision is the default branch.
    """

    cluster: str
    url: str
    revision: str


@dataclass(frozen=True, slots=True)
class Additional:
    """A source that is rendered in addition to the dry source, or provides files for it.

    Attributes:
        url, revision: of its repository; an empty revision of a git repository is `HEAD`.
        is_chart: True if the source is a chart; the revision is its version.
        data: the source as written in the Application.
    """

    url: str
    revision: str
    is_chart: bool
    data: Mapping[str, Any]

    def is_elsewhere(self, member: Hydration) -> bool:
        """Return True if the source is in another git repository than the dry source of its Application."""
        return not self.is_chart and repository_key(self.url) != repository_key(member.dry_url)


@dataclass(frozen=True, slots=True)
class Pins:
    """The commits, in addition to the dry commit, that an Application is rendered from.

    Attributes:
        reference: for a catalog, the commit of the global configuration.
        additional: the full commit id of each additional source; empty for charts.
    """

    reference: Reference | None = None
    additional: tuple[str, ...] = ()


NO_PINS = Pins()


@dataclass(frozen=True, slots=True)
class Hydration:
    """An Application with a source hydrator.

    Attributes:
        dry_url, dry_revision, dry_path: the location of its sources; an empty revision is `HEAD`.
        catalog: the compiled catalog that is its source; None for the files at `dry_path`.
        additional: sources in addition to the dry source.
        url: the destination repository.
        sync_branch: the branch that is deployed.
        branch: the destination branch: `sync_branch`, or the branch of `hydrateTo`.
        path: the output path in the branch, normalised.
        target_namespace: the namespace of the Application's destination, passed to renderers.
        settings: the fields of `sourceHydrator` that affect rendering.
        generate_paths: the annotation `manifest-generate-paths`; empty if absent.
    """

    name: str
    namespace: str
    project: str
    dry_url: str
    dry_revision: str
    dry_path: str
    url: str
    sync_branch: str
    branch: str
    path: str
    target_namespace: str
    settings: Mapping[str, Any]
    generate_paths: str
    place: Location
    catalog: Catalog | None = None
    additional: tuple[Additional, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """The Applications of one dry commit that write to one branch; they are hydrated by one commit.

    Attributes:
        members: sorted by output path.
    """

    dry_key: str
    dry_sha: str
    key: str
    branch: str
    members: tuple[Hydration, ...]

    @property
    def first(self) -> Hydration:
        return self.members[0]

    @property
    def id(self) -> str:
        """12 hex digits that identify the group, independent of its dry commit."""
        revisions = sorted({member.dry_revision or "HEAD" for member in self.members})
        text = json.dumps([self.dry_key, revisions, self.key, self.branch])
        return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Reference:
    """The commit of another repository that the trailers of a dry commit refer to. Absent parts are empty."""

    author: str = ""
    date: str = ""
    subject: str = ""
    body: str = ""
    sha: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class DryCommit:
    """The provenance of a dry commit, as recorded on branches.

    Attributes:
        author: `Name <mail>`.
        date: the author date, RFC 3339 in UTC.
        body: the message after the subject, without the trailers of the reference.
    """

    sha: str
    author: str
    date: str
    subject: str
    body: str
    reference: Reference | None = None


@dataclass(frozen=True, slots=True)
class PathOutput:
    """The desired content of one output path.

    Attributes:
        objects: in the order of the manifest.
        metadata: keys of `hydrator.metadata` in addition to the root's.
    """

    path: str
    objects: tuple[Mapping[str, Any], ...]
    readme: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of a branch that belongs to a group.

    Attributes:
        dry_revisions: the dry revisions of the members; a path with one of these belongs to the group.
        written: the output paths of all Applications that write to the branch, including other groups.
    """

    dry_url: str
    dry_revisions: tuple[str, ...]
    written: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """A request for a commit on a branch, without credentials.

    Attributes:
        group: the id of the group.
        inputs: the digest of everything that the output depends on in addition to the dry commit.
        follows: the dry branches with the dry commit as their head; the request is obsolete once one has moved.
    """

    group: str
    inputs: str
    url: str
    sync_branch: str
    branch: str
    scope: Scope
    follows: tuple[str, ...]
    commit: DryCommit
    message: str
    paths: tuple[PathOutput, ...]
    author: Author | None = None


@dataclass(frozen=True, slots=True)
class CommitRules:
    """Options for commits.

    Attributes:
        removal: the handling of output paths that no Application writes any more.
        edited: the handling of output paths that others have edited.
        adopt: output paths of another program to take over.
        dated_dry: use the author date of the dry commit as committer date, so that equal commits have equal ids.
    """

    removal: Removal = "report"
    edited: Edited = "refuse"
    rewrite: bool = False
    allow_empty: bool = False
    allow_mass_removal: bool = False
    adopt: tuple[str, ...] = ()
    notes: bool = True
    dated_dry: bool = False


@dataclass(frozen=True, slots=True)
class PublishRules:
    """Options for publishing commits.

    Attributes:
        sign: the signing key; empty for git's default key; None to not sign.
        rights: returns the credentials for pushes to a URL by Applications of some projects.
        allow_older: push even if the branch of the sources has moved meanwhile, or a newer commit is hydrated.
        dry: do not push.
    """

    writing: CommitRules = CommitRules()
    sign: str | None = None
    rights: Callable[[str, frozenset[str]], GitRights | None] = lambda *_: None
    allow_older: bool = False
    dry: bool = False


@dataclass(frozen=True, slots=True)
class PathCounts:
    """Counts of the objects of an output path, and of the differences from the previous manifest."""

    objects: int
    added: int
    removed: int
    changed: int

    @property
    def differs(self) -> bool:
        return bool(self.added or self.removed or self.changed)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a group.

    Attributes:
        word: `committed`, `created`, `noted`, `hydrated`, `unaffected`, `unchanged`, `superseded`, `planned`, `waiting`
            or `failed`.
        commit: the branch's head afterwards; empty if unknown.
        changed, removed, stale: output paths.
        retries: pushes repeated because other pushes were faster.
        diff: the lines of the manifests' diff if nothing was pushed.
        counts: of the output paths that were rendered.
        warnings: about this branch while the commit was made and pushed.
    """

    word: str
    reason: str
    commit: str = ""
    base: str = ""
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    diff: tuple[str, ...] = ()
    retries: int = 0
    counts: Mapping[str, PathCounts] = field(default_factory=dict)
    warnings: tuple[Warned, ...] = ()


Result = Outcome | CommodoreError
"""The outcome of a group, or its error."""


def revision_of(text: str) -> str | None:
    """Return a revision in the form of repository stores: None for the default branch."""
    return None if text in ("", "HEAD") else text
