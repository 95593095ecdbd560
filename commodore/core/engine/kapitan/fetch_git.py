"""Fetch git dependencies by commit: look the commit up, fetch only it, store it in the cache. Runs in workers only.

Revisions that need a clone (abbreviated commits, expressions such as `v1~2`, a remote that does not respond) are left
to Kapitan's own function, which also reports the reason if it fails.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from kapitan.dependency_manager import base
from kapitan.errors import GitSubdirNotFoundError

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, PolicyError
from commodore.base.files.tree import Entry, children, is_folder, walk
from commodore.base.files.workspace import is_inside, remove_tree
from commodore.base.limits import Limits
from commodore.core.confinement import Confinement, Roots, TrustPolicy
from commodore.core.confinement.hosts import host_of
from commodore.core.engine.cache.remote_identity import commits_of
from commodore.core.sources import git
from commodore.core.sources.fetching import DependencyCache, commit_key

_DEEPEST = 200


def fetch(
    source: str,
    items: Sequence[Any],
    folder: Path,
    cache: DependencyCache | None,
    context: Context,
    policy: TrustPolicy,
) -> None:
    """Fetch the files that Kapitan's models `items` request from a repository, each to its output path.

    The files are those of Kapitan's own function, without the folder `.git`, whose contents differ in each clone.

    Args:
        cache: the cache of commits, None without one.
        policy: the hosts that submodules may come from.

    Raises:
        CommodoreError: a link leads out of the repository, or the host of a submodule is not allowed.
        Exception: any exception of Kapitan and GitPython.
    """
    commits = commits_of(source, [item.ref for item in items], context)
    if commits is None:
        _fetch_clone(source, items, folder, context, policy)
        return
    checkouts = _Checkouts(source, folder, context, policy)
    for number, item in enumerate(items):
        key = commit_key(source, commits[item.ref], submodules=bool(item.submodules), folder=item.subdir or "")
        files = folder / f"files-{number}"
        if cache is None or key is None or not cache.copy(key, files):
            checkout = checkouts.of(commits[item.ref], item.subdir or "", submodules=bool(item.submodules))
            chosen = checkout / item.subdir if item.subdir else checkout
            if not (chosen.is_dir() and is_inside(chosen, checkout)):
                raise GitSubdirNotFoundError(f"KapitanDependency {source}: subdir {item.subdir} not found in repo")
            _copy(chosen, checkout, files, context.limits)
            if cache is not None and key is not None and _depends_on_nothing_else(checkout):
                cache.add(key, files)
        base.copy_tree(str(files), item.output_path, clobber_files=True)


def _fetch_clone(source: str, items: Sequence[Any], folder: Path, context: Context, policy: TrustPolicy) -> None:
    """Fetch like `fetch`, from a whole clone as Kapitan does, which accepts more names of a commit."""
    clone = folder / "clone"
    base.fetch_git_source(source, str(clone), "Dependency")
    repository = base.Repo(clone)
    default = None if repository.head.is_detached else repository.active_branch.name
    for number, item in enumerate(items):
        repository.git.checkout(item.ref or default or "HEAD")
        if item.submodules:
            _update_submodules(clone, source, context, policy)
        chosen = clone / item.subdir if item.subdir else clone
        if not (chosen.is_dir() and is_inside(chosen, clone)):
            raise GitSubdirNotFoundError(f"KapitanDependency {source}: subdir {item.subdir} not found in repo")
        files = folder / f"copy-{number}"
        _copy(chosen, clone, files, context.limits)
        _strip(files)
        base.copy_tree(str(files), item.output_path, clobber_files=True)


def _copy(chosen: Path, checkout: Path, files: Path, limits: Limits) -> None:
    """Copy a folder of a checkout as Kapitan does, which follows links.

    Raises:
        PolicyError: a link leads out of the checkout, into `.git`, or in a circle; or the folder is too large.
    """
    _Followed(Confinement(files, Roots(read=(checkout,)), limits), limits).check(chosen)
    base.copy_tree(str(chosen), str(files))


class _Followed:
    """Measures the size of a folder with its links replaced by their targets. Each folder is measured once, also if
    many links lead to it.
    """

    def __init__(self, confinement: Confinement, limits: Limits) -> None:
        self._confinement = confinement
        self._limits = limits
        self._known: dict[str, tuple[int, int]] = {}
        self._inside: list[str] = []

    def check(self, folder: Path) -> None:
        """Refuse a folder that may not be copied.

        Raises:
            PolicyError: see `_copy`.
        """
        self._measure(os.path.realpath(folder))

    def _measure(self, folder: str) -> tuple[int, int]:
        """Return the number of files and folders, and their bytes."""
        if folder in self._inside or len(self._inside) > _DEEPEST:
            raise _refused(f"in {os.path.basename(folder)}, a link leads in a circle, or folders nest too deep")
        if folder not in self._known:
            self._inside.append(folder)
            count = size = 0
            for entry in children(folder):
                more = self._measure_entry(entry)
                count, size = count + more[0], size + more[1]
            if count > self._limits.archive_members or size > self._limits.archive_bytes:
                raise _refused(
                    f"with all links followed it has more than {self._limits.archive_members} files or "
                    f"{self._limits.archive_bytes} bytes"
                )
            self._inside.pop()
            self._known[folder] = count, size
        return self._known[folder]

    def _measure_entry(self, entry: Entry) -> tuple[int, int]:
        if entry.is_symlink():
            self._confinement.check_open(entry.path, "link")
        elif entry.name == ".git":
            return 0, 0  # it is removed later
        if is_folder(entry, follow=True):
            count, size = self._measure(os.path.realpath(entry.path))
            return count + 1, size
        return 1, entry.stat().st_size if entry.is_file() else 0


def _refused(reason: str) -> PolicyError:
    return PolicyError(
        "CMD-ENG-060",
        f"the repository is refused: {reason}",
        hint="name a folder of it as `subdir` that does not have this, or ask the repository's owner",
    )


def _update_submodules(tree: Path, source: str, context: Context, policy: TrustPolicy) -> None:
    """Fetch the submodules of a checkout, if their hosts are allowed.

    Raises:
        InputError: the URL of a submodule is invalid.
        PolicyError: a submodule is on a host that the policy does not allow; or on this machine, and the repository
            itself is not.
    """
    with base.Repo(tree) as repository:
        for submodule in repository.submodules:
            url = submodule.url
            if not url.startswith("."):  # a relative URL is on the repository's own host
                git.normalize(url)
                is_foreign = not host_of(url) and host_of(source)
                policy.require_host("file://localhost" if is_foreign else url, f"its submodule {submodule.name!r}")
            where = os.path.join(source, url) if url.startswith("../") else url  # as GitPython has it
            submodule.update(init=True, env=git.Git(tree, context).variables(where))


def _strip(folder: Path) -> None:
    """Remove all `.git`: the repository's own folder, and the files in submodules that point into it."""
    for path in _all_named(folder, ".git"):
        remove_tree(path)


