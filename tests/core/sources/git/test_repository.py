"""Bare clones: how they are made, fetched, and asked what a version means."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.base.errors import CommodoreError, EnvironmentFault, InputError
from commodore.base.events import Warned
from commodore.core.sources.git import Repository, RepositoryStore
from tests.core.sources.git.conftest import Heard
from tests.world.repos import GitCalls, GitWorld, Link, Remote, Script, git

NewRun = Callable[..., RepositoryStore]


def config(repository: Repository) -> dict[str, str]:
    lines = git(repository.path, "config", "--local", "--list").splitlines()
    return dict(line.split("=", 1) for line in lines if line.startswith("remote."))


def fetched(store: RepositoryStore, remote: Remote, *versions: str) -> Repository:
    store.sync((remote.url, version) for version in (versions or ("master",)))
    return store.repository(remote.url)


def discarded(repository: Repository) -> dict[str, str]:
    lines = git(repository.path, "for-each-ref", "--format=%(refname) %(objectname)", "refs/commodore").splitlines()
    return dict(line.split(" ") for line in lines)


@pytest.mark.requirement("C17")
def test_the_clone_is_bare_and_lies_at_its_key(store: RepositoryStore, world: GitWorld, workspace: Path) -> None:
    """Bare, below `dependencies/.repos`, with the path of the URL; its refspec is that of an ordinary clone."""
    remote = world.remote("group/thing", {"a": "1"})
    repository = fetched(store, remote)
    assert repository.path == workspace / "dependencies" / ".repos" / str(remote.path).removeprefix("/")
    assert git(repository.path, "rev-parse", "--is-bare-repository") == "true"
    assert config(repository) == {
        "remote.origin.url": remote.url,
        "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
    }


@pytest.mark.requirement("C25", "C26", "C27", "C28")
@pytest.mark.parametrize(
    ("url", "pushed"),
    [
        ("https://git.example.com/x/y.git", "ssh://git@git.example.com/x/y.git"),
        ("https://user:pw@git.example.com:8443/x/y.git", "ssh://git@git.example.com/x/y.git"),
        ("ssh://me@git.example.com:2222/x/y.git", None),
    ],
)
def test_the_push_url_is_configured(store: RepositoryStore, url: str, pushed: str | None) -> None:
    """Push URLs, as git sees them."""
    repository = store.repository(url)
    repository.ensure()
    assert config(repository).get("remote.origin.pushurl") == pushed
    assert config(repository)["remote.origin.url"] == url.replace("user:pw@", "")


def test_a_stale_push_url_is_removed(new_run: NewRun) -> None:
    """After changing https to ssh with another user, the push URL of before stayed."""
    first = new_run().repository("https://git.example.com/x.git")
    first.ensure()
    second = new_run().repository("ssh://me@git.example.com/x.git")
    second.ensure()
    assert second.path == first.path
    assert config(second) == {
        "remote.origin.url": "ssh://me@git.example.com/x.git",
        "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*",
    }


@pytest.mark.requirement("C12")
@pytest.mark.parametrize("annotated", [False, True])
def test_every_kind_of_version(store: RepositoryStore, world: GitWorld, annotated: bool) -> None:
    """Branch, tag, full and short commit id, `tag^{}`, ancestors, long names; weak point: annotated long names."""
    remote = world.remote(files={"a": "1"})
    first = remote.sha()
    remote.tag("v1", annotated=annotated)
    second = remote.commit({"a": "2"})
    remote.start_branch("feature/x", first)
    repository = fetched(store, remote)

    def meaning(version: str) -> tuple[str, str]:
        revision = repository.resolve(version)
        assert revision.version == version
        return revision.sha, revision.kind

    assert meaning("master") == (second, "branch")
    assert meaning("feature/x") == (first, "branch")
    assert meaning("v1") == (first, "tag")
    for version in (
        *("v1^{}", "v1^{commit}", "v1~0", "master~1", "master^", "refs/tags/v1", "tags/v1", "origin/feature/x"),
        *("refs/heads/feature/x", "HEAD~1", "v1-0-g" + first[:8], first, first[:7], first[:7].upper(), second + "~1"),
    ):
        assert meaning(version) == (first, "revision"), version
    for version in ("HEAD", "origin/master", "refs/remotes/origin/master", "@", second):
        assert meaning(version) == (second, "revision"), version


def test_a_branch_beats_a_tag_always(store: RepositoryStore, world: GitWorld, collected: Heard) -> None:
    """The first run took the tag, the second one the branch of that name. It is a warning, once."""
    remote = world.remote(files={"a": "1"})
    remote.tag("same")
    branch = remote.commit({"a": "2"})
    remote.start_branch("same", branch)
    repository = fetched(store, remote)
    assert repository.resolve("same").sha == branch
    assert repository.resolve("same").kind == "branch"
    assert collected.codes == ["CMD-GIT-035"]


def test_a_branch_and_a_tag_of_one_commit_are_the_same(
    store: RepositoryStore, world: GitWorld, collected: Heard
) -> None:
    remote = world.remote(files={"a": "1"})
    remote.tag("same", annotated=True)
    remote.start_branch("same", remote.sha())
    assert fetched(store, remote).resolve("same").kind == "branch"
    assert collected.codes == []


def test_a_tag_of_a_tag_is_followed_to_its_commit(store: RepositoryStore, world: GitWorld) -> None:
    remote = world.remote(files={"a": "1"})
    remote.tag("inner", annotated=True)
    remote.tag("outer", "inner", annotated=True)
    assert fetched(store, remote).resolve("outer").sha == remote.sha()


@pytest.mark.parametrize("version", ["nope", "mastr", "deadbeef", "0" * 40, "master~99", ":/Change", "master:a"])
def test_unknown_versions(store: RepositoryStore, world: GitWorld, version: str) -> None:
    repository = fetched(store, world.remote(files={"a": "1"}))
    with pytest.raises(InputError) as error:
        repository.resolve(version)
    assert error.value.code == "CMD-GIT-030"
    assert version in error.value.message
    if version == "mastr":
        assert error.value.hint == "did you mean 'master'?"


@pytest.mark.parametrize("version", ["-f", "--exec=touch x", "", " ", "a\nb", "\x1b[31m"])
def test_versions_that_git_would_misread(store: RepositoryStore, world: GitWorld, version: str) -> None:
    """A version beginning with `-` was read as an option."""
    repository = fetched(store, world.remote(files={"a": "1"}))
    with pytest.raises(InputError) as error:
        repository.resolve(version)
    assert error.value.code == "CMD-GIT-031"
    assert error.value.message.isprintable()


def test_a_version_that_is_no_commit(store: RepositoryStore, world: GitWorld) -> None:
    remote = world.remote(files={"a": "1"})
    remote.tag("only-a-file", "master:a")
    repository = fetched(store, remote)
    for version in ("only-a-file", git(remote.path, "rev-parse", "master^{tree}")):
        with pytest.raises(InputError) as error:
            repository.resolve(version)
        assert error.value.code == "CMD-GIT-032"


def test_a_numeric_version_is_a_name_like_any_other(store: RepositoryStore, world: GitWorld) -> None:
    """`version: 1.0`; the spec's reader makes it text, here it is a tag."""
    remote = world.remote(files={"a": "1"})
    remote.tag("1.0")
    assert fetched(store, remote).resolve("1.0").kind == "tag"


