"""Find a manifest and the instance that wrote it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from commodore.base.errors import InputError, did_you_mean
from commodore.base.files.tree import is_folder, walk
from commodore.base.files.workspace import Workspace, guard_disk, is_inside
from commodore.core.inventory import compiled_preview

_LISTED = 8  # files that a hint lists


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest of the last compile.

    Args:
        path: its path in the tree of manifests, with `/` between its parts.
        instance: the instance that wrote it.
        file: its file, in the catalog if it exists there.
        edited: whether the catalog's file differs from the rendered one, or is missing.
    """

    path: str
    instance: str
    file: Path
    edited: bool


def find_manifest(workspace: Workspace, name: str, here: Path) -> Manifest:
    """Find a manifest by name.

    Args:
        name: a path relative to `here`, the catalog, its folder `manifests`, `compiled`, or the working directory; or
            an absolute one.

    Raises:
        InputError: CMD-INV-046, nothing has been compiled; CMD-CAT-020, no such manifest; CMD-CAT-021, it
            exists, but the last compile did not write it.
    """
    _check_compiled(workspace)
    instance, path = _place(workspace, name, here)
    rendered = workspace.manifests / path
    owners = _owners(workspace, path) if not instance else [instance]
    if not owners:
        raise InputError(
            "CMD-CAT-021",
            f"the last compile did not write {path}",
            hint="it was not written by commodore; the next compile removes it"
            if workspace.compiled.is_dir()
            else "the folder compiled is missing: compile again",
            locations=[str(rendered)],
        )
    made = workspace.compiled / owners[0] / path
    file = rendered if _is_file(workspace.manifests, rendered) else made
    with guard_disk(file):
        edited = file == made or file.read_bytes() != made.read_bytes()
    return Manifest(path, owners[0], file, edited)


def _check_compiled(workspace: Workspace) -> None:
    try:
        compiled_preview(workspace)
    except InputError as error:
        hint = "compile a cluster first, or specify its working directory with --working-dir"
        raise InputError(error.code, error.message, hint=hint, locations=error.locations) from error


def catalog_files(workspace: Workspace) -> list[str]:
    """Return all manifests of the catalog, as `manifests/...`, sorted."""
    return sorted(f"manifests/{path}" for path in _walk(workspace.manifests))


def _place(workspace: Workspace, name: str, here: Path) -> tuple[str, str]:
    """Return the instance, if the name contains it, and the path in the tree of manifests."""
    for folder in (here, workspace.catalog, workspace.manifests, workspace.compiled, workspace.root):
        place = os.path.normpath(folder / name)
        for root in (workspace.manifests, workspace.compiled):
            # The name may contain links to folders, the working directory does not.
            real = os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))
            for candidate in (place, real):
                if Path(candidate).is_relative_to(root) and _is_file(root, Path(candidate)):
                    inner = Path(candidate).relative_to(root)
                    if root == workspace.manifests:
                        return "", inner.as_posix()
                    if len(inner.parts) > 1:
                        return inner.parts[0], Path(*inner.parts[1:]).as_posix()
    raise InputError(
        "CMD-CAT-020",
        f"there is no rendered manifest {name!r}",
        hint=_suggest(workspace, name),
        locations=[str(workspace.manifests)],
    )


def _suggest(workspace: Workspace, name: str) -> str:
    """Suggest paths with a similar spelling; without any, files with a similar name."""
    files = catalog_files(workspace)
    path = name if name.startswith("manifests/") else f"manifests/{name}"
    inside = [file for file in files if name and file.startswith(path.rstrip("/") + "/")]
    if inside:
        more = f" and {len(inside) - _LISTED} more" if len(inside) > _LISTED else ""
        return f"it is a folder; name one of its files: {', '.join(inside[:_LISTED])}{more}"
    if near := did_you_mean(path, files):
        return near
    by_name: dict[str, str] = {}
    for file in files:
        by_name.setdefault(os.path.basename(file), file)
    close = did_you_mean(os.path.basename(name), by_name)
    if close:
        named = [by_name[base] for base in by_name if repr(base) in close]
        return f"did you mean {' or '.join(map(repr, named))}?"
    folders = sorted({file.split("/")[1] for file in files if file.count("/") > 1})
    return f"name a file below manifests, which has the folders {', '.join(folders)}" if folders else "compile first"


def _owners(workspace: Workspace, path: str) -> list[str]:
    """Return the instances that have rendered a path; in a catalog, there is at most one (CMD-CAT-001)."""
    with guard_disk(workspace.compiled):
        instances = sorted(entry.name for entry in workspace.compiled.iterdir()) if workspace.compiled.is_dir() else []
    return [name for name in instances if _is_file(workspace.compiled / name, workspace.compiled / name / path)]


def _is_file(root: Path, path: Path) -> bool:
    return path.is_file() and is_inside(path, root)


def _walk(root: Path) -> Iterator[str]:
    yield from (name for name, entry in walk(root) if not is_folder(entry, follow=True))
