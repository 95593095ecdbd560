"""Fetched files are inputs if they can change, and are restored if they are missing."""

from __future__ import annotations

import email.utils
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.engine.cache.keys import SOURCE
from commodore.core.engine.cache.remote_identity import NO_REF, SourceIdentities, commits_of, source_keys
from commodore.core.sources.fetching import Downloads
from tests.core.engine.echo import Echo
from tests.core.engine.world import Kept, World, is_reused, jsonnet
from tests.world.repos import git

# Pulls charts whose content tells when that was done, and counts.
HELM = """
echo "$@" >> "$HOME/helm.log"
while [ $# -gt 1 ]; do
  case $1 in --destination) to=$2;; --version) version=$2;; esac
  shift
done
mkdir -p "$to/$1"
echo "$version $(wc -l < "$HOME/helm.log")" > "$to/$1/file.txt"
"""
ONLINE = Context(ignore, DEFAULT_LIMITS)
MAIN = "{ out: { is: (import 'lib/kapitan.libjsonnet').dir_files_read('fetched'), more: self.is } }"


def fill(world: World, **dependency: Any) -> World:
    """An instance that shows what its dependency has brought into the folder `fetched`."""
    world.tool("helm", HELM)
    world.environment["HOME"] = str(world.root / "home")
    (world.root / "home").mkdir(exist_ok=True)
    dependency.setdefault("output_path", "dependencies/fetched")
    world.add("app", jsonnet("app/main.jsonnet"), kapitan={"dependencies": [dependency]})
    world.write("dependencies/app/main.jsonnet", MAIN)
    return world


def chart(world: World, version: str = "1.0.0") -> World:
    source = f"https://charts.example.com/{world.root.parent.name}"
    return fill(world, type="helm", source=source, chart_name="redis", version=version)


def pulled(world: World) -> int:
    log = world.root / "home" / "helm.log"
    return len([line for line in log.read_text().splitlines() if "pull" in line]) if log.exists() else 0


def commit(folder: Path, text: str) -> str:
    folder.mkdir(exist_ok=True)
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "-b", "main")
    (folder / "file.txt").write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", text)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    folder = tmp_path / "remote"
    commit(folder, "one")
    git(folder, "tag", "v1")
    git(folder, "branch", "other")
    return folder


def test_an_exact_chart_is_asked_for_once(kept: Kept, tmp_path: Path) -> None:
    world = chart(kept.world(tmp_path / "one"))
    assert not is_reused(world)
    assert is_reused(world)
    other = chart(kept.world(tmp_path / "two"))
    assert is_reused(other)
    assert (pulled(world), pulled(other)) == (1, 0)
    assert (other.root / "dependencies/fetched/file.txt").read_text() == "1.0.0 1\n"
    assert not is_reused(chart(kept.world(tmp_path / "three"), "1.0.1"))


@pytest.mark.parametrize("version", ["1.x", "^1.0.0", ">=1"])
def test_a_range_of_charts_may_mean_another_one_tomorrow(kept: Kept, tmp_path: Path, version: str) -> None:
    world = chart(kept.world(tmp_path / "one"), version)
    assert not is_reused(world)
    assert not is_reused(world)


DIRT: dict[str, Callable[[Path], object]] = {
    "another file": lambda folder: (folder / "more.txt").write_text("more"),
    "a changed file": lambda folder: (folder / "file.txt").write_text("changed"),
    "a missing file": lambda folder: (folder / "file.txt").unlink(),
    "a link": lambda folder: (folder / "link.txt").symlink_to("file.txt"),
}


@pytest.mark.parametrize("dirt", DIRT, ids=str)
def test_what_somebody_has_put_there_is_seen(kept: Kept, tmp_path: Path, dirt: str) -> None:
    """A result gives what rendering would give now, with the files that lie in the folder once they are fetched. What
    fetching puts right does not cause a rendering.
    """
    world = chart(kept.world(tmp_path / "one"))
    assert not is_reused(world)
    DIRT[dirt](world.root / "dependencies/fetched")
    assert is_reused(world) == (dirt in ("a changed file", "a missing file"))
    assert (world.root / "dependencies/fetched/file.txt").read_text() == "1.0.0 1\n"
    with_results = world.read("app/out.yaml")
    shutil.rmtree(kept.results)
    assert not is_reused(world)
    assert world.read("app/out.yaml") == with_results


