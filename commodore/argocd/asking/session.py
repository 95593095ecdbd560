"""One analysis: its options, a folder of its own while it is open, and what it has found."""

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
from commodore.argocd.asking.options import Options, Tree
from commodore.argocd.comparing import Side, Wanted, find_merge_base, find_side, pair_of
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
from commodore.argocd.rendering import Capabilities, Opened
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
    """What answering a question needs. Nothing of it outlives `open_session`.

    Attributes:
        scratch: a folder of its own.
        found: collects what does not fail.
        facts: what generators of ApplicationSets would ask for.
        policy: what becomes of the sources of plugins.
        kept: what is closed at the end.
    """

    options: Options
    context: Context
    scratch: Path
    found: Diagnostics
    repo_map: RepoMap
    facts: Facts
    policy: tuple[PluginRule, ...]
    kept: contextlib.ExitStack

    @property
    def capabilities(self) -> Capabilities:
        """What charts are told of clusters."""
        given = self.options.kubernetes
        return Capabilities(given.kube_version, given.api_version, self.facts.clusters, given.api_versions_from_tree)


@contextlib.contextmanager
def open_session(options: Options) -> Iterator[Session]:
    """Begin an analysis.

    Raises:
        UsageError: CMD-ARGO-020, an entry of the map is wrong; CMD-ARGO-033, the fixed time is no time; CMD-ARGO-034,
            something is to be asked anew offline.
        CommodoreError: a file that the options name cannot be read.
    """
    given, effort, servers = options.context, options.effort, options.servers
    limits = given.limits if effort.reuse and not options.checks.twice else replace(given.limits, result_bytes=0)
    if effort.timeout != DEFAULT_LIMITS.argocd_source_seconds:
        limits = replace(limits, argocd_source_seconds=effort.timeout)
    diagnostics = Diagnostics(STRICT if options.reporting.strict else ())
    context = replace(given, limits=limits)
    if options.reporting.events:
        context = context.with_announce(_telling_origins(given.announce, diagnostics))
    if servers.refresh and given.offline:
        raise UsageError(
            "CMD-ARGO-034", "--refresh asks servers, and --offline asks none", hint="leave one of them out"
        )
    repo_map = RepoMap(servers.mapped(), servers.providers, servers.refresh)
    entries = read_credentials(servers.credentials, limits) if servers.credentials is not None else ()
    with contextlib.ExitStack() as kept:
        scratch = kept.enter_context(temporary_folder())
        access = Credentials(entries, scratch / "git", context, ambient=servers.ambient_credentials)
        context = replace(context, access=access)
        _report_cache(diagnostics)
        yield Session(options, context, scratch, diagnostics, repo_map, _facts(options), _policy(options), kept)


@dataclass(frozen=True, slots=True)
class Subjects:
    """The Applications, as `namespace/name`, and the ApplicationSets that a question is about."""

    applications: frozenset[str]
    sets: frozenset[str]

    @classmethod
    def of(cls, names: Sequence[str], origins: Mapping[str, Origin | None]) -> Subjects | None:
        """What is asked about if all Applications are named exactly; None for everything.

        Args:
            origins: how the Applications were found, by `namespace/name`.
        """
        if not names or not all(map(is_exact, names)):
            return None
        sets = {origin.set for origin in origins.values() if origin is not None}
        return cls(frozenset(origins), frozenset(sets | {name.rpartition("/")[2] for name in sets}))


@dataclass(frozen=True, slots=True)
class Selection:
    """The Applications of a listing that a question is about."""

    listing: Listing
    applications: tuple[Application, ...]
    subjects: Subjects | None = None


def listed(session: Session, tree: Tree, names: Sequence[str] = ()) -> Listing:
    """The Applications and settings of a tree, or of the files that the options name.

    Args:
        names: the Applications that are looked for; if these are known, others are not rendered to look for more.
    """
    at = search_root(session, tree.path)
    if tree.revision and not at.search.app:
        at = find_side(at, tree.revision, session.scratch / "tree", session.context).at
    return listing_of(session, replace(at, names=tuple(names)))


