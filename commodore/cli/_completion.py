"""What the shell completes besides commands and options. Completing never logs in, waits long, or says anything."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Mapping


def complete_clusters(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The ids of clusters that begin with what is typed: of the cluster file, else of the API if a token is at hand."""
    from commodore.errors import CommodoreError

    try:
        clusters = _clusters(ctx.params)
    except (CommodoreError, OSError):
        return []
    found = (cluster.get("id") for cluster in clusters)
    return sorted(name for name in found if isinstance(name, str) and name.startswith(incomplete))


def complete_error_codes(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The error codes that begin with what is typed, with their titles; `dep` stands for `CMD-DEP`."""
    from commodore.error_pages import read_error_rooms
    from commodore.errors import CommodoreError

    typed = incomplete.upper()
    wanted = typed if "CMD-".startswith(typed[:4]) else f"CMD-{typed}"
    try:
        pages = [page for room in read_error_rooms() for page in room.pages]
    except (CommodoreError, OSError):
        return []
    return [CompletionItem(page.code, help=page.title) for page in pages if page.code.startswith(wanted)]


def _clusters(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    from commodore.caches import token_cache
    from commodore.events import ignore
    from commodore.lieutenant import LieutenantClient, list_cluster_file, resolve_token
    from commodore.limits import DEFAULT_LIMITS

    if given.get("cluster_file") is not None:
        return list_cluster_file(given["cluster_file"])
    url = given.get("api_url")
    token = resolve_token(given.get("api_token"), url, token_cache(), ignore) if url else None
    if token is None:
        return []
    limits = replace(DEFAULT_LIMITS, request_attempts=1, response_seconds=DEFAULT_LIMITS.completion_timeout)
    with LieutenantClient(
        url, lambda: token, timeout=limits.completion_timeout, limits=limits, announce=ignore
    ) as client:
        return client.clusters()


def complete_instances(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The instances of the cluster that was last compiled in the working directory that begin with what is typed."""
    from commodore.errors import CommodoreError
    from commodore.inventory.compiled import compiled_targets
    from commodore.workspace import Workspace

    try:
        targets = compiled_targets(Workspace.at(ctx.find_root().params["working_dir"]))
    except (CommodoreError, OSError):
        return []
    return [name for name in targets if name.startswith(incomplete)]
