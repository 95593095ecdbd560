"""The result of compiling a cluster: its outcome, its changes, and the staged catalog."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from commodore.catalog import StagedCatalog, tree_digest
from commodore.clusters.outcome import ClusterOutcome, Instances
from commodore.core.lieutenant import Cluster
from commodore.core.review import Hunk, Placeholders


@dataclass(frozen=True, slots=True)
class Compiled:
    """The result of compiling a cluster, successful or not.

    Attributes:
        hunks: its changes.
        staged: the catalog that this process can publish; None if compiling failed.
    """

    outcome: ClusterOutcome
    hunks: tuple[Hunk, ...] = ()
    staged: StagedCatalog | None = None


def compiled(item: ClusterOutcome, staged: StagedCatalog, cluster: Cluster) -> Compiled:
    """Return the outcome and the changes of a cluster with a staged catalog."""
    result, change = staged.result, staged.result.change
    placeholders = Placeholders(values_of(cluster))
    hunks = tuple(Hunk.of(file, placeholders) for file in change.files)
    outcome = replace(
        item,
        state="changed" if change.changed else "unchanged",
        instances=Instances(result.rendered, result.reused, result.brought),
        tree=tree_digest(staged.request.workspace),
        base_commit=staged.clone.sha,
        summary={name: count for name, count in asdict(change.summary).items() if count},
        groups=tuple(hunk.id for hunk in hunks),
        notices=result.notices,
    )
    kept = replace(staged, result=replace(result, change=replace(change, files=())))  # too many for a fleet
    return Compiled(outcome, hunks, kept if change.changed else None)


def values_of(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """Return the values of a cluster with their names, which equal changes may differ in; facts come last."""
    yield "cluster.name", cluster.id
    yield "cluster.display_name", cluster.display_name
    yield "cluster.tenant", cluster.tenant.id
    yield "cluster.catalog_url", cluster.catalog_url
    yield from _texts("facts", cluster.facts)
    yield from _texts("dynamic_facts", cluster.dynamic_facts)


def _texts(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key in value:
            yield from _texts(f"{name}.{key}", value[key])
    elif isinstance(value, str | int) and not isinstance(value, bool):
        yield name, str(value)
