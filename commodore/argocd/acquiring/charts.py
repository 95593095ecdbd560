"""Charts from chart repositories and from OCI registries."""

from __future__ import annotations

import contextlib
import hashlib
import re
import tarfile
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from commodore.argocd.acquiring.chart_index import ChartIndex
from commodore.argocd.acquiring.credentials import HINT
from commodore.argocd.acquiring.providers import Providers
from commodore.argocd.acquiring.tags import newest_tag
from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostic, Diagnostics
from commodore.base.errors import EnvironmentFault, InputError, PolicyError
from commodore.base.events import Obtained
from commodore.base.files.workspace import remove_tree
from commodore.base.printable import printable
from commodore.base.values.versions import is_exact
from commodore.core.confinement.policy import check_source
from commodore.core.results.caches import dependency_cache, usable
from commodore.core.sources.fetching import CacheKey, DependencyCache
from commodore.core.sources.fetching.archives import unpack
from commodore.core.sources.git import redact

if TYPE_CHECKING:
    from commodore.core.sources.oci import Registries

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(/[A-Za-z0-9._-]+)*")


@dataclass(frozen=True, slots=True)
class Chart:
    """The folder of a chart, and its version."""

    folder: Path
    version: str


@dataclass
class Charts:
    """Fetches charts, each once per run, and caches them.

    Args:
        scratch: a folder of this run, in which charts are unpacked.
        providers: queried before the cache and the network.
        diagnostics: collects indexes that may be outdated.
        refreshes: returns True for a kind and a name that is fetched even if it is cached, see `RepoMap`.
    """

    context: Context
    scratch: Path
    providers: Providers = field(default_factory=Providers)
    refreshes: Callable[[str, Hashable], bool] = lambda *_: False
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    _indexes: dict[str, ChartIndex] = field(default_factory=dict)
    _charts: dict[tuple[str, str, str], Chart] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def chart(self, repository: str, name: str, requested: str) -> Chart:
        """Return a chart of a repository at a version or the newest of a range.

        Raises:
            InputError: CMD-ARGO-314, no version matches; CMD-ARGO-315, the repository has no such chart.
            EnvironmentFault: it cannot be fetched, see `fetch`.
            PolicyError: CMD-ARGO-317, its archive is refused; CMD-ARGO-320, a URL is refused;
                CMD-CONF-011, something is link-local, or an index refers to this machine.
            CommodoreError: CMD-OCI-..., of a registry, see `Registries`.
        """
        if not _NAME.fullmatch(name) or ".." in name:
            raise InputError(
                "CMD-ARGO-315", f"invalid chart name {printable(name)!r}", hint="see the chart's repository"
            )
        url = repository.rstrip("/")
        key = (url, name, requested)
        with self._lock:
            if key not in self._charts:
                self._charts[key], way = self._find(url, name, requested)
                self.context.announce(Obtained(f"{redact(url)}/{name}", requested, self._charts[key].version, way))
            return self._charts[key]

    def _find(self, url: str, name: str, requested: str) -> tuple[Chart, str]:
        """Return a chart, and its `way`, see `Obtained`."""
        provider = self.providers.charts
        version = provider.resolve(url, name, requested) if provider is not None else None
        if provider is not None and version is not None:
            return Chart(provider.chart(url, name, version).resolve(), version), "caller"
        in_registry = url.startswith("oci://") or "://" not in url
        refresh = self.refreshes("oci" if in_registry else "charts", (url, name, requested))
        cached = self._cached(url, name, requested) if is_exact(requested) and not refresh else None
        if cached is not None:
            return cached, "cache"
        # The index of a repository may be cached, so that ranges can be resolved offline; tags of registries are not.
        if self.context.offline and (in_registry or (is_exact(requested) and self.providers.remotes is None)):
            raise EnvironmentFault(
                "CMD-ARGO-310",
                f"the chart {name} {printable(requested)} of {redact(url)} is not in the cache, and nothing is "
                "fetched offline",
                hint="run once without --offline",
            )
        if in_registry:
            return self._from_registry(url, name, requested, refresh)
        entry = self._entry(url, name, requested)
        version = str(entry.get("version"))
        chart = self._cached(url, name, version) if not refresh else None
        return (chart, "cache") if chart is not None else (self._download(url, name, version, entry), "fetched")

    def _entry(self, url: str, name: str, requested: str) -> Mapping[str, Any]:
        entries = self._index(url).entries(name)
        if not isinstance(entries, list) or not entries:
            raise InputError(
                "CMD-ARGO-315", f"{redact(url)} has no chart {name}", hint="check the chart's name and repository"
            )
        versions = {str(entry.get("version")): entry for entry in entries if isinstance(entry, Mapping)}
        return versions[_chosen(list(versions), url, name, requested)]

    def _from_registry(self, url: str, name: str, requested: str, refresh: bool) -> tuple[Chart, str]:
        from commodore.core.sources.oci import CHART, at_version, content_layer, parse_reference

        repository = parse_reference(f"{url}/{name}")
        with open_registries(self.context) as registries:
            version = requested
            if not is_exact(requested):
                tags = [tag.replace("_", "+") for tag in registries.tags(repository)]
                version = _chosen(tags, url, name, requested)
                cached = self._cached(url, name, version) if not refresh else None
                if cached is not None:
                    return cached, "cache"
            reference = at_version(repository, version)
            layer = content_layer(reference, registries.manifest(reference), [CHART])
            archive = registries.blob(reference, layer, self.context.limits.download_bytes)
        return self._unpacked(archive, url, name, version), "fetched"

    def _index(self, url: str) -> ChartIndex:
        if url not in self._indexes:
            self._indexes[url] = ChartIndex(self._index_text(url), f"{redact(url)}/index.yaml")
        return self._indexes[url]

    def _index_text(self, url: str) -> bytes:
        """Return the index of a repository; offline the one fetched last."""
        file = self.scratch / f"index-{len(self._indexes)}" / "index.yaml"
        key = CacheKey("argocd index", redact(url), "last")
        try:
            text = self._fetch(f"{url}/index.yaml", self.context.limits.argocd_index_bytes)
        except EnvironmentFault as error:
            if error.code != "CMD-ARGO-310" or not self._store.copy(key, file.parent):
                raise
            self.context.announce(Obtained(f"{redact(url)}/index.yaml", "", "", "cache"))
            then = datetime.fromtimestamp(file.stat().st_mtime, UTC)
            self.diagnostics.add(
                Diagnostic(
                    "CMD-ARGO-321",
                    f"the index of {redact(url)} was fetched at {then:%Y-%m-%d %H:%M} UTC; there may be newer versions",
                    "warning",
                    "run without --offline to fetch it again",
                )
            )
            return file.read_bytes()
        if self.providers.remotes is None:
            file.parent.mkdir()
            file.write_bytes(text)
            self._store.add(key, file.parent, anew=True)
        return text

    @property
    def _store(self) -> DependencyCache:
        return DependencyCache(usable(dependency_cache()), self.context.limits)

    def _download(self, url: str, name: str, version: str, entry: Mapping[str, Any]) -> Chart:
        urls = entry.get("urls")
        if not isinstance(urls, list) or not urls or not isinstance(urls[0], str):
            raise InputError("CMD-ARGO-315", f"{redact(url)} has no URL of {name} {version}", hint="ask its publisher")
        address = urljoin(f"{url}/", urls[0])
        check_source(address, f"the archive of the chart {name} {version}", named_by=url)
        archive = self._fetch(address, self.context.limits.download_bytes, url)
        digest = str(entry.get("digest") or "").removeprefix("sha256:")
        if digest and hashlib.sha256(archive).hexdigest() != digest:
            raise PolicyError(
                "CMD-ARGO-317",
                f"the archive of the chart {name} {version} differs from the digest in the index of {redact(url)}",
                hint="it was changed after publication; ask its publisher",
            )
        return self._unpacked(archive, url, name, version)

    def _fetch(self, url: str, size: int, named_by: str = "") -> bytes:
        from commodore.argocd.acquiring.web import fetch

        return fetch(url, self.context, size, self.providers.remotes, named_by=named_by)

    def _unpacked(self, archive: bytes, url: str, name: str, version: str) -> Chart:
        folder = self.scratch / f"chart-{len(self._charts)}"
        unpack_chart(archive, folder, f"{name} {version}", self.context)
        # A downloaded chart was not in the cache, or is refreshed.
        self._cache(lambda cache, key: cache.add(key, folder, anew=True), url, name, version)
        return Chart(folder, version)

    def _cached(self, url: str, name: str, version: str) -> Chart | None:
        folder = self.scratch / f"chart-{len(self._charts)}"
        if not self._cache(lambda cache, key: cache.copy(key, folder), url, name, version):
            return None
        return Chart(folder, version)

    def _cache(self, use: Callable[[DependencyCache, CacheKey], Any], url: str, name: str, version: str) -> Any:
        return use(self._store, CacheKey("argocd chart", redact(url), version, name))