def test_stale_local_branches_are_never_used(new_run: NewRun, world: GitWorld) -> None:
    """A leftover local branch won over the remote's, and outlived its deletion there."""
    remote = world.remote(files={"a": "1"})
    remote.start_branch("gone")
    repository = fetched(new_run(), remote)
    git(repository.path, "branch", "master", "refs/remotes/origin/master")
    git(repository.path, "branch", "gone", "refs/remotes/origin/gone")
    newest = remote.commit({"a": "2"})
    remote.delete_branch("gone")
    repository = fetched(new_run(), remote)
    assert repository.resolve("master").sha == newest
    assert repository.resolve("master~0").sha == newest
    for version in ("gone", "gone~0", "heads/gone", "refs/heads/gone"):
        with pytest.raises(InputError):
            repository.resolve(version)


def test_a_deleted_tag_is_gone_but_its_commit_is_kept(new_run: NewRun, world: GitWorld) -> None:
    """A tag deleted upstream kept compiling from the stale local ref."""
    remote = world.remote(files={"a": "1"})
    remote.tag("v1")
    repository = fetched(new_run(), remote)
    remote.delete_tag("v1")
    repository = fetched(new_run(), remote, "v1")
    with pytest.raises(InputError):
        repository.resolve("v1")
    assert list(discarded(repository).values()) == [remote.sha()]


