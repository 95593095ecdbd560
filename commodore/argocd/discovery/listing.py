"""Listing the Applications and settings of a tree."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from commodore.argocd.acquiring import RepoMap, repository_identity
from commodore.argocd.appsets import PathPatterns
from commodore.argocd.checking import fits_namespace
from commodore.argocd.configuration import (
    NEWEST,
    ArgoSettings,
    Candidates,
    Profile,
    choose_profile,
    read_file,
)
from commodore.argocd.configuration.installed import check_tool_versions
from commodore.argocd.discovery.chain import LaterStages
from commodore.argocd.discovery.model import Discovered, LostDefinition, Origin, Raw
from commodore.argocd.discovery.reach import defining_folders
from commodore.argocd.discovery.rendered import AppOfAppsSearch
from commodore.argocd.discovery.root import SearchRoot
from commodore.argocd.discovery.scan import Scanned, report_unknown_fields, scan
from commodore.argocd.discovery.served import ServedApis
from commodore.argocd.model import IN_CLUSTER
from commodore.argocd.model.application import NAME_FORM, Application, is_name, misnamed, read_application
from commodore.argocd.model.fields import Fields
from commodore.argocd.rendering import Capabilities, OpenSources, open_sources
from commodore.argocd.trees import ParsedFiles, Tree
from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostic, Diagnostics, Subject
from commodore.base.errors import CommodoreError, InputError, Location, PolicyError
from commodore.base.limits import Limits
from commodore.base.yaml.kube_yaml import read_placed_documents
from commodore.core.results.caches import cache_folder, result_cache, usable
from commodore.core.sources.git import redact

if TYPE_CHECKING:
    from commodore.argocd.appsets import ApplicationSet, Generated


@dataclass(frozen=True, slots=True)
class Listing:
    """The Applications and settings of a tree.

    Attributes:
        opened: the sources of the Applications, and the renderer.
        own: the scanned tree, by the repositories that it replaces.
        origins: the origins of the Applications, by `namespace/name`.
        failures: errors of rendering Applications to discover others, by `namespace/name`.
        sets: the valid ApplicationSets.
        generated: their Applications.
        lost: definitions of Applications that cannot be read or expanded.
    """

    opened: OpenSources
    applications: tuple[Application, ...]
    own: Mapping[str, Tree] = field(default_factory=dict)
    origins: Mapping[str, Origin] = field(default_factory=dict)
    failures: Mapping[str, CommodoreError] = field(default_factory=dict)
    sets: tuple[ApplicationSet, ...] = ()
    generated: tuple[Generated, ...] = ()
    lost: tuple[LostDefinition, ...] = ()

    @property
    def settings(self) -> ArgoSettings:
        """The effective settings."""
        return self.opened.settings

    def to_render(self, diagnostics: Diagnostics) -> OpenSources:
        """Return the renderer of the Applications, with the APIs that the tree defines.

        Args:
            diagnostics: collects warnings and errors.
        """
        capabilities = self.opened.renderer.capabilities
        if self.own:
            limits = self.opened.renderer.context.limits
            served = ServedApis(self.own, self.applications, self.settings.clusters, limits)
            capabilities = capabilities.seeing(served.of)
        return self.opened.to_render(capabilities, diagnostics)

    @property
    def unseen(self) -> tuple[LostDefinition, ...]:
        """All definitions whose Applications are not listed: lost ones, and Applications that fail to render."""
        rendered = (
            LostDefinition(
                "entry", f"what {label} renders", Location(label), Diagnostic.of(error, Subject(application=label))
            )
            for label, error in self.failures.items()
        )
        return (*self.lost, *rendered)

    def label(self, application: Application) -> str:
        """Return `namespace/name` of an Application."""
        return self.settings.label(application.namespace, application.name)

    def report_failures(self, diagnostics: Diagnostics, exclude: Iterable[Application] = ()) -> None:
        """Report Applications that failed to render during discovery.

        Args:
            exclude: Applications that are rendered again, which reports it.
        """
        excluded = {self.label(application) for application in exclude}
        for label, error in self.failures.items():
            if label not in excluded:
                diagnostics.take(error, Subject(application=label))


@contextlib.contextmanager
def open_listing(
    root: SearchRoot,
    context: Context,
    diagnostics: Diagnostics,
    repo_map: RepoMap | None = None,
    capabilities: Capabilities | None = None,
) -> Iterator[Listing]:
    """List the Applications of named files, or else of a folder, with the effective settings.

    Those of a folder are in its files, generated by ApplicationSets, and rendered by other Applications. Repositories
    stay open until the block ends.

    Raises:
        CommodoreError: a file or the folder cannot be read, or there are too many Applications.
    """
    if root.followed.argocd_version and not root.followed.exact_tools:
        check_tool_versions(choose_profile(root.followed.argocd_version, {}, Diagnostics()), context, diagnostics)
    tree, own = (None, {}) if root.search.app else root.own(context)
    with open_sources(
        ArgoSettings(),
        repo_map or RepoMap(),
        capabilities or Capabilities(),
        context,
        Diagnostics(),
        own if tree is None else {**own, repository_identity(_ENTRY): replace(tree, stands=None)},
    ) as opened:
        yield _of_files(root, opened, diagnostics) if tree is None else _of_tree(root, tree, own, opened, diagnostics)


def _of_files(root: SearchRoot, opened: OpenSources, diagnostics: Diagnostics) -> Listing:
    context = opened.renderer.context
    profile = choose_profile(root.followed.argocd_version, {}, diagnostics)
    if root.followed.exact_tools:
        check_tool_versions(profile, context, diagnostics, exact=True)
    settings = root.candidates(profile, context.limits, diagnostics).settings()
    applications = read_applications(root.search.app, context.limits, diagnostics, dry=root.dry)
    listing = Listing(opened.with_settings(settings), tuple(applications))
    for application in listing.applications:
        report_unknown_fields(application, listing.label(application), diagnostics)
    return listing


def _of_tree(
    root: SearchRoot, tree: Tree, own: Mapping[str, Tree], opened: OpenSources, diagnostics: Diagnostics
) -> Listing:
    context = opened.renderer.context
    _check_caches(tree)
    listing = _Search(root, tree, opened, context, diagnostics).listing()
    if not listing.applications and not listing.failures and not listing.lost:
        diagnostics.add(
            Diagnostic(
                "CMD-ARGO-011",
                f"{root.folder if root.tree is None else tree.name} defines no Applications",
                "warning",
                _suggested_entries(root.folder, context.limits),
            )
        )
    return replace(listing, own=own)


def _suggested_entries(folder: Path, limits: Limits) -> str:
    """Return a hint if files define no Applications: charts that seem to render some."""
    seen = defining_folders(folder, limits)
    if not seen:
        return "choose another folder"
    return f"render the charts that define them: {' or '.join(f'--entry {shlex.quote(chart)}' for chart in seen)}"


def _check_caches(tree: Tree) -> None:
    """Refuse a tree that contains the cache, whose content would be read as files of the repository.

    Raises:
        PolicyError: CMD-ARGO-008.
    """
    cache = Path(os.path.realpath(cache_folder()))
    if cache.is_relative_to(tree.root):
        raise PolicyError(
            "CMD-ARGO-008",
            f"the cache {cache} is in the tree {tree.name}",
            hint="set XDG_CACHE_HOME to a folder elsewhere",
        )


_ENTRY = "commodore:entry"  # the URL of the tree itself, for entries of options
_UNKNOWN_OFFLINE = frozenset(("CMD-ARGO-201", "CMD-ARGO-202", "CMD-ARGO-204"))  # of ApplicationSets
_TRIES = 3  # how often rendered settings may change rendering


@dataclass
class _Search:
    """Searches for Applications, again while rendered settings change how others render."""

    root: SearchRoot
    tree: Tree
    opened: OpenSources
    context: Context
    diagnostics: Diagnostics
    profile: Profile = NEWEST

    def listing(self) -> Listing:
        scanned = self._scanned()
        self.profile = choose_profile(self.root.followed.argocd_version, scanned.versions, self.diagnostics)
        if self.root.followed.exact_tools:
            check_tool_versions(self.profile, self.context, self.diagnostics, exact=True)
        rendered: list[Raw] = []
        settings = self._settings(scanned, rendered)
        # Rendered settings may change how Applications render: search again until they are stable.
        for _ in range(_TRIES):
            diagnostics = Diagnostics()
            search = self._search(scanned, settings, rendered, diagnostics)
            after = self._settings(scanned, search.settings)
            if _values(after) == _values(settings):
                break
            settings, rendered = after, search.settings
        else:
            diagnostics.add(
                Diagnostic(
                    "CMD-ARGO-108",
                    "the settings that Applications render change in each round of rendering",
                    "warning",
                    "set them with --installation",
                )
            )
        discovered = search.discovered
        settings = _with_chart(search.candidates, scanned)
        self.diagnostics.join(diagnostics, _offline)
        return Listing(
            self.opened.with_settings(settings),
            tuple(_watched(discovered.listed(), settings, self.diagnostics)),
            {},
            {
                discovered.label(application): discovered.origin(application)
                for application in discovered.applications.values()
            },
            search.failures,
            tuple(search.stages.sets),
            tuple(search.stages.generated),
            (*scanned.lost, *_lost(search, diagnostics)),
        )

    def _scanned(self) -> Scanned:
        """Scan the files, except ignored ones."""
        limits = self.context.limits
        kept = usable(result_cache()) if limits.result_bytes else None
        names = self.opened.repositories.own.keys() - {repository_identity(_ENTRY)}
        parsed = ParsedFiles(kept, names or [str(self.tree.root)], limits)
        diagnostics = Diagnostics()
        scanned = scan(self.tree, self.root.folder.resolve(), parsed, limits, diagnostics)
        parsed.keep()
        ignored = PathPatterns(self.root.search.ignore_path)
        for diagnostic in diagnostics.collected():
            if not any(ignored.cover(place.place) for place in diagnostic.locations):
                self.diagnostics.add(diagnostic)
        return _without_ignored(scanned, ignored, self.tree) if self.root.search.ignore_path else scanned

    def _candidates(self, scanned: Scanned, rendered: Iterable[Raw], diagnostics: Diagnostics) -> Candidates:
        candidates = self.root.candidates(self.profile, self.context.limits, diagnostics)
        candidates.lines |= scanned.lines
        for value, place in rendered:
            candidates.take(value, place)
        return candidates

    def _settings(self, scanned: Scanned, rendered: Iterable[Raw]) -> ArgoSettings:
        """Return the settings that are known before rendering."""
        candidates = self._candidates(scanned, rendered, Diagnostics())
        for value, place in scanned.objects:
            candidates.take(value, place)
        return _with_chart(candidates, scanned)

    def _search(
        self, scanned: Scanned, settings: ArgoSettings, rendered: list[Raw], diagnostics: Diagnostics
    ) -> AppOfAppsSearch:
        """Search once with these settings."""
        opened = self.opened.with_settings(settings)
        facts, jobs = self.root.facts, self.root.jobs
        stages = LaterStages(opened, facts, frozenset(scanned.files), diagnostics, jobs)
        discovered = Discovered(settings.namespace, self.context.limits, dry=self.root.dry)
        candidates = self._candidates(scanned, rendered, diagnostics)
        search = AppOfAppsSearch(discovered, candidates, stages, self.root.search.rounds, diagnostics, self.root.names)
        search.run(scanned.objects, [self._entry(path, settings) for path in self.root.search.entry])
        return search

    def _entry(self, path: str, settings: ArgoSettings) -> Application:
        below = os.path.relpath((self.root.folder / path).resolve(), self.tree.root)
        spec = {
            "source": {"repoURL": _ENTRY, "path": below},
            "destination": {"name": IN_CLUSTER, "namespace": settings.namespace},
        }
        return read_application({"metadata": {"name": "entry"}, "spec": spec}, Location(path))


def _lost(search: AppOfAppsSearch, diagnostics: Diagnostics) -> Iterator[LostDefinition]:
    """Yield the definitions that a search cannot read, expand or follow.

    Args:
        diagnostics: the diagnostics of the search.
    """
    discovered = search.discovered
    yield from discovered.lost
    failures = {
        diagnostic.subject.set: _offline(diagnostic)
        for diagnostic in reversed(diagnostics.collected())
        if diagnostic.severity in ("error", "boundary")
    }
    for (namespace, name), (value, place) in discovered.sets.items():
        if reason := failures.get(name):
            yield LostDefinition("ApplicationSet", f"{namespace}/{name}", place, reason, value)
    yield from search.lost
    labels = {discovered.label(application) for application in discovered.applications.values()}
    for label, error in search.failures.items():
        if label not in labels:
            yield LostDefinition("entry", label, Location(label), Diagnostic.of(error, Subject(application=label)))


def _offline(diagnostic: Diagnostic) -> Diagnostic:
    """Lower errors that are limits of working without a cluster to boundaries."""
    return diagnostic.lowered("boundary") if diagnostic.code in _UNKNOWN_OFFLINE else diagnostic


def _without_ignored(scanned: Scanned, ignored: PathPatterns, tree: Tree) -> Scanned:
    return Scanned(
        [(value, place) for value, place in scanned.objects if not ignored.cover(place.place)],
        [(value, place) for value, place in scanned.of_chart if not ignored.cover(place.place)],
        {file for file in scanned.files if not ignored.cover(os.path.relpath(file, tree.root))},
        {name: place for name, place in scanned.versions.items() if not ignored.cover(place.place)},
        scanned.lines,
        [definition for definition in scanned.lost if not ignored.cover(definition.name)],
    )


def _watched(
    applications: Iterable[Application], settings: ArgoSettings, diagnostics: Diagnostics
) -> Iterator[Application]:
    """Yield Applications in namespaces that Argo CD watches, if these are known; report the others."""
    known = settings.parameters["application.namespaces"]
    patterns = [pattern.strip() for pattern in known.value.split(",")]
    for application in applications:
        own = known.level == "default" or application.namespace in ("", settings.namespace)
        if own or any(fits_namespace(pattern, application.namespace) for pattern in patterns):
            yield application
            continue
        diagnostics.add(
            Diagnostic(
                "CMD-ARGO-605",
                f"Argo CD does not watch Applications in the namespace {application.namespace}; this one is left out",
                "warning",
                "add the namespace to application.namespaces, or to application_namespaces of --installation",
                subject=Subject(application=f"{application.namespace}/{application.name}"),
                locations=(application.place,),
            )
        )


def _with_chart(candidates: Candidates, scanned: Scanned) -> ArgoSettings:
    """Return the settings, with values of the Argo CD chart at the lowest precedence."""
    for value, place in scanned.of_chart:
        candidates.take(value, place, "chart")
    return candidates.settings()


def _values(settings: ArgoSettings) -> list[tuple[str, str, str]]:
    rows = [(name, key, setting.value) for name, key, setting in settings.rows()]
    return [("", "namespace", settings.namespace), *rows]


def report_unused(repo_map: RepoMap, diagnostics: Diagnostics) -> None:
    """Report unused entries of a repository map."""
    for mapped in repo_map.unused():
        diagnostics.add(
            Diagnostic(
                "CMD-ARGO-319",
                f"--repo-map has a folder for {redact(mapped.url)}, which is not used",
                "warning",
                "check the URL; user names, '.git' and the case of letters do not count",
            )
        )


def read_applications(
    files: Iterable[Path], limits: Limits, diagnostics: Diagnostics, *, dry: bool = False
) -> list[Application]:
    """Read the Applications of files, in their order. Invalid names are accepted, as Argo CD renders them, too.

    Args:
        diagnostics: collects invalid names (CMD-ARGO-103).
        dry: see `read_application`.

    Raises:
        InputError: CMD-ARGO-101, a file cannot be read; CMD-ARGO-103 and others, an Application is invalid or an
            object is of another kind.
    """
    applications = []
    for file in files:
        for value, line in read_placed_documents(read_file(file, limits), place=str(file)):
            place = Location(str(file), line)
            fields = Fields.of(value, "", place)
            if fields.text("kind") != "Application":
                raise InputError(
                    "CMD-ARGO-103",
                    f"{fields.text('kind') or 'an object without kind'} is not an Application",
                    hint="the file holds Applications of argoproj.io",
                    locations=[place],
                )
            application = read_application(value, place, dry=dry, any_name=True)
            for text, what in ((application.name, "metadata.name"), (application.namespace, "metadata.namespace")):
                if text and not is_name(text):
                    diagnostics.add(
                        Diagnostic("CMD-ARGO-103", misnamed(text, what), "warning", NAME_FORM, locations=(place,))
                    )
            applications.append(application)
    return applications
