"""A cache with something in every part, made by the rooms that fill it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from commodore.base.errors import Location
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.dependencies.bundle import GitSource, Remote
from commodore.core.dependencies.bundle.exports import ExportCache
from commodore.core.dependencies.bundle.remotes import parse_remote
from commodore.core.results.caches import (
    cache_folder,
    dependency_cache,
    library_cache,
    repository_cache,
    result_cache,
    template_cache,
    tree_cache,
)
from commodore.core.results.result_store import Result, ResultStore
from commodore.core.sources.fetching import DependencyCache, Downloads, chart_key
from commodore.core.sources.git import CommitTrees, RepositoryStore
from tests.world.context import make_context
from tests.world.repos import GitWorld, git

DAY = 86400.0


@dataclass
class Cache:
    """Adds entries, and sets when they were used."""

    root: Path
    world: GitWorld
    results: dict[str, Path] = field(default_factory=dict)

    def add_result(self, name: str, content: bytes = b"content") -> Path:
        """A result of a subject that has the name `name` in its digest."""
        subject = name.encode().hex().ljust(64, "0")
        store = ResultStore(result_cache(), DEFAULT_LIMITS)
        store.add(subject, {("value", name): "1"}, Result((("a.yaml", 0o644, content),)))
        (self.results[name],) = (result_cache() / subject[:2] / subject).glob("*.result")
        return self.results[name]

    def add_chart(self, name: str) -> Path:
        key = chart_key("https://charts.example.com", name, "1.2.3")
        assert key is not None
        folder = self.root / "made" / name
        folder.mkdir(parents=True)
        (folder / "Chart.yaml").write_text(f"name: {name}\n")
        DependencyCache(dependency_cache(), DEFAULT_LIMITS).add(key, folder)
        return dependency_cache() / key.digest[:2] / key.digest

    def add_download(self, url: str) -> Path:
        downloads = Downloads(dependency_cache(), DEFAULT_LIMITS)
        before = {entry.path for entry in downloads.entries()}
        downloads.add(url, b"downloaded", {})
        (entry,) = {entry.path for entry in downloads.entries()} - before
        return entry

    def add(self, section: str, name: str) -> Path:
        """An entry of a name in any part but the templates."""
        match section:
            case "results":
                return self.add_result(name)
            case "dependencies":
                return self.add_chart(name)
            case "downloads":
                return self.add_download(f"https://example.com/{name}.yaml")
            case "kustomize":
                return self.add_base(name)
            case "repositories":
                return self.add_repository(name)
            case "trees":
                return self.add_tree(name)
            case _:
                return self.add_library(name)

    def add_base(self, name: str = "base") -> Path:
        """A stored commit of `scripts/fetch-once` for a kustomization's remote base."""
        remote = self.world.remote(name, {"kustomization.yaml": f"resources: []  # {name}\n"})
        place = dependency_cache() / "kustomize" / f"{'a' * 40}-{remote.sha('master')}.git"
        place.parent.mkdir(parents=True, exist_ok=True)
        git(self.root, "clone", "--quiet", "--bare", "--no-hardlinks", remote.url, str(place))
        return place

    def add_tree(self, name: str = "tree") -> Path:
        remote = self.world.remote(name, {"README.md": f"{name}\n"})
        held = CommitTrees(tree_cache(), make_context()).find(remote.path, remote.sha("master"))
        assert held is not None
        return held.folder.parent

    def add_library(self, name: str = "library") -> Path:
        staged = self.root / "made" / name
        staged.mkdir(parents=True)
        (staged / "main.libsonnet").write_text("{}\n")
        remote: Remote = parse_remote(
            f"https://git.example.com/{name}.git", Location("jsonnetfile.json"), DEFAULT_LIMITS
        )
        export = ExportCache(library_cache() / "exports", make_context()).add(GitSource(remote, ""), "b" * 40, staged)
        return export.content.parent

    def add_template(self) -> Path:
        remote = self.world.remote("template", {"README.md": "text\n"})
        with RepositoryStore(template_cache(), make_context()) as store:
            store.sync([(remote.url, "master")])
            return store.repository(remote.url).path

    def add_repository(self, name: str = "component") -> Path:
        remote = self.world.remote(name, {"README.md": "text\n"})
        before = set(repository_cache().glob("??/*"))
        with RepositoryStore(self.root / "made" / "repositories", make_context(), mirrors=repository_cache()) as store:
            store.sync([(remote.url, "master")])
        (entry,) = set(repository_cache().glob("??/*")) - before
        return entry

    def use(self, path: Path, days_ago: float) -> None:
        """Let an entry have been used so many days ago."""
        moment = time.time() - days_ago * DAY
        marks = [path / name for name in ("about.json", "FETCH_HEAD", "HEAD")] if path.is_dir() else []
        for place in (*(mark for mark in marks if mark.exists()), path):
            os.utime(place, (moment, moment))

    def everything(self) -> dict[str, Path]:
        """One entry in each part."""
        return {
            "results": self.add_result("app"),
            "dependencies": self.add_chart("chart"),
            "downloads": self.add_download("https://example.com/file.yaml"),
            "kustomize": self.add_base(),
            "repositories": self.add_repository(),
            "libraries": self.add_library(),
            "templates": self.add_template(),
            "trees": self.add_tree(),
        }


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    assert cache_folder().is_relative_to(Path.home())
    return Cache(tmp_path, GitWorld(tmp_path / "remotes"))
