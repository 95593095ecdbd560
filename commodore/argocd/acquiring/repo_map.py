"""Which folders stand for which repositories, and when two URLs mean one repository."""

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
    """What URLs of one repository have in common: no user, no `.git`, no `/` at the end, lower case."""
    text = url.strip().lower()
    scheme = _SCHEME.fullmatch(text)
    if scheme is not None:
        text = scheme[2] if scheme[1] == "ssh" else f"{scheme[1]}://{scheme[2]}"
    elif (scp := _SCP.fullmatch(text)) is not None:
        text = f"{scp[1]}/{scp[2]}"
    return text.rstrip("/").removesuffix(".git").rstrip("/")


@dataclass(frozen=True, slots=True)
class Mapped:
    """A folder that stands for a repository, or a revision in it if `revision` is not empty."""

    url: str
    folder: Path
    revision: str = ""

    @property
    def place(self) -> tuple[str, str]:
        """The folder, however it is written, and the revision."""
        return os.path.realpath(self.folder), self.revision


class RepoMap:
    """What stands for what is elsewhere: folders by repository (`--repo-map`), and what a caller provides.

    Remembers which folders were used.

    Args:
        anew: what is asked anew though the cache has it: `charts` of web servers, of registries (`oci`), or `all`.
    """

    def __init__(
        self, entries: Iterable[Mapped] = (), providers: Providers | None = None, anew: Iterable[str] = ()
    ) -> None:
        self.providers = providers or Providers()
        self._anew = frozenset(anew)
        self._asked: set[Hashable] = set()
        self._entries = {repository_identity(entry.url): entry for entry in entries}
        self._used: set[str] = set()

    def find(self, url: str) -> Mapped | None:
        """What stands for the repository of a URL."""
        key = repository_identity(url)
        entry = self._entries.get(key)
        if entry is not None:
            self._used.add(key)
        return entry

    def providing(self, providers: Providers) -> RepoMap:
        """The same map, and the same memory, with what a caller provides."""
        provided = RepoMap(self._entries.values(), providers, self._anew)
        provided._used, provided._asked = self._used, self._asked
        return provided

    def wants_anew(self, kind: str, name: Hashable) -> bool:
        """Whether something is asked for though the cache has it: each thing once."""
        if not self._anew & {kind, "all"} or name in self._asked:
            return False
        self._asked.add(name)
        return True

    def unused(self) -> list[Mapped]:
        """Entries that nothing has asked for."""
        return [entry for key, entry in sorted(self._entries.items()) if key not in self._used]


_TREE = "=@"


def own_urls(texts: Iterable[str]) -> list[str]:
    """The URLs that values of `--repo-map` say to be those of the tree itself: `URL=@`."""
    return [text.removesuffix(_TREE) for text in texts if text.endswith(_TREE)]


def parse_repo_map(texts: Iterable[str]) -> list[Mapped]:
    """The values of `--repo-map`: `URL=FOLDER` or `URL=FOLDER#REVISION`; see `own_urls` for the others.

    Raises:
        UsageError: CMD-ARGO-020, one has another form or names a missing folder, or two name different folders for a
            repository.
    """
    entries: dict[str, Mapped] = {}
    for text in texts:
        if text.endswith(_TREE):
            continue
        url, separator, rest = text.rpartition("=")
        path, _, revision = rest.partition("#")
        shown = redact(url)
        if not separator or not url or not path:
            raise _usage(f"--repo-map {redact(text)!r} is not URL=FOLDER")
        if not Path(path).is_dir():
            raise _usage(f"--repo-map names the folder {path} for {shown}, which is not there")
        key = repository_identity(url)
        entry = Mapped(url, Path(path).absolute(), revision)
        known = entries.setdefault(key, entry)
        if known.place != entry.place:
            raise _usage(f"--repo-map names different folders for the repository {shown}")
    return list(entries.values())


def _usage(message: str) -> UsageError:
    return UsageError("CMD-ARGO-020", message, hint="write --repo-map https://git.example.com/team/shop=../shop")
