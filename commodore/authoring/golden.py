"""Golden trees: the accepted output of test cases. Compare them with the current output, and update them."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from commodore.base.errors import InputError
from commodore.base.files.tree import walk
from commodore.base.files.workspace import folder_beside, guard_disk, replace_tree
from commodore.base.kubernetes import ObjectKey, is_well_formed, key_of
from commodore.base.limits import Limits
from commodore.base.yaml import dump, load_all
from commodore.core.review import DiffLine, FileChange, TreeChange, compare_trees, render

Kind = Literal["added", "removed", "changed", "moved", "text"]


def _texts(lines: tuple[DiffLine, ...]) -> list[str]:
    return [line.text for line in lines]


@dataclass(frozen=True, slots=True)
class GoldenDifference:
    """A difference from the golden tree.

    Attributes:
        kind: the kind of change; `text` is a file of which only the text differs, or that has no objects.
        object: the Kubernetes object; None for a whole file.
        file: the file below the golden tree; the new one if it was moved.
        lines: a unified diff without file names; empty for an added or removed object or file.
    """

    kind: Kind
    object: ObjectKey | None
    file: str
    lines: tuple[DiffLine, ...] = field(default=(), metadata={"json": _texts})

    def __str__(self) -> str:
        return f"{self.object} in {self.file}" if self.object else self.file


def read_tree(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder by path, with slashes. The content of a link is its target; folders are ignored,
    as in git. A missing folder is empty.

    Raises:
        InputError: an entry is neither a file nor a folder (CMD-TEST-007).
        EnvironmentFault: a file cannot be read.
    """
    tree: dict[str, bytes] = {}
    with guard_disk(folder):
        for name, entry in walk(folder):
            path = Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                continue
            if path.is_symlink():
                tree[name] = os.fsencode(os.readlink(path))
            elif path.is_file():
                tree[name] = path.read_bytes()
            else:
                raise InputError(
                    "CMD-TEST-007",
                    f"{name!r} is neither a file nor a folder",
                    hint="check the files that the component copies, or the golden tree",
                    locations=[str(path)],
                )
    return tree


def compare(golden: Mapping[str, bytes], compiled: Mapping[str, bytes], limits: Limits) -> tuple[GoldenDifference, ...]:
    """Return the differences from the golden tree; empty if all bytes are equal.

    Args:
        golden: the golden tree, content by path.
        compiled: the current output, content by path.
    """
    change = compare_trees(golden, compiled, limits)
    differences: list[GoldenDifference] = []
    for file in change.files:
        differences += _compare_file(file, golden, compiled, limits)
    return tuple(differences)


def _compare_file(
    file: FileChange, golden: Mapping[str, bytes], compiled: Mapping[str, bytes], limits: Limits
) -> Iterator[GoldenDifference]:
    if file.kind in ("deleted", "added"):
        kind: Kind = "removed" if file.kind == "deleted" else "added"
        path = file.new_path
        objects = _objects((golden if file.kind == "deleted" else compiled)[path], path)
        keys: list[ObjectKey | None] = [*objects] if objects else [None]
        yield from (GoldenDifference(kind, key, path) for key in keys)
        return
    if file.kind == "renamed":
        yield GoldenDifference("moved", None, f"{file.old_path} => {file.new_path}")
        if file.similarity == 100:
            return
    old, new = golden[file.old_path], compiled[file.new_path]
    differences = _compare_objects(_objects(old, file.old_path), _objects(new, file.new_path), file.new_path, limits)
    yield from differences or [GoldenDifference("text", None, file.new_path, _diff(old, new, limits))]


def _compare_objects(
    old: Mapping[ObjectKey, str] | None, new: Mapping[ObjectKey, str] | None, path: str, limits: Limits
) -> list[GoldenDifference]:
    """Yield the differences between the objects of two versions of a file; empty if only text can be compared."""
    if not old or not new:
        return []
    differences = [GoldenDifference("removed", key, path) for key in old if key not in new]
    for key, text in new.items():
        if key not in old:
            differences.append(GoldenDifference("added", key, path))
        elif old[key] != text:
            differences.append(GoldenDifference("changed", key, path, _diff(old[key].encode(), text.encode(), limits)))
    return differences


def _objects(content: bytes, path: str) -> dict[ObjectKey, str] | None:
    """Return the objects of a file, each as normalised text; None for a file with other content."""
    if not path.endswith((".yml", ".yaml", ".json")):
        return None
    try:
        documents = [document for document in load_all(content, place=path) if document is not None]
        texts = {key_of(document): dump(document) for document in _well_formed(documents)}
    except InputError:
        return None
    return texts if len(texts) == len(documents) and all(key.kind for key in texts) else None


def _well_formed(documents: list[Any]) -> list[Any]:
    return [document for document in documents if is_well_formed(document)]


def _diff(old: bytes, new: bytes, limits: Limits) -> tuple[DiffLine, ...]:
    change = TreeChange((FileChange("modified", "golden", "compiled"),))
    lines = render(change, {"golden": old}, {"compiled": new}, limits)
    return tuple(line for line in lines if line.style != "header")


def update_golden(compiled: Path, golden: Path) -> None:
    """Replace the golden tree by the output; files that are no longer rendered are removed. The new tree is made in a
    temporary folder and renamed to its path.

    Raises:
        EnvironmentFault: the operating system refused; the golden tree is unchanged.
    """
    with folder_beside(golden, parents=True) as beside, guard_disk(golden):
        fresh = beside / "golden"
        fresh.mkdir()
        fresh.chmod(0o755)
        for name, entry in walk(compiled):
            if not entry.is_dir(follow_symlinks=False):
                _copy(Path(entry.path), fresh / name, fresh)
        replace_tree(fresh, golden)


def _copy(path: Path, target: Path, top: Path) -> None:
    for parent in reversed(target.relative_to(top).parents[:-1]):
        if not (top / parent).exists():
            (top / parent).mkdir()
            (top / parent).chmod(0o755)
    if path.is_symlink():
        target.symlink_to(os.readlink(path))
        return
    shutil.copyfile(path, target)
    executable = path.stat().st_mode & stat.S_IXUSR
    target.chmod(0o755 if executable else 0o644)  # regardless of the umask; git has these two modes
