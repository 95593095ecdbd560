"""Runs that end while they move a working copy: the next one completes the move, and loses nothing of a user's."""

from __future__ import annotations

import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.base.errors import CommodoreError, EnvironmentFault, PolicyError
from commodore.core.sources.git import Checkout, RepositoryStore, check_out, recover
from commodore.core.sources.git.backups import OUTPUT
from tests.core.sources.git.conftest import Heard
from tests.world.context import make_context, working_clone
from tests.world.folders import write_files
from tests.world.repos import Content, GitWorld, Link, Remote, Script, dying_git, git
from tests.world.sampling import sample

NewRun = Callable[..., RepositoryStore]
Place = Callable[..., Checkout]

OLD: dict[str, Content] = {
    "becomes-folder": "a file",
    "becomes-link": "text",
    "changed": "old words\n",
    "folder/deep/gone": "1",
    "gone": "gone",
    "kept": "kept\n",
    "link": Link("kept"),
    "mode": "#!/bin/sh\n",
    "was-folder/file": "x",
}
NEW: dict[str, Content] = {
    "becomes-folder": None,
    "becomes-folder/file": "now below",
    "becomes-link": Link("kept"),
    "changed": "new words, and more of them\n",
    "folder/deep/gone": None,
    "gone": None,
    "link": Link("changed"),
    "mode": Script("#!/bin/sh\n"),
    "new": "new\n",
    "new-folder/one": "1\n",
    "new-folder/two": "2\n",
    "was-folder/file": None,
    "was-folder": "a file",
}


@pytest.fixture
def folder(workspace: Path) -> Path:
    return workspace / "dependencies" / "thing"


@pytest.fixture
def place(new_run: NewRun, folder: Path) -> Place:
    """One run of the program that brings the folder to a version of a remote."""

    def run_once(remote: Remote, version: str = "master", *, force: bool = False) -> Checkout:
        store = new_run()
        store.sync([(remote.url, version)])
        repository = store.repository(remote.url)
        return check_out(repository, folder, repository.resolve(version), force=force)

    return run_once


def tree(folder: Path) -> dict[str, tuple[str, str]]:
    """All files: path -> kind and content."""
    files = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            files[name] = ("link", os.readlink(path))
        elif path.is_file() and name != ".git":
            files[name] = ("script" if os.access(path, os.X_OK) else "file", path.read_text())
    return files


def commit_tree(remote: Remote, tmp_path: Path, version: str = "master") -> dict[str, tuple[str, str]]:
    """Return the files of a fresh clone at a version."""
    clone = tmp_path / f"fresh-{len(list(tmp_path.glob('fresh-*')))}"
    git(tmp_path, "clone", "--quiet", "--no-checkout", str(remote.path), str(clone))
    git(clone, "checkout", "--quiet", "--detach", version)
    shutil.rmtree(clone / ".git")
    return tree(clone)


def admin_of(folder: Path) -> Path:
    return Path(git(folder, "rev-parse", "--absolute-git-dir"))


def interrupt(
    place: Place, remote: Remote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, force: bool = False
) -> None:
    """A run whose git is killed before it has done anything, and leaves its lock."""
    script = 'touch "$("$REAL" rev-parse --absolute-git-dir)/index.lock"; kill -9 $$'
    armed = dying_git(tmp_path, monkeypatch, "checkout", script)
    with pytest.raises(EnvironmentFault, match="signal 9"):
        place(remote, force=force)
    armed.unlink()


