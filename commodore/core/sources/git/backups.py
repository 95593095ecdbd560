"""Backups: discarded commits, and the former targets of moved tags, below `refs/commodore/discarded`."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from commodore.base.context import Context
from commodore.base.events import Noted, Warned
from commodore.core.sources.git._refs import DISCARDED, RemoteRefs
from commodore.core.sources.git.runner import Git
from commodore.core.sources.git.urls import shown

OUTPUT = "refs/commodore/output"
"""The ref of the tree that a run has written to the working copy of the catalog's clone."""


def keep_commits(folder: Path, shas: Iterable[str], context: Context) -> list[str]:
    """Give each commit a ref `refs/commodore/discarded/<UTC time>[-<n>]` in the repository at `folder`."""
    commits = list(dict.fromkeys(shas))
    if not commits:
        return []
    stem = DISCARDED + time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    # The commit's digits keep refs of two threads, or of two saves within a second, distinct.
    refs = [f"{stem}-{sha[:10]}" for sha in commits]
    commands = "".join(f"update {ref} {sha}\n" for ref, sha in zip(refs, commits, strict=True))
    Git(folder, context).run(["update-ref", "--stdin"], input=commands.encode())
    return refs


def keep_lost_tags(folder: Path, before: RemoteRefs, after: RemoteRefs, place: str, context: Context) -> None:
    """Keep the former values of tags that a fetch has moved or removed, and warn about moved ones.

    Args:
        place: the remote's name in messages.
    """
    moved = [tag for tag, sha in before.tags.items() if after.tags.get(tag, sha) != sha]
    gone = [tag for tag in before.tags if tag not in after.tags]
    keep_commits(folder, (before.tags[tag] for tag in moved + gone), context)
    for tag in sorted(moved):
        context.announce(
            Warned(
                "CMD-GIT-022",
                f"the tag '{shown(tag)}' of {place} has moved from {before.tags[tag][:10]} to {after.tags[tag][:10]}",
                hint="published tags should never move; to be safe from that, pin a commit",
            )
        )
    for tag in sorted(gone):
        context.announce(Noted(f"the tag '{shown(tag)}' is gone from {place}", level=1))
