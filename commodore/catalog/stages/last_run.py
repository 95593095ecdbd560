"""What a run leaves for the next one: where the configuration came from, and which remotes had to be asked."""

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
    """Note where a cluster's configuration comes from. Its facts are in the hierarchy anyway; credentials stay out."""
    content = {
        "cluster": cluster.id,
        "global": {"url": redact(cluster.tenant.global_url), "revision": cluster.global_revision},
        "tenant": {"url": redact(cluster.tenant.config_url), "revision": cluster.tenant_revision},
    }
    _write(_sources_file(workspace), content, workspace)


def recall_cluster(workspace: Workspace, name: str) -> Cluster:
    """The cluster as the last run in this workspace knew it, for runs without network access.

    Raises:
        InputError: the last run was for another cluster, or there was none.
        EnvironmentFault: what it has noted is gone or damaged.
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
    """What the last run in a workspace knew of its cluster, as the source of a compile; reports go nowhere."""

    workspace: Workspace

    def load(self, cluster: str, context: Context) -> Cluster:
        return recall_cluster(self.workspace, cluster)

    def report(self, cluster: str, body: Mapping[str, Any]) -> None:
        """Does nothing: a run without the API reports nothing."""


def check_same_cluster(parameters: Mapping[str, Any], name: str) -> None:
    """Refuse to take over what the last run has left when it was for another cluster.

    Raises:
        InputError: it was.
    """
    last = parameters["cluster"]["name"]
    if last != name:
        raise InputError(
            "CMD-INV-015",
            f"the working directory holds cluster {last!r}, not {name!r}",
            hint=f"compile {last!r}, or run once without --local or --offline",
        )


def remember_remotes(workspace: Workspace, urls: Iterable[str]) -> None:
    """Note which remotes had to be asked, so that the next run can ask them all at once. Those with credentials are
    left out.
    """
    _write(_remotes_file(workspace), sorted(url for url in urls if redact(url) == url), workspace)


def recall_remotes(workspace: Workspace) -> list[str]:
    """The remotes that the last run had to ask; whatever is wrong with the note, the run goes on without it."""
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
    """What is noted.

    Raises:
        ValueError: nothing, or the note is damaged.
    """
    return json.loads(read_sealed(path, ("note", path.name)) or b"")


def _sources_file(workspace: Workspace) -> Path:
    return workspace.state / "sources.json"


def _remotes_file(workspace: Workspace) -> Path:
    return workspace.state / "remotes.json"
