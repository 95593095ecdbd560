"""A run: what is needed to render Applications, set up and taken down together."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from commodore.argocd.acquiring import Charts, RepoMap, Repositories, repository_identity
from commodore.argocd.appsets import Facts, PathPatterns
from commodore.argocd.chain import LaterStages
from commodore.argocd.checking import fits_namespace
from commodore.argocd.configuration import (
    NEWEST,
    ArgoSettings,
    Candidates,
    Given,
    Profile,
    choose_profile,
    read_candidates,
    read_file,
    take_values,
)
from commodore.argocd.discovery import (
    Discovered,
    Lost,
    Origin,
    Raw,
    Rounds,
    Scanned,
    ServedApis,
    defining_folders,
    own_repositories,
    report_unknown_fields,
    scan,
    stands_for,
)
from commodore.argocd.installed import check_tool_versions
from commodore.argocd.model import IN_CLUSTER
from commodore.argocd.model.application import NAME_FORM, Application, is_name, misnamed, read_application
from commodore.argocd.model.fields import Fields
from commodore.argocd.model.plugins import PluginRule
from commodore.argocd.rendering import Capabilities, Renderer
from commodore.argocd.trees import ParsedFiles, SelfRevisions, Tree
from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostic, Diagnostics, Subject
from commodore.base.errors import CommodoreError, InputError, Location, PolicyError
from commodore.base.files.staging import temporary_folder
from commodore.base.limits import Limits
from commodore.base.yaml.kube_yaml import read_placed_documents
from commodore.core.results.caches import cache_folder, result_cache, usable
from commodore.core.sources.git import redact

if TYPE_CHECKING:
    from commodore.argocd.appsets import ApplicationSet, Generated


@dataclass(frozen=True, slots=True)
class Run:
    """What a run works with. Nothing of it outlives `open_run`."""

    settings: ArgoSettings
    repositories: Repositories
    renderer: Renderer
    found: Diagnostics


@dataclass(frozen=True, slots=True)
class Named:
    """Where Applications and settings are looked for.

    Attributes:
        files: files with Applications; if there are none, `folder` is scanned.
        settings: files with objects of the installation, which count more than what is in the folder.
        values: files with values of the Argo CD chart, likewise.
        self_urls: URLs of the repository that the folder is in, beside those of its remotes.
        tree_urls: URLs that mean the tree at every revision, as `--repo-map URL=@`.
        self_revisions: at which revisions the other URLs mean the tree.
        entries: folders below `folder` that are rendered first.
        depth: how many rounds of rendering look for further Applications; 0 for none.
        facts: what generators of ApplicationSets would ask for.
        jobs: how many Applications are rendered at the same time; 0 for one per usable CPU.
        plugins: what becomes of the sources of plugins, which counts more than definitions in the folder.
        given: what options say of the installation, which counts more than all files.
        ignored: patterns of files and folders that are not looked at for Applications, from the root of the tree.
        dry: whether Applications that are hydrated stand for their dry source.
        exact: whether it is an error if a tool has another version than Argo CD runs.
        version: the version of Argo CD that is followed; if empty, the one that the tree installs, else the newest one.
        tree: the tree that the folder is in and that stands for `self_urls` alone; if None, the checkout around it.
        names: the Applications that are looked for, see `Rounds`; all if there are none.
    """

    folder: Path
    files: tuple[Path, ...] = ()
    settings: tuple[Path, ...] = ()
    values: tuple[Path, ...] = ()
    self_urls: tuple[str, ...] = ()
    tree_urls: tuple[str, ...] = ()
    self_revisions: SelfRevisions = "branches"
    entries: tuple[str, ...] = ()
    depth: int = 4
    facts: Facts = field(default_factory=Facts)
    jobs: int = 0
    plugins: tuple[PluginRule, ...] = ()
    given: Given = field(default_factory=Given)
    ignored: tuple[str, ...] = ()
    dry: bool = False
    exact: bool = False
    version: str = ""
    tree: Tree | None = None
    names: tuple[str, ...] = ()

    def candidates(self, profile: Profile, limits: Limits, found: Diagnostics) -> Candidates:
        """What the files that are given say of the installation.

        Raises:
            InputError: see `read_candidates` and `take_values`.
        """
        candidates = Candidates(found, profile=profile)
        self.given.take_into(candidates, limits)
        candidates.defaults = self.given.defaults()
        read_candidates(self.settings, limits, found, candidates)
        candidates.plugins += self.plugins
        take_values(candidates, self.values, limits)
        return candidates

    def own(self, context: Context) -> tuple[Tree, Mapping[str, Tree]]:
        """The tree of the folder, and the repositories that it stands for; see `own_repositories`."""
        if self.tree is not None:
            tree, own = self.tree, stands_for(self.tree, self.self_urls)
        else:
            tree, own = own_repositories(self.folder, self.self_urls, context, self.self_revisions)
        return tree, {**own, **stands_for(replace(tree, stands=None), self.tree_urls)}


@dataclass(frozen=True, slots=True)
class Listing:
    """Applications and settings.

    Attributes:
        own: the tree that was scanned, by the repositories that it stands for.
        origins: how the Applications were found, by their `namespace/name`.
        failures: why Applications could not be rendered to look for further ones, by their `namespace/name`.
        sets: the ApplicationSets that are defined, as far as they can be read.
        generated: what they make.
        lost: what defines Applications and cannot be read or expanded.
    """

    settings: ArgoSettings
    applications: tuple[Application, ...]
    own: Mapping[str, Tree]
    origins: Mapping[str, Origin] = field(default_factory=dict)
    failures: Mapping[str, CommodoreError] = field(default_factory=dict)
    sets: tuple[ApplicationSet, ...] = ()
    generated: tuple[Generated, ...] = ()
    lost: tuple[Lost, ...] = ()

    def seen_by(self, capabilities: Capabilities, limits: Limits) -> Capabilities:
        """What charts are told of clusters, with what the tree shows."""
        if not self.own:
            return capabilities
        served = ServedApis(self.own, self.applications, self.settings.clusters, limits)
        return capabilities.seeing(served.of)

    @property
    def unseen(self) -> tuple[Lost, ...]:
        """All that may define Applications which are not listed: what is lost, and what Applications render."""
        rendered = (
            Lost("entry", f"what {label} renders", Location(label), Diagnostic.of(error, Subject(application=label)))
            for label, error in self.failures.items()
        )
        return (*self.lost, *rendered)

    def label(self, application: Application) -> str:
        """An Application as `namespace/name`."""
        return f"{application.namespace or self.settings.namespace}/{application.name}"

    def report_failures(self, found: Diagnostics, but: Iterable[Application] = ()) -> None:
        """Report why Applications could not be rendered to look for further ones.

        Args:
            but: those that are rendered anyway, which tells it.
        """
        left_out = {self.label(one) for one in but}
        for label, error in self.failures.items():
            if label not in left_out:
                found.take(error, Subject(application=label))


def list_applications(
    named: Named,
    context: Context,
    found: Diagnostics,
    repo_map: RepoMap | None = None,
    capabilities: Capabilities | None = None,
) -> Listing:
    """The Applications of the files that are named, or else those of a folder, with the settings that count.

    Those of a folder are in its files, made by ApplicationSets, and in what other Applications render.

    Raises:
        CommodoreError: a file that is named cannot be read, the folder is none, or there are too many Applications.
    """
    if named.version and not named.exact:
        check_tool_versions(choose_profile(named.version, {}, Diagnostics()), context, found)
    if named.files:
        profile = choose_profile(named.version, {}, found)
        if named.exact:
            check_tool_versions(profile, context, found, exact=True)
        settings = named.candidates(profile, context.limits, found).settings()
        applications = read_applications(named.files, context.limits, found, dry=named.dry)
        listing = Listing(settings, tuple(applications), {})
        for one in listing.applications:
            report_unknown_fields(one, listing.label(one), found)
        return listing
    tree, own = named.own(context)
    _check_caches(tree)
    with temporary_folder() as scratch:
        repositories = Repositories(
            context, repo_map or RepoMap(), scratch, {**own, repository_identity(_ENTRY): replace(tree, stands=None)}
        )
        try:
            search = _Search(named, tree, repositories, capabilities or Capabilities(), context, found)
            listing = search.listing()
        finally:
            repositories.close()
    if not listing.applications and not listing.failures and not listing.lost:
        found.add(
            Diagnostic(
                "CMD-ARGO-011",
                f"{named.folder if named.tree is None else tree.name} defines no Applications",
                "warning",
                _where_to_look(named.folder, context.limits),
            )
        )
    return replace(listing, own=own)


def _where_to_look(folder: Path, limits: Limits) -> str:
    """What to try if files define no Applications: a chart or a kustomization that seems to render some."""
    seen = defining_folders(folder, limits)
    if not seen:
        return "choose another folder"
    return f"render what defines them: {' or '.join(f'--entry {shlex.quote(one)}' for one in seen)}"


def _check_caches(tree: Tree) -> None:
    """Refuse a tree with a cache of this program in it, whose content would be taken for that of the repository.

    Raises:
        PolicyError: CMD-ARGO-008.
    """
    cache = Path(os.path.realpath(cache_folder()))
    if cache.is_relative_to(tree.root):
        raise PolicyError(
            "CMD-ARGO-008",
            f"the cache {cache} is in the tree {tree.name}",
            hint="choose another place for it by XDG_CACHE_HOME",
        )


_ENTRY = "commodore:entry"  # the tree itself, for what options name
_UNKNOWN_OFFLINE = frozenset(("CMD-ARGO-201", "CMD-ARGO-202", "CMD-ARGO-204"))  # of ApplicationSets
_TRIES = 3  # how often settings that were rendered may change how things are rendered


@dataclass
class _Search:
    """Looks for Applications until the settings that it finds are those that it works with."""

    named: Named
    tree: Tree
    repositories: Repositories
    capabilities: Capabilities
    context: Context
    found: Diagnostics
    profile: Profile = NEWEST

    def listing(self) -> Listing:
        scanned = self._scanned()
        self.profile = choose_profile(self.named.version, scanned.versions, self.found)
        if self.named.exact:
            check_tool_versions(self.profile, self.context, self.found, exact=True)
        rendered: list[Raw] = []
        settings = self._settings(scanned, rendered)
        for _ in range(_TRIES):
            collected = Diagnostics()
            rounds = self._rounds(scanned, settings, rendered, collected)
            after = self._settings(scanned, rounds.settings)
            if _values(after) == _values(settings):
                break
            settings, rendered = after, rounds.settings
        else:
            collected.add(
                Diagnostic(
                    "CMD-ARGO-108",
                    "the settings that Applications render change how they are rendered, again and again",
                    "warning",
                    "give the settings with --argocd-settings",
                )
            )
        discovered = rounds.discovered
        settings = _with_chart(rounds.candidates, scanned)
        self.found.join(collected, _offline)
        return Listing(
            settings,
            tuple(_watched(discovered.listed(), settings, self.found)),
            {},
            {discovered.label(one): discovered.origin(one) for one in discovered.applications.values()},
            rounds.failures,
            tuple(rounds.chain.sets),
            tuple(rounds.chain.generated),
            (*scanned.lost, *_lost(rounds, collected)),
        )

    def _scanned(self) -> Scanned:
        """What the files define, but those that are not looked at."""
        limits = self.context.limits
        kept = usable(result_cache()) if limits.result_bytes else None
        names = self.repositories.own.keys() - {repository_identity(_ENTRY)}
        parsed = ParsedFiles(kept, names or [str(self.tree.root)], limits)
        collected = Diagnostics()
        scanned = scan(self.tree, self.named.folder.resolve(), parsed, limits, collected)
        parsed.keep()
        ignored = PathPatterns(self.named.ignored)
        for one in collected.found():
            if not any(ignored.cover(place.place) for place in one.locations):
                self.found.add(one)
        return _looked_at(scanned, ignored, self.tree) if self.named.ignored else scanned

    def _candidates(self, scanned: Scanned, rendered: Iterable[Raw], collected: Diagnostics) -> Candidates:
        candidates = self.named.candidates(self.profile, self.context.limits, collected)
        candidates.lines |= scanned.lines
        for value, place in rendered:
            candidates.take(value, place)
        return candidates

    def _settings(self, scanned: Scanned, rendered: Iterable[Raw]) -> ArgoSettings:
        """The settings, as far as they are known before anything is rendered."""
        candidates = self._candidates(scanned, rendered, Diagnostics())
        for value, place in scanned.objects:
            candidates.take(value, place)
        return _with_chart(candidates, scanned)

    def _rounds(self, scanned: Scanned, settings: ArgoSettings, rendered: list[Raw], collected: Diagnostics) -> Rounds:
        """One search with these settings."""
        with temporary_folder() as scratch:
            repo_map = self.repositories.repo_map
            charts = Charts(self.context, scratch, repo_map.providers, repo_map.wants_anew)
            renderer = Renderer(
                settings, self.repositories, charts, self.capabilities, self.context, scratch, Diagnostics()
            )
            files = frozenset(scanned.files)
            facts, jobs = self.named.facts, self.named.jobs
            stages = LaterStages(settings, self.repositories, renderer, facts, files, collected, jobs)
            discovered = Discovered(settings.namespace, self.context.limits, dry=self.named.dry)
            candidates = self._candidates(scanned, rendered, collected)
            rounds = Rounds(discovered, candidates, stages, self.named.depth, collected, self.named.names)
            rounds.run(scanned.objects, [self._entry(path, settings) for path in self.named.entries])
        return rounds

    def _entry(self, path: str, settings: ArgoSettings) -> Application:
        below = os.path.relpath((self.named.folder / path).resolve(), self.tree.root)
        spec = {
            "source": {"repoURL": _ENTRY, "path": below},
            "destination": {"name": IN_CLUSTER, "namespace": settings.namespace},
        }
        return read_application({"metadata": {"name": "entry"}, "spec": spec}, Location(path))


def _lost(rounds: Rounds, collected: Diagnostics) -> Iterator[Lost]:
    """What a search cannot read, expand or follow.

    Args:
        collected: what was found during it.
    """
    discovered = rounds.discovered
    yield from discovered.lost
    failures = {
        one.subject.set: _offline(one) for one in reversed(collected.found()) if one.severity in ("error", "boundary")
    }
    for (namespace, name), (value, place) in discovered.sets.items():
        if reason := failures.get(name):
            yield Lost("ApplicationSet", f"{namespace}/{name}", place, reason, value)
    yield from rounds.lost
    labels = {discovered.label(one) for one in discovered.applications.values()}
    for label, error in rounds.failures.items():
        if label not in labels:
            yield Lost("entry", label, Location(label), Diagnostic.of(error, Subject(application=label)))


def _offline(one: Diagnostic) -> Diagnostic:
    """An error that is no more than a limit of working without a cluster as what it is."""
    return one.lowered("boundary") if one.code in _UNKNOWN_OFFLINE else one


def _looked_at(scanned: Scanned, ignored: PathPatterns, tree: Tree) -> Scanned:
    return Scanned(
        [one for one in scanned.objects if not ignored.cover(one[1].place)],
        [one for one in scanned.of_chart if not ignored.cover(one[1].place)],
        {one for one in scanned.files if not ignored.cover(os.path.relpath(one, tree.root))},
        {name: place for name, place in scanned.versions.items() if not ignored.cover(place.place)},
        scanned.lines,
        [one for one in scanned.lost if not ignored.cover(one.name)],
    )


def _watched(applications: Iterable[Application], settings: ArgoSettings, found: Diagnostics) -> Iterator[Application]:
    """The Applications that Argo CD sees, as far as it is known where it looks; the others are reported."""
    known = settings.parameters["application.namespaces"]
    patterns = [one.strip() for one in known.value.split(",")]
    for one in applications:
        own = known.level == "default" or one.namespace in ("", settings.namespace)
        if own or any(fits_namespace(pattern, one.namespace) for pattern in patterns):
            yield one
            continue
        found.add(
            Diagnostic(
                "CMD-ARGO-605",
                f"Argo CD does not look at Applications in the namespace {one.namespace}, so this one is left out",
                "warning",
                "add the namespace to application.namespaces, or say it by --app-namespace",
                subject=Subject(application=f"{one.namespace}/{one.name}"),
                locations=(one.place,),
            )
        )


def _with_chart(candidates: Candidates, scanned: Scanned) -> ArgoSettings:
    """The settings, with those that values of the Argo CD chart say where nothing else does."""
    for value, place in scanned.of_chart:
        candidates.take(value, place, "chart")
    return candidates.settings()


def _values(settings: ArgoSettings) -> list[tuple[str, str, str]]:
    rows = [(name, key, one.value) for name, key, one in settings.rows()]
    return [("", "namespace", settings.namespace), *rows]


@contextlib.contextmanager
def open_run(
    settings: ArgoSettings,
    repo_map: RepoMap,
    capabilities: Capabilities,
    context: Context,
    found: Diagnostics,
    own: Mapping[str, Tree] = MappingProxyType({}),
) -> Iterator[Run]:
    """Set up what renders Applications of an installation; unused entries of the map are reported at the end.

    Args:
        own: trees that stand for their repositories, by `repository_identity`.
    """
    with temporary_folder() as scratch:
        repositories = Repositories(context, repo_map, scratch, own, found)
        charts = Charts(context, scratch, repo_map.providers, repo_map.wants_anew, found)
        renderer = Renderer(settings, repositories, charts, capabilities, context, scratch, found)
        try:
            yield Run(settings, repositories, renderer, found)
        finally:
            repositories.close()
    report_unused(repo_map, found)


def checkouts(urls: Iterable[str], folder: Path, commit: str, name: str) -> dict[str, Tree]:
    """The files of a commit in a folder, as the tree of repositories with these URLs, for `open_run`.

    Args:
        name: how people know the repository.
    """
    return {repository_identity(url): Tree(folder, commit, name) for url in urls}


def report_unused(repo_map: RepoMap, found: Diagnostics) -> None:
    """Report entries of a map that nothing has used."""
    for one in repo_map.unused():
        found.add(
            Diagnostic(
                "CMD-ARGO-319",
                f"--repo-map names a folder for {redact(one.url)}, which nothing asks for",
                "warning",
                "check the URL; user names, '.git' and the case of letters do not count",
            )
        )


def read_applications(
    files: Iterable[Path], limits: Limits, found: Diagnostics, *, dry: bool = False
) -> list[Application]:
    """The Applications of files, in their order. Kubernetes may refuse their names: Argo CD renders them, too.

    Args:
        found: collects such names (CMD-ARGO-103).
        dry: see `read_application`.

    Raises:
        InputError: CMD-ARGO-101, a file cannot be read; CMD-ARGO-103 and others, an Application is wrong or another
            object is among them.
    """
    applications = []
    for file in files:
        for value, line in read_placed_documents(read_file(file, limits), place=str(file)):
            place = Location(str(file), line)
            fields = Fields.of(value, "", place)
            if fields.text("kind") != "Application":
                raise InputError(
                    "CMD-ARGO-103",
                    f"{fields.text('kind') or 'an object without kind'} is no Application",
                    hint="the file holds Applications of argoproj.io",
                    locations=[place],
                )
            application = read_application(value, place, dry=dry, any_name=True)
            for text, what in ((application.name, "metadata.name"), (application.namespace, "metadata.namespace")):
                if text and not is_name(text):
                    found.add(
                        Diagnostic("CMD-ARGO-103", misnamed(text, what), "warning", NAME_FORM, locations=(place,))
                    )
            applications.append(application)
    return applications
