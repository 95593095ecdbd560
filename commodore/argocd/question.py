"""A question about one or two trees while it is answered: what the functions of the library and the commands share."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from commodore.argocd import comparing, running
from commodore.argocd.acquiring import Credentials, Mapped, RepoMap, own_urls, parse_repo_map, read_credentials
from commodore.argocd.appsets import Facts, read_facts
from commodore.argocd.checking import Checks
from commodore.argocd.comparing import Considered, Side, Wanted, find_merge_base, find_side, pair_of
from commodore.argocd.configuration import ArgoSettings, Given, choose_profile, read_policy
from commodore.argocd.diagnostics import STRICT
from commodore.argocd.discovery import Kinds, Narrowing, Origin, is_exact, parse_selector, select
from commodore.argocd.finishing import hook_phases
from commodore.argocd.model.application import Application
from commodore.argocd.model.plugins import PluginRule
from commodore.argocd.options import Options, Tree
from commodore.argocd.rendering import Capabilities
from commodore.argocd.rendering.plugins import AVP
from commodore.argocd.running import Named, report_unused
from commodore.base.diagnostics import Diagnostic, Diagnostics
from commodore.base.errors import PolicyError, UsageError
from commodore.base.events import Announce, Event, Obtained, stage
from commodore.base.files.staging import temporary_folder
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.printable import printable
from commodore.core.results.caches import cache_folder, refused_write
from commodore.core.review.object_diff import KindPointer, Watched
from commodore.core.sources.git import find_root


class Question:
    """What answering needs: a folder of its own while it is open, and what was found.

    Raises:
        UsageError: CMD-ARGO-020, an entry of the map is none; CMD-ARGO-034, something is to be asked anew offline.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        given = options.context
        limits = given.limits if options.reuse and not options.twice else replace(given.limits, result_bytes=0)
        if options.timeout != DEFAULT_LIMITS.argocd_source_seconds:
            limits = replace(limits, argocd_source_seconds=options.timeout)
        self.found = Diagnostics(STRICT if options.strict else ())
        self.context = replace(given, limits=limits)
        if options.events:
            self.context = self.context.with_announce(_telling_origins(given.announce, self.found))
        if options.refresh and given.offline:
            raise UsageError(
                "CMD-ARGO-034", "--refresh asks servers, and --offline asks none", hint="leave one of them out"
            )
        self.repo_map = RepoMap(_mapped(options), options.providers, options.refresh)
        self._folders = contextlib.ExitStack()
        self._compared: tuple[Path, ...] = ()
        self._subjects: tuple[set[str], set[str]] | None = None

    def __enter__(self) -> Question:
        given, file = self.options, self.options.credentials
        entries = read_credentials(file, self.context.limits) if file is not None else ()
        self.scratch = self._folders.enter_context(temporary_folder())
        home = self.scratch / "git"
        access = Credentials(entries, home, self.context, ambient=given.ambient_credentials)
        self.context = replace(self.context, access=access)
        self._report_cache()
        return self

    def __exit__(self, *_: object) -> None:
        self._folders.close()

    def listing(self, tree: Tree, names: Sequence[str] = ()) -> running.Listing:
        """The Applications and settings of a tree, or of the files that the options name.

        Args:
            names: the Applications that are wanted; if these are known, others are not rendered to look for more.
        """
        named = self.named(tree.path)
        named = self.side(tree).named if tree.revision and not named.files else named
        return self.listing_of(replace(named, names=tuple(names)))

    def given_settings(self) -> ArgoSettings:
        """The settings of the files that the options name, without any tree."""
        named = self.named(Path())
        profile = choose_profile(named.version, {}, Diagnostics())
        return named.candidates(profile, self.context.limits, self.found).settings()

    def listing_of(self, named: Named) -> running.Listing:
        """The Applications and settings of what is named."""
        collected = Diagnostics()
        with stage(self.context.announce, "looking for Applications"):
            listing = running.list_applications(named, self.context, collected, self.repo_map, self.capabilities)
        lost = {one.reason for one in listing.lost} if self.options.allow_unknown else set()
        sets = {one.subject.set for one in lost} - {""}
        self.found.join(collected, lambda one: one.lowered() if one in lost or one.subject.set in sets else one)
        return listing

    def selected(self, listing: running.Listing, names: Sequence[str]) -> list[Application]:
        """The Applications that are wanted. If they are named, what is found of others is left out from now on."""
        settings = listing.settings
        selected = select(
            listing.applications,
            names,
            controller=settings.namespace,
            narrowing=self.narrowing,
            clusters=settings.clusters,
            lost=listing.unseen,
        )
        self._look_at(names, [(listing.label(one), listing.origins.get(listing.label(one))) for one in selected])
        return selected

    def _look_at(self, names: Sequence[str], applications: Sequence[tuple[str, Origin | None]]) -> None:
        if names and all(map(is_exact, names)):
            sets = {origin.set for _, origin in applications if origin is not None}
            self._subjects = {label for label, _ in applications}, sets | {name.rpartition("/")[2] for name in sets}

    @property
    def narrowing(self) -> Narrowing:
        """Which Applications count."""
        options = self.options
        return Narrowing(
            options.project, parse_selector(options.labels), options.cluster, options.destination_namespace
        )

    @property
    def image_places(self) -> tuple[KindPointer, ...]:
        """Where objects name images beside what is known."""
        return _places(self.options.image_pointers, "--image-pointer")

    @property
    def stripped_places(self) -> tuple[KindPointer, ...]:
        """What is taken out of objects after rendering."""
        return _places(self.options.strip, "--strip")

    @property
    def checks(self) -> Checks:
        """What is tested."""
        options = self.options
        return Checks(options.health, options.schema, options.twice, options.kube_version, options.cluster_scoped)

    @property
    def kinds(self) -> Kinds:
        """Which kinds of objects count."""
        return Kinds(self.options.kinds, self.options.left_out)

    def counts(self, data: Mapping[str, Any]) -> bool:
        """Whether an object is of a kind that counts, and no hook if these do not."""
        return (self.options.hooks or hook_phases(data) is None) and self.kinds.fit(data)

    @contextlib.contextmanager
    def run(self, listing: running.Listing, found: Diagnostics | None = None) -> Iterator[running.Run]:
        """What renders Applications of a listing.

        Args:
            found: collects what does not fail, instead of the question's own.
        """
        collected = self.found if found is None else found
        seen = listing.seen_by(self.capabilities, self.context.limits)
        opened = running.open_run(listing.settings, self.repo_map, seen, self.context, collected, listing.own)
        with stage(self.context.announce, "rendering"), opened as run:
            yield run

    def side(self, tree: Tree, version: str = "", name: str = "tree", *, compared: bool = False) -> Side:
        """A tree, a commit of it laid out.

        Args:
            version: of Argo CD, if it is another one than that of the options.
            name: of the folder for it.
            compared: whether it is one of two.
        """
        named = self.named(tree.path, compared=compared)
        return find_side(
            replace(named, version=version or named.version), tree.revision, self.scratch / name, self.context
        )

    def sides(self, base: Tree | None, target: Tree) -> tuple[Side, Side]:
        """The two trees of a comparison. They stand for the same repositories: the remotes of either one.

        Args:
            base: None for the commit where the target left the default branch of `origin`.

        Raises:
            InputError: CMD-ARGO-001, 003, 004, 005, a tree is not there.
        """
        self._compared = tuple(one.path for one in (base, target) if one is not None)
        new = self.side(target, name="target", compared=True)
        version = self.options.base_argocd_version
        if base is not None:
            return pair_of(self.side(base, version, "base", compared=True), new)
        named = self.named(target.path, compared=True)
        named = replace(named, version=version or named.version)
        return pair_of(find_merge_base(named, target.revision, self.scratch / "base", self.context), new)

    def compare(self, sides: tuple[Side, Side], names: Sequence[str]) -> comparing.Difference:
        """What differs between two trees."""
        with stage(self.context.announce, "comparing"):
            found = comparing.diff(*sides, self._wanted(names), self.repo_map, self.context, self.found)
        self._look_at(names, [(one.name, one.origin) for one in found.applications])
        return found

    def _wanted(self, names: Sequence[str]) -> Wanted:
        options = self.options
        return Wanted(
            apps=tuple(names),
            narrowing=self.narrowing,
            kinds=self.kinds,
            changed_only=options.changed_only,
            strict_changed_only=options.strict_changed_only,
            allow_unknown=options.allow_unknown,
            considered=Considered(options.changed_include, options.changed_ignore, options.changed_file),
            rules=options.rules,
            noise=options.noise,
            show_ignored=options.show_ignored,
            hooks=options.hooks,
            watched=Watched(self.image_places, _places(options.immutable, "--immutable", "/spec/selector")),
            secrets=_places(options.mask_kinds, "--mask-kind"),
            apart=not options.grouped,
            context=options.context_lines,
            follow_renames=options.follow_renames,
            cluster_scoped=options.cluster_scoped,
            capabilities=self.capabilities,
        )

    def told(self) -> tuple[Diagnostic, ...]:
        """What was found so far."""
        found = self.found.found()
        return found if self._subjects is None else tuple(_concerning(found, *self._subjects))

    def listed(self, listing: running.Listing) -> tuple[Diagnostic, ...]:
        """The same at the end of a question that renders only to find Applications."""
        listing.report_failures(self.found)
        report_unused(self.repo_map, self.found)
        return self.told()

    def rendered(self, listing: running.Listing, wanted: Sequence[Application]) -> tuple[Diagnostic, ...]:
        """The same of one that renders these Applications anyway."""
        listing.report_failures(self.found, but=wanted)
        return self.told()

    def named(self, folder: Path, *, compared: bool = False) -> Named:
        """Where Applications and settings are looked for.

        Args:
            compared: whether it is one of two trees.

        Raises:
            CommodoreError: a file that the options name cannot be read.
            PolicyError: CMD-ARGO-324, the credentials are in the repository around the folder.
        """
        options = self.options
        self._check_credentials(folder)
        texts = () if isinstance(options.repo_map, Mapping) else options.repo_map
        return Named(
            folder=folder,
            files=options.files,
            settings=options.installation,
            values=options.chart_values,
            self_urls=options.self_urls,
            tree_urls=tuple(own_urls(texts)),
            self_revisions=options.self_revisions,
            entries=options.entries,
            depth=options.max_depth,
            facts=self.facts,
            jobs=options.jobs,
            plugins=self._plugins_beside(folder),
            given=Given(
                options.namespace,
                options.config_maps,
                options.parameters,
                options.app_namespaces,
                options.build_options,
                options.shipped_defaults,
                options.repository_secrets,
            ),
            ignored=options.ignored_paths,
            dry=compared if options.dry_sources is None else options.dry_sources,
            exact=options.exact_tools,
            version=options.argocd_version,
        )

    def _report_cache(self) -> None:
        folder = cache_folder()
        if why := refused_write(folder):
            self.found.add(
                Diagnostic(
                    "CMD-ARGO-331",
                    f"nothing is kept for the next run: the cache {folder} cannot be written to: {why}",
                    "warning",
                    "make room there, or let XDG_CACHE_HOME name a folder that you may write to",
                )
            )

    def _check_credentials(self, folder: Path) -> None:
        """Refuse credentials of the tree itself, which a change of it could lead elsewhere.

        Raises:
            PolicyError: CMD-ARGO-324.
        """
        file = self.options.credentials
        if file is None or self.options.files or self.options.sets or not folder.is_dir():
            return
        root = find_root(folder, self.context) or folder
        if Path(os.path.realpath(file)).is_relative_to(os.path.realpath(root)):
            raise PolicyError(
                "CMD-ARGO-324",
                f"the credentials in {file} are in the repository that is looked at",
                hint="keep them elsewhere",
            )

    @cached_property
    def capabilities(self) -> Capabilities:
        """What charts are told of clusters.

        Raises:
            CommodoreError: a facts file cannot be read.
        """
        given = self.options
        return Capabilities(given.kube_version, given.api_versions, self.facts.clusters, given.api_versions_from_tree)

    @cached_property
    def facts(self) -> Facts:
        """What generators of ApplicationSets would ask for.

        Raises:
            CommodoreError: a facts file cannot be read.
        """
        facts = read_facts(self.options.facts, self.context.limits)
        clock = self.options.providers.clock
        if self.options.fixed_time:
            return replace(facts, moment=_moment(self.options.fixed_time))
        return facts if clock is None else replace(facts, moment=clock.now())

    def _plugins_beside(self, folder: Path) -> tuple[PluginRule, ...]:
        """What becomes of the sources of plugins. Programs run if they are enabled, and if neither they nor the policy
        are of what is looked at: a change cannot allow itself anything.
        """
        rules = self._plugins
        if not self.options.enable_plugins or all(one.program is None for one in rules):
            return rules
        options = self.options
        mapped = (one.folder for one in _mapped(options))
        looked_at = [_checkout(one) for one in (folder, *self._compared, *mapped, *options.files, *options.sets)]
        return tuple(_allowed(one, looked_at) for one in rules)

    @cached_property
    def _plugins(self) -> tuple[PluginRule, ...]:
        policy = self.options.plugin_policy
        given = read_policy(policy, self.context.limits) if policy is not None else ()
        return (*given, *(AVP if self.options.avp else ()))


