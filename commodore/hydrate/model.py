"""Values of hydration: Applications with a dry and a hydrated side, groups of them, and commits that are wanted."""

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
"""The version of what is written to hydrated branches. Another one renders everything again."""

Removal = Literal["report", "delete", "keep"]
Edited = Literal["refuse", "overwrite", "keep"]
Order = Literal["seed", "source"]
SecretPolicy = Literal["refuse", "warn", "allow"]


@dataclass(frozen=True, slots=True)
class Catalog:
    """The catalog of a cluster as what is hydrated. Its dry repository is the configuration of the tenant.

    Attributes:
        url, revision: the global configuration; the revision may be empty, which is the default branch.
    """

    cluster: str
    url: str
    revision: str


@dataclass(frozen=True, slots=True)
class Additional:
    """A source that is rendered in addition to the dry one, or that has files for it.

    Attributes:
        url, revision: of its repository; the revision of a git repository may be empty, which is `HEAD`.
        is_chart: it is a chart, and the revision its version.
        data: the source as it is written.
    """

    url: str
    revision: str
    is_chart: bool
    data: Mapping[str, Any]

    def is_elsewhere(self, member: Hydration) -> bool:
        """Tell if the source is in another git repository than the dry one of its Application."""
        return not self.is_chart and repository_key(self.url) != repository_key(member.dry_url)


@dataclass(frozen=True, slots=True)
class Pins:
    """The commits, in addition to the dry one, that something is rendered of.

    Attributes:
        reference: of a catalog, the commit of the global configuration.
        additional: of each additional source its full commit id; empty for charts.
    """

    reference: Reference | None = None
    additional: tuple[str, ...] = ()


NO_PINS = Pins()


@dataclass(frozen=True, slots=True)
class Hydration:
    """One Application that is hydrated.

    Attributes:
        dry_url, dry_revision, dry_path: where its sources are; the revision may be empty, which is `HEAD`.
        catalog: the compiled catalog that it is made of; None for the files at `dry_path`.
        additional: sources in addition to the dry one.
        url: the repository that is written to.
        sync_branch: the branch that is deployed.
        branch: the branch that is written to: `sync_branch`, or the one of `hydrateTo`.
        path: the folder that is written, normalised.
        target_namespace: the namespace of the destination, which renderers know.
        settings: all of `sourceHydrator` that counts for what is rendered.
        generate_paths: the annotation `manifest-generate-paths`, empty without it.
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
    """The source of one commit: the Applications of one dry commit that write to one branch.

    Attributes:
        members: by output path.
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
        """12 hex digits that name the group whatever its dry commit is."""
        revisions = sorted({member.dry_revision or "HEAD" for member in self.members})
        text = json.dumps([self.dry_key, revisions, self.key, self.branch])
        return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Reference:
    """The commit elsewhere that a dry commit is about, by its trailers. Absent parts are empty."""

    author: str = ""
    date: str = ""
    subject: str = ""
    body: str = ""
    sha: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class DryCommit:
    """The provenance of a dry commit, as branches record it.

    Attributes:
        author: `Name <mail>`.
        date: the author date, RFC 3339 in UTC.
        body: what follows the subject, without the trailers of the reference.
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
        objects: in the order in which they are written.
        metadata: keys of `hydrator.metadata` beyond those of the root.
    """

    path: str
    objects: tuple[Mapping[str, Any], ...]
    readme: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of a branch that is a group's own.

    Attributes:
        dry_revisions: what the members follow; a path is the group's own if it follows one of these.
        written: the output paths of all Applications that write to the branch, of other groups too.
    """

    dry_url: str
    dry_revisions: tuple[str, ...]
    written: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """A commit that is wanted on a branch; it holds no credentials.

    Attributes:
        group: the id of the group.
        inputs: the digest of all that the output depends on in addition to the dry commit.
        follows: the dry branches whose newest commit it is; when one has moved, the commit is not wanted any more.
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
class Writing:
    """Rules for commits.

    Attributes:
        removal: what happens to paths that no Application writes any more.
        edited: what happens to paths that others have edited.
        adopt: output paths of another program that become ours.
        dated_dry: commit at the time of the dry commit's author, too, so that equal commits have equal ids.
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
class Publishing:
    """Rules for publishing commits.

    Attributes:
        sign: the key to sign with, empty for git's own choice; None not to sign.
        rights: what a push is let in by, to a URL to which Applications of some projects write.
        allow_older: push although the branch of the sources has moved meanwhile, or a newer commit is hydrated.
        dry: push nothing.
    """

    writing: Writing = Writing()
    sign: str | None = None
    rights: Callable[[str, frozenset[str]], GitRights | None] = lambda *_: None
    allow_older: bool = False
    dry: bool = False


@dataclass(frozen=True, slots=True)
class PathCounts:
    """Counts of the objects of an output path, and of those that differ from what was there."""

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
        commit: the branch's head afterwards, if it is known.
        changed, removed, stale: output paths.
        retries: pushes that were made again, as others were faster.
        diff: the lines by which manifests would change, if nothing was pushed.
        counts: of the output paths that were rendered.
        warnings: those about this branch while the commit was made and pushed.
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
"""The outcome of a group, or the error that it failed with."""


def revision_of(text: str) -> str | None:
    """A revision as stores take it: None for the default branch."""
    return None if text in ("", "HEAD") else text
