"""Requests and results of syncs."""

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
    """A sync of many repositories.

    Attributes:
        list_file: YAML file with a list of `owner/repository`.
        token: the token for GitHub's API and git over https; it is never shown, stored, or on a command line.
        github_url: the API's URL; GitHub Enterprise's ends in `/api/v3`.
        branch: the branch of the pull requests.
        labels: labels to add to the pull requests.
        batch_size: the number of changed repositories before a pause of `pause` seconds; 0 of either for no pause.
        filter: regular expression; only repositories whose names match (search) are synced.
        template_version: version of the templates, instead of the stored ones; only for a dry run.
        restart: ignore the results of an interrupted run.
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
    """An entry of the list: its position, starting at one, its name, and its error."""

    position: int
    name: str
    error: CommodoreError | None = None


@dataclass(frozen=True, slots=True)
class ItemResult:
    """Result of one repository.

    Attributes:
        name: the name in the list.
        reason: the reason for skipping or postponing it, or another remark.
        url: the URL of the pull request.
        template: the template's version: revision and abbreviated commit.
        rejected: some of the template's changes conflict, and were left out.
        error: the error of a failed repository.
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
    """Result of a run: one result per repository in the list's order, and the error that ended the run early."""

    items: tuple[ItemResult, ...]
    halted: CommodoreError | None = None

    @property
    def passed(self) -> bool:
        return self.halted is None and not any(item.status in UNFINISHED for item in self.items)

    def counts(self) -> Iterator[tuple[Status, int]]:
        """Yield the number of results by status, in a fixed order, without zeros."""
        for status in STATUSES:
            count = sum(item.status == status for item in self.items)
            if count:
                yield status, count


class Halt(Exception):
    """An error that ends the run for all repositories; the run can be continued later."""

    def __init__(self, error: CommodoreError) -> None:
        super().__init__(error.message)
        self.error = error
