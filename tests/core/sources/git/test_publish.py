"""The clone that a run publishes from: kept and updated, never forced, nothing of a user's lost."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from commodore.base.errors import EnvironmentFault, InputError, PolicyError
from commodore.base.events import Warned
from commodore.core.sources.git import (
    Author,
    PublishedClone,
    PushOutcome,
    commit,
    inspect,
    push,
    stage_all,
    staged_changes,
    unstage,
)
from tests.core.sources.git.conftest import Heard
from tests.world.context import make_context, working_clone
from tests.world.repos import GitCalls, GitWorld, Remote, git

AUTHOR = Author("Robo T", "robot@example.com")


@pytest.fixture
def catalog(workspace: Path) -> Path:
    return workspace / "catalog"


def change(clone: PublishedClone, **files: str) -> str:
    for name, content in files.items():
        (clone.path / name).write_text(content)
    stage_all(clone.path, make_context())
    return commit(clone.path, "Update\n", AUTHOR, make_context())


def test_the_clone_is_on_the_default_branch(world: GitWorld, catalog: Path) -> None:
    remote = world.remote(files={"a": "1"}, branch="main")
    clone = working_clone(remote.url, catalog, make_context())
    assert clone == PublishedClone(catalog, remote.url, "main", remote.sha(), empty=False)
    assert (catalog / "a").read_text() == "1"
    assert git(catalog, "status", "--porcelain", "--branch") == "## main...origin/main"


@pytest.mark.requirement("C25")
def test_the_push_url_of_the_clone(world: GitWorld, catalog: Path) -> None:
    """An HTTP(S) catalog is pushed by SSH."""
    remote = world.remote(files={"a": "1"})
    git(catalog.parent.parent, "config", "--global", f"url.{remote.url}.insteadOf", "https://u:p@git.example.com/c.git")
    clone = working_clone("https://u:p@git.example.com/c.git", catalog, make_context())
    assert clone.url == "https://git.example.com/c.git"
    assert git(catalog, "config", "remote.origin.pushurl") == "ssh://git@git.example.com/c.git"


def test_it_is_kept_and_updated(world: GitWorld, catalog: Path, calls: GitCalls) -> None:
    """Architecture 3: the catalog repository is not cloned again; one that has not changed costs one connection."""
    remote = world.remote(files={"a": "1", "old": "x"})
    working_clone(remote.url, catalog, make_context())
    remote.commit({"a": "2", "old": None})
    calls.forget()
    clone = working_clone(remote.url, catalog, make_context())
    assert (clone.sha, (catalog / "a").read_text(), (catalog / "old").exists()) == (remote.sha(), "2", False)
    assert "init" not in calls.verbs
    calls.forget()
    working_clone(remote.url, catalog, make_context())
    assert [calls.count(verb) for verb in ("ls-remote", "fetch")] == [1, 0]


def test_output_of_an_earlier_run_goes(world: GitWorld, catalog: Path) -> None:
    """Changes stay staged without `--push`; the next run begins from what the remote has."""
    remote = world.remote(files={"a": "1", ".gitignore": "*.tmp\n"})
    working_clone(remote.url, catalog, make_context())
    for name in ("a", "new", "ignored.tmp"):
        (catalog / name).write_text("output")
    stage_all(catalog, make_context())
    (catalog / ".git" / "index.lock").write_bytes(b"")  # killed amid staging
    working_clone(remote.url, catalog, make_context())
    assert sorted(path.name for path in catalog.iterdir()) == [".git", ".gitignore", "a"]
    assert (catalog / "a").read_text() == "1"


def test_a_changed_default_branch_is_followed(world: GitWorld, catalog: Path) -> None:
    remote = world.remote(files={"a": "1"})
    working_clone(remote.url, catalog, make_context())
    remote.commit({"a": "2"}, branch="main")
    remote.change_default_branch("main")
    clone = working_clone(remote.url, catalog, make_context())
    assert (clone.branch, clone.sha) == ("main", remote.sha("main"))


def test_a_default_branch_that_does_not_exist(world: GitWorld, catalog: Path) -> None:
    remote = world.remote(files={"a": "1"})
    git(remote.path, "symbolic-ref", "HEAD", "refs/heads/nope")
    assert working_clone(remote.url, catalog, make_context()).branch == "master"
    remote.commit({"a": "1"}, branch="other")
    remote.delete_branch("master")
    with pytest.raises(EnvironmentFault) as error:
        working_clone(remote.url, catalog, make_context())
    assert error.value.code == "CMD-GIT-054"


def test_an_empty_remote_gets_an_initial_commit_with_the_first_push(world: GitWorld, catalog: Path) -> None:
    """Parentless, empty, `Initial commit`, on `master`, pushed together with the first change."""
    remote = world.remote()
    clone = working_clone(remote.url, catalog, make_context(), author=AUTHOR)
    assert (clone.branch, clone.empty) == ("master", True)
    assert git(catalog, "log", "--format=%s|%P|%T|%an|%ce") == (
        "Initial commit||4b825dc642cb6eb9a060e54bf8d69288fbee4904|Robo T|robot@example.com"
    )
    assert remote.sha(missing="") == ""
    assert staged_changes(catalog, make_context()) == []
    change(clone, a="1")
    assert push(catalog, clone.branch, make_context()) is PushOutcome.PUSHED
    assert git(remote.path, "log", "--format=%s", "master") == "Update\nInitial commit"


def test_an_empty_remote_that_somebody_else_fills(world: GitWorld, catalog: Path, collected: Heard) -> None:
    """The initial commit of an earlier run is not a user's work: it is removed without a message."""
    remote = world.remote()
    working_clone(remote.url, catalog, make_context())
    working_clone(remote.url, catalog, make_context())
    remote.commit({"a": "1"})
    clone = working_clone(remote.url, catalog, make_context(announce=collected.append))
    assert (clone.sha, clone.empty) == (remote.sha(), False)
    assert collected == []


