"""The folder `rendered/`: read it, compare it, and replace it in one step."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from commodore.base.errors import PolicyError
from commodore.base.files.tree import walk
from commodore.base.files.workspace import Workspace, exchange_tree, guard_disk
from commodore.base.limits import Limits
from commodore.base.printable import some_of
from commodore.core.review import TreeChange, compare_trees
from commodore.fleet.repository.config import Prefix, in_path
from commodore.fleet.repository.layout import RENDERED

Files = Mapping[str, bytes]
"""Content by path in `rendered/`."""


@dataclass(frozen=True, slots=True)
class RenderedOutput:
    """The new content of `rendered/`.

    Attributes:
        files: all files of the generated cells.
        cells: the folders of these cells.
        whole: true if these are all cells; other files in `rendered/` are removed then.
    """

    files: Files
    cells: frozenset[str]
    whole: bool

    def is_ours(self, path: str) -> bool:
        """Return True if an existing file belongs to the generated cells."""
        return self.whole or any(path.startswith(f"{cell}/") for cell in self.cells)


def cell_folder(kind: str, cell: Prefix) -> str:
    """Return the folder of a cell in `rendered/`."""
    return f"{kind}/{in_path(cell)}"


def read_rendered(root: Path) -> dict[str, bytes]:
    """Return all files of `rendered/`; other entries count as foreign files.

    Raises:
        EnvironmentFault: the operating system refused.
    """
    top = root / RENDERED
    contents: dict[str, bytes] = {}
    with guard_disk(top):
        for name, entry in walk(top):
            if not entry.is_dir(follow_symlinks=False):
                regular = entry.is_file(follow_symlinks=False)
                contents[name] = Path(entry.path).read_bytes() if regular else b"[no file]"
    return contents


def check_folder(root: Path, *, force: bool) -> None:
    """Refuse to replace a file or a link in place of the folder.

    Raises:
        PolicyError: CMD-FLT-059.
    """
    top = root / RENDERED
    if os.path.lexists(top) and (top.is_symlink() or not top.is_dir()) and not force:
        raise PolicyError(
            "CMD-FLT-059",
            f"{RENDERED} is a {'link' if top.is_symlink() else 'file'}, and not the generator's",
            hint="move it elsewhere, or let it be removed with --force",
            locations=[RENDERED],
        )


def check_foreign(present: Iterable[str], *, force: bool) -> None:
    """Refuse to replace foreign files.

    Raises:
        PolicyError: CMD-FLT-059.
    """
    foreign = sorted(path for path in present if not _may_be_ours(path))
    if foreign and not force:
        raise PolicyError(
            "CMD-FLT-059",
            f"{some_of([f'{RENDERED}/{path}' for path in foreign])} is not the generator's",
            hint="move it elsewhere, or let it be removed with --force",
            locations=[f"{RENDERED}/{path}" for path in foreign[:1]],
        )


def _may_be_ours(path: str) -> bool:
    parts = path.split("/")
    if "templates" in parts[2:-1]:
        return True
    return 3 <= len(parts) <= 10 and parts[-1] in ("Chart.yaml", "values.yaml")


def changes(present: Files, output: RenderedOutput, limits: Limits) -> TreeChange:
    """Compare `rendered/` with the new content."""
    ours = {path: text for path, text in present.items() if output.is_ours(path)}
    return compare_trees(ours, dict(output.files), limits)


def write_rendered(workspace: Workspace, present: Files, output: RenderedOutput) -> None:
    """Replace `rendered/` by the new content; unchanged files are kept.

    Raises:
        EnvironmentFault: the operating system refused; `rendered/` is unchanged.
    """
    top = workspace.root / RENDERED
    kept = {path: text for path, text in present.items() if not output.is_ours(path)}
    with workspace.staging("rendered") as folder, guard_disk(top):
        new = folder / RENDERED
        new.mkdir()
        for path in kept:
            _keep(top / path, new / path)
        for path, text in output.files.items():
            if present.get(path) == text:
                _keep(top / path, new / path)
            else:
                (new / path).parent.mkdir(parents=True, exist_ok=True)
                (new / path).write_bytes(text)
        exchange_tree(new, top, root=workspace.root)


def _keep(old: Path, new: Path) -> None:
    new.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(old, new, follow_symlinks=False)
    except OSError:  # a file system without hard links
        shutil.copy2(old, new, follow_symlinks=False)
