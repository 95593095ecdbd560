"""The comparison of two trees: which Applications are rendered, on which side, and what differs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from commodore.argocd.acquiring import RepoMap, repository_identity
from commodore.argocd.comparing.applications import (
    Comparing,
    Difference,
    Edition,
    Rules,
    Verdict,
    compare_application,
    own_change,
)
from commodore.argocd.comparing.changed import Considered
from commodore.argocd.comparing.inputs import Inputs, OpenTree
from commodore.argocd.comparing.owners import ChangedFiles, generate_paths, missed_by, unowned
from commodore.argocd.comparing.reads import reads_of
from commodore.argocd.comparing.sides import Side
from commodore.argocd.comparing.unknown import failed_verdict, join, lost_verdicts, report_failure, report_unknown
from commodore.argocd.configuration import ArgoSettings
from commodore.argocd.discovery import (
    ApplicationFilter,
    Listing,
    Origin,
    names_fit,
    open_listing,
    report_unused,
    select,
    served_by,
)
from commodore.argocd.finishing import ObjectFilter, desired, manifests, pointers
from commodore.argocd.model.application import Application
from commodore.argocd.normalising.server_side import report_server_side
from commodore.argocd.rendering import Capabilities, Rendered
from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostic, Diagnostics, Severity, Subject
from commodore.base.errors import CommodoreError
from commodore.base.kubernetes.objects import ObjectKey
from commodore.base.printable import some_of
from commodore.core.review import (
    CONTEXT,
    DEFAULT_NOISE,
    Comparison,
    Flag,
    FlagRules,
    KindPointer,
    NoiseRule,
    Part,
    in_flag_order,
    is_noise,
    mark_noise,
    review_of,
)
from commodore.core.sources.git import redact

_MASS_APPLICATIONS = 3


@dataclass(frozen=True, slots=True)
class ComparisonOptions:
    """Options: how trees are compared.

    Attributes:
        changed_only: render only the Applications of which a file that they read has changed.
        strict_changed_only: make it an error if it cannot be told what an Application reads, or which one reads a file.
        ignore_rules: whose ignore rules count.
        noise: the differences that are counted instead of shown.
        show_ignored_fields: show noise and what rules ignore, too, marked as such.
        image_pointer: where objects name images in addition to what is known, as `GROUP/KIND:POINTER`.
        immutable: what of which kinds cannot be changed in addition to what is known, likewise; without a pointer,
            their `/spec/selector`.
        mask_kind: where objects have secrets in addition to what is known, likewise.
        group: show equal changes once.
        context_lines: how many lines of a text are shown around what differs in it.
        follow_renames: take an Application that goes and one that comes with the same sources and destination for one.
    """

    changed_only: bool = True
    strict_changed_only: bool = False
    ignore_rules: Rules = "both"
    noise: tuple[NoiseRule, ...] = DEFAULT_NOISE
    show_ignored_fields: bool = False
    image_pointer: tuple[str, ...] = ()
    immutable: tuple[str, ...] = ()
    mask_kind: tuple[str, ...] = ()
    group: bool = True
    context_lines: int = CONTEXT
    follow_renames: bool = False

    @property
    def image_places(self) -> tuple[KindPointer, ...]:
        """Where objects name images in addition to what is known."""
        return pointers(self.image_pointer, "image-pointer")

    @property
    def secrets(self) -> tuple[KindPointer, ...]:
        """Where objects have secrets in addition to what is known."""
        return pointers(self.mask_kind, "mask-kind")

    @property
    def flag_rules(self) -> FlagRules:
        """What counts as a danger in addition to what is known."""
        return FlagRules(self.image_places, pointers(self.immutable, "immutable", "/spec/selector"))


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is compared, and how.

    Attributes:
        names: names or patterns of Applications; all if there are none.
        narrowing: which Applications count; one side must fit.
        shown: the objects that are compared.
        considered: the changed files that count.
        allow_unknown: what is unknown is a warning, though its inputs have changed.
        cluster_scoped: kinds without namespace in addition to those that are known.
    """

    names: tuple[str, ...] = ()
    narrowing: ApplicationFilter = field(default_factory=ApplicationFilter)
    shown: ObjectFilter = field(default_factory=ObjectFilter)
    considered: Considered = field(default_factory=Considered)
    options: ComparisonOptions = field(default_factory=ComparisonOptions)
    allow_unknown: bool = False
    cluster_scoped: tuple[str, ...] = ()
    capabilities: Capabilities = field(default_factory=Capabilities)


