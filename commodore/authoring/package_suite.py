"""`package test`: each case equals `package compile . tests/<case>.yml`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from commodore.authoring.cases import Case
from commodore.authoring.fake_cluster import Facts
from commodore.authoring.package import PackageSource, package_name, render_package
from commodore.authoring.places import Copies
from commodore.authoring.testing import CheckOptions, Prepare, Prepared, RenderedInstance
from commodore.base.context import Context
from commodore.base.files.workspace import Workspace
from commodore.base.names import parameter_key
from commodore.catalog.stages.bundling import bundle_libraries, library_sources
from commodore.catalog.stages.checkouts import Fetcher
from commodore.catalog.stages.compiling import CompileOptions, catalog_batch
from commodore.catalog.stages.locating import settings_located
from commodore.catalog.stages.publishing import write_references
from commodore.core.dependencies.bundle import LibrarySources
from commodore.core.results.caches import repository_cache, usable
from commodore.core.sources.git import RepositoryStore


@dataclass(frozen=True, slots=True)
class PackageSuite:
    """The package whose cases are run, and the options. `directory` has `tests/`; it is absolute and without links."""

    directory: Path
    facts: Facts = field(default_factory=Facts)
    options: CompileOptions = field(default_factory=CompileOptions)
    checks: CheckOptions = field(default_factory=CheckOptions)

    @property
    def name(self) -> str:
        return package_name(self.directory)

    def copies(self, place: Path) -> Copies:
        """Return no copies: the package is read in place."""
        return ()

    @contextlib.contextmanager
    def preparing(self, cases: Sequence[Case], folder: Path, context: Context) -> Iterator[Prepare]:
        """Prepare cases that share a store of repositories, so that each repository is fetched and queried once."""
        mirrors = usable(repository_cache()) if self.options.cached else None
        store = RepositoryStore(folder / "repositories", context, mirrors=mirrors)
        sources: LibrarySources | None = None
        with contextlib.ExitStack() as stack:

            def prepare(case: Case, place: Path) -> Prepared:
                nonlocal sources
                fetcher = Fetcher(Workspace.at(place), store, context, cached=self.options.cached)
                sources = sources or stack.enter_context(library_sources(fetcher, self.options.policy))
                return self._prepare(case, fetcher, sources)

            yield prepare

    def _prepare(self, case: Case, fetcher: Fetcher, sources: LibrarySources) -> Prepared:
        source = PackageSource.at(self.directory, case.file.relative_to(self.directory).as_posix())
        workspace = fetcher.workspace
        with settings_located(workspace, fetcher.context):
            components, inventory = render_package(fetcher, source, (), self.facts)
            bundle_libraries(fetcher, components, inventory, sources)
            write_references(components, inventory, workspace.refs, fetcher.context)
        batch = catalog_batch(workspace, components, inventory, workspace.refs, self.options)
        instances = (
            RenderedInstance(name, parameter_key(components.component_of(name)), inventory.nodes[name].parameters)
            for name in components.instances
        )
        return Prepared(batch, workspace.compiled, tuple(instances))