def _all_named(folder: Path, name: str) -> list[Path]:
    return [Path(entry.path) for _, entry in walk(folder) if entry.name == name]


def remove_leftovers(output: Path, roots: Iterable[Path], context: Context) -> None:
    """Remove the `.git` of earlier versions, or of Kapitan, from a folder with fetched files: the folder, and the files
    in submodules that point into it. Repositories with local changes are not removed.

    Args:
        output: the output path of a dependency.
        roots: folders of the run; an output path that contains one of them has more than fetched files.
    """
    if not output.is_dir() or any(is_inside(root, output) for root in roots):
        return
    modules = [path for path in _all_named(output, ".git") if path.is_file() and _leads_nowhere_else(path, output)]
    repository = output / ".git"
    if repository.is_dir() and not repository.is_symlink():
        if not _has_nothing_of_its_own(output, context):
            return
        remove_tree(repository)
    for path in modules:
        remove_tree(path)


def _leads_nowhere_else(file: Path, output: Path) -> bool:
    """Check if a submodule's file `.git` points to a repository in `output`, or to a missing one. Worktrees have
    absolute paths in theirs.
    """
    target = file.read_bytes().partition(b"gitdir: ")[2].strip()
    if os.path.isabs(target) or b"modules" not in target.split(b"/"):
        return False
    place = file.parent / os.fsdecode(target)
    return not place.exists() or is_inside(place, output / ".git")


def _has_nothing_of_its_own(clone: Path, context: Context) -> bool:
    """Check if all branches and stashes of a clone, and its HEAD, are on the remote."""
    git_dir = f"--git-dir={clone / '.git'}"
    own = ["rev-list", "--max-count=1", "HEAD", "--branches", "--glob=refs/stas[h]", "--not", "--remotes", "--tags"]
    try:
        return not git.Git(clone, context).run([git_dir, *own]).text.strip()
    except CommodoreError:
        return False  # not a repository, or a damaged one


