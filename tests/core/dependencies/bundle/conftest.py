"""A world of libraries under https://git.example.com, and somebody who installs them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from commodore.base.events import Event, Warned
from commodore.base.limits import DEFAULT_LIMITS, Limits
from commodore.core.dependencies.bundle import BundleResult, JsonnetFile, LibrarySources
from commodore.core.dependencies.bundle.install import install
from commodore.core.dependencies.bundle.jsonnetfile import parse_jsonnetfile
from commodore.core.sources.git import RepositoryStore
from tests.world.context import make_context
from tests.world.repos import Content, GitCalls, GitWorld, Remote

HOST = "https://git.example.com"


def git(repository: str, version: str, subdir: str = "", /, **extra: object) -> dict[str, object]:
    """A dependency on the library `org/<repository>` of the world."""
    return {
        "source": {"git": {"remote": f"{HOST}/org/{repository}.git", "subdir": subdir}},
        "version": version,
        **extra,
    }


def local(directory: str) -> dict[str, object]:
    """A dependency on a folder."""
    return {"source": {"local": {"directory": directory}}}


def document(*dependencies: Mapping[str, object], **extra: object) -> str:
    """A jsonnetfile's text."""
    return json.dumps({"version": 1, "dependencies": list(dependencies), **extra})


def parsed(*dependencies: Mapping[str, object], **extra: object) -> JsonnetFile:
    return parse_jsonnetfile(document(*dependencies, **extra).encode(), "jsonnetfile.json", DEFAULT_LIMITS)


class Bundler:
    """Installs into `folder` (and its `vendor`); keeps what was announced."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        self.cache = cache
        self.collected: list[Event] = []
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def vendor(self) -> Path:
        return self.folder / "vendor"

    @property
    def codes(self) -> list[str]:
        return [event.code for event in self.collected if isinstance(event, Warned)]

    def sources(self, *, offline: bool = False, limits: Limits = DEFAULT_LIMITS) -> LibrarySources:
        """Return the sources of a new run."""
        store = RepositoryStore(self.folder / ".repos", make_context(self.collected.append, limits, offline=offline))
        return LibrarySources(store, self.cache)

    def install(
        self,
        *dependencies: Mapping[str, object],
        lock: JsonnetFile | None = None,
        offline: bool = False,
        limits: Limits = DEFAULT_LIMITS,
        **extra: object,
    ) -> BundleResult:
        """One run. `collected` is what this run announced."""
        self.collected.clear()
        return install(
            self.folder,
            parsed(*dependencies, **extra),
            lock or JsonnetFile(),
            vendor=self.vendor,
            sources=self.sources(offline=offline, limits=limits),
        )

    def read(self, path: str) -> str:
        """A file of `vendor`, as an import finds it."""
        return (self.vendor / path).read_text(encoding="utf-8")


class Libraries:
    """Remote repositories of the organisation `org`."""

    def __init__(self, world: GitWorld) -> None:
        self.world = world

    def add(
        self, name: str, files: Mapping[str, Content] | None = None, *requires: Mapping[str, object], **options: str
    ) -> Remote:
        """A library that requires others."""
        content: dict[str, Content] = dict(files or {"main.libsonnet": f"'{name}'\n"})
        if requires:
            content["jsonnetfile.json"] = document(*requires)
        return self.world.remote(f"org/{name}", content, **options)


@pytest.fixture
def libraries(tmp_path: Path) -> Libraries:
    """Reached by their address on the web through git's `insteadOf`, as behind a company's mirror."""
    root = tmp_path / "remotes"
    settings = f'[url "file://{root}/"]\n\tinsteadOf = {HOST}/\n'
    (Path.home() / ".gitconfig").write_text(settings, encoding="utf-8")
    return Libraries(GitWorld(root))


@pytest.fixture
def bundler(tmp_path: Path) -> Bundler:
    return Bundler(tmp_path / "work", tmp_path / "cache")


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitCalls:
    return GitCalls(tmp_path / "shim", monkeypatch)
