"""Sync of one repository: clone it, update the clone from the template, and publish the changes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from commodore.authoring.cruft_file import NAME, CruftFile, read_cruft_file
from commodore.authoring.sync._templates import SharedTemplates
from commodore.authoring.sync.clone import Clone, GitAccess, make_clone
from commodore.authoring.sync.github import GitHub, PullRequestContent, Repository
from commodore.authoring.sync.model import Item, ItemResult, SyncRequest
from commodore.authoring.update import Updated, UpdateRequest, update_repository
from commodore.base.context import Context
from commodore.base.events import Event, Noted, Warned

_MARKS = ("_commit", "_template")


@dataclass(frozen=True, slots=True)
class SyncWork:
    """Data shared by all repositories of a run. `place` is a temporary folder for clones."""

    request: SyncRequest
    github: GitHub
    access: GitAccess
    templates: SharedTemplates
    place: Path
    context: Context

    def folder(self, item: Item) -> Path:
        return self.place / str(item.position)


@dataclass(frozen=True, slots=True)
class Change:
    """An updated clone to publish."""

    item: Item
    repository: Repository
    clone: Clone
    updated: Updated


def prepare(work: SyncWork, item: Item) -> ItemResult | Change:
    """Clone and update one repository; nothing on the server is changed.

    Raises:
        CommodoreError: this repository failed.
        Halt: all repositories would fail.
    """
    if item.error is not None:
        raise item.error
    repository = work.github.repository(item.name)
    if repository is None:
        return ItemResult(item.name, "skipped", "it does not exist, or is not visible with the token")
    if repository.name.lower() != item.name.lower():
        work.context.announce(
            Warned("CMD-SYNC-015", f"{item.name} was renamed to {repository.name}", hint="correct the name in the list")
        )
    if repository.archived:
        return ItemResult(item.name, "skipped", "it is archived")
    clone = make_clone(repository, work.folder(item), work.request.branch, work.access)
    if clone is None:
        return ItemResult(item.name, "skipped", "it is empty")
    if not (clone.folder / NAME).is_file():
        return ItemResult(item.name, "skipped", f"it has no {NAME}")
    before = read_cruft_file(clone.folder, work.context)
    updated = update_repository(
        UpdateRequest(
            work.request.kind,
            clone.folder,
            template_version=work.request.template_version,
            trust_template=work.request.trust_template,
            settle=True,
        ),
        work.context.with_announce(_about(item.name, work.context)),
        templates=work.templates.open,
    )
    if not updated.changes or _is_noise(updated, before, read_cruft_file(clone.folder, work.context)):
        return ItemResult(item.name, "up-to-date", template=updated.version)
    return Change(item, repository, clone, updated)


def publish(work: SyncWork, change: Change) -> ItemResult:
    """Push a change and open or update its pull request. In a dry run, only report the planned action.

    Raises: see `prepare`.
    """
    repository, clone, updated = change.repository, change.clone, change.updated
    content = PullRequestContent(
        title=f"Update from {work.request.kind.name} template",
        body=f"Template version: {updated.version}",
        base=repository.default_branch,
        branch=clone.branch,
        labels=work.request.labels,
        comment=_comment(work, updated.rejected),
    )
    name, version, rejected = change.item.name, updated.version, bool(updated.rejected)
    reason = "conflicting changes of the template were left out" if rejected else ""
    pushed = clone.is_pushed()
    if pushed or work.request.dry_run:
        pull = work.github.pull(repository, clone.branch)
        if pushed and pull and work.github.is_current(repository, pull, content):
            return ItemResult(name, "up-to-date", "its pull request is open", pull.url, version, rejected)
        if work.request.dry_run:
            return ItemResult(
                name, "would-update" if pull else "would-create", reason, pull.url if pull else "", version, rejected
            )
    if not pushed:
        if clone.is_foreign():
            work.context.announce(
                Warned(
                    "CMD-SYNC-013",
                    f"the branch '{clone.branch}' of {name} had commits by another author and was recreated",
                    hint=f"the newest of them is {clone.remote_tip}",
                )
            )
        clone.push()
    done, created = work.github.publish(repository, content)
    return ItemResult(name, "created" if created else "updated", reason, done.url, version, rejected)


def _is_noise(updated: Updated, before: CruftFile, after: CruftFile) -> bool:
    """Check if only the note of the template's version has changed."""
    if updated.rejected or [path for _, path in updated.changes] != [NAME]:
        return False
    arguments = (
        {name: value for name, value in each.arguments.items() if name not in _MARKS} for each in (before, after)
    )
    return next(arguments) == next(arguments)


def _comment(work: SyncWork, rejected: str) -> str:
    """Return the comment about changes of the template that were left out; empty without such changes."""
    if not rejected:
        return ""
    limit = work.context.limits.comment_characters
    if len(rejected) > limit:
        rejected = f"{rejected[:limit]}\n(the rest is left out: a comment must not be longer)\n"
    longest = max((len(run) for run in re.findall("`+", rejected)), default=0)
    fence = "`" * max(3, longest + 1)
    return (
        f"{work.request.kind.name.capitalize()} update was only partially successful. Please check the PR carefully."
        f"\n\nRejected patches:\n\n{fence}diff\n{rejected}{fence}"
    )


def _about(name: str, context: Context) -> Callable[[Event], None]:
    """Return a listener that adds the repository's name to events, and drops stages."""

    def listen(event: Event) -> None:
        if isinstance(event, Warned):
            context.announce(Warned(event.code, f"{name}: {event.message}", event.hint))
        elif isinstance(event, Noted):
            context.announce(Noted(f"{name}: {event.message}", max(event.level, 1)))

    return listen