def test_a_moved_tag_is_followed_with_a_warning(new_run: NewRun, world: GitWorld, collected: Heard) -> None:
    """A tag that was moved upstream broke every dependency of that repository."""
    remote = world.remote(files={"a": "1"})
    first = remote.sha()
    remote.tag("v1")
    remote.tag("still")
    fetched(new_run(), remote)
    second = remote.commit({"a": "2"})
    remote.tag("v1", annotated=True)
    repository = fetched(new_run(), remote)
    assert repository.resolve("v1").sha == second
    [warning] = [event for event in collected if isinstance(event, Warned)]
    assert warning.code == "CMD-GIT-022"
    assert "'v1'" in warning.message
    assert first[:10] in warning.message
    assert list(discarded(repository).values()) == [first]


def test_folders_and_files_of_refs_may_change_places(new_run: NewRun, world: GitWorld) -> None:
    """`foo` renamed to `foo/bar` (and back) broke the fetch, for branches and for tags."""
    remote = world.remote(files={"a": "1"})
    for name, other in (("foo", "foo/bar"), ("foo/bar", "foo")):
        remote.start_branch(name)
        remote.tag("t" + name)
        assert fetched(new_run(), remote).resolve(name).kind == "branch"
        remote.delete_branch(name)
        remote.delete_tag("t" + name)
        remote.start_branch(other)
        remote.tag("t" + other)
        repository = fetched(new_run(), remote, other, "t" + other)
        assert repository.resolve(other).kind == "branch"
        assert repository.resolve("t" + other).kind == "tag"
        remote.delete_branch(other)
        remote.delete_tag("t" + other)


def test_the_default_branch_is_asked_anew_each_run(new_run: NewRun, world: GitWorld, calls: GitCalls) -> None:
    """It was never refreshed once set."""
    remote = world.remote(files={"a": "1"}, branch="main")
    assert new_run().repository(remote.url).default_branch() == "main"
    remote.start_branch("trunk")
    remote.change_default_branch("trunk")
    store = new_run()
    store.sync([(remote.url, None)])
    repository = store.repository(remote.url)
    calls.forget()
    assert repository.resolve(None).version == "trunk"
    assert repository.default_branch() == "trunk"
    assert calls.verbs == ["for-each-ref"]
    assert new_run(offline=True).repository(remote.url).default_branch() == "trunk"


def test_the_default_branch_of_servers_that_name_none(new_run: NewRun, world: GitWorld) -> None:
    remote = world.remote(files={"a": "1"}, branch="develop")
    git(remote.path, "update-ref", "--no-deref", "HEAD", remote.sha("develop"))  # a detached HEAD
    store = new_run()
    store.sync([(remote.url, None)])
    assert store.repository(remote.url).default_branch() == "develop"
    assert new_run().repository(world.remote("empty").url).default_branch() == "master"


def test_a_foreign_folder_in_the_way_is_named(store: RepositoryStore, world: GitWorld) -> None:
    """A folder that is not a repository ended in a traceback."""
    repository = store.repository(world.remote(files={"a": "1"}).url)
    repository.path.mkdir(parents=True)
    (repository.path / "note").write_text("mine")
    with pytest.raises(EnvironmentFault) as error:
        repository.fetch()
    assert error.value.code == "CMD-GIT-020"
    assert str(repository.path) in error.value.message
    assert (repository.path / "note").read_text() == "mine"


def test_a_clone_that_was_killed_while_it_was_made(new_run: NewRun, world: GitWorld) -> None:
    """An empty folder, or an unborn clone, is simply filled by the next run."""
    remote = world.remote(files={"a": "1"})
    repository = new_run().repository(remote.url)
    repository.path.mkdir(parents=True)
    assert fetched(new_run(), remote).resolve("master").sha == remote.sha()


def test_a_damaged_clone_without_own_work_is_made_anew(new_run: NewRun, world: GitWorld, collected: Heard) -> None:
    """A corrupt clone ended in a traceback; nothing in this one can be lost."""
    remote = world.remote(files={"a": "1"})
    repository = fetched(new_run(), remote)
    for path in sorted(repository.path.glob("objects/pack/*")) + sorted(repository.path.glob("objects/??/*")):
        path.chmod(0o644)
        path.write_bytes(b"")
    newest = remote.commit({"a": "2"})
    assert fetched(new_run(), remote).resolve("master").sha == newest
    assert "CMD-GIT-024" in collected.codes


