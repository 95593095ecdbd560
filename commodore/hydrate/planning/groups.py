"""Groups of Applications that are hydrated by one commit each, and the digest of their inputs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from commodore.argocd import GeneratePaths
from commodore.base.errors import InputError, raise_all
from commodore.base.events import Announce, Warned
from commodore.core.sources.git import repository_key
from commodore.hydrate.branches.edits import Edit
from commodore.hydrate.model import LAYOUT, Group, Hydration


@dataclass(frozen=True, slots=True)
class PlannedGroup:
    """A group and the decision about it: `hydrated`, `unaffected`, `superseded`, `waiting`, `render`, `remove` (only
    stale paths are removed), or `abandoned` (no Application writes to the branch any more).

    Attributes:
        known: the dry commit in its note; empty without a note.
        stale: output paths that no Application writes any more.
        edits: output paths that others have edited.
        warnings: of its rendering.
        seconds: the duration of its rendering, and of the push to its repository, which is shared by groups.
    """

    group: Group
    decision: str
    reason: str
    inputs: str
    known: str = ""
    stale: tuple[str, ...] = ()
    edits: Mapping[str, Edit] = field(default_factory=dict)
    warnings: tuple[Warned, ...] = ()
    seconds: float = 0.0


def group(hydrations: Iterable[Hydration], dry_sha: Callable[[Hydration], str]) -> tuple[Group, ...]:
    """Group hydrations. Groups are sorted by branch, first output path and destination, members by output path.

    Args:
        dry_sha: returns the commit of a hydration's revision.
    """
    keyed = sorted(
        (
            (
                repository_key(hydration.dry_url),
                dry_sha(hydration),
                repository_key(hydration.url),
                hydration.branch,
                hydration.path,
                hydration.name,
            ),
            hydration,
        )
        for hydration in hydrations
    )
    groups = [
        Group(dry_key, sha, key, branch, tuple(member for _, member in members))
        for (dry_key, sha, key, branch), members in groupby(keyed, key=lambda pair: pair[0][:4])
    ]
    return tuple(sorted(groups, key=lambda item: (item.branch, item.first.path, item.key)))


def check_sizes(groups: Iterable[Group], most: int) -> None:
    """Check that no group has more than `most` Applications.

    Raises:
        InputError: CMD-HYD-028.
    """
    raise_all(
        [
            InputError(
                "CMD-HYD-028",
                f"{len(item.members)} Applications are hydrated to the branch {item.branch}, which is more than {most}",
                hint="hydrate them to several branches",
            )
            for item in groups
            if len(item.members) > most
        ]
    )


def warn(groups: Iterable[Group], announce: Announce) -> None:
    """Warn about branches that are hydrated from several dry commits."""
    by_branch: dict[tuple[str, str], list[Group]] = {}
    for item in groups:
        by_branch.setdefault((item.key, item.branch), []).append(item)
    for (_, branch), several in sorted(by_branch.items()):
        if len(several) > 1:
            commits = ", ".join(sorted(entry.dry_sha[:7] for entry in several))
            announce(
                Warned(
                    "CMD-HYD-033",
                    f"the branch {branch} is hydrated from several dry commits: {commits}",
                    hint="give them branches of their own, so that a promotion knows which one it moves",
                )
            )


def inputs_digest(group: Group, options: Mapping[str, Any]) -> str:
    """Return the digest (`sha256:...`) of everything that a group's output depends on in addition to its dry commit.

    Args:
        options: JSON-ready options common to all members, such as versions of tools and templates.
    """
    members = [
        [
            member.name,
            member.namespace,
            member.project,
            member.dry_path,
            member.path,
            member.sync_branch,
            member.target_namespace,
            dict(member.settings),
        ]
        for member in group.members
    ]
    text = json.dumps({"layout": LAYOUT, "members": members, "options": options}, sort_keys=True, default=str)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def is_affected(group: Group, changed: Iterable[str]) -> bool:
    """Return True if changed files of the dry repository can change a group's output; always without the annotation.

    Args:
        changed: paths in the dry repository.
    """
    files = list(changed)
    known = [GeneratePaths(member.generate_paths, [member.dry_path]) for member in group.members]
    return any(not paths or any(map(paths.cover, files)) for paths in known)
