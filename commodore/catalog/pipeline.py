"""`catalog compile` as a list of stages, from top to bottom."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from commodore import catalog
from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, InputError, Location, PolicyError, UsageError
from commodore.base.events import Noted, stage
from commodore.base.files.watching import WatchedPaths
from commodore.base.files.workspace import Workspace
from commodore.base.names import BOOTSTRAP_TARGET
from commodore.catalog import CatalogChange, CompileMetadata, Move
from commodore.catalog.stages import (
    CompileOptions,
    Components,
    Configuration,
    ConfigurationRepository,
    ConfigurationSource,
    DependencyCheckout,
    Fetcher,
    assemble_manifests,
    bundle_libraries,
    catalog_batch,
    check_classes,
    check_inventory,
    check_same_cluster,
    check_tools,
    compile_instances,
    describe_compile,
    engine_of,
    fetch_components,
    fetch_configuration,
    fetch_packages,
    link_libraries,
    open_configuration,
    recall_remotes,
    remember_cluster,
    remember_remotes,
    render_inventory,
    settings_located,
    write_hierarchy,
    write_references,
)
from commodore.core.dependencies import deprecation_notices
from commodore.core.engine import CompiledInstance, Engine
from commodore.core.inventory import Inventory, cluster_parameters, read_cluster_params
from commodore.core.lieutenant import OWNERS, Cluster, ClusterSource, where_set
from commodore.core.results.caches import repository_cache, usable
from commodore.core.review import DiffMode
from commodore.core.sources.git import (
    Author,
    PublishedClone,
    RemoteAnswers,
    RepositoryStore,
    check_version,
    redact,
    repository_key,
)

Review = Callable[[CatalogChange], bool]
"""Called with the change; returns True to publish it."""


class Provenance(Protocol):
    """Publishes the sources of a catalog on its remote."""

    def files(self, metadata: CompileMetadata) -> Mapping[str, bytes]:
        """Return files to commit to the catalog's root, by name."""
        ...

    def published(self, url: str, metadata: CompileMetadata) -> None:
        """Called when the remote at `url` has the catalog."""
        ...


@dataclass(frozen=True, slots=True)
class CatalogCompile:
    """A request to compile a catalog; the fields are the options of the command."""

    cluster: str
    workspace: Workspace
    push: bool = False
    local: bool = False
    offline: bool = False
    force: bool = False
    global_revision: str | None = None
    tenant_revision: str | None = None
    author: Author | None = None
    diff_mode: DiffMode = "plain"
    provenance: Provenance | None = None
    options: CompileOptions = field(default_factory=CompileOptions)

    def check(self) -> None:
        """Refuse options that cannot be combined.

        Raises:
            UsageError: a push with overridden revisions, or without network.
        """
        if self.push and self.offline:
            raise UsageError(
                "CMD-CLI-026",
                "--push and --offline cannot be combined",
                hint="compile offline, review the changes, and push with network access",
            )
        for option, revision in (("global", self.global_revision), ("tenant", self.tenant_revision)):
            if revision is None:
                continue
            if self.push:
                raise UsageError(
                    "CMD-CLI-020",
                    f"--push and --{option}-repo-revision-override cannot be combined",
                    hint="a catalog is only pushed from the revisions that the API names",
                )
            check_version(revision, f"--{option}-repo-revision-override")


@dataclass(frozen=True, slots=True)
class CatalogResult:
    """The result of a compile: the change of the catalog, its sources (not in local mode), notices to show.

    `rendered` and `reused` are the numbers of rendered instances and of instances with valid cached results; `brought`
    of these came from remote stores in this run; `moves` are the dependencies with other versions than in the
    catalog's last commit.
    """

    change: CatalogChange
    metadata: CompileMetadata | None
    notices: tuple[str, ...]
    rendered: int = 0
    reused: int = 0
    brought: int = 0
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class _Sources:
    """All sources of a compile, in the workspace."""

    configuration: Configuration
    packages: tuple[DependencyCheckout, ...]
    components: Components
    clone: PublishedClone


@dataclass(frozen=True, slots=True)
class Shared:
    """Resources shared by several compiles and threads; their owner closes them.

    Attributes:
        engine: the rendering engine.
        answers: known responses of remotes; None requests them again for this compile.
    """

    engine: Engine
    answers: RemoteAnswers | None = None


@dataclass(frozen=True, slots=True)
class StagedCatalog:
    """A compiled catalog, staged in its clone and not published.

    Attributes:
        clone: the clone with the staged files, and the commit that it is compared with.
        tree: the staged git tree; empty if the workspace stays locked until it is published.
    """

    request: CatalogCompile
    result: CatalogResult
    clone: PublishedClone
    tree: str = ""


def run_compile(
    request: CatalogCompile,
    source: ClusterSource,
    review: Review,
    context: Context,
    engine: Engine | None = None,
) -> CatalogResult:
    """Compile a cluster's catalog.

    Args:
        review: called with the change.
        engine: an engine that the caller keeps for several runs, and closes.

    Raises:
        CommodoreError: any failure; the catalog and files of users are kept.
    """
    request.check()
    context = _given(request, context)
    with request.workspace.locked(context.limits), engine_of(engine, request.options, context) as engine:
        staged = _stage(request, source, Shared(engine), context)
        accepted = review(staged.result.change)
        if request.local:
            catalog.leave(staged.clone, context)
        elif request.push and accepted:
            return replace(staged.result, change=_publish(staged, source, context))
        return staged.result


def stage_catalog(request: CatalogCompile, source: ClusterSource, shared: Shared, context: Context) -> StagedCatalog:
    """Run the first half of a compile, up to the staged files. `publish_catalog` is the second half.

    Raises:
        CommodoreError: as `run_compile`.
    """
    request.check()
    context = _given(request, context)
    with request.workspace.locked(context.limits):
        staged = _stage(request, source, shared, context)
        tree = catalog.staged_tree(staged.clone, context) if staged.result.change.changed else ""
        return replace(staged, tree=tree)


def publish_catalog(
    staged: StagedCatalog, source: ClusterSource, context: Context, before_push: Callable[[str], None]
) -> CatalogResult:
    """Run the second half of a compile: commit, push and report exactly the staged files.

    Args:
        before_push: called with each commit before it is pushed.

    Raises:
        PolicyError: CMD-CAT-024, the staged files have changed; CMD-CAT-025, the remote has another commit than the
            one that the change was compared with; nothing was pushed.
        CommodoreError: as `run_compile`.
    """
    with staged.request.workspace.locked(context.limits):
        if staged.result.change.changed and catalog.staged_tree(staged.clone, context) != staged.tree:
            raise PolicyError(
                "CMD-CAT-024",
                f"the staged files in {staged.clone.path} are not the compiled ones",
                hint="do not change the folder during a run, and run again",
                locations=[str(staged.clone.path)],
            )
        return replace(staged.result, change=_publish(staged, source, context, before_push, exact=True))


def _given(request: CatalogCompile, context: Context) -> Context:
    """Return the context with the options of the request."""
    return replace(context, offline=context.offline or request.offline).allowing(request.options.allowed)


def _stage(request: CatalogCompile, source: ClusterSource, shared: Shared, context: Context) -> StagedCatalog:
    """Run stages 1 to 11. The workspace is locked."""
    workspace, cached, engine = request.workspace, request.options.cached, shared.engine
    mirrors = usable(repository_cache()) if cached else None
    fetching = replace(context, offline=context.offline or request.local)
    with (
        settings_located(workspace, context),
        RepositoryStore(workspace.repositories, fetching, mirrors=mirrors, answers=shared.answers) as store,
    ):
        fetcher = Fetcher(workspace, store, context, request.force, request.local, engine.get_ready, cached)

        sources = _open(request, fetcher) if request.local else _fetch(request, source, fetcher)
        components = sources.components
        context = context.allowing(components.allowed)
        fetcher = replace(fetcher, context=context)
        inventory = _render(fetcher, components)
        if request.options.fetch:
            bundle_libraries(fetcher, components, inventory, policy=request.options.policy)

        installed, compiled = _install(request, sources, inventory, engine, context)
        reused = sum(instance.reused for instance in compiled)
        if installed or request.local:
            change = catalog.stage(sources.clone, context, request.diff_mode)
        else:
            change = catalog.unchanged(sources.clone, context)
        notices = deprecation_notices(inventory.nodes[BOOTSTRAP_TARGET].parameters, components.applications.components)
        metadata: CompileMetadata | None = None
        moves: tuple[Move, ...] = ()
        if not request.local:
            metadata = describe_compile(store, sources.configuration, sources.packages, components)
            context.announce(Noted(catalog.commit_message(metadata), level=1))
            if installed:  # without changes, no process of git is needed
                moves = catalog.moves_since(sources.clone, metadata, context)
            if not context.offline:
                remember_remotes(workspace, store.asked)
        brought = sum(instance.brought for instance in compiled)
        result = CatalogResult(change, metadata, notices, len(compiled) - reused, reused, brought, moves)
        return StagedCatalog(request, result, sources.clone)


def _render(fetcher: Fetcher, components: Components) -> Inventory:
    """Run stages 6 and 7: render and check the hierarchy with all components."""
    workspace, context = fetcher.workspace, fetcher.context
    write_hierarchy(workspace, components, context)
    check_classes(components)
    with stage(context.announce, "rendering the inventory"):
        inventory = render_inventory(fetcher)
    link_libraries(workspace, check_inventory(components, inventory, context))
    check_tools(((name, inventory.nodes[name].raw) for name in components.instances), context)
    return inventory


def watched_sources(request: CatalogCompile) -> WatchedPaths:
    """Return the paths that a local compile reads and that users edit: classes, facts and checkouts of dependencies.

    Generated files in the same folders are excluded: links to classes and libraries, and the vendored libraries
    unless they are not updated.
    """
    workspace = request.workspace
    libraries = (workspace.libraries, workspace.dependencies / "libs")
    apart = (workspace.component_classes, workspace.defaults_classes, *libraries)
    vendored = () if request.options.fetch else (workspace.vendor,)
    output = (workspace.compiled, workspace.catalog, workspace.state)
    return WatchedPaths((workspace.dependencies, workspace.classes, *vendored), apart, workspace.root, output)


def _install(
    request: CatalogCompile, sources: _Sources, inventory: Inventory, engine: Engine, context: Context
) -> tuple[bool, tuple[CompiledInstance, ...]]:
    """Run stages 9 to 11: render everything into the working copy of the catalog. Returns True if
    files have changed.
    """
    workspace, components = request.workspace, sources.components
    with workspace.staging("catalog") as new:
        references = write_references(components, inventory, new / "refs", context)
        batch = catalog_batch(workspace, components, inventory, new / "refs", request.options)
        compiled = compile_instances(engine, batch, context)
        manifests = assemble_manifests(compiled, references, new / "manifests", context, workspace.manifests)
        return catalog.install(workspace, manifests, new / "refs"), compiled


def _fetch(request: CatalogCompile, source: ClusterSource, fetcher: Fetcher) -> _Sources:
    """Run stages 1 to 5: load the cluster and fetch all its sources."""
    workspace, context = fetcher.workspace, fetcher.context
    fetcher.store.foresee(recall_remotes(workspace))
    with stage(context.announce, "loading the cluster"):
        cluster = source.load(request.cluster, context)
    plan = _plan(request, cluster)
    if not context.offline:
        remember_cluster(workspace, cluster)
    with ThreadPoolExecutor(1, thread_name_prefix="catalog") as background:
        try:
            clone = background.submit(_prepare_catalog, request, cluster, fetcher.store)
            if request.push:
                catalog.report_pending(
                    workspace,
                    cluster.id,
                    clone.result,
                    partial(source.report, cluster.id),
                    context,
                )
            configuration = fetch_configuration(fetcher, plan, _facts(cluster))
            packages = fetch_packages(fetcher, plan.tenant)
            components = fetch_components(fetcher)
            return _Sources(configuration, packages, components, clone.result())
        except BaseException:  # do not wait for the catalog, especially at Ctrl-C
            fetcher.store.close()
            raise