_WAYS = {
    "map": "the folder of --repo-map",
    "tree": "the tree under analysis",
    "local": "a commit of the local repository",
    "caller": "given by the calling program",
    "cache": "from the cache",
}


def _telling_origins(announce: Announce, found: Diagnostics) -> Announce:
    """A listener that also adds to the diagnostics where things came from."""

    def on_event(event: Event) -> None:
        announce(event)
        if isinstance(event, Obtained):
            wanted = f" at {printable(event.wanted)!r}" if event.wanted else ""
            version = f" is {printable(event.found)}" if event.found else ""
            way = _WAYS.get(event.way, event.way)
            found.add(Diagnostic("CMD-ARGO-330", f"{printable(event.what)}{wanted}{version}: {way}", "info"))

    return on_event


_OF_FILES = frozenset(("CMD-ARGO-101", "CMD-ARGO-102"))


def _concerning(
    found: Iterable[Diagnostic], applications: Collection[str], sets: Collection[str]
) -> Iterator[Diagnostic]:
    """What concerns these Applications, or no others. What fails in the sets that make them is no error of theirs."""
    for one in found:
        if one.subject.application or one.code in _OF_FILES:
            if one.subject.application in applications:
                yield one
        elif not one.subject.set:
            yield one
        elif one.subject.set in sets:
            yield one.lowered()


