"""An author's repository during an update: its files, and applying a merge to files and index."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from commodore.authoring.rendering import EXECUTABLE, LINK, File
from commodore.authoring.three_way_merge import Merge, MergeConflict
from commodore.base.context import Context
from commodore.base.errors import InputError, PolicyError
from commodore.base.files.workspace import guard_disk, is_inside, write_atomically
from commodore.base.printable import NAMES_SHOWN, some_of
from commodore.core.sources.git import Git, find_root, inspect


@dataclass(frozen=True, slots=True)
class WorkingCopy:
    """A folder in a git working copy. `prefix` is its path in the working copy, empty or ending in `/`."""

    folder: Path
    prefix: str
    context: Context

    @classmethod
    def at(cls, folder: Path, context: Context) -> WorkingCopy:
        """Return the working copy that contains `folder`.

        Raises:
            InputError: no working copy, or it has no commit yet.
        """
        folder = folder.resolve()
        root = find_root(folder, context)
        if root is None:
            raise InputError(
                "CMD-TPL-012",
                f"{folder} is not in a git repository, so that an update could not be undone",
                hint="run 'git init' there, and commit everything",
            )
        relative = folder.relative_to(root).as_posix()
        return cls(folder, "" if relative == "." else f"{relative}/", context)

    def check_clean(self) -> None:
        """Refuse uncommitted changes.

        Raises:
            PolicyError: there are changes, untracked files, or rejects of an update by another tool.
        """
        rejects = self._git("ls-files", "-z", "--others", "--", "*.rej").split("\0")[:-1]
        if rejects:
            raise PolicyError(
                "CMD-TPL-014",
                f"{self.folder} has rejected patches of an earlier update: {some_of(rejects)}",
                hint="apply them by hand if you need them, remove these files, commit, then run again",
                locations=[str(self.folder / reject) for reject in rejects[:NAMES_SHOWN]],
            )
        changes = inspect(self.folder, self.context)
        if changes.modified or changes.untracked or changes.head is None:
            what = [*changes.modified, *changes.untracked]
            raise PolicyError(
                "CMD-TPL-013",
                f"{self.folder} has uncommitted changes: {some_of(what) or 'everything'}",
                hint="commit them or move them away, then run again, so that the update can be undone",
                locations=[str(self.folder)],
            )

    def read(self, paths: Iterable[str]) -> dict[str, File]:
        """Return the tracked files among these paths; the working copy must be clean."""
        tracked = set(self._git("ls-files", "-z", "--", ".").split("\0"))
        present = [path for path in paths if path in tracked]
        with guard_disk(self.folder):
            return {path: File.read(self.folder / path) for path in present if self._is_there(path)}

    def check_free(self, merge: Merge) -> None:
        """Refuse to overwrite untracked files or folders, or to write through links.

        Raises:
            PolicyError: a file or folder is in the way; nothing was changed.
        """
        tracked = set(self._git("ls-files", "-z", "--", ".").split("\0"))
        for path in merge.writes:
            blocked = self._blocked(path)
            if blocked is None and path not in tracked and self._is_there(path):
                blocked = path
            if blocked is not None:
                raise PolicyError(
                    "CMD-TPL-015",
                    f"the template has '{path}', but {self.folder / blocked} is in the way",
                    hint="move it away; or add the path to 'skip' in .cruft.json, and commit that",
                    locations=[str(self.folder / blocked)],
                )

    def write(self, path: str, file: File) -> None:
        """Write a file with this content and mode."""
        place = self.folder / path
        if file.mode == LINK:
            with guard_disk(place):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.unlink(missing_ok=True)
                place.symlink_to(file.content.decode("utf-8", "surrogateescape"))
        else:
            mode = 0o755 if file.mode == EXECUTABLE else 0o644
            write_atomically(place, file.content, mode)
            with guard_disk(place):
                place.chmod(mode)

    def apply(self, merge: Merge) -> None:
        """Apply a merge to the files and the index; conflicts stay unmerged in the index, as in git's own merges."""
        for path, file in merge.writes.items():
            self.write(path, file)
        for path in merge.removals:
            with guard_disk(self.folder / path):
                (self.folder / path).unlink(missing_ok=True)
            self._remove_empty(path)
        self.stage([*merge.writes, *merge.removals])
        for path, conflict in merge.conflicts.items():
            self.write(path, conflict.result)
        if merge.conflicts:
            entries = "".join(self._unmerged(path, conflict) for path, conflict in merge.conflicts.items())
            self._git("update-index", "-z", "--index-info", input=entries.encode())

    def stage(self, paths: Iterable[str]) -> None:
        """Stage exactly these paths, regardless of `.gitignore`."""
        names = "".join(f"{path}\0" for path in paths)
        if names:
            arguments = ["add", "--all", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"]
            self._git("--literal-pathspecs", *arguments, input=names.encode())

    def staged(self) -> tuple[list[tuple[str, str]], str]:
        """Return the staged changes: pairs of status letter and path, and the difference as text."""
        names = self._git("diff", "--cached", "--name-status", "--no-renames", "-z", "--relative").split("\0")
        arguments = ["--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--relative", "--submodule=short"]
        return list(zip(names[:-1:2], names[1::2], strict=True)), self._git("diff", "--cached", *arguments)

    def _unmerged(self, path: str, conflict: MergeConflict) -> str:
        """Return the entries of a conflict for `git update-index`: the former entry is replaced by one per side."""
        lines = []
        blob = ""
        for stage, file in enumerate((conflict.base, conflict.ours, conflict.theirs), 1):
            if file is not None:
                blob = self._git("hash-object", "-w", "--stdin", input=file.content).strip()
                lines.append(f"{file.mode} {blob} {stage}\t{self.prefix}{path}\0")
        return f"0 {'0' * len(blob)}\t{self.prefix}{path}\0" + "".join(lines)

    def _is_there(self, path: str) -> bool:
        place = self.folder / path
        return place.is_symlink() or place.exists()

    def _blocked(self, path: str) -> str | None:
        """Return the path that blocks writing a file at `path`: a file or link in place of a folder, or the reverse."""
        parts = path.split("/")
        for length in range(1, len(parts)):
            parent = "/".join(parts[:length])
            place = self.folder / parent
            if place.is_symlink() or (place.exists() and not place.is_dir()) or parts[length - 1] in ("..", ".git"):
                return parent
        place = self.folder / path
        return path if place.is_dir() and not place.is_symlink() else None

    def _remove_empty(self, path: str) -> None:
        parent = (self.folder / path).parent
        while parent != self.folder and is_inside(parent, self.folder) and not any(parent.iterdir()):
            parent.rmdir()
            parent = parent.parent

    def _git(self, *arguments: str, input: bytes | None = None) -> str:
        answer = Git(self.folder, self.context).run(list(arguments), input=input)
        return answer.stdout.decode("utf-8", "surrogateescape")