@contextlib.contextmanager
def open_registries(context: Context) -> Iterator[Registries]:
    """Open a client of registries.

    Raises:
        EnvironmentFault: CMD-ARGO-312, a registry requires credentials.
    """
    from commodore.core.sources.oci import Registries

    registries = Registries(context)
    try:
        yield registries
    except EnvironmentFault as error:
        if error.code != "CMD-OCI-003":
            raise
        raise EnvironmentFault("CMD-ARGO-312", error.message, hint=HINT) from error
    finally:
        registries.close()


def _chosen(versions: list[str], url: str, name: str, requested: str) -> str:
    version = choose_version(versions, requested)
    if version is None:
        raise InputError(
            "CMD-ARGO-314",
            f"{redact(url)} has no version {printable(requested)} of the chart {name}",
            hint=f"it has {', '.join(versions[:10])}",
        )
    return version


def choose_version(versions: list[str], requested: str) -> str | None:
    """Return the requested version, with or without a leading `v`, or the newest of a range; None if none matches."""
    for version in (requested, requested.removeprefix("v"), f"v{requested}"):
        if version in versions:
            return version
    return newest_tag(versions, requested)


def unpack_chart(archive: bytes, folder: Path, name: str, context: Context) -> None:
    """Unpack the archive of a chart; its only top-level folder becomes `folder`.

    Raises:
        PolicyError: CMD-ARGO-317, it is damaged, has several top-level folders, or members outside of them.
    """
    place = folder.with_name(f"{folder.name}-archive")
    file = place.with_suffix(".tgz")
    file.write_bytes(archive)
    try:
        unpack(file, place, "application/gzip", context.limits)
        tops = sorted(place.iterdir())
        if len(tops) != 1 or not tops[0].is_dir() or tops[0].is_symlink():
            raise _bad_archive(name, "it must have exactly one top-level folder")
        tops[0].rename(folder)
    except (InputError, PolicyError) as error:
        if error.code == "CMD-ARGO-317":
            raise
        raise _bad_archive(name, error.message) from error
    except (OSError, tarfile.TarError) as error:
        raise _bad_archive(name, str(error)) from error
    finally:
        file.unlink(missing_ok=True)
        remove_tree(place)


def _bad_archive(name: str, why: str) -> PolicyError:
    return PolicyError(
        "CMD-ARGO-317", f"the archive of the chart {name} is refused: {why}", hint="ask the chart's publisher"
    )