@dataclass(frozen=True, slots=True)
class _Rendered:
    """What an Application renders to, or why it does not."""

    edition: Edition | None = None
    error: CommodoreError | None = None


def diff(
    base: Side, target: Side, wanted: Wanted, repo_map: RepoMap, context: Context, diagnostics: Diagnostics
) -> Difference:
    """How what Argo CD would deploy differs between two trees. One that does not render leaves the others alone.

    Raises:
        CommodoreError: a tree cannot be read, or a name fits no Application on either side.
    """
    collected = Diagnostics(), Diagnostics()
    with contextlib.ExitStack() as kept:
        listings = [
            kept.enter_context(
                open_listing(replace(side.at, names=wanted.names), context, one, repo_map, wanted.capabilities)
            )
            for side, one in zip((base, target), collected, strict=True)
        ]
        for listing, one in zip(listings, collected, strict=True):
            listing.report_failures(one, exclude=listing.applications)
        known = _labelled(listings[0]), _labelled(listings[1])
        if wanted.options.follow_renames:
            known = _as_called_now(*known), known[1]
        old, new = (
            OpenTree(side, listing, one, listing.to_render(one), applications)
            for side, listing, one, applications in zip((base, target), listings, collected, known, strict=True)
        )
        inputs = Inputs(old, new, wanted.considered, context.limits)
        inputs.check_patterns(diagnostics)
        verdicts = _Work(old, new, wanted, context, diagnostics, inputs).verdicts()
        verdicts = [*lost_verdicts(old.listing, new.listing, verdicts, wanted.names, inputs), *verdicts]
    for one in collected:
        report_unused(repo_map, one)
    join(diagnostics, *collected, allowed=wanted.allow_unknown)
    report_unknown(verdicts, diagnostics, allowed=wanted.allow_unknown)
    verdicts = _with_own_changes(verdicts, old.listing.settings, new.listing.settings)
    return _difference(verdicts, wanted)


def _labelled(listing: Listing) -> dict[str, Application]:
    return {listing.label(one): one for one in listing.applications}


def _as_called_now(old: Mapping[str, Application], new: Mapping[str, Application]) -> dict[str, Application]:
    """The Applications of the base by the names that they have in the target, where just one there has their sources
    and destination.
    """
    come = [name for name in new if name not in old]
    names = {}
    for gone in old.keys() - new.keys():
        same = [name for name in come if _deploys(new[name]) == _deploys(old[gone])]
        others = [name for name in old.keys() - new.keys() if _deploys(old[name]) == _deploys(old[gone])]
        if len(same) == len(others) == 1:
            names[gone] = same[0]
    return {names.get(name, name): one for name, one in old.items()}


def _deploys(one: Application) -> list[Any]:
    return [one.data["spec"].get(key) for key in ("source", "sources", "sourceHydrator", "destination")]


