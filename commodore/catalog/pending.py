"""Reports to Lieutenant that must not be lost.

A report is saved, with its commit, before that commit is pushed. It is sent once the remote's branch is known to have
the commit: by the run that pushed it, or by the next one if that run was killed, got no response to its push, or could
not reach Lieutenant. Lieutenant keeps one report of a cluster: only that of the branch's newest compile is sent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from commodore.base import events
from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.files.sealed import seal, unseal
from commodore.base.files.workspace import Workspace, guard_disk, remove_tree, write_atomically
from commodore.base.values.commits import is_commit
from commodore.catalog.message import SUBJECT
from commodore.core.sources.git import Git, PublishedClone

_LABEL = ("pending reports",)
Send = Callable[[Mapping[str, Any]], None]
"""Sends one report for the cluster of the run; raises a CommodoreError when it fails."""


def pending_file(workspace: Workspace) -> Path:
    """Return the file of saved reports: a JSON map of cluster id to `{"commit": ..., "report": ...}`, oldest first."""
    return workspace.state / "pending-report.json"


def expect_report(workspace: Workspace, cluster: str, commit: str, body: Mapping[str, Any], context: Context) -> None:
    """Save the report to send once `commit` is pushed; to be called before the push.

    Args:
        workspace: the workspace of the file; the caller holds its lock.
        cluster: id of the cluster.
        body: the report, of `CompileMetadata.as_report`.
        context: announces CMD-CAT-011 if the file is damaged.

    Raises:
        EnvironmentFault: it cannot be saved.
    """
    kept = _load(workspace, context)
    kept.setdefault(cluster, []).append({"commit": commit, "report": dict(body)})
    _store(workspace, kept)


def report_pending(
    workspace: Workspace,
    cluster: str,
    clone: Callable[[], PublishedClone],
    send: Send,
    context: Context,
    *,
    settled: bool = False,
) -> bool:
    """Send the report of the newest compile on the catalog's branch, if it is saved here.

    The last report whose commit is not on the branch is kept: a killed run's push may still be under way. Reports for
    other clusters are kept.

    Args:
        workspace: the workspace of the file; the caller holds its lock.
        clone: returns the catalog, whose `sha` is the remote's newest commit; called only if a report is saved.
        settled: this run has pushed or had nothing to push; a report whose commit is not on the branch is dropped.

    Returns:
        False if a report could not be sent (CMD-CAT-010 is announced), else True.

    Raises:
        EnvironmentFault: the file cannot be read or written; git fails.
        CommodoreError: as raised by `clone`.
    """
    kept = _load(workspace, context)
    entries = kept.get(cluster, [])
    if not entries:
        return True
    published = clone()
    due = [index for index, entry in enumerate(entries) if _is_newest(published, entry["commit"], context)]
    left = entries[due[-1] + 1 :] if due else entries
    left = [] if settled else left[-1:]
    sent = True
    if due:
        sent = _send(workspace, cluster, entries[due[-1]]["report"], send, context)
        left = left if sent else [entries[due[-1]], *left]
    _store(workspace, {**kept, cluster: left})
    return sent


def _send(workspace: Workspace, cluster: str, body: Mapping[str, Any], send: Send, context: Context) -> bool:
    """Send a report. If that fails, it is only a warning, as the catalog is pushed already."""
    try:
        send(body)
    except CommodoreError as error:
        context.announce(
            events.Warned(
                "CMD-CAT-010",
                f"the sources of the catalog of {cluster} could not be reported: {error.message}",
                f"the report is kept in {pending_file(workspace)} and sent by the next run for this cluster",
            )
        )
        return False
    return True


def _is_newest(clone: PublishedClone, commit: str, context: Context) -> bool:
    """Check if the clone's commit is, or descends from, this one, and no other compile was published since.

    An empty commit means pushed: older versions saved no other reports.
    """
    if commit in ("", clone.sha):
        return True
    arguments = ["merge-base", "--is-ancestor", commit, clone.sha]
    if Git(clone.path, context).run(arguments, check=False).returncode != 0:
        return False
    later = Git(clone.path, context).run(["log", "--format=%s", f"{commit}..{clone.sha}"])
    return SUBJECT not in later.text.split("\n")


def _load(workspace: Workspace, context: Context) -> dict[str, list[dict[str, Any]]]:
    """Read the saved reports by cluster. An invalid file is removed with a warning."""
    file = pending_file(workspace)
    with guard_disk(file):
        if not file.is_file():
            return {}
        content = file.read_bytes()
    text = content if content.startswith(b"{") else unseal(_LABEL, content)  # older versions did not seal it
    try:
        return {cluster: _entries(kept) for cluster, kept in json.loads(text or b"").items()}
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        remove_tree(file, root=workspace.root)
        context.announce(
            events.Warned("CMD-CAT-011", f"{file} was damaged and has been removed", "nothing needs to be done")
        )
        return {}


def _entries(kept: Any) -> list[dict[str, Any]]:
    """Return the reports of one cluster; a single map is the report of an older version.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: the content is invalid.
    """
    if isinstance(kept, dict):
        return [{"commit": "", "report": kept}]
    for entry in kept:
        if entry["commit"] and not is_commit(entry["commit"]):
            raise ValueError(entry["commit"])
        entry["report"].items()
    return list(kept)


def _store(workspace: Workspace, kept: Mapping[str, list[dict[str, Any]]]) -> None:
    file = pending_file(workspace)
    nonempty = {cluster: entries for cluster, entries in kept.items() if entries}
    if nonempty:
        content = json.dumps(nonempty, indent=2, sort_keys=True).encode() + b"\n"
        write_atomically(file, seal(_LABEL, content), durable=True, root=workspace.root)
    else:
        remove_tree(file, root=workspace.root)
