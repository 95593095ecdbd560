"""`component compile`: compile a component in a temporary workspace for a fake cluster."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from commodore.authoring.fake_cluster import Facts, component_parameters, link_values, write_argocd_stub
from commodore.authoring.places import restored_places
from commodore.base.context import Context
from commodore.base.errors import InputError, raise_all
from commodore.base.events import stage
from commodore.base.files.staging import temporary_folder
from commodore.base.files.watching import WatchedPaths
from commodore.base.files.workspace import Workspace, link_relative
from commodore.base.names import check_instance_name
from commodore.catalog.stages.bundling import StandaloneBundler
from commodore.catalog.stages.checks import link_libraries
from commodore.catalog.stages.compiling import CompileOptions, engine_of, standalone_request
from commodore.catalog.stages.components import interpreter, kustomize_wrapper
from commodore.catalog.stages.locating import settings_located
from commodore.catalog.stages.tools import check_tools
from commodore.core.dependencies import (
    ComponentMetadata,
    LibraryOwner,
    check_alias,
    read_metadata,
    resolve_libraries,
    unusual_names,
)
from commodore.core.engine import Batch, CompiledInstance, Engine, InstanceJob
from commodore.core.inventory import (
    ClassLinks,
    InstanceMeta,
    Node,
    find_removed_variables,
    link_classes,
    render_inventory,
    standalone_target,
    write_cluster_params,
    write_targets,
)
from commodore.core.sources.git import find_root


@dataclass(frozen=True, slots=True)
class ComponentSource:
    """A component of an author: `directory` holds `class/` and `component/`, `root` is its repository's root."""

    name: str
    instance: str
    directory: Path
    root: Path

    @classmethod
    def at(cls, directory: Path, context: Context, *, name: str | None, alias: str | None) -> ComponentSource:
        """Return the component in a folder, which need not be a git repository.

        Raises:
            InputError: it has no class or defaults file, or its name is invalid.
        """
        directory = directory.resolve()
        own = check_instance_name(name or directory.stem.replace("component-", ""), "component")
        instance = check_instance_name(alias or own, "component instance")
        for warning in unusual_names({own, instance}):
            context.announce(warning)
        missing = [file for file in (f"{own}.yml", "defaults.yml") if not (directory / "class" / file).is_file()]
        if missing:
            raise InputError(
                "CMD-AUT-001",
                f"{directory} is not component {own!r}: it has no "
                + " and no ".join(f"class/{file}" for file in missing),
                hint="check the folder; the component's name can be set with --name",
                locations=[str(directory / "class" / file) for file in missing],
            )
        return cls(own, instance, directory, find_root(directory, context) or directory)


@dataclass(frozen=True, slots=True)
class ComponentCompile:
    """A compile: `values` are class files, later ones override; the result is in `output/compiled/<instance>`. `output`
    is absolute and without links: a link that is made later is refused.
    """

    source: ComponentSource
    values: tuple[Path, ...]
    search_paths: tuple[Path, ...]
    output: Path
    facts: Facts = field(default_factory=Facts)
    options: CompileOptions = field(default_factory=CompileOptions)


def compile_component(request: ComponentCompile, context: Context, *, engine: Engine | None = None) -> CompiledInstance:
    """Compile one component for a fake cluster.

    Args:
        engine: an engine that the caller uses for several runs, and ends.

    Raises:
        CommodoreError: the component or its values are invalid; the former result is unchanged.
    """
    source, context = request.source, context.allowing(request.options.allowed)
    with (
        engine_of(engine, replace(request.options, processes=1), context) as engine,
        temporary_folder() as folder,
        restored_places(folder),
        settings_located(workspace := Workspace.at(folder), context),
    ):
        node = render_component(workspace, source, request.values, request.facts, context)
        with stage(context.announce, "bundling jsonnet libraries"):
            StandaloneBundler(
                workspace.repositories, source.name, source.root, source.directory, context, request.options.policy
            ).fill(workspace.vendor, node.parameters)
        batch = Batch(
            [InstanceJob(source.instance, source.name, source.directory, source.root)],
            {node.name: node.raw},
            standalone_request(
                workspace,
                request.output,
                source.directory,
                tuple(path.resolve() for path in request.search_paths),
                request.options,
            ),
        )
        check_tools(((job.name, batch.nodes[job.name]) for job in batch.jobs), context)
        with stage(context.announce, "compiling", total=1):
            (compiled,) = engine.compile(batch.jobs, batch.nodes, batch.request)
        return compiled


def watched_sources(request: ComponentCompile) -> WatchedPaths:
    """Return the inputs of compiling a component: its folder, values and search paths, without the compiled output."""
    source = request.source
    given = [Path(os.path.abspath(path)) for path in (*request.values, *request.search_paths)]
    requirements = [source.root / name for name in ("jsonnetfile.jsonnet", "jsonnetfile.json")]
    output = (request.output / "compiled",)
    apart = (
        *output,
        source.directory / "compiled",
        source.directory / "docs",
        source.directory / "tests" / "golden",
    )
    return WatchedPaths(
        tuple(dict.fromkeys([source.directory, *requirements, *given])), apart, source.directory, output
    )


def render_component(
    workspace: Workspace, source: ComponentSource, values: Sequence[Path], facts: Facts, context: Context
) -> Node:
    """Render the hierarchy of a component alone, and link the libraries that it publishes.

    Args:
        values: class files, later ones override.

    Raises:
        CommodoreError: the component's classes, metadata or libraries, or the values are invalid.
    """
    classes = (source.directory / "class" / "defaults.yml", source.directory / "class" / f"{source.name}.yml")
    raise_all(find_removed_variables([*classes, *values]))
    link_relative(workspace.component(source.name), source.directory)
    link_classes(workspace, [ClassLinks(source.name, source.name, source.directory, source.root)])
    write_cluster_params(workspace, component_parameters(source.name, source.instance, facts))
    meta = InstanceMeta(source.instance, source.name, source.directory, kustomize_wrapper(), interpreter(context))
    write_targets(workspace, [standalone_target(meta, link_values(workspace.classes, values))])
    node = render_inventory(workspace.inventory, context).nodes[source.instance]
    _check_metadata(workspace, source, node, context)
    return node


def _check_metadata(workspace: Workspace, source: ComponentSource, node: Node, context: Context) -> None:
    metadata: ComponentMetadata = read_metadata(node.parameters, source.name)
    for doubt in metadata.doubts:
        context.announce(doubt)
    owner = LibraryOwner(source.name, source.directory, source.root, metadata)
    links, errors = resolve_libraries([owner], context)
    raise_all(check_alias(source.instance, source.name, metadata, metadata, overrides_version=False) + errors)
    aliases = {name: path for name, path in links.items() if name in metadata.library_aliases}
    link_libraries(workspace, aliases)
    write_argocd_stub(workspace)
