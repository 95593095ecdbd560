"""Which Applications make which commits, and what has to be done for each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Any

from commodore.argocd.planning.generate_paths import GeneratePaths
from commodore.base.errors import CommodoreError, InputError, PolicyError, raise_all
from commodore.base.events import Announce, Warned
from commodore.core.sources.git import redact, repository_key
from commodore.hydrate.model import LAYOUT, Group, Hydration


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


def check(hydrations: Sequence[Hydration], protect: Sequence[str] = (), lost: Sequence[CommodoreError] = ()) -> None:
    """See that no two Applications get in each other's way.

    Args:
        protect: patterns; if there are some, only branches that fit one may be written.
        lost: why other Applications are left out, which is said of together with what is found.

    Raises:
        InputError: CMD-HYD-006, two Applications write to one path; CMD-HYD-009, they disagree about the branch that is
            deployed.
        PolicyError: CMD-HYD-008, a branch may not be written to.
    """
    errors = [*_same_path(hydrations), *_same_sync_branch(hydrations), *_forbidden(hydrations, protect)]
    raise_all([*lost, *errors] if errors else [])


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
    """Tell of branches that get commits of several dry commits."""
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
    """`sha256:` and a digest of all that the output of a group depends on beside its dry commit.

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
    """Whether changes of files of the dry repository can change what a group renders; unknown without the annotation.

    Args:
        changed: paths in the dry repository.
    """
    files = list(changed)
    known = [GeneratePaths(one.generate_paths, [one.dry_path]) for one in group.members]
    return any(not paths or any(map(paths.cover, files)) for paths in known)


def _same_path(hydrations: Iterable[Hydration]) -> list[CommodoreError]:
    places: dict[tuple[str, str, str], list[Hydration]] = {}
    for one in hydrations:
        places.setdefault((repository_key(one.url), one.branch, one.path), []).append(one)
    return [
        InputError(
            "CMD-HYD-006",
            f"the Applications {', '.join(sorted(one.name for one in several))} all write to {path} of the branch"
            f" {branch}",
            hint=f"give each a path of its own, such as {path}/{several[0].name}",
            locations=[one.place for one in several],
        )
        for (_, branch, path), several in sorted(places.items())
        if len(several) > 1
    ]


def _same_sync_branch(hydrations: Iterable[Hydration]) -> list[CommodoreError]:
    targets: dict[tuple[str, str], list[Hydration]] = {}
    for one in hydrations:
        targets.setdefault((repository_key(one.url), one.branch), []).append(one)
    found: list[CommodoreError] = []
    for (_, branch), several in sorted(targets.items()):
        branches = sorted({one.sync_branch for one in several})
        if len(branches) > 1:
            found.append(
                InputError(
                    "CMD-HYD-009",
                    f"the branch {branch} is to become {' and '.join(branches)}, by different Applications",
                    hint="write the same syncSource.targetBranch into all Applications that hydrate to one branch",
                    locations=[one.place for one in several],
                )
            )
    return found


def check_dry_branch(hydration: Hydration, branch: str) -> None:
    """See that the branch of the sources is not written to.

    Args:
        branch: the dry branch, if the revision names one.

    Raises:
        PolicyError: CMD-HYD-008, it is.
    """
    if repository_key(hydration.url) == repository_key(hydration.dry_url) and hydration.branch == branch:
        raise _refusal(hydration, "is the branch that is hydrated from")


def _forbidden(hydrations: Iterable[Hydration], protect: Sequence[str]) -> list[CommodoreError]:
    found: list[CommodoreError] = []
    for one in hydrations:
        try:
            check_dry_branch(one, one.dry_revision)
        except PolicyError as error:
            found.append(error)
        if protect and not any(fnmatchcase(one.branch, pattern) for pattern in protect):
            found.append(_refusal(one, f"fits none of {', '.join(protect)}"))
    return found


def _refusal(hydration: Hydration, reason: str) -> PolicyError:
    return PolicyError(
        "CMD-HYD-008",
        f"Application {hydration.name} may not write to the branch {hydration.branch} of {redact(hydration.url)}: it"
        f" {reason}",
        hint="hydrate to another branch",
        locations=[hydration.place],
    )