def _moment(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            "CMD-ARGO-033", f"--fixed-time {text!r} is no time", hint="write it as 2026-01-31T12:00:00Z"
        ) from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _checkout(path: Path) -> Path:
    """The checkout or bare repository that holds a path; the path itself if there is none."""
    real = Path(os.path.realpath(path))
    return next((one for one in (real, *real.parents) if (one / ".git").exists()), real)


def _allowed(rule: PluginRule, looked_at: Sequence[Path]) -> PluginRule:
    """A rule whose program may be run, unless it or its policy lies in what is looked at."""
    if rule.program is None or rule.place is None:
        return rule
    for what, path in (("the policy", rule.place.place), ("its program", rule.program.generate[0])):
        forms = (Path(os.path.abspath(path)), Path(os.path.realpath(path)))
        if any(form.is_relative_to(one) for form in forms for one in looked_at):
            return replace(rule, refusal=f"{what} lies in what is looked at")
    return replace(rule, refusal="")


def _places(texts: Sequence[str], option: str, pointer: str = "") -> tuple[KindPointer, ...]:
    """Places in objects.

    Args:
        option: what gives them.
        pointer: that of texts without one.
    """
    found = []
    for text in texts:
        try:
            found.append(KindPointer.parse(text, pointer))
        except ValueError:
            raise UsageError(
                "CMD-ARGO-030",
                f"{option} {text!r} says no place in objects",
                hint="write it as GROUP/KIND:/POINTER, such as apps/Deployment:/spec/replicas",
            ) from None
    return tuple(found)


def _mapped(options: Options) -> list[Mapped]:
    if isinstance(options.repo_map, Mapping):
        return [Mapped(url, folder) for url, folder in options.repo_map.items()]
    return parse_repo_map(options.repo_map)
