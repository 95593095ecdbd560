"""`component delete`: remove a component's working copy, and its clone if nothing else uses it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from commodore.authoring.new import remove_empty_parents
from commodore.authoring.slug import COMPONENT, check_slug
from commodore.base.context import Context
from commodore.base.errors import PolicyError, UsageError, did_you_mean
from commodore.base.events import Noted
from commodore.base.files.workspace import Workspace, is_inside, remove_tree
from commodore.base.printable import some_of
from commodore.core.sources.git import Git, inspect, rejoin


@dataclass(frozen=True, slots=True)
class Deletion:
    """A planned deletion: the folder, and its repository if that is a bare clone of the working directory."""

    slug: str
    folder: Path
    bare: Path | None
    bare_in_use: bool


def plan_deletion(workspace: Workspace, slug: str, context: Context, *, force: bool = False) -> Deletion:
    """Plan the deletion of a component, and refuse to lose work.

    Args:
        force: do not check for work that would be lost.

    Raises:
        InputError: the slug is invalid.
        UsageError: the component does not exist.
        PolicyError: changes, untracked files or unpushed commits would be lost.
    """
    folder = workspace.component(check_slug(slug, COMPONENT))
    if not folder.is_symlink() and not folder.is_dir():
        known = [path.name for path in workspace.dependencies.glob("*") if (path / "class").is_dir()]
        raise UsageError(
            "CMD-TPL-040",
            f"there is no component {slug!r} in {workspace.dependencies}",
            hint=did_you_mean(slug, known) or "check the folders there",
        )
    if folder.is_symlink():
        return Deletion(slug, folder, None, bare_in_use=False)
    if not (folder / ".git").exists():
        if not force and any(folder.iterdir()):
            raise _would_lose(folder, ["files outside of any git repository"])
        return Deletion(slug, folder, None, bare_in_use=False)
    rejoin(folder)
    answer = Git(folder, context).run(["rev-parse", "--path-format=absolute", "--git-common-dir"], check=not force)
    common = Path(answer.text) if answer.returncode == 0 else None
    shared = (folder / ".git").is_file()
    ours = common is not None and shared and is_inside(common, workspace.repositories)
    in_use = common is not None and ours and len(_worktrees(common, context)) > 2
    if not force:
        _protect(folder, context, whole=not shared or (ours and not in_use))
    return Deletion(slug, folder, common if ours else None, in_use)


def delete_component(workspace: Workspace, deletion: Deletion, context: Context) -> None:
    """Remove the folders of `plan_deletion`.

    Raises:
        PolicyError: another run works in the working directory.
        EnvironmentFault: the disk or git failed.
    """
    with workspace.locked(context.limits):
        remove_tree(deletion.folder)
        if deletion.bare is None:
            return
        Git(deletion.bare, context).run(["worktree", "prune", "--expire=now"])
        if deletion.bare_in_use or len(_worktrees(deletion.bare, context)) > 1:
            context.announce(Noted(f"the clone {deletion.bare} is kept, as other working copies use it"))
            return
        remove_tree(deletion.bare)
        remove_empty_parents(deletion.bare, workspace.dependencies)


def _protect(folder: Path, context: Context, *, whole: bool) -> None:
    """Refuse to lose local work. `whole`: the whole repository is removed, not only this working copy."""
    changes = inspect(folder, context)
    reasons = []
    if changes.modified:
        reasons.append(f"uncommitted changes in {some_of(changes.modified)}")
    if changes.untracked:
        reasons.append(f"the untracked files {some_of(changes.untracked)}")
    unpushed = ["HEAD"] if changes.unpushed and changes.branch is None else []
    if whole:
        unpushed += _only_local(folder, context)
    if unpushed:
        reasons.append(f"commits of {some_of(tuple(unpushed))} that no remote has")
    if reasons:
        raise _would_lose(folder, reasons)


def _only_local(folder: Path, context: Context) -> list[str]:
    """Return branches, stashes and refs kept by commodore whose commits no branch or tag of a remote contains."""
    scopes = ["refs/heads", "refs/stash", "refs/commodore"]
    answer = Git(folder, context).run(["for-each-ref", "--format=%(refname) %(objectname)", *scopes])
    names = []
    for name, _, sha in (line.partition(" ") for line in answer.text.splitlines()):
        arguments = ["rev-list", "--max-count=1", sha, "--not", "--remotes", "--tags"]
        if Git(folder, context).run(arguments).text:
            names.append(name.removeprefix("refs/heads/"))
    return names


def _worktrees(bare: Path, context: Context) -> list[str]:
    """Return the entries of the repository and of each of its working copies."""
    text = Git(bare, context).run(["worktree", "list", "--porcelain"]).text
    return [line for line in text.splitlines() if line.startswith("worktree ")]


def _would_lose(folder: Path, reasons: list[str]) -> PolicyError:
    return PolicyError(
        "CMD-TPL-041",
        f"deleting {folder} would lose {'; '.join(reasons)}",
        hint="commit and push what you need; or use --force, which deletes it for good",
        locations=[str(folder)],
    )
