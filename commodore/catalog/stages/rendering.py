"""Render the hierarchy, or reuse the result of an earlier run for the same files (ADR 0012).

Reclass reads only the files below `inventory`, so its result depends on these. A digest of all of them, read again each
time, is the key of the result in the workspace. Values that are equal in several targets are stored once (ADR 0014).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, PolicyError
from commodore.base.events import Event, Noted, Warned
from commodore.base.files.sealed import read_note, seal
from commodore.base.files.tree import children, walk
from commodore.base.files.workspace import Workspace, remove_tree, write_atomically
from commodore.base.values.interning import SHARED_LEVELS, Branch, InternTable
from commodore.catalog.stages.checkouts import Fetcher
from commodore.core import inventory
from commodore.core.inventory import Inventory, Node
from commodore.core.sources.git import holds_credentials

_FORMAT = 3
"""Format of results; to be raised whenever the same files would be rendered differently."""
_KEPT = 5
"""Number of stored results: a run has one of the whole hierarchy and one per step of discovery, of which there are
three in most clusters."""
_KIND = "rendered hierarchy"
_SUFFIXES = (".yml", ".yaml")
_EVENTS = {event.__name__: event for event in (Noted, Warned)}


def render_node(fetcher: Fetcher, name: str, *, ignore_missing_classes: bool = False) -> Node:
    """Render one target; see `commodore.core.inventory.render_node`."""

    def render(context: Context) -> list[Node]:
        folder = fetcher.workspace.inventory
        return [inventory.render_node(folder, name, context, ignore_missing_classes=ignore_missing_classes)]

    return _recall(fetcher, f"node {name} {ignore_missing_classes}", render)[0]


def render_inventory(fetcher: Fetcher) -> Inventory:
    """Render all targets; see `commodore.core.inventory.render_inventory`."""

    def render(context: Context) -> list[Node]:
        return list(inventory.render_inventory(fetcher.workspace.inventory, context).nodes.values())

    return Inventory({node.name: node for node in _recall(fetcher, "inventory", render)})


def _recall(fetcher: Fetcher, what: str, render: Callable[[Context], list[Node]]) -> list[Node]:
    """Return the stored result, and announce its events again; or render it.

    A new result is stored only if the files did not change meanwhile: reclass reads them itself, and an edit during the
    rendering would be stored with the wrong key.
    """
    what = " ".join((what, *sorted(fetcher.context.allowed)))
    state = _fingerprint(fetcher.workspace, what)
    if not fetcher.cached:
        state = None
    path = fetcher.workspace.state / "rendered" / f"{state.digest}.json" if state is not None else None
    known = _read(path) if path is not None else None
    if path is not None and known is not None:
        nodes, events = known
        for event in events:
            fetcher.context.announce(event)
        with contextlib.suppress(OSError):  # the least recently used results are removed first
            os.utime(path)
        return nodes
    fetcher.changed()
    collected: list[Event] = []

    def on_event(event: Event) -> None:
        collected.append(event)
        fetcher.context.announce(event)

    made = render(fetcher.context.with_announce(on_event))
    if path is not None and state == _fingerprint(fetcher.workspace, what):
        _keep(path, made, collected, fetcher.context)
    return made


@dataclass(frozen=True, slots=True)
class _Fingerprint:
    """The state of a hierarchy's files.

    Args:
        digest: digest of the names and contents of all class and target files.
        stamp: digest of the modification times of files and folders, to detect a change that was undone.
    """

    digest: str
    stamp: str


def _fingerprint(workspace: Workspace, what: str) -> _Fingerprint | None:
    """Return the state of the hierarchy's files; None if they cannot be read, so that rendering reports the reason.

    Raises:
        PolicyError: a link leads out of the working directory: its target would become parameters.
    """
    folder = workspace.inventory
    digest = hashlib.sha256(f"{_FORMAT}\0{what}\0{folder.absolute()}\0{_engine()}\0".encode("utf-8", "surrogateescape"))
    stamp = hashlib.sha256()
    try:
        for path in _files(folder, _Inside(workspace), stamp):
            content = Path(path).read_bytes()
            name = os.path.relpath(path, folder).encode("utf-8", "surrogateescape")
            digest.update(b"%s\0%d\0%s" % (name, len(content), content))
    except OSError:
        return None
    return _Fingerprint(digest.hexdigest(), stamp.hexdigest())


class _Inside:
    """Allowed targets of links in a hierarchy: the working directory, checkouts that the user has linked in the place
    of dependencies, and the compiled package and values.
    """

    def __init__(self, workspace: Workspace) -> None:
        folders = [workspace.dependencies, workspace.classes]
        # The links in a folder of `classes` belong to its repository, unless this program has created the folder.
        folders += [
            Path(entry.path) for entry in children(workspace.classes) if not os.path.lexists(f"{entry.path}/.git")
        ]
        own = [folder for folder in folders if not folder.is_symlink()]
        links = [entry.path for folder in own for entry in children(folder) if entry.is_symlink()]
        self._roots = [os.path.realpath(path) for path in (str(workspace.root), *links)]

    def check(self, link: str) -> None:
        real = os.path.realpath(link)
        if not any(real == root or real.startswith(root + os.sep) for root in self._roots):
            raise PolicyError(
                "CMD-INV-081",
                f"the class file or folder {link} is a link that leads to {real}, out of the working directory",
                hint="replace the link by the file that it leads to",
                locations=[link],
            )


def _files(folder: Path, inside: _Inside, stamp: hashlib._Hash) -> Iterator[str]:
    """Yield the class and target files below a folder, with links followed, in a stable order.

    Args:
        stamp: updated with the times of each folder, file and link, before it is read.

    Raises:
        OSError: a folder cannot be read, or contains itself.
    """
    _add_times(stamp, os.stat(folder))
    for _, entry in walk(folder, follow=True, skip=lambda entry: entry.name == ".git"):
        if entry.is_symlink():
            inside.check(entry.path)
            _add_times(stamp, entry.stat(follow_symlinks=False))
        if entry.is_dir() or entry.name.endswith(_SUFFIXES):
            _add_times(stamp, entry.stat())
            if not entry.is_dir():
                yield entry.path


def _add_times(stamp: hashlib._Hash, status: os.stat_result) -> None:
    stamp.update(f"{status.st_dev} {status.st_ino} {status.st_mtime_ns} {status.st_ctime_ns}\n".encode())


@cache
def _engine() -> str:
    """Return the identity of the installed reclass-rs."""
    import importlib.util

    spec = importlib.util.find_spec("reclass_rs")
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    libraries = []
    for place in places:
        for entry in children(place):
            if entry.is_file():
                status = entry.stat()
                libraries.append([entry.path, status.st_size, status.st_mtime_ns])
    return json.dumps(libraries)


def _read(path: Path) -> tuple[list[Node], list[Event]] | None:
    document = read_note(path, _KIND)
    try:
        values: list[Any] = []
        for is_branch, record in document["records"]:
            values.append({key: values[index] for key, index in record.items()} if is_branch else record)
        nodes = [Node(name, tuple(applications), values[index]) for name, applications, index in document["nodes"]]
        return nodes, [_EVENTS[kind](**fields) for kind, fields in document["events"]]
    except (LookupError, TypeError, AttributeError):
        return None


def _keep(path: Path, nodes: list[Node], collected: list[Event], context: Context) -> None:
    if any(type(event).__name__ not in _EVENTS for event in collected):
        return
    table = InternTable(SHARED_LEVELS)
    document: dict[str, Any] = {
        "nodes": [[node.name, list(node.applications), table.add(dict(node.raw))] for node in nodes],
        "events": [[type(event).__name__, asdict(event)] for event in collected],
        "records": [(1, record.numbers) if isinstance(record, Branch) else (0, record) for record in table.records],
    }
    if not all(_survives(record) for _, record in document["records"]):
        return
    written = json.dumps(document, separators=(",", ":"))
    if len(written) > context.limits.rendered_bytes or holds_credentials(written):
        return
    text = written.encode("ascii")
    with contextlib.suppress(OSError, EnvironmentFault):  # it only saves time
        if not path.parent.is_dir():
            remove_tree(path.parent)
        write_atomically(path, seal((_KIND, path.name), text), mode=0o600, root=path.parents[2])
        others = sorted(path.parent.iterdir(), key=lambda file: file.lstat().st_mtime_ns, reverse=True)
        for old in others[_KEPT:]:
            remove_tree(old)


def _survives(value: Any) -> bool:
    """Check that a value is equal after a round trip through JSON: all keys are strings, and all numbers are finite."""
    if isinstance(value, dict):
        return all(type(key) is str for key in value) and all(map(_survives, value.values()))
    if isinstance(value, list):
        return all(map(_survives, value))
    return math.isfinite(value) if isinstance(value, float) else value is None or isinstance(value, str | int)
