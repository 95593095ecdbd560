"""Compare states of `rendered/`, with equal changes of several cells grouped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import UsageError
from commodore.base.limits import Limits
from commodore.core.review import (
    ChangeKind,
    DiffLine,
    FileDiff,
    FileGroup,
    FileGroups,
    Hunk,
    Placeholders,
    TreeChange,
    compare_trees,
    diff_lines,
)
from commodore.core.sources.git import Git, read_blobs
from commodore.fleet.objects import ObjectChanges, object_changes
from commodore.fleet.output import Files, read_rendered
from commodore.fleet.repository.config import read_config
from commodore.fleet.repository.layout import RENDERED, choose

_CONTEXT = 2


@dataclass(frozen=True, slots=True)
class RenderedDiff:
    """The differences between two states of `rendered/`.

    Attributes:
        groups: the changes of files, equal ones of several cells together; their "clusters" are folders of cells.
        objects: the added and removed Applications.
        cells: the number of cells in either state.
    """

    change: TreeChange
    groups: tuple[FileGroup, ...]
    objects: ObjectChanges
    cells: int


def diff_rendered(root: Path, revisions: Sequence[str], context: Context) -> RenderedDiff:
    """Compare `rendered/` between two commits, or between a commit (by default HEAD) and the current files.

    Raises:
        UsageError: CMD-FLT-097, a commit is unknown.
        InputError: the configuration cannot be read.
        EnvironmentFault: git fails.
    """
    config = read_config(root, context.limits)
    old = rendered_at(root, revisions[0] if revisions else "HEAD", context)
    new = rendered_at(root, revisions[1], context) if len(revisions) > 1 else read_rendered(root)
    change = compare_trees(old, new, context.limits)
    depth = len(config.singulars)
    cells = {tuple(path.split("/")[: depth + 1]) for path in (*old, *new)}
    style = choose(root, config, [kind.name for kind in config.types]).output
    objects = object_changes(change, old, new, depth, style)
    return RenderedDiff(change, group_changes(change, old, new, config.singulars, context.limits), objects, len(cells))


def rendered_at(root: Path, revision: str, context: Context) -> dict[str, bytes]:
    """Return all files of `rendered/` in a commit, as `read_rendered` does.

    Raises:
        UsageError: CMD-FLT-097, the commit is unknown.
        EnvironmentFault: git fails.
    """
    git = Git(root, context)
    parsed = git.run(["rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"], check=False)
    if parsed.returncode:
        raise UsageError(
            "CMD-FLT-097",
            f"there is no commit {revision!r} in the fleet's repository",
            hint="name a commit, a branch or a tag; a shallow clone has only the newest commits",
        )
    blobs: dict[str, str] = {}
    for line in git.run(["ls-tree", "-r", "-z", parsed.text.strip(), "--", f"{RENDERED}/"]).text.split("\0"):
        about, _, path = line.partition("\t")
        if path:
            mode, _, name = about.split(" ")
            blobs[path.removeprefix(f"{RENDERED}/")] = name if mode.startswith("100") else ""
    contents = read_blobs(root, filter(None, blobs.values()), context)
    return {path: contents[name] if name else b"[no file]" for path, name in blobs.items()}


def group_changes(
    change: TreeChange, old: Files, new: Files, singulars: Sequence[str], limits: Limits
) -> tuple[FileGroup, ...]:
    """Group equal changes of files in several cells, most cells first. Changes that differ only in
    the names of their cells are equal.

    Args:
        singulars: the names of one node of each dimension.
    """
    groups = FileGroups()
    for file in change.files:
        moved = file.kind == "renamed"
        steps: list[tuple[ChangeKind, str]] = [("deleted", file.old_path), ("added", file.new_path)]
        for kind, path in steps if moved else [(file.kind, file.new_path)]:
            parts = path.split("/")
            cell, inner = parts[: len(singulars) + 1], "/".join(parts[len(singulars) + 1 :])
            names = zip((f"cell.{name}" for name in singulars), cell[1:], strict=False)
            lines = tuple(_diff(old[path], new[path], limits)) if kind == "modified" else ()
            groups.add("/".join(cell), [Hunk.of(FileDiff(kind, inner, lines), Placeholders(names))])
    return tuple(groups)


def _diff(old: bytes, new: bytes, limits: Limits) -> Iterator[DiffLine]:
    before, after = (text.decode("utf-8", "replace") for text in (old, new))
    for line in diff_lines(before, after, limits, _CONTEXT):
        yield DiffLine("hunk", "…") if line.style == "hunk" else line
