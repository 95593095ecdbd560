"""Recovery of working copies after an interrupted run: complete moves, recreate an unreadable index.

A file belongs to the program if its content is that of one of the commits of the move, or a prefix of it. Everything
else belongs to the user and stays as it is, in the index, too.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from commodore.base.context import Context
from commodore.base.events import Noted
from commodore.base.files.workspace import guard_disk
from commodore.core.sources.git._locks import clear_stale_locks, remove_locks
from commodore.core.sources.git._moves import Move, OngoingMove, begun_at, git_dir_of, interrupted, still_at_work
from commodore.core.sources.git._worktree_files import linked_admin, rejoin, unlock_new
from commodore.core.sources.git.runner import Git, GitResult, fault

_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")

Entries = Mapping[str, tuple[str, str]]
"""The files of a commit: path -> mode and object id."""


def recover(folder: Path, context: Context, *, alone: bool = False) -> None:
    """Complete the move that an earlier run has noted and not completed; then recreate the index if it is unreadable.
    If neither is needed, nothing is done. The caller holds the workspace.

    Changes that a user made before, meanwhile or since are left in place, as changes against the target commit. If the
    user has checked out another commit, or a merge is in progress, the move is dropped.

    Args:
        alone: only this program writes in the repository, so all locks in it are left over.

    Raises:
        EnvironmentFault: git or the disk failed, or git is still running.
    """
    rejoin(folder)
    git_dir = git_dir_of(folder)
    if git_dir is None:
        return
    clear_stale_locks(git_dir, alone=alone)
    with interrupted(git_dir, context.limits) as unfinished:
        if unfinished is not None:
            move, ongoing = unfinished
            context.announce(
                Noted(f"an earlier run was interrupted while it brought {folder} to {move.target[:10]}", level=1)
            )
            _Completion(folder, git_dir, move, context).run(ongoing)
    _rebuild_index(folder, git_dir, context)


def _rebuild_index(folder: Path, git_dir: Path, context: Context) -> None:
    index = git_dir / "index"
    if index.exists():
        if is_sound_index(index):
            return
        context.announce(Noted(f"the index of {folder} was damaged and is recreated"))
    elif linked_admin(folder) is None:
        return  # a clone without files, or without a commit
    git = _Git(folder, git_dir, context)
    head = git.head()
    if not index.exists() and head:  # git, or this program, was killed while it made this worktree
        unlock_new(git_dir)
        _Completion(folder, git_dir, Move(None, head), context).complete()
    else:
        git.differing(head)
        git.install_index()


def is_sound_index(path: Path) -> bool:
    """Check if an index file is intact: it ends with the digest of its content, or with zeros."""
    with guard_disk(path):
        content = path.read_bytes()
    if content[:4] != b"DIRC":
        return False
    for kind, size in (("sha1", 20), ("sha256", 32)):
        digest = hashlib.new(kind, content[:-size], usedforsecurity=False).digest()
        if len(content) >= 12 + size and content[-size:] in (digest, bytes(size)):
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Git:
    """Git in a working copy, with a second index that can replace the real one."""

    folder: Path
    git_dir: Path
    context: Context

    @property
    def index(self) -> Path:
        return self.git_dir / "commodore-index"

    def ask(
        self, *arguments: str, input: bytes | None = None, check: bool = True, second_index: bool = False
    ) -> GitResult:
        """Run git, with the second index if `second_index` is set."""
        environment = {"GIT_INDEX_FILE": str(self.index.absolute())} if second_index else {}
        return Git(self.folder, self.context).run(arguments, input=input, check=check, environment=environment)

    def head(self) -> str:
        """Return the commit HEAD is at, or an empty string."""
        return self.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}", check=False).text

    def fill_index(self, tree: str) -> None:
        """Fill the second index from a tree, or empty it."""
        with guard_disk(self.index):
            for path in (self.index, self.index.with_name(self.index.name + ".lock")):
                path.unlink(missing_ok=True)
        self.ask("read-tree", tree or "--empty", second_index=True)

    def differing(self, tree: str) -> set[str]:
        """Return the paths of a tree whose files differ in the working copy or are missing."""
        self.fill_index(tree)
        return self.compare()

    def compare(self) -> set[str]:
        """Return the paths of the second index whose files differ or are missing; refresh the times of the others."""
        self.ask("update-index", "-q", "--ignore-submodules", "--refresh", second_index=True, check=False)
        arguments = ("diff-files", "--name-only", "-z", "--ignore-submodules=all", "--no-ext-diff")
        return _split(self.ask(*arguments, second_index=True))

    def install_index(self) -> None:
        """Replace the real index by the second one."""
        with guard_disk(self.index):
            os.replace(self.index, self.git_dir / "index")

    def entries(self, tree: str) -> Entries:
        """Return the files of a tree."""
        lines = _split(self.ask("ls-tree", "-r", "-z", "--full-tree", tree))
        parted = (line.partition("\t") for line in lines)
        return {path: (about.split(" ")[0], about.split(" ")[2]) for about, _, path in parted}

    def staged(self, tree: str) -> Entries:
        """Return the entries of the real index that differ from a tree, by path."""
        arguments = ("diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=all")
        fields = iter(self.ask(*arguments, tree).text.split("\0"))
        changed = {}
        for about in fields:
            if about:
                _, mode, _, sha, status = about.split(" ")
                changed[next(fields)] = ("unmerged", sha) if status == "U" else (mode, sha)
        return changed


@dataclass(slots=True)
class _Completion:
    """Completion of a move: files, index and HEAD."""

    folder: Path
    git_dir: Path
    move: Move
    context: Context
    git: _Git = field(init=False)

    def __post_init__(self) -> None:
        self.git = _Git(self.folder, self.git_dir, self.context)

    def run(self, ongoing: OngoingMove) -> None:
        """Complete the move, or drop it if the user has moved on."""
        self._remove_locks()
        if self._is_void() or not self.complete():
            ongoing.call_off()
        else:
            ongoing.complete(self.move.target)

    def complete(self) -> bool:
        """Bring files, index and HEAD to the target. Returns False, with nothing done, during a merge."""
        index = self.git_dir / "index"
        staged = self._staged() if index.exists() and is_sound_index(index) else {}
        if any(mode == "unmerged" for mode, _ in staged.values()):
            return False
        self._move_files()
        lines = "".join(f"{mode} {sha} 0\t{path}\0" for path, (mode, sha) in sorted(staged.items()))
        if lines:
            content = lines.encode("utf-8", "surrogateescape")
            self.git.ask("update-index", "-z", "--index-info", input=content, second_index=True)
        self.git.install_index()
        self._move_head()
        return True

    @property
    def _known(self) -> list[str]:
        """The commits whose files may be there. The target comes last, even if it is among the others."""
        others = dict.fromkeys(
            name for name in (self.move.head, *self.move.known) if name not in (None, self.move.target)
        )
        return [*filter(None, others), self.move.target]

    def _remove_locks(self) -> None:
        locks = [self.git_dir / "index.lock", self.git_dir / "HEAD.lock"]
        if self.move.branch is not None:
            common = self.git.ask("rev-parse", "--path-format=absolute", "--git-common-dir").text
            locks.append(Path(common, "refs", "heads", f"{self.move.branch}.lock"))
        remove_locks(locks, begun_at(self.git_dir), [self.folder, self.git_dir])
        for lock in locks:
            if os.path.lexists(lock):
                raise still_at_work(lock)

    def _is_void(self) -> bool:
        """Check if the user has checked out another commit, an operation is in progress, or the commits are gone."""
        head = self.git.head()
        expected = (self.move.head, self.move.target) if self.move.head is not None else (self.move.target, "")
        if head not in expected or any((self.git_dir / name).exists() for name in _UNDER_WAY):
            return True
        lines = "".join(f"{name}^{{tree}}\n" for name in self._known).encode()
        return "missing" in self.git.ask("cat-file", "--batch-check", input=lines).text

    def _staged(self) -> Entries:
        """Return the entries that the user has staged: those of the index that no commit of the move has."""
        staged = [self.git.staged(name) for name in self._known]
        return {path: entry for path, entry in staged[0].items() if all(path in other for other in staged)}

    def _move_files(self) -> None:
        """Move all files of the program to the target. The second index is the target's afterwards."""
        trees = {name: self.git.entries(name) for name in self._known}
        # The target is the last one, so that the second index is the target's.
        differing = {name: self.git.differing(name) for name in self._known}
        target = trees[self.move.target]
        moved = set().union(*trees.values()) if self.move.head is None else _changed(trees.values())
        for path in sorted(moved & differing[self.move.target] | moved - target.keys()):
            here = [name for name in self._known if path in trees[name]]
            if self._is_ours(path, here, trees, differing):
                self._remove(path)
        missing = sorted(path for path in moved & target.keys() if self._is_free(path))
        rules = [path for path in missing if os.path.basename(path) == ".gitattributes"]
        for paths in (rules, [path for path in missing if path not in rules]):
            if paths:
                content = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
                # Without --force, so that a file that the user creates meanwhile is never overwritten.
                answer = self.git.ask("checkout-index", "-u", "-z", "--stdin", input=content, second_index=True)
                if not self.git.compare().isdisjoint(paths):  # git only prints a message about it
                    raise fault(["checkout-index"], answer, self.folder)

    def _is_ours(
        self, path: str, here: Iterable[str], trees: Mapping[str, Entries], differing: Mapping[str, set[str]]
    ) -> bool:
        """Check if the file at a path has the content of a commit of the move, or a prefix of it."""
        status = self._status(path)
        if status is None:
            return False
        if any(path not in differing[name] for name in here):
            return True
        known = [trees[name][path] for name in here]
        if not stat.S_ISREG(status.st_mode):
            return False
        if not any(mode in ("100644", "100755") and _is_executable(mode, status) for mode, _ in known):
            return False
        with guard_disk(self.folder / path):
            content = (self.folder / path).read_bytes()
        return any(self._content(path, sha).startswith(content) for mode, sha in known if mode.startswith("100"))

    def _content(self, path: str, sha: str) -> bytes:
        """Return the content that git writes into a file for an object."""
        return self.git.ask("cat-file", "--filters", f"--path={path}", sha).stdout

    def _status(self, path: str) -> os.stat_result | None:
        """Return the status of a path; None if it does not exist, or one of its folders is a link."""
        place = self.folder
        try:
            *folders, name = path.split("/")
            for folder in folders:
                place /= folder
                if not stat.S_ISDIR(place.lstat().st_mode):
                    return None
            return (place / name).lstat()
        except OSError:
            return None

    def _is_free(self, path: str) -> bool:
        """Check if a path does not exist, and its folder exists or can be made."""
        place = self.folder
        *folders, name = path.split("/")
        for folder in folders:
            place /= folder
            if not os.path.lexists(place):
                return True
            if place.is_symlink() or not place.is_dir():
                return False
        return not os.path.lexists(place / name)

    def _remove(self, path: str) -> None:
        place = self.folder / path
        with guard_disk(place):
            if place.is_dir() and not place.is_symlink():
                with contextlib.suppress(OSError):
                    place.rmdir()  # a submodule's folder; a folder with files stays
            else:
                place.unlink()
        with contextlib.suppress(OSError):
            for folder in place.parents:
                if folder == self.folder:
                    break
                folder.rmdir()

    def _move_head(self) -> None:
        target, branch = self.move.target, self.move.branch
        words = ("-m", "commodore: complete an interrupted move")
        if self.git.head() == target:
            return
        if branch is None:
            self.git.ask("update-ref", *words, "--no-deref", "HEAD", target)
        else:
            self.git.ask("update-ref", *words, f"refs/heads/{branch}", target)
            self.git.ask("symbolic-ref", *words, "HEAD", f"refs/heads/{branch}")


def _changed(trees: Iterable[Entries]) -> set[str]:
    """Return the paths at which the trees differ."""
    all_trees = list(trees)
    return {path for path in set().union(*all_trees) if len({tree.get(path) for tree in all_trees}) > 1}


def _is_executable(mode: str, status: os.stat_result) -> bool:
    """Check if a file is executable exactly if its git mode says so."""
    return (mode == "100755") == bool(status.st_mode & stat.S_IXUSR)


def _split(answer: GitResult) -> set[str]:
    return set(filter(None, answer.text.split("\0")))
