"""Caches are for their user alone, whatever the umask."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from commodore import argocd
from commodore.argocd import Options, Tree
from commodore.argocd.trees.parsed import _FORMER, _SHAPE, ParsedFiles, _subject
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.results.caches import cache_folder, result_cache, usable
from commodore.core.results.result_store import Result, ResultStore
from tests.argocd.acquiring.test_charts import WEB, Repository
from tests.argocd.comparing.conftest import app
from tests.argocd.conftest import config_map
from tests.world.folders import open_places, write_files
from tests.world.git_server import GitServer
from tests.world.repos import GitWorld, git

PASSWORD = "planted-s3cret"


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def with_password(site: str) -> str:
    return site.replace("://", f"://user:{PASSWORD}@")


@pytest.mark.requirement("D19", "D41")
def test_what_argocd_keeps(tmp_path: Path) -> None:
    """Passwords of repositories' URLs are kept nowhere: neither as written, nor in what a chart makes of them."""
    remote = GitWorld(tmp_path / "world").remote("r", files={"x/c.yaml": config_map("fetched")})
    with Repository() as charts, GitServer(remote.path.parent) as server:
        charts.publish(WEB)
        chart = {"repoURL": with_password(charts.site), "chart": "web", "targetRevision": "1.2.3"}
        plain = app("plain", "", source={"repoURL": "https://git.example.com/r.git", "path": "x"})
        fetched = app("fetched", "", source={"repoURL": with_password(f"{server.site}/r.git"), "path": "x"})
        files = {
            "chart.json": app("chart", "", source=chart),
            "fetched.json": fetched,
            "plain.json": plain,
            "x/c.yaml": config_map("own"),
            "apps/Chart.yaml": "apiVersion: v2\nname: apps\nversion: 1.0.0\n",
            "apps/templates/app.json": fetched.replace('"fetched"', '"inner"'),
            "apps.json": app("apps", "apps"),
        }
        tree = write_files(tmp_path / "tree", files)
        git(tree, "init", "-q")
        options = Options().having(self_url=("https://git.example.com/r.git", "https://git.example.com/team/shop.git"))
        rendering = argocd.render(Tree.folder(tree), options)
        assert [(application.name, application.error) for application in rendering.applications] == [
            (f"argocd/{name}", None) for name in ("apps", "chart", "fetched", "inner", "plain")
        ]
    cache = cache_folder()
    assert {folder.name for folder in cache.iterdir()} == {"argocd", "dependencies", "results", "trees"}
    assert open_places(cache) == []
    kept = {str(path): path.read_bytes() for path in cache.rglob("*") if path.is_file()}
    assert [path for path, content in kept.items() if PASSWORD.encode() in content] == []
    assert any(b"team/shop" in content or b'"plain"' in content for content in kept.values())


@pytest.mark.requirement("D41")
def test_what_former_versions_kept(tmp_path: Path) -> None:
    """A file with a password goes, and folders that others could enter are closed."""
    former = _subject(_FORMER, ["https://git.example.com/r"])
    cache_folder().mkdir(parents=True, mode=0o755)
    result_cache().mkdir(mode=0o755)
    store = ResultStore(result_cache(), DEFAULT_LIMITS)
    assert store.add(former, {}, Result((("documents", 0o644, PASSWORD.encode()),))) is not None
    ParsedFiles(usable(result_cache()), ["https://git.example.com/r"], DEFAULT_LIMITS)
    assert store.find(former, _SHAPE, []) is None
    assert [oct(folder.stat().st_mode & 0o777) for folder in (cache_folder(), result_cache())] == ["0o700"] * 2


@pytest.mark.parametrize(
    ("text", "is_kept"),
    [
        ("https://git.example.com/r", True),
        ("git@git.example.com:r", True),
        ("ssh://git@git.example.com/r", True),
        ("image: registry/x:1@sha256:0", False),
        ("https://token@git.example.com/r", False),
        ("https://user:pa ss@git.example.com/r", False),
        ("https:///user:pass@git.example.com/r", False),
        ("user:pass@git.example.com:r", False),
        ("a: 1\nmail: me@example.com", True),
        ("a: 1\nurl: https://u:p@example.com", False),
    ],
)
def test_texts_of_applications(text: str, is_kept: bool) -> None:
    usable(result_cache())
    content = b'{"kind": "Application", "spec": [%s]}' % json.dumps(text).encode()
    parsed = ParsedFiles(result_cache(), ["r"], DEFAULT_LIMITS)
    parsed.documents(content, "a.yaml")
    parsed.keep()
    assert result_cache().is_dir() == is_kept
