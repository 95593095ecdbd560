"""Dependencies that are fetched once for all runs: entries, their keys, charts and repositories."""

from __future__ import annotations

import json
import os
import resource
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.engine import Engine
from commodore.core.engine.kapitan.fetch_git import remove_leftovers
from commodore.core.sources.fetching import CacheKey, DependencyCache, chart_key, commit_key
from tests.core.engine.world import World
from tests.world.context import make_context
from tests.world.folders import snapshot, write_script
from tests.world.repos import git

KEY = CacheKey("helm", "https://charts.example.com", "1.2.3", "redis")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Files with modes and links, a folder without files."""
    folder = tmp_path / "tree"
    (folder / "sub" / "empty").mkdir(parents=True)
    write_script(folder / "sub" / "run.sh", "")
    (folder / "sub").chmod(0o750)
    (folder / "übung").write_bytes(b"\0\xff")
    (folder / "link").symlink_to("sub/run.sh")
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> DependencyCache:
    return DependencyCache(tmp_path / "cache", DEFAULT_LIMITS)


def entry(tmp_path: Path) -> Path:
    """The folder of the one entry."""
    (cached,) = (path for path in (tmp_path / "cache").glob("*/*"))
    return cached


def test_an_entry_is_what_was_added(cache: DependencyCache, tree: Path, tmp_path: Path) -> None:
    assert not cache.copy(KEY, tmp_path / "copy")
    cache.add(KEY, tree)
    assert cache.copy(KEY, tmp_path / "below" / "copy")
    assert snapshot(tmp_path / "below" / "copy") == snapshot(tree)
    times = [(path / "sub" / "run.sh").stat().st_mtime_ns for path in (tree, tmp_path / "below" / "copy")]
    assert times[0] == times[1]
    assert not cache.copy(replace(KEY, version="1.2.4"), tmp_path / "other")
    assert not (tmp_path / "other").exists()
    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700


def change_a_file(entry: Path) -> None:
    (entry / "content" / "sub" / "run.sh").write_text("#!/bin/sh\nevil\n")


def add_a_file(entry: Path) -> None:
    (entry / "content" / "more").write_text("")


def remove_a_file(entry: Path) -> None:
    (entry / "content" / "übung").unlink()


def change_a_mode(entry: Path) -> None:
    (entry / "content" / "sub" / "run.sh").chmod(0o644)


def change_a_link(entry: Path) -> None:
    (entry / "content" / "link").unlink()
    (entry / "content" / "link").symlink_to("/etc/passwd")


def remove_all(entry: Path) -> None:
    shutil.rmtree(entry / "content")


def put_a_device(entry: Path) -> None:
    os.mkfifo(entry / "content" / "fifo")


def cut_the_record(entry: Path) -> None:
    (entry / "about.json").write_text('{"dig')


def lose_the_record(entry: Path) -> None:
    (entry / "about.json").unlink()


@pytest.mark.parametrize(
    "damage",
    [
        change_a_file,
        add_a_file,
        remove_a_file,
        change_a_mode,
        change_a_link,
        remove_all,
        put_a_device,
        cut_the_record,
        lose_the_record,
    ],
)
def test_a_damaged_entry_is_a_miss(
    cache: DependencyCache, tree: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    """It is removed, so that the next run can put a sound one in its place."""
    cache.add(KEY, tree)
    damage(entry(tmp_path))
    assert not cache.copy(KEY, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    cache.add(KEY, tree)
    assert cache.copy(KEY, tmp_path / "copy")
    assert not list((tmp_path / "cache").glob("new-*"))


def test_writers_at_the_same_time(cache: DependencyCache, tree: Path, tmp_path: Path) -> None:
    threads = [threading.Thread(target=cache.add, args=(KEY, tree)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert snapshot(entry(tmp_path) / "content") == snapshot(tree)
    assert not list((tmp_path / "cache").glob("new-*"))


@pytest.mark.parametrize("limits", [{"cached_files": 5}, {"cached_bytes": 10}])
def test_what_is_too_large_is_not_kept(tree: Path, tmp_path: Path, limits: dict[str, int]) -> None:
    cache = DependencyCache(tmp_path / "cache", replace(DEFAULT_LIMITS, **limits))
    cache.add(KEY, tree)
    assert not list((tmp_path / "cache").iterdir())


def test_leftovers_of_killed_runs(cache: DependencyCache, tree: Path, tmp_path: Path) -> None:
    old, young = tmp_path / "cache" / "new-old", tmp_path / "cache" / "new-young"
    for folder in (old, young):
        (folder / "entry").mkdir(parents=True)
    os.utime(old, (0, 0))
    cache.add(KEY, tree)
    assert not old.exists()
    assert young.exists()


def test_a_disk_that_becomes_full(cache: DependencyCache, tree: Path, tmp_path: Path) -> None:
    """A dependency that is too large is not stored, and does not stop a run."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    (tree / "übung").write_bytes(b"")
    (tree / "sub" / "run.sh").write_text("")
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        cache.add(KEY, tree)  # the record is what is too large here
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list((tmp_path / "cache").glob("*/*"))
    assert not cache.copy(KEY, tmp_path / "copy")


