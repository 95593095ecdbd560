"""Repositories on a GitHub of our own, made from a small template that has a second version."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from commodore.authoring import COMPONENT
from commodore.authoring.sync import ItemResult, SyncRequest, SyncResult, sync_repositories
from commodore.base.events import Event, Noted, Warned
from commodore.base.files.workspace import Workspace
from commodore.base.limits import Limits
from tests.authoring import template_world
from tests.world.context import make_context
from tests.world.github import GitHubServer
from tests.world.repos import Content, GitWorld, Remote, Script, git

BRANCH = "template-sync"
QUICK = Limits(github_writes=0, github_backoff=0.01, github_limited=0.01, github_wait=5, github_attempts=3)


@dataclass
class SyncWorld:
    """A server, a template, a folder with the list, and what has been heard."""

    root: Path
    server: GitHubServer
    template: Remote
    names: list[str] = field(default_factory=list)
    collected: list[Event] = field(default_factory=list)

    def component(self, slug: str, files: dict[str, Content] | None = None, *, owner: str = "acme") -> str:
        """A component made from the template as it is now, with changes of its author, and its place in the list."""
        name = f"{owner}/component-{slug}"
        first, made = seed()
        if self.template.sha("main") == first:
            changed = {path: _replaced(content, slug, self.template.url) for path, content in made.items()}
            hosted = self.server.repository(name, changed)
        else:
            folder = template_world.make(self.root / "authors", self.template, slug)
            hosted = self.server.repository(name)
            git(folder, "push", "--quiet", hosted.remote.url, "master")
        if files:
            hosted.remote.commit(files)
        self.names.append(name)
        return name

    def advance(self) -> None:
        """Publish the second version of the template."""
        self.template.commit(template_world.SECOND, branch="main")

    def request(self, **changes: Any) -> SyncRequest:
        path = self.root / "list.yaml"
        path.write_text("".join(f"- {name}\n" for name in self.names) or "[]\n", encoding="utf-8")
        first = SyncRequest(
            COMPONENT, path, self.server.token, github_url=self.server.url, pause=0, trust_template=True
        )
        return replace(first, **changes)

    def sync(self, *, limits: Limits = QUICK, **changes: Any) -> SyncResult:
        """One run."""
        self.collected.clear()
        self.server.requests.clear()
        return sync_repositories(
            Workspace.at(self.root / "work"),
            self.request(**changes),
            make_context(announce=self.collected.append, limits=limits),
        )

    def tip(self, name: str, branch: str = BRANCH) -> str:
        """The commit that a branch on the server is at; empty if it is not there."""
        return self.server.hosted[name].remote.sha(branch, missing="")

    @property
    def warnings(self) -> list[str]:
        return [event.code for event in self.collected if isinstance(event, Warned)]

    @property
    def notes(self) -> list[str]:
        return [event.message for event in self.collected if isinstance(event, Noted)]

    @property
    def state(self) -> list[Path]:
        return sorted((self.root / "work" / ".commodore").glob("sync-*.json"))


_SLUG, _URL = "seed-slug", "seed-url"


@functools.cache
def seed() -> tuple[str, dict[str, Content]]:
    """The template's first commit, and a component made from it once for all tests, as rendering takes its time."""
    with tempfile.TemporaryDirectory(prefix="seed-") as place:
        template = template_world.template(GitWorld(Path(place) / "remotes"))
        folder = template_world.make(Path(place), template, _SLUG)
        made: dict[str, Content] = {}
        for path in git(folder, "ls-files").splitlines():
            text = (folder / path).read_text(encoding="utf-8").replace(template.url, _URL)
            made[path] = Script(text) if os.access(folder / path, os.X_OK) else text
        return template.sha("main"), made


def _replaced(content: Content, slug: str, url: str) -> Content:
    return content.replace(_SLUG, slug).replace(_URL, url) if isinstance(content, str) else content


@contextmanager
def sync_world(root: Path) -> Iterator[SyncWorld]:
    """The world, with a template at its first version and no repositories."""
    (root / "authors").mkdir()
    template = template_world.template(GitWorld(root / "remotes"))
    with GitHubServer(root / "github") as server:
        yield SyncWorld(root, server, template)


def statuses(result: SyncResult) -> list[str]:
    return [item.status for item in result.items]


def only(result: SyncResult) -> ItemResult:
    [item] = result.items
    return item


def codes(result: SyncResult) -> list[str | None]:
    return [item.error.code if item.error else None for item in result.items]
