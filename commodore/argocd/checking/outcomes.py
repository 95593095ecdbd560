"""Tests of Applications: each is rendered, and checked against its project, health scripts and schemas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from commodore.argocd.checking.health import HealthScripts
from commodore.argocd.checking.projects import Projects
from commodore.argocd.checking.schemas import ObjectSchemas
from commodore.argocd.configuration import ArgoSettings
from commodore.argocd.finishing import desired, manifests
from commodore.argocd.model.application import Application
from commodore.argocd.rendering import Rendered, Renderer
from commodore.base.diagnostics import Diagnostic, Diagnostics, Subject
from commodore.base.errors import CommodoreError, InputError
from commodore.base.kubernetes import ObjectKey, key_of
from commodore.base.printable import some_of
from commodore.core.review import PlacedObject, compare, path_text

_SKIPPED = frozenset(("CMD-ARGO-420", "CMD-ARGO-904"))  # not rendered by policy, or a library is missing
Status = Literal["PASS", "FAIL", "SKIPPED", "UNKNOWN"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome for an Application, or for a definition of Applications that cannot be read or expanded.

    Attributes:
        application: `namespace/name`; for other definitions preceded by their kind.
        objects: the number of its objects.
        problems: the errors, or the reasons for which it is skipped or unknown.
    """

    application: str
    status: Status
    objects: int
    problems: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Checks:
    """Options: checks in addition to rendering and projects.

    Attributes:
        lua_health: run the health scripts of the settings.
        schema: compare objects with the schemas of their kinds.
        twice: render everything twice, without the cache.
    """

    lua_health: bool = True
    schema: bool = False
    twice: bool = False


@dataclass(frozen=True, slots=True)
class Tester:
    """Tests Applications of one installation.

    Args:
        diagnostics: collects the diagnostics of all Applications.
        kube_version: version of Kubernetes for the schemas; empty for the newest known.
        cluster_scoped: kinds without namespace, see `desired`.
    """

    settings: ArgoSettings
    renderer: Renderer
    checks: Checks
    diagnostics: Diagnostics
    kube_version: str = ""
    cluster_scoped: Sequence[str] = ()

    def run(self, applications: Sequence[Application], jobs: int) -> Iterator[Outcome]:
        """Test Applications and yield the outcomes in their order.

        Args:
            jobs: see `Renderer.render_all`.

        Raises:
            CommodoreError: see `ObjectSchemas`.
        """
        with HealthScripts(self.settings if self.checks.lua_health else ArgoSettings(), self.diagnostics) as scripts:
            tested = [
                self._tested(application, made, scripts)
                for application, made in self.renderer.render_all(applications, jobs)
            ]
        if self.checks.schema:
            schemas = ObjectSchemas(self.kube_version, (data for result in tested for data in result.objects))
            for result in tested:
                schemas.check(result.objects, result.diagnostics, result.label)
        if self.checks.twice:
            for result, (application, made) in zip(tested, self.renderer.render_all(applications, jobs), strict=True):
                self._compare(application, result, made)
        self._report_shared(applications, tested)
        for result in tested:
            self.diagnostics.join(result.diagnostics)
            problems = tuple(problem for problem in result.diagnostics.collected() if problem.severity == "error")
            skipped = bool(problems) and all(problem.code in _SKIPPED for problem in problems)
            status: Status = "SKIPPED" if skipped else "FAIL" if problems else "PASS"
            yield Outcome(result.label, status, len(result.objects), problems)

    def _tested(
        self, application: Application, made: tuple[Rendered, ...] | CommodoreError, scripts: HealthScripts
    ) -> _Tested:
        label = self.settings.label(application.namespace, application.name)
        diagnostics = Diagnostics()
        try:
            objects = self._finished(application, made, diagnostics)
            Projects(self.settings, self.diagnostics, "error").check(application, objects, diagnostics)
        except CommodoreError as error:
            diagnostics.take(error, Subject(application=label))
            return _Tested(label, diagnostics)
        data = [rendered.data for rendered in objects]
        scripts.check(data, diagnostics, label)
        return _Tested(label, diagnostics, data)

    def _finished(
        self, application: Application, made: tuple[Rendered, ...] | CommodoreError, diagnostics: Diagnostics
    ) -> tuple[Rendered, ...]:
        if isinstance(made, CommodoreError):
            raise made
        tracked = manifests(application, made, self.settings, diagnostics)
        return desired(application, tracked, self.settings, self.cluster_scoped, diagnostics)

    def _report_shared(self, applications: Sequence[Application], tested: Sequence[_Tested]) -> None:
        """Report objects that several Applications deploy to one cluster, so that each sync changes their owner."""
        owners: dict[tuple[str, ObjectKey], dict[str, None]] = {}
        for application, result in zip(applications, tested, strict=True):
            cluster = application.destination.address(self.settings.clusters)
            for key in filter(lambda key: key.name, map(key_of, result.objects)):
                owners.setdefault((cluster, key), {})[result.label] = None
        shared: dict[tuple[str, ...], list[str]] = {}
        for (_, key), labels in owners.items():
            if len(labels) > 1:
                shared.setdefault(tuple(labels), []).append(str(key))
        for names, keys in shared.items():
            message = f"{some_of(names)} each give {some_of(sorted(keys))}; the last one that is synced has it"
            hint = "leave it to one of them"
            self.diagnostics.add(
                Diagnostic("CMD-ARGO-507", message, "warning", hint, subject=Subject(application=names[0]))
            )

    def _compare(self, application: Application, result: _Tested, made: tuple[Rendered, ...] | CommodoreError) -> None:
        """Report differences between the objects and those of a second rendering."""
        if not result.objects:
            return
        try:
            again = [other.data for other in self._finished(application, made, Diagnostics())]
        except CommodoreError as error:
            result.diagnostics.take(error, Subject(application=result.label))
            return
        before, after = ([PlacedObject(data) for data in side] for side in (result.objects, again))
        for change in compare(before, after).changes:
            fields = ", ".join(path_text(field.path) for field in change.fields[:_FIELDS])
            differs = InputError(
                "CMD-ARGO-415",
                f"{change.key} differs when it is rendered again{f': {fields}' if fields else ''}",
                hint="the source uses random values or the current time; set them in its values",
            )
            result.diagnostics.take(differs, Subject(application=result.label))


@dataclass(frozen=True, slots=True)
class _Tested:
    """An Application that has been tested."""

    label: str
    diagnostics: Diagnostics
    objects: list[dict[str, Any]] = field(default_factory=list)


_FIELDS = 5