def test_what_is_missing_is_put_back(kept: Kept, tmp_path: Path) -> None:
    world = chart(kept.world(tmp_path / "one"))
    assert not is_reused(world)
    shutil.rmtree(world.root / "dependencies/fetched")
    assert is_reused(world)
    assert (world.root / "dependencies/fetched/file.txt").is_file()
    shutil.rmtree(world.root / "dependencies/fetched")
    shutil.rmtree(kept.dependencies)
    assert is_reused(world)
    assert (world.root / "dependencies/fetched/file.txt").is_file()
    assert pulled(world) == 2


def test_what_is_reached_through_a_link_is_put_back_too(kept: Kept, tmp_path: Path) -> None:
    """Library folders link to components; charts in them are found on both ways."""

    def linked(name: str) -> World:
        world = chart(kept.world(tmp_path / name))
        (world.root / "dependencies/link").symlink_to(".")
        world.write("dependencies/app/main.jsonnet", MAIN.replace("'fetched'", "'link/fetched'"))
        return world

    first = linked("one")
    assert not is_reused(first)
    assert is_reused(first)
    two = linked("two")
    assert is_reused(two)
    assert two.read("app/out.yaml") == first.read("app/out.yaml")
    (two.root / "dependencies/link").unlink()
    (two.root / "dependencies/link").mkdir()
    two.write("dependencies/link/fetched/file.txt", "elsewhere")
    assert not is_reused(two)
    assert "elsewhere" in two.read("app/out.yaml")


def test_without_fetching_the_files_count(kept: Kept, tmp_path: Path) -> None:
    world = chart(kept.world(tmp_path / "one"))
    assert not is_reused(world)
    assert not is_reused(world, fetch=False)
    assert is_reused(world, fetch=False)
    (world.root / "dependencies/fetched/file.txt").write_text("changed")
    assert not is_reused(world, fetch=False)
    assert "changed" in world.read("app/out.yaml")


@pytest.mark.parametrize("ref", [None, "main", "v1", "other"])
def test_a_ref_that_moves(kept: Kept, tmp_path: Path, remote: Path, ref: str | None) -> None:
    fields = {} if ref is None else {"ref": ref}
    world = fill(kept.world(tmp_path / "one"), type="git", source=str(remote), **fields)
    assert not is_reused(world)
    assert is_reused(fill(kept.world(tmp_path / "two"), type="git", source=str(remote), **fields))
    commit(remote, "two")
    git(remote, "tag", "-f", "v1")
    git(remote, "branch", "-f", "other")
    shutil.rmtree(world.root / "dependencies/fetched")
    assert not is_reused(world)
    assert "two" in world.read("app/out.yaml")


def test_a_commit_is_what_it_is(kept: Kept, tmp_path: Path, remote: Path) -> None:
    ref = git(remote, "rev-parse", "HEAD")
    world = fill(kept.world(tmp_path / "one"), type="git", source=str(remote), ref=ref)
    assert not is_reused(world)
    commit(remote, "two")
    assert is_reused(world)
    remote.rename(tmp_path / "moved")
    assert is_reused(world)


def test_a_remote_that_is_gone_is_no_hit(kept: Kept, tmp_path: Path, remote: Path) -> None:
    world = fill(kept.world(tmp_path / "one"), type="git", source=str(remote), ref="main")
    assert not is_reused(world)
    remote.rename(tmp_path / "moved")
    assert world.fail_once().code == "CMD-ENG-028"


def test_a_source_that_depends_on_where_one_stands(kept: Kept, tmp_path: Path) -> None:
    entry = {"parameters": {"kapitan": {"dependencies": [{"type": "git", "source": "../remote", "ref": "main"}]}}}
    assert source_keys(entry) is None


