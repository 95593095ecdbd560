"""The folders that replace repositories, and the identity of repository URLs."""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path

from commodore.argocd.acquiring.providers import Providers
from commodore.base.errors import UsageError
from commodore.core.sources.git import redact

_SCP = re.compile(r"(?:[^@/:]+@)?([^/:@]+):(?!/)(.+)")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://(?:[^@/]*@)?(.*)", re.DOTALL)


def repository_identity(url: str) -> str:
    """Return the same text for all URLs of a repository: lower case, without user, `.git` and trailing `/`."""
    text = url.strip().lower()
    scheme = _SCHEME.fullmatch(text)
    if scheme is not None:
        text = scheme[2] if scheme[1] == "ssh" else f"{scheme[1]}://{scheme[2]}"
    elif (scp := _SCP.fullmatch(text)) is not None:
        text = f"{scp[1]}/{scp[2]}"
    return text.rstrip("/").removesuffix(".git").rstrip("/")


@dataclass(frozen=True, slots=True)
class MappedRepository:
    """A folder that replaces a repository, or a revision in it if `revision` is not empty."""

    url: str
    folder: Path
    revision: str = ""

    @property
    def place(self) -> tuple[str, str]:
        """The real path of the folder, and the revision."""
        return os.path.realpath(self.folder), self.revision


class RepoMap:
    """Replacements of remote inputs: folders by repository (`--repo-map`), and the providers of a caller.

    It records the folders that were used.

    Args:
        refresh: kinds that are fetched even if cached: `charts` of web servers, of registries (`oci`), or `all`.
    """

    def __init__(
        self, entries: Iterable[MappedRepository] = (), providers: Providers | None = None, refresh: Iterable[str] = ()
    ) -> None:
        self.providers = providers or Providers()
        self._refresh = frozenset(refresh)
        self._refreshed: set[Hashable] = set()
        self._entries = {repository_identity(entry.url): entry for entry in entries}
        self._used: set[str] = set()

    def find(self, url: str) -> MappedRepository | None:
        """Return the replacement of the repository of a URL."""
        key = repository_identity(url)
        entry = self._entries.get(key)
        if entry is not None:
            self._used.add(key)
        return entry

    def providing(self, providers: Providers) -> RepoMap:
        """Return the same map, which shares the record of uses, with other providers."""
        provided = RepoMap(self._entries.values(), providers, self._refresh)
        provided._used, provided._refreshed = self._used, self._refreshed
        return provided

    def refreshes(self, kind: str, name: Hashable) -> bool:
        """Check if an input is fetched even if it is cached. True once for each input."""
        if not self._refresh & {kind, "all"} or name in self._refreshed:
            return False
        self._refreshed.add(name)
        return True

    def unused(self) -> list[MappedRepository]:
        """Return the entries that were not used."""
        return [entry for key, entry in sorted(self._entries.items()) if key not in self._used]


_TREE = "=@"


def own_urls(texts: Iterable[str]) -> list[str]:
    """Return the URLs that values of `--repo-map` map to the tree itself: `URL=@`."""
    return [text.removesuffix(_TREE) for text in texts if text.endswith(_TREE)]


def parse_repo_map(texts: Iterable[str]) -> list[MappedRepository]:
    """Parse values of `--repo-map`: `URL=FOLDER` or `URL=FOLDER#REVISION`; see `own_urls` for the others.

    Raises:
        UsageError: CMD-ARGO-020, a value is invalid or has a missing folder, or two have different folders for a
            repository.
    """
    entries: dict[str, MappedRepository] = {}
    for text in texts:
        if text.endswith(_TREE):
            continue
        url, separator, rest = text.rpartition("=")
        path, _, revision = rest.partition("#")
        shown = redact(url)
        if not separator or not url or not path:
            raise _usage(f"--repo-map {redact(text)!r} must be URL=FOLDER")
        if not Path(path).is_dir():
            raise _usage(f"the folder {path} of --repo-map for {shown} does not exist")
        key = repository_identity(url)
        entry = MappedRepository(url, Path(path).absolute(), revision)
        known = entries.setdefault(key, entry)
        if known.place != entry.place:
            raise _usage(f"--repo-map has different folders for the repository {shown}")
    return list(entries.values())


def _usage(message: str) -> UsageError:
    return UsageError("CMD-ARGO-020", message, hint="write --repo-map https://git.example.com/team/shop=../shop")
