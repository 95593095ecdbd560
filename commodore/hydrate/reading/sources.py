"""Sources of Applications: files and folders that are named."""

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
class Found:
    """The content of the sources.

    Attributes:
        applications: with a source hydrator, each with its place, in the order of the files.
        sets: ApplicationSets whose template has one; `expanded` turns them into Applications.
        projects, strategies: AppProjects, and PromotionStrategies of gitops-promoter.
        protect: patterns of branches that may be written; empty for all.
        texts, author: of a `hydrate.yaml`.
        installation: the ConfigMaps of Argo CD, and what its operator makes them of.
        unread: files that seem to be templates of other programs.
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
            dry_sha: the commit that is hydrated; what the source is read at, too, if it has it and names no revision.

        Raises:
            CommodoreError: the repository cannot be reached, or has no such revision or folder.
        """
        repository = store.repository(self.url)
        store.sync([(self.url, self.revision)])
        known = bool(dry_sha) and self.revision is None and repository.has_commits([dry_sha])
        sha = dry_sha if known else repository.resolve(self.revision).sha
        repository.export_tree(sha, self.path, folder)


def read_remote(text: str) -> RemoteSource | None:
    """`URL[@REVISION][:PATH]` as it is typed; None if it is no URL."""
    result = _REMOTE.fullmatch(text)
    return RemoteSource(result["url"], result["revision"], (result["path"] or "").strip("/")) if result else None


def read_sources(paths: Iterable[Path], limits: Limits, shown: Mapping[Path, str] = MappingProxyType({})) -> Found:
    """The Applications with source hydrators, and what goes with them, in files and in all YAML and JSON files below
    folders. The path `-` is standard input.

    Args:
        shown: what messages call folders.

    Raises:
        InputError: CMD-HYD-001, there is none; CMD-HYD-002, a `hydrate.yaml` is wrong; CMD-ARGO-101, a file cannot be
            read.
    """
    given = list(paths)
    result = Found(())
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
    """Tell if a file may have settings or projects, or be a template that other programs make some of."""
    return b"{{" in content and b"sourceHydrator" not in content and CONFIG_KIND.encode() not in content


def _unread(place: str, why: InputError) -> Diagnostic:
    message = f"{place} seems to be a template of settings of Argo CD, and is not read: {why.message}"
    hint = "name what is made of it by --argocd-settings, or keep it out of the sources"
    return Diagnostic("CMD-ARGO-102", message, "warning", hint, locations=why.locations)


def read_installation(results: Found, files: Iterable[Path], limits: Limits, diagnostics: Diagnostics) -> ArgoSettings:
    """The settings of the installation: those of files that are named, which count more, and of the sources.

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
    """Refuse a `hydrate.yaml` with a key that stands twice; of Applications the last one counts, as for Kubernetes."""
    if value.get("kind") != CONFIG_KIND:
        return
    for message, line in twice:
        raise InputError("CMD-HYD-002", message, hint="write each key once", locations=[Location(place, line)])


def expanded(
    results: Found,
    settings: ArgoSettings,
    context: Context,
    diagnostics: Diagnostics,
    store: RepositoryStore | None = None,
) -> Found:
    """The sources with the Applications of their ApplicationSets.

    Args:
        store: what gives repositories on this machine to generators; None to refuse them.

    Raises:
        CommodoreError: a set cannot be expanded: nothing is hydrated from half of a set.
    """
    if not results.sets:
        return results
    made: list[Placed] = []
    collected = Diagnostics()
    with temporary_folder() as scratch:
        clones = Clones(store, None, scratch, context) if store is not None else None
        repositories = Repositories(context, RepoMap().providing(Providers(git=clones)), scratch)
        try:
            expander = Expander(settings, repositories.tree, Facts(), context, collected)
            for data, place in results.sets:
                made += [(entry.data, place.at("spec.template")) for entry in expander.expand(read_set(data, place))]
        finally:
            repositories.close()
    errors: list[CommodoreError] = []
    for item in collected.found():
        diagnostics.add(item)
        if item.severity == "error":
            errors.append(
                InputError(item.code, f"{item.subject.set}: {item.message}", hint=item.hint, locations=item.locations)
            )
    raise_all(errors)
    return replace(
        results, applications=(*results.applications, *(entry for entry in made if is_hydrated(entry[0]))), sets=()
    )


def _with(results: Found, value: Mapping[str, Any], place: Location, folder: Path) -> Found:
    """Add an object to the content, if it counts."""
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
    """The files to read. What is no file is refused if it is named, else passed over: reading it may never end."""
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
    """Tell if a file in a folder may hold what is looked for. Most files of large repositories do not; such a one may
    be larger than what is read otherwise.
    """
    most = limits.argocd_file_bytes
    try:
        if file.stat().st_size <= most:
            return True
        with file.open("rb") as stream:
            start = stream.read(most)
    except OSError:
        return True  # reading it says what is wrong
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
    """Gives the files of repositories from clones that are there, so that none is asked twice in a run.

    Args:
        keys: of the repositories that it gives; None for those on this machine, which are fetched when they are asked
            for. They are dry repositories like others, and Argo CD's own ways refuse them.
        folder: where commits are laid out.
    """

    store: RepositoryStore
    keys: frozenset[str] | None
    folder: Path
    context: Context

    def resolve(self, url: str, revision: str) -> str | None:
        """The commit of a revision; None for repositories of others.

        Raises:
            CommodoreError: there is no such revision.
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
        """A folder with the files of a commit."""
        name = hashlib.sha256(f"{repository_key(url)} {commit}".encode()).hexdigest()[:16]
        place = self.folder / f"additional-{name}"
        if not place.exists():
            check_out_tree(self.store.repository(url).path, commit, place, self.context)
        return place
