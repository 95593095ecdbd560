"""Working copies of dependencies: nothing a user made is lost, whatever is in the place."""

from __future__ import annotations

import os
import shlex
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.base.errors import CommodoreError, Findings, PolicyError
from commodore.base.events import Warned
from commodore.core.sources.git import Checkout, LocalChanges, RepositoryStore, check_out, inspect
from tests.core.sources.git.conftest import Heard
from tests.world.context import make_context
from tests.world.folders import write_script
from tests.world.repos import GitCalls, GitWorld, Remote, git

NewRun = Callable[..., RepositoryStore]


@pytest.fixture
def folder(workspace: Path) -> Path:
    return workspace / "dependencies" / "thing"


@pytest.fixture
def place(new_run: NewRun, folder: Path) -> Callable[..., Checkout]:
    """One run of the program that places a version of a remote in the folder."""

    def run_once(remote: Remote, version: str, *, at: Path = folder, force: bool = False) -> Checkout:
        store = new_run()
        store.sync([(remote.url, version)])
        repository = store.repository(remote.url)
        return check_out(repository, at, repository.resolve(version), force=force)

    return run_once


Place = Callable[..., Checkout]


def refusal(place: Place, remote: Remote, version: str, *, force: bool = False) -> CommodoreError:
    with pytest.raises(PolicyError) as error:
        place(remote, version, force=force)
    assert error.value.hint
    return error.value


def rescue(collected: Heard, number: int = -1) -> str:
    """Run the command that was announced for getting something back."""
    hints = [event.hint for event in collected if isinstance(event, Warned) and event.code == "CMD-GIT-045"]
    command = shlex.split(hints[number].removeprefix("get them back: "))
    return git(Path("/"), *command[1:])


def write(folder: Path, **files: str) -> None:
    for name, content in files.items():
        (folder / name).write_text(content)


@pytest.mark.requirement("C15", "C16", "C19")
def test_a_dependency_is_a_detached_worktree_of_the_whole_repository(
    place: Place, world: GitWorld, folder: Path, workspace: Path
) -> None:
    """A worktree of the one bare clone, with all files, and no local branch that could go stale."""
    remote = world.remote(files={"a": "1", "sub/b": "2"})
    checkout = place(remote, "master")
    assert checkout == Checkout(folder, remote.url, "master", remote.sha())
    assert (folder / "sub" / "b").read_text() == "2"
    assert inspect(folder, make_context()) == LocalChanges(head=remote.sha())
    clone = next((workspace / "dependencies" / ".repos").rglob("HEAD")).parent
    assert git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir") == str(clone)
    assert git(clone, "branch", "--list") == ""


@pytest.mark.requirement("C16")
def test_two_dependencies_share_one_clone(new_run: NewRun, world: GitWorld, workspace: Path, calls: GitCalls) -> None:
    """Two dependencies in one repository, at different versions."""
    remote = world.remote(files={"a": "1"})
    remote.tag("v1")
    remote.commit({"a": "2"})
    store = new_run()
    store.sync([(remote.url, "v1"), (remote.url, "master")])
    repository = store.repository(remote.url)
    for name in ("v1", "master"):
        check_out(repository, workspace / "dependencies" / name, repository.resolve(name))
    assert [(workspace / "dependencies" / name / "a").read_text() for name in ("v1", "master")] == ["1", "2"]
    assert calls.count("init") == 1


@pytest.mark.requirement("C18")
@pytest.mark.parametrize("kind", ["branch", "tag", "annotated tag", "commit", "short commit", "ancestor"])
def test_a_changed_version_moves_the_worktree(place: Place, world: GitWorld, folder: Path, kind: str) -> None:
    """Whatever the version is, the next run is at it, and a file that is gone there is gone here."""
    remote = world.remote(files={"a": "1", "old": "x"})
    remote.commit({"a": "2", "old": None})
    version = {
        "branch": "other",
        "tag": "v2",
        "annotated tag": "v2",
        "commit": remote.sha(),
        "short commit": remote.sha()[:8],
        "ancestor": "other~0",
    }[kind]
    remote.start_branch("other")
    remote.tag("v2", annotated=kind.startswith("annotated"))
    place(remote, "master~1")
    assert (folder / "old").exists()
    assert place(remote, version).sha == remote.sha()
    assert (folder / "a").read_text() == "2"
    assert not (folder / "old").exists()
    assert git(folder, "status", "--porcelain") == ""


