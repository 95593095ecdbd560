"""`catalog clean`: remove the generated files of a compile."""

from __future__ import annotations

import contextlib
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, PolicyError, raise_all
from commodore.base.events import Noted, StageAdvanced, stage
from commodore.base.files.workspace import Workspace
from commodore.catalog import find_work
from commodore.core.sources.git import inspect, recover


def clean(workspace: Workspace, context: Context) -> None:
    """Remove generated folders; clones and checkouts of dependencies, and `vendor`, are kept.

    Raises:
        PolicyError: a checkout in them has changes or commits that exist nowhere else; nothing was removed.
    """
    with workspace.locked(context.limits):
        folders = [folder for folder in workspace.generated if folder.exists() or folder.is_symlink()]
        with stage(context.announce, "cleaning", len(folders)) if folders else contextlib.nullcontext():
            _remove(workspace, folders, context)
        workspace.forget_lock()


def _remove(workspace: Workspace, folders: list[Path], context: Context) -> None:
    errors: list[CommodoreError] = [
        error for checkout in _checkouts(workspace) if (error := _protect(checkout, context)) is not None
    ]
    if work := find_work(workspace.catalog, context):
        errors.append(_refusal(workspace.catalog, work))
    raise_all(errors)
    for folder in folders:
        context.announce(Noted(f"removing {folder}", level=1))
        workspace.discard(folder)
        context.announce(StageAdvanced("cleaning", folder.name))


def _checkouts(workspace: Workspace) -> list[Path]:
    classes = sorted(workspace.classes.iterdir()) if workspace.classes.is_dir() else []
    return [path for path in classes if not path.is_symlink() and (path / ".git").exists()]


def _protect(checkout: Path, context: Context) -> CommodoreError | None:
    recover(checkout, context)
    changes = inspect(checkout, context)
    work = [*changes.modified, *changes.untracked, *(sha[:10] for sha in changes.unpushed)]
    return _refusal(checkout, ", ".join(work[:3])) if work else None


def _refusal(folder: Path, work: str) -> CommodoreError:
    return PolicyError(
        "CMD-WORK-005",
        f"{folder} has changes or commits that exist nowhere else: {work}",
        hint="commit and push them, or move the folder away",
        locations=[str(folder)],
    )
