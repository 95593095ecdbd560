"""Reports to Lieutenant that must not get lost.

A report is written down, with its commit, before that commit is pushed. It is sent once the remote's branch is known to
have the commit: by the run that pushed it, or by the next one if that run was killed, lost the answer to its push, or
could not reach Lieutenant. Lieutenant keeps one report of a cluster: only that of the branch's newest compile counts.
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
    """Where reports are kept: a JSON map of cluster id to `{"commit": ..., "report": ...}`, oldest first."""
    return workspace.state / "pending-report.json"


def expect_report(workspace: Workspace, cluster: str, commit: str, body: Mapping[str, Any], context: Context) -> None:
    """Write down the report that is due once `commit` is pushed; call it before the push.

    Args:
        workspace: where it is kept; the caller holds its lock.
        cluster: id of the cluster it is about.
        body: as given by `CompileMetadata.as_report`.
        context: announces CMD-CAT-011 when what was kept is damaged.

    Raises:
        EnvironmentFault: it cannot be kept.
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
    """Send the report of the newest compile on the catalog's branch, if it is kept here.

    The last report whose commit the branch does not have stays for now: a killed run's push may still be under way.
    Reports for other clusters stay.

    Args:
        workspace: where reports are kept; the caller holds its lock.
        clone: gives the catalog, whose `sha` is the remote's newest commit; asked for only if a report is kept.
        settled: this run has pushed or had nothing to push; a report whose commit the branch lacks now is dropped.

    Returns:
        False if there was one to send and it could not be sent (CMD-CAT-010 is announced), else True.

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
    """Send a report. If that fails the catalog is pushed all the same, so it is a warning."""
    try:
        send(body)
    except CommodoreError as error:
        context.announce(
            events.Warned(
                "CMD-CAT-010",
                f"what the catalog of {cluster} was compiled from could not be reported: {error.message}",
                f"it is kept in {pending_file(workspace)} and reported by the next run for this cluster",
            )
        )
        return False
    return True


def _is_newest(clone: PublishedClone, commit: str, context: Context) -> bool:
    """Whether the clone's commit is, or descends from, this one, and no other compile was published since.

    Without a commit it was pushed: older versions kept no other reports.
    """
    if commit in ("", clone.sha):
        return True
    arguments = ["merge-base", "--is-ancestor", commit, clone.sha]
    if Git(clone.path, context).run(arguments, check=False).returncode != 0:
        return False
    later = Git(clone.path, context).run(["log", "--format=%s", f"{commit}..{clone.sha}"])
    return SUBJECT not in later.text.split("\n")


def _load(workspace: Workspace, context: Context) -> dict[str, list[dict[str, Any]]]:
    """What is kept, per cluster. A file that cannot be understood is removed with a warning."""
    file = pending_file(workspace)
    with guard_disk(file):
        if not file.is_file():
            return {}
        content = file.read_bytes()
    text = content if content.startswith(b"{") else unseal(_LABEL, content)  # older versions have not sealed it
    try:
        return {cluster: _entries(kept) for cluster, kept in json.loads(text or b"").items()}
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        remove_tree(file, root=workspace.root)
        context.announce(
            events.Warned("CMD-CAT-011", f"{file} was damaged and has been removed", "nothing needs to be done")
        )
        return {}


def _entries(kept: Any) -> list[dict[str, Any]]:
    """The reports of one cluster; a map alone is the report of an older version.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: that is not what was written.
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
    wanted = {cluster: entries for cluster, entries in kept.items() if entries}
    if wanted:
        content = json.dumps(wanted, indent=2, sort_keys=True).encode() + b"\n"
        write_atomically(file, seal(_LABEL, content), durable=True, root=workspace.root)
    else:
        remove_tree(file, root=workspace.root)
