"""Reports to Lieutenant that must not get lost: what could not be sent is kept and sent again by the next run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from commodore import events
from commodore.errors import CommodoreError
from commodore.workspace import Workspace, guard_disk, remove_tree, write_atomically

Send = Callable[[Mapping[str, Any]], None]
"""Sends one report for the cluster of the run; raises a CommodoreError when it fails."""


def pending_file(workspace: Workspace) -> Path:
    """Where reports are kept: a JSON map of cluster id to report."""
    return workspace.state / "pending-report.json"


def report(
    workspace: Workspace,
    cluster: str,
    body: Mapping[str, Any],
    send: Send,
    announce: events.Announce = events.ignore,
) -> bool:
    """Send a report. If that fails the catalog is pushed all the same, so it is a warning, and the report is kept.

    Args:
        workspace: where it is kept; the caller holds its lock.
        cluster: id of the cluster it is about.
        body: as given by `CompileMetadata.as_report`.
        send: does it.
        announce: hears CMD-CAT-010 when it fails.

    Returns:
        whether it was sent.

    Raises:
        EnvironmentFault: the report cannot be kept.
    """
    _store(workspace, {**_load(workspace, announce), cluster: dict(body)})
    return report_pending(workspace, cluster, send, announce)


def report_pending(workspace: Workspace, cluster: str, send: Send, announce: events.Announce = events.ignore) -> bool:
    """Send the report that an earlier run has kept for this cluster; those for other clusters stay.

    Returns:
        False if there was one and it could not be sent (CMD-CAT-010 is announced), else True.

    Raises:
        EnvironmentFault: the file cannot be read or written.
    """
    kept = _load(workspace, announce)
    body = kept.pop(cluster, None)
    if body is None:
        return True
    try:
        send(body)
    except CommodoreError as error:
        announce(
            events.Warned(
                "CMD-CAT-010",
                f"what the catalog of {cluster} was compiled from could not be reported: {error.message}",
                f"it is kept in {pending_file(workspace)} and reported by the next run for this cluster",
            )
        )
        return False
    _store(workspace, kept)
    return True


def _load(workspace: Workspace, announce: events.Announce) -> dict[str, Any]:
    """What is kept, per cluster. A file that nobody can read is of no use to anyone: it is removed with a warning."""
    file = pending_file(workspace)
    with guard_disk(file):
        if not file.is_file():
            return {}
        content = file.read_bytes()
    try:
        kept = json.loads(content)
    except ValueError:
        kept = None
    if not isinstance(kept, dict) or not all(isinstance(body, dict) for body in kept.values()):
        remove_tree(file)
        announce(events.Warned("CMD-CAT-011", f"{file} was damaged and has been removed", "nothing needs to be done"))
        return {}
    return kept


def _store(workspace: Workspace, kept: Mapping[str, Any]) -> None:
    file = pending_file(workspace)
    if kept:
        write_atomically(file, json.dumps(kept, indent=2, sort_keys=True).encode() + b"\n")
    else:
        remove_tree(file)