@dataclass(frozen=True, slots=True)
class _Work:
    """A comparison under way."""

    old: OpenTree
    new: OpenTree
    wanted: Wanted
    context: Context
    found: Diagnostics
    inputs: Inputs

    def verdicts(self) -> list[Verdict]:
        names = self._selected()
        self._report_foreign(names)
        owners = self._owners(names)
        wanted = [name for name in names if name in owners] if owners is not None else names
        sides = [self._rendered(tree, wanted) for tree in (self.old, self.new)]
        verdicts = {
            name: self._verdict(name, sides[0].get(name, _Rendered()), sides[1].get(name, _Rendered()))
            for name in wanted
        }
        for name, files in (owners or {}).items():
            verdicts[name] = replace(verdicts[name], files=tuple(sorted(files)))
        origins = {**self.old.listing.origins, **self.new.listing.origins}
        return [replace(verdicts.get(name) or self._unrendered(name), origin=origins.get(name)) for name in names]

    def _unrendered(self, name: str) -> Verdict:
        """The verdict on an Application that reads nothing that has changed. If it was rendered to look for others and
        did not render, what it defines is unknown.
        """
        verdict = Verdict(name, self.old.applications.get(name), self.new.applications.get(name), "not-rendered")
        errors = self.old.listing.failures.get(name), self.new.listing.failures.get(name)
        return self._failed(verdict, errors) if any(errors) else verdict

    def _rendered(self, tree: OpenTree, names: Iterable[str]) -> dict[str, _Rendered]:
        """What the Applications of a side render to, those that are there."""
        there = [name for name in names if name in tree.applications]
        made = tree.opened.renderer.render_all([tree.applications[name] for name in there], tree.side.at.jobs)
        return {
            name: self._finished(name, one, objects, tree) for name, (one, objects) in zip(there, made, strict=True)
        }

    def _sides(self, name: str) -> list[tuple[OpenTree, Application]]:
        return [(tree, tree.applications[name]) for tree in (self.old, self.new) if name in tree.applications]

    def _selected(self) -> list[str]:
        """The Applications that are looked at, of either side, by name."""
        union = {**self.old.applications, **self.new.applications}
        lost = (*self.old.listing.unseen, *self.new.listing.unseen)
        unread = [one.label for one in lost if one.kind == "Application"]
        apps = self.wanted.names
        only_lost = {text for text in apps if any(names_fit([text], label) for label in unread)}
        only_lost -= {text for text in only_lost if any(names_fit([text], name) for name in union)}
        names = [text for text in apps if text not in only_lost]
        if not names and (apps or not union):
            return []
        controller = self.new.listing.settings.namespace
        chosen = {id(one) for one in select(list(union.values()), names, controller=controller, lost=lost)}
        fits = self.wanted.narrowing.fits
        return sorted(
            name
            for name, one in union.items()
            if id(one) in chosen and any(fits(side, tree.listing.settings.clusters) for tree, side in self._sides(name))
        )

    def _report_foreign(self, names: Sequence[str]) -> None:
        """Warn if no source is in the repository that is compared: its files then change nothing."""
        urls = {
            source.repo_url: repository_identity(source.repo_url) in tree.listing.own
            for name in names
            for tree, application in self._sides(name)
            for source in application.sources
            if not source.chart
        }
        if urls and not any(urls.values()):
            self.found.add(
                Diagnostic(
                    "CMD-ARGO-805",
                    "no source of the Applications is in the repository that is compared, "
                    f"so changes of its files change nothing: they read {some_of(sorted(map(redact, urls)))}",
                    "warning",
                    "say which URL is that of the repository, as --repo-map URL=@",
                )
            )

    def _owners(self, names: Sequence[str]) -> dict[str, set[str]] | None:
        """The Applications that need rendering, with the changed files that belong to each; None for all."""
        if not self.wanted.options.changed_only or len(names) < 2:
            return None
        if self.old.listing.settings.profile != self.new.listing.settings.profile:
            return None
        roots = [tree.side.root for tree in (self.old, self.new)]
        changed = self.inputs.changed
        if not changed.paths:
            narrowed = self.wanted.considered != Considered()
            message = "no file that counts has changed, so nothing is rendered"
            self.found.add(Diagnostic("CMD-ARGO-802", message, "warning" if narrowed else "info"))
            return {}
        if self.inputs.settings_differ:
            return None
        if self.wanted.capabilities.from_tree and self._serve_others(changed.paths, roots):
            return None
        asked = 1 if self._covers_all(changed.paths, roots) else 2
        found = {name: self._files_of(name, changed, asked) for name in names}
        owners = {name: files for name, files in found.items() if files is not None}
        self._report_unowned(names, owners, changed)
        return owners

    def _serve_others(self, paths: Iterable[str], roots: Sequence[Path]) -> bool:
        """Whether a changed file shows other APIs than before, for which charts may ask anywhere."""
        limits = self.context.limits
        return any(len({served_by(root / path, limits) for root in roots}) > 1 for path in paths)

    def _covers_all(self, paths: Iterable[str], roots: Iterable[Path]) -> bool:
        """Whether what an Application reads of one tree tells what it reads of the other, if none of it has changed:
        all changed paths are known, and none is a link, which would lead others elsewhere.
        """
        considered = self.wanted.considered
        if considered != Considered():
            return False
        return not any(os.path.islink(root / path) for path in paths for root in roots)

    def _files_of(self, name: str, changed: ChangedFiles, asked: int) -> set[str] | None:
        """The changed files that an Application reads, or for which Argo CD looks at it again; None if it need not be
        rendered.

        Args:
            asked: how many trees are asked before it is taken to read none of them.
        """
        sides = self._sides(name)
        redefined = len(sides) < 2 or sides[0][1].data != sides[1][1].data
        files = {application.place.place for _, application in sides} & changed.paths if redefined else set()
        known = True
        for number, (tree, application) in enumerate(sides, 1):
            if number > asked and not files:
                break
            try:
                reads = reads_of(application, tree.listing.settings, tree.listing.own, self.context.limits)
            except CommodoreError as error:
                known = False
                if not redefined:
                    self._report_unknown_reads(name, error)
                break
            read = changed.read_by(reads)
            paths = generate_paths(application, tree.listing.own)
            files |= read | {path for path in changed.paths if paths and paths.cover(path)}
            if not redefined and tree is self.new and (missed := missed_by(paths, read, name, application)):
                self.found.add(missed)
        return files if files or redefined or not known else None

    def _report_unowned(self, names: Iterable[str], owners: Mapping[str, set[str]], changed: ChangedFiles) -> None:
        """Report which files changed in vain, unless an ApplicationSet may have read them for what it makes."""
        made = (tree.listing.origins.get(name, Origin()) for name in names for tree, _ in self._sides(name))
        if any(one.kind == "set" for one in made):
            return
        wrong = (one for tree in (self.old, self.new) for one in tree.found.found())
        known = (*owners.values(), (place.place for one in wrong for place in one.locations))
        severity: Severity = "info" if owners else "warning"
        if reported := unowned(changed, known, "error" if self.wanted.options.strict_changed_only else severity):
            self.found.add(reported)

    def _report_unknown_reads(self, name: str, error: CommodoreError) -> None:
        strict = self.wanted.options.strict_changed_only
        self.found.add(
            Diagnostic(
                "CMD-ARGO-801",
                f"what the Application reads cannot be told, so it is rendered: {error.message}",
                "error" if strict else "warning",
                error.hint,
                "input" if strict else "",
                subject=Subject(application=name),
                locations=error.locations,
            )
        )

    def _verdict(self, name: str, old: _Rendered, new: _Rendered) -> Verdict:
        before, after = (tree.applications.get(name) for tree in (self.old, self.new))
        if reason := self._why_unknown(name):
            return Verdict(name, before or after, before or after, "unknown", note=reason)
        unknown = Verdict(name, before, after, "unknown")
        if old.error is not None or new.error is not None:
            return self._failed(unknown, (old.error, new.error))
        try:
            options = self.wanted.options
            comparing = Comparing(options.ignore_rules, options.flag_rules, options.show_ignored_fields, self.found)
            return compare_application(old.edition, new.edition, comparing)
        except CommodoreError as error:
            return self._failed(unknown, (None, error))

    def _failed(self, verdict: Verdict, errors: tuple[CommodoreError | None, CommodoreError | None]) -> Verdict:
        """The verdict on an Application that does not render on a side. It is no error if it was the same before."""
        verdict = failed_verdict(verdict, errors, lambda: self.inputs.of(verdict.name))
        report_failure(verdict, errors, self.found, allowed=self.wanted.allow_unknown)
        return verdict

    def _why_unknown(self, name: str) -> str:
        """Why an Application of one side cannot be told to be missing on the other: what makes it fails there."""
        here = self._sides(name)
        if len(here) != 1:
            return ""
        place = here[0][1].place.place
        there, side = (self.new, "") if here[0][0] is self.old else (self.old, "in the base, ")
        origin = here[0][0].listing.origins.get(name, Origin())
        if origin.kind == "rendered" and origin.parent in there.listing.failures:
            return f"{side}{origin.parent}, which renders it, does not render"
        if origin.kind == "rendered" and origin.parent and origin.parent not in there.applications:
            return self._why_unknown(origin.parent)
        for lost in there.listing.lost:
            if lost.kind == "ApplicationSet" and origin.kind == "set" and lost.name == origin.set:
                return f"{side}the ApplicationSet {origin.set}, which makes it, fails"
            if lost.name == name or (origin.kind == "file" and lost.kind != "ApplicationSet" and lost.at(place)):
                return f"{side}{lost.reason.message}"
        return ""

    def _finished(
        self, name: str, application: Application, rendered: tuple[Rendered, ...] | CommodoreError, tree: OpenTree
    ) -> _Rendered:
        """The objects of an Application, tracked by the name that it is compared by."""
        if isinstance(rendered, CommodoreError):
            return _Rendered(error=rendered)
        settings = tree.listing.settings
        try:
            namespace, _, called = name.rpartition("/")
            known = application
            if called != application.name:
                known = replace(application, name=called, namespace=namespace)
            tracked = manifests(known, rendered, settings, tree.found)
            objects = desired(known, tracked, settings, self.wanted.cluster_scoped, tree.found)
        except CommodoreError as error:
            return _Rendered(error=error)
        report_server_side(application, (one.data for one in objects), settings, tree.found)
        kept = tuple(one.data for one in objects if self.wanted.shown.keeps(one.data))
        return _Rendered(Edition(application, settings, kept))


