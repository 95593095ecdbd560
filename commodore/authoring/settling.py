"""Conflicts of a template update when nobody is there to resolve them: the author's side stays (spec b 7.3)."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path

from commodore.authoring.merging import Conflict, Merge
from commodore.authoring.rendering import File
from commodore.git import run
from commodore.limits import DEFAULT_LIMITS, Limits
from commodore.printable import only_printable
from commodore.staging import temporary_folder


def settle(merged: Merge, *, limits: Limits = DEFAULT_LIMITS) -> tuple[Merge, str]:
    """Keep the author's side of every conflict; what the template changes elsewhere in the same file is taken.

    Returns:
        The merge without conflicts, and what of the template was left out: unified diffs, sorted by path.

    Raises:
        EnvironmentFault: git failed.
    """
    settled = Merge(dict(merged.writes), list(merged.removals))
    rejected = []
    with temporary_folder() as place:
        for path, conflict in sorted(merged.conflicts.items()):
            kept, wanted = _sides(Path(place), conflict, limits)
            if kept != conflict.ours:
                settled.writes[path] = kept
            rejected.append(_difference(path, kept, wanted))
    return settled, "".join(rejected)


def _sides(place: Path, conflict: Conflict, limits: Limits) -> tuple[File, File | None]:
    """The file with the author's side of each conflict in it, and with the template's."""
    if conflict.theirs is None or conflict.result == conflict.ours:
        return conflict.ours, conflict.theirs
    before = conflict.base.content if conflict.base else b""
    for name, content in (("mine", conflict.ours.content), ("before", before), ("now", conflict.theirs.content)):
        (place / name).write_bytes(content)
    kept, wanted = (
        run(["merge-file", "--stdout", "--quiet", side, "mine", "before", "now"], cwd=place, timeout=limits.git_timeout)
        for side in ("--ours", "--theirs")
    )
    return File(kept.stdout, conflict.result.mode), File(wanted.stdout, conflict.result.mode)


def _difference(path: str, kept: File, wanted: File | None) -> str:
    name = only_printable(path, "?")
    if wanted is None:
        return f"--- a/{name}\n+++ /dev/null\n(changed here, deleted by the template)\n"
    if b"\0" in kept.content + wanted.content:
        return f"--- a/{name}\n+++ b/{name}\n(not text)\n"
    lines = difflib.unified_diff(_lines(kept), _lines(wanted), f"a/{name}", f"b/{name}")
    return "".join(_ended(lines))


def _lines(file: File) -> list[str]:
    return file.content.decode("utf-8", "replace").splitlines(keepends=True)


def _ended(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