def listing_of(session: Session, root: SearchRoot) -> Listing:
    """The Applications and settings of a folder. What renders them stays open as long as the session."""
    collected = Diagnostics()
    with stage(session.context.announce, "looking for Applications"):
        opening = open_listing(root, session.context, collected, session.repo_map, session.capabilities)
        listing = session.kept.enter_context(opening)
    lost = {definition.reason for definition in listing.lost} if session.options.reporting.allow_unknown else set()
    sets = {reason.subject.set for reason in lost} - {""}
    session.found.join(
        collected,
        lambda diagnostic: diagnostic.lowered() if diagnostic in lost or diagnostic.subject.set in sets else diagnostic,
    )
    return listing


def selected(session: Session, tree: Tree, names: Sequence[str] = ()) -> Selection:
    """The Applications of a tree that the options choose, and of these those with the names, if there are any.

    Raises:
        CommodoreError: the tree cannot be read, or a name fits no Application.
    """
    listing = listed(session, tree, names)
    settings = listing.settings
    applications = select(
        listing.applications,
        names,
        controller=settings.namespace,
        narrowing=parse_select(session.options.select),
        clusters=settings.clusters,
        lost=listing.unseen,
    )
    origins = {
        listing.label(application): listing.origins.get(listing.label(application)) for application in applications
    }
    return Selection(listing, tuple(applications), Subjects.of(names, origins))


@contextlib.contextmanager
def rendering(session: Session, listing: Listing, diagnostics: Diagnostics | None = None) -> Iterator[Opened]:
    """What renders the Applications of a listing.

    Args:
        found: collects what does not fail, instead of the session's own.
    """
    collected = session.found if diagnostics is None else diagnostics
    with stage(session.context.announce, "rendering"):
        yield listing.to_render(collected)
    report_unused(session.repo_map, collected)


def given_settings(session: Session) -> ArgoSettings:
    """The settings of the files that the options name, without any tree."""
    root = search_root(session, Path())
    profile = choose_profile(root.followed.argocd_version, {}, Diagnostics())
    return root.candidates(profile, session.context.limits, session.found).settings()


def compare(
    session: Session, base: Tree | None, target: Tree, names: Sequence[str] = ()
) -> tuple[tuple[Side, Side], comparing.Difference, tuple[Diagnostic, ...]]:
    """Two trees, what differs between them, and what was found.

    Args:
        base: None for the commit where the target left the default branch of `origin`.

    Raises:
        InputError: CMD-ARGO-001, 003, 004, 005, a tree is not there.
    """
    options = session.options
    sides = find_sides(session, base, target)
    request = Wanted(
        names=tuple(names),
        narrowing=parse_select(options.select),
        shown=options.shown,
        considered=options.considered,
        options=options.comparison,
        allow_unknown=options.reporting.allow_unknown,
        cluster_scoped=options.kubernetes.cluster_scoped,
        capabilities=session.capabilities,
    )
    with stage(session.context.announce, "comparing"):
        difference = comparing.diff(*sides, request, session.repo_map, session.context, session.found)
    subjects = Subjects.of(names, {verdict.name: verdict.origin for verdict in difference.applications})
    return sides, difference, diagnostics(session, subjects)