class _Checkouts:
    """Checkouts of commits of one repository that were not in the cache, each fetched once."""

    def __init__(self, source: str, folder: Path, context: Context, policy: TrustPolicy) -> None:
        self._source = source
        self._folder = folder
        self._context = context
        self._policy = policy
        self._made: dict[tuple[str, str, bool], Path] = {}

    def of(self, commit: str, folder: str, *, submodules: bool) -> Path:
        """Return the folder with the files of a commit, without any `.git`. Files outside of
        `folder` may be missing.
        """
        key = (commit, "" if submodules else folder, submodules)
        if key not in self._made:
            place = self._folder / f"checkout-{len(self._made)}"
            _check_out(self._source, commit, key[1], place, self._context)
            if submodules:
                _update_submodules(place, self._source, self._context, self._policy)
            _strip(place)
            self._made[key] = place
        return self._made[key]


def _check_out(source: str, commit: str, folder: str, tree: Path, context: Context) -> None:
    """Check out a commit, or a folder of it; fetch the whole history only if the server refuses single commits."""
    inside, repository = _path_inside(folder), git.Git(tree, context)
    where = os.path.abspath(source) if os.path.isdir(source) else source
    tree.mkdir(parents=True)
    try:
        repository.run(["init", "-q"])
        repository.run(["remote", "add", "--", "origin", git.bare_url(where)])
        repository = repository.authenticated(where)
        # Servers without partial clones send all files, and git only warns about it.
        part = ["--filter=blob:none"] if inside else []
        repository.run(["fetch", "-q", "--no-tags", "--depth=1", *part, "--", "origin", commit])
        paths, files = _needed(commit, inside, repository) if inside else ([], [])
        if paths:
            _fetch_files(commit, files, repository)
            repository.run(["checkout", "-q", commit, "--", *paths])
        else:
            repository.run(["checkout", "-q", "--detach", commit])
    except PolicyError:  # a limit was exceeded: the whole history would exceed it, too
        raise
    except CommodoreError:
        remove_tree(tree)
        clone_whole(source, tree, context)
        base.Repo(tree).git.checkout(commit)


def clone_whole(source: str, folder: Path, context: Context) -> None:
    """Clone a repository with its whole history, without checking out files."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    words = ["clone", "--quiet", "--no-checkout", "--", git.bare_url(source), str(folder.absolute())]
    git.Git(folder.parent, context, about=git.redact(source)).authenticated(source).run(words)


def _path_inside(folder: str) -> str:
    """Return the normalized path of a folder in a repository; empty for the root and paths outside."""
    inside = os.path.normpath(folder)
    outside = inside == os.pardir or os.path.isabs(folder) or inside.startswith(os.pardir + os.sep)
    return "" if outside or inside == os.curdir else inside


def _needed(commit: str, inside: str, repository: git.Git) -> tuple[list[str], list[str]]:
    """Return the files to check out for a folder: its own, and all `.gitattributes`. Nothing if the whole commit is
    needed, as the folder has links, which may lead anywhere.

    Returns:
        Path specifications, and the object ids of all matching files.
    """
    listing = repository.run(["ls-tree", "-r", "-z", "--full-tree", commit]).text
    entries = [entry.partition("\t") for entry in listing.split("\0") if entry]
    own = [(about, name) for about, _, name in entries if name.startswith(inside + "/")]
    if not own or not all(about.startswith("100") for about, _ in own):
        return [], []
    others = [(about, name) for about, _, name in entries if os.path.basename(name) == ".gitattributes"]
    paths = [f":(literal){name}" for name in (inside, *(name for _, name in others))]
    return paths, [about.rpartition(" ")[2] for about, _ in (*own, *others)]


def _fetch_files(commit: str, files: list[str], repository: git.Git) -> None:
    """Fetch the files (object ids) that the server has left out, all at once; git itself would
    fetch them one by one.
    """
    listing = repository.run(["rev-list", "--objects", "--missing=print", "--max-count=1", commit])
    missing = {line.removeprefix("?") for line in listing.text.splitlines() if line.startswith("?")}
    if names := sorted(missing.intersection(files)):
        arguments = ["fetch", "-q", "--no-tags", "--no-write-fetch-head", "--filter=blob:none", "--stdin", "origin"]
        content = "".join(f"{name}\n" for name in names).encode()
        repository.run(arguments, input=content, settings=("fetch.negotiationAlgorithm=noop",))


def _depends_on_nothing_else(checkout: Path) -> bool:
    """Check that the files depend on the commit only, and not on a filter program of the user, such as git-lfs (without
    it, wrong files would be cached).
    """
    attributes = [path for path in _all_named(checkout, ".gitattributes") if path.is_file()]
    return not any(b"filter=" in path.read_bytes() for path in attributes)
