"""The session of an operation: its options, a scratch folder, and its diagnostics."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from commodore.argocd import comparing
from commodore.argocd.acquiring import Credentials, RepoMap, own_urls, read_credentials
from commodore.argocd.appsets import Facts, read_facts
from commodore.argocd.comparing import ComparisonRequest, Side, find_merge_base, find_side, pair_of
from commodore.argocd.configuration import ArgoSettings, choose_profile, read_policy
from commodore.argocd.diagnostics import STRICT
from commodore.argocd.discovery import (
    Listing,
    Origin,
    SearchRoot,
    is_exact,
    open_listing,
    parse_select,
    report_unused,
    select,
)
from commodore.argocd.model.application import Application
from commodore.argocd.model.plugins import PluginRule
from commodore.argocd.operations.options import Options, Tree
from commodore.argocd.rendering import Capabilities, OpenSources
from commodore.argocd.rendering.plugins import AVP
from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostic, Diagnostics
from commodore.base.errors import PolicyError, UsageError
from commodore.base.events import Announce, Event, Obtained, stage
from commodore.base.files.staging import temporary_folder
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.printable import printable
from commodore.core.results.caches import cache_folder, refused_write
from commodore.core.sources.git import find_root


@dataclass(frozen=True, slots=True)
class Session:
    """The state of an operation. It is valid only within `open_session`.

    Attributes:
        scratch: a temporary folder.
        diagnostics: collects warnings and errors.
        facts: replace the answers to generators of ApplicationSets.
        policy: the rules for sources of plugins.
        closing: closed at the end.
    """

    options: Options
    context: Context
    scratch: Path
    diagnostics: Diagnostics
    repo_map: RepoMap
    facts: Facts
    policy: tuple[PluginRule, ...]
    closing: contextlib.ExitStack

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of clusters, as charts see them."""
        given = self.options.kubernetes
        return Capabilities(given.kube_version, given.api_version, self.facts.clusters, given.api_versions_from_tree)


@contextlib.contextmanager
def open_session(options: Options) -> Iterator[Session]:
    """Open the session of an operation.

    Raises:
        UsageError: CMD-ARGO-020, an entry of the map is invalid; CMD-ARGO-033, the fixed time is invalid; CMD-ARGO-034,
            inputs are to be refreshed offline.
        CommodoreError: a file of the options cannot be read.
    """
    given, execution, servers = options.context, options.execution, options.servers
    limits = given.limits if execution.reuse and not options.checks.twice else replace(given.limits, result_bytes=0)
    if execution.timeout != DEFAULT_LIMITS.argocd_source_seconds:
        limits = replace(limits, argocd_source_seconds=execution.timeout)
    diagnostics = Diagnostics(STRICT if options.reporting.strict else ())
    context = replace(given, limits=limits)
    if options.reporting.events:
        context = context.with_announce(_reporting_origins(given.announce, diagnostics))
    if servers.refresh and given.offline:
        raise UsageError("CMD-ARGO-034", "--refresh and --offline exclude each other", hint="leave one of them out")
    repo_map = RepoMap(servers.mapped(), servers.providers, servers.refresh)
    entries = read_credentials(servers.credentials, limits) if servers.credentials is not None else ()
    with contextlib.ExitStack() as closing:
        scratch = closing.enter_context(temporary_folder())
        access = Credentials(entries, scratch / "git", context, ambient=servers.ambient_credentials)
        context = replace(context, access=access)
        _report_cache(diagnostics)
        yield Session(options, context, scratch, diagnostics, repo_map, _facts(options), _policy(options), closing)


@dataclass(frozen=True, slots=True)
class Subjects:
    """The Applications, as `namespace/name`, and the ApplicationSets of an operation."""

    applications: frozenset[str]
    sets: frozenset[str]

    @classmethod
    def of(cls, names: Sequence[str], origins: Mapping[str, Origin | None]) -> Subjects | None:
        """Return the subjects if all Applications are named exactly; None for everything.

        Args:
            origins: the origins of the Applications, by `namespace/name`.
        """
        if not names or not all(map(is_exact, names)):
            return None
        sets = {origin.set for origin in origins.values() if origin is not None}
        return cls(frozenset(origins), frozenset(sets | {name.rpartition("/")[2] for name in sets}))


@dataclass(frozen=True, slots=True)
class Selection:
    """The selected Applications of a listing."""

    listing: Listing
    applications: tuple[Application, ...]
    subjects: Subjects | None = None


def listed(session: Session, tree: Tree, names: Sequence[str] = ()) -> Listing:
    """List the Applications and settings of a tree, or of the files in the options.

    Args:
        names: the requested Applications; once all are known, others are not rendered to discover more.
    """
    at = search_root(session, tree.path)
    if tree.revision and not at.search.app:
        at = find_side(at, tree.revision, session.scratch / "tree", session.context).at
    return listing_of(session, replace(at, names=tuple(names)))


