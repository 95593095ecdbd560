"""OCI artefacts with manifests: sources with `repoURL: oci://...` and without a chart."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from commodore.argocd.acquiring.charts import choose_version, open_registries, unpack_chart
from commodore.argocd.acquiring.providers import Providers
from commodore.argocd.acquiring.tags import is_range
from commodore.argocd.trees import Tree
from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, InputError, PolicyError
from commodore.base.files.workspace import remove_tree
from commodore.base.printable import printable
from commodore.core.results.caches import dependency_cache, usable
from commodore.core.sources.fetching import CacheKey, DependencyCache
from commodore.core.sources.fetching.archives import unpack
from commodore.core.sources.git import redact

if TYPE_CHECKING:
    from commodore.base.kubernetes.images import ImageReference
    from commodore.core.sources.oci import Registries

SCHEME = "oci://"
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_GZIP = "+gzip"


class Artefacts:
    """Fetches artefacts, and caches them by digest.

    Args:
        scratch: a folder of this run, in which they are unpacked.
        providers: queried first.
    """

    def __init__(self, context: Context, scratch: Path, providers: Providers) -> None:
        self._context = context
        self._scratch = scratch
        self._provider = providers.artefacts
        self._count = 0

    def tree(self, url: str, requested: str) -> tuple[Tree, str]:
        """Return the files of an artefact, and their `way`, see `Obtained`.

        Args:
            requested: a tag, a digest, or a range of versions of tags.

        Raises:
            InputError: CMD-ARGO-314, no tag matches.
            EnvironmentFault: CMD-ARGO-310, offline and not in the cache.
            PolicyError: CMD-ARGO-317, its archive is refused.
            CommodoreError: CMD-OCI-..., of a registry, see `Registries`.
        """
        digest = self._provider.resolve(url, requested) if self._provider is not None else None
        if self._provider is not None and digest is not None:
            return Tree(self._provider.tree(url, digest).resolve(), digest, redact(url)), "caller"
        self._count += 1
        folder = self._scratch / f"artefact-{self._count}"
        if _DIGEST.fullmatch(requested) and self._cache.copy(_key(url, requested), folder):
            return Tree(folder.resolve(), requested, redact(url)), "cache"
        if self._context.offline:
            raise EnvironmentFault(
                "CMD-ARGO-310",
                f"{redact(url)} at {printable(requested) or 'latest'} is not in the cache, and nothing is fetched "
                "offline",
                hint="run once without --offline with a digest, or map it with --repo-map",
            )
        digest, way = self._fetched(url, requested, folder)
        return Tree(folder.resolve(), digest, redact(url)), way

    @property
    def _cache(self) -> DependencyCache:
        return DependencyCache(usable(dependency_cache()), self._context.limits)

    def _fetched(self, url: str, requested: str, folder: Path) -> tuple[str, str]:
        """Unpack an artefact to a folder. Return its digest and its way."""
        from commodore.core.sources.oci import CHART, at_version, content_layer, parse_reference

        repository = parse_reference(url)
        with open_registries(self._context) as registries:
            reference = at_version(
                repository, requested if _DIGEST.fullmatch(requested) else _tag(registries, repository, requested)
            )
            manifest = registries.manifest(reference)
            if self._cache.copy(_key(url, manifest.digest), folder):
                return manifest.digest, "cache"
            layer = content_layer(reference, manifest)
            archive = registries.blob(reference, layer, self._context.limits.download_bytes)
        if layer.media_type == CHART:
            unpack_chart(archive, folder, str(reference), self._context)
        else:
            self._unpack(archive, folder, layer.media_type, str(reference))
        self._cache.add(_key(url, manifest.digest), folder)
        return manifest.digest, "fetched"

    def _unpack(self, archive: bytes, folder: Path, media_type: str, name: str) -> None:
        packed = media_type.endswith(_GZIP)
        file = folder.with_suffix(".tar.gz" if packed else ".tar")
        file.write_bytes(archive)
        try:
            unpack(file, folder, "application/gzip" if packed else "application/x-tar", self._context.limits)
        except (InputError, PolicyError, OSError, tarfile.TarError) as error:
            remove_tree(folder)
            why = error.message if isinstance(error, InputError | PolicyError) else str(error)
            raise PolicyError(
                "CMD-ARGO-317", f"the archive of {name} is refused: {why}", hint="ask its publisher"
            ) from error
        finally:
            file.unlink(missing_ok=True)


def _key(url: str, digest: str) -> CacheKey:
    return CacheKey("argocd artefact", redact(url), digest, "")


def _tag(registries: Registries, repository: ImageReference, requested: str) -> str:
    """Return the requested tag, or that of the newest version of a range."""
    if not is_range(requested):
        return requested or "latest"
    tags = registries.tags(repository)
    if requested in tags:
        return requested
    version = choose_version([tag.replace("_", "+") for tag in tags], requested)
    if version is None:
        raise InputError(
            "CMD-ARGO-314",
            f"{repository} has no version {printable(requested)}",
            hint=f"it has {', '.join(map(printable, tags[:10]))}",
        )
    return version