def test_a_disk_that_refuses_is_an_empty_cache(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file is in the way")
    cache = DependencyCache(tmp_path / "cache", DEFAULT_LIMITS)
    cache.add(KEY, tree)
    assert not cache.copy(KEY, tmp_path / "copy")


@pytest.mark.parametrize("version", ["1.2.3", "v1.2.3", "1.2.3-rc.1", "1.2.3+build.7"])
def test_exact_versions(version: str) -> None:
    assert chart_key("https://charts.example.com", "redis", version) is not None


@pytest.mark.parametrize(
    "version", [None, "", "latest", "1", "1.2", "1.2.x", "^1.2.3", "~1.2.3", ">=1.2.3", "1.2.3 - 2.0.0", "1.2.3\n"]
)
def test_versions_that_may_mean_another_chart_tomorrow(version: str | None) -> None:
    assert chart_key("https://charts.example.com", "redis", version) is None


def test_keys_hold_no_credentials() -> None:
    plain, secret = "https://git.example.com/x", "https://user:hidden@git.example.com/x"
    assert chart_key(plain, "c", "1.0.0") == chart_key(secret, "c", "1.0.0")
    first, two = (commit_key(url, "a" * 40, submodules=False, folder="") for url in (plain, secret))
    assert first == two
    assert commit_key(f"{plain}?token=hidden", "a" * 40, submodules=False, folder="") is None
    assert commit_key(plain, "a" * 40, submodules=True, folder="") != first
    assert commit_key(plain, "a" * 40, submodules=False, folder="sub") != first


# With an engine


@pytest.fixture(scope="module")
def caching(clean_session: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Path]]:
    """An engine with a cache that all tests here share: each has sources of its own."""
    folder = tmp_path_factory.mktemp("shared") / "cache"
    with Engine(make_context(), processes=2, dependency_cache=folder) as engine:
        yield engine, folder


@dataclass
class Runs:
    """Compiles dependencies in a new working directory each time, with tools that record how they were called."""

    world: World
    caching: Engine
    cache: Path
    made: int = 0

    def fetch(self, *dependencies: dict[str, Any], cached: bool = True) -> Path:
        """Returns the folder with what was fetched, one folder for each dependency."""
        self.made += 1
        root = self.world.root / f"run{self.made}"
        world = World(root, self.caching if cached else self.world.engine, [], environment=self.world.environment)
        listed = [{**dependency, "output_path": f"f/{number}"} for number, dependency in enumerate(dependencies)]
        world.add("a", kapitan={"dependencies": listed})
        world.compile()
        return root / "f"

    def calls(self, tool: str) -> list[str]:
        log = self.world.root / f"{tool}.log"
        return log.read_text().splitlines() if log.exists() else []


