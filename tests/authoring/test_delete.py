"""`component delete`, which loses no work."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.authoring import COMPONENT, NewRequest, create_repository, delete_component, plan_deletion
from commodore.base.errors import CommodoreError, PolicyError, UsageError
from commodore.base.events import Event, Noted, ignore
from commodore.base.files.workspace import Workspace
from tests.world.context import make_context
from tests.world.repos import GitWorld, Remote, git


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.at(tmp_path / "work")


@pytest.fixture
def foo(tmp_path: Path, workspace: Workspace) -> Path:
    """A component in the working directory whose one commit is pushed."""
    remote = GitWorld(tmp_path / "remotes").remote("component-foo")
    place = f"url.{remote.url}.insteadOf"
    git(tmp_path, "config", "--global", place, "ssh://git@github.com/projectsyn/component-foo.git")
    folder = create_repository(workspace, NewRequest(COMPONENT, "foo"), make_context(announce=ignore)).folder
    git(folder, "push", "--quiet", "origin", "master")
    return folder


def bare(workspace: Workspace) -> Path:
    return workspace.repositories / "github.com" / "projectsyn" / "component-foo.git"


def delete(workspace: Workspace, slug: str = "foo", *, force: bool = False) -> list[Event]:
    collected: list[Event] = []
    delete_component(
        workspace, plan_deletion(workspace, slug, make_context(), force=force), make_context(announce=collected.append)
    )
    return collected


def refusal(workspace: Workspace) -> str:
    with pytest.raises(PolicyError) as caught:
        plan_deletion(workspace, "foo", make_context())
    assert caught.value.code == "CMD-TPL-041"
    return caught.value.message


def test_folder_and_clone_go(workspace: Workspace, foo: Path) -> None:
    delete(workspace)
    assert not foo.exists()
    assert list(workspace.dependencies.iterdir()) == []


def test_it_can_be_made_again(workspace: Workspace, foo: Path) -> None:
    delete(workspace)
    assert create_repository(workspace, NewRequest(COMPONENT, "foo"), make_context(announce=ignore)).folder == foo


def test_a_clone_that_others_use_stays(workspace: Workspace, foo: Path) -> None:
    other = workspace.component("other")
    git(bare(workspace), "worktree", "add", "--quiet", "--detach", str(other), "master")
    assert delete(workspace) == [Noted(f"the clone {bare(workspace)} is kept, as other working copies use it")]
    assert git(other, "status", "--porcelain") == ""
    assert not foo.exists()


def test_paths_with_blanks(tmp_path: Path) -> None:
    """The published tool fails with a traceback."""
    workspace = Workspace.at(tmp_path / "a b")
    create_repository(workspace, NewRequest(COMPONENT, "foo"), make_context(announce=ignore))
    delete(workspace, force=True)
    assert list(workspace.dependencies.iterdir()) == []


def test_uncommitted_work_is_protected(workspace: Workspace, foo: Path) -> None:
    (foo / "README.md").write_text("mine", encoding="utf-8")
    (foo / "mine.txt").write_text("mine", encoding="utf-8")
    message = refusal(workspace)
    assert "uncommitted changes in README.md; the untracked files mine.txt" in message
    assert (foo / "mine.txt").exists()
    delete(workspace, force=True)
    assert not foo.exists()


def test_unpushed_work_is_protected(workspace: Workspace, foo: Path) -> None:
    git(foo, "commit", "--quiet", "--allow-empty", "--message", "mine")
    assert "commits of master that no remote has" in refusal(workspace)


def test_a_new_component_is_unpushed_work(workspace: Workspace) -> None:
    create_repository(workspace, NewRequest(COMPONENT, "foo"), make_context(announce=ignore))
    assert "commits of master that no remote has" in refusal(workspace)


@pytest.mark.parametrize("what", ["branch", "stash", "detached"])
def test_unpushed_work_elsewhere_is_protected(workspace: Workspace, foo: Path, what: str) -> None:
    if what == "stash":
        (foo / "README.md").write_text("mine", encoding="utf-8")
        git(foo, "stash")
    else:
        git(foo, "checkout", "--quiet", *(["-b", "topic"] if what == "branch" else ["--detach"]))
        git(foo, "commit", "--quiet", "--allow-empty", "--message", "mine")
        if what == "branch":
            git(foo, "checkout", "--quiet", "master")
    expected = {"branch": "topic", "stash": "refs/stash", "detached": "HEAD"}[what]
    assert f"commits of {expected} that no remote has" in refusal(workspace)


def test_branches_that_stay_with_the_clone_do_not_count(workspace: Workspace, foo: Path) -> None:
    git(foo, "branch", "topic")
    git(bare(workspace), "worktree", "add", "--quiet", str(workspace.component("other")), "topic")
    git(workspace.component("other"), "commit", "--quiet", "--allow-empty", "--message", "mine")
    delete(workspace)
    assert git(bare(workspace), "rev-parse", "--verify", "topic")


def test_a_clone_that_became_unused_meanwhile_stays(workspace: Workspace, foo: Path) -> None:
    """Files that were not checked before are not deleted."""
    other = workspace.component("other")
    git(bare(workspace), "worktree", "add", "--quiet", "-b", "topic", str(other), "master")
    git(other, "commit", "--quiet", "--allow-empty", "--message", "mine")
    plan = plan_deletion(workspace, "foo", make_context())
    git(bare(workspace), "worktree", "remove", "--force", str(other))
    delete_component(workspace, plan, make_context(announce=ignore))
    assert git(bare(workspace), "rev-parse", "--verify", "topic")


def test_an_ordinary_clone(tmp_path: Path, workspace: Workspace) -> None:
    remote: Remote = GitWorld(tmp_path / "remotes").remote("repo", {"a": "b"})
    folder = remote.clone(workspace.component("foo"))
    git(folder, "branch", "topic")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "mine")
    assert "commits of master that no remote has" in refusal(workspace)
    git(folder, "reset", "--quiet", "--hard", "origin/master")
    delete(workspace)
    assert not folder.exists()


def test_a_folder_that_is_no_repository(workspace: Workspace) -> None:
    folder = workspace.component("foo")
    folder.mkdir(parents=True)
    delete(workspace)
    folder.mkdir()
    (folder / "mine.txt").write_text("mine", encoding="utf-8")
    assert "files outside of any git repository" in refusal(workspace)


def test_a_link_goes_alone(tmp_path: Path, workspace: Workspace) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "mine.txt").write_text("mine", encoding="utf-8")
    workspace.dependencies.mkdir(parents=True)
    workspace.component("foo").symlink_to(own)
    delete(workspace)
    assert (own / "mine.txt").exists()
    assert not workspace.component("foo").is_symlink()


def test_a_clone_outside_is_not_deleted(tmp_path: Path, workspace: Workspace) -> None:
    """A worktree of the author's own repository somewhere else: only the working copy goes."""
    remote = GitWorld(tmp_path / "remotes").remote("repo", {"a": "b"})
    own = remote.clone(tmp_path / "own")
    git(own, "worktree", "add", "--quiet", "-b", "topic", str(workspace.component("foo")))
    delete(workspace)
    assert (own / "a").exists()


def test_unknown_components(workspace: Workspace, foo: Path) -> None:
    with pytest.raises(UsageError) as caught:
        plan_deletion(workspace, "fooo", make_context())
    assert (caught.value.code, caught.value.hint) == ("CMD-TPL-040", "did you mean 'foo'?")


@pytest.mark.parametrize("slug", ["lib", ".repos", "../x", "pkg.x"])
def test_what_is_no_component_is_not_deleted(workspace: Workspace, slug: str) -> None:
    (workspace.dependencies / "lib").mkdir(parents=True)
    with pytest.raises(CommodoreError):
        plan_deletion(workspace, slug, make_context(), force=True)
    assert (workspace.dependencies / "lib").exists()
