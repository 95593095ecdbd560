"""The known state of applications, read from status files."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from commodore.base.errors import InputError, UsageError
from commodore.base.files.workspace import guard_disk
from commodore.base.limits import Limits
from commodore.base.values.units import age_seconds
from commodore.base.values.versions import find_version
from commodore.fleet.dependencies import Live
from commodore.fleet.paths import MISSING
from commodore.fleet.repository.config import Prefix, in_path

_WORDS = {"health": "health", "sync": "sync", "revision": "revision", "since": "since"}


@dataclass(frozen=True, slots=True)
class AppState:
    """The state of an application; unknown fields are empty.

    Attributes:
        revision: the deployed revision.
        target: the revision that its sources request.
    """

    health: str = ""
    sync: str = ""
    revision: str = ""
    target: str = ""
    since: datetime | None = None

    @property
    def may_become_ready(self) -> bool:
        """True if it is neither broken nor unknown."""
        return self.health not in ("", "Unknown", "Degraded") and self.sync not in ("", "Unknown")

    @property
    def in_words(self) -> str:
        return ", ".join(filter(None, (self.health or "health unknown", self.sync or "sync unknown")))


@dataclass(frozen=True, slots=True)
class FleetState:
    """States of applications, by cell with its type (`main/prod/eu-1`) and application."""

    cells: Mapping[str, Mapping[str, AppState]] = field(default_factory=dict)

    def of(self, kind: str, cell: Prefix, application: str) -> AppState | None:
        """Return the state of an application in a cell; None if it is unknown."""
        return self.cells.get(f"{kind}/{in_path(cell)}", {}).get(application)

    def is_ready(self, kind: str, cell: Prefix, application: str, requested: object) -> bool:
        """Check if an application is healthy, in sync, and at the requested revision if that is an exact version."""
        state = self.of(kind, cell, application)
        if state is None or (state.health, state.sync) != ("Healthy", "Synced"):
            return False
        exact, deployed = find_version(requested), find_version(state.revision)
        return exact is None or not state.revision or (deployed is not None and exact == deployed)

    def live(self, kind: str, cell: Prefix) -> Live:
        """Return the function by which dependencies read the live state of a cell."""

        def read(application: str, what: str, requested: object) -> Any:
            state = self.of(kind, cell, application)
            if what == "ready":
                return self.is_ready(kind, cell, application, requested)
            return MISSING if state is None else getattr(state, _WORDS[what])

        return read


def parse_duration(text: str) -> int:
    """Convert a duration such as `15m` to seconds.

    Raises:
        UsageError: CMD-FLT-092, it is invalid.
    """
    seconds = age_seconds(text)
    if seconds is None:
        raise UsageError("CMD-FLT-092", f"{text!r} is not a duration", hint="write it as 90s, 15m, 2h or 1d")
    return seconds


def named_cells(given: Sequence[str]) -> list[str]:
    """Return the cells, or clusters, of status files that are given as `CELL=FILE`."""
    return [cell for cell, equals, _ in (text.partition("=") for text in given) if equals]


def read_states(given: Sequence[str], age: float, limits: Limits, now: float | None = None) -> FleetState:
    """Read status files, given as `FILE` or `CELL=FILE`; later ones add to earlier ones.

    Args:
        age: the maximum age of a file, in seconds.
        now: seconds since 1970, by default the current time.

    Raises:
        InputError: CMD-FLT-076, a status file is invalid; 077, a status file is too old.
    """
    cells: dict[str, dict[str, AppState]] = {}
    for text in given:
        cell, equals, name = text.partition("=")
        path = Path(name if equals else text)
        for key, apps in _read(
            path, cell if equals else None, age, limits, time.time() if now is None else now
        ).items():
            cells.setdefault(key, {}).update(apps)
    return FleetState(cells)


def _read(path: Path, cell: str | None, age: float, limits: Limits, now: float) -> dict[str, dict[str, AppState]]:
    with guard_disk(path), path.open("rb") as file:
        content = file.read(limits.fleet_file_bytes + 1)
        old = now - path.stat().st_mtime
    if old > age:
        raise InputError(
            "CMD-FLT-077",
            f"the status file {path} is {int(old)} s old, more than {int(age)} s",
            hint="write it again, or allow an older one with --status-age",
            locations=[str(path)],
        )
    try:
        if len(content) > limits.fleet_file_bytes:
            raise ValueError(f"larger than {limits.fleet_file_bytes >> 20} MiB (fleet_file_bytes)")
        data = json.loads(content)
        if isinstance(data, dict) and isinstance(data.get("cells"), dict):
            return {key: {name: _state(app) for name, app in apps.items()} for key, apps in data["cells"].items()}
        if cell is None or not isinstance(data["items"], list):
            raise ValueError("it has no 'cells'; a list of Kubernetes needs CELL= before its name")
        return {cell: dict(_of_kubernetes(item) for item in data["items"])}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            "CMD-FLT-076",
            f"{path} is not a status file: {error}",
            hint="see 'commodore fleet schema status', or 'kubectl get applications.argoproj.io -o json'",
            locations=[str(path)],
        ) from error


def _state(data: Mapping[str, Any]) -> AppState:
    unknown = sorted(data.keys() - _WORDS.keys())
    if unknown:
        raise ValueError(f"{unknown[0]!r} is unknown")
    texts = {key: str(data.get(key, "")) for key in ("health", "sync", "revision")}
    return AppState(**texts, since=_time(data.get("since")))


def _of_kubernetes(item: Mapping[str, Any]) -> tuple[str, AppState]:
    status = item.get("status") or {}
    sync = status.get("sync") or {}
    since = (status.get("operationState") or {}).get("finishedAt")
    health = (status.get("health") or {}).get("status", "")
    target = revisions_of(item.get("spec") or {})
    return item["metadata"]["name"], AppState(
        health, sync.get("status", ""), sync.get("revision", ""), target, _time(since)
    )


def revisions_of(application: Mapping[str, Any]) -> str:
    """Return the `targetRevision` of an application's sources, separated by commas; empty if a source has none."""
    sources = application.get("sources") or [application.get("source") or {}]
    revisions = [source.get("targetRevision") if isinstance(source, Mapping) else None for source in sources]
    return ", ".join(map(str, revisions)) if all(revisions) else ""


def _time(text: object) -> datetime | None:
    if not isinstance(text, str) or not text:
        return None
    time_ = datetime.fromisoformat(text)
    return time_ if time_.tzinfo else time_.replace(tzinfo=UTC)
