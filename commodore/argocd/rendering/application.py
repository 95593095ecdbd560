"""Render the sources of an Application, each on its own."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from commodore.argocd.acquiring import Charts, PluginSource, RemoteFiles, Repositories
from commodore.argocd.configuration import ArgoSettings
from commodore.argocd.model.application import Application, check_application
from commodore.argocd.model.plugins import PluginRule
from commodore.argocd.model.sources import Source
from commodore.argocd.planning import BuildEnvironment, build_environment, overridden, source_type
from commodore.argocd.rendering.directory import render_directory
from commodore.argocd.rendering.helm import render_helm
from commodore.argocd.rendering.kustomize import render_kustomize
from commodore.argocd.rendering.model import Capabilities, PartlyRendered, Rendered, Trace, Unit
from commodore.argocd.rendering.places import placed
from commodore.argocd.rendering.plugin_run import run_plugin
from commodore.argocd.rendering.plugins import as_native, rule_for
from commodore.argocd.trees import folder_of
from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostic, Diagnostics, Severity, Subject
from commodore.base.errors import CommodoreError, EnvironmentFault, InputError, Location, PolicyError, raise_all
from commodore.base.exhaustion import refusal
from commodore.base.programs.threads import threads
from commodore.core.render.output_cache import OutputCache
from commodore.core.results.caches import result_cache, usable

_RENDERERS = {"Helm": render_helm, "Kustomize": render_kustomize, "Directory": render_directory}


@dataclass
class Renderer:
    """Renders Applications of one installation.

    Args:
        context: its limit of `result_bytes` is 0 if outputs are neither reused nor stored.
        scratch: a temporary folder of this run.
        diagnostics: collects everything that is not an error.
    """

    settings: ArgoSettings
    repositories: Repositories
    charts: Charts
    capabilities: Capabilities
    context: Context
    scratch: Path
    diagnostics: Diagnostics
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _outputs: OutputCache = field(init=False)
    _files: RemoteFiles = field(init=False)

    def __post_init__(self) -> None:
        limits = self.context.limits
        root = usable(result_cache()) if limits.result_bytes else None
        self._outputs = OutputCache(root, limits, self.settings.profile.name)
        remotes = self.repositories.repo_map.providers.remotes
        place = self.scratch / f"files-{next(self._numbers)}"  # separate, as a renderer may be replaced during a run
        self._files = RemoteFiles(self.context, place, remotes, self.diagnostics)

    def render_all(
        self, applications: Sequence[Application], jobs: int
    ) -> Iterator[tuple[Application, tuple[Rendered, ...] | CommodoreError]]:
        """Yield Applications in their order with their objects or their error.

        Args:
            jobs: number of Applications that are rendered at the same time, mostly in processes of helm and kustomize;
                0 for one per usable CPU.
        """

        from commodore.base.programs.workers import usable_cpus

        if not applications:
            return

        def attempt(
            renderer: Renderer, application: Application
        ) -> tuple[Application, tuple[Rendered, ...] | CommodoreError]:
            try:
                return application, renderer.render(application)
            except CommodoreError as error:
                renderer._check_cancelled()
                return application, error

        with threads(jobs or usable_cpus(), self.context, "render") as (pool, part):
            renderer = copy.copy(self)
            renderer.context = part
            for waiting in [pool.submit(attempt, renderer, application) for application in applications]:
                yield waiting.result()

    def render(self, application: Application, trace: Trace | None = None) -> tuple[Rendered, ...]:
        """Render all sources of an Application, and return their objects in the order of the sources.

        Args:
            trace: collects how the sources are rendered.

        Raises:
            CommodoreError: a source cannot be rendered; several errors as `Findings`.
            PartlyRendered: some of its sources fail, and others do not.
            EnvironmentFault: CMD-ARGO-038, the run was cancelled.
        """
        self._check_cancelled()
        check_application(application)
        objects: list[Rendered] = []
        failures: list[CommodoreError] = []
        for number, source in enumerate(application.sources, 1):
            layers = trace.layers if trace is not None else None
            known = len(layers or ())
            try:
                objects += (
                    replace(rendered, source=number) for rendered in self._source(application, source, number, trace)
                )
            except (CommodoreError, OSError, ValueError, RecursionError) as error:
                failure = error if isinstance(error, CommodoreError) else refusal(error)
                if failure is None:
                    raise
                subject = f"source {number}" if len(application.sources) > 1 else ""
                failures.append(failure.about(subject, at=() if failure.locations else (source.place,)))
            if layers is not None:
                layers[known:] = [replace(layer, source=number) for layer in layers[known:]]
        if failures and objects:
            raise PartlyRendered(failures, objects)
        raise_all(failures)
        return tuple(objects)

    def _check_cancelled(self) -> None:
        if self.context.cancellation.is_cancelled:
            raise EnvironmentFault(
                "CMD-ARGO-038",
                "the calling program has cancelled the run",
                hint="start it again if its result is needed",
            )

    def _source(self, application: Application, source: Source, number: int, trace: Trace | None) -> list[Rendered]:
        if not source.path and not source.chart:
            return []
        instance = self.settings.instance_name(application.namespace, application.name)
        label = self.settings.label(application.namespace, application.name)
        notes = _Notes(self.diagnostics, label, number)
        if source.chart:
            chart = self.charts.chart(source.repo_url, source.chart, source.revision)
            folder = root = chart.folder
            revision = chart.version
        else:
            tree = self.repositories.of(source, self.settings.profile)
            root, revision = tree.root, tree.revision
            folder = folder_of(tree, source.path, source.place, source.repo_url)
        written = source
        source, _files = overridden(written, folder, root, instance, self.context.limits)
        if source.kustomize is not None and not self.settings.profile.overrides_kustomize_version:
            version = written.kustomize.version if written.kustomize is not None else ""
            source = replace(source, kustomize=replace(source.kustomize, version=version))
        kind = source_type(source, folder, self.settings)
        environment = build_environment(application, instance, source, revision, notes.unknown_variable)
        settings = self.settings
        rule: PluginRule | None = None
        if kind == "Plugin":
            given = self._by_plugin(application, source, folder, environment)
            if given is not None:
                return given
            rule = self._rule(source)
            if rule.program is None:
                source, settings = self._natively(source, rule, folder, notes)
                kind = source_type(source, folder, settings)
        scratch = self.scratch / f"unit-{next(self._numbers)}"
        scratch.mkdir(parents=True)
        unit = Unit(
            application=application,
            source=source,
            folder=folder,
            root=root,
            refs=self._refs(application),
            environment=environment,
            capabilities=self.capabilities.of(application.destination),
            settings=settings,
            charts=self.charts,
            files=self._files,
            context=self.context,
            scratch=scratch,
            note=notes.note,
            outputs=self._outputs,
            trace=trace,
            ignored=self.repositories.ignored(),
        )
        try:
            return list(_RENDERERS[kind](unit) if rule is None or rule.program is None else run_plugin(unit, rule))
        except CommodoreError as error:
            if any(root == tree.root for tree in self.repositories.own.values()):
                raise placed(error, folder, root, written.place) from error
            # Files of other repositories and of charts are not places in this one.
            raise error.about(first=(written.place,)) if error.locations else error from None

    def _by_plugin(
        self, application: Application, source: Source, folder: Path, environment: BuildEnvironment
    ) -> list[Rendered] | None:
        """Render a source with a plugin of the caller, or return None without a plugin for it."""
        namespace, block = application.destination.namespace, source.data.get("plugin") or {}
        given = PluginSource(folder, application.name, namespace, block, environment.variables)
        for plugin in self.repositories.repo_map.providers.plugins:
            if plugin.fits(given):
                return [Rendered(copy.deepcopy({**data})) for data in plugin.render(given)]
        return None

    def _rule(self, source: Source) -> PluginRule:
        """Return the rule for a source of a plugin.

        Raises:
            PolicyError: CMD-ARGO-420, 423, the policy does not allow the plugin.
        """
        rule = rule_for(source, self.settings)
        sets_variables = bool((source.data.get("plugin") or {}).get("env"))
        if rule is None or (rule.engine.startswith("native-") and sets_variables):
            raise PolicyError(
                "CMD-ARGO-420",
                "the source is rendered by a plugin, a program of third parties, which is not run",
                hint="name an equivalent engine in --plugin-policy, or render it by helm, kustomize or as a directory",
                locations=[source.place],
            )
        return rule

    def _natively(self, source: Source, rule: PluginRule, folder: Path, notes: _Notes) -> tuple[Source, ArgoSettings]:
        """Convert a source of a plugin to a type that is rendered here."""
        places = (rule.place,) if rule.place is not None else ()
        notes.note("CMD-ARGO-425", f"the plugin {rule.name} is not run: {rule.engine} renders", "info", "", places)
        return as_native(source, rule, folder, self.settings)

    def _refs(self, application: Application) -> dict[str, Callable[[], Path]]:
        """Return the repositories of `$ref/...` as functions, which fetch them on use."""

        def root(source: Source) -> Callable[[], Path]:
            return lambda: self._ref_root(source)

        return {source.ref: root(source) for source in application.sources if source.ref}

    def _ref_root(self, source: Source) -> Path:
        if source.chart:
            raise InputError(
                "CMD-ARGO-304",
                f"the ref {source.ref} belongs to a chart, from which no files can be read",
                hint="refer to a source that is a git repository",
                locations=[source.place],
            )
        tree = self.repositories.of(source, self.settings.profile)
        tree.check_links(source.repo_url)
        return tree.root


class _Notes:
    """Adds the notes of a unit to the diagnostics, with the Application and source."""

    def __init__(self, diagnostics: Diagnostics, application: str, source: int) -> None:
        self._diagnostics = diagnostics
        self._application = application
        self._source = source

    def note(
        self, code: str, message: str, severity: Severity, hint: str = "", locations: tuple[Location, ...] = ()
    ) -> None:
        self._diagnostics.add(
            Diagnostic(
                code,
                message,
                severity,
                hint,
                subject=Subject(application=self._application, source=self._source),
                locations=locations,
            )
        )

    def unknown_variable(self, name: str) -> None:
        """Report a variable that the build environment does not define."""
        self.note(
            "CMD-ARGO-322",
            f"the build environment has no variable {name}; it is replaced by an empty text",
            "warning",
            "write '$$' for a dollar sign",
        )
