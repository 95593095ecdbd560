"""What testing Applications comes to: each is rendered, its project is asked, and its objects are looked at."""

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

_SKIPPED = frozenset(("CMD-ARGO-420", "CMD-ARGO-904"))  # what is not done by decision, or for want of a library
Status = Literal["PASS", "FAIL", "SKIPPED", "UNKNOWN"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One Application, or what defines some and cannot be read or expanded.

    Attributes:
        application: `namespace/name`; of what is no Application with its kind before it.
        objects: how many it has.
        problems: the errors, or why it is skipped or unknown.
    """

    application: str
    status: Status
    objects: int
    problems: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Checks:
    """Options: what is tested in addition to rendering and projects.

    Attributes:
        lua_health: run the health scripts of the settings.
        schema: compare objects with the schemas of their kinds.
        twice: render everything twice, and nothing from the cache.
    """

    lua_health: bool = True
    schema: bool = False
    twice: bool = False


@dataclass(frozen=True, slots=True)
class Tester:
    """Tests Applications of one installation.

    Args:
        found: collects everything.
        kube_version: of Kubernetes, whose schemas count; empty for the newest that is known.
        cluster_scoped: kinds without namespace, see `desired`.
    """

    settings: ArgoSettings
    renderer: Renderer
    checks: Checks
    found: Diagnostics
    kube_version: str = ""
    cluster_scoped: Sequence[str] = ()

    def run(self, applications: Sequence[Application], jobs: int) -> Iterator[Outcome]:
        """Test Applications, in their order.

        Args:
            jobs: see `Renderer.render_all`.

        Raises:
            CommodoreError: see `ObjectSchemas`.
        """
        with HealthScripts(self.settings if self.checks.lua_health else ArgoSettings(), self.found) as scripts:
            tried = [self._tried(one, made, scripts) for one, made in self.renderer.render_all(applications, jobs)]
        if self.checks.schema:
            schemas = ObjectSchemas(self.kube_version, (data for one in tried for data in one.objects))
            for one in tried:
                schemas.check(one.objects, one.collected, one.label)
        if self.checks.twice:
            for one, (application, made) in zip(tried, self.renderer.render_all(applications, jobs), strict=True):
                self._compare(application, one, made)
        self._report_shared(applications, tried)
        for one in tried:
            self.found.join(one.collected)
            problems = tuple(problem for problem in one.collected.found() if problem.severity == "error")
            skipped = bool(problems) and all(problem.code in _SKIPPED for problem in problems)
            status: Status = "SKIPPED" if skipped else "FAIL" if problems else "PASS"
            yield Outcome(one.label, status, len(one.objects), problems)

    def _tried(
        self, application: Application, made: tuple[Rendered, ...] | CommodoreError, scripts: HealthScripts
    ) -> _Tried:
        label = self.settings.label(application.namespace, application.name)
        collected = Diagnostics()
        try:
            objects = self._finished(application, made, collected)
            Projects(self.settings, self.found, "error").check(application, objects, collected)
        except CommodoreError as error:
            collected.take(error, Subject(application=label))
            return _Tried(label, collected)
        found = [one.data for one in objects]
        scripts.check(found, collected, label)
        return _Tried(label, collected, found)

    def _finished(
        self, application: Application, made: tuple[Rendered, ...] | CommodoreError, collected: Diagnostics
    ) -> tuple[Rendered, ...]:
        if isinstance(made, CommodoreError):
            raise made
        tracked = manifests(application, made, self.settings, collected)
        return desired(application, tracked, self.settings, self.cluster_scoped, collected)

    def _report_shared(self, applications: Sequence[Application], tried: Sequence[_Tried]) -> None:
        """Report objects that several Applications give one cluster, each of which takes them from the others."""
        owners: dict[tuple[str, ObjectKey], dict[str, None]] = {}
        for application, one in zip(applications, tried, strict=True):
            cluster = application.destination.address(self.settings.clusters)
            for key in filter(lambda key: key.name, map(key_of, one.objects)):
                owners.setdefault((cluster, key), {})[one.label] = None
        shared: dict[tuple[str, ...], list[str]] = {}
        for (_, key), labels in owners.items():
            if len(labels) > 1:
                shared.setdefault(tuple(labels), []).append(str(key))
        for names, keys in shared.items():
            message = f"{some_of(names)} each give {some_of(sorted(keys))}; the last one that is synced has it"
            hint = "leave it to one of them"
            self.found.add(Diagnostic("CMD-ARGO-507", message, "warning", hint, subject=Subject(application=names[0])))

    def _compare(self, application: Application, one: _Tried, made: tuple[Rendered, ...] | CommodoreError) -> None:
        """See whether what is rendered again is the same."""
        if not one.objects:
            return
        try:
            again = [other.data for other in self._finished(application, made, Diagnostics())]
        except CommodoreError as error:
            one.collected.take(error, Subject(application=one.label))
            return
        before, after = ([PlacedObject(data) for data in side] for side in (one.objects, again))
        for change in compare(before, after).changes:
            fields = ", ".join(path_text(field.path) for field in change.fields[:_FIELDS])
            differs = InputError(
                "CMD-ARGO-415",
                f"{change.key} differs when it is rendered again{f': {fields}' if fields else ''}",
                hint="the source draws random values or asks for the time; say them in its values",
            )
            one.collected.take(differs, Subject(application=one.label))


@dataclass(frozen=True, slots=True)
class _Tried:
    """An Application while it is tested."""

    label: str
    collected: Diagnostics
    objects: list[dict[str, Any]] = field(default_factory=list)


_FIELDS = 5