@pytest.mark.requirement("C18")
def test_a_branch_that_moved_is_followed(place: Place, world: GitWorld, folder: Path) -> None:
    """Each run is at the newest commit of the branch, even after a forced push."""
    remote = world.remote(files={"a": "1"})
    place(remote, "master")
    remote.commit({"a": "2"})
    assert place(remote, "master").sha == remote.sha()
    remote.rewrite({"a": "3"})
    assert place(remote, "master").sha == remote.sha()
    assert (folder / "a").read_text() == "3"


@pytest.mark.requirement("C18")
def test_an_unchanged_worktree_costs_one_process(
    new_run: NewRun, world: GitWorld, folder: Path, calls: GitCalls
) -> None:
    """Only `git status` runs, to see local changes."""
    remote = world.remote(files={"a": "1"})
    store = new_run()
    store.sync([(remote.url, "master")])
    repository = store.repository(remote.url)
    revision = repository.resolve("master")
    check_out(repository, folder, revision)
    calls.forget()
    check_out(repository, folder, revision)
    assert calls.verbs == ["status"]


def test_a_removed_folder_comes_back_at_the_newest_commit(place: Place, world: GitWorld, folder: Path) -> None:
    """Deleting the folder after upstream moved checked out the stale local branch, silently."""
    remote = world.remote(files={"a": "1"})
    place(remote, "master")
    git(folder, "switch", "--quiet", "--create", "master")
    shutil.rmtree(folder)
    remote.commit({"a": "2"})
    assert place(remote, "master").sha == remote.sha()
    assert (folder / "a").read_text() == "2"


def test_siblings_on_one_branch_do_not_disturb_each_other(place: Place, world: GitWorld, workspace: Path) -> None:
    """Shared local branches made sibling worktrees dirty, which blocked the next run."""
    remote = world.remote(files={"a": "1"})
    folders = [workspace / "dependencies" / name for name in ("one", "two")]
    for folder in folders:
        place(remote, "master", at=folder)
    git(folders[0], "switch", "--quiet", "--create", "master")
    git(folders[1], "checkout", "--quiet", "--ignore-other-worktrees", "master")
    remote.commit({"a": "2"})
    for folder in folders:
        assert place(remote, "master", at=folder).sha == remote.sha()
    for folder in folders:
        assert git(folder, "status", "--porcelain") == ""


def test_a_user_on_the_wanted_branch_stays_on_it(place: Place, world: GitWorld, folder: Path) -> None:
    remote = world.remote(files={"a": "1"})
    place(remote, "master")
    git(folder, "switch", "--quiet", "--create", "master")
    remote.commit({"a": "2"})
    place(remote, "master")
    assert inspect(folder, make_context()) == LocalChanges(branch="master", head=remote.sha())
    assert (folder / "a").read_text() == "2"


def test_a_user_on_another_branch_is_detached_and_keeps_the_branch(place: Place, world: GitWorld, folder: Path) -> None:
    remote = world.remote(files={"a": "1"})
    place(remote, "master")
    git(folder, "switch", "--quiet", "--create", "mine")
    old = remote.sha()
    remote.commit({"a": "2"})
    place(remote, "master")
    assert inspect(folder, make_context()) == LocalChanges(head=remote.sha())
    assert git(folder, "rev-parse", "mine") == old


@pytest.mark.parametrize("staged", [False, True])
def test_uncommitted_changes_are_refused_and_with_force_kept(
    place: Place, world: GitWorld, folder: Path, collected: Heard, staged: bool
) -> None:
    """A dirty dependency stops the run; `--force` discards the changes, but here they can be had again."""
    remote = world.remote(files={"a": "1", "b": "1"})
    place(remote, "master")
    write(folder, a="mine", note="untracked")
    if staged:
        git(folder, "add", "a")
    error = refusal(place, remote, "master")
    assert error.code == "CMD-GIT-040"
    assert str(folder) in error.message
    assert error.message.endswith(": a")
    assert "--force" in error.hint
    assert (folder / "a").read_text() == "mine"
    place(remote, "master", force=True)
    assert (folder / "a").read_text() == "1"
    assert (folder / "note").read_text() == "untracked"
    rescue(collected)
    assert (folder / "a").read_text() == "mine"


def test_untracked_files_do_not_count_and_stay(place: Place, world: GitWorld, folder: Path) -> None:
    """Untracked files are no reason to stop, and are never removed."""
    remote = world.remote(files={"a": "1"})
    place(remote, "master")
    write(folder, note="mine")
    remote.commit({"a": "2"})
    place(remote, "master")
    assert (folder / "note").read_text() == "mine"
    assert inspect(folder, make_context()).untracked == ("note",)