def test_unpushed_commits_make_way_and_are_kept(world: GitWorld, catalog: Path, collected: Heard) -> None:
    remote = world.remote(files={"a": "1"})
    mine = change(working_clone(remote.url, catalog, make_context()), a="mine")
    assert working_clone(remote.url, catalog, make_context(announce=collected.append)).sha == remote.sha()
    [warning] = [event for event in collected if isinstance(event, Warned)]
    assert warning.code == "CMD-GIT-045"
    command = shlex.split(warning.hint.removeprefix("show them with: "))
    assert git(catalog, *command[1:], "-1", "--format=%H") == mine


def test_the_clone_of_another_catalog_is_replaced(world: GitWorld, catalog: Path) -> None:
    """One catalog per working directory: the next cluster's takes the place, unless commits would be lost."""
    first, two = world.remote("one", {"a": "1"}), world.remote("two", {"a": "2"})
    working_clone(first.url, catalog, make_context())
    (catalog / "a").write_text("output")
    assert working_clone(two.url, catalog, make_context()).sha == two.sha()
    change(working_clone(first.url, catalog, make_context()), a="mine")
    with pytest.raises(PolicyError) as error:
        working_clone(two.url, catalog, make_context())
    assert error.value.code == "CMD-GIT-050"
    assert (catalog / "a").read_text() == "mine"


@pytest.mark.parametrize("what", ["folder", "file", "link"])
def test_something_else_is_in_the_way(world: GitWorld, catalog: Path, what: str) -> None:
    remote = world.remote(files={"a": "1"})
    catalog.parent.mkdir(parents=True)
    if what == "folder":
        catalog.mkdir()
        (catalog / "note").write_text("mine")
    elif what == "file":
        catalog.write_text("mine")
    else:
        catalog.symlink_to(remote.path)
    with pytest.raises(PolicyError) as error:
        working_clone(remote.url, catalog, make_context())
    assert error.value.code == "CMD-GIT-050"
    assert str(catalog) in error.value.message


