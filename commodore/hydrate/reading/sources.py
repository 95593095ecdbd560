"""Sources of Applications: files, folders and remote repositories."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from commodore.argocd import (
    ArgoSettings,
    Expander,
    Facts,
    Providers,
    RepoMap,
    Repositories,
    is_of_argo,
    read_candidates,
    read_file,
    read_set,
)
from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostic, Diagnostics
from commodore.base.errors import CommodoreError, InputError, Location, raise_all
from commodore.base.files.staging import temporary_folder
from commodore.base.files.tree import walk
from commodore.base.limits import Limits
from commodore.base.yaml.kube_scalars import Problem
from commodore.base.yaml.kube_yaml import DocumentLocation, read_placed_documents
from commodore.core.sources.git import Author, RepositoryStore, check_out_tree, repository_key
from commodore.hydrate.branches.texts import NO_TEXTS, Texts
from commodore.hydrate.model import revision_of
from commodore.hydrate.reading.applications import API_VERSION, CONFIG_KIND, is_hydrated, read_config

_ENDINGS = (".yaml", ".yml", ".json")
_PROJECT, _STRATEGY, _SET = "AppProject", "PromotionStrategy", "ApplicationSet"
_LOCAL = "file://"
_INSTALLATION = ("ConfigMap", "ArgoCD")
_MARKS = tuple(
    item.encode() for item in ("sourceHydrator", CONFIG_KIND, _PROJECT, _STRATEGY, "argocd-cm", *_INSTALLATION[1:])
)

Placed = tuple[Mapping[str, Any], Location]


@dataclass(frozen=True, slots=True)
class Sources:
    """The content of the sources.

    Attributes:
        applications: Applications with a source hydrator and their places, in the order of the files.
        sets: ApplicationSets with a source hydrator in their template; `expanded` turns them into Applications.
        projects, strategies: AppProjects, and PromotionStrategies of gitops-promoter.
        protect: patterns of branches that may be written; empty for all.
        texts, author: of a `hydrate.yaml`.
        installation: the ConfigMaps of Argo CD, and the resources that its operator generates them from.
        unread: files that look like templates of other programs.
    """

    applications: tuple[Placed, ...]
    sets: tuple[Placed, ...] = ()
    projects: tuple[Placed, ...] = ()
    strategies: tuple[Placed, ...] = ()
    protect: tuple[str, ...] = ()
    texts: Texts = NO_TEXTS
    author: Author | None = None
    installation: tuple[Placed, ...] = ()
    unread: tuple[Diagnostic, ...] = ()


_REMOTE = re.compile(r"(?P<url>[a-z+]+://[^/]*/[^@:]+)(?:@(?P<revision>[^:]+))?(?::(?P<path>.+))?")


@dataclass(frozen=True, slots=True)
class RemoteSource:
    """A folder of a repository with Applications.

    Attributes:
        revision: None for the default branch.
        path: empty for the whole repository.
    """

    url: str
    revision: str | None
    path: str

    def fetch(self, store: RepositoryStore, folder: Path, dry_sha: str = "") -> None:
        """Write the files to a new folder.

        Args:
            dry_sha: the hydrated commit; used as the revision of a source without revision, if the repository has it.

        Raises:
            CommodoreError: the repository is unreachable, or the revision or folder is missing.
        """
        repository = store.repository(self.url)
        store.sync([(self.url, self.revision)])
        known = bool(dry_sha) and self.revision is None and repository.has_commits([dry_sha])
        sha = dry_sha if known else repository.resolve(self.revision).sha
        repository.export_tree(sha, self.path, folder)


def read_remote(text: str) -> RemoteSource | None:
    """Parse `URL[@REVISION][:PATH]`; None if it is not a URL."""
    result = _REMOTE.fullmatch(text)
    return RemoteSource(result["url"], result["revision"], (result["path"] or "").strip("/")) if result else None


def read_sources(paths: Iterable[Path], limits: Limits, shown: Mapping[Path, str] = MappingProxyType({})) -> Sources:
    """Read the Applications with source hydrators, and the objects related to them, from files and from all YAML and
    JSON files below folders. The path `-` is standard input.

    Args:
        shown: display names of folders.

    Raises:
        InputError: CMD-HYD-001, no Application; CMD-HYD-002, an invalid `hydrate.yaml`; CMD-ARGO-101, an unreadable
            file.
    """
    given = list(paths)
    result = Sources(())
    for file in _files(given, limits):
        content = _standard_input(limits) if str(file) == "-" else read_file(file, limits)
        if not any(mark in content for mark in _MARKS):
            continue
        place = _shown(file, shown)
        twice: list[Problem] = []
        try:
            documents = list(read_placed_documents(content, place=place, problems=twice))
        except InputError as error:
            if file in given or not _is_foreign_template(content):
                raise
            result = replace(result, unread=(*result.unread, _unread(place, error)))
            continue
        for value, line in documents:
            if isinstance(value, Mapping):
                _check_config(value, place, twice)
                result = _with(result, value, DocumentLocation(place, line, content=content), file.parent)
            twice.clear()
    if not result.applications and not result.sets:
        names = [_shown(item, shown) for item in given]
        raise InputError(
            "CMD-HYD-001",
            f"there is no Application with a source hydrator in {', '.join(names) or 'no source'}",
            hint="name files or folders with Applications that have spec.sourceHydrator, or with a hydrate.yaml",
        )
    return result


def _is_foreign_template(content: bytes) -> bool:
    """Return True if a file may be a template of settings or projects for another program."""
    return b"{{" in content and b"sourceHydrator" not in content and CONFIG_KIND.encode() not in content


def _unread(place: str, why: InputError) -> Diagnostic:
    message = f"{place} looks like a template of settings of Argo CD, and is skipped: {why.message}"
    hint = "pass its rendered form to --argocd-settings, or exclude it from the sources"
    return Diagnostic("CMD-ARGO-102", message, "warning", hint, locations=why.locations)


def read_installation(
    results: Sources, files: Iterable[Path], limits: Limits, diagnostics: Diagnostics
) -> ArgoSettings:
    """Read the settings of the installation from files and from the sources; files take precedence.

    Raises:
        InputError: see `commodore.argocd.configuration.read_candidates`.
    """
    for item in results.unread:
        diagnostics.add(item)
    candidates = read_candidates(files, limits, diagnostics)
    for value, place in results.installation:
        candidates.take(value, place)
    return candidates.settings()


def _check_config(value: Mapping[str, Any], place: str, twice: Iterable[Problem]) -> None:
    """Refuse a `hydrate.yaml` with duplicate keys; in Applications the last value wins, as in Kubernetes."""
    if value.get("kind") != CONFIG_KIND:
        return
    for message, line in twice:
        raise InputError("CMD-HYD-002", message, hint="write each key once", locations=[Location(place, line)])


def expanded(
    results: Sources,
    settings: ArgoSettings,
    context: Context,
    diagnostics: Diagnostics,
    store: RepositoryStore | None = None,
) -> Sources:
    """Return the sources with the Applications of their ApplicationSets.

    Args:
        store: provides repositories on this machine to generators; None to refuse them.

    Raises:
        CommodoreError: a set cannot be expanded. A partial set is never hydrated.
    """
    if not results.sets:
        return results
    made: list[Placed] = []
    collector = Diagnostics()
    with temporary_folder() as scratch:
        clones = Clones(store, None, scratch, context) if store is not None else None
        repositories = Repositories(context, RepoMap().providing(Providers(git=clones)), scratch)
        try:
            expander = Expander(settings, repositories.tree, Facts(), context, collector)
            for data, place in results.sets:
                made += [(entry.data, place.at("spec.template")) for entry in expander.expand(read_set(data, place))]
        finally:
            repositories.close()
    errors: list[CommodoreError] = []
    for item in collector.collected():
        diagnostics.add(item)
        if item.severity == "error":
            errors.append(
                InputError(item.code, f"{item.subject.set}: {item.message}", hint=item.hint, locations=item.locations)
            )
    raise_all(errors)
    return replace(
        results, applications=(*results.applications, *(entry for entry in made if is_hydrated(entry[0]))), sets=()
    )


def _with(results: Sources, value: Mapping[str, Any], place: Location, folder: Path) -> Sources:
    """Add an object to the sources if it is relevant."""
    kind, placed = value.get("kind"), (value, place)
    if kind == "Application" and is_hydrated(value):
        return replace(results, applications=(*results.applications, placed))
    if kind == _SET and _makes_hydrated(value):
        return replace(results, sets=(*results.sets, placed))
    if kind == _PROJECT:
        return replace(results, projects=(*results.projects, placed))
    if kind == _STRATEGY:
        return replace(results, strategies=(*results.strategies, placed))
    if kind in _INSTALLATION and is_of_argo(value):
        return replace(results, installation=(*results.installation, placed))
    if kind == CONFIG_KIND and value.get("apiVersion") == API_VERSION:
        config = read_config(value, place, folder)
        return replace(
            results,
            applications=(*results.applications, *((application, place) for application in config.applications)),
            protect=(*results.protect, *config.protect),
            texts=Texts(results.texts.readme or config.texts.readme, results.texts.message or config.texts.message),
            author=results.author or config.author,
        )
    return results


def _makes_hydrated(value: Mapping[str, Any]) -> bool:
    return "sourceHydrator" in json.dumps(value.get("spec"), default=str)


def _files(paths: Iterable[Path], limits: Limits) -> Iterator[Path]:
    """Yield the files to read. Pipes and devices, whose reading may never end, are refused if named, else skipped."""
    for path in paths:
        if path.is_dir():
            for place, entry in walk(path, skip=lambda item: item.name.startswith(".")):
                if place.endswith(_ENDINGS) and entry.is_file() and _is_of_interest(path / place, limits):
                    yield path / place
        elif path.exists() and not path.is_file() and str(path) != "-":
            raise InputError(
                "CMD-ARGO-101",
                f"the file {path} cannot be read: it is a pipe or a device",
                hint="name a file or a folder, or - for standard input",
            )
        else:
            yield path


def _is_of_interest(file: Path, limits: Limits) -> bool:
    """Return True if a file in a folder may have relevant objects. Most files of large repositories do not; these may
    exceed the size limit.
    """
    most = limits.argocd_file_bytes
    try:
        if file.stat().st_size <= most:
            return True
        with file.open("rb") as stream:
            start = stream.read(most)
    except OSError:
        return True  # reading it reports the error
    return any(mark in start for mark in _MARKS)


def _standard_input(limits: Limits) -> bytes:
    content = sys.stdin.buffer.read(limits.argocd_file_bytes + 1)
    if len(content) > limits.argocd_file_bytes:
        raise InputError(
            "CMD-ARGO-101",
            f"standard input is larger than {limits.argocd_file_bytes} bytes",
            hint="name files or folders instead",
        )
    return content


def _shown(file: Path, shown: Mapping[Path, str]) -> str:
    for folder, name in shown.items():
        if file.is_relative_to(folder):
            return name if file == folder else f"{name}/{file.relative_to(folder).as_posix()}"
    return str(file)


@dataclass(frozen=True, slots=True)
class Clones:
    """Provide the files of repositories from existing clones, so that each is fetched once in a run.

    Args:
        keys: of the provided repositories; None for repositories on this machine, which are fetched on demand.
            Hydration supports them, while Argo CD refuses them.
        folder: the folder for checked-out commits.
    """

    store: RepositoryStore
    keys: frozenset[str] | None
    folder: Path
    context: Context

    def resolve(self, url: str, revision: str) -> str | None:
        """Return the commit of a revision; None for other repositories.

        Raises:
            CommodoreError: no such revision.
        """
        if self.keys is None and url.startswith(_LOCAL):
            self.store.sync([(url, revision_of(revision))])
        elif self.keys is None or repository_key(url) not in self.keys:
            return None
        repository = self.store.repository(url)
        if revision and not repository.has_commits([revision]):
            repository.fetch_commit(revision)
        return repository.resolve(revision_of(revision)).sha

    def tree(self, url: str, commit: str) -> Path:
        """Return a folder with the files of a commit."""
        name = hashlib.sha256(f"{repository_key(url)} {commit}".encode()).hexdigest()[:16]
        place = self.folder / f"additional-{name}"
        if not place.exists():
            check_out_tree(self.store.repository(url).path, commit, place, self.context)
        return place