def advance(folder: Path, old: str, new: str, steps: int, *, cut: bool) -> int:
    """Do the first steps of what git does for the files between two commits; the last file is only half written.

    Returns how many steps there are.
    """
    arguments = ["diff-tree", "-r", "-z", "--no-renames", "--name-status", old, new]
    fields = git(folder, *arguments).split("\0")[:-1]
    changes = list(zip(fields[1::2], fields[::2], strict=True))
    removed = sorted(name for name, status in changes if status == "D")
    written = sorted(name for name, status in changes if status != "D")
    for number, name in enumerate([*removed, *written][:steps], 1):
        path = folder / name
        if os.path.lexists(path):
            path.unlink()
        for parent in path.parents:
            if parent == folder or not parent.is_dir() or any(parent.iterdir()):
                break
            parent.rmdir()
        if name in removed:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = git(folder, "ls-tree", new, name).split(" ")[0]
        content = subprocess.run(["git", "cat-file", "blob", f"{new}:{name}"], cwd=folder, capture_output=True).stdout
        if mode == "120000":
            path.symlink_to(content.decode())
            continue
        path.write_bytes(content[: len(content) // 2] if cut and number == steps else content)
        path.chmod(0o755 if mode == "100755" else 0o644)
    return len(changes)


STEPS = range(14)


@pytest.mark.parametrize("steps", sample(STEPS, 5))
def test_a_move_that_ended_after_some_files(
    place: Place,
    world: GitWorld,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    collected: Heard,
    steps: int,
) -> None:
    """Whatever git had done when it was killed, the next run gives what an undisturbed one gives."""
    remote = world.remote(files=OLD)
    old = place(remote).sha
    new = remote.commit(NEW)
    interrupt(place, remote, tmp_path, monkeypatch)
    assert advance(folder, old, new, steps, cut=steps % 2 == 0) == len(STEPS) - 1
    assert place(remote).sha == new
    assert tree(folder) == commit_tree(remote, tmp_path)
    assert git(folder, "status", "--porcelain", "--branch") == "## HEAD (no branch)"
    assert [path.name for path in admin_of(folder).iterdir() if "lock" in path.name or "move" in path.name] == []
    assert collected.codes == []


@pytest.mark.parametrize("steps", sample([0, 4, 9, 13], 2))
def test_a_users_edits_in_a_move_that_was_interrupted(
    place: Place,
    world: GitWorld,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    collected: Heard,
    steps: int,
) -> None:
    """Edits between two runs, in files that the move is about and in others: refused, and with `--force` kept."""
    remote = world.remote(files=OLD)
    old = place(remote).sha
    new = remote.commit(NEW)
    interrupt(place, remote, tmp_path, monkeypatch)
    advance(folder, old, new, steps, cut=False)
    (folder / "changed").write_text("my words\n")
    (folder / "kept").write_text("kept\nand mine\n")
    (folder / "note").write_text("untracked")
    with pytest.raises(PolicyError) as refused:
        place(remote)
    assert refused.value.code == "CMD-GIT-040"
    assert refused.value.message.endswith(": changed, kept")
    mine = {"changed": ("file", "my words\n"), "kept": ("file", "kept\nand mine\n"), "note": ("file", "untracked")}
    assert tree(folder) == {**commit_tree(remote, tmp_path), **mine}
    assert place(remote, force=True).sha == new
    assert tree(folder) == {**commit_tree(remote, tmp_path), "note": mine["note"]}
    assert collected.codes == ["CMD-GIT-045"]
    kept = git(folder, "for-each-ref", "--format=%(objectname)", "refs/commodore/discarded").split()
    assert git(folder, "show", f"{kept[-1]}:changed") == "my words"
    assert git(folder, "show", f"{kept[-1]}:kept") == "kept\nand mine"


@pytest.mark.parametrize("name", ["new", "gone", "was-folder", "becomes-folder/file", "link", "mode"])
def test_a_users_file_where_the_move_was_about_to_write(
    place: Place, world: GitWorld, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    remote = world.remote(files=OLD)
    place(remote)
    remote.commit(NEW)
    interrupt(place, remote, tmp_path, monkeypatch)
    place_of_it = folder / name.split("/")[0]
    if place_of_it.is_dir() and not place_of_it.is_symlink():
        shutil.rmtree(place_of_it)
    place_of_it.unlink(missing_ok=True)
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("mine")
    for _ in range(2):
        if name == "gone":  # the wanted version does not have it: it is an untracked file now
            place(remote)
        else:
            with pytest.raises(PolicyError, match=name):
                place(remote)
        assert (folder / name).read_text() == "mine"


def test_a_users_folder_where_the_move_was_about_to_write(
    place: Place, world: GitWorld, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = world.remote(files=OLD)
    place(remote)
    remote.commit(NEW)
    interrupt(place, remote, tmp_path, monkeypatch)
    (folder / "new").mkdir()
    (folder / "new" / "note").write_text("mine")
    (folder / "was-folder" / "note").write_text("mine")
    (folder / "new-folder").symlink_to(tmp_path)
    with pytest.raises(PolicyError, match="new, new-folder/one, new-folder/two, was-folder"):
        place(remote)
    assert (folder / "new" / "note").read_text() == "mine"
    assert (folder / "was-folder" / "note").read_text() == "mine"
    assert not (tmp_path / "one").exists()


def test_what_a_user_has_staged_meanwhile(
    place: Place, world: GitWorld, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = world.remote(files=OLD)
    place(remote)
    remote.commit(NEW)
    interrupt(place, remote, tmp_path, monkeypatch)
    (admin_of(folder) / "index.lock").unlink()
    (folder / "kept").write_text("staged")
    (folder / "fresh").write_text("fresh")
    git(folder, "add", "kept", "fresh")
    git(folder, "rm", "--quiet", "--cached", "changed")
    (folder / "kept").write_text("kept\n")
    with pytest.raises(PolicyError, match="changed, fresh, kept"):
        place(remote)
    assert git(folder, "show", ":kept") == "staged"
    assert git(folder, "show", ":fresh") == "fresh"
    assert "changed" not in git(folder, "ls-files").split()


@pytest.mark.parametrize("work", ["commit", "switch", "merge"])
def test_a_user_who_went_on_from_an_interrupted_move(
    place: Place, world: GitWorld, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: str
) -> None:
    """The move is forgotten: what a user does with git counts."""
    remote = world.remote(files={"a": "1", "b": "1"})
    first = place(remote).sha
    remote.commit({"a": "2"})
    interrupt(place, remote, tmp_path, monkeypatch)
    (admin_of(folder) / "index.lock").unlink()
    if work == "switch":
        git(folder, "switch", "--quiet", "--orphan", "mine")
    (folder / "b").write_text("mine")
    git(folder, "add", "--all")
    if work == "merge":
        (admin_of(folder) / "MERGE_HEAD").write_text(f"{first}\n")
    else:
        git(folder, "commit", "--quiet", "--message", "mine")
    head = git(folder, "rev-parse", "HEAD")
    code = {"commit": "CMD-GIT-041", "switch": "CMD-GIT-041", "merge": "CMD-GIT-040"}[work]
    with pytest.raises(PolicyError) as refused:
        place(remote)
    assert refused.value.code == code
    assert git(folder, "rev-parse", "HEAD") == head
    assert (folder / "b").read_text() == "mine"


def test_a_branch_that_a_user_is_on_is_moved_along(
    place: Place, world: GitWorld, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = world.remote(files=OLD)
    old = place(remote).sha
    git(folder, "switch", "--quiet", "--create", "master")
    new = remote.commit(NEW)
    script = 'D="$("$REAL" rev-parse --path-format=absolute --git-common-dir)"; touch "$D/refs/heads/master.lock"'
    armed = dying_git(tmp_path, monkeypatch, "merge", f"{script}; kill -9 $$")
    with pytest.raises(EnvironmentFault):
        place(remote)
    armed.unlink()
    advance(folder, old, new, 5, cut=True)
    assert place(remote).sha == new
    assert git(folder, "status", "--porcelain", "--branch") == "## master"
    assert tree(folder) == commit_tree(remote, tmp_path)


@pytest.mark.parametrize("verb", ["reset", "checkout"])
def test_a_forced_move_that_was_interrupted(
    place: Place,
    world: GitWorld,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    collected: Heard,
    verb: str,
) -> None:
    """Replaced changes were saved already, and are no longer changes."""
    remote = world.remote(files=OLD)
    place(remote)
    new = remote.commit(NEW)
    (folder / "changed").write_text("mine")
    (folder / "kept").write_text("mine")
    (folder / "fresh").write_text("mine")
    git(folder, "add", "fresh")
    armed = dying_git(tmp_path, monkeypatch, verb, "kill -9 $$")
    with pytest.raises(EnvironmentFault):
        place(remote, force=True)
    armed.unlink()
    if verb == "reset":
        (folder / "kept").write_text("ke")  # half written by `git reset`
    assert place(remote).sha == new
    assert tree(folder) == commit_tree(remote, tmp_path)
    assert collected.codes == ["CMD-GIT-045"]


@pytest.mark.parametrize("limit", [0, 40, 1000])
def test_a_disk_that_is_full_amid_a_move(
    place: Place, world: GitWorld, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    """Git ends with an error by itself, after some of the files. (A limit for the size of files stands in.)"""
    remote = world.remote(files={f"f{size}": "a" * size for size in (1, 10, 50, 200, 2000)})
    place(remote)
    new = remote.commit({f"f{size}": "b" * size for size in (1, 10, 50, 200, 2000)} | {"g": "g" * 1500})
    script = f'exec prlimit --fsize={limit} "$REAL" "$@"'
    armed = dying_git(tmp_path, monkeypatch, "checkout", f"trap '' XFSZ; {script}")
    for _ in range(2):
        with pytest.raises(EnvironmentFault):
            place(remote)
        dying_git(tmp_path, monkeypatch, "checkout-index", f"trap '' XFSZ; {script}")
    armed.unlink()
    assert place(remote).sha == new
    assert tree(folder) == commit_tree(remote, tmp_path)
    assert git(folder, "status", "--porcelain") == ""


def test_git_that_outlives_its_run_is_waited_for(
    world: GitWorld, workspace: Path, folder: Path, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed run leaves its git running; nothing is judged before that has ended."""
    remote = world.remote(files={"a": "1"})
    place(remote)
    new = remote.commit({"a": "2"})
    go = tmp_path / "go"
    os.mkfifo(go)
    armed = dying_git(tmp_path, monkeypatch, "checkout", f'read -r line <{shlex.quote(str(go))}; exec "$REAL" "$@"')
    program = (
        "import sys; from pathlib import Path; from commodore.core.sources.git import RepositoryStore, check_out\n"
        "from tests.world.context import make_context\n"
        "root, folder, url = sys.argv[1:]\n"
        "with RepositoryStore(Path(root), make_context()) as store:\n"
        "    store.sync([(url, 'master')]); repository = store.repository(url)\n"
        "    check_out(repository, Path(folder), repository.resolve('master'))\n"
    )
    root = workspace / "dependencies" / ".repos"
    run = subprocess.Popen([sys.executable, "-c", program, str(root), str(folder), remote.url])
    with go.open("wb") as gate:  # which waits until that git has begun
        run.send_signal(signal.SIGKILL)
        run.wait()
        armed.unlink()
        with subprocess.Popen([sys.executable, "-c", program, str(root), str(folder), remote.url]) as second:
            gate.write(b"go\n")
            gate.close()
            assert second.wait() == 0
    assert git(folder, "rev-parse", "HEAD") == new
    assert git(folder, "status", "--porcelain") == ""


def test_the_lock_of_another_git_stays(place: Place, world: GitWorld, folder: Path, tmp_path: Path) -> None:
    """Nothing says that it is left over, so it is left alone, and named."""
    remote = world.remote(files={"a": "1"})
    place(remote)
    new = remote.commit({"a": "2"})
    lock = admin_of(folder) / "index.lock"
    lock.touch()
    for _ in range(2):
        with pytest.raises(EnvironmentFault, match=r"index\.lock"):
            place(remote)
        assert lock.exists()
        assert (folder / "a").read_text() == "1"
    lock.unlink()
    assert place(remote).sha == new


def test_a_lock_that_a_git_at_work_may_hold_stays(
    place: Place, world: GitWorld, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = world.remote(files={"a": "1"})
    place(remote)
    new = remote.commit({"a": "2"})
    interrupt(place, remote, tmp_path, monkeypatch)
    # A git that is not below this process, as its shell has ended; once it has answered, it is at work.
    words = "exec 3<&0; git cat-file --batch-check <&3 & echo $!"
    with subprocess.Popen(["sh", "-c", words], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as shell:
        assert shell.stdin is not None
        assert shell.stdout is not None
        user = os.pidfd_open(int(shell.stdout.readline()))
        shell.stdin.write(b"HEAD\n")
        shell.stdin.flush()
        assert b"commit" in shell.stdout.readline()
        shell.wait()
        with pytest.raises(EnvironmentFault) as refused:
            place(remote)
        assert refused.value.code == "CMD-GIT-048"
        shell.stdin.close()
        select.select([user], [], [])
        os.close(user)
    assert place(remote).sha == new


# A worktree that is made


@pytest.mark.parametrize("rest", [None, {"a": "1"}, {"a": ""}, {"a": "first", "sub/b": "2"}])
def test_a_worktree_whose_making_was_interrupted(
    place: Place,
    world: GitWorld,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rest: dict[str, str] | None,
) -> None:
    remote = world.remote(files={"a": "first words", "sub/b": "2"})
    script = 'touch "$("$REAL" rev-parse --absolute-git-dir)/index.lock"; kill -9 $$'
    armed = dying_git(tmp_path, monkeypatch, "reset", script)
    with pytest.raises(EnvironmentFault):
        place(remote)
    armed.unlink()
    write_files(folder, (rest or {}))
    if rest == {"a": "1"}:  # no part of the commit's
        with pytest.raises(PolicyError, match="uncommitted changes: a"):
            place(remote)
        assert tree(folder) == {"a": ("file", "1"), "sub/b": ("file", "2")}
        return
    assert place(remote).sha == remote.sha()
    assert tree(folder) == commit_tree(remote, tmp_path)
    assert git(folder, "status", "--porcelain") == ""


def test_a_note_that_a_killed_run_was_writing(place: Place, world: GitWorld, folder: Path) -> None:
    remote = world.remote(files=OLD)
    place(remote)
    program = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from commodore.base.files.workspace import write_atomically\n"
        "os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_atomically(Path(sys.argv[1]), b'{')\n"
    )
    before = sorted(admin_of(folder).iterdir())
    killed = subprocess.run([sys.executable, "-c", program, str(admin_of(folder) / "commodore-move")], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(admin_of(folder).iterdir())) == len(before) + 1
    place(remote)
    assert sorted(admin_of(folder).iterdir()) == before


@pytest.mark.parametrize(("reason", "stays"), [("initializing", False), ("mine", True)])
def test_the_lock_of_a_worktree_that_was_being_made(
    place: Place, world: GitWorld, folder: Path, reason: str, stays: bool
) -> None:
    """A run is killed before it takes it off again; a user's own stays."""
    remote = world.remote(files={"a": "1"})
    place(remote)
    admin = admin_of(folder)
    (admin / "index").unlink()
    (admin / "locked").write_text(f"{reason}\n")
    assert place(remote).sha == remote.sha()
    assert (admin / "locked").exists() is stays


# An index that cannot be read


@pytest.mark.parametrize("size", [0, 12, 100, -30, -1])
@pytest.mark.parametrize("edited", [False, True])
def test_a_damaged_index(
    place: Place, world: GitWorld, folder: Path, size: int, edited: bool, collected: Heard
) -> None:
    """It is made anew; only what differs from the commit is a change."""
    remote = world.remote(files={"a": "1", "lib/b": "2", "lib/c": "3"})
    place(remote)
    new = remote.commit({"lib/b": "new"})
    index = admin_of(folder) / "index"
    index.write_bytes(index.read_bytes()[: size or None] if size else b"")
    if edited:
        (folder / "a").write_text("mine")
        with pytest.raises(PolicyError) as refused:
            place(remote)
        assert refused.value.message == f"{folder} has uncommitted changes: a"
        assert git(folder, "status", "--porcelain") == " M a"
        assert (folder / "a").read_text() == "mine"
    else:
        assert place(remote).sha == new
        assert git(folder, "status", "--porcelain") == ""


def test_an_index_with_a_wrong_byte(place: Place, world: GitWorld, folder: Path) -> None:
    remote = world.remote(files={"a": "1", "lib/b": "2"})
    place(remote)
    index = admin_of(folder) / "index"
    content = bytearray(index.read_bytes())
    content[60] ^= 1  # within the object id of the first file
    index.write_bytes(content)
    assert place(remote).sha == remote.sha()
    assert git(folder, "diff", "--cached") == ""
    git(folder, "fsck")


def test_nothing_is_done_to_what_is_no_working_copy(tmp_path: Path) -> None:
    recover(tmp_path, make_context())
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    recover(tmp_path, make_context())
    assert sorted(path.name for path in tmp_path.iterdir()) == [".git"]


# What is in the way of a worktree, and is replaced


@pytest.mark.parametrize("before", ["clone", "worktree"])
def test_a_replacement_that_was_interrupted(
    place: Place,
    world: GitWorld,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    before: str,
) -> None:
    """The former content is moved away before it is removed, so that it is never read as a partial folder."""
    old, new = world.remote("old", {"a": "old", "b": "old"}), world.remote("new", {"a": "new"})
    if before == "clone":
        folder.parent.mkdir(parents=True)
        new.clone(folder)
    else:
        place(old)
    program = (
        "import sys; from pathlib import Path; from commodore.core.sources.git import RepositoryStore, check_out\n"
        "from tests.world.context import make_context\n"
        "root, folder, url = sys.argv[1:]\n"
        "with RepositoryStore(Path(root), make_context()) as store:\n"
        "    store.sync([(url, 'master')]); repository = store.repository(url)\n"
        "    check_out(repository, Path(folder), repository.resolve('master'))\n"
    )
    armed = dying_git(tmp_path, monkeypatch, "reset", "kill -9 $PPID; kill -9 $$")
    root = folder.parent / ".repos"
    run = subprocess.run([sys.executable, "-c", program, str(root), str(folder), new.url], check=False)
    assert run.returncode == -signal.SIGKILL
    armed.unlink()
    assert place(new).sha == new.sha()
    assert tree(folder) == {"a": ("file", "new")}
    assert [path.name for path in root.rglob("commodore-old-*")] == []
    assert sorted(path.name for path in folder.parent.iterdir()) == [".repos", "thing"]


def test_a_folder_in_which_the_first_file_was_not_complete(place: Place, world: GitWorld, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "..git-x1_y2z3a").write_text("gitd")
    remote = world.remote(files={"a": "1"})
    assert place(remote).sha == remote.sha()
    assert tree(folder) == {"a": ("file", "1")}


def test_an_administrative_folder_that_was_not_complete(place: Place, world: GitWorld, folder: Path) -> None:
    remote = world.remote(files={"a": "1"})
    place(remote)
    (bare,) = (folder.parent / ".repos").rglob(remote.path.name)
    shutil.rmtree(folder)
    shutil.rmtree(bare / "worktrees")
    (bare / "commodore-new-thing").mkdir()
    (bare / "commodore-new-thing" / "HEAD").touch()
    assert place(remote).sha == remote.sha()
    assert not (bare / "commodore-new-thing").exists()


# Clones


def test_a_clone_that_was_moved_aside_by_a_killed_run_is_put_back(place: Place, world: GitWorld, folder: Path) -> None:
    """It was being made anew; its worktrees and what is kept in it are found again."""
    remote = world.remote(files={"a": "1"})
    place(remote)
    (bare,) = (folder.parent / ".repos").rglob(remote.path.name)
    (bare.parent / ".old-other" / "old").mkdir(parents=True)
    (bare.parent / ".old-x").mkdir()
    bare.rename(bare.parent / ".old-x" / "old")
    (folder / "a").write_text("mine")
    with pytest.raises(PolicyError) as refused:
        place(remote)
    assert refused.value.code == "CMD-GIT-040"
    assert bare.is_dir()


LOCKS = ["packed-refs.lock", "refs/remotes/origin/master.lock", "refs/tags/v1.lock", "config.lock"]


def test_locks_of_a_fetch_that_was_killed(
    place: Place, world: GitWorld, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = world.remote(files={"a": "1"})
    place(remote)
    new = remote.commit({"a": "2"})
    remote.tag("v1")
    touch = "; ".join(f'mkdir -p "$(dirname {name})"; touch {name}' for name in LOCKS)
    armed = dying_git(tmp_path, monkeypatch, "fetch", f"{touch}; kill -9 $$")
    with pytest.raises(CommodoreError):
        place(remote)
    armed.unlink()
    assert place(remote).sha == new
    assert list((folder.parent / ".repos").rglob("*.lock")) == []


def test_locks_of_others_in_a_clone_stay(place: Place, world: GitWorld, folder: Path) -> None:
    remote = world.remote(files={"a": "1"})
    place(remote)
    (bare,) = (folder.parent / ".repos").rglob(remote.path.name)
    (bare / "refs/remotes/origin/master.lock").touch()
    remote.commit({"a": "2"})
    for _ in range(2):
        with pytest.raises(EnvironmentFault, match=r"master\.lock"):
            place(remote)
    assert (bare / "refs/remotes/origin/master.lock").exists()


# The catalog's clone


@pytest.mark.parametrize("lock", ["index.lock", "HEAD.lock", "refs/remotes/origin/master.lock", "packed-refs.lock"])
def test_locks_in_the_clone_to_publish_from(world: GitWorld, tmp_path: Path, lock: str) -> None:
    """Nobody but this program writes there."""
    remote = world.remote(files={"a": "1"})
    working_clone(remote.url, tmp_path / "catalog", make_context())
    (tmp_path / "catalog" / ".git" / lock).touch()
    new = remote.commit({"a": "2"})
    assert working_clone(remote.url, tmp_path / "catalog", make_context()).sha == new
    assert list((tmp_path / "catalog" / ".git").rglob("*.lock")) == []


@pytest.mark.parametrize("steps", sample([0, 3, 9, 13], 3))
def test_an_update_of_the_clone_to_publish_from(
    world: GitWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    folder = tmp_path / "catalog"
    remote = world.remote(files=OLD)
    old = working_clone(remote.url, folder, make_context()).sha
    new = remote.commit(NEW)
    armed = dying_git(tmp_path, monkeypatch, "checkout", "kill -9 $$")
    with pytest.raises(EnvironmentFault):
        working_clone(remote.url, folder, make_context())
    armed.unlink()
    advance(folder, old, new, steps, cut=True)
    recover(folder, make_context(), alone=True)
    assert git(folder, "status", "--porcelain") == ""
    assert git(folder, "rev-parse", "master") == new
    assert working_clone(remote.url, folder, make_context()).sha == new


@pytest.mark.parametrize("steps", sample([0, 3, 9, 13], 3))
def test_an_update_to_the_same_commit_of_a_clone_that_holds_the_output_of_a_run(
    world: GitWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """The files on the way are the commit's, which HEAD is at before and afterwards, and those of the output."""
    folder = tmp_path / "catalog"
    remote = world.remote(files=OLD)
    old = remote.sha()
    new = remote.commit(NEW)
    working_clone(remote.url, folder, make_context())
    git(folder, "read-tree", "-u", "--reset", old)
    git(folder, "update-ref", OUTPUT, git(folder, "write-tree"))
    armed = dying_git(tmp_path, monkeypatch, "checkout", "kill -9 $$")
    with pytest.raises(EnvironmentFault):
        working_clone(remote.url, folder, make_context())
    armed.unlink()
    advance(folder, old, new, steps, cut=True)
    assert working_clone(remote.url, folder, make_context()).sha == new
    assert git(folder, "status", "--porcelain") == ""
