"""The Applications and settings of a tree, listed with what renders them."""

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
from commodore.argocd.discovery.chain import Chain
from commodore.argocd.discovery.model import Discovered, Lost, Origin, Raw
from commodore.argocd.discovery.reach import defining_folders
from commodore.argocd.discovery.rendered import Rounds
from commodore.argocd.discovery.root import SearchRoot
from commodore.argocd.discovery.scan import Scanned, report_unknown_fields, scan
from commodore.argocd.discovery.served import ServedApis
from commodore.argocd.model import IN_CLUSTER
from commodore.argocd.model.application import NAME_FORM, Application, is_name, misnamed, read_application
from commodore.argocd.model.fields import Fields
from commodore.argocd.rendering import Capabilities, Opened, open_sources
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
    """Applications and settings.

    Attributes:
        opened: what gives their sources, and renders them.
        own: the tree that was scanned, by the repositories that it stands for.
        origins: how the Applications were found, by their `namespace/name`.
        failures: why Applications could not be rendered to look for further ones, by their `namespace/name`.
        sets: the ApplicationSets that are defined, as far as they can be read.
        generated: what they make.
        lost: what defines Applications and cannot be read or expanded.
    """

    opened: Opened
    applications: tuple[Application, ...]
    own: Mapping[str, Tree] = field(default_factory=dict)
    origins: Mapping[str, Origin] = field(default_factory=dict)
    failures: Mapping[str, CommodoreError] = field(default_factory=dict)
    sets: tuple[ApplicationSet, ...] = ()
    generated: tuple[Generated, ...] = ()
    lost: tuple[Lost, ...] = ()

    @property
    def settings(self) -> ArgoSettings:
        """The settings that count."""
        return self.opened.settings

    def to_render(self, diagnostics: Diagnostics) -> Opened:
        """What renders the Applications, told of the APIs that the tree shows.

        Args:
            found: collects what does not fail.
        """
        capabilities = self.opened.renderer.capabilities
        if self.own:
            limits = self.opened.renderer.context.limits
            served = ServedApis(self.own, self.applications, self.settings.clusters, limits)
            capabilities = capabilities.seeing(served.of)
        return self.opened.to_render(capabilities, diagnostics)

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
        return self.settings.label(application.namespace, application.name)

    def report_failures(self, diagnostics: Diagnostics, exclude: Iterable[Application] = ()) -> None:
        """Report why Applications could not be rendered to look for further ones.

        Args:
            but: those that are rendered anyway, which tells it.
        """
        left_out = {self.label(application) for application in exclude}
        for label, error in self.failures.items():
            if label not in left_out:
                diagnostics.take(error, Subject(application=label))


