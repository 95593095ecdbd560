"""Rendering the hierarchy, or taking over what an earlier run has made of the very same files (ADR 0012).

Reclass reads the files below `inventory` and nothing else, so what it makes of them depends on these alone. A digest of
all of them, read again each time, is the key under which the result is kept in the workspace. What is equal in several
targets is kept once (ADR 0014).
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
"""Of what is kept; to be raised whenever rendering the same files would give something else."""
_KEPT = 5
"""Results that stay: a run makes one of the whole hierarchy and one per step of finding out what is included, of which
there are three in most clusters."""
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
    """The kept result with what was announced while it was made; if there is none, a new one.

    That is kept only if the files are what they were before: reclass reads them by itself, and one that is saved
    meanwhile would get the result of another hierarchy.
    """
    what = " ".join((what, *sorted(fetcher.context.allowed)))
    look = _look(fetcher.workspace, what)
    if not fetcher.cached:
        look = None
    path = fetcher.workspace.state / "rendered" / f"{look.digest}.json" if look is not None else None
    known = _read(path) if path is not None else None
    if path is not None and known is not None:
        nodes, events = known
        for event in events:
            fetcher.context.announce(event)
        with contextlib.suppress(OSError):  # what is used last goes last when there are too many
            os.utime(path)
        return nodes
    fetcher.changed()
    collected: list[Event] = []

    def on_event(event: Event) -> None:
        collected.append(event)
        fetcher.context.announce(event)

    made = render(fetcher.context.with_announce(on_event))
    if path is not None and look == _look(fetcher.workspace, what):
        _keep(path, made, collected, fetcher.context)
    return made


@dataclass(frozen=True, slots=True)
class _Look:
    """One look at a hierarchy.

    Args:
        digest: of all class and target files, their names and contents.
        stamp: of the times at which files and folders have changed. It tells of a change that was undone.
    """

    digest: str
    stamp: str


def _look(workspace: Workspace, what: str) -> _Look | None:
    """What the hierarchy is; None if it cannot be read, so that rendering says what is wrong.

    Raises:
        PolicyError: a link leads out of the working directory: what is there would become parameters.
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
    return _Look(digest.hexdigest(), stamp.hexdigest())


class _Inside:
    """Where links of a hierarchy may lead: into the working directory, into checkouts that the user has put in the
    place of dependencies by a link, and to the package and the values that are compiled.
    """

    def __init__(self, workspace: Workspace) -> None:
        folders = [workspace.dependencies, workspace.classes]
        # The links in a folder of `classes` are those of its repository, unless this program has made the folder.
        folders += [Path(one.path) for one in children(workspace.classes) if not os.path.lexists(f"{one.path}/.git")]
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
    """The class and target files below a folder, links followed, in a stable order.

    Args:
        stamp: gets the times of change of each folder, file and link, before that is read.

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
    """Which reclass-rs it is."""
    import importlib.util

    spec = importlib.util.find_spec("reclass_rs")
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    found = []
    for place in places:
        for entry in children(place):
            if entry.is_file():
                status = entry.stat()
                found.append([entry.path, status.st_size, status.st_mtime_ns])
    return json.dumps(found)


def _read(path: Path) -> tuple[list[Node], list[Event]] | None:
    document = read_note(path, _KIND)
    try:
        values: list[Any] = []
        for is_branch, record in document["records"]:
            values.append({key: values[one] for key, one in record.items()} if is_branch else record)
        nodes = [Node(name, tuple(applications), values[one]) for name, applications, one in document["nodes"]]
        return nodes, [_EVENTS[kind](**fields) for kind, fields in document["events"]]
    except (LookupError, TypeError, AttributeError):
        return None


def _keep(path: Path, nodes: list[Node], collected: list[Event], context: Context) -> None:
    if any(type(event).__name__ not in _EVENTS for event in collected):
        return
    table = InternTable(SHARED_LEVELS)
    document: dict[str, Any] = {
        "nodes": [[one.name, list(one.applications), table.add(dict(one.raw))] for one in nodes],
        "events": [[type(event).__name__, asdict(event)] for event in collected],
        "records": [(1, one.numbers) if isinstance(one, Branch) else (0, one) for one in table.records],
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
        others = sorted(path.parent.iterdir(), key=lambda one: one.lstat().st_mtime_ns, reverse=True)
        for old in others[_KEPT:]:
            remove_tree(old)


def _survives(value: Any) -> bool:
    """Whether JSON gives a value back as it was: not with keys that are no text, or numbers that are none."""
    if isinstance(value, dict):
        return all(type(key) is str for key in value) and all(map(_survives, value.values()))
    if isinstance(value, list):
        return all(map(_survives, value))
    return math.isfinite(value) if isinstance(value, float) else value is None or isinstance(value, str | int)