def http(world: World, echo: Echo) -> World:
    return fill(world, type="http", source=f"{echo.url}/file.txt", output_path="dependencies/fetched/file.txt")


@pytest.mark.parametrize(
    ("headers", "asked_again"),
    [
        ({}, 200),
        ({"ETag": '"1"'}, 304),
        ({"Last-Modified": email.utils.formatdate(0, usegmt=True)}, 304),
        # Less than a minute ago: the file may have changed again in the same second.
        ({"Last-Modified": "now"}, 200),
        ({"Last-Modified": "yesterday"}, 200),
    ],
    ids=["nothing", "etag", "time", "fresh", "wrong"],
)
def test_a_file_of_a_web_server(
    kept: Kept, tmp_path: Path, echo: Echo, headers: dict[str, str], asked_again: int
) -> None:
    now = email.utils.formatdate(time.time(), usegmt=True)
    headers = {name: now if value == "now" else value for name, value in headers.items()}
    echo.headers, echo.content = headers, b"one"
    world = http(kept.world(tmp_path / "one"), echo)
    assert not is_reused(world)
    echo.answered.clear()
    assert is_reused(world)
    assert echo.answered == [asked_again]
    assert is_reused(http(kept.world(tmp_path / "two"), echo))
    assert (tmp_path / "two/dependencies/fetched/file.txt").read_text() == "one"
    echo.headers, echo.content = {key: f"{value} " for key, value in headers.items() if key == "ETag"}, b"two"
    assert not is_reused(world)
    assert "two" in world.read("app/out.yaml")


def test_a_file_of_a_web_server_that_somebody_has_changed(kept: Kept, tmp_path: Path, echo: Echo) -> None:
    world = http(kept.world(tmp_path / "one"), echo)
    assert not is_reused(world)
    file = world.write("dependencies/fetched/file.txt", "changed")
    assert is_reused(world)
    assert file.read_text() == '"/file.txt"'
    file.chmod(0o600)  # fetching leaves it so, and an input that copies it makes another file
    assert not is_reused(world)


def test_an_archive_is_not_kept(kept: Kept, tmp_path: Path, echo: Echo) -> None:
    entry = {"type": "http", "source": f"{echo.url}/x.zip", "unpack": True}
    assert source_keys({"parameters": {"kapitan": {"dependencies": [entry]}}}) is None


@pytest.mark.parametrize("source", ["https://user:secret@example.com/x", "https://example.com/x?token=secret"])
def test_credentials_are_not_written_down(source: str) -> None:
    assert source_keys({"parameters": {"kapitan": {"dependencies": [{"type": "https", "source": source}]}}}) is None


def test_a_damaged_download_is_fetched_again(tmp_path: Path, echo: Echo) -> None:
    echo.headers, echo.content = {"ETag": '"1"'}, b"one"
    url = f"{echo.url}/x"
    first = Downloads(tmp_path, DEFAULT_LIMITS).digest(url, ONLINE)
    assert first is not None
    (content,) = tmp_path.rglob("content")
    content.write_bytes(b"damaged")
    assert Downloads(tmp_path, DEFAULT_LIMITS).find(url, first) is None
    assert Downloads(tmp_path, DEFAULT_LIMITS).digest(url, ONLINE) == first
    assert echo.answered == [200, 200]
    assert Downloads(tmp_path, DEFAULT_LIMITS).find(url, first) == (b"one", "application/octet-stream")
    (tmp_path / "downloads").rename(tmp_path / "gone")
    assert Downloads(tmp_path, DEFAULT_LIMITS).find(url, first) is None


