"""Rendering the hierarchy with reclass-rs: one node while discovering, all targets once."""

from __future__ import annotations

import contextlib
import functools
import marshal
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.context import Context
from commodore.errors import CommodoreError
from commodore.events import Event, Noted, ignore
from commodore.interning import SHARED_LEVELS, Shared
from commodore.inventory._batched_render import TargetError, render_parts
from commodore.inventory._class_bundling import put_together
from commodore.inventory._failures import translate, translate_panic
from commodore.inventory._growth import find_suspects, try_out
from commodore.inventory.applications import has_removals, merge_applications
from commodore.inventory.class_index import ClassFiles
from commodore.limits import Limits
from commodore.strictness import read_allowed
from commodore.workers import usable_cpus
from commodore.workspace import guard_disk


@dataclass(frozen=True, slots=True)
class Node:
    """One rendered target: `raw` is reclass's own view, which filters are given."""

    name: str
    applications: tuple[str, ...]
    raw: Mapping[str, Any]

    @property
    def parameters(self) -> Mapping[str, Any]:
        parameters: Mapping[str, Any] = self.raw["parameters"]
        return parameters

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes included, as reclass lists them: not in merge order, references as they are written."""
        return tuple(self.raw["classes"])


@dataclass(frozen=True, slots=True)
class Inventory:
    """The rendered hierarchy: every target by name, in name order."""

    nodes: Mapping[str, Node]


def render_node(inventory: Path, name: str, context: Context, *, ignore_missing_classes: bool = False) -> Node:
    """Render one target of the hierarchy below `inventory` (`classes/` and `targets/`).

    Raises:
        InputError: the hierarchy is wrong; names the class and, where that can be found out, its file and line.
    """
    return render_with_files(inventory, name, context, ignore_missing_classes=ignore_missing_classes)[1]


def render_with_files(
    inventory: Path, name: str, context: Context, *, ignore_missing_classes: bool = False
) -> tuple[ClassFiles, Node]:
    """Render one target as `render_node` does; returns the class files too."""
    inventory = inventory.absolute()
    files, reclass = _open(inventory, [name], context.limits, ignore_missing_classes=ignore_missing_classes)
    with _announced(files, context):
        raw = reclass.nodeinfo(name).as_dict()
    return files, _node(files, name, raw, _remove_somewhere(files, [name]), context)


def find_classes(inventory: Path, target: str, context: Context) -> ClassFiles:
    """The class files of a hierarchy, nothing rendered. Those that a target includes and are missing are no error.

    Raises:
        InputError: CMD-INV-019, classes include each other; a file that is no YAML.
    """
    return _open(inventory.absolute(), [target], context.limits, ignore_missing_classes=True)[0]


def render_inventory(inventory: Path, context: Context) -> Inventory:
    """Render all targets below `inventory`, in parallel.

    Raises:
        InputError: see `render_node`; of several targets that cannot be rendered the first one's.
        EnvironmentFault: there is no room for temporary files.
    """
    inventory = inventory.absolute()
    targets = sorted(path.stem for path in (inventory / "targets").glob("*.yml"))
    with guard_disk(inventory):
        files, reclass = _open(inventory, targets, context.limits)
        nodes = _render_together(inventory, files, reclass, context)
        if nodes is None:
            with _announced(files, context):
                nodes = _share(render_parts(inventory, reclass, usable_cpus(), None))
    removals = _remove_somewhere(files, reclass.nodes)
    return Inventory(
        {name: _node(files, name, nodes[name], removals, context.with_announce(ignore)) for name in sorted(nodes)}
    )


def _render_together(
    inventory: Path, files: ClassFiles, reclass: Any, context: Context
) -> dict[str, dict[str, Any]] | None:
    """All targets, rendered with fewer classes; None if that cannot be done, or does not give the same.

    Raises:
        InputError: a target cannot be rendered as it is either; with the places that users know.
    """
    collected: list[Event] = []
    with put_together(inventory, reclass.nodes, files.paths) as copy:
        if copy is None:
            return None
        try:
            with _announced(files, context.with_announce(ignore)):
                expected = reclass.nodeinfo(copy.probe).as_dict()
            with _announced(files, context.with_announce(collected.append)):
                nodes = _share(render_parts(inventory, reclass, usable_cpus(), copy))
        except CommodoreError as failure:
            if isinstance(failure.__cause__, TargetError):
                _fail_again(files, reclass, failure.__cause__.target, context)
            return None
    if not _is_same(expected, nodes[copy.probe]):
        context.announce(Noted("the classes of components cannot be put together", level=1))
        return None
    for event in collected:
        context.announce(event)
    return nodes


def _fail_again(files: ClassFiles, reclass: Any, target: str, context: Context) -> None:
    """Raise the error of a target, if it has one as it is."""
    collected: list[Event] = []
    try:
        with _announced(files, context.with_announce(collected.append)):
            reclass.nodeinfo(target)
    except CommodoreError:
        for event in collected:
            context.announce(event)
        raise


def _is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two nodes are the same but for the time, with the order of keys and the types of numbers."""
    times = ({**node, "__reclass__": {**node["__reclass__"], "timestamp": ""}} for node in (one, other))
    return len({marshal.dumps(node, 2) for node in times}) == 1


