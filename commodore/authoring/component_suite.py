"""`component test`: each case equals `component compile . --search-paths ./dependencies --search-paths . -f
tests/<case>.yml` in a fresh clone. Each case has a separate copy, as cases may fetch different versions of a chart to
the same path.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from commodore.authoring.cases import Case
from commodore.authoring.component import ComponentSource, render_component
from commodore.authoring.fake_cluster import Facts
from commodore.authoring.places import Copies
from commodore.authoring.sandbox import Sandbox
from commodore.authoring.testing import CheckOptions, Prepare, Prepared, RenderedInstance
from commodore.base.context import Context
from commodore.base.events import stage
from commodore.base.files.workspace import Workspace
from commodore.base.names import check_instance_name, parameter_key
from commodore.catalog.stages.bundling import StandaloneBundler
from commodore.catalog.stages.compiling import CompileOptions, standalone_request
from commodore.catalog.stages.locating import settings_located
from commodore.core.engine import Batch, InstanceJob


@dataclass(frozen=True, slots=True)
class ComponentSuite:
    """The component whose cases are run, and the options.

    Attributes:
        source: the component; the instances of its cases are those of their golden trees.
        alias: the instance of all cases instead.
        search_paths: additional folders to search for Jsonnet files.
    """

    source: ComponentSource
    alias: str | None = None
    search_paths: tuple[Path, ...] = ()
    facts: Facts = field(default_factory=Facts)
    options: CompileOptions = field(default_factory=CompileOptions)
    checks: CheckOptions = field(default_factory=CheckOptions)

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def directory(self) -> Path:
        return self.source.directory

    def copies(self, place: Path) -> Copies:
        """Return the copy of the component's repository, which has the name of the author's folder."""
        return [(place / "copy" / self.source.root.name, self.source.root)]

    @contextlib.contextmanager
    def preparing(self, cases: Sequence[Case], folder: Path, context: Context) -> Iterator[Prepare]:
        """Prepare cases that share the list of the component's files, and libraries by version."""
        source, policy = self.source, self.options.policy
        with stage(context.announce, "preparing test cases", total=len(cases)):
            sandbox = Sandbox.of(source, context)
            bundler = StandaloneBundler(
                folder / "repositories", source.name, source.root, source.directory, context, policy
            )
            yield lambda case, place: self._prepare(case, place, sandbox, bundler, context)

    def _prepare(
        self, case: Case, place: Path, sandbox: Sandbox, bundler: StandaloneBundler, context: Context
    ) -> Prepared:
        instance = check_instance_name(self.alias or case.alias or self.name, "component instance")
        ((copy, root),) = self.copies(place)
        copied = sandbox.copy(copy / sandbox.root.relative_to(root), instance)
        workspace = Workspace.at(place / "workspace")
        with settings_located(workspace, context):
            node = render_component(workspace, copied, [case.file], self.facts, context)
        bundler.fill(workspace.vendor, node.parameters)
        fetched = (copied.directory / "dependencies", copied.directory)
        paths = (*sandbox.translate(self.search_paths, copied), *fetched)
        request = standalone_request(workspace, copied.directory, copied.directory, paths, self.options)
        job = InstanceJob(instance, copied.name, copied.directory, copied.root)
        batch = Batch([job], {node.name: node.raw}, replace(request, directory=copied.directory))
        rendered = RenderedInstance(instance, parameter_key(copied.name), node.parameters)
        return Prepared(batch, copied.directory / "compiled", (rendered,))
