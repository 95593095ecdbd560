"""Remotes, and commits that are wanted on their branches, for the tests of hydration."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.events import Event, Warned
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.sources.git import Author, RepositoryStore
from commodore.hydrate.branches.destination import open_destination
from commodore.hydrate.model import CommitRequest, CommitRules, DryCommit, Outcome, PathOutput, Scope
from commodore.hydrate.publishing.publishing import Superseded, publish
from tests.world.repos import GitWorld, Remote, git

DRY = "https://git.example.com/dry.git"
FILES = ["README.md", "hydrator.metadata", "manifest.yaml"]


class Heard(list[Event]):
    @property
    def codes(self) -> list[str]:
        return [event.code for event in self if isinstance(event, Warned)]


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def output(path: str, *objects: dict[str, Any], revision: str = "main") -> PathOutput:
    metadata = {
        "applications": [{"name": path}],
        "drySource": {"targetRevision": revision, "path": "."},
        "files": FILES,
        "hydrator": "commodore/1",
    }
    return PathOutput(path, objects, f"# {path}\n", metadata)


def dry(number: int = 1) -> DryCommit:
    return DryCommit(f"{number:040x}", "Jo <jo@example.com>", "2026-01-02T03:04:05Z", f"Change {number}", "")


class Hydrated:
    """A remote that is written to, by one working directory."""

    def __init__(self, folder: Path, remote: Remote, collected: Heard) -> None:
        self.folder = folder
        self.remote = remote
        self.collected = collected
        self.context = Context(collected.append, DEFAULT_LIMITS)

    def request(
        self,
        *paths: PathOutput,
        number: int = 1,
        branch: str = "env/dev",
        sync: str = "",
        written: Sequence[str] | None = None,
        group: str = "",
    ) -> CommitRequest:
        return CommitRequest(
            group=group or f"group-{branch}",
            inputs="sha256:0",
            url=self.remote.url,
            sync_branch=sync or branch,
            branch=branch,
            scope=Scope(DRY, ("main",), tuple(path.path for path in paths) if written is None else tuple(written)),
            follows=(),
            commit=dry(number),
            message=f"Change {number}",
            paths=paths,
            author=Author("Jo", "jo@example.com"),
        )

    def publish(
        self,
        *requests: CommitRequest,
        writing: CommitRules | None = None,
        superseded: Superseded = lambda asked: [""] * len(asked),
        dry: bool = False,
    ) -> list[Outcome]:
        results = self.results(*requests, writing=writing, superseded=superseded, dry=dry)
        for result in results:
            if isinstance(result, CommodoreError):
                raise result
        return [result for result in results if isinstance(result, Outcome)]

    def results(
        self,
        *requests: CommitRequest,
        writing: CommitRules | None = None,
        superseded: Superseded = lambda asked: [""] * len(asked),
        dry: bool = False,
    ) -> list[Outcome | CommodoreError]:
        with RepositoryStore(self.folder / ".repos", self.context) as store:
            store.sync([(self.remote.url, request.branch) for request in requests])
            destination = open_destination(store.repository(self.remote.url), self.context, writing or CommitRules())
            results = publish(destination, requests, superseded, dry=dry).results
        return [results[request.group] for request in requests]

    def files(self, branch: str = "env/dev") -> dict[str, str]:
        """The files of a branch of the remote."""
        names = git(self.remote.path, "ls-tree", "-r", "--name-only", branch).splitlines()
        return {name: git(self.remote.path, "show", f"{branch}:{name}") for name in names}

    def commits(self, branch: str = "env/dev") -> list[str]:
        return git(self.remote.path, "log", "--format=%s", branch).splitlines()

    def note(self, branch: str = "env/dev") -> dict[str, Any]:
        shown = git(self.remote.path, "notes", "--ref=hydrator.metadata", "show", branch)
        read: dict[str, Any] = json.loads(shown)
        return read


@pytest.fixture
def collected() -> Heard:
    return Heard()


@pytest.fixture
def world(tmp_path: Path) -> GitWorld:
    return GitWorld(tmp_path / "remotes")


@pytest.fixture
def hydrated(tmp_path: Path, world: GitWorld, collected: Heard) -> Hydrated:
    return Hydrated(tmp_path / "work", world.remote("hydrated", {"README.md": "mine\n"}, branch="main"), collected)