def _share(rendered: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    table = Shared(SHARED_LEVELS)
    return {name: table.share(node) for name, node in rendered}


def _open(
    inventory: Path, targets: Sequence[str], limits: Limits, *, ignore_missing_classes: bool = False
) -> tuple[ClassFiles, Any]:
    """The class files below the absolute path of a hierarchy, and reclass-rs's object for it."""
    import reclass_rs

    with _translated(ClassFiles.found(inventory, {})), _without_backtraces():
        reclass = reclass_rs.Reclass(
            inventory_path=str(inventory),  # reclass-rs takes the other two paths relative to it
            nodes_path=str(inventory / "targets"),
            classes_path=str(inventory / "classes"),
            ignore_class_notfound=ignore_missing_classes,
        )
    files = ClassFiles.found(inventory, reclass.classes)
    # Classes in a loop would end the process: reclass-rs follows them until its stack is full.
    included = {target: files.order(target) for target in targets}
    read = {
        name: (files.paths[name], files.content(files.paths[name])) for order in included.values() for name in order
    }
    if find_suspects(read.values()):  # in all of them together; mostly in none
        for target, order in included.items():
            if suspects := find_suspects(read[name] for name in order):
                try_out(inventory, target, suspects, limits, skip=ignore_missing_classes)
    return files, reclass


@contextlib.contextmanager
def _announced(files: ClassFiles, context: Context) -> Iterator[None]:
    """While something is rendered: what reclass-rs complains of, as errors and events."""
    warnings: list[str] = []  # an interruption may come before the next line has given it its value
    try:
        with _translated(files), _captured() as warnings, _without_backtraces():
            _set_threads()
            yield
    finally:
        for line in warnings:
            context.announce(Noted(f"reclass: {line}", level=1))


def _remove_somewhere(files: ClassFiles, targets: Iterable[str]) -> bool:
    """Whether any class or target removes applications, so that they have to be merged here."""
    paths = (*files.paths.values(), *map(files.target, targets))
    return has_removals(files.section(path, "applications") for path in paths)


def _node(files: ClassFiles, name: str, raw: dict[str, Any], removals: bool, context: Context) -> Node:
    rendered = tuple(raw["applications"])
    if not removals:
        return Node(name, rendered, raw)
    order = [files.paths[cls] for cls in files.order(name)]
    lists = [files.section(path, "applications") for path in (*order, files.target(name))]
    allowing = context.allowing(read_allowed(raw["parameters"]))
    applications = merge_applications(lists, rendered, allowing)
    return Node(name, applications, {**raw, "applications": list(applications)})


@contextlib.contextmanager
def _without_backtraces() -> Iterator[None]:
    """With RUST_BACKTRACE each error of reclass-rs, also one that it deals with itself, would note how it came about:
    rendering would take nearly twice as long. Rust looks once per process.
    """
    if "RUST_BACKTRACE" not in os.environ or "RUST_LIB_BACKTRACE" in os.environ:
        yield
        return
    os.environ["RUST_LIB_BACKTRACE"] = "0"
    try:
        yield
    finally:
        os.environ.pop("RUST_LIB_BACKTRACE", None)


@functools.cache
def _set_threads() -> None:
    """reclass-rs takes its thread count once per process, and complains on stderr if it was set already."""
    import reclass_rs

    reclass_rs.Reclass.set_thread_count(usable_cpus())


@contextlib.contextmanager
def _translated(files: ClassFiles) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise translate(str(error), files) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of pyo3, which does not export it
            raise
        raise translate_panic(str(error), files) from None


_KNOWN = re.compile(rb"ignore missing class |\[WARN\] |Missing class '|While initializing global thread pool")
_PANIC = re.compile(rb"\n?thread '[^\n]*' (?:\(\d+\) )?panicked at .*", re.DOTALL)
_ONE_AT_A_TIME = threading.Lock()  # the descriptor belongs to the process, so that two redirections would cross


@contextlib.contextmanager
def _captured() -> Iterator[list[str]]:
    """Collect reclass-rs's warnings; the list is filled at the end. Everything else goes where it should have gone."""
    lines: list[str] = []
    with _ONE_AT_A_TIME:
        try:
            saved = os.dup(2)
        except OSError:  # closed: there is no reader
            yield lines
            return
        if sys.stderr is not None:
            sys.stderr.flush()
        with os.fdopen(saved, "wb", buffering=0) as stderr, tempfile.TemporaryFile() as sink:
            os.dup2(sink.fileno(), 2)
            try:
                yield lines
            finally:
                os.dup2(saved, 2)
                sink.seek(0)
                written = _PANIC.sub(b"", sink.read())
                for line in written.splitlines(keepends=True):
                    if _KNOWN.match(line):
                        lines.append(line.decode(errors="replace").rstrip())
                    else:
                        stderr.write(line)
