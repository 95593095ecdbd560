"""What a run over many repositories is asked for, and what came of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from commodore.authoring.slug import Kind
from commodore.base.errors import CommodoreError

Status = Literal["created", "updated", "would-create", "would-update", "up-to-date", "skipped", "failed", "postponed"]
STATUSES: tuple[Status, ...] = get_args(Status)

CHANGED: frozenset[Status] = frozenset({"created", "updated"})
UNFINISHED: frozenset[Status] = frozenset({"failed", "postponed"})


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """What to do.

    Attributes:
        list_file: YAML file with one list of `owner/repository`.
        token: for GitHub's API and for git over https; it is never shown, stored, or part of a command line.
        github_url: the API; GitHub Enterprise's ends in `/api/v3`.
        branch: of the pull requests.
        labels: that the pull requests get besides those they have.
        batch_size: after so many changed repositories `pause` seconds pass; 0 of either means no pause.
        filter: regular expression; only repositories in whose name it is found are looked at.
        template_version: of the templates, instead of the stored ones; only for a dry run.
        restart: forget what an interrupted run has finished.
    """

    kind: Kind
    list_file: Path
    token: str | None
    github_url: str = "https://api.github.com"
    branch: str = "template-sync"
    labels: tuple[str, ...] = ()
    batch_size: int = 10
    pause: float = 120
    filter: str = ""
    template_version: str | None = None
    trust_template: bool = False
    dry_run: bool = False
    restart: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of the list: its place, counted from one, what it says, and what is wrong with it."""

    position: int
    name: str
    error: CommodoreError | None = None


@dataclass(frozen=True, slots=True)
class ItemResult:
    """What came of one repository.

    Attributes:
        name: as the list has it.
        reason: why it was skipped or put off, or what else is to be known.
        url: of the pull request.
        template: its version: revision and abbreviated commit.
        rejected: some of the template's changes conflict, and were left out.
        error: why it failed.
        earlier: it was finished by the interrupted run that this one continues.
    """

    name: str
    status: Status
    reason: str = ""
    url: str = ""
    template: str = ""
    rejected: bool = False
    error: CommodoreError | None = None
    earlier: bool = False


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What came of a run: one result per repository in the list's order, and what ended the run early."""

    items: tuple[ItemResult, ...]
    halted: CommodoreError | None = None

    @property
    def passed(self) -> bool:
        return self.halted is None and not any(item.status in UNFINISHED for item in self.items)

    def counts(self) -> Iterator[tuple[Status, int]]:
        """How often each status that occurs does, in a fixed order."""
        for status in STATUSES:
            count = sum(item.status == status for item in self.items)
            if count:
                yield status, count


class Halt(Exception):
    """Nothing more can be done for any repository; the run ends, and can be continued."""

    def __init__(self, error: CommodoreError) -> None:
        super().__init__(error.message)
        self.error = error