@pytest.mark.parametrize("force", [False, True])
def test_an_untracked_file_is_never_overwritten(place: Place, world: GitWorld, folder: Path, force: bool) -> None:
    remote = world.remote(files={"a": "1"})
    place(remote, "master")
    write(folder, b="mine")
    remote.commit({"b": "theirs"})
    error = refusal(place, remote, "master", force=force)
    assert error.code == "CMD-GIT-046"
    assert error.message.endswith(": b")
    assert (folder / "b").read_text() == "mine"
    (folder / "b").unlink()
    assert place(remote, "master").sha == remote.sha()


@pytest.mark.parametrize("on_branch", [None, "master", "mine"])
def test_unpushed_commits_are_refused_and_with_force_kept(
    place: Place, world: GitWorld, folder: Path, collected: Heard, on_branch: str | None
) -> None:
    """Unpushed local commits in dependencies were lost without warning."""
    remote = world.remote(files={"a": "1"})
    place(remote, "master")
    if on_branch:
        git(folder, "switch", "--quiet", "--create", on_branch)
    write(folder, a="mine")
    git(folder, "commit", "--quiet", "--all", "--message", "mine")
    mine = git(folder, "rev-parse", "HEAD")
    assert inspect(folder, make_context()).unpushed == (mine,)
    error = refusal(place, remote, "master")
    assert error.code == "CMD-GIT-041"
    assert mine[:10] in error.message
    assert git(folder, "rev-parse", "HEAD") == mine
    place(remote, "master", force=True)
    assert inspect(folder, make_context()) == LocalChanges(head=remote.sha())
    rescue(collected)
    assert (folder / "a").read_text() == "mine"
    assert git(folder, "rev-parse", "HEAD") == mine


def test_commits_that_were_pushed_are_no_reason_to_stop(place: Place, world: GitWorld, folder: Path) -> None:
    remote = world.remote(files={"a": "1"})
    place(remote, "master")
    write(folder, a="mine")
    git(folder, "commit", "--quiet", "--all", "--message", "mine")
    git(folder, "push", "--quiet", "origin", "HEAD:refs/heads/elsewhere")
    assert place(remote, "master").sha == remote.sha()


def test_changes_and_commits_are_reported_together(
    place: Place, world: GitWorld, folder: Path, collected: Heard
) -> None:
    remote = world.remote(files={"a": "1", "b": "1"})
    place(remote, "master")
    write(folder, a="mine")
    git(folder, "commit", "--quiet", "--all", "--message", "mine")
    write(folder, b="mine too")
    with pytest.raises(Findings) as findings:
        place(remote, "master")
    assert [error.code for error in findings.value.errors] == ["CMD-GIT-040", "CMD-GIT-041"]
    place(remote, "master", force=True)
    assert collected.codes == ["CMD-GIT-045", "CMD-GIT-045"]


def test_an_unfinished_merge_can_be_forced_away_and_had_again(
    place: Place, world: GitWorld, folder: Path, collected: Heard
) -> None:
    remote = world.remote(files={"a": "1"})
    base = remote.sha()
    remote.commit({"a": "2"})
    remote.start_branch("other", base)
    remote.commit({"a": "3"}, branch="other")
    place(remote, "master")
    git(folder, "merge", "origin/other", check=False)
    assert refusal(place, remote, "master").code == "CMD-GIT-040"
    place(remote, "master", force=True)
    assert (folder / "a").read_text() == "2"
    rescue(collected)
    assert "<<<<<<<" in (folder / "a").read_text()


def test_a_run_that_was_killed_while_it_made_a_worktree(place: Place, world: GitWorld, folder: Path) -> None:
    remote = world.remote(files={"a": "1"})
    place(remote, "master")
    admin = Path(git(folder, "rev-parse", "--absolute-git-dir"))
    (admin / "index").unlink()
    (admin / "commodore").unlink()
    (admin / "locked").write_text("initializing\n")
    (folder / "a").unlink()
    assert place(remote, "master").sha == remote.sha()
    assert (folder / "a").read_text() == "1"


def test_a_missing_folder_that_git_holds_locked(place: Place, world: GitWorld, folder: Path) -> None:
    remote = world.remote(files={"a": "1"})
    place(remote, "master")
    git(folder, "worktree", "lock", str(folder))
    shutil.rmtree(folder)
    assert place(remote, "master").sha == remote.sha()