def test_a_remote_that_is_not_there_leaves_nothing_behind(world: GitWorld, catalog: Path) -> None:
    remote = world.remote(files={"a": "1"})
    remote.vanish()
    with pytest.raises(EnvironmentFault) as error:
        working_clone(remote.url, catalog, make_context())
    assert error.value.code == "CMD-GIT-005"
    assert list(catalog.parent.iterdir()) == []
    with pytest.raises(InputError):
        working_clone("ext::x", catalog, make_context())


def test_a_push(world: GitWorld, catalog: Path) -> None:
    remote = world.remote(files={"a": "1"})
    clone = working_clone(remote.url, catalog, make_context())
    sha = change(clone, a="2", b="3")
    assert push(catalog, clone.branch, make_context()) is PushOutcome.PUSHED
    assert remote.sha() == sha
    assert remote.files() == {"a": "2", "b": "3"}
    assert inspect(catalog, make_context()).unpushed == ()
    assert git(remote.path, "log", "-1", "--format=%an %ae %cn %ce %B") == (
        "Robo T robot@example.com Robo T robot@example.com Update\n"
    )


def build_and_push(remote: Remote, catalog: Path) -> PushOutcome:
    clone = working_clone(remote.url, catalog, make_context())
    change(clone, mine="1")
    return push(catalog, clone.branch, make_context())


@pytest.mark.parametrize("when", ["before", "during"])
def test_a_remote_that_moves_meanwhile(world: GitWorld, catalog: Path, when: str) -> None:
    """No retry when the remote moved. The caller learns it, builds on the new commit, and pushes again."""
    remote = world.remote(files={"a": "1"})
    clone = working_clone(remote.url, catalog, make_context())
    change(clone, mine="1")
    if when == "before":
        other = remote.commit({"a": "other"})
    else:
        other = remote.commit({"a": "other"}, branch="next")
        git(remote.path, "update-ref", "-d", "refs/heads/next")
        remote.hook("pre-receive", f"env -u GIT_QUARANTINE_PATH git update-ref refs/heads/master {other}")
        git(remote.path, "update-ref", "refs/heads/next", other)
    assert push(catalog, clone.branch, make_context()) is PushOutcome.MOVED
    assert git(catalog, "rev-parse", "origin/master") == other
    assert build_and_push(remote, catalog) is PushOutcome.PUSHED
    assert "mine" in remote.files()


def test_a_remote_that_refuses_says_why(world: GitWorld, catalog: Path) -> None:
    remote = world.remote(files={"a": "1"})
    remote.refuse_pushes("the branch is protected")
    before = remote.sha()
    with pytest.raises(EnvironmentFault) as error:
        build_and_push(remote, catalog)
    assert error.value.code == "CMD-GIT-051"
    assert "the branch is protected" in error.value.message
    assert "pre-receive hook declined" in error.value.message
    assert remote.sha() == before


def test_a_push_to_a_remote_that_vanished(world: GitWorld, catalog: Path) -> None:
    remote = world.remote(files={"a": "1"})
    clone = working_clone(remote.url, catalog, make_context())
    change(clone, a="2")
    remote.vanish()
    with pytest.raises(EnvironmentFault) as error:
        push(catalog, clone.branch, make_context())
    assert error.value.code == "CMD-GIT-005"
    remote.return_again()
    assert push(catalog, clone.branch, make_context()) is PushOutcome.PUSHED
    with pytest.raises(InputError):
        push(catalog, "--force", make_context())


def test_unstaging_leaves_the_files(world: GitWorld, catalog: Path) -> None:
    working_clone(world.remote(files={"a": "1"}).url, catalog, make_context())
    (catalog / "a").write_text("2")
    (catalog / "b").write_text("2")
    stage_all(catalog, make_context())
    unstage(catalog, make_context())
    assert staged_changes(catalog, make_context()) == []
    assert git(catalog, "status", "--porcelain") == " M a\n?? b"
