"""Working copies after an interrupted run: moves are completed, an index that cannot be read is recreated.

A file is the program's if it is what one of the commits of the move has there, or the beginning of that. Everything
else is a user's and stays as it is, in the index, too.
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
from commodore.core.sources.git._moves import Move, Moving, begun_at, git_dir_of, interrupted, still_at_work
from commodore.core.sources.git._worktree_files import linked_admin, rejoin, unlock_new
from commodore.core.sources.git.runner import Git, GitResult, fault

_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply")

Entries = Mapping[str, tuple[str, str]]
"""The files of a commit: path -> mode and object id."""


def recover(folder: Path, context: Context, *, alone: bool = False) -> None:
    """Complete the move of a working copy that an earlier run has noted and not ended; then see that its index can be
    read. Without either nothing is done. The caller holds the workspace.

    What a user changed before, meanwhile or since is left in place, as a change against the commit moved to. Where a
    user has gone to another commit, or is amid a merge, the move is forgotten.

    Args:
        alone: only this program writes in the repository, so all locks in it are left over.

    Raises:
        EnvironmentFault: git or the disk failed, or git is still at work.
    """
    rejoin(folder)
    git_dir = git_dir_of(folder)
    if git_dir is None:
        return
    clear_stale_locks(git_dir, alone=alone)
    with interrupted(git_dir, context.limits) as found:
        if found is not None:
            move, going = found
            context.announce(
                Noted(f"an earlier run was interrupted while it brought {folder} to {move.target[:10]}", level=1)
            )
            _Completion(folder, git_dir, move, context).run(going)
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
    if not index.exists() and head:  # git was killed while it made this worktree, or we before
        unlock_new(git_dir)
        _Completion(folder, git_dir, Move(None, head), context).complete()
    else:
        git.differing(head)
        git.install_index()


def is_sound_index(path: Path) -> bool:
    """Whether an index file is as git wrote it: it ends with the digest of what is before, or with zeros."""
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
    """Git in a working copy, with an index of its own that can take the place of the real one."""

    folder: Path
    git_dir: Path
    context: Context

    @property
    def index(self) -> Path:
        return self.git_dir / "commodore-index"

    def ask(self, *arguments: str, input: bytes | None = None, check: bool = True, aside: bool = False) -> GitResult:
        """Run git. `aside` uses the other index."""
        environment = {"GIT_INDEX_FILE": str(self.index.absolute())} if aside else {}
        return Git(self.folder, self.context).run(arguments, input=input, check=check, environment=environment)

    def head(self) -> str:
        """The commit HEAD is at, or an empty string."""
        return self.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}", check=False).text

    def fill_index(self, tree: str) -> None:
        """Make the other index that of a tree, or an empty one."""
        with guard_disk(self.index):
            for path in (self.index, self.index.with_name(self.index.name + ".lock")):
                path.unlink(missing_ok=True)
        self.ask("read-tree", tree or "--empty", aside=True)

    def differing(self, tree: str) -> set[str]:
        """The paths of a tree at which something else lies, or nothing."""
        self.fill_index(tree)
        return self.compare()

    def compare(self) -> set[str]:
        """The paths of the other index at which something else lies, or nothing; the times of the rest are noted."""
        self.ask("update-index", "-q", "--ignore-submodules", "--refresh", aside=True, check=False)
        arguments = ("diff-files", "--name-only", "-z", "--ignore-submodules=all", "--no-ext-diff")
        return _split(self.ask(*arguments, aside=True))

    def install_index(self) -> None:
        """Put the other index in the place of the real one."""
        with guard_disk(self.index):
            os.replace(self.index, self.git_dir / "index")

    def entries(self, tree: str) -> Entries:
        """The files of a tree."""
        lines = _split(self.ask("ls-tree", "-r", "-z", "--full-tree", tree))
        parted = (line.partition("\t") for line in lines)
        return {path: (about.split(" ")[0], about.split(" ")[2]) for about, _, path in parted}

    def staged(self, tree: str) -> Entries:
        """The paths at which the real index differs from a tree, with what it has there."""
        arguments = ("diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=all")
        fields = iter(self.ask(*arguments, tree).text.split("\0"))
        found = {}
        for about in fields:
            if about:
                _, mode, _, sha, status = about.split(" ")
                found[next(fields)] = ("unmerged", sha) if status == "U" else (mode, sha)
        return found


@dataclass(slots=True)
class _Completion:
    """A move that is completed: files, index and HEAD."""

    folder: Path
    git_dir: Path
    move: Move
    context: Context
    git: _Git = field(init=False)

    def __post_init__(self) -> None:
        self.git = _Git(self.folder, self.git_dir, self.context)

    def run(self, going: Moving) -> None:
        """Complete the move, or forget it if a user has gone on from there."""
        self._remove_locks()
        if self._is_void() or not self.complete():
            going.call_off()
        else:
            going.complete(self.move.target)

    def complete(self) -> bool:
        """Bring files, index and HEAD to the target. Returns False, with nothing done, if a user is amid a merge."""
        index = self.git_dir / "index"
        staged = self._staged() if index.exists() and is_sound_index(index) else {}
        if any(mode == "unmerged" for mode, _ in staged.values()):
            return False
        self._move_files()
        lines = "".join(f"{mode} {sha} 0\t{path}\0" for path, (mode, sha) in sorted(staged.items()))
        if lines:
            content = lines.encode("utf-8", "surrogateescape")
            self.git.ask("update-index", "-z", "--index-info", input=content, aside=True)
        self.git.install_index()
        self._move_head()
        return True

    @property
    def _known(self) -> list[str]:
        """The commits whose files may lie there. The target comes last, wherever else it is named."""
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
        """Whether a user has gone elsewhere, or is in the middle of something, or the commits are gone."""
        head = self.git.head()
        expected = (self.move.head, self.move.target) if self.move.head is not None else (self.move.target, "")
        if head not in expected or any((self.git_dir / name).exists() for name in _UNDER_WAY):
            return True
        lines = "".join(f"{name}^{{tree}}\n" for name in self._known).encode()
        return "missing" in self.git.ask("cat-file", "--batch-check", input=lines).text

    def _staged(self) -> Entries:
        """What a user has staged: what no commit of the move has there."""
        found = [self.git.staged(name) for name in self._known]
        return {path: entry for path, entry in found[0].items() if all(path in other for other in found)}

    def _move_files(self) -> None:
        """Bring all files to the target that are the program's. The other index is the target's afterwards."""
        trees = {name: self.git.entries(name) for name in self._known}
        # The target is the last of them, so that the other index is the target's.
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
                # Without --force, so that nothing that a user makes right now is ever overwritten.
                answer = self.git.ask("checkout-index", "-u", "-z", "--stdin", input=content, aside=True)
                if not self.git.compare().isdisjoint(paths):  # which git only mentions
                    raise fault(["checkout-index"], answer, self.folder)

    def _is_ours(
        self, path: str, here: Iterable[str], trees: Mapping[str, Entries], differing: Mapping[str, set[str]]
    ) -> bool:
        """Whether what lies at a path is what a commit of the move has there, or the beginning of it."""
        found = self._look(path)
        if found is None:
            return False
        if any(path not in differing[name] for name in here):
            return True
        known = [trees[name][path] for name in here]
        if not stat.S_ISREG(found.st_mode):
            return False
        if not any(mode in ("100644", "100755") and _is_executable(mode, found) for mode, _ in known):
            return False
        with guard_disk(self.folder / path):
            content = (self.folder / path).read_bytes()
        return any(self._content(path, sha).startswith(content) for mode, sha in known if mode.startswith("100"))

    def _content(self, path: str, sha: str) -> bytes:
        """What git writes into a file for an object."""
        return self.git.ask("cat-file", "--filters", f"--path={path}", sha).stdout

    def _look(self, path: str) -> os.stat_result | None:
        """What lies at a path, none of whose folders is a link; None for nothing."""
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
        """Whether nothing lies at a path, and its folder is there or can be made."""
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
                    place.rmdir()  # of a submodule; with files in it, it stays
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
    """The paths at which not all trees have the same."""
    all_trees = list(trees)
    return {path for path in set().union(*all_trees) if len({tree.get(path) for tree in all_trees}) > 1}


def _is_executable(mode: str, found: os.stat_result) -> bool:
    """Whether a file has the permission to be executed exactly if its mode in git says so."""
    return (mode == "100755") == bool(found.st_mode & stat.S_IXUSR)


def _split(answer: GitResult) -> set[str]:
    return set(filter(None, answer.text.split("\0")))