@pytest.mark.parametrize("what", ["folder", "file", "link"])
def test_something_else_is_in_the_way(place: Place, world: GitWorld, folder: Path, tmp_path: Path, what: str) -> None:
    """A plain folder without `.git` ended in a traceback."""
    folder.parent.mkdir(parents=True)
    if what == "folder":
        folder.mkdir()
        write(folder, note="mine")
    elif what == "file":
        folder.write_text("mine")
    else:
        folder.symlink_to(tmp_path)
    error = refusal(place, world.remote(files={"a": "1"}), "master", force=True)
    assert error.code == "CMD-GIT-042"
    assert str(folder) in error.message
    assert os.path.lexists(folder)


def test_an_empty_folder_is_filled(place: Place, world: GitWorld, folder: Path) -> None:
    folder.mkdir(parents=True)
    place(world.remote(files={"a": "1"}), "master")
    assert (folder / "a").exists()


def test_paths_may_hold_blanks(place: Place, world: GitWorld, tmp_path: Path, collected: Heard) -> None:
    """Paths containing a blank broke the worktree listing."""
    remote = world.remote("some remote", {"a file": "1"})
    folder = tmp_path / "a working directory" / "dependencies" / "a thing"
    place(remote, "master", at=folder)
    write(folder, **{"a file": "mine"})
    with pytest.raises(PolicyError, match="a file"):
        place(remote, "master", at=folder)
    place(remote, "master", at=folder, force=True)
    rescue(collected)
    assert (folder / "a file").read_text() == "mine"


# An ordinary clone in the place


def test_an_ordinary_clone_becomes_a_worktree(place: Place, world: GitWorld, folder: Path) -> None:
    remote = world.remote(files={"a": "1"})
    remote.tag("v1", annotated=True)
    folder.parent.mkdir(parents=True)
    remote.clone(folder)
    remote.commit({"a": "2"})
    place(remote, "master")
    assert (folder / ".git").is_file()
    assert (folder / "a").read_text() == "2"
    assert sorted(path.name for path in folder.parent.iterdir()) == [".repos", "thing"]


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    ("commands", "named"),
    [
        ([], "note"),
        (["add note"], "note"),
        (["add note", "commit -qm mine"], "HEAD, refs/heads/master"),
        (["add note", "commit -qm mine", "tag t", "reset -q --hard HEAD~1"], "refs/tags/t"),
        (["add note", "stash -q"], "refs/stash"),
        (["switch -qc mine", "add note", "commit -qm mine", "switch -q master"], "refs/heads/mine"),
    ],
)
def test_an_ordinary_clone_that_holds_work_stays(
    place: Place, world: GitWorld, folder: Path, commands: list[str], named: str, force: bool
) -> None:
    """Files, commits, branches, tags and stashes that only the clone has; `--force` does not change this."""
    remote = world.remote(files={"a": "1"})
    folder.parent.mkdir(parents=True)
    remote.clone(folder)
    write(folder, note="mine")
    for command in commands:
        git(folder, *command.split(" "))
    error = refusal(place, remote, "master", force=force)
    assert error.code == "CMD-GIT-043"
    assert named in error.message
    assert (folder / ".git").is_dir()


# A worktree of another repository in the place


def test_a_worktree_of_another_repository_is_switched(place: Place, world: GitWorld, folder: Path) -> None:
    old, new = world.remote("old", {"a": "old"}), world.remote("new", {"a": "new"})
    place(old, "master")
    assert place(new, "master") == Checkout(folder, new.url, "master", new.sha())
    assert (folder / "a").read_text() == "new"
    assert place(old, "master").sha == old.sha()


@pytest.mark.parametrize("work", ["changes", "commits", "untracked"])
def test_a_worktree_of_another_repository_that_holds_work_stays(
    place: Place, world: GitWorld, folder: Path, collected: Heard, work: str
) -> None:
    old, new = world.remote("old", {"a": "old"}), world.remote("new", {"a": "new"})
    place(old, "master")
    write(folder, **({"note": "mine"} if work == "untracked" else {"a": "mine"}))
    if work == "commits":
        git(folder, "commit", "--quiet", "--all", "--message", "mine")
    codes = {"changes": "CMD-GIT-040", "commits": "CMD-GIT-041", "untracked": "CMD-GIT-044"}
    assert refusal(place, new, "master").code == codes[work]
    if work == "untracked":
        assert refusal(place, new, "master", force=True).code == codes[work]
        return
    place(new, "master", force=True)
    assert (folder / "a").read_text() == "new"
    rescue(collected)
    assert [path.read_text() for path in folder.parent.rglob("rescued/a")] == ["mine"]