def listing_of(session: Session, root: SearchRoot) -> Listing:
    """List the Applications and settings of a folder. The renderer stays open until the end of the session."""
    collected = Diagnostics()
    with stage(session.context.announce, "looking for Applications"):
        opening = open_listing(root, session.context, collected, session.repo_map, session.capabilities)
        listing = session.closing.enter_context(opening)
    lost = {definition.reason for definition in listing.lost} if session.options.reporting.allow_unknown else set()
    sets = {reason.subject.set for reason in lost} - {""}
    session.diagnostics.join(
        collected,
        lambda diagnostic: diagnostic.lowered() if diagnostic in lost or diagnostic.subject.set in sets else diagnostic,
    )
    return listing


def selected(session: Session, tree: Tree, names: Sequence[str] = ()) -> Selection:
    """Return the Applications of a tree that match the options and the names, if there are any.

    Raises:
        CommodoreError: the tree cannot be read, or a name matches no Application.
    """
    listing = listed(session, tree, names)
    settings = listing.settings
    applications = select(
        listing.applications,
        names,
        controller=settings.namespace,
        application_filter=parse_select(session.options.select),
        clusters=settings.clusters,
        lost=listing.unseen,
    )
    origins = {
        listing.label(application): listing.origins.get(listing.label(application)) for application in applications
    }
    return Selection(listing, tuple(applications), Subjects.of(names, origins))


@contextlib.contextmanager
def rendering(session: Session, listing: Listing, diagnostics: Diagnostics | None = None) -> Iterator[OpenSources]:
    """Open the renderer of the Applications of a listing.

    Args:
        diagnostics: collects warnings and errors, instead of those of the session.
    """
    collected = session.diagnostics if diagnostics is None else diagnostics
    with stage(session.context.announce, "rendering"):
        yield listing.to_render(collected)
    report_unused(session.repo_map, collected)


def given_settings(session: Session) -> ArgoSettings:
    """Return the settings of the files in the options, without a tree."""
    root = search_root(session, Path())
    profile = choose_profile(root.followed.argocd_version, {}, Diagnostics())
    return root.candidates(profile, session.context.limits, session.diagnostics).settings()


def compare(
    session: Session, base: Tree | None, target: Tree, names: Sequence[str] = ()
) -> tuple[tuple[Side, Side], comparing.Difference, tuple[Diagnostic, ...]]:
    """Return two trees, their differences, and the diagnostics.

    Args:
        base: None for the merge base of the target and the default branch of `origin`.

    Raises:
        InputError: CMD-ARGO-001, 003, 004, 005, a tree does not exist.
    """
    options = session.options
    sides = find_sides(session, base, target)
    request = ComparisonRequest(
        names=tuple(names),
        application_filter=parse_select(options.select),
        shown=options.shown,
        considered=options.considered,
        options=options.comparison,
        allow_unknown=options.reporting.allow_unknown,
        cluster_scoped=options.kubernetes.cluster_scoped,
        capabilities=session.capabilities,
    )
    with stage(session.context.announce, "comparing"):
        difference = comparing.diff(*sides, request, session.repo_map, session.context, session.diagnostics)
    subjects = Subjects.of(names, {verdict.name: verdict.origin for verdict in difference.applications})
    return sides, difference, diagnostics(session, subjects)


def find_sides(session: Session, base: Tree | None, target: Tree) -> tuple[Side, Side]:
    """Find the two trees of a comparison. Both replace the same repositories: the remotes of both.

    Args:
        base: see `compare`.
    """
    paths = [tree.path for tree in (base, target) if tree is not None]

    def root(tree: Tree) -> SearchRoot:
        return search_root(session, tree.path, paths)

    new = find_side(root(target), target.revision, session.scratch / "target", session.context)
    old, place = root(base or target), session.scratch / "base"
    followed = old.followed
    version = followed.base_argocd_version or followed.argocd_version
    old = replace(old, followed=replace(followed, argocd_version=version))
    if base is None:
        return pair_of(find_merge_base(old, target.revision, place, session.context), new)
    return pair_of(find_side(old, base.revision, place, session.context), new)


def diagnostics(session: Session, subjects: Subjects | None = None) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of the session.

    Args:
        subjects: diagnostics of others are left out.
    """
    collected = session.diagnostics.collected()
    return collected if subjects is None else tuple(_concerning(collected, subjects))


def after_listing(session: Session, selection: Selection) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of an operation that renders only to discover Applications."""
    selection.listing.report_failures(session.diagnostics)
    report_unused(session.repo_map, session.diagnostics)
    return diagnostics(session, selection.subjects)