def find_sides(session: Session, base: Tree | None, target: Tree) -> tuple[Side, Side]:
    """The two trees of a comparison. They stand for the same repositories: the remotes of either one.

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
    """What was found so far.

    Args:
        subjects: what is found of others is left out.
    """
    collected = session.found.found()
    return collected if subjects is None else tuple(_concerning(collected, subjects))


def after_listing(session: Session, selection: Selection) -> tuple[Diagnostic, ...]:
    """What was found by a question that renders only to find Applications."""
    selection.listing.report_failures(session.found)
    report_unused(session.repo_map, session.found)
    return diagnostics(session, selection.subjects)


def after_rendering(session: Session, selection: Selection) -> tuple[Diagnostic, ...]:
    """What was found by a question that renders its Applications anyway."""
    selection.listing.report_failures(session.found, but=selection.applications)
    return diagnostics(session, selection.subjects)


def search_root(session: Session, folder: Path, compared: Collection[Path] = ()) -> SearchRoot:
    """Where Applications and settings are looked for.

    Args:
        compared: the paths of two trees of which the folder is one.

    Raises:
        PolicyError: CMD-ARGO-324, the credentials are in the repository around the folder.
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
        jobs=options.effort.jobs,
        plugins=_allowed_plugins(session, folder, compared),
        dry=bool(compared) if dry is None else dry,
    )


def _report_cache(diagnostics: Diagnostics) -> None:
    folder = cache_folder()
    if why := refused_write(folder):
        diagnostics.add(
            Diagnostic(
                "CMD-ARGO-331",
                f"nothing is kept for the next run: the cache {folder} cannot be written to: {why}",
                "warning",
                "make room there, or let XDG_CACHE_HOME name a folder that you may write to",
            )
        )


def _check_credentials(session: Session, folder: Path) -> None:
    """Refuse credentials of the tree itself, which a change of it could lead elsewhere.

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
            f"the credentials in {file} are in the repository that is looked at",
            hint="keep them elsewhere",
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
            "CMD-ARGO-033", f"fixed-time {text!r} is no time", hint="write it as 2026-01-31T12:00:00Z"
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _policy(options: Options) -> tuple[PluginRule, ...]:
    file = options.plugins.plugin_policy
    given = read_policy(file, options.context.limits) if file is not None else ()
    return (*given, *(AVP if options.plugins.avp else ()))


def _allowed_plugins(session: Session, folder: Path, compared: Iterable[Path]) -> tuple[PluginRule, ...]:
    """What becomes of the sources of plugins. Programs run if they are enabled, and if neither they nor the policy
    are of what is looked at: a change cannot allow itself anything.
    """
    options, rules = session.options, session.policy
    if not options.plugins.enable_plugins or all(rule.program is None for rule in rules):
        return rules
    mapped = (repository.folder for repository in options.servers.mapped())
    places = (folder, *compared, *mapped, *options.search.app, *options.search.appset)
    looked_at = [_checkout(place) for place in places]
    return tuple(_allowed(rule, looked_at) for rule in rules)


def _checkout(path: Path) -> Path:
    """The checkout or bare repository that holds a path; the path itself if there is none."""
    real = Path(os.path.realpath(path))
    return next((folder for folder in (real, *real.parents) if (folder / ".git").exists()), real)


def _allowed(rule: PluginRule, looked_at: Sequence[Path]) -> PluginRule:
    """A rule whose program may be run, unless it or its policy lies in what is looked at."""
    if rule.program is None or rule.place is None:
        return rule
    for what, path in (("the policy", rule.place.place), ("its program", rule.program.generate[0])):
        forms = (Path(os.path.abspath(path)), Path(os.path.realpath(path)))
        if any(form.is_relative_to(place) for form in forms for place in looked_at):
            return replace(rule, refusal=f"{what} lies in what is looked at")
    return replace(rule, refusal="")


_WAYS = {
    "map": "the folder of --repo-map",
    "tree": "the tree under analysis",
    "local": "a commit of the local repository",
    "caller": "given by the calling program",
    "cache": "from the cache",
}


def _telling_origins(announce: Announce, diagnostics: Diagnostics) -> Announce:
    """A listener that also adds to the diagnostics where things came from."""

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
    """What concerns these Applications, or no others. What fails in the sets that make them is no error of theirs."""
    for diagnostic in diagnostics:
        if diagnostic.subject.application or diagnostic.code in _OF_FILES:
            if diagnostic.subject.application in subjects.applications:
                yield diagnostic
        elif not diagnostic.subject.set:
            yield diagnostic
        elif diagnostic.subject.set in subjects.sets:
            yield diagnostic.lowered()
