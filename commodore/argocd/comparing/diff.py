"""Comparison of two trees: select Applications, render them on both sides, and compare their objects."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from commodore.argocd.acquiring import RepoMap, repository_identity
from commodore.argocd.comparing.applications import (
    ApplicationSide,
    ComparisonRules,
    Difference,
    Rules,
    Verdict,
    compare_application,
    own_change,
)
from commodore.argocd.comparing.changed import ChangedFileFilter
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
    """Options for comparing trees.

    Attributes:
        changed_only: render only Applications that read a changed file.
        strict_changed_only: make it an error if the files that an Application reads, or the readers of a file, are
            unknown.
        ignore_rules: the sides whose ignore rules apply.
        noise: differences that are counted instead of shown.
        show_ignored_fields: show noise and ignored fields, too, marked as such.
        image_pointer: further fields with images, as `GROUP/KIND:POINTER`.
        immutable: further immutable fields, likewise; without a pointer,
            `/spec/selector`.
        mask_kind: further fields with secrets, likewise.
        group: show equal changes once.
        context_lines: number of lines that are shown around differences in a text.
        follow_renames: treat a removed and an added Application with the same sources and destination as one.
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
        """Further fields with images."""
        return pointers(self.image_pointer, "image-pointer")

    @property
    def secrets(self) -> tuple[KindPointer, ...]:
        """Further fields with secrets."""
        return pointers(self.mask_kind, "mask-kind")

    @property
    def flag_rules(self) -> FlagRules:
        """Further fields for dangers."""
        return FlagRules(self.image_places, pointers(self.immutable, "immutable", "/spec/selector"))


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """A request for a comparison.

    Attributes:
        names: names or patterns of Applications; empty for all.
        application_filter: a filter of Applications, which one of the sides must match.
        shown: the objects that are compared.
        considered: a filter for changed files.
        allow_unknown: warn, and do not fail, if something is unknown although its inputs have changed.
        cluster_scoped: further kinds without namespace.
    """

    names: tuple[str, ...] = ()
    application_filter: ApplicationFilter = field(default_factory=ApplicationFilter)
    shown: ObjectFilter = field(default_factory=ObjectFilter)
    considered: ChangedFileFilter = field(default_factory=ChangedFileFilter)
    options: ComparisonOptions = field(default_factory=ComparisonOptions)
    allow_unknown: bool = False
    cluster_scoped: tuple[str, ...] = ()
    capabilities: Capabilities = field(default_factory=Capabilities)


@dataclass(frozen=True, slots=True)
class _RenderedSide:
    """The rendered side of an Application, or the error."""

    side: ApplicationSide | None = None
    error: CommodoreError | None = None


def diff(
    base: Side, target: Side, request: ComparisonRequest, repo_map: RepoMap, context: Context, diagnostics: Diagnostics
) -> Difference:
    """Compare what Argo CD would deploy from two trees. An Application that fails to render does not affect the others.

    Raises:
        CommodoreError: a tree cannot be read, or a name matches no Application on either side.
    """
    collected = Diagnostics(), Diagnostics()
    with contextlib.ExitStack() as kept:
        listings = [
            kept.enter_context(
                open_listing(replace(side.at, names=request.names), context, collector, repo_map, request.capabilities)
            )
            for side, collector in zip((base, target), collected, strict=True)
        ]
        for listing, collector in zip(listings, collected, strict=True):
            listing.report_failures(collector, exclude=listing.applications)
        known = _labelled(listings[0]), _labelled(listings[1])
        if request.options.follow_renames:
            known = _as_called_now(*known), known[1]
        old, new = (
            OpenTree(side, listing, collector, listing.to_render(collector), applications)
            for side, listing, collector, applications in zip((base, target), listings, collected, known, strict=True)
        )
        inputs = Inputs(old, new, request.considered, context.limits)
        inputs.check_patterns(diagnostics)
        verdicts = _TreeComparison(old, new, request, context, diagnostics, inputs).verdicts()
        verdicts = [*lost_verdicts(old.listing, new.listing, verdicts, request.names, inputs), *verdicts]
    for collector in collected:
        report_unused(repo_map, collector)
    join(diagnostics, *collected, allowed=request.allow_unknown)
    report_unknown(verdicts, diagnostics, allowed=request.allow_unknown)
    verdicts = _with_own_changes(verdicts, old.listing.settings, new.listing.settings)
    return _difference(verdicts, request)