def test_each_source_is_asked_once_and_nobody_when_offline(tmp_path: Path, echo: Echo, remote: Path) -> None:
    keys = [("source", "http", f"{echo.url}/x"), ("source", "git", str(remote), NO_REF, "False", "")]
    sources = SourceIdentities(tmp_path / "cache", ONLINE)
    sources.ask(keys)
    digests = [sources.digest(key) for key in keys]
    assert digests[1] == git(remote, "rev-parse", "HEAD")
    commit(remote, "two")
    assert [sources.digest(key) for key in keys] == digests
    assert len(echo.asked) == 1
    offline = SourceIdentities(tmp_path / "cache", replace(ONLINE, offline=True))
    assert [offline.digest(key) for key in keys] == digests
    assert len(echo.asked) == 1
    assert offline.digest(("source", "http", f"{echo.url}/other")) is None
    assert offline.digest(("source", "helm", "x", "y", "1.0.0")) == "fixed"


def test_a_reference_counts_when_its_file_changes(kept: Kept, tmp_path: Path) -> None:
    world = kept.world(tmp_path / "one")
    world.add("app", jsonnet("app/main.jsonnet"))
    world.write("dependencies/app/main.jsonnet", "{ out: { secret: '?{plain:app/x}' } }")
    world.write("catalog/refs/app/x", "data: one\nencoding: original\ntype: plain\n")
    world.write("catalog/refs/app/y", "unread")
    assert not is_reused(world)
    world.write("catalog/refs/app/y", "still unread")
    assert is_reused(world)
    world.write("catalog/refs/app/x", "data: two\nencoding: original\ntype: plain\n")
    assert not is_reused(world)
    (world.root / "catalog/refs/app/x").unlink()
    assert world.fail()


@pytest.mark.parametrize(("kind", "is_kept"), [("plain", True), ("env", True), ("gpg", False)])
def test_secrets_that_others_reveal_are_not_kept(kept: Kept, tmp_path: Path, kind: str, is_kept: bool) -> None:
    """The output of another program about them may differ each time, and so may a failure."""
    world = kept.world(tmp_path / "one")
    world.add("app", jsonnet("app/main.jsonnet"))
    world.write("dependencies/app/main.jsonnet", "{ out: { secret: '?{KIND:app/x}' } }".replace("KIND", kind))
    world.write("catalog/refs/app/x", f"data: b25l\nencoding: original\nrecipients: []\ntype: {kind}\n")
    if not is_kept:
        assert world.fail(reveal_fake=True)
        return
    assert not is_reused(world, reveal_fake=True)
    assert is_reused(world, reveal_fake=True)
    world.environment["KAPITAN_VAR_x"] = "two"
    assert not is_reused(world, reveal_fake=True)
    assert ("two" in world.read("app/out.yaml")) is (kind == "env")


def test_the_commits_of_names(remote: Path) -> None:
    commit = git(remote, "rev-parse", "HEAD")
    assert commits_of(str(remote), ["main", "v1", None, commit], ONLINE) == dict.fromkeys(
        ("main", "v1", None, commit), commit
    )
    assert commits_of(str(remote), ["main", "none"], ONLINE) is None
    assert commits_of("/none", [commit], ONLINE) == {commit: commit}
    assert commits_of("/none", ["main"], ONLINE) is None


def test_a_source_that_may_not_be_asked(remote: Path) -> None:
    def refuse(url: str) -> None:
        raise EnvironmentFault("CMD-ENG-028", url)

    sources = SourceIdentities(None, ONLINE)
    key = SOURCE.key("git", str(remote), "main", "False", "")
    sources.ask([key], refuse)
    assert sources.known[key] is None


def test_without_a_cache_a_file_of_the_web_has_no_identity() -> None:
    assert SourceIdentities(None, ONLINE).digest(SOURCE.key("http", "https://example.com/x")) is None


def test_what_was_fetched_is_the_last_answer_without_network_access(tmp_path: Path, remote: Path) -> None:
    key = SOURCE.key("git", str(remote), "main", "False", "")
    commit = git(remote, "rev-parse", "HEAD")
    SourceIdentities(tmp_path / "cache", ONLINE).tell(key, commit)
    remote.rename(tmp_path / "moved")
    assert SourceIdentities(tmp_path / "cache", replace(ONLINE, offline=True)).digest(key) == commit
