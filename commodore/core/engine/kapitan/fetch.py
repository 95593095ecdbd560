"""Fetch Kapitan dependencies with Kapitan's own functions. Runs in workers only.

Each task has a download folder of its own: Kapitan would put two versions of a chart into one folder otherwise.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from kapitan.dependency_manager import base
from kapitan.errors import GitSubdirNotFoundError
from kapitan.inventory.model import dependencies as models

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault, InputError, PolicyError
from commodore.base.files.sealed import read_note, write_note
from commodore.base.yaml import load
from commodore.core.confinement import TrustPolicy
from commodore.core.engine.cache.fetched_files import FetchedFiles
from commodore.core.engine.cache.keys import SOURCE
from commodore.core.engine.cache.remote_identity import CachedSources, SourceIdentities, source_key
from commodore.core.engine.kapitan import fetch_git
from commodore.core.engine.kapitan.chart_index import check_chart
from commodore.core.engine.kapitan.errors import tail
from commodore.core.engine.tasks import BatchRun, Failure, FetchTask, KapitanDependency
from commodore.core.sources.fetching import CacheKey, DependencyCache, Downloads, RemoteDependencies, chart_key
from commodore.core.sources.fetching import archives as _archives
from commodore.core.sources.fetching.web import FETCH_HINT, get_download
from commodore.core.sources.git import redact, redact_text

_MODELS = {
    "helm": models.KapitanDependencyHelmConfig,
    "git": models.KapitanDependencyGitConfig,
    "http": models.KapitanDependencyHttpsConfig,
    "https": models.KapitanDependencyHttpsConfig,
    "oci": models.KapitanDependencyOciConfig,
}


def fetch_groups(
    task: FetchTask, remote: RemoteDependencies | None
) -> tuple[tuple[Failure, ...], tuple[CacheKey, ...]]:
    """Fetch every group of a task.

    Args:
        remote: dependencies fetched by other machines; None without remote stores.

    Returns:
        The failed groups; and the additions to the cache that other machines may use.
    """
    context, cache = task.run.context(), _cache(task.run, remote)
    _install(task.run, cache)
    failures: list[Failure] = []
    task.place.mkdir(parents=True)
    files = FetchedFiles(task.run.request.root, {item.output for group in task.groups for item in group.items})
    for group in task.groups:
        try:
            if task.run.request.offline:
                _take(group.items, task)
            else:
                _fetch(group.items, task.place, cache, context, task.run.policy)
            if group.items[0].kind == "git":
                for item in group.items:
                    fetch_git.remove_leftovers(item.output, _roots(task.run), context)
        except Exception as error:
            failures.append(Failure(group.units, _explain(error, group.items[0])))
    files.conclude(complete=not failures)
    return tuple(failures), tuple(cache.added) if cache is not None else ()


def chart_source(run: BatchRun, remote: RemoteDependencies | None) -> ChartSource:
    """Return the source of the charts of a run.

    Args:
        remote: dependencies fetched by other machines; None without remote stores.
    """
    return ChartSource(run, _cache(run, remote))


def _cache(run: BatchRun, remote: RemoteDependencies | None) -> DependencyCache | None:
    root = run.dependency_cache
    return DependencyCache(root, run.limits, remote) if root is not None else None


def _roots(run: BatchRun) -> tuple[Path, ...]:
    return (run.request.root, run.request.output, *(job.directory for job in run.jobs.values()))


def _fetch(
    group: tuple[KapitanDependency, ...],
    place: Path,
    cache: DependencyCache | None,
    context: Context,
    policy: TrustPolicy,
) -> None:
    first, folder = group[0], str(place)
    items = [
        _MODELS[item.kind](type=item.kind, source=item.source, output_path=str(item.output), **item.fields)
        for item in group
    ]
    if first.kind == "helm":
        fields = first.fields
        source = base.HelmSource(first.source, fields["chart_name"], fields["version"], fields["helm_path"])
        for argument in (first.source, fields["chart_name"], fields["version"] or ""):
            _refuse_option(argument)
        base.fetch_helm_chart((source, items), folder, True)
    elif first.kind == "git":
        for argument in (first.source, *(item.fields["ref"] or "" for item in group)):
            _refuse_option(argument)
        fetch_git.fetch(first.source, items, place, cache, context, policy)
    elif first.kind == "oci":
        base.fetch_oci_dependency((first.source, items), folder, True)
    else:
        base.fetch_http_dependency((first.source, items), folder, True)


def _take(group: tuple[KapitanDependency, ...], task: FetchTask) -> None:
    """Copy dependencies to their output paths from the cache only."""
    run = task.run
    sources, kept = (
        SourceIdentities(run.dependency_cache, run.context()),
        CachedSources(run.dependency_cache, run.limits),
    )
    for number, item in enumerate(group):
        key = source_key({"type": item.kind, "source": item.source, **item.fields})
        identity = sources.digest(key) if key is not None else None
        taken = task.place / f"taken-{number}"
        is_file = key is not None and key[1] == "http"
        if key is None or identity is None or not kept.copy(key, identity, item.output if is_file else taken):
            raise _not_there()
        if not is_file:
            base.copy_tree(str(taken), str(item.output), clobber_files=True)


def _not_there() -> EnvironmentFault:
    return EnvironmentFault(
        "CMD-ENG-057",
        "it is not in the cache of dependencies, and nothing is fetched offline",
        hint="run once without --offline",
    )


def _refuse_option(argument: str) -> None:
    if argument.startswith("-"):
        raise PolicyError(
            "CMD-ENG-025",
            f"{argument!r} would be read as an option",
            hint="sources, versions and chart names must not begin with '-'",
        )


def _explain(error: Exception, first: KapitanDependency) -> CommodoreError:
    chart = f" {first.fields['chart_name']} {first.fields['version'] or 'latest'}" if first.kind == "helm" else ""
    message = f"cannot fetch the {first.kind} dependency{chart} from {redact(first.source)}"
    if isinstance(error, CommodoreError):
        return error.about(message)
    reason = redact_text(_reason(error))
    if isinstance(error, GitSubdirNotFoundError):
        return InputError("CMD-ENG-026", f"{message}: {reason}", hint="check the dependency's subdir and ref")
    if isinstance(error, ImportError):
        return EnvironmentFault("CMD-ENG-027", f"{message}: {reason}", hint="install the package it names")
    return EnvironmentFault(
        "CMD-ENG-028",
        f"{message}: {reason}",
        hint=FETCH_HINT,
    )


def _reason(error: Exception) -> str:
    text = getattr(error, "stderr", None) or str(error)
    return tail(str(text)) if str(text).strip() else type(error).__name__


_UNREACHED = ("CMD-GIT-002", "CMD-GIT-004", "CMD-GIT-005")
"""Errors of git for a repository that cannot be fetched; the others are about limits."""

_pull_chart = base.fetch_helm_archive
_VERSION = "version of a chart"


class ChartSource:
    """A source of charts: the cache, or helm, after the URLs in the index of their repository are checked.

    Args:
        run: the run, with policy and limits.
        cache: the cache of dependencies; None fetches all of them again.
    """

    def __init__(self, run: BatchRun, cache: DependencyCache | None) -> None:
        self._run = run
        self._cache = cache

    def pull(self, helm: str | None, repository: str, chart: str, version: str | None, target: str) -> None:
        """Replace Kapitan's function: write a chart to the new folder `target`.

        Args:
            helm: the program; None for the one in PATH.
            repository: its URL; for registries (`oci://`), that of the chart.
            version: exact or a range; None for the newest one.
        """
        key = chart_key(repository, chart, version)
        if self._cache is not None and key is not None and self._cache.copy(key, Path(target)):
            return
        if repository.startswith(("http://", "https://")):
            check_chart(repository, chart, version, self._run.policy, self._run.context())
        _pull_chart(helm, repository, chart, version, target)
        if self._cache is not None and key is not None:
            self._cache.add(key, Path(target))

    def bring(self, repository: str, chart: str, version: str | None, target: Path, helm: str | None) -> bool:
        """Write a chart's dependency to the new folder `target`.

        Returns:
            True if its version is exact, so that it is always the same. Of a range the newest version is used, offline
            the newest one at the time of the last fetch.

        Raises:
            CommodoreError: it cannot be fetched, or the policy does not allow it.
        """
        source = f"{repository}/{chart}" if repository.startswith("oci://") else repository
        item = KapitanDependency("", 0, "helm", source, target, {"chart_name": chart, "version": version})
        is_fixed = chart_key(source, chart, version) is not None
        try:
            for argument in (source, chart, version or ""):
                _refuse_option(argument)
            self._run.check_host(source, "it")
            if self._run.request.offline:
                exact = version if is_fixed else self._last(item)
                key = chart_key(source, chart, exact)
                if self._cache is None or key is None or not self._cache.copy(key, target):
                    raise _not_there()
                return is_fixed
            self.pull(helm, source, chart, version, str(target))
        except Exception as error:
            raise _explain(error, item) from error
        if not is_fixed:
            self._remember(item)
        return is_fixed

    def _last(self, item: KapitanDependency) -> str | None:
        """Return the version that was used the last time."""
        version = read_note(self._note(item), _VERSION).get("version")
        return version if isinstance(version, str) else None

    def _remember(self, item: KapitanDependency) -> None:
        metadata = load((item.output / "Chart.yaml").read_bytes(), place="Chart.yaml")
        version = str(metadata.get("version")) if isinstance(metadata, dict) else None
        key = chart_key(item.source, item.fields["chart_name"], version)
        if self._cache is not None and key is not None:
            self._cache.add(key, item.output)
            write_note(self._note(item), {"version": version}, _VERSION)

    def _note(self, item: KapitanDependency) -> Path:
        assert self._run.dependency_cache is not None, "there is a cache"
        name = hashlib.sha256(json.dumps(item.group).encode()).hexdigest()
        return self._run.dependency_cache / "chart-versions" / name


def _install(run: BatchRun, cache: DependencyCache | None) -> None:
    """Replace Kapitan's functions: smaller clones, limited downloads, checked archives, and charts from the cache."""

    limits, context = run.limits, run.context()
    downloads = Downloads(run.dependency_cache, run.limits) if run.dependency_cache is not None else None

    def download(source: str) -> tuple[bytes, str]:
        known = run.sources.get(SOURCE.key("http", source))
        cached = downloads.find(source, known) if downloads is not None and known is not None else None
        return cached or _download(source, context, run.check_host)

    def unpack(file: str, folder: str, content_type: str | None) -> bool:
        return _archives.unpack(Path(file), Path(folder), content_type, limits)

    def clone(source: str, folder: str, _kind: str) -> None:
        _clone(source, folder, context)

    base.fetch_git_source = clone
    base.fetch_helm_archive = ChartSource(run, cache).pull
    base.make_request = download
    base.unpack_downloaded_file = unpack


def _clone(source: str, folder: str, context: Context) -> None:
    """Clone a whole repository, as Kapitan does, without the default branch's files: each dependency checks out its
    ref.
    """
    try:
        fetch_git.clone_whole(source, Path(folder), context)
    except EnvironmentFault as error:
        if error.code not in _UNREACHED:
            raise
        raise EnvironmentFault("CMD-ENG-028", error.message, hint=error.hint or FETCH_HINT) from error
    repository = base.Repo(folder)
    if repository.head.is_detached:  # Kapitan has no default branch to fall back to
        repository.git.checkout()


def _download(source: str, context: Context, check: Callable[[str], None]) -> tuple[bytes, str]:
    answer = get_download(source, context, check=check)
    if answer.status >= 400:
        raise EnvironmentFault("CMD-ENG-028", f"the server answered {answer.status} {answer.phrase}", hint=FETCH_HINT)
    return answer.body, answer.headers.get("Content-Type", "application/octet-stream")
