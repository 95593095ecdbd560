"""Rendering the hierarchy with reclass-rs: one node while discovering, all targets once (spec c 3)."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from commodore.events import Announce, Noted, ignore
from commodore.inventory._class_files import ClassFiles
from commodore.inventory._failures import translate, translate_panic
from commodore.inventory._parts import render_parts
from commodore.inventory._stderr import captured
from commodore.inventory.applications import has_removals, merge_applications
from commodore.sharing import SHARED_LEVELS, Shared

Rendered = TypeVar("Rendered")


@dataclass(frozen=True, slots=True)
class Node:
    """One rendered target: `raw` is reclass's own view (keys as in spec c 3.2), which filters are given."""

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


def render_node(
    inventory: Path, name: str, *, ignore_missing_classes: bool = False, announce: Announce = ignore
) -> Node:
    """Render one target of the hierarchy below `inventory` (`classes/` and `targets/`).

    Raises:
        InputError: the hierarchy is wrong; names the class and, where that can be found out, its file and line.
    """
    return render_with_files(inventory, name, ignore_missing_classes=ignore_missing_classes, announce=announce)[1]


def render_with_files(
    inventory: Path, name: str, *, ignore_missing_classes: bool = False, announce: Announce = ignore
) -> tuple[ClassFiles, Node]:
    """Render one target as `render_node` does; returns the class files too."""
    files, raw = _render(
        inventory,
        [name],
        lambda reclass: reclass.nodeinfo(name).as_dict(),
        announce,
        ignore_missing_classes=ignore_missing_classes,
    )
    return files, _node(files, name, raw, announce)


def render_inventory(inventory: Path, *, announce: Announce = ignore) -> Inventory:
    """Render all targets below `inventory`, in parallel.

    Raises:
        InputError: see `render_node`.
    """
    shared = Shared(SHARED_LEVELS)
    targets = sorted(path.stem for path in (inventory / "targets").glob("*.yml"))

    def render(reclass: Any) -> dict[str, dict[str, Any]]:
        return {name: shared.share(node) for name, node in render_parts(inventory.absolute(), reclass, _usable_cpus())}

    files, nodes = _render(inventory, targets, render, announce)
    return Inventory({name: _node(files, name, nodes[name], ignore) for name in sorted(nodes)})


def _render(
    inventory: Path,
    targets: Sequence[str],
    render: Callable[[Any], Rendered],
    announce: Announce,
    *,
    ignore_missing_classes: bool = False,
) -> tuple[ClassFiles, Rendered]:
    import reclass_rs

    inventory = inventory.absolute()  # reclass-rs takes the other two paths relative to it
    with _translated(ClassFiles.found(inventory, {})):
        reclass = reclass_rs.Reclass(
            inventory_path=str(inventory),
            nodes_path=str(inventory / "targets"),
            classes_path=str(inventory / "classes"),
            ignore_class_notfound=ignore_missing_classes,
        )
    files = ClassFiles.found(inventory, reclass.classes)
    for target in targets:
        files.order(target)  # classes in a loop would end the process: reclass-rs follows them until its stack is full
    warnings: list[str] = []  # an interruption may come before the next line has given it its value
    try:
        with _translated(files), captured() as warnings:
            _set_threads()
            return files, render(reclass)
    finally:
        for line in warnings:
            announce(Noted(f"reclass: {line}", level=1))


def _node(files: ClassFiles, name: str, raw: dict[str, Any], announce: Announce) -> Node:
    target = files.target(name)
    rendered = tuple(raw["applications"])
    if not has_removals(files.section(path, "applications") for path in (*files.paths.values(), target)):
        return Node(name, rendered, raw)
    order = [files.paths[cls] for cls in files.order(name)]
    lists = [files.section(path, "applications") for path in (*order, target)]
    applications = merge_applications(lists, rendered, announce)
    return Node(name, applications, {**raw, "applications": list(applications)})


@functools.cache
def _set_threads() -> None:
    """reclass-rs takes its thread count once per process, and complains on stderr if somebody has set it already."""
    import reclass_rs

    reclass_rs.Reclass.set_thread_count(_usable_cpus())


def _usable_cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 0


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
