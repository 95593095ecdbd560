"""Assemble the catalog from compiled instances, and describe its sources."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from commodore import catalog
from commodore.base.context import Context
from commodore.base.events import stage
from commodore.base.names import BOOTSTRAP_TARGET
from commodore.catalog import CompileMetadata, RepositoryVersion, local_now
from commodore.catalog.stages.checkouts import Components, DependencyCheckout
from commodore.catalog.stages.configuration import Configuration
from commodore.core import refs
from commodore.core.engine import CompiledInstance
from commodore.core.inventory import Inventory
from commodore.core.sources.git import Checkout, RepositoryStore


def write_references(
    components: Components, inventory: Inventory, folder: Path, context: Context
) -> tuple[refs.SecretReference, ...]:
    """Write the ref files of a cluster to `folder`, which becomes `catalog/refs` later.

    Raises:
        CommodoreError: malformed references, all of them; or Vault is not configured although there are references.
    """
    with stage(context.announce, "writing secret references"):
        nodes = {name: node.raw for name, node in inventory.nodes.items()}
        references = refs.collect(nodes, components.applications.instances, context)
        refs.write_refs(refs.build_refs(references, inventory.nodes[BOOTSTRAP_TARGET].parameters), folder)
        return references


def assemble_manifests(
    compiled: Sequence[CompiledInstance],
    references: Sequence[refs.SecretReference],
    folder: Path,
    context: Context,
    current: Path | None = None,
) -> Path:
    """Build the new `catalog/manifests` in `folder` and check it.

    Returns:
        `folder`; or `current`, a tree that has exactly the same files.

    Raises:
        CommodoreError: instances that write the same files, links that lead out of the output; all of them.
    """
    with stage(context.announce, "assembling the catalog"):
        outputs = [(instance.name, instance.directory) for instance in compiled]
        manifests = catalog.assemble(outputs, folder, context, current)
        refs.check_output(manifests, references, context)
        catalog.warn_about_objects(outputs, context)
        return manifests


def describe_compile(
    store: RepositoryStore,
    configuration: Configuration,
    packages: Sequence[DependencyCheckout],
    components: Components,
) -> CompileMetadata:
    """Return the sources of a compile with their commits, and the current time."""
    instances = {
        name: _version(store, instance, component=components.component_of(name))
        for name, instance in components.instances.items()
    }
    return CompileMetadata(
        instances=instances,
        packages={package.name: _version(store, package) for package in packages},
        global_config=_checkout_version(store, configuration.global_defaults),
        tenant_config=_checkout_version(store, configuration.tenant),
        compiled_at=local_now(),
    )


def _version(store: RepositoryStore, dependency: DependencyCheckout, component: str | None = None) -> RepositoryVersion:
    repository = store.repository(dependency.spec.url)
    return RepositoryVersion(
        url=repository.url,
        version=dependency.spec.version or dependency.checkout.version,
        sha=dependency.checkout.sha,
        short_sha=repository.short_sha(dependency.checkout.sha),
        path=dependency.spec.path or None,
        component=component,
    )


def _checkout_version(store: RepositoryStore, checkout: Checkout) -> RepositoryVersion:
    repository = store.repository(checkout.url)
    return RepositoryVersion(repository.url, checkout.version, checkout.sha, repository.short_sha(checkout.sha))
