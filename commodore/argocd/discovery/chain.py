"""The later stages, as discovery uses them: expand ApplicationSets, scan sources, render Applications."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from commodore.argocd.appsets import Facts
from commodore.argocd.discovery.reach import holds_settings, may_define
from commodore.argocd.finishing import expand_lists
from commodore.argocd.model.application import Application
from commodore.argocd.planning import overridden, source_type
from commodore.argocd.rendering import OpenSources
from commodore.argocd.trees import folder_of
from commodore.base.diagnostics import Diagnostics, Subject
from commodore.base.errors import CommodoreError, Location

if TYPE_CHECKING:
    from commodore.argocd.appsets import ApplicationSet, Expander, Generated


@dataclass
class LaterStages:
    """The stages after discovery that a search for Applications uses.

    Args:
        facts: replace the answers to generators of ApplicationSets.
        scanned: the files of the tree that were read as manifests.
        diagnostics: collects errors of ApplicationSets.
        jobs: the number of Applications rendered in parallel; 0 for one per usable CPU.

    Attributes:
        sets, generated: the expanded ApplicationSets, and their Applications.
    """

    opened: OpenSources
    facts: Facts
    scanned: frozenset[str]
    diagnostics: Diagnostics
    jobs: int
    sets: list[ApplicationSet] = field(default_factory=list)
    generated: list[Generated] = field(default_factory=list)

    @cached_property
    def _expander(self) -> Expander:
        from commodore.argocd.appsets import Expander

        opened = self.opened
        return Expander(
            opened.settings, opened.repositories.tree, self.facts, opened.renderer.context, self.diagnostics
        )

    def expand(self, value: Mapping[str, Any], place: Location) -> Iterable[tuple[Mapping[str, Any], str]]:
        """Return the Applications of an ApplicationSet, each with the path of its generator. Errors are reported."""
        from commodore.argocd.appsets import read_set

        try:
            appset = read_set(value, place)
            appset = replace(appset, namespace=appset.namespace or self.opened.settings.namespace)
            self.sets.append(appset)
            made = self._expander.expand(appset)
        except CommodoreError as error:
            self.diagnostics.take(error, Subject(set=str(value["metadata"]["name"])), place=place)
            return []
        self.generated += made
        return [(each.data, each.path) for each in made if each.is_named]

    def may_define(self, application: Application, *, settings: bool = False) -> bool:
        """Check if an Application may render objects of Argo CD.

        Only sources in the tree itself and in mapped repositories are scanned.

        Args:
            settings: True to count only settings of Argo CD that are visible in its files.
        """
        known, repositories, limits = (
            self.opened.settings,
            self.opened.repositories,
            self.opened.renderer.context.limits,
        )
        for source in application.sources:
            if source.chart or not source.path or not repositories.is_local(source, known.profile):
                continue
            try:
                tree = repositories.of(source, known.profile)
                folder = folder_of(tree, source.path, source.place, source.repo_url)
                instance = known.instance_name(application.namespace, application.name)
                given, _ = overridden(source, folder, tree.root, instance, limits)
                kind = source_type(given, folder, known)
            except CommodoreError:
                continue  # reported when the Application is rendered
            if settings and not holds_settings(kind, folder, tree.root, self.scanned):
                continue
            if may_define(given, kind, folder, tree.root, self.scanned):
                return True
        return False

    def render(
        self, applications: Sequence[Application]
    ) -> Iterator[tuple[Application, Sequence[Mapping[str, Any]] | CommodoreError]]:
        """Yield Applications in their order with their objects, or the error of rendering."""
        for application, rendered in self.opened.renderer.render_all(applications, self.jobs):
            if isinstance(rendered, CommodoreError):
                yield application, rendered
                continue
            label = self.opened.settings.label(application.namespace, application.name)
            try:
                objects = expand_lists(rendered, label, Diagnostics())
                yield application, [item.data for item in objects]
            except CommodoreError as error:
                yield application, error