def _labelled(listing: Listing) -> dict[str, Application]:
    return {listing.label(application): application for application in listing.applications}


def _as_called_now(old: Mapping[str, Application], new: Mapping[str, Application]) -> dict[str, Application]:
    """Return the Applications of the base, renamed if exactly one added Application of the target has the same sources
    and destination.
    """
    come = [name for name in new if name not in old]
    names = {}
    for gone in old.keys() - new.keys():
        same = [name for name in come if _deploys(new[name]) == _deploys(old[gone])]
        others = [name for name in old.keys() - new.keys() if _deploys(old[name]) == _deploys(old[gone])]
        if len(same) == len(others) == 1:
            names[gone] = same[0]
    return {names.get(name, name): application for name, application in old.items()}


def _deploys(application: Application) -> list[Any]:
    return [application.data["spec"].get(key) for key in ("source", "sources", "sourceHydrator", "destination")]


@dataclass(frozen=True, slots=True)
class _TreeComparison:
    """A comparison of two open trees."""

    old: OpenTree
    new: OpenTree
    request: ComparisonRequest
    context: Context
    diagnostics: Diagnostics
    inputs: Inputs

    def verdicts(self) -> list[Verdict]:
        names = self._selected()
        self._report_foreign(names)
        owners = self._owners(names)
        selected = [name for name in names if name in owners] if owners is not None else names
        sides = [self._rendered(tree, selected) for tree in (self.old, self.new)]
        verdicts = {
            name: self._verdict(name, sides[0].get(name, _RenderedSide()), sides[1].get(name, _RenderedSide()))
            for name in selected
        }
        for name, files in (owners or {}).items():
            verdicts[name] = replace(verdicts[name], files=tuple(sorted(files)))
        origins = {**self.old.listing.origins, **self.new.listing.origins}
        return [replace(verdicts.get(name) or self._unrendered(name), origin=origins.get(name)) for name in names]

    def _unrendered(self, name: str) -> Verdict:
        """Return the verdict on an Application that reads no changed file. If it failed when it was rendered to
        discover others, the Applications that it defines are unknown.
        """
        verdict = Verdict(name, self.old.applications.get(name), self.new.applications.get(name), "not-rendered")
        errors = self.old.listing.failures.get(name), self.new.listing.failures.get(name)
        return self._failed(verdict, errors) if any(errors) else verdict

    def _rendered(self, tree: OpenTree, names: Iterable[str]) -> dict[str, _RenderedSide]:
        """Render the Applications of a side that exist there."""
        there = [name for name in names if name in tree.applications]
        made = tree.opened.renderer.render_all([tree.applications[name] for name in there], tree.side.at.jobs)
        return {
            name: self._finished(name, application, objects, tree)
            for name, (application, objects) in zip(there, made, strict=True)
        }

    def _sides(self, name: str) -> list[tuple[OpenTree, Application]]:
        return [(tree, tree.applications[name]) for tree in (self.old, self.new) if name in tree.applications]

    def _selected(self) -> list[str]:
        """Return the names of the selected Applications of either side, sorted."""
        union = {**self.old.applications, **self.new.applications}
        lost = (*self.old.listing.unseen, *self.new.listing.unseen)
        unread = [definition.label for definition in lost if definition.kind == "Application"]
        apps = self.request.names
        only_lost = {text for text in apps if any(names_fit([text], label) for label in unread)}
        only_lost -= {text for text in only_lost if any(names_fit([text], name) for name in union)}
        names = [text for text in apps if text not in only_lost]
        if not names and (apps or not union):
            return []
        controller = self.new.listing.settings.namespace
        chosen = {
            id(application) for application in select(list(union.values()), names, controller=controller, lost=lost)
        }
        fits = self.request.application_filter.fits
        return sorted(
            name
            for name, application in union.items()
            if id(application) in chosen
            and any(fits(side, tree.listing.settings.clusters) for tree, side in self._sides(name))
        )

    def _report_foreign(self, names: Sequence[str]) -> None:
        """Warn if no source is in the compared repository, so that its files have no effect."""
        urls = {
            source.repo_url: repository_identity(source.repo_url) in tree.listing.own
            for name in names
            for tree, application in self._sides(name)
            for source in application.sources
            if not source.chart
        }
        if urls and not any(urls.values()):
            self.diagnostics.add(
                Diagnostic(
                    "CMD-ARGO-805",
                    "no source of the Applications is in the compared repository, "
                    f"so changes of its files have no effect: they read {some_of(sorted(map(redact, urls)))}",
                    "warning",
                    "name the URL of the repository by --repo-map URL=@",
                )
            )

    def _owners(self, names: Sequence[str]) -> dict[str, set[str]] | None:
        """Return the Applications that have to be rendered, each with its changed files, or None for all."""
        if not self.request.options.changed_only or len(names) < 2:
            return None
        if self.old.listing.settings.profile != self.new.listing.settings.profile:
            return None
        roots = [tree.side.root for tree in (self.old, self.new)]
        changed = self.inputs.changed
        if not changed.paths:
            narrowed = self.request.considered != ChangedFileFilter()
            message = "no file that is compared has changed, so nothing is rendered"
            self.diagnostics.add(Diagnostic("CMD-ARGO-802", message, "warning" if narrowed else "info"))
            return {}
        if self.inputs.settings_differ:
            return None
        if self.request.capabilities.from_tree and self._serve_others(changed.paths, roots):
            return None
        tree_count = 1 if self._covers_all(changed.paths, roots) else 2
        matches = {name: self._files_of(name, changed, tree_count) for name in names}
        owners = {name: files for name, files in matches.items() if files is not None}
        self._report_unowned(names, owners, changed)
        return owners

    def _serve_others(self, paths: Iterable[str], roots: Sequence[Path]) -> bool:
        """Check if a changed file defines other APIs than before, which any chart may query."""
        limits = self.context.limits
        return any(len({served_by(root / path, limits) for root in roots}) > 1 for path in paths)

    def _covers_all(self, paths: Iterable[str], roots: Iterable[Path]) -> bool:
        """Check if an Application that reads no changed file of one tree reads none of the other either: all changed
        paths are known, and none of them is a link, which would redirect other paths.
        """
        considered = self.request.considered
        if considered != ChangedFileFilter():
            return False
        return not any(os.path.islink(root / path) for path in paths for root in roots)

    def _files_of(self, name: str, changed: ChangedFiles, tree_count: int) -> set[str] | None:
        """Return the changed files that an Application reads, or for which Argo CD refreshes it; None if it need not be
        rendered.

        Args:
            tree_count: number of trees that are checked before it is assumed to read no changed file.
        """
        sides = self._sides(name)
        redefined = len(sides) < 2 or sides[0][1].data != sides[1][1].data
        files = {application.place.place for _, application in sides} & changed.paths if redefined else set()
        known = True
        for number, (tree, application) in enumerate(sides, 1):
            if number > tree_count and not files:
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
                self.diagnostics.add(missed)
        return files if files or redefined or not known else None

    def _report_unowned(self, names: Iterable[str], owners: Mapping[str, set[str]], changed: ChangedFiles) -> None:
        """Report changed files without effect, unless an ApplicationSet may have read them for its Applications."""
        made = (tree.listing.origins.get(name, Origin()) for name in names for tree, _ in self._sides(name))
        if any(origin.kind == "set" for origin in made):
            return
        wrong = (diagnostic for tree in (self.old, self.new) for diagnostic in tree.diagnostics.collected())
        known = (*owners.values(), (place.place for diagnostic in wrong for place in diagnostic.locations))
        severity: Severity = "info" if owners else "warning"
        if reported := unowned(changed, known, "error" if self.request.options.strict_changed_only else severity):
            self.diagnostics.add(reported)

    def _report_unknown_reads(self, name: str, error: CommodoreError) -> None:
        strict = self.request.options.strict_changed_only
        self.diagnostics.add(
            Diagnostic(
                "CMD-ARGO-801",
                f"the files that the Application reads are unknown, so it is rendered: {error.message}",
                "error" if strict else "warning",
                error.hint,
                "input" if strict else "",
                subject=Subject(application=name),
                locations=error.locations,
            )
        )

    def _verdict(self, name: str, old: _RenderedSide, new: _RenderedSide) -> Verdict:
        before, after = (tree.applications.get(name) for tree in (self.old, self.new))
        if reason := self._why_unknown(name):
            return Verdict(name, before or after, before or after, "unknown", note=reason)
        unknown = Verdict(name, before, after, "unknown")
        if old.error is not None or new.error is not None:
            return self._failed(unknown, (old.error, new.error))
        try:
            options = self.request.options
            rules = ComparisonRules(
                options.ignore_rules, options.flag_rules, options.show_ignored_fields, self.diagnostics
            )
            return compare_application(old.side, new.side, rules)
        except CommodoreError as error:
            return self._failed(unknown, (None, error))

    def _failed(self, verdict: Verdict, errors: tuple[CommodoreError | None, CommodoreError | None]) -> Verdict:
        """Return the verdict on an Application that fails on a side, and report it. The same failure on both sides is
        not an error."""
        verdict = failed_verdict(verdict, errors, lambda: self.inputs.of(verdict.name))
        report_failure(verdict, errors, self.diagnostics, allowed=self.request.allow_unknown)
        return verdict

    def _why_unknown(self, name: str) -> str:
        """Return why an Application of one side may exist on the other: the definition that generates it fails
        there.
        """
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
    ) -> _RenderedSide:
        """Return the objects of an Application, tracked by the name under which it is compared."""
        if isinstance(rendered, CommodoreError):
            return _RenderedSide(error=rendered)
        settings = tree.listing.settings
        try:
            namespace, _, called = name.rpartition("/")
            known = application
            if called != application.name:
                known = replace(application, name=called, namespace=namespace)
            tracked = manifests(known, rendered, settings, tree.diagnostics)
            objects = desired(known, tracked, settings, self.request.cluster_scoped, tree.diagnostics)
        except CommodoreError as error:
            return _RenderedSide(error=error)
        report_server_side(application, (item.data for item in objects), settings, tree.diagnostics)
        kept = tuple(item.data for item in objects if self.request.shown.keeps(item.data))
        return _RenderedSide(ApplicationSide(application, settings, kept))


