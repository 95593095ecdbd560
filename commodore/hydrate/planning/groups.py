"""Groups of Applications that make one commit each, and what their output depends on."""

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
class Planned:
    """A group, and what is to be done: `hydrated`, `unaffected`, `superseded`, `waiting`, `render`, `remove` (no more
    than paths that no Application writes any more), or `abandoned` (no Application writes to the branch at all).

    Attributes:
        known: the dry commit that is noted for it; empty if there is none.
        stale: output paths that no Application writes any more.
        edits: output paths that others have edited.
        warnings: those of rendering it.
        seconds: how long rendering it took, and pushing to its repository, which groups have in common.
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
    """The groups by branch, first output path and destination; each has its members by output path.

    Args:
        dry_sha: the commit that a hydration's revision is.
    """
    keyed = sorted(
        ((repository_key(one.dry_url), dry_sha(one), repository_key(one.url), one.branch, one.path, one.name), one)
        for one in hydrations
    )
    groups = [
        Group(dry_key, sha, key, branch, tuple(one for _, one in members))
        for (dry_key, sha, key, branch), members in groupby(keyed, key=lambda pair: pair[0][:4])
    ]
    return tuple(sorted(groups, key=lambda one: (one.branch, one.first.path, one.key)))


def check_sizes(groups: Iterable[Group], most: int) -> None:
    """See that no group has more Applications than `most`.

    Raises:
        InputError: CMD-HYD-028.
    """
    raise_all(
        [
            InputError(
                "CMD-HYD-028",
                f"{len(one.members)} Applications are hydrated to the branch {one.branch}, which is more than {most}",
                hint="hydrate them to several branches",
            )
            for one in groups
            if len(one.members) > most
        ]
    )


def warn(groups: Iterable[Group], announce: Announce) -> None:
    """Warn of branches that get commits of several dry commits."""
    by_branch: dict[tuple[str, str], list[Group]] = {}
    for one in groups:
        by_branch.setdefault((one.key, one.branch), []).append(one)
    for (_, branch), several in sorted(by_branch.items()):
        if len(several) > 1:
            commits = ", ".join(sorted(one.dry_sha[:7] for one in several))
            announce(
                Warned(
                    "CMD-HYD-033",
                    f"the branch {branch} is hydrated from several dry commits: {commits}",
                    hint="give them branches of their own, so that a promotion knows which one it moves",
                )
            )


def inputs_digest(group: Group, options: Mapping[str, Any]) -> str:
    """`sha256:` and a digest of all that the output of a group depends on in addition to its dry commit.

    Args:
        options: what counts for all members, such as versions of tools and templates; JSON-ready.
    """
    members = [
        [
            one.name,
            one.namespace,
            one.project,
            one.dry_path,
            one.path,
            one.sync_branch,
            one.target_namespace,
            dict(one.settings),
        ]
        for one in group.members
    ]
    text = json.dumps({"layout": LAYOUT, "members": members, "options": options}, sort_keys=True, default=str)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def is_affected(group: Group, changed: Iterable[str]) -> bool:
    """Tell if changes of files of the dry repository can change what a group renders; unknown without the annotation.

    Args:
        changed: paths in the dry repository.
    """
    files = list(changed)
    known = [GeneratePaths(one.generate_paths, [one.dry_path]) for one in group.members]
    return any(not paths or any(map(paths.cover, files)) for paths in known)