@pytest.fixture
def runs(world: World, caching: tuple[Engine, Path]) -> Runs:
    for tool, script in (("helm", HELM), ("git", GIT)):
        log = world.root / f"{tool}.log"
        world.tool(tool, script.format(log=log, git=shutil.which("git")))
    return Runs(world, *caching)


HELM = """
echo "$@" >> {log}
while [ $# -gt 1 ]; do
  case $1 in --destination) to=$2;; --version) version=$2;; esac
  shift
done
mkdir -p "$to/$1/templates" || exit 1
echo "$version" > "$to/$1/Chart.yaml"
chmod 600 "$to/$1/Chart.yaml"
"""

GIT = """
echo "$@" >> {log}
case " $* " in *" --depth=1 "*) [ -z "$GIT_REFUSE" ] || exit 128;; esac
exec {git} "$@"
"""


def chart(version: str, source: str = "https://charts.example.com") -> dict[str, Any]:
    return {"type": "helm", "source": source, "chart_name": "redis", "version": version}


def test_charts_are_pulled_once(runs: Runs, tmp_path: Path) -> None:
    requested = chart("1.0.0", f"https://charts.example.com{tmp_path}")
    first, again = runs.fetch(requested), runs.fetch(requested)
    assert len(runs.calls("helm")) == 1
    assert snapshot(first) == snapshot(again) == snapshot(runs.fetch(requested, cached=False))
    (again / "0" / "Chart.yaml").write_text("changed")  # a copy, never a link
    assert (runs.fetch(requested) / "0" / "Chart.yaml").read_text() == "1.0.0\n"


def test_ranges_of_charts_are_pulled_each_time(runs: Runs, tmp_path: Path) -> None:
    some = chart("1.x", f"https://charts.example.com{tmp_path}")
    runs.fetch(some)
    runs.fetch(some)
    assert len(runs.calls("helm")) == 2


def test_credentials_do_not_reach_the_cache(runs: Runs, tmp_path: Path) -> None:
    secret = chart("1.0.0", f"https://user:hidden@charts.example.com{tmp_path}")
    runs.fetch(secret)
    runs.fetch(secret)
    assert len(runs.calls("helm")) == 1
    assert "hidden" in runs.calls("helm")[0]
    for path in runs.cache.rglob("*"):
        assert "hidden" not in path.name
        assert not path.is_file() or b"hidden" not in path.read_bytes()


def commit(folder: Path, text: str) -> str:
    (folder / "sub" / "file").write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", text)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    (folder / "sub").mkdir(parents=True)
    write_script(folder / "sub" / "run.sh", "")
    (folder / "outer").write_text("outer")
    (folder / "sub" / "link").symlink_to("../outer")
    git(folder, "init", "-q", "-b", "master")
    commit(folder, "one")
    git(folder, "tag", "-a", "v1", "-m", "annotated")
    git(folder, "branch", "other")
    commit(folder, "two")
    return folder


def source(repository: Path, ref: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"type": "git", "source": str(repository), **({"ref": ref} if ref else {}), **fields}


def text(folder: Path, number: int = 0) -> str:
    return (folder / str(number) / "sub" / "file").read_text()


KAPITAN = """
import json, sys
from kapitan.dependency_manager.base import fetch_git_dependency
from kapitan.inventory.model.dependencies import KapitanDependencyGitConfig
for number, fields in enumerate(json.loads(sys.argv[1])):
    model = KapitanDependencyGitConfig(**fields, output_path=f"{sys.argv[2]}/out/{number}")
    fetch_git_dependency((fields["source"], [model]), sys.argv[2], True)
"""


def of_kapitan(folder: Path, *dependencies: dict[str, Any], **environment: str) -> Path:
    """Fetch with Kapitan's own function."""
    folder.mkdir()
    command = [sys.executable, "-c", KAPITAN, json.dumps(dependencies), str(folder)]
    subprocess.run(command, check=True, env={**os.environ, **environment}, cwd=folder)
    return folder / "out"


