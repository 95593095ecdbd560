"""Current identities of sources of files: the commit of a ref, the digest of a download.

A chart of an exact version and a commit are immutable and need no lookup. A branch or tag needs one `git ls-remote`, a
file on a web server one conditional request, whose last response is stored.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.files.sealed import read_note, write_note
from commodore.base.files.workspace import write_atomically
from commodore.base.limits import Limits
from commodore.base.programs.threads import threads
from commodore.base.values.commits import is_commit
from commodore.core.engine.cache.keys import SOURCE, Key
from commodore.core.engine.cache.portable_paths import tree_digest
from commodore.core.sources import git
from commodore.core.sources.fetching import (
    CacheKey,
    DependencyCache,
    Downloads,
    RemoteDependencies,
    chart_key,
    commit_key,
)

NO_REF = "\0default"
_COMMIT = "commit"


def source_keys(node: Mapping[str, Any]) -> list[Key] | None:
    """Return the keys of the sources of an instance's Kapitan dependencies; None if one cannot be observed.

    Args:
        node: the instance's rendered node, not validated.
    """
    settings = node["parameters"].get("kapitan")
    entries = settings.get("dependencies") if isinstance(settings, dict) else None
    keys: list[Key] = []
    for entry in entries if isinstance(entries, list) else []:
        key = source_key(entry) if isinstance(entry, dict) else None
        if key is None:
            return None
        keys.append(key)
    return keys


def source_key(entry: Mapping[str, Any]) -> Key | None:
    """Return the key of a dependency's source; None if it cannot be observed. The fields are those of a class file."""
    source = entry.get("source")
    if not isinstance(source, str) or "?" in source or "#" in source or git.redact(source) != source:
        return None
    if entry.get("type") == "helm":
        version = entry.get("version")
        chart = chart_key(source, str(entry.get("chart_name")), str(version) if version is not None else None)
        return SOURCE.key("helm", source, chart.detail, chart.version) if chart is not None else None
    if entry.get("type") == "git":
        if not os.path.isabs(source) and ":" not in source:
            return None  # relative to the current folder, so not the same in another one
        ref, submodules = entry.get("ref"), str(bool(entry.get("submodules")))
        return SOURCE.key(
            "git",
            source,
            NO_REF if ref is None else str(ref),
            submodules,
            str(entry.get("subdir") or ""),
        )
    if entry.get("type") in ("http", "https") and not entry.get("unpack"):
        return SOURCE.key("http", source)
    return None


def is_download(file: Path, digest: str) -> bool:
    """Check if a file has the content and mode of a fresh download."""
    return tree_digest(str(file), modes=True) == f"{digest} 644"


def cache_key(key: Key, identity: str) -> CacheKey | None:
    """Return the key of a source in the dependency cache, given its identity."""
    _, kind, source, *rest = key
    if kind == "helm":
        chart, version = rest
        return chart_key(source, chart, version)
    ref, submodules, folder = rest
    commit = ref if is_commit(ref) else identity
    return commit_key(source, commit, submodules=submodules == "True", folder=folder)


class CachedSources:
    """The cached files of sources, by source and identity.

    Args:
        cache: the folder of the cache, None without one.
        remote: dependencies fetched by other machines; None without remote stores.
    """

    def __init__(self, cache: Path | None, limits: Limits, remote: RemoteDependencies | None = None) -> None:
        self._folders = DependencyCache(cache, limits, remote) if cache is not None else None
        self._downloads = Downloads(cache, limits) if cache is not None else None

    def bring(self, sources: Iterable[tuple[Key, str]]) -> None:
        """Copy missing files of sources with these identities from remote stores, all at once."""
        if self._folders is not None and self._folders.is_shared:
            keys = [cache_key(key, identity) for key, identity in sources if key[1] != "http"]
            self._folders.bring([key for key in keys if key is not None])

    def holds(self, key: Key, identity: str, output: Path, unless: Callable[[str], bool]) -> bool:
        """Check if a folder or file has exactly the content of a source, ignoring paths for which `unless` is True."""
        if key[1] == "http":
            return is_download(output, identity)
        entry = cache_key(key, identity)
        return self._folders is not None and entry is not None and self._folders.holds(entry, output, unless)

    def copy(self, key: Key, identity: str, target: Path) -> bool:
        """Copy the files of a source to a new path. Returns False if they are not cached.

        Raises:
            EnvironmentFault: the operating system refused.
        """
        if key[1] == "http":
            download = self._downloads.find(key[2], identity) if self._downloads is not None else None
            if download is not None:
                write_atomically(target, download[0])
            return download is not None
        entry = cache_key(key, identity)
        return self._folders is not None and entry is not None and self._folders.copy(entry, target)


