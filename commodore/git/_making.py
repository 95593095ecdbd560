"""Making a bare clone beside its place and putting it there when it is complete."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from commodore.git._blueprint import Blueprint
from commodore.git._refs import RemoteRefs
from commodore.git._remote_config import add_remote, is_remote
from commodore.git.asking import RemoteState
from commodore.workspace import guard_disk, remove_tree, replace_tree


def make_clone(path: Path, url: str, blueprint: Blueprint, fill: Callable[[Path], bool] = lambda _: True) -> bool:
    """Make an empty bare repository whose `origin` is `url`, let `fill` complete it, and put it at `path`.

    Returns:
        What `fill` said: whether it is complete. What was at `path` stays if not.

    Raises:
        EnvironmentFault: git or the disk failed.
    """
    with guard_disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        # Always the same place: whoever makes the clone is alone, and what a killed run has left there goes.
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
    """Put the clone of `url` back to `path`, where it is missing, if a run was killed while it replaced it there."""
    with guard_disk(path):
        for old in path.parent.glob(".old-*/old"):
            if is_remote(old / "config", url):
                old.rename(path)
                old.parent.rmdir()
                return


def is_missing(path: Path) -> bool:
    """Whether a clone may be made at `path`: nothing is there, or an empty folder."""
    return not path.exists() or (path.is_dir() and not any(path.iterdir()))


def looks_bare(path: Path) -> bool:
    """Whether there is a bare repository, damaged perhaps, at `path`."""
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "config").is_file()


def still_true(refs: RemoteRefs, state: RemoteState) -> RemoteRefs:
    """Those branches and tags that the remote has right now, as they were. The others look as if nobody had fetched
    them.
    """
    branches = {name: sha for name, sha in refs.branches.items() if state.branches.get(name) == sha}
    tags = {name: sha for name, sha in refs.tags.items() if state.tags.get(name) == sha}
    commits = {name: sha for name, sha in refs.commits.items() if name in tags}
    tips = {*branches.values(), *commits.values()}
    short = {sha: text for sha, text in refs.short.items() if sha in tips}
    head = state.head if state.head in branches else None
    return replace(refs, branches=branches, tags=tags, commits=commits, short=short, head=head)
