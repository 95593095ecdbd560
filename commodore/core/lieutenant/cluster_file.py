"""Cluster files, which replace the API: `--cluster-file` (docs/reference/cluster-file.md)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, InputError, Location, did_you_mean
from commodore.base.yaml import compose, load
from commodore.core.lieutenant.models import Cluster, parse_cluster

if TYPE_CHECKING:
    from yaml.nodes import Node

Owner = Literal["cluster", "tenant"]
OWNERS: Final[tuple[Owner, ...]] = ("cluster", "tenant")
_KEYS = ("cluster", "clusters", "tenant", "tenants")
_REVISIONS = ("globalGitRepoRevision", "tenantGitRepoRevision")
_FIELDS = {
    "cluster": ("id", "displayName", "tenant", "facts", "dynamicFacts", "gitRepo", *_REVISIONS),
    "tenant": ("id", "displayName", "gitRepo", "globalGitRepoURL", *_REVISIONS),
}


@dataclass(frozen=True, slots=True)
class ClusterFileContent:
    """A cluster file, read once.

    Attributes:
        clusters: the clusters by id, in the order of the file, with the shape of the API's objects.
    """

    path: Path
    clusters: Mapping[str, Mapping[str, Any]]
    tenants: Mapping[str, Mapping[str, Any]]

    def load(self, cluster_id: str, fallback_dynamic_facts: Mapping[str, Any], context: Context) -> Cluster:
        """Return the cluster with this id.

        Raises:
            InputError, Findings: the file does not have the cluster or its tenant, or one of them is incomplete.
        """
        if cluster_id not in self.clusters:
            known = sorted(self.clusters)
            raise InputError(
                "CMD-API-045",
                f"{self.path} has no cluster {cluster_id!r}",
                hint=did_you_mean(cluster_id, known) or f"it has {', '.join(known) or 'no clusters'}",
                locations=[str(self.path)],
            )
        cluster = self.clusters[cluster_id]
        return parse_cluster(cluster, self._tenant_of(cluster), fallback_dynamic_facts, context, source=str(self.path))

    def _tenant_of(self, cluster: Mapping[str, Any]) -> Mapping[str, Any]:
        if not self.tenants:
            raise _malformed("CMD-API-044", self.path, "has no tenant", "add the key 'tenant' with the tenant's object")
        tenant = cluster.get("tenant")
        if len(self.tenants) == 1 or not isinstance(tenant, str):
            return next(iter(self.tenants.values()))  # that the two belong together is checked later
        if tenant not in self.tenants:
            raise _malformed(
                "CMD-API-046",
                self.path,
                f"has no tenant {tenant!r}, to which cluster {cluster['id']!r} belongs",
                did_you_mean(tenant, self.tenants) or f"it has {', '.join(sorted(self.tenants))}",
            )
        return self.tenants[tenant]


def read_cluster_file(path: Path, context: Context) -> ClusterFileContent:
    """Read the clusters and tenants of a file.

    Raises:
        EnvironmentFault: the file cannot be read.
        InputError: the file is malformed.
    """
    content = _read(path, context)
    clusters, tenants = (_objects(content, kind, path) for kind in ("cluster", "tenant"))
    return ClusterFileContent(
        path, {entry["id"]: entry for entry in clusters}, {entry["id"]: entry for entry in tenants}
    )


def load_cluster_file(
    path: Path, cluster_id: str, fallback_dynamic_facts: Mapping[str, Any], context: Context
) -> Cluster:
    """Return the cluster with this id from the file.

    Raises:
        EnvironmentFault: the file cannot be read.
        InputError, Findings: the file is malformed, does not have the cluster or its tenant, or one of them is
            incomplete.
    """
    return read_cluster_file(path, context).load(cluster_id, fallback_dynamic_facts, context)


def where_set(cluster: Cluster, owner: Owner, *keys: str) -> list[Location]:
    """Return the location of a field of a cluster or its tenant: file and line, or the API; empty if it is unknown.

    Args:
        keys: the path from the object to the field, like `gitRepo`, `url`.
    """
    if not cluster.source:
        return []
    place = Location(cluster.source)
    changed = (ValueError, LookupError, TypeError, AttributeError, InputError)  # the file was edited meanwhile
    with contextlib.suppress(OSError, *changed):  # the source may be an API, not a file
        top = _fields(compose(Path(cluster.source).read_bytes(), place=cluster.source)[0])
        identifier = cluster.id if owner == "cluster" else cluster.tenant.id
        objects = [top[owner][1]] if owner in top else top[f"{owner}s"][1].value
        (node,) = (entry for entry in objects if _fields(entry)["id"][1].value == identifier)
        for key in keys:
            key_node, node = _fields(node)[key]
            place = Location(cluster.source, key_node.start_mark.line + 1, key_node.start_mark.column + 1)
    return [place]


def _fields(node: Node) -> dict[str, tuple[Node, Node]]:
    """Return the nodes of the keys and values of a mapping, by key."""
    return {key.value: (key, value) for key, value in node.value}


def list_cluster_file(path: Path, context: Context) -> list[dict[str, Any]]:
    """Return the cluster objects of the file in their order, with the shape of the API's list.

    Raises:
        EnvironmentFault: the file cannot be read.
        InputError: the file is malformed.
    """
    return [dict(each) for each in read_cluster_file(path, context).clusters.values()]


def _read(path: Path, context: Context) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            text = file.read(context.limits.cluster_file_bytes + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise EnvironmentFault(
            "CMD-API-040", f"cannot read the cluster file {path}: {reason}", hint="check --cluster-file"
        ) from error
    if len(text) > context.limits.cluster_file_bytes:
        hint = "keep only the clusters that you compile with it"
        raise _malformed("CMD-API-041", path, f"is larger than {context.limits.cluster_file_bytes} bytes", hint)
    content = load(text, place=str(path))
    if not isinstance(content, dict):
        hint = "write for example: cluster: {id: c-example, tenant: t-example}, tenant: {id: t-example}"
        raise _malformed("CMD-API-042", path, "does not hold an object with the keys 'cluster' and 'tenant'", hint)
    for key in content:
        if key not in _KEYS:
            hint = did_you_mean(str(key), _KEYS) or f"the keys are {', '.join(_KEYS)}"
            raise _malformed("CMD-API-043", path, f"has an unknown key {key!r}", hint)
    _check_data(content, path)
    return content


def _check_data(content: Mapping[str, Any], path: Path) -> None:
    """Refuse YAML values that JSON does not have: dates, sets, keys that are not strings."""
    done: set[int] = set()

    def walk(value: Any, place: str) -> None:
        if value is None or isinstance(value, str | bool | int | float):
            return
        if not isinstance(value, dict | list):
            raise _malformed("CMD-API-048", path, f"has a {type(value).__name__} at {place}", "write it in quotes")
        if id(value) in done:
            return  # an alias of a visited value: visiting it again could take forever
        for key, below in _items(value):
            if isinstance(value, dict) and not isinstance(key, str):
                raise _malformed("CMD-API-048", path, f"has the key {key!r} at {place}", "write it in quotes")
            walk(below, f"{place}.{key}")
        done.add(id(value))

    for key, value in content.items():
        walk(value, key)


def _items(value: dict[Any, Any] | list[Any]) -> Iterator[tuple[Any, Any]]:
    yield from value.items() if isinstance(value, dict) else enumerate(value)


def _objects(content: Mapping[str, Any], singular: str, path: Path) -> list[dict[str, Any]]:
    """Return the objects under `cluster` or `clusters`, each with a unique id, with resolved URLs."""
    plural = f"{singular}s"
    if singular in content and plural in content:
        raise _malformed("CMD-API-043", path, f"has both {singular!r} and {plural!r}", f"put all into {plural!r}")
    entries = [content[singular]] if singular in content else content.get(plural, [])
    if not isinstance(entries, list):
        raise _malformed(
            "CMD-API-042", path, f"has no list under {plural!r}", f"for a single {singular} use the key {singular!r}"
        )
    seen: set[str] = set()
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
            hint = f"write for example: {singular}: {{id: {singular[0]}-example}}"
            raise _malformed("CMD-API-042", path, f"has a {singular} that is not an object with an 'id'", hint)
        if entry["id"] in seen:
            hint = "remove one of them, or correct its id"
            raise _malformed("CMD-API-047", path, f"has two {plural} with the id {entry['id']!r}", hint)
        seen.add(entry["id"])
        _check_spelling(entry, singular, path)
    return [_resolve_urls(entry, path) for entry in entries]


def _check_spelling(entry: Mapping[str, Any], singular: str, path: Path) -> None:
    """Refuse unknown keys that resemble a missing known key: most likely they are misspelt."""
    absent = [key for key in _FIELDS[singular] if key not in entry]
    for key in entry:
        if key not in _FIELDS[singular] and (hint := did_you_mean(key, absent, likeness=0.8)):
            raise _malformed("CMD-API-043", path, f"has an unknown key {key!r} in {singular} {entry['id']!r}", hint)


def _resolve_urls(entry: Mapping[str, Any], path: Path) -> dict[str, Any]:
    resolved = dict(entry)
    if "globalGitRepoURL" in resolved:
        resolved["globalGitRepoURL"] = _resolve_url(resolved["globalGitRepoURL"], path)
    repository = resolved.get("gitRepo")
    if isinstance(repository, dict) and "url" in repository:
        resolved["gitRepo"] = repository | {"url": _resolve_url(repository["url"], path)}
    return resolved


def _resolve_url(url: Any, path: Path) -> Any:
    """Resolve `./x` and `../x` relative to the file's folder; other values are left alone."""
    if not isinstance(url, str) or not url.startswith(("./", "../")):
        return url
    return (path.resolve().parent / url).resolve().as_uri()


def _malformed(code: str, path: Path, what: str, hint: str = "") -> InputError:
    return InputError(code, f"the cluster file {path} {what}", hint=hint, locations=[str(path)])
