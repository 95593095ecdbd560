"""`package compile`: compile a package and its components for a fake cluster."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from commodore.authoring.fake_cluster import TENANT_CLASSES, Facts, link_values, package_parameters, write_argocd_stub
from commodore.authoring.places import restored_places, with_restored_places
from commodore.base.context import Context
from commodore.base.errors import InputError, did_you_mean
from commodore.base.events import Noted, stage
from commodore.base.files.staging import temporary_folder
from commodore.base.files.tree import files
from commodore.base.files.workspace import Workspace, copy_tree, folder_beside, is_inside, replace_tree
from commodore.base.names import check_package_name
from commodore.catalog.stages.bundling import bundle_libraries
from commodore.catalog.stages.checkouts import Components, Fetcher
from commodore.catalog.stages.checks import check_classes, check_inventory, link_libraries
from commodore.catalog.stages.compiling import CompileOptions, catalog_batch, compile_instances, open_engine
from commodore.catalog.stages.components import fetch_components, write_hierarchy
from commodore.catalog.stages.locating import settings_located
from commodore.catalog.stages.packages import fetch_packages
from commodore.catalog.stages.publishing import write_references
from commodore.catalog.stages.tools import check_tools
from commodore.core.engine import CompiledInstance
from commodore.core.inventory import (
    Inventory,
    bootstrap_target,
    render_inventory,
    write_class,
    write_cluster_params,
    write_targets,
)
from commodore.core.results.caches import repository_cache, usable
from commodore.core.sources.git import RepositoryStore


@dataclass(frozen=True, slots=True)
class PackageSource:
    """A package of an author, and its class to compile."""

    name: str
    directory: Path
    root_class: str

    @classmethod
    def at(cls, directory: Path, test_class: str) -> PackageSource:
        """Return the package in a folder with one of its class files, relative to the folder.

        Raises:
            InputError: the class does not exist, or the folder's name is not a valid package name.
        """
        directory = directory.resolve()
        path = directory / test_class
        if path.suffix not in (".yml", ".yaml") or not path.is_file() or not path.resolve().is_relative_to(directory):
            known = [name for name, _ in files(directory) if name.endswith((".yml", ".yaml"))]
            raise InputError(
                "CMD-AUT-010",
                f"the test class {test_class} does not exist in {directory}",
                hint=did_you_mean(test_class, known)
                or "name a class file relative to the package, like tests/defaults.yml",
                locations=[str(path)],
            )
        root_class = ".".join(Path(test_class).with_suffix("").parts)
        return cls(package_name(directory), directory, root_class)


def package_name(directory: Path) -> str:
    """Return the name of a package, from its folder's name.

    Raises:
        InputError: it is not a valid package name.
    """
    folder = directory.name
    name = folder.replace("pkg.", "") if folder.startswith("pkg.") else directory.stem.replace("package-", "")
    return check_package_name(name)


@dataclass(frozen=True, slots=True)
class PackageCompile:
    """A compile. `workspace` None is a temporary one; the result is in `output/compiled`.

    With `force`, local changes in the workspace's checkouts are saved and replaced.
    """

    source: PackageSource
    values: tuple[Path, ...]
    output: Path
    workspace: Path | None = None
    keep: bool = False
    local: bool = False
    force: bool = False
    facts: Facts = field(default_factory=Facts)
    options: CompileOptions = field(default_factory=CompileOptions)


def compile_package(request: PackageCompile, context: Context) -> tuple[CompiledInstance, ...]:
    """Compile a package's class for a fake cluster; `output/compiled` is replaced as a whole.

    Raises:
        CommodoreError: the package or its includes are invalid; the former result is unchanged.
    """
    context = context.allowing(request.options.allowed)
    with (
        _workspace(request, context) as (workspace, context),
        open_engine(request.options, context) as engine,
        workspace.locked(context.limits),
        settings_located(workspace, context),
    ):
        cached = request.options.cached
        mirrors = usable(repository_cache()) if cached else None
        fetching = replace(context, offline=request.local)
        store = RepositoryStore(workspace.repositories, fetching, mirrors=mirrors)
        fetcher = Fetcher(workspace, store, context, force=request.force, local=request.local, cached=cached)
        components, inventory = render_package(fetcher, request.source, request.values, request.facts)
        if request.options.fetch:
            bundle_libraries(fetcher, components, inventory, policy=request.options.policy)
        write_references(components, inventory, workspace.refs, context)
        batch = catalog_batch(workspace, components, inventory, workspace.refs, request.options)
        compiled = compile_instances(engine, batch, context.allowing(components.allowed))
        return _hand_over(workspace, request.output.resolve() / "compiled", compiled)


def render_package(
    fetcher: Fetcher, source: PackageSource, values: Sequence[Path], facts: Facts
) -> tuple[Components, Inventory]:
    """Fetch the includes of a package's class, render the hierarchy and check it.

    Args:
        fetcher: the fetcher of the workspace in which the hierarchy is built.
        values: class files, later ones override; they are merged before the package, so that they provide facts.

    Raises:
        CommodoreError: the package, the values or their includes are invalid.
    """
    workspace, context = fetcher.workspace, fetcher.context
    names = link_values(workspace.tenant_config(TENANT_CLASSES), values)
    classes = [*(f"{TENANT_CLASSES}.{name}" for name in names), f"{source.name}.{source.root_class}"]
    write_class(workspace.global_config / "commodore.yml", {"classes": classes})
    write_cluster_params(workspace, package_parameters(facts))
    write_targets(workspace, [bootstrap_target()])
    fetch_packages(fetcher, TENANT_CLASSES, own={source.name: source.directory})
    components = fetch_components(fetcher)
    context = context.allowing(components.allowed)
    write_hierarchy(workspace, components, context)
    check_classes(components)
    with stage(context.announce, "rendering the inventory"):
        inventory = render_inventory(workspace.inventory, context)
    link_libraries(workspace, check_inventory(components, inventory, context))
    check_tools(((name, inventory.nodes[name].raw) for name in components.instances), context)
    write_argocd_stub(workspace)
    return components, inventory


@contextlib.contextmanager
def _workspace(request: PackageCompile, context: Context) -> Iterator[tuple[Workspace, Context]]:
    """Open the workspace of a compile, with a context whose events do not name temporary files."""
    if request.workspace is not None:
        if is_inside(request.workspace, request.source.directory):
            raise InputError(
                "CMD-AUT-011",
                f"the working directory {request.workspace} is inside the package that is compiled",
                hint="set --tmp-dir to a folder outside of it",
                locations=[str(request.workspace)],
            )
        yield Workspace.at(request.workspace), context
    elif request.keep:
        kept = tempfile.mkdtemp(prefix="package-")
        context.announce(Noted(f"The working directory {kept} is kept; use it again with --tmp-dir {kept}"))
        yield Workspace.at(Path(kept)), context
    else:
        with temporary_folder() as folder, restored_places(folder):
            yield Workspace.at(folder), with_restored_places(context, [folder])


def _hand_over(
    workspace: Workspace, place: Path, compiled: tuple[CompiledInstance, ...]
) -> tuple[CompiledInstance, ...]:
    """Copy the result next to the author's former one, then replace that."""
    with folder_beside(place, parents=True) as beside:
        new = beside / "compiled"
        if workspace.compiled.is_dir():
            copy_tree(workspace.compiled, new)
        else:
            new.mkdir()
        replace_tree(new, place, root=place.parent)
    return tuple(
        CompiledInstance(instance.name, instance.component, place / instance.name, instance.seconds)
        for instance in compiled
    )