def test_a_damaged_clone_with_own_work_is_named(new_run: NewRun, world: GitWorld) -> None:
    remote = world.remote(files={"a": "1"})
    repository = fetched(new_run(), remote)
    mine = remote.commit({"b": "unpushed"}, branch="elsewhere")
    git(repository.path, "fetch", "--quiet", remote.url, f"{mine}:refs/heads/mine")
    git(remote.path, "update-ref", "-d", "refs/heads/elsewhere")
    git(remote.path, "reflog", "expire", "--all", "--expire=now")
    git(remote.path, "gc", "--quiet", "--prune=now")
    (repository.path / "refs" / "remotes" / "origin" / "master").write_bytes(b"")
    (repository.path / "packed-refs").write_text(f"{mine} refs/heads/mine\n")
    remote.commit({"a": "2"})
    with pytest.raises(EnvironmentFault) as error:
        fetched(new_run(), remote)
    assert error.value.code == "CMD-GIT-021"
    assert str(repository.path) in error.value.message
    assert git(repository.path, "rev-parse", "refs/heads/mine") == mine


def test_an_abbreviation_has_six_digits(store: RepositoryStore, world: GitWorld) -> None:
    repository = fetched(store, world.remote(files={"a": "1"}))
    sha = repository.resolve("master").sha
    assert repository.short_sha(sha) == sha[:6]


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): f"-> {os.readlink(path)}" if path.is_symlink() else path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def test_a_tree_is_exported_like_an_archive(store: RepositoryStore, world: GitWorld, tmp_path: Path) -> None:
    remote = world.remote(
        files={
            ".gitattributes": "hidden export-ignore\nstamp export-subst\nlib/*.bin filter=lfs\n",
            "hidden": "x",
            "stamp": "$Format:%H$",
            "lib/run.sh": Script("#!/bin/sh\n"),
            "lib/deep/a.libsonnet": "{}",
            "lib/link": Link("deep/a.libsonnet"),
            "lib/big.bin": "version https://git-lfs.example/spec/v1\n",
            "[odd] name/*": "glob",
        }
    )
    git(tmp_path, "config", "--global", "filter.lfs.smudge", "false")
    git(tmp_path, "config", "--global", "filter.lfs.required", "true")
    repository = fetched(store, remote)
    sha = repository.resolve("master").sha
    place = tmp_path / "out"
    repository.export_tree(sha, "", place)
    assert tree(place)["stamp"] == sha
    assert "hidden" not in tree(place)
    assert (place / "lib" / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (place / "stamp").stat().st_mode & 0o777 == 0o644
    repository.export_tree(sha, "lib/", place)
    assert tree(place) == {
        "big.bin": "version https://git-lfs.example/spec/v1\n",
        "deep/a.libsonnet": "{}",
        "link": "-> deep/a.libsonnet",
        "run.sh": "#!/bin/sh\n",
    }
    repository.export_tree(sha, "[odd] name", place)
    assert tree(place) == {"*": "glob"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "remotes", "work"]


def test_a_commit_without_files_is_exported(store: RepositoryStore, world: GitWorld, tmp_path: Path) -> None:
    repository = fetched(store, world.remote(files={}))
    repository.export_tree(repository.resolve("master").sha, "", tmp_path / "out")
    assert tree(tmp_path / "out") == {}


@pytest.mark.parametrize(
    "files",
    [
        {"out": Link("/etc/passwd")},
        {"out": Link("../x")},
        {"d/out": Link("../../x")},
        {"d/up": Link(".."), "climb": Link("d/up/../x")},
        {"d/up": Link(".."), "e": Link("d/up/..")},
    ],
)
def test_links_that_lead_out_are_not_exported(
    store: RepositoryStore, world: GitWorld, tmp_path: Path, files: dict[str, Link]
) -> None:
    repository = fetched(store, world.remote(files={"a": "1", **files}))
    with pytest.raises(InputError) as error:
        repository.export_tree(repository.resolve("master").sha, "", tmp_path / "out")
    assert error.value.code == "CMD-GIT-034"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("subdir", "code"),
    [("nope", "CMD-GIT-033"), ("a", "CMD-GIT-033"), ("../x", "CMD-GIT-034"), ("d/../..", "CMD-GIT-034")],
)
def test_folders_that_cannot_be_exported(
    store: RepositoryStore, world: GitWorld, tmp_path: Path, subdir: str, code: str
) -> None:
    repository = fetched(store, world.remote(files={"a": "1", "d/b": "2"}))
    with pytest.raises(CommodoreError) as error:
        repository.export_tree(repository.resolve("master").sha, subdir, tmp_path / "out")
    assert error.value.code == code
