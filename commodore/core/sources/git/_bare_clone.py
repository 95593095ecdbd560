"""Make a bare clone in a temporary folder next to its path, and move it there when it is complete."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from commodore.base.context import Context
from commodore.base.files.tree import files
from commodore.base.files.workspace import copy_tree, guard_disk, remove_tree, replace_tree
from commodore.base.values.commits import is_commit
from commodore.core.sources.git._empty_repository import Blueprint
from commodore.core.sources.git._refs import RemoteRefs
from commodore.core.sources.git._remote_config import add_remote, is_remote
from commodore.core.sources.git.ls_remote import RemoteState
from commodore.core.sources.git.runner import Git


def own_tips(bare: Path) -> dict[str, str] | None:
    """Return the refs that are not copies of the remote's branches, and the commits worktrees are detached at.

    Returns:
        Ref name -> object id; commits of worktrees under the name of their administrative file. None if one of them
        cannot be read.
    """
    tips: dict[str, str] = {}
    try:
        packed = bare / "packed-refs"
        for line in packed.read_text(encoding="utf-8").splitlines() if packed.exists() else []:
            sha, _, name = line.partition(" ")
            if is_commit(sha):
                tips[name] = sha
            elif not line.startswith(("#", "^")):
                return None
        loose = [path for _, path in files(bare / "refs", links=True) if path.is_file()]
        for path in loose + list((bare / "worktrees").glob("*/HEAD")):
            name, content = path.relative_to(bare).as_posix(), path.read_text(encoding="utf-8").strip()
            if is_commit(content):
                tips[name] = content
            elif not name.startswith("refs/remotes/") and not content.startswith("ref: refs/heads/"):
                return None
    except (OSError, UnicodeDecodeError):
        return None
    return {name: sha for name, sha in tips.items() if not name.startswith("refs/remotes/")}


def move_in(bare: Path, fresh: Path, tips: dict[str, str], context: Context) -> bool:
    """Give a fresh clone the damaged one's worktrees and own refs (`own_tips`), if it has all their objects."""
    if tips:
        check = "".join(f"{sha}\n" for sha in tips.values()).encode()
        answer = Git(fresh, context).run(["cat-file", "--batch-check=%(objecttype)"], input=check)
        if any(line.endswith(" missing") for line in answer.text.splitlines()):
            return False
    if (bare / "worktrees").is_dir():
        copy_tree(bare / "worktrees", fresh / "worktrees")
    refs = {name: sha for name, sha in tips.items() if name.startswith("refs/") and not name.startswith("refs/tags/")}
    commands = "".join(f"update {name} {sha}\n" for name, sha in sorted(refs.items()))
    if commands:
        Git(fresh, context).run(["update-ref", "--stdin"], input=commands.encode())
    return True


def make_clone(path: Path, url: str, blueprint: Blueprint, fill: Callable[[Path], bool] = lambda _: True) -> bool:
    """Make an empty bare repository whose `origin` is `url`, let `fill` complete it, and put it at `path`.

    Returns:
        The result of `fill`: True if the clone is complete. Otherwise `path` is left as it is.

    Raises:
        EnvironmentFault: git or the disk failed.
    """
    with guard_disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        # Always the same path: only the lock's holder makes the clone, and leftovers of a killed run are removed.
        fresh = path.with_name(f".new-{path.name}")
        remove_tree(fresh)
        fresh.mkdir()
    try:
        fresh.chmod(0o755)
        blueprint.lay_out(fresh)
        add_remote(fresh / "config", url)
        if not fill(fresh):
            return False
        replace_tree(fresh, path)
        return True
    finally:
        remove_tree(fresh)


def restore_clone(path: Path, url: str) -> None:
    """Move the clone of `url` back to `path` if a run was killed while it replaced it and `path` is missing."""
    with guard_disk(path):
        for old in path.parent.glob(".old-*/old"):
            if is_remote(old / "config", url):
                old.rename(path)
                old.parent.rmdir()
                return


def is_missing(path: Path) -> bool:
    """Check if a clone may be made at `path`: it does not exist, or is an empty folder."""
    return not path.exists() or (path.is_dir() and not any(path.iterdir()))


def looks_bare(path: Path) -> bool:
    """Check if there is a bare repository, possibly damaged, at `path`."""
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "config").is_file()


def unchanged_refs(refs: RemoteRefs, state: RemoteState) -> RemoteRefs:
    """Return the branches and tags that are unchanged at the remote; others are left out, as if never fetched."""
    branches = {name: sha for name, sha in refs.branches.items() if state.branches.get(name) == sha}
    tags = {name: sha for name, sha in refs.tags.items() if state.tags.get(name) == sha}
    commits = {name: sha for name, sha in refs.commits.items() if name in tags}
    tips = {*branches.values(), *commits.values()}
    short = {sha: text for sha, text in refs.short.items() if sha in tips}
    head = state.head if state.head in branches else None
    return replace(refs, branches=branches, tags=tags, commits=commits, short=short, head=head)
