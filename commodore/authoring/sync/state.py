"""State of a run, with which the same command continues an interrupted run."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from commodore.authoring.sync.model import STATUSES, UNFINISHED, ItemResult, SyncRequest
from commodore.base.context import Context
from commodore.base.events import Noted, Warned
from commodore.base.files.workspace import Workspace, guard_disk, write_atomically
from commodore.base.printable import counted

_FORMAT = 1


@dataclass
class State:
    """The results of finished repositories by name, stored in a file until the end of the run."""

    path: Path
    started: float = field(default_factory=time.time)
    finished: dict[str, ItemResult] = field(default_factory=dict)

    def add(self, result: ItemResult) -> None:
        """Store a result. Failed and postponed repositories are tried again, so they are not stored."""
        if result.status in UNFINISHED:
            return
        self.finished[result.name] = result
        items = [_plain(each) for _, each in sorted(self.finished.items())]
        content = {"format": _FORMAT, "started": self.started, "items": items}
        write_atomically(self.path, json.dumps(content, indent=1).encode(), 0o600)

    def remove(self) -> None:
        """Remove the file of a complete run; the next run syncs everything again."""
        with guard_disk(self.path):
            self.path.unlink(missing_ok=True)


def open_state(workspace: Workspace, request: SyncRequest, context: Context) -> State:
    """Return the state of an interrupted run of the same command; empty without one."""
    path = workspace.state / f"sync-{_digest(request)}.json"
    state = State(path)
    if request.restart or not path.is_file():
        return state
    try:
        content = json.loads(path.read_bytes())
        started = float(content["started"])
        finished = {item["name"]: _result(item) for item in content["items"]} if content["format"] == _FORMAT else {}
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        context.announce(
            Warned(
                "CMD-SYNC-014",
                f"{path} cannot be read, so all repositories are synced again",
                hint="nothing needs to be done; up-to-date repositories are not changed",
            )
        )
        return state
    if not 0 <= time.time() - started <= context.limits.sync_state_age or not finished:
        return state
    done = counted(len(finished), "repository", "repositories")
    context.announce(Noted(f"continuing an interrupted run, which has finished {done}; see --restart"))
    return State(path, started, finished)


def _digest(request: SyncRequest) -> str:
    """Return a digest that identifies equal commands, without the token, batches and pauses."""
    parts = [
        request.kind.name,
        str(request.list_file.resolve()),
        request.github_url,
        request.branch,
        *sorted(request.labels),
        request.filter,
        request.template_version or "",
        str(request.dry_run),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _plain(result: ItemResult) -> dict[str, Any]:
    return {name: value for name, value in asdict(replace(result, error=None)).items() if name != "error"}


def _result(item: dict[str, Any]) -> ItemResult:
    texts = {name: item[name] for name in ("name", "reason", "url", "template")}
    if not all(isinstance(text, str) for text in texts.values()) or item["status"] not in STATUSES:
        raise ValueError("not a result")
    return ItemResult(status=item["status"], rejected=item["rejected"] is True, earlier=True, **texts)