def _with_own_changes(verdicts: list[Verdict], old: ArgoSettings, new: ArgoSettings) -> list[Verdict]:
    """Add the changes of the Applications themselves, except Applications that another one renders."""
    shown = {change.key for verdict in verdicts for change in verdict.changes if change.key.kind == "Application"}
    result = []
    for verdict in verdicts:
        sides = [
            ApplicationSide(application, settings, ()) if application is not None else None
            for application, settings in ((verdict.old, old), (verdict.new, new))
        ]
        changes, flags = own_change(*sides)
        if changes and changes[0].key not in shown:
            state = "changed" if verdict.state in ("unchanged", "not-rendered") else verdict.state
            verdict = replace(
                verdict, changes=(*changes, *verdict.changes), flags=(*flags, *verdict.flags), state=state
            )
        result.append(verdict)
    return result


def _difference(verdicts: list[Verdict], request: ComparisonRequest) -> Difference:
    flags = [flag for verdict in verdicts for flag in verdict.flags]
    gone = [verdict.name for verdict in verdicts if verdict.state == "removed"]
    if len(gone) > _MASS_APPLICATIONS:
        key = ObjectKey("argoproj.io", "Application", "", f"{len(gone)} of them")
        flags.append(Flag("mass-removal", key, f"{len(gone)} of {len(verdicts)} Applications go"))
    compared = Comparison(
        tuple(change for verdict in verdicts for change in verdict.changes),
        sum(verdict.unchanged for verdict in verdicts),
    )
    options = request.options
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
    for verdict in verdicts:
        kinds = visible.get(verdict.name, [])
        if verdict.state == "changed" and not kinds:
            verdict = replace(verdict, state="unchanged")
        shown.append(verdict)
        if kinds or verdict.state in ("added", "removed", "renamed", "unknown"):
            added, changed, removed = (kinds.count(kind) for kind in ("added", "changed", "removed"))
            parts.append(Part(verdict.name, verdict.state, added, changed, removed, verdict.note, verdict.kind))
    parts.sort(key=lambda part: part.state != "unknown")
    review = replace(
        review,
        groups=tuple(replace(group, context=options.context_lines) for group in review.groups),
        parts=tuple(parts),
        ignored=sum(verdict.ignored for verdict in verdicts),
        ignored_only=sum(verdict.ignored_only for verdict in verdicts),
    )
    return Difference(tuple(shown), review)
