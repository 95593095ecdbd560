"""Rendering the hierarchy, or taking over what an earlier run has made of the very same files (ADR 0012).

Reclass reads the files below `inventory` and nothing else, so what it makes of them depends on these alone. A digest of
all of them, read anew each time, is the key under which the result is kept in the workspace. What is equal in several
targets is kept once (ADR 0014).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from commodore import inventory
from commodore.events import Announce, Event, Noted, Warned
from commodore.inventory import Inventory, Node
from commodore.limits import DEFAULT_LIMITS, Limits
from commodore.sharing import SHARED_LEVELS, Branch, Shared
from commodore.workspace import Workspace, remove_tree, write_atomically

_FORMAT = 2
"""Of what is kept; to be raised whenever rendering the same files would give something else."""
_KEPT = 5
"""Results that stay: a run makes one of the whole hierarchy and one per step of finding out what is included, of which
there are three in most clusters."""
_SUFFIXES = (".yml", ".yaml")
_EVENTS = {event.__name__: event for event in (Noted, Warned)}


Changed = Callable[[], None]
"""Is called before something is rendered that no earlier run has rendered: there will be instances to compile."""


def render_node(
    workspace: Workspace,
    name: str,
    *,
    ignore_missing_classes: bool = False,
    announce: Announce,
    changed: Changed = lambda: None,
    limits: Limits = DEFAULT_LIMITS,
) -> Node:
    """Render one target; see `commodore.inventory.render_node`."""

    def render(hear: Announce) -> list[Node]:
        return [
            inventory.render_node(
                workspace.inventory, name, ignore_missing_classes=ignore_missing_classes, announce=hear
            )
        ]

    return _recall(workspace, f"node {name} {ignore_missing_classes}", render, announce, changed, limits)[0]


def render_inventory(
    workspace: Workspace,
    *,
    announce: Announce,
    changed: Changed = lambda: None,
    limits: Limits = DEFAULT_LIMITS,
) -> Inventory:
    """Render all targets; see `commodore.inventory.render_inventory`."""

    def render(hear: Announce) -> list[Node]:
        return list(inventory.render_inventory(workspace.inventory, announce=hear).nodes.values())

    return Inventory({node.name: node for node in _recall(workspace, "inventory", render, announce, changed, limits)})


def _recall(
    workspace: Workspace,
    what: str,
    render: Callable[[Announce], list[Node]],
    announce: Announce,
    changed: Changed,
    limits: Limits,
) -> list[Node]:
    """The kept result with what was announced while it was made; if there is none, a new one."""
    digest = _digest(workspace.inventory, what)
    path = workspace.state / "rendered" / f"{digest}.json"
    known = _read(path) if digest else None
    if known is not None:
        nodes, events = known
        for event in events:
            announce(event)
        os.utime(path)
        return nodes
    changed()
    heard: list[Event] = []

    def hear(event: Event) -> None:
        heard.append(event)
        announce(event)

    made = render(hear)
    if digest:
        _keep(path, made, heard, limits)
    return made


def _digest(folder: Path, what: str) -> str:
    """Of all class and target files; empty if they cannot be read, so that rendering says what is wrong."""
    digest = hashlib.sha256(f"{_FORMAT}\0{what}\0{folder.absolute()}\0{_engine()}\0".encode("utf-8", "surrogateescape"))
    try:
        for path in _files(folder):
            content = Path(path).read_bytes()
            name = os.path.relpath(path, folder).encode("utf-8", "surrogateescape")
            digest.update(b"%s\0%d\0%s" % (name, len(content), content))
    except OSError:
        return ""
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[str]:
    """The class and target files below a folder, links followed, in a stable order.

    Raises:
        OSError: a folder cannot be read, or contains itself.
    """
    above: list[tuple[str, frozenset[str]]] = [(str(folder), frozenset())]
    while above:
        place, parents = above.pop()
        real = os.path.realpath(place)
        if real in parents:
            raise OSError(place)
        with os.scandir(place) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                if entry.name == ".git":
                    continue
                if entry.is_dir():
                    above.append((entry.path, parents | {real}))
                elif entry.name.endswith(_SUFFIXES):
                    yield entry.path


@cache
def _engine() -> str:
    """Which reclass-rs it is."""
    import importlib.util

    spec = importlib.util.find_spec("reclass_rs")
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    found = []
    for place in places:
        for entry in sorted(os.scandir(place), key=lambda one: one.name):
            if entry.is_file():
                status = entry.stat()
                found.append([entry.path, status.st_size, status.st_mtime_ns])
    return json.dumps(found)


def _read(path: Path) -> tuple[list[Node], list[Event]] | None:
    try:
        content = path.read_bytes()
        checksum, _, text = content.partition(b"\n")
        if hashlib.sha256(text).hexdigest().encode() != checksum:
            return None
        document = json.loads(text)
        values: list[Any] = []
        for is_branch, record in document["records"]:
            values.append({key: values[one] for key, one in record.items()} if is_branch else record)
        nodes = [Node(name, tuple(applications), values[one]) for name, applications, one in document["nodes"]]
        return nodes, [_EVENTS[kind](**fields) for kind, fields in document["events"]]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _keep(path: Path, nodes: list[Node], heard: list[Event], limits: Limits) -> None:
    if any(type(event).__name__ not in _EVENTS for event in heard):
        return
    table = Shared(SHARED_LEVELS)
    document: dict[str, Any] = {
        "nodes": [[one.name, list(one.applications), table.add(dict(one.raw))] for one in nodes],
        "events": [[type(event).__name__, asdict(event)] for event in heard],
        "records": [(1, one.numbers) if isinstance(one, Branch) else (0, one) for one in table.records],
    }
    if not all(_survives(record) for _, record in document["records"]):
        return
    text = json.dumps(document, separators=(",", ":")).encode("ascii")
    if len(text) > limits.rendered_bytes:
        return
    write_atomically(path, hashlib.sha256(text).hexdigest().encode() + b"\n" + text, mode=0o600)
    others = sorted((one for one in path.parent.iterdir()), key=lambda one: one.stat().st_mtime_ns, reverse=True)
    for old in others[_KEPT:]:
        remove_tree(old)


def _survives(value: Any) -> bool:
    """Whether JSON gives a value back as it was: not with keys that are no text, or numbers that are none."""
    if isinstance(value, dict):
        return all(type(key) is str for key in value) and all(map(_survives, value.values()))
    if isinstance(value, list):
        return all(map(_survives, value))
    return math.isfinite(value) if isinstance(value, float) else value is None or isinstance(value, str | int)
