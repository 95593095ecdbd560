"""A cluster's catalog repository, a working directory, and what a run does with both."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from commodore.base.context import Context
from commodore.base.events import Event, Warned
from commodore.base.files.workspace import Workspace
from commodore.base.limits import DEFAULT_LIMITS, Limits
from commodore.catalog import CatalogChange, install, prepare, publish, stage
from commodore.core.sources.git import PublishedClone, RepositoryStore
from tests.world.context import make_context
from tests.world.folders import write_files
from tests.world.repos import GitWorld, Remote


class Heard(list[Event]):
    """Everything that was announced."""

    @property
    def warnings(self) -> list[Warned]:
        return [event for event in self if isinstance(event, Warned)]

    @property
    def codes(self) -> list[str]:
        return [event.code for event in self.warnings]


def prepare_from(workspace: Workspace, url: str, context: Context) -> PublishedClone:
    with RepositoryStore(workspace.repositories, context) as store:
        return prepare(workspace, store, url, None)


class Run:
    """The stages of a run that concern the catalog."""

    def __init__(self, workspace: Workspace, remote: Remote, collected: Heard) -> None:
        self.workspace = workspace
        self.remote = remote
        self.collected = collected

    def prepare(self) -> PublishedClone:
        return prepare_from(self.workspace, self.remote.url, make_context(self.collected.append))

    def install(self, manifests: Mapping[str, str], refs: Mapping[str, str] | None = None) -> None:
        with self.trees(manifests, refs or {}) as (new_manifests, new_refs):
            install(self.workspace, new_manifests, new_refs)

    @contextlib.contextmanager
    def trees(self, manifests: Mapping[str, str], refs: Mapping[str, str]) -> Iterator[tuple[Path, Path]]:
        with self.workspace.staging("catalog") as folder:
            for name, files in (("manifests", manifests), ("refs", refs)):
                (folder / name).mkdir()
                write_files(folder / name, files)
            yield folder / "manifests", folder / "refs"

    def compile(self, manifests: Mapping[str, str], refs: Mapping[str, str] | None = None) -> PublishedClone:
        """Prepare and install."""
        clone = self.prepare()
        self.install(manifests, refs)
        return clone

    def push(
        self, manifests: Mapping[str, str], refs: Mapping[str, str] | None = None, limits: Limits = DEFAULT_LIMITS
    ) -> CatalogChange:
        """A whole run with a push."""
        clone = self.compile(manifests, refs)
        change = stage(clone, make_context())
        return publish(clone, change, "message\n", make_context(announce=self.collected.append, limits=limits))


@pytest.fixture
def collected() -> Heard:
    return Heard()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.at(tmp_path / "wd")


@pytest.fixture
def world(tmp_path: Path) -> GitWorld:
    return GitWorld(tmp_path / "remotes")


@pytest.fixture
def remote(world: GitWorld) -> Remote:
    return world.remote("catalog", {"manifests/a.yaml": "a: 1\n", "refs/x/key": "ref\n", "README.md": "mine\n"})


@pytest.fixture
def run(workspace: Workspace, remote: Remote, collected: Heard) -> Run:
    return Run(workspace, remote, collected)