# A working directory that was moved or copied


def test_a_moved_working_directory(place: Place, world: GitWorld, workspace: Path, tmp_path: Path) -> None:
    """Worktrees hold absolute paths; clone and worktrees find each other again after a move, with local changes."""
    remote = world.remote(files={"a": "1"})
    place(remote, "master", at=workspace / "dependencies" / "thing")
    write(workspace / "dependencies" / "thing", a="mine")
    elsewhere = tmp_path / "else where"
    workspace.rename(elsewhere)
    folder = elsewhere / "dependencies" / "thing"
    store = RepositoryStore(elsewhere / "dependencies" / ".repos", make_context())
    repository = store.repository(remote.url)
    with pytest.raises(PolicyError) as error:
        check_out(repository, folder, repository.resolve("master"))
    assert error.value.code == "CMD-GIT-040"
    check_out(repository, folder, repository.resolve("master"), force=True)
    assert (folder / "a").read_text() == "1"
    assert str(elsewhere) in git(folder, "rev-parse", "--absolute-git-dir")


def test_a_copied_working_directory_leaves_the_original_alone(
    place: Place, world: GitWorld, workspace: Path, folder: Path, tmp_path: Path
) -> None:
    remote = world.remote(files={"a": "1"})
    first = place(remote, "master").sha
    copy = tmp_path / "copy"
    shutil.copytree(workspace, copy, symlinks=True)
    second = remote.commit({"a": "2"})
    store = RepositoryStore(copy / "dependencies" / ".repos", make_context())
    store.sync([(remote.url, "master")])
    repository = store.repository(remote.url)
    check_out(repository, copy / "dependencies" / "thing", repository.resolve("master"))
    assert git(copy / "dependencies" / "thing", "rev-parse", "HEAD") == second
    assert git(folder, "rev-parse", "HEAD") == first
    assert git(folder, "status", "--porcelain") == ""


def test_a_folder_that_was_moved_alone(place: Place, world: GitWorld, folder: Path) -> None:
    """One dependency renamed by hand is still its clone's worktree."""
    remote = world.remote(files={"a": "1"})
    place(remote, "master")
    renamed = folder.with_name("renamed")
    folder.rename(renamed)
    assert place(remote, "master", at=renamed).sha == remote.sha()
    assert git(renamed, "status", "--porcelain") == ""


def test_a_copied_folder_is_not_taken_for_the_worktree(place: Place, world: GitWorld, folder: Path) -> None:
    remote = world.remote(files={"a": "1"})
    place(remote, "master")
    shutil.copytree(folder, folder.with_name("copy"))
    with pytest.raises(PolicyError) as error:
        place(remote, "master", at=folder.with_name("copy"))
    assert error.value.code == "CMD-GIT-047"
    assert git(folder, "status", "--porcelain") == ""


def test_a_worktree_whose_clone_was_removed(place: Place, world: GitWorld, folder: Path, workspace: Path) -> None:
    remote = world.remote(files={"a": "1"})
    place(remote, "master")
    shutil.rmtree(workspace / "dependencies" / ".repos")
    assert refusal(place, remote, "master").code == "CMD-GIT-047"
    assert (folder / "a").exists()


# Clones that the published tool has made


def test_a_worktree_on_a_local_branch_made_by_the_published_tool(
    place: Place, new_run: NewRun, world: GitWorld, folder: Path
) -> None:
    """A drop-in replacement works on the working directories that are there: a tracking branch, no note of ours."""
    remote = world.remote(files={"a": "1"})
    store = new_run()
    store.sync([(remote.url, "master")])
    clone = store.repository(remote.url).path
    git(clone, "worktree", "add", "--quiet", "-f", str(folder), "master")
    assert git(folder, "symbolic-ref", "--short", "HEAD") == "master"
    remote.commit({"a": "2"})
    assert place(remote, "master").sha == remote.sha()
    assert git(folder, "status", "--porcelain") == ""
    remote.rewrite({"a": "3"})
    assert place(remote, "master").sha == remote.sha()


