"""What a run has finished, so that the same command continues it when it was interrupted."""

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
    """The results of finished repositories by name, kept in a file from the first one to the end of the run."""

    path: Path
    started: float = field(default_factory=time.time)
    finished: dict[str, ItemResult] = field(default_factory=dict)

    def add(self, result: ItemResult) -> None:
        """Remember a result. One that failed or was put off is to be tried again, so it is not kept."""
        if result.status in UNFINISHED:
            return
        self.finished[result.name] = result
        items = [_plain(each) for _, each in sorted(self.finished.items())]
        content = {"format": _FORMAT, "started": self.started, "items": items}
        write_atomically(self.path, json.dumps(content, indent=1).encode(), 0o600)

    def remove(self) -> None:
        """The run is complete: the next one looks at everything again."""
        with guard_disk(self.path):
            self.path.unlink(missing_ok=True)


def open_state(workspace: Workspace, request: SyncRequest, context: Context) -> State:
    """What an interrupted run of the same command has finished; nothing, if there was none."""
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
                f"{path} cannot be read, so all repositories are looked at",
                hint="nothing needs to be done; those that are up to date stay as they are",
            )
        )
        return state
    if not 0 <= time.time() - started <= context.limits.sync_state_age or not finished:
        return state
    done = counted(len(finished), "repository", "repositories")
    context.announce(Noted(f"continuing an interrupted run, which has finished {done}; see --restart"))
    return State(path, started, finished)


def _digest(request: SyncRequest) -> str:
    """What makes two commands the same; the token, batches and pauses do not count."""
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
