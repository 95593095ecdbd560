"""In-memory providers for tests of callers. Nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from commodore.argocd.acquiring import PluginSource
from commodore.base.errors import InputError

Files = Mapping[str, str]
"""The contents of files, by path."""


class MemoryGit:
    """A provider of repositories.

    Args:
        folder: an empty folder, to which files are written.
        repositories: the files, by URL and revision; the empty revision is the default branch.
    """

    def __init__(self, folder: Path, repositories: Mapping[str, Mapping[str, Files]]) -> None:
        self._folder = folder
        self._repositories = repositories

    def resolve(self, url: str, revision: str) -> str | None:
        """See `GitProvider`. A revision is its own commit."""
        known = self._repositories.get(url)
        if known is None:
            return None
        key = "" if revision == "HEAD" else revision
        if key not in known:
            raise InputError(
                "CMD-ARGO-313", f"the revision {revision!r} of {url} is unknown", hint="add it to the test"
            )
        return key or "HEAD"

    def tree(self, url: str, commit: str) -> Path:
        """See `GitProvider`."""
        files = self._repositories[url]["" if commit == "HEAD" else commit]
        return _written(self._folder / f"{list(self._repositories).index(url)}-{commit.replace('/', '-')}", files)


class MemoryCharts:
    """A provider of charts.

    Args:
        folder: an empty folder, to which files are written.
        charts: the files by repository, name and version.
    """

    def __init__(self, folder: Path, charts: Mapping[tuple[str, str, str], Files]) -> None:
        self._folder = folder
        self._charts = charts

    def resolve(self, repository: str, name: str, requested: str) -> str | None:
        """See `ChartProvider`. Versions are exact."""
        return requested if (repository, name, requested) in self._charts else None

    def chart(self, repository: str, name: str, version: str) -> Path:
        """See `ChartProvider`."""
        key = (repository, name, version)
        return _written(self._folder / f"chart-{list(self._charts).index(key)}", self._charts[key])


class MemoryArtefacts:
    """A provider of OCI artefacts.

    Args:
        folder: an empty folder, to which files are written.
        artefacts: the files by URL and tag; a tag is its own digest.
    """

    def __init__(self, folder: Path, artefacts: Mapping[tuple[str, str], Files]) -> None:
        self._folder = folder
        self._artefacts = artefacts

    def resolve(self, url: str, requested: str) -> str | None:
        """See `ArtefactProvider`. Tags are exact."""
        return requested if (url, requested) in self._artefacts else None

    def tree(self, url: str, digest: str) -> Path:
        """See `ArtefactProvider`."""
        key = (url, digest)
        return _written(self._folder / f"artefact-{list(self._artefacts).index(key)}", self._artefacts[key])


class MemoryRemotes:
    """A provider of files of web servers.

    Attributes:
        requests: the requested URLs, in their order.
    """

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self._contents = contents
        self.requests: list[str] = []

    def fetch(self, url: str) -> bytes | None:
        """See `RemoteProvider`."""
        self.requests.append(url)
        return self._contents.get(url)


class MemoryClock:
    """A clock with a fixed time."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment

    def now(self) -> datetime:
        """See `Clock`."""
        return self._moment


class MemoryPlugin:
    """A plugin that returns fixed objects for each source.

    Attributes:
        requests: the rendered sources.
    """

    def __init__(self, name: str, objects: Iterable[Mapping[str, Any]]) -> None:
        self._name = name
        self._objects = list(objects)
        self.requests: list[PluginSource] = []

    def fits(self, source: PluginSource) -> bool:
        """See `PluginRenderer`."""
        return source.plugin.get("name") == self._name

    def render(self, source: PluginSource) -> Iterable[Mapping[str, Any]]:
        """See `PluginRenderer`."""
        self.requests.append(source)
        return self._objects


def _written(folder: Path, files: Files) -> Path:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder
