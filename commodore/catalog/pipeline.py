"""`catalog compile`, readable top to bottom as a list of stages."""

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
"""Is shown what changed, and says whether to go on and publish it."""


class Provenance(Protocol):
    """Says on the catalog's remote what a catalog was made from."""

    def files(self, metadata: CompileMetadata) -> Mapping[str, bytes]:
        """Files that are committed to the catalog's root with it, by their names."""
        ...

    def published(self, url: str, metadata: CompileMetadata) -> None:
        """The remote at `url` has the catalog now, or had it already."""
        ...


@dataclass(frozen=True, slots=True)
class CatalogCompile:
    """What to compile and how; the fields are the options of the command."""

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
                hint="compile offline, look at the changes, and push with the network there",
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
    """What a compile did: the change of the catalog, what it was made from (not in local mode), notices to show.

    `rendered` and `reused` are the numbers of instances that were rendered, and of those whose results of earlier runs
    still held; `brought` of these came from remote stores just now; `moves` are the dependencies with other versions
    than in the catalog's last commit.
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
    """Everything that is compiled, in the workspace."""

    configuration: Configuration
    packages: tuple[DependencyCheckout, ...]
    components: Components
    clone: PublishedClone


@dataclass(frozen=True, slots=True)
class Shared:
    """What several compiles have in common. Each may be used by several threads; their owner ends them.

    Attributes:
        engine: renders.
        answers: what remotes have; None asks them anew for this compile.
    """

    engine: Engine
    answers: RemoteAnswers | None = None


@dataclass(frozen=True, slots=True)
class StagedCatalog:
    """A catalog that is compiled and staged in its clone, and not published.

    Attributes:
        clone: where it is staged, and which commit it is compared with.
        tree: the git tree that is staged; empty while the workspace stays locked until it is published.
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
        review: is shown the changes.
        engine: one that the caller keeps for several runs, and ends.

    Raises:
        CommodoreError: whatever is wrong; what was in the catalog, and what users have made, is still there.
    """
    request.check()
    context = _given(request, context)
    with request.workspace.locked(context.limits), engine_of(engine, request.options, context) as engine:
        staged = _stage(request, source, Shared(engine), context)
        wanted = review(staged.result.change)
        if request.local:
            catalog.leave(staged.clone, context)
        elif request.push and wanted:
            return replace(staged.result, change=_publish(staged, source, context))
        return staged.result


def stage_catalog(request: CatalogCompile, source: ClusterSource, shared: Shared, context: Context) -> StagedCatalog:
    """The first half of a compile: everything up to what would be committed. `publish_catalog` is the other one.

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
    """The other half of a compile: commit, push and report exactly what is staged.

    Args:
        before_push: is given each commit before it is pushed.

    Raises:
        PolicyError: CMD-CAT-024, something else is staged by now; CMD-CAT-025, the remote has another commit than the
            one that the change was compared with; nothing was pushed.
        CommodoreError: as `run_compile`.
    """
    with staged.request.workspace.locked(context.limits):
        if staged.result.change.changed and catalog.staged_tree(staged.clone, context) != staged.tree:
            raise PolicyError(
                "CMD-CAT-024",
                f"what is staged in {staged.clone.path} is not what was compiled",
                hint="leave the folder alone during a run, and run again",
                locations=[str(staged.clone.path)],
            )
        return replace(staged.result, change=_publish(staged, source, context, before_push, exact=True))


def _given(request: CatalogCompile, context: Context) -> Context:
    """The context with what the request asks for."""
    return replace(context, offline=context.offline or request.offline).allowing(request.options.allowed)


def _stage(request: CatalogCompile, source: ClusterSource, shared: Shared, context: Context) -> StagedCatalog:
    """Stages 1 to 11, and what they come to. The workspace is locked."""
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
        reused = sum(one.reused for one in compiled)
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
            if installed:  # nothing else costs a question to git when nothing has changed
                moves = catalog.moves_since(sources.clone, metadata, context)
            if not context.offline:
                remember_remotes(workspace, store.asked)
        brought = sum(one.brought for one in compiled)
        result = CatalogResult(change, metadata, notices, len(compiled) - reused, reused, brought, moves)
        return StagedCatalog(request, result, sources.clone)


def _render(fetcher: Fetcher, components: Components) -> Inventory:
    """Stages 6 and 7: the hierarchy with all components, rendered and checked."""
    workspace, context = fetcher.workspace, fetcher.context
    write_hierarchy(workspace, components, context)
    check_classes(components)
    with stage(context.announce, "rendering the inventory"):
        inventory = render_inventory(fetcher)
    link_libraries(workspace, check_inventory(components, inventory, context))
    check_tools(((name, inventory.nodes[name].raw) for name in components.instances), context)
    return inventory


def watched_sources(request: CatalogCompile) -> WatchedPaths:
    """The files that a local compile reads, and may be edited: classes, facts and checkouts of dependencies.

    What it makes of them in the same folders is apart: links to classes and libraries, and the vendored libraries
    unless they are taken as they are.
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
    """Stages 9 to 11: render everything into the working copy of the catalog. Returns whether something is new."""
    workspace, components = request.workspace, sources.components
    with workspace.staging("catalog") as new:
        references = write_references(components, inventory, new / "refs", context)
        batch = catalog_batch(workspace, components, inventory, new / "refs", request.options)
        compiled = compile_instances(engine, batch, context)
        manifests = assemble_manifests(compiled, references, new / "manifests", context, workspace.manifests)
        return catalog.install(workspace, manifests, new / "refs"), compiled


def _fetch(request: CatalogCompile, source: ClusterSource, fetcher: Fetcher) -> _Sources:
    """Stages 1 to 5: from the cluster's id to everything that it includes."""
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
        except BaseException:  # do not wait for the catalog then, least of all at Ctrl-C
            fetcher.store.close()
            raise


def _open(request: CatalogCompile, fetcher: Fetcher) -> _Sources:
    """Stages 1 to 5 of local mode: what the last run has left, without network access."""
    parameters = read_cluster_params(fetcher.workspace)
    check_same_cluster(parameters, request.cluster)
    tenant = parameters["cluster"]["tenant"]
    configuration = open_configuration(fetcher, tenant)
    packages = fetch_packages(fetcher, tenant)
    components = fetch_components(fetcher)
    clone = catalog.open_local(fetcher.workspace, fetcher.context)
    return _Sources(configuration, packages, components, clone)


def _plan(request: CatalogCompile, cluster: Cluster) -> ConfigurationSource:
    """Stage 2: what is wanted must make sense before anything is touched."""
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
    for one in (global_defaults, tenant_config):
        one.check_url()
    return ConfigurationSource(cluster.tenant.id, global_defaults, tenant_config)


def _revision_places(cluster: Cluster, kind: str, overriding: str | None) -> list[Location]:
    """Where the revision is set: by the command line, else for the cluster, else for its tenant."""
    if overriding is not None:
        return [Location(f"--{kind}-repo-revision-override")]
    places = [place for owner in OWNERS for place in where_set(cluster, owner, f"{kind}GitRepoRevision")]
    return sorted(places, key=lambda place: place.line is None)[:1]


@contextlib.contextmanager
def _about_catalog(cluster: Cluster) -> Iterator[None]:
    """Let what a repository's URL can be wrong with out with what it is for, and where it is set."""
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
    """Stage 12: commit, push, report what was pushed."""
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