def without_git(tree: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    return {name: value for name, value in tree.items() if ".git" not in Path(name).parts}


def test_repositories_are_as_kapitan_leaves_them(runs: Runs, repository: Path, tmp_path: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")
    sources = [source(repository, ref) for ref in (None, "v1", "other", "master", head)]
    sources += [source(repository, "v1", subdir="sub"), source(repository, subdir="sub")]
    kapitan = snapshot(of_kapitan(tmp_path / "kapitan", *sources))
    uncached, fresh, kept = (snapshot(runs.fetch(*sources, cached=cached)) for cached in (False, True, True))
    assert without_git(kapitan) == uncached == fresh == kept
    assert fresh["5/link"][0].startswith("-")


def test_a_branch_is_asked_for_and_fetched_when_it_moves(runs: Runs, repository: Path) -> None:
    fetched = [text(runs.fetch(source(repository, ref))) for ref in ("master", None, "master")]
    assert fetched == ["two"] * 3
    calls = [word for call in runs.calls("git") for word in call.split() if word in ("ls-remote", "fetch")]
    assert calls == ["ls-remote", "fetch", "ls-remote", "ls-remote"]
    commit(repository, "three")
    assert text(runs.fetch(source(repository, "master"))) == "three"


def test_an_annotated_tag_is_the_commit_it_stands_for(runs: Runs, repository: Path) -> None:
    tagged = git(repository, "rev-parse", "v1^{commit}")
    assert [text(runs.fetch(source(repository, ref))) for ref in ("v1", tagged)] == ["one", "one"]
    assert len([call for call in runs.calls("git") if " fetch " in call]) == 1


def test_a_full_commit_asks_nobody(runs: Runs, repository: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")
    assert text(runs.fetch(source(repository, head))) == "two"
    repository.rename(repository.parent / "gone")
    assert text(runs.fetch(source(repository, head))) == "two"


def test_what_a_name_means(runs: Runs, repository: Path, tmp_path: Path) -> None:
    """As `git checkout` sees it in a fresh clone: the default branch, then a tag, then another branch."""
    git(repository, "tag", "master", "v1^{}")
    git(repository, "branch", "v1", "refs/heads/master")
    git(repository, "branch", "deep/v1", "refs/heads/master")
    sources = [source(repository, name) for name in ("master", "v1", "deep/v1")]
    kapitan = of_kapitan(tmp_path / "kapitan", *sources)
    expected = [text(kapitan, number) for number in range(3)]
    assert [text(runs.fetch(item)) for item in sources] == expected == ["two", "one", "two"]


def test_what_only_a_clone_can_tell(runs: Runs, repository: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")
    for cached in (True, False):
        folders = runs.fetch(source(repository, head[:10]), source(repository, "master~1"), cached=cached)
        assert [text(folders, 0), text(folders, 1)] == ["two", "one"]
        assert not list(folders.rglob(".git"))


def test_a_server_that_gives_no_single_commits(runs: Runs, repository: Path) -> None:
    runs.world.environment["GIT_REFUSE"] = "yes"
    assert text(runs.fetch(source(repository, "v1"))) == "one"
    assert any(" clone " in f" {call} " for call in runs.calls("git"))


def nested(tmp_path: Path, repository: Path, world: World) -> Path:
    """A repository that has another one as a submodule, and a configuration that lets git fetch it."""
    outer = tmp_path / "outer"
    (outer / "sub").mkdir(parents=True)
    git(outer, "init", "-q", "-b", "master")
    git(
        outer,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        "--name",
        "inner",
        str(repository),
        "inner",
    )
    commit(outer, "outer")
    world.write("home/.gitconfig", '[protocol "file"]\n\tallow = always\n')
    world.environment["HOME"] = str(world.root / "home")
    return outer


def test_submodules(runs: Runs, repository: Path, tmp_path: Path) -> None:
    outer = nested(tmp_path, repository, runs.world)
    sources = [source(outer, submodules=True), source(outer, submodules=False)]
    kapitan = snapshot(of_kapitan(tmp_path / "kapitan", sources[0], HOME=runs.world.environment["HOME"]))
    assert snapshot(runs.fetch(sources[0], cached=False)) == without_git(kapitan)
    fresh, kept = snapshot(runs.fetch(*sources)), snapshot(runs.fetch(*sources))
    assert fresh == kept
    assert {name: value for name, value in fresh.items() if name.startswith("0")} == without_git(kapitan)
    assert "0/inner/sub/file" in fresh
    assert "1/inner/sub/file" not in fresh


def test_what_is_not_the_commits_alone_is_not_kept(runs: Runs, repository: Path) -> None:
    """Files that a program of the user's may have changed."""
    (repository / ".gitattributes").write_text("* filter=lfs\n")
    head = commit(repository, "three")
    runs.fetch(source(repository, head))
    assert str(repository) not in "".join(path.read_text() for path in runs.cache.glob("*/*/about.json"))


@pytest.mark.parametrize("subdir", ["nowhere", "../..", "sub/file"])
def test_folders_that_a_repository_does_not_have(runs: Runs, repository: Path, subdir: str) -> None:
    world = World(runs.world.root, runs.caching, [])
    world.add("a", kapitan={"dependencies": [source(repository, subdir=subdir, output_path="f")]})
    assert world.fail_once().code == "CMD-ENG-026"
    assert not (world.root / "f").exists()


@pytest.mark.parametrize("cached", [True, False])
def test_a_whole_repository_can_be_copied(runs: Runs, repository: Path, tmp_path: Path, cached: bool) -> None:
    """Without what belongs to git, also where earlier versions have left that, with a submodule's."""
    outer = nested(tmp_path, repository, runs.world)
    world = World(
        runs.world.root, runs.caching if cached else runs.world.engine, [], environment=runs.world.environment
    )
    dependency = source(outer, submodules=True, output_path="f/0")
    world.add(
        "a", {"input_type": "copy", "input_paths": ["f/0"], "output_path": "."}, kapitan={"dependencies": [dependency]}
    )
    world.compile()
    expected = world.files("a")
    assert expected == [
        ".gitmodules",
        "inner/outer",
        "inner/sub/file",
        "inner/sub/link",
        "inner/sub/run.sh",
        "sub/file",
    ]
    shutil.rmtree(world.root / "f")
    left = of_kapitan(tmp_path / "kapitan", source(outer, submodules=True), HOME=world.environment["HOME"])
    shutil.copytree(left, world.root / "f")
    assert {path.parent.name for path in (world.root / "f").rglob(".git")} == {"0", "inner"}
    world.compile()
    assert world.files("a") == expected
    assert not list((world.root / "f").rglob(".git"))


LEFT: dict[str, Callable[[Path], object]] = {
    "a commit": lambda clone: commit(clone, "three"),
    "a commit of another branch": lambda clone: (git(clone, "checkout", "-q", "-b", "mine"), commit(clone, "three")),
    "a commit of no branch": lambda clone: (git(clone, "checkout", "-q", "--detach"), commit(clone, "three")),
    "a stash": lambda clone: ((clone / "sub/file").write_text("mine"), git(clone, "stash")),
    "a damaged repository": lambda clone: (clone / ".git/HEAD").unlink(),
}


@pytest.mark.parametrize("left", LEFT, ids=str)
def test_work_in_a_fetched_folder_stays(repository: Path, tmp_path: Path, left: str) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(repository), str(clone))
    LEFT[left](clone)
    remove_leftovers(clone, [tmp_path / "elsewhere"], make_context())
    assert (clone / ".git").is_dir()


def test_checkouts_of_ours_are_no_leftovers(repository: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(repository), str(clone))
    for root in (clone, clone / "sub"):
        remove_leftovers(clone, [root], make_context())
        assert (clone / ".git").is_dir()
    tree = clone / "tree"
    git(clone, "worktree", "add", "-q", "--detach", str(tree))
    shutil.rmtree(clone / ".git")
    remove_leftovers(clone, [], make_context())
    assert (tree / ".git").is_file()