def test_worktrees_of_one_repository_in_parallel(new_run: NewRun, world: GitWorld, workspace: Path) -> None:
    remote = world.remote(files={f"f{number}": str(number) for number in range(20)})
    store = new_run()
    store.sync([(remote.url, "master")])
    repository = store.repository(remote.url)
    revision = repository.resolve("master")
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            check_out(repository, workspace / "dependencies" / str(number) / "same-name", revision)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    for number in range(8):
        assert inspect(workspace / "dependencies" / str(number) / "same-name", make_context()) == LocalChanges(
            head=revision.sha
        )


def test_hooks_and_filters_of_a_repository_do_not_run(
    place: Place, world: GitWorld, folder: Path, tmp_path: Path
) -> None:
    """Architecture 6: nothing that a user's global hooks or a fetched repository's attributes name runs."""
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    write_script(hooks / "post-checkout", f"touch '{tmp_path}/ran'")
    git(tmp_path, "config", "--global", "core.hooksPath", str(hooks))
    remote = world.remote(files={".gitattributes": "* filter=evil\n", "a": "1"})
    place(remote, "master")
    assert not (tmp_path / "ran").exists()
    assert (folder / "a").read_text() == "1"


def test_line_ends_do_not_depend_on_the_user(place: Place, world: GitWorld, folder: Path, tmp_path: Path) -> None:
    git(tmp_path, "config", "--global", "core.autocrlf", "true")
    place(world.remote(files={"a": "1\n2\n"}), "master")
    assert (folder / "a").read_bytes() == b"1\n2\n"


def test_a_folder_that_is_not_there_has_no_changes(tmp_path: Path) -> None:
    assert inspect(tmp_path / "nothing", make_context()) == LocalChanges()


def listed(remote: Remote, workspace: Path) -> list[str]:
    """The folders that git takes for worktrees of the clone."""
    (bare,) = (workspace / "dependencies" / ".repos").rglob(remote.path.name)
    lines = git(bare, "worktree", "list", "--porcelain").splitlines()
    return sorted(
        line.removeprefix("worktree ") for line in lines if line.startswith("worktree ") and "/.repos/" not in line
    )


@pytest.mark.parametrize("name", ["plain", "pkg.x", "two words", "-option", "x.lock", ".hidden", "ümlaut", "a..b"])
def test_git_knows_a_new_worktree(place: Place, world: GitWorld, workspace: Path, calls: GitCalls, name: str) -> None:
    """Whoever made it, git or this program, it is what git makes; unusual names are left to git."""
    remote = world.remote(files={"a": "1"})
    folder = workspace / "dependencies" / name
    place(remote, "master", at=folder)
    assert ("worktree" in calls.verbs) is (name not in ("plain", "pkg.x"))
    assert listed(remote, workspace) == [str(folder)]
    assert git(folder, "status", "--porcelain", "--branch") == "## HEAD (no branch)"
    git(folder, "worktree", "prune", "--expire=now")
    (admin,) = (Path(git(folder, "rev-parse", "--git-common-dir")) / "worktrees").iterdir()
    assert not (admin / "locked").exists()
    assert git(folder, "rev-parse", "HEAD") == remote.sha()


def test_worktrees_of_one_name(place: Place, world: GitWorld, workspace: Path) -> None:
    remote = world.remote(files={"a": "1"})
    folders = [workspace / "dependencies" / place_name / "same" for place_name in ("one", "two", "three")]
    for folder in folders:
        place(remote, "master", at=folder)
    assert listed(remote, workspace) == sorted(map(str, folders))


def test_a_worktree_that_was_removed_by_hand(place: Place, world: GitWorld, workspace: Path, folder: Path) -> None:
    """Git forgets what it knew of the folder, so that there is one worktree there, not two."""
    remote = world.remote(files={"a": "1"})
    place(remote, "master")
    shutil.rmtree(folder)
    place(remote, "master")
    assert listed(remote, workspace) == [str(folder)]
    assert (folder / "a").read_text() == "1"


def test_clones_of_another_format(place: Place, world: GitWorld, workspace: Path, calls: GitCalls) -> None:
    """Git alone knows what an extension means for worktrees."""
    remote = world.remote(files={"a": "1"})
    place(remote, "master")
    (bare,) = (workspace / "dependencies" / ".repos").rglob(remote.path.name)
    git(bare, "config", "core.repositoryFormatVersion", "1")
    git(bare, "config", "extensions.noop", "true")
    calls.forget()
    place(remote, "master", at=workspace / "dependencies" / "other")
    assert "worktree" in calls.verbs