def _open(request: CatalogCompile, fetcher: Fetcher) -> _Sources:
    """Run stages 1 to 5 of local mode: open the sources of the last run, without network access."""
    parameters = read_cluster_params(fetcher.workspace)
    check_same_cluster(parameters, request.cluster)
    tenant = parameters["cluster"]["tenant"]
    configuration = open_configuration(fetcher, tenant)
    packages = fetch_packages(fetcher, tenant)
    components = fetch_components(fetcher)
    clone = catalog.open_local(fetcher.workspace, fetcher.context)
    return _Sources(configuration, packages, components, clone)


def _plan(request: CatalogCompile, cluster: Cluster) -> ConfigurationSource:
    """Run stage 2: check URLs and revisions before any file is changed."""
    with _about_catalog(cluster):
        repository_key(cluster.catalog_url)
    global_defaults = ConfigurationRepository(
        "the global defaults",
        cluster.tenant.global_url,
        request.global_revision or cluster.global_revision,
        partial(where_set, cluster, "tenant", "globalGitRepoURL"),
        partial(_revision_places, cluster, "global", request.global_revision),
    )
    tenant_config = ConfigurationRepository(
        "the tenant's configuration",
        cluster.tenant.config_url,
        request.tenant_revision or cluster.tenant_revision,
        partial(where_set, cluster, "tenant", "gitRepo", "url"),
        partial(_revision_places, cluster, "tenant", request.tenant_revision),
    )
    for repository in (global_defaults, tenant_config):
        repository.check_url()
    return ConfigurationSource(cluster.tenant.id, global_defaults, tenant_config)


def _revision_places(cluster: Cluster, kind: str, overriding: str | None) -> list[Location]:
    """Return the places that set the revision: the command line, else the cluster, else its tenant."""
    if overriding is not None:
        return [Location(f"--{kind}-repo-revision-override")]
    places = [place for owner in OWNERS for place in where_set(cluster, owner, f"{kind}GitRepoRevision")]
    return sorted(places, key=lambda place: place.line is None)[:1]


@contextlib.contextmanager
def _about_catalog(cluster: Cluster) -> Iterator[None]:
    """Add the purpose of the catalog's URL, and the places that set it, to errors."""
    try:
        yield
    except (InputError, EnvironmentFault) as error:
        raise error.about("the catalog", at=where_set(cluster, "cluster", "gitRepo", "url")) from error


def _prepare_catalog(request: CatalogCompile, cluster: Cluster, store: RepositoryStore) -> PublishedClone:
    with _about_catalog(cluster):
        return catalog.prepare(request.workspace, store, cluster.catalog_url, request.author)


def _facts(cluster: Cluster) -> dict[str, Any]:
    return {
        "cluster": cluster_parameters(
            name=cluster.id,
            display_name=cluster.display_name,
            catalog_url=redact(cluster.catalog_url),
            tenant=cluster.tenant.id,
            tenant_display_name=cluster.tenant.display_name,
        ),
        "facts": dict(cluster.facts),
        "dynamic_facts": dict(cluster.dynamic_facts),
    }


def _publish(
    staged: StagedCatalog,
    source: ClusterSource,
    context: Context,
    before_push: Callable[[str], None] = lambda _: None,
    *,
    exact: bool = False,
) -> CatalogChange:
    """Run stage 12: commit, push and report."""
    request, clone, metadata = staged.request, staged.clone, staged.result.metadata
    assert metadata is not None, "local mode publishes nothing"
    with stage(context.announce, "publishing the catalog"):
        workspace, cluster, message = request.workspace, request.cluster, catalog.commit_message(metadata)

        def expect(commit: str) -> None:
            catalog.expect_report(workspace, cluster, commit, metadata.as_report(), context)
            before_push(commit)

        change = replace(staged.result.change, exact=exact)
        if request.provenance is not None and change.changed:
            catalog.add_files(clone, request.provenance.files(metadata), context)
        change = catalog.publish(clone, change, message, context, author=request.author, before_push=expect)
        published = replace(clone, sha=change.committed_sha or clone.sha)
        catalog.report_pending(
            workspace, cluster, lambda: published, partial(source.report, cluster), context, settled=True
        )
        if request.provenance is not None:
            request.provenance.published(clone.remote or clone.url, metadata)
        return change
