"""Notes of a run for the next one: the sources of the configuration, and the remotes that were contacted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault, InputError
from commodore.base.files.sealed import read_sealed, seal
from commodore.base.files.workspace import Workspace, write_atomically
from commodore.core.inventory import read_cluster_params
from commodore.core.lieutenant import Cluster, Tenant
from commodore.core.sources.git import normalize, redact, repository_key

_HINT = "run once without --offline, or describe the cluster in a file and give it with --cluster-file"


def remember_cluster(workspace: Workspace, cluster: Cluster) -> None:
    """Save the sources of a cluster's configuration, without credentials. Its facts are in the hierarchy already."""
    content = {
        "cluster": cluster.id,
        "global": {"url": redact(cluster.tenant.global_url), "revision": cluster.global_revision},
        "tenant": {"url": redact(cluster.tenant.config_url), "revision": cluster.tenant_revision},
    }
    _write(_sources_file(workspace), content, workspace)


def recall_cluster(workspace: Workspace, name: str) -> Cluster:
    """Return the cluster of the last run in this workspace, for runs without network access.

    Raises:
        InputError: the last run was for another cluster, or there was no run.
        EnvironmentFault: its notes are missing or damaged.
    """
    try:
        parameters = read_cluster_params(workspace)
    except InputError as error:
        raise InputError(error.code, error.message, hint=_HINT, locations=error.locations) from error
    check_same_cluster(parameters, name)
    try:
        noted = _read(_sources_file(workspace))
        if noted["cluster"] != name:
            raise ValueError(name)
        defaults, config = _source(noted["global"]), _source(noted["tenant"])
        about = {key: _text(parameters["cluster"].get(key)) for key in ("display_name", "catalog_url", "tenant")}
        tenant_name = _text(parameters["cluster"].get("tenant_display_name"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EnvironmentFault(
            "CMD-INV-032",
            f"{workspace.root} does not record where the configuration of cluster {name!r} comes from",
            hint=_HINT,
            locations=[str(_sources_file(workspace))],
        ) from error
    return Cluster(
        id=name,
        display_name=about["display_name"],
        tenant=Tenant(about["tenant"], tenant_name, config[0], defaults[0], defaults[1], config[1]),
        facts=parameters.get("facts") or {},
        dynamic_facts=parameters.get("dynamic_facts") or {},
        catalog_url=about["catalog_url"],
        global_revision=defaults[1],
        tenant_revision=config[1],
    )


@dataclass(frozen=True, slots=True)
class LastRun:
    """The cluster of the last run in a workspace, as the source of a compile; reports are dropped."""

    workspace: Workspace

    def load(self, cluster: str, context: Context) -> Cluster:
        return recall_cluster(self.workspace, cluster)

    def report(self, cluster: str, body: Mapping[str, Any]) -> None:
        """Do nothing: a run without the API does not report."""


def check_same_cluster(parameters: Mapping[str, Any], name: str) -> None:
    """Refuse a working directory whose last run was for another cluster.

    Raises:
        InputError: it was for another cluster.
    """
    last = parameters["cluster"]["name"]
    if last != name:
        raise InputError(
            "CMD-INV-015",
            f"the working directory holds cluster {last!r}, not {name!r}",
            hint=f"compile {last!r}, or run once without --local or --offline",
        )


def remember_remotes(workspace: Workspace, urls: Iterable[str]) -> None:
    """Save the remotes that were contacted, so that the next run can contact them all at once. URLs with credentials
    are left out.
    """
    _write(_remotes_file(workspace), sorted(url for url in urls if redact(url) == url), workspace)


def recall_remotes(workspace: Workspace) -> list[str]:
    """Return the remotes that the last run has contacted; an invalid note is ignored."""
    try:
        noted = _read(_remotes_file(workspace))
    except (OSError, ValueError):
        return []
    return [url for url in noted if _is_usable(url)] if isinstance(noted, list) else []


def _is_usable(url: Any) -> bool:
    if not isinstance(url, str):
        return False
    try:
        repository_key(url)
        return normalize(url) == url
    except CommodoreError:
        return False


def _source(noted: Mapping[str, Any]) -> tuple[str, str | None]:
    revision = noted["revision"]
    return _text(noted["url"]), None if revision is None else _text(revision)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _write(path: Path, content: Any, workspace: Workspace) -> None:
    text = json.dumps(content, indent=2, sort_keys=True).encode() + b"\n"
    write_atomically(path, seal(("note", path.name), text), mode=0o600, root=workspace.root)


def _read(path: Path) -> Any:
    """Read a note.

    Raises:
        ValueError: it is missing or damaged.
    """
    return json.loads(read_sealed(path, ("note", path.name)) or b"")


def _sources_file(workspace: Workspace) -> Path:
    return workspace.state / "sources.json"


def _remotes_file(workspace: Workspace) -> Path:
    return workspace.state / "remotes.json"