class SourceIdentities:
    """Looks up the identities of sources, each once.

    Args:
        cache: the folder of the last responses, None without one.
        context: if it is offline, the last responses are used.
    """

    def __init__(self, cache: Path | None, context: Context) -> None:
        self._downloads = Downloads(cache, context.limits) if cache is not None else None
        self._commits = cache / "commits" if cache is not None else None
        self._context = context
        self.offline = context.offline
        self.known: dict[Key, str | None] = {}

    def ask(self, keys: Iterable[Key], check: Callable[[str], None] | None = None) -> None:
        """Look up the identities of these sources, all at once.

        Args:
            check: raises an error for a URL that must not be requested; its sources have no identity.
        """
        unknown = [key for key in dict.fromkeys(keys) if key not in self.known]
        waiting = [key for key in unknown if _needs_network(key)]
        for key in unknown:
            if key not in waiting:
                self.known[key] = "fixed"
        if not waiting:
            return
        with threads(min(len(waiting), self._context.limits.fetch_workers), self._context, "identity") as (pool, _):
            self.known.update(zip(waiting, pool.map(lambda key: self._ask(key, check), waiting), strict=True))

    def digest(self, key: Key) -> str | None:
        """Return the current identity of a source; None if it is unknown."""
        self.ask([key])
        return self.known[key]

    def tell(self, key: Key, commit: str) -> None:
        """Set the commit of a git source that was just fetched without a lookup, as the last
        response for offline runs.
        """
        if self.known.get(key) is None and _needs_network(key) and not self.offline:
            self.known[key] = commit
            self._remember(key, commit)

    def _ask(self, key: Key, check: Callable[[str], None] | None) -> str | None:
        try:
            if check is not None:
                check(key[2])
        except CommodoreError:
            return None
        if key[1] == "http":
            if self._downloads is None:
                return None
            if self.offline:
                return self._downloads.last(key[2])
            return self._downloads.digest(key[2], self._context, check)
        if self.offline:
            return self._last_commit(key)
        commits = commits_of(key[2], [None if key[3] == NO_REF else key[3]], self._context)
        if commits is None:
            return None
        (commit,) = commits.values()
        self._remember(key, commit)
        return commit

    def _last_commit(self, key: Key) -> str | None:
        commit = read_note(self._commit_file(self._commits, key), _COMMIT).get("commit") if self._commits else None
        return commit if isinstance(commit, str) and is_commit(commit) else None

    def _remember(self, key: Key, commit: str) -> None:
        if self._commits is not None:
            write_note(self._commit_file(self._commits, key), {"commit": commit}, _COMMIT)

    @staticmethod
    def _commit_file(folder: Path, key: Key) -> Path:
        return folder / hashlib.sha256(json.dumps(key[2:4]).encode()).hexdigest()


def _needs_network(key: Key) -> bool:
    if key[1] == "helm":
        return False
    return key[1] == "http" or not is_commit(key[3])


def commits_of(source: str, refs: Sequence[str | None], context: Context) -> dict[str | None, str] | None:
    """Return the commit of each ref of a repository, None if one is unknown. A full commit id needs no lookup, the
    others one request together. The ref None is the default branch.
    """
    known: dict[str | None, str] = {ref: ref for ref in refs if ref is not None and is_commit(ref)}
    names = [ref for ref in dict.fromkeys(refs) if ref not in known]
    if not names:
        return known
    patterns = ["HEAD"]
    for name in names:
        if name is not None:
            patterns += [f"refs/heads/{name}", f"refs/tags/{name}", f"refs/tags/{name}^{{}}"]
    try:
        asking = git.Git(Path.cwd(), context).authenticated(source)
        answer = asking.run(["ls-remote", "--symref", "--", git.bare_url(source), *patterns]).text
    except CommodoreError:
        return None
    commits: dict[str, str] = {}
    default = ""
    for line in answer.splitlines():
        value, _, name = line.partition("\t")
        if value.startswith("ref: ") and name == "HEAD":
            default = value.removeprefix("ref: ")
        else:
            commits[name] = value
    for name in names:
        commit = next((commits[full] for full in _spellings(name, default) if full in commits), None)
        if commit is None:
            return None
        known[name] = commit
    return known


def _spellings(name: str | None, default: str) -> list[str]:
    """Return the full refs of a name in the order of `git checkout NAME` in a fresh clone: the default branch, a tag,
    another branch.
    """
    if name is None:
        return ["HEAD"]
    branch, tags = f"refs/heads/{name}", [f"refs/tags/{name}^{{}}", f"refs/tags/{name}"]
    return [branch, *tags] if branch == default else [*tags, branch]
