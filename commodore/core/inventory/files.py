"""Files of a folder to lint, without files excluded by `.commodoreignore`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from commodore.base.errors import InputError
from commodore.base.files.tree import is_folder, is_hidden, walk
from commodore.base.files.workspace import guard_disk

IGNORE_FILE = ".commodoreignore"


def has_patterns(target: Path, patterns: Iterable[str] = ()) -> bool:
    """Check if a target has patterns that exclude files."""
    base = target if target.is_dir() else target.parent
    return any(line.strip() for line in (*patterns, *_read_patterns(base)))


def class_files(target: Path, patterns: Iterable[str] = ()) -> Iterator[Path]:
    """Yield the files below a folder (or the file itself), in path order, without hidden and ignored ones.

    Args:
        target: a file or folder.
        patterns: glob patterns; one that begins with `/` is anchored at the folder, any other matches at any depth.
            The lines of the folder's `.commodoreignore` are added. `/` and `.` are the folder itself, blank lines are
            ignored.

    Raises:
        InputError: a pattern is invalid.
        EnvironmentFault: a folder or a file with patterns cannot be read.
    """
    base = target if target.is_dir() else target.parent
    ignored = _ignored(base, [*patterns, *_read_patterns(base)])
    if _is_ignored(target, ignored, base):
        return
    if not target.is_dir():
        yield target
        return
    try:
        for _, entry in walk(target, skip=lambda entry: is_hidden(entry) or Path(entry.path) in ignored):
            if not is_folder(entry, follow=True):
                yield Path(entry.path)
    except OSError as error:  # an unreadable folder must not be treated as an empty one
        with guard_disk(Path(os.fsdecode(error.filename or target))):
            raise


def _read_patterns(base: Path) -> list[str]:
    file = base / IGNORE_FILE
    with guard_disk(file):
        return file.read_text(encoding="utf-8", errors="replace").splitlines() if file.is_file() else []


def _ignored(base: Path, patterns: Iterable[str]) -> set[Path]:
    matched: set[Path] = set()
    for line in patterns:
        pattern = line.strip()
        anchored = pattern.startswith("/")
        relative = pattern.lstrip("/")  # a slash at the end stays: such a pattern matches folders only
        if not pattern or ".." in Path(relative).parts:
            continue
        if not Path(relative).parts:
            matched.add(base)
            continue
        pattern = relative
        try:
            paths = list(base.glob(pattern) if anchored else base.rglob(pattern))
        except ValueError as error:
            raise InputError(
                "CMD-INV-024",
                f"invalid pattern {line.strip()!r}: {error}",
                hint="`**` matches whole folders: `a/**/b`",
                locations=[str(base / IGNORE_FILE)] if (base / IGNORE_FILE).is_file() else [],
            ) from error
        matched.update(path for path in paths if _visible(path, base, pattern))
    return matched


def _visible(path: Path, base: Path, pattern: str) -> bool:
    """Check a match by the rules of shells: wildcards do not match hidden names, patterns with the dot do."""
    return "." in {part[0] for part in Path(pattern).parts} or not any(
        part.startswith(".") for part in path.relative_to(base).parts
    )


def _is_ignored(target: Path, ignored: set[Path], base: Path) -> bool:
    return bool(ignored) and (
        target in ignored or any(parent in ignored for parent in target.parents if parent.is_relative_to(base))
    )