@contextlib.contextmanager
def open_listing(
    root: SearchRoot,
    context: Context,
    diagnostics: Diagnostics,
    repo_map: RepoMap | None = None,
    capabilities: Capabilities | None = None,
) -> Iterator[Listing]:
    """The Applications of the files that are named, or else those of a folder, with the settings that count.

    Those of a folder are in its files, made by ApplicationSets, and in what other Applications render. Repositories
    stay open as long as the block runs.

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


def _of_files(root: SearchRoot, opened: Opened, diagnostics: Diagnostics) -> Listing:
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
    root: SearchRoot, tree: Tree, own: Mapping[str, Tree], opened: Opened, diagnostics: Diagnostics
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
                _where_to_look(root.folder, context.limits),
            )
        )
    return replace(listing, own=own)


def _where_to_look(folder: Path, limits: Limits) -> str:
    """What to try if files define no Applications: a chart or a kustomization that seems to render some."""
    seen = defining_folders(folder, limits)
    if not seen:
        return "choose another folder"
    return f"render what defines them: {' or '.join(f'--entry {shlex.quote(folder)}' for folder in seen)}"


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

    root: SearchRoot
    tree: Tree
    opened: Opened
    context: Context
    found: Diagnostics
    profile: Profile = NEWEST

    def listing(self) -> Listing:
        scanned = self._scanned()
        self.profile = choose_profile(self.root.followed.argocd_version, scanned.versions, self.found)
        if self.root.followed.exact_tools:
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
                    "give the settings with --installation",
                )
            )
        discovered = rounds.discovered
        settings = _with_chart(rounds.candidates, scanned)
        self.found.join(collected, _offline)
        return Listing(
            self.opened.with_settings(settings),
            tuple(_watched(discovered.listed(), settings, self.found)),
            {},
            {
                discovered.label(application): discovered.origin(application)
                for application in discovered.applications.values()
            },
            rounds.failures,
            tuple(rounds.chain.sets),
            tuple(rounds.chain.generated),
            (*scanned.lost, *_lost(rounds, collected)),
        )

    def _scanned(self) -> Scanned:
        """What the files define, but those that are not looked at."""
        limits = self.context.limits
        kept = usable(result_cache()) if limits.result_bytes else None
        names = self.opened.repositories.own.keys() - {repository_identity(_ENTRY)}
        parsed = ParsedFiles(kept, names or [str(self.tree.root)], limits)
        collected = Diagnostics()
        scanned = scan(self.tree, self.root.folder.resolve(), parsed, limits, collected)
        parsed.keep()
        ignored = PathPatterns(self.root.search.ignore_path)
        for diagnostic in collected.found():
            if not any(ignored.cover(place.place) for place in diagnostic.locations):
                self.found.add(diagnostic)
        return _looked_at(scanned, ignored, self.tree) if self.root.search.ignore_path else scanned

    def _candidates(self, scanned: Scanned, rendered: Iterable[Raw], collected: Diagnostics) -> Candidates:
        candidates = self.root.candidates(self.profile, self.context.limits, collected)
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
        opened = self.opened.with_settings(settings)
        facts, jobs = self.root.facts, self.root.jobs
        chain = Chain(opened, facts, frozenset(scanned.files), collected, jobs)
        discovered = Discovered(settings.namespace, self.context.limits, dry=self.root.dry)
        candidates = self._candidates(scanned, rendered, collected)
        rounds = Rounds(discovered, candidates, chain, self.root.search.rounds, collected, self.root.names)
        rounds.run(scanned.objects, [self._entry(path, settings) for path in self.root.search.entry])
        return rounds

    def _entry(self, path: str, settings: ArgoSettings) -> Application:
        below = os.path.relpath((self.root.folder / path).resolve(), self.tree.root)
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
        diagnostic.subject.set: _offline(diagnostic)
        for diagnostic in reversed(collected.found())
        if diagnostic.severity in ("error", "boundary")
    }
    for (namespace, name), (value, place) in discovered.sets.items():
        if reason := failures.get(name):
            yield Lost("ApplicationSet", f"{namespace}/{name}", place, reason, value)
    yield from rounds.lost
    labels = {discovered.label(application) for application in discovered.applications.values()}
    for label, error in rounds.failures.items():
        if label not in labels:
            yield Lost("entry", label, Location(label), Diagnostic.of(error, Subject(application=label)))


def _offline(diagnostic: Diagnostic) -> Diagnostic:
    """An error that is no more than a limit of working without a cluster as what it is."""
    return diagnostic.lowered("boundary") if diagnostic.code in _UNKNOWN_OFFLINE else diagnostic


def _looked_at(scanned: Scanned, ignored: PathPatterns, tree: Tree) -> Scanned:
    return Scanned(
        [one for one in scanned.objects if not ignored.cover(one[1].place)],
        [one for one in scanned.of_chart if not ignored.cover(one[1].place)],
        {file for file in scanned.files if not ignored.cover(os.path.relpath(file, tree.root))},
        {name: place for name, place in scanned.versions.items() if not ignored.cover(place.place)},
        scanned.lines,
        [definition for definition in scanned.lost if not ignored.cover(definition.name)],
    )


def _watched(
    applications: Iterable[Application], settings: ArgoSettings, diagnostics: Diagnostics
) -> Iterator[Application]:
    """The Applications that Argo CD sees, as far as it is known where it looks; the others are reported."""
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
                f"Argo CD does not look at Applications in the namespace {application.namespace}, so this one is left out",
                "warning",
                "add the namespace to application.namespaces, or to application_namespaces of --installation",
                subject=Subject(application=f"{application.namespace}/{application.name}"),
                locations=(application.place,),
            )
        )


def _with_chart(candidates: Candidates, scanned: Scanned) -> ArgoSettings:
    """The settings, with those that values of the Argo CD chart say where nothing else does."""
    for value, place in scanned.of_chart:
        candidates.take(value, place, "chart")
    return candidates.settings()


def _values(settings: ArgoSettings) -> list[tuple[str, str, str]]:
    rows = [(name, key, setting.value) for name, key, setting in settings.rows()]
    return [("", "namespace", settings.namespace), *rows]


def report_unused(repo_map: RepoMap, diagnostics: Diagnostics) -> None:
    """Report entries of a map that nothing has used."""
    for mapped in repo_map.unused():
        diagnostics.add(
            Diagnostic(
                "CMD-ARGO-319",
                f"--repo-map names a folder for {redact(mapped.url)}, which nothing asks for",
                "warning",
                "check the URL; user names, '.git' and the case of letters do not count",
            )
        )


def read_applications(
    files: Iterable[Path], limits: Limits, diagnostics: Diagnostics, *, dry: bool = False
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
                    diagnostics.add(
                        Diagnostic("CMD-ARGO-103", misnamed(text, what), "warning", NAME_FORM, locations=(place,))
                    )
            applications.append(application)
    return applications
