"""Git dependencies by commit: asked for, fetched alone, kept in the cache. Runs in workers only.

What cannot be told without a clone (abbreviated commits, expressions such as `v1~2`, a remote that does not answer) is
left to Kapitan's own function, and so is telling why it fails.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kapitan.dependency_manager import base
from kapitan.errors import GitSubdirNotFoundError

from commodore import git
from commodore.engine._dependency_cache import DependencyCache, commit_key
from commodore.engine.reuse.sources import commits_of
from commodore.errors import CommodoreError
from commodore.limits import Limits
from commodore.workspace import is_inside, remove_tree


def fetch(source: str, items: Sequence[Any], folder: Path, cache: DependencyCache, limits: Limits) -> None:
    """Fetch what Kapitan's models `items` want of a repository, each to its output path.

    The files are those of Kapitan's own function. A folder `.git` is not among them: its contents are another one with
    each clone.

    Raises:
        Exception: what Kapitan and GitPython raise.
    """
    commits = commits_of(source, [item.ref for item in items], limits)
    if commits is None:
        base.fetch_git_dependency((source, list(items)), str(folder), True)
        return
    checkouts = _Checkouts(source, folder, limits)
    for number, item in enumerate(items):
        key = commit_key(source, commits[item.ref], submodules=bool(item.submodules), folder=item.subdir or "")
        files = folder / f"files-{number}"
        if key is None or not cache.copy(key, files):
            checkout = checkouts.of(commits[item.ref], item.subdir or "", submodules=bool(item.submodules))
            chosen = checkout / item.subdir if item.subdir else checkout
            if not (chosen.is_dir() and is_inside(chosen, checkout)):
                raise GitSubdirNotFoundError(f"Dependency {source}: subdir {item.subdir} not found in repo")
            base.copy_tree(str(chosen), str(files))  # which follows links
            if key is not None and _depends_on_nothing_else(chosen, checkout):
                cache.add(key, files)
        base.copy_tree(str(files), item.output_path, clobber_files=True)


class _Checkouts:
    """The commits of one repository that were not in the cache, each fetched once."""

    def __init__(self, source: str, folder: Path, limits: Limits) -> None:
        self._source = source
        self._folder = folder
        self._limits = limits
        self._made: dict[tuple[str, str, bool], Path] = {}

    def of(self, commit: str, folder: str, *, submodules: bool) -> Path:
        """The folder with the files of a commit, without any `.git`. Files outside of the wanted folder may be left
        out.
        """
        wanted = (commit, "" if submodules else folder, submodules)
        if wanted not in self._made:
            place = self._folder / f"checkout-{len(self._made)}"
            _check_out(self._source, commit, wanted[1], place, self._limits)
            if submodules:
                for submodule in base.Repo(place).submodules:
                    submodule.update(init=True)
            for path in list(place.rglob(".git")):
                remove_tree(path)
            self._made[wanted] = place
        return self._made[wanted]


def _check_out(source: str, commit: str, folder: str, tree: Path, limits: Limits) -> None:
    """The files of one commit, or of a folder in it; the whole history only if the server gives no single commits."""
    timeout = limits.git_timeout
    where = os.path.abspath(source) if os.path.isdir(source) else source
    tree.mkdir(parents=True)
    try:
        git.run(["init", "-q"], cwd=tree, timeout=timeout)
        git.run(["remote", "add", "--", "origin", where], cwd=tree, timeout=timeout)
        git.run(["fetch", "-q", "--no-tags", "--depth=1", "--", "origin", commit], cwd=tree, timeout=timeout)
        paths = _needed(commit, folder, tree, timeout)
        if paths:
            git.run(["checkout", "-q", commit, "--", *paths], cwd=tree, timeout=timeout)
        else:
            git.run(["checkout", "-q", "--detach", commit], cwd=tree, timeout=timeout)
    except CommodoreError:
        remove_tree(tree)
        base.Repo.clone_from(source, str(tree), no_checkout=True).git.checkout(commit)


def _needed(commit: str, folder: str, tree: Path, timeout: float) -> list[str]:
    """What has to be checked out for a folder: itself, and the files that say how. Nothing for all that there is, as
    links may lead anywhere.
    """
    inside = os.path.normpath(folder)
    if not folder or inside in (os.curdir, os.pardir) or os.path.isabs(folder) or inside.startswith(os.pardir + os.sep):
        return []
    listing = git.run(["ls-tree", "-r", "-z", "--full-tree", commit], cwd=tree, timeout=timeout).text
    entries = [entry.partition("\t") for entry in listing.split("\0") if entry]
    own = [about for about, _, name in entries if name.startswith(inside + "/")]
    if not own or not all(about.startswith("100") for about in own):
        return []
    attributes = [name for _, _, name in entries if os.path.basename(name) == ".gitattributes"]
    return [f":(literal){name}" for name in (inside, *attributes)]


def _depends_on_nothing_else(chosen: Path, checkout: Path) -> bool:
    """Whether the files are the commit's alone: no link leads out of it, and no program of the user's, such as git-lfs,
    may have had a part in them (its absence would be kept, too).
    """
    if any(path.is_symlink() and not is_inside(path, checkout) for path in chosen.rglob("*")):
        return False
    attributes = [path for path in checkout.rglob(".gitattributes") if path.is_file()]
    return not any(b"filter=" in path.read_bytes() for path in attributes)
