"""Render the changes between two trees of manifests as lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from commodore.base.errors import InputError
from commodore.base.kubernetes.objects import in_order, is_well_formed
from commodore.base.limits import Limits
from commodore.base.printable import printable
from commodore.base.yaml.yaml_in import load_all
from commodore.base.yaml.yaml_out import dump_stream
from commodore.core.review.changes import FileChange, TreeChange
from commodore.core.review.textdiff import DiffLine, diff_lines, split_lines

#: Comparison of modified files: as text; as YAML, ignoring form and order; as YAML without the changes that the upgrade
#: from Kapitan 0.29 to 0.30 made in every catalog.
DiffMode = Literal["plain", "ignore-yaml-formatting", "kapitan-0.29-to-0.30"]

# Labels that change with Kapitan 0.30: it uses helm 3, which has no Tiller.
_TILLER_LABEL: Final = re.compile(r"(.*(?:app\.kubernetes\.io/managed-by|heritage): )Tiller[ \n]*", re.DOTALL)


def render(
    change: TreeChange,
    old: Mapping[str, bytes],
    new: Mapping[str, bytes],
    limits: Limits,
    mode: DiffMode = "plain",
) -> Iterator[DiffLine]:
    """Yield the changes as lines: one for a deleted, added or renamed file, a unified diff for a modified file. Line
    feeds in file names are shown as blanks, so that a name cannot forge lines of the report.

    Args:
        change: the changes.
        old: content by path of the old tree; only modified files are read, one at a time.
        new: content by path of the new tree.
        mode: the comparison of modified files; a mode may yield no lines for some or all of them.
        limits: with more than `diff_matches` pairs of equal lines in a file a note replaces its diff.
    """
    for file in change.files:
        if file.kind == "modified":
            yield from _render_modified(file, old[file.old_path], new[file.new_path], mode, limits)
        else:
            yield from _render_summary(file)


def _render_summary(file: FileChange) -> Iterator[DiffLine]:
    if file.kind in ("renamed", "copied"):
        yield DiffLine(
            "summary", f"{file.kind.capitalize()} file {printable(file.old_path)} => {printable(file.new_path)}"
        )
        if file.similarity < 100:
            yield from _header(file)
            yield DiffLine("summary", f"similarity {file.similarity:.2f}%")
    elif file.kind == "type-changed":
        yield DiffLine("summary", f"Changed type of file {printable(file.new_path)}")
    else:
        yield DiffLine("summary", f"{file.kind.capitalize()} file {printable(file.new_path)}")


def _header(file: FileChange) -> Iterator[DiffLine]:
    yield DiffLine("header", f"--- {printable(file.old_path)}")
    yield DiffLine("header", f"+++ {printable(file.new_path)}")


def _render_modified(file: FileChange, old: bytes, new: bytes, mode: DiffMode, limits: Limits) -> Iterator[DiffLine]:
    if old == new:
        yield DiffLine("summary", f"Changed mode of file {printable(file.new_path)}")
        return
    old_text, new_text = _as_text(old), _as_text(new)
    if old_text is None or new_text is None:
        yield DiffLine("summary", f"Binary files {printable(file.old_path)} and {printable(file.new_path)} differ")
        return
    if mode != "plain":
        normal = _normalised(file, old, new, mode)
        if normal is not None:
            old_text, new_text = normal
    lines = diff_lines(old_text, new_text, limits)
    first = next(lines, None)
    if first is not None:
        yield from _header(file)
        yield first
        yield from lines


def _as_text(content: bytes) -> str | None:
    """Decode the content; None if it is not UTF-8."""
    if b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _normalised(file: FileChange, old: bytes, new: bytes, mode: DiffMode) -> tuple[str, str] | None:
    """Return both versions in a canonical form, equal if there is nothing to show; None for files without objects."""
    try:
        old_objects = _objects(old, file.old_path)
        new_objects = _objects(new, file.new_path)
        if old_objects is None or new_objects is None:
            return None
        old_text, new_text = dump_stream(in_order(old_objects)), dump_stream(in_order(new_objects))
        if mode == "kapitan-0.29-to-0.30" and _only_upgraded(old_objects, new_objects):
            return new_text, new_text
    except InputError:
        return None
    return old_text, new_text


def _objects(content: bytes, path: str) -> list[Any] | None:
    """Return the documents of a file of Kubernetes objects; None if a document is not an object: such files are
    compared as text.

    Raises:
        InputError: the file is not YAML.
    """
    documents = load_all(content, place=path)
    return documents if all(document is None or is_well_formed(document) for document in documents) else None


def _only_upgraded(old: list[Any], new: list[Any]) -> bool:
    """Return True if all differences come from the upgrade: removed null documents, and Tiller labels.

    Every changed line must come from it: the original compared pairs of neighbouring lines, which hid changes of single
    lines.
    """
    if old.count(None) < new.count(None):
        return False
    # The labels change within their lines: every other difference changes another line, or the number of lines.
    old_lines = split_lines(dump_stream(in_order(document for document in old if document is not None)))
    new_lines = split_lines(dump_stream(in_order(document for document in new if document is not None)))
    return len(old_lines) == len(new_lines) and all(
        before == after or _is_tiller_to_helm(before, after) for before, after in zip(old_lines, new_lines, strict=True)
    )


def _is_tiller_to_helm(before: str, after: str) -> bool:
    match = _TILLER_LABEL.fullmatch(before)
    return match is not None and after.rstrip() == f"{match[1]}Helm"
