"""`component delete`: remove a component's working copy, and its clone if nothing else uses it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from commodore.authoring.new import remove_empty_parents
from commodore.authoring.slug import COMPONENT, check_slug
from commodore.errors import PolicyError, UsageError, did_you_mean
from commodore.events import Announce, Noted
from commodore.git import inspect, run
from commodore.limits import DEFAULT_LIMITS, Limits
from commodore.printable import some_of
from commodore.workspace import Workspace, is_inside, remove_tree


@dataclass(frozen=True, slots=True)
class Deletion:
    """What is to be deleted: the folder, and its repository if that is a bare clone of the working directory."""

    slug: str
    folder: Path
    bare: Path | None
    bare_in_use: bool


def plan_deletion(workspace: Workspace, slug: str, *, force: bool = False, limits: Limits = DEFAULT_LIMITS) -> Deletion:
    """Find out what `delete` would remove, and refuse to lose work.

    Args:
        force: do not look for work that would be lost.

    Raises:
        InputError: the slug cannot be used.
        UsageError: there is no such component.
        PolicyError: changes, untracked files or commits that no remote has would be lost.
    """
    folder = workspace.component(check_slug(slug, COMPONENT, limits=limits))
    if not folder.is_symlink() and not folder.is_dir():
        known = [path.name for path in workspace.dependencies.glob("*") if (path / "class").is_dir()]
        raise UsageError(
            "CMD-TPL-040",
            f"there is no component {slug!r} in {workspace.dependencies}",
            hint=did_you_mean(slug, known) or "see the folders there",
        )
    if folder.is_symlink():
        return Deletion(slug, folder, None, bare_in_use=False)
    if not (folder / ".git").exists():
        if not force and any(folder.iterdir()):
            raise _would_lose(folder, ["files that are in no git repository"])
        return Deletion(slug, folder, None, bare_in_use=False)
    answer = run(
        ["rev-parse", "--path-format=absolute", "--git-common-dir"],
        cwd=folder,
        timeout=limits.git_timeout,
        check=not force,
    )
    common = Path(answer.text) if answer.returncode == 0 else None
    shared = (folder / ".git").is_file()
    ours = common is not None and shared and is_inside(common, workspace.repositories)
    in_use = common is not None and ours and len(_worktrees(common, limits)) > 2
    if not force:
        _protect(folder, whole=not shared or (ours and not in_use), limits=limits)
    return Deletion(slug, folder, common if ours else None, in_use)


def delete_component(
    workspace: Workspace, deletion: Deletion, announce: Announce, *, limits: Limits = DEFAULT_LIMITS
) -> None:
    """Remove what `plan_deletion` found.

    Raises:
        PolicyError: another run works in the working directory.
        EnvironmentFault: the disk or git failed.
    """
    with workspace.locked(limits):
        remove_tree(deletion.folder)
        if deletion.bare is None:
            return
        run(["worktree", "prune", "--expire=now"], cwd=deletion.bare, timeout=limits.git_timeout)
        if deletion.bare_in_use or len(_worktrees(deletion.bare, limits)) > 1:
            announce(Noted(f"the clone {deletion.bare} is kept, as other working copies use it"))
            return
        remove_tree(deletion.bare)
        remove_empty_parents(deletion.bare, workspace.dependencies)


def _protect(folder: Path, *, whole: bool, limits: Limits) -> None:
    """Refuse when something is only here. `whole`: the whole repository goes, not this working copy alone."""
    changes = inspect(folder, limits=limits)
    reasons = []
    if changes.modified:
        reasons.append(f"uncommitted changes in {some_of(changes.modified)}")
    if changes.untracked:
        reasons.append(f"the untracked files {some_of(changes.untracked)}")
    unpushed = ["HEAD"] if changes.unpushed and changes.branch is None else []
    if whole:
        unpushed += _only_local(folder, limits)
    if unpushed:
        reasons.append(f"commits of {some_of(tuple(unpushed))} that no remote has")
    if reasons:
        raise _would_lose(folder, reasons)


def _only_local(folder: Path, limits: Limits) -> list[str]:
    """Branches, stashes and what commodore has kept, whose commits no branch or tag of a remote contains."""
    scopes = ["refs/heads", "refs/stash", "refs/commodore"]
    answer = run(["for-each-ref", "--format=%(refname) %(objectname)", *scopes], cwd=folder, timeout=limits.git_timeout)
    found = []
    for name, _, sha in (line.partition(" ") for line in answer.text.splitlines()):
        arguments = ["rev-list", "--max-count=1", sha, "--not", "--remotes", "--tags"]
        if run(arguments, cwd=folder, timeout=limits.git_timeout).text:
            found.append(name.removeprefix("refs/heads/"))
    return found


def _worktrees(bare: Path, limits: Limits) -> list[str]:
    """The repository's entry and one for each of its working copies."""
    text = run(["worktree", "list", "--porcelain"], cwd=bare, timeout=limits.git_timeout).text
    return [line for line in text.splitlines() if line.startswith("worktree ")]


def _would_lose(folder: Path, reasons: list[str]) -> PolicyError:
    return PolicyError(
        "CMD-TPL-041",
        f"deleting {folder} would lose {'; '.join(reasons)}",
        hint="commit and push what you need; or use --force, which deletes it for good",
        locations=[str(folder)],
    )
