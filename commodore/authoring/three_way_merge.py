"""Three-way merge of a template's changes into an author's files."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from commodore.authoring.rendering import LINK, File
from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault
from commodore.base.files.staging import temporary_folder
from commodore.base.printable import only_printable
from commodore.core.sources.git import Git

Files = Mapping[str, File]


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """A file that both sides changed.

    Attributes:
        base, ours, theirs: the template's former version, the author's, and the template's new one; None if the file
            does not exist.
        result: the file in the working copy: with conflict markers if it is text, else the author's.
    """

    base: File | None
    ours: File
    theirs: File | None
    result: File


@dataclass(slots=True)
class Merge:
    """Changes of an update to the working copy, by path."""

    writes: dict[str, File] = field(default_factory=dict)
    removals: list[str] = field(default_factory=list)
    conflicts: dict[str, MergeConflict] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.writes or self.removals or self.conflicts)


def without(files: Files, skips: tuple[str, ...]) -> dict[str, File]:
    """Return the files that match no entry of `skips`: a path, a folder, or a pattern."""
    return {path: file for path, file in files.items() if not any(_skipped(path, skip) for skip in skips)}


def merge(base: Files, ours: Files, theirs: Files, context: Context) -> Merge:
    """Merge the changes from `base` to `theirs` (the template, before and now) into `ours` (tracked files).

    A file that the author deleted stays deleted. A file that the template deletes is removed unless the author changed
    it.

    Raises:
        EnvironmentFault: git failed.
    """
    merged = Merge()
    with temporary_folder() as place:
        for path in sorted({*base, *theirs}):
            before, mine, now = base.get(path), ours.get(path), theirs.get(path)
            if before == now or mine == now or (before is not None and mine is None):
                continue
            if mine == before:
                if now is None:
                    merged.removals.append(path)
                else:
                    merged.writes[path] = now
                continue
            assert mine is not None, "an author's missing file is either new or deleted"
            clean, result = _merge_file(Path(place), before, mine, now, context)
            if not clean:
                merged.conflicts[path] = MergeConflict(before, mine, now, result)
            elif result != mine:
                merged.writes[path] = result
    return merged


def _merge_file(place: Path, before: File | None, mine: File, now: File | None, context: Context) -> tuple[bool, File]:
    """Merge a file that both sides changed. Returns True if there was no conflict, and the result."""
    if now is None or not _is_text(mine, before, now):
        return False, mine
    mode = now.mode if before is not None and mine.mode == before.mode else mine.mode
    for name, content in (("mine", mine.content), ("before", before.content if before else b""), ("now", now.content)):
        (place / name).write_bytes(content)
    labels = ["-L", "yours", "-L", "template before", "-L", "template now"]
    arguments = ["merge-file", "--stdout", "--quiet", *labels, "mine", "before", "now"]
    answer = Git(place, context).run(arguments, check=False)
    if not 0 <= answer.returncode < 128:
        raise EnvironmentFault(
            "CMD-GIT-002",
            f"git merge-file failed: exit status {answer.returncode}",
            hint="check the installation of git, and free space in the temporary folder (TMPDIR)",
        )
    return answer.returncode == 0, File(answer.stdout, mode)


def _is_text(*files: File | None) -> bool:
    return all(file is None or (file.mode != LINK and b"\0" not in file.content) for file in files)


def _skipped(path: str, skip: str) -> bool:
    skip = skip.rstrip("/")
    return path == skip or path.startswith(f"{skip}/") or fnmatchcase(path, skip)


def settle(merged: Merge, context: Context) -> tuple[Merge, str]:
    """Keep the author's side of every conflict; other changes of the template in the same file are applied.

    Returns:
        The merge without conflicts, and the rejected changes of the template: unified diffs, sorted by path.

    Raises:
        EnvironmentFault: git failed.
    """
    settled = Merge(dict(merged.writes), list(merged.removals))
    rejected = []
    with temporary_folder() as place:
        for path, conflict in sorted(merged.conflicts.items()):
            kept, theirs = _sides(Path(place), conflict, context)
            if kept != conflict.ours:
                settled.writes[path] = kept
            rejected.append(_difference(path, kept, theirs))
    return settled, "".join(rejected)


def _sides(place: Path, conflict: MergeConflict, context: Context) -> tuple[File, File | None]:
    """Return the file with the author's side of each conflict, and with the template's."""
    if conflict.theirs is None or conflict.result == conflict.ours:
        return conflict.ours, conflict.theirs
    before = conflict.base.content if conflict.base else b""
    for name, content in (("mine", conflict.ours.content), ("before", before), ("now", conflict.theirs.content)):
        (place / name).write_bytes(content)
    kept, theirs = (
        Git(place, context).run(["merge-file", "--stdout", "--quiet", side, "mine", "before", "now"])
        for side in ("--ours", "--theirs")
    )
    return File(kept.stdout, conflict.result.mode), File(theirs.stdout, conflict.result.mode)


def _difference(path: str, kept: File, theirs: File | None) -> str:
    name = only_printable(path, "?")
    if theirs is None:
        return f"--- a/{name}\n+++ /dev/null\n(changed here, deleted by the template)\n"
    if b"\0" in kept.content + theirs.content:
        return f"--- a/{name}\n+++ b/{name}\n(not text)\n"
    lines = difflib.unified_diff(_lines(kept), _lines(theirs), f"a/{name}", f"b/{name}")
    return "".join(_ended(lines))


def _lines(file: File) -> list[str]:
    return file.content.decode("utf-8", "replace").splitlines(keepends=True)


def _ended(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
