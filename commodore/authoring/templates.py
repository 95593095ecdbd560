"""Templates: bundled ones, and those in git repositories.

docs/adr/0009-bundled-template-history.md describes the history of the bundled ones.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from commodore.authoring.slug import Kind
from commodore.base.context import Context
from commodore.base.errors import InputError, PolicyError, did_you_mean
from commodore.base.events import Noted
from commodore.base.files.file_lock import hold
from commodore.base.files.staging import temporary_folder
from commodore.base.files.workspace import guard_disk, make_private
from commodore.core.results.caches import template_cache, template_lock, usable
from commodore.core.sources.git import Git, Repository, RepositoryStore, normalize, redact, repository_key

_HISTORIES = Path(__file__).resolve().parent.parent / "templates"
_BRANCH = "main"
_ABBREVIATED = re.compile(r"[0-9a-f]{7,40}")


class Template(Protocol):
    """A template with its history."""

    @property
    def url(self) -> str:
        """The URL in `.cruft.json` and messages, without credentials."""

    def resolve(self, version: str | None) -> str:
        """Return the commit (full id) of a version; None is the default branch.

        Raises:
            InputError: the version does not exist.
        """

    def has(self, commit: str) -> bool:
        """Check if a commit (full id) is part of the template's history."""

    def write(self, commit: str, folder: Path) -> None:
        """Write the template's files at a commit to a new folder."""


class OpenTemplate(Protocol):
    """A function that opens a template: `open_template`, or one that shares open templates."""

    def __call__(
        self, url: str, kind: Kind, versions: tuple[str | None, ...], context: Context, *, trust: bool
    ) -> contextlib.AbstractContextManager[Template]: ...


def bundled_url(kind: Kind) -> str:
    """Return the URL of a bundled template."""
    return f"commodore://{kind.name}-template"


@contextlib.contextmanager
def open_template(
    url: str, kind: Kind, versions: tuple[str | None, ...], context: Context, *, trust: bool
) -> Iterator[Template]:
    """Open a template, and fetch `versions` of it (None: the default branch).

    Rendering a template runs its code, so it must be known to commodore, or trusted by the caller.

    Raises:
        PolicyError: the template is neither known nor trusted.
        InputError: the URL is invalid.
        EnvironmentFault: the repository cannot be reached.
    """
    if url == bundled_url(kind):
        with temporary_folder() as place:
            yield _open_bundled(kind, place, context)
        return
    if url.startswith("commodore://"):
        raise InputError(
            "CMD-TPL-026",
            f"there is no template {url} for a {kind.name} in commodore",
            hint=f"the bundled template is {bundled_url(kind)}; check that this is a {kind.name}",
        )
    url = absolute_url(url)
    known = _is_known(url, kind)
    if not trust and not known:
        raise PolicyError(
            "CMD-TPL-020",
            f"the template {redact(url)} is not known to commodore, and rendering it runs the template author's code",
            hint="review the template; if you trust it, add --trust-template",
        )
    if not known:
        context.announce(Noted(f"the template {redact(url)} is trusted; rendering it runs its code"))
    yield _fetch(url, versions, context)


def absolute_url(url: str) -> str:
    """Return the URL of a template in normal form, with an absolute path if it is local.

    Raises:
        InputError: see `commodore.core.sources.git.normalize`.
    """
    if url and "://" not in url and not url.startswith("-") and Path(url).is_dir():
        return str(Path(url).absolute().resolve())
    return normalize(url)


def _is_known(url: str, kind: Kind) -> bool:
    secure = urlsplit(url).scheme in ("https", "ssh")
    return secure and repository_key(url) == repository_key(kind.public_template)


@dataclass(frozen=True, slots=True)
class _Repository:
    """A template whose history is in a bare repository on this machine."""

    url: str
    bare: Path
    context: Context

    def has(self, commit: str) -> bool:
        arguments = ["cat-file", "-e", f"{commit}^{{commit}}"]
        return Git(self.bare, self.context).run(arguments, check=False).returncode == 0

    def write(self, commit: str, folder: Path) -> None:
        folder.mkdir()
        with temporary_folder() as place:
            environment = {"GIT_INDEX_FILE": f"{place}/index", "GIT_WORK_TREE": str(folder)}
            for arguments in (["read-tree", commit], ["checkout-index", "--all", "--quiet"]):
                Git(folder, self.context).run([f"--git-dir={self.bare}", *arguments], environment=environment)


@dataclass(frozen=True, slots=True)
class _Bundled(_Repository):
    """A bundled template: its versions are `main`, `v1`, `v2`, ..., and commits."""

    versions: dict[str, str]

    def resolve(self, version: str | None) -> str:
        name = version or _BRANCH
        if name in self.versions:
            return self.versions[name]
        if _ABBREVIATED.fullmatch(name):
            commits = {commit for commit in self.versions.values() if commit.startswith(name)}
            if len(commits) == 1:
                return commits.pop()
        known = ", ".join(sorted(self.versions, key=lambda name: (len(name), name)))
        raise InputError(
            "CMD-TPL-021",
            f"the template {self.url} has no version {name!r}",
            hint=did_you_mean(name, self.versions) or f"its versions are {known}",
        )


@dataclass(frozen=True, slots=True)
class _Remote(_Repository):
    """A template fetched from a git repository."""

    repository: Repository

    def resolve(self, version: str | None) -> str:
        return self.repository.resolve(version).sha


def _open_bundled(kind: Kind, place: Path, context: Context) -> _Bundled:
    history = (_HISTORIES / f"{kind.name}.history").read_bytes()
    bare = place / "history.git"
    initialise = ["init", "--quiet", "--bare", "--template=", f"--initial-branch={_BRANCH}", "--", str(bare)]
    Git(place, context).run(initialise, settings=("init.defaultObjectFormat=sha1",))
    Git(bare, context).run(["fast-import", "--quiet"], input=history)
    refs = Git(bare, context).run(["for-each-ref", "--format=%(objectname) %(refname:lstrip=2)"]).text
    versions = {name: commit for commit, _, name in (line.partition(" ") for line in refs.splitlines())}
    return _Bundled(bundled_url(kind), bare, context, versions)


def _fetch(url: str, versions: tuple[str | None, ...], context: Context) -> _Remote:
    root = usable(template_cache())
    store = RepositoryStore(root, context)
    with guard_disk(root):
        make_private(root)
        lock = hold(template_lock(), wait=math.inf)
    with lock:
        store.sync([(url, version) for version in versions])
        repository = store.repository(url)
        repository.ensure()
    return _Remote(redact(url), repository.path, context, repository)