def after_rendering(session: Session, selection: Selection) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of an operation that renders its Applications."""
    selection.listing.report_failures(session.diagnostics, exclude=selection.applications)
    return diagnostics(session, selection.subjects)


def search_root(session: Session, folder: Path, compared: Collection[Path] = ()) -> SearchRoot:
    """Return the folder and the options of discovery.

    Args:
        compared: the paths of both trees of a comparison.

    Raises:
        PolicyError: CMD-ARGO-324, the file of credentials is in the repository around the folder.
    """
    options = session.options
    _check_credentials(session, folder)
    texts = () if isinstance(options.servers.repo_map, Mapping) else options.servers.repo_map
    dry = options.search.dry_sources
    return SearchRoot(
        folder=folder,
        search=options.search,
        installation=options.installation,
        followed=options.followed,
        tree_urls=tuple(own_urls(texts)),
        facts=session.facts,
        jobs=options.execution.jobs,
        plugins=_allowed_plugins(session, folder, compared),
        dry=bool(compared) if dry is None else dry,
    )


def _report_cache(diagnostics: Diagnostics) -> None:
    folder = cache_folder()
    if why := refused_write(folder):
        diagnostics.add(
            Diagnostic(
                "CMD-ARGO-331",
                f"the cache {folder} cannot be written to, so nothing is cached: {why}",
                "warning",
                "free disk space, or set XDG_CACHE_HOME to a writable folder",
            )
        )


def _check_credentials(session: Session, folder: Path) -> None:
    """Refuse credentials in the tree itself, which a change could use for other servers.

    Raises:
        PolicyError: CMD-ARGO-324.
    """
    file, search = session.options.servers.credentials, session.options.search
    if file is None or search.app or search.appset or not folder.is_dir():
        return
    root = find_root(folder, session.context) or folder
    if Path(os.path.realpath(file)).is_relative_to(os.path.realpath(root)):
        raise PolicyError(
            "CMD-ARGO-324",
            f"the credentials in {file} are in the analysed repository",
            hint="move them elsewhere",
        )


def _facts(options: Options) -> Facts:
    facts = read_facts(options.search.facts, options.context.limits)
    clock = options.servers.providers.clock
    if options.search.fixed_time:
        return replace(facts, moment=_moment(options.search.fixed_time))
    return facts if clock is None else replace(facts, moment=clock.now())


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            "CMD-ARGO-033", f"invalid fixed-time {text!r}", hint="write it as 2026-01-31T12:00:00Z"
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _policy(options: Options) -> tuple[PluginRule, ...]:
    file = options.plugins.plugin_policy
    given = read_policy(file, options.context.limits) if file is not None else ()
    return (*given, *(AVP if options.plugins.avp else ()))


def _allowed_plugins(session: Session, folder: Path, compared: Iterable[Path]) -> tuple[PluginRule, ...]:
    """Return the rules for sources of plugins. Programs run if they are enabled, and neither they nor the policy are in
    the analysed trees, so that a change cannot allow itself anything.
    """
    options, rules = session.options, session.policy
    if not options.plugins.enable_plugins or all(rule.program is None for rule in rules):
        return rules
    mapped = (repository.folder for repository in options.servers.mapped())
    places = (folder, *compared, *mapped, *options.search.app, *options.search.appset)
    analysed = [_checkout(place) for place in places]
    return tuple(_allowed(rule, analysed) for rule in rules)


def _checkout(path: Path) -> Path:
    """Return the root of the checkout that contains a path, or the path."""
    real = Path(os.path.realpath(path))
    return next((folder for folder in (real, *real.parents) if (folder / ".git").exists()), real)


def _allowed(rule: PluginRule, analysed: Sequence[Path]) -> PluginRule:
    """Return a rule that may run its program, unless the program or the policy is in an analysed tree."""
    if rule.program is None or rule.place is None:
        return rule
    for what, path in (("the policy", rule.place.place), ("its program", rule.program.generate[0])):
        forms = (Path(os.path.abspath(path)), Path(os.path.realpath(path)))
        if any(form.is_relative_to(place) for form in forms for place in analysed):
            return replace(rule, refusal=f"{what} is in an analysed tree")
    return replace(rule, refusal="")


_WAYS = {
    "map": "the folder of --repo-map",
    "tree": "the tree under analysis",
    "local": "a commit of the local repository",
    "caller": "given by the calling program",
    "cache": "from the cache",
}


def _reporting_origins(announce: Announce, diagnostics: Diagnostics) -> Announce:
    """Return a listener that also reports the origins of inputs as diagnostics."""

    def on_event(event: Event) -> None:
        announce(event)
        if isinstance(event, Obtained):
            revision = f" at {printable(event.wanted)!r}" if event.wanted else ""
            version = f" is {printable(event.found)}" if event.found else ""
            way = _WAYS.get(event.way, event.way)
            diagnostics.add(Diagnostic("CMD-ARGO-330", f"{printable(event.what)}{revision}{version}: {way}", "info"))

    return on_event


_OF_FILES = frozenset(("CMD-ARGO-101", "CMD-ARGO-102"))


def _concerning(diagnostics: Iterable[Diagnostic], subjects: Subjects) -> Iterator[Diagnostic]:
    """Yield diagnostics of the subjects, or of nothing else. Errors of their ApplicationSets are lowered."""
    for diagnostic in diagnostics:
        if diagnostic.subject.application or diagnostic.code in _OF_FILES:
            if diagnostic.subject.application in subjects.applications:
                yield diagnostic
        elif not diagnostic.subject.set:
            yield diagnostic
        elif diagnostic.subject.set in subjects.sets:
            yield diagnostic.lowered()