def _with_own_changes(verdicts: list[Verdict], old: ArgoSettings, new: ArgoSettings) -> list[Verdict]:
    """The verdicts with the changes of the Applications themselves, but those that another Application renders."""
    shown = {change.key for one in verdicts for change in one.changes if change.key.kind == "Application"}
    result = []
    for one in verdicts:
        sides = [
            Edition(application, settings, ()) if application is not None else None
            for application, settings in ((one.old, old), (one.new, new))
        ]
        changes, flags = own_change(*sides)
        if changes and changes[0].key not in shown:
            state = "changed" if one.state in ("unchanged", "not-rendered") else one.state
            one = replace(one, changes=(*changes, *one.changes), flags=(*flags, *one.flags), state=state)
        result.append(one)
    return result


def _difference(verdicts: list[Verdict], wanted: Wanted) -> Difference:
    flags = [flag for one in verdicts for flag in one.flags]
    gone = [one.name for one in verdicts if one.state == "removed"]
    if len(gone) > _MASS_APPLICATIONS:
        key = ObjectKey("argoproj.io", "Application", "", f"{len(gone)} of them")
        flags.append(Flag("mass-removal", key, f"{len(gone)} of {len(verdicts)} Applications go"))
    compared = Comparison(
        tuple(change for one in verdicts for change in one.changes), sum(one.unchanged for one in verdicts)
    )
    options = wanted.options
    noise = options.noise
    if options.show_ignored_fields:
        compared, noise = mark_noise(compared, noise), ()
    ordered = in_flag_order(flags)
    review = review_of(compared, ordered, noise, secrets=options.secrets, sources=True, separate=not options.group)
    visible: dict[str, list[str]] = {}
    for change in review.comparison.changes:
        if not is_noise(change):
            visible.setdefault(change.source, []).append(change.kind)
    parts = []
    shown = []
    for one in verdicts:
        kinds = visible.get(one.name, [])
        if one.state == "changed" and not kinds:
            one = replace(one, state="unchanged")
        shown.append(one)
        if kinds or one.state in ("added", "removed", "renamed", "unknown"):
            added, changed, removed = (kinds.count(kind) for kind in ("added", "changed", "removed"))
            parts.append(Part(one.name, one.state, added, changed, removed, one.note, one.kind))
    parts.sort(key=lambda part: part.state != "unknown")
    review = replace(
        review,
        groups=tuple(replace(one, context=options.context_lines) for one in review.groups),
        parts=tuple(parts),
        ignored=sum(one.ignored for one in verdicts),
        ignored_only=sum(one.ignored_only for one in verdicts),
    )
    return Difference(tuple(shown), review)
