"""Applications that other Applications render (app of apps), in rounds, with ApplicationSets in between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from commodore.argocd.configuration.operator import KIND as OPERATED
from commodore.argocd.configuration.read import Candidates
from commodore.argocd.discovery.chain import LaterStages
from commodore.argocd.discovery.model import Discovered, Key, LostDefinition, Origin, Raw
from commodore.argocd.discovery.scan import is_of_argo, take
from commodore.argocd.discovery.select import is_exact, names_fit
from commodore.argocd.model.application import Application, read_application
from commodore.base.diagnostics import Diagnostic, Diagnostics, Subject
from commodore.base.errors import CommodoreError, InputError, Location


@dataclass
class AppOfAppsSearch:
    """Searches the rendered objects of Applications for further Applications, until a round has no new ones.

    Args:
        candidates: collects settings.
        depth: the maximum number of rounds; with 0, ApplicationSets are still expanded.
        names: the requested Applications; once all are known, others are rendered only for settings.

    Attributes:
        failures: errors of rendering Applications, by `namespace/name`.
        settings: the rendered ConfigMaps of Argo CD.
        lost: Applications that were not rendered because of the depth.
    """

    discovered: Discovered
    candidates: Candidates
    stages: LaterStages
    depth: int
    diagnostics: Diagnostics
    names: Sequence[str] = ()
    failures: dict[str, CommodoreError] = field(default_factory=dict)
    settings: list[Raw] = field(default_factory=list)
    lost: list[LostDefinition] = field(default_factory=list)
    _only_settings: bool = False
    _expanded: set[Key] = field(default_factory=set)
    _seen: set[Key] = field(default_factory=set)

    def run(self, objects: Iterable[Raw], entries: Iterable[Application]) -> None:
        """Add the objects of files, and the Applications that these define.

        Args:
            entries: Applications of folders that are rendered first; their objects take precedence.

        Raises:
            PolicyError: CMD-ARGO-217, there are too many Applications.
        """
        for application, rendered in self.stages.render(tuple(entries)):
            self._rendered(application, rendered, Origin("rendered"), label=f"the entry {application.sources[0].path}")
        for value, place in objects:
            self._take(value, place, Origin())
        self._expand()
        for _ in range(self.depth):
            pending = self._fresh()
            if not pending:
                return
            for application, rendered in self.stages.render(pending):
                label = self.discovered.label(application)
                self._rendered(application, rendered, Origin("rendered", parent=label), label)
            self._expand()
        if self.depth and (left := self._fresh()):
            names = ", ".join(self.discovered.label(application) for application in left[:3])
            reason = Diagnostic(
                "CMD-ARGO-107",
                f"after {self.depth} rounds of rendering, some Applications may still define others: {names}",
                "warning",
                "raise max-depth in .commodore.yaml, or check if they define each other endlessly",
                locations=tuple(application.place for application in left[:3]),
            )
            self.diagnostics.add(reason)
            self.lost += (
                LostDefinition(
                    "Application",
                    f"what {self.discovered.label(application)} renders",
                    application.place,
                    reason,
                    application.data,
                )
                for application in left
            )

    def _fresh(self) -> list[Application]:
        """Return Applications that were not rendered yet and may define others."""
        keys = sorted(self.discovered.applications.keys() - self._seen)
        self._seen |= set(keys)
        self._only_settings = self._has_all()
        applications = map(self.discovered.applications.__getitem__, keys)
        return [
            application
            for application in applications
            if self.stages.may_define(application, settings=self._only_settings)
        ]

    def _has_all(self) -> bool:
        """Check if all requested Applications are known, each by its exact name."""
        labels = list(map(self.discovered.label, self.discovered.applications.values()))
        return bool(self.names) and all(
            is_exact(text) and any(names_fit([text], label) for label in labels) for text in self.names
        )

    def _rendered(
        self,
        application: Application,
        rendered: Sequence[Mapping[str, Any]] | CommodoreError,
        origin: Origin,
        label: str,
    ) -> None:
        if isinstance(rendered, CommodoreError):
            self.failures[label] = rendered
            if self._only_settings and not names_fit(self.names, label):
                message = f"{label} seems to render settings of Argo CD, which are unknown: {rendered.message}"
                self.diagnostics.add(Diagnostic("CMD-ARGO-109", message, "warning", rendered.hint))
            return
        namespace = application.destination.namespace
        for value in rendered:
            if is_of_argo(value):
                metadata = value.get("metadata")
                if isinstance(metadata, Mapping) and not metadata.get("namespace") and namespace:
                    value = {**value, "metadata": {**metadata, "namespace": namespace}}
                self._take(value, application.place, origin)

    def _take(self, value: Mapping[str, Any], place: Location, origin: Origin) -> None:
        if value["kind"] in ("ConfigMap", OPERATED) and origin.kind == "rendered":
            self.settings.append((value, place))
        else:
            take(value, place, origin, self.discovered, self.candidates, self.diagnostics)

    def _expand(self) -> None:
        """Add the Applications of ApplicationSets, which do not generate other ApplicationSets."""
        for key in sorted(self.discovered.sets.keys() - self._expanded):
            self._expanded.add(key)
            value, place = self.discovered.sets[key]
            for data, generator in self.stages.expand(value, place):
                origin = Origin("set", set="/".join(filter(None, key)), generator=generator)
                try:
                    self.discovered.add(read_application(data, place), origin, self.diagnostics)
                except InputError as error:
                    self.diagnostics.take(error, Subject(set=key[1]))
