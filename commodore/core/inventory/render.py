"""Rendering the hierarchy with reclass-rs: one node while discovering, all targets once."""

from __future__ import annotations

import contextlib
import marshal
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.events import Event, Noted, ignore
from commodore.base.files.staging import temporary_folder
from commodore.base.files.workspace import guard_disk
from commodore.base.programs.workers import usable_cpus
from commodore.base.strictness import read_allowed
from commodore.base.values.interning import SHARED_LEVELS, InternTable
from commodore.core.inventory._class_bundling import Together, put_together
from commodore.core.inventory._failures import translate, translate_panic
from commodore.core.inventory._growth import find_suspects
from commodore.core.inventory._reclass_process import (
    PanicError,
    ReclassProcess,
    TargetError,
    TooMuchError,
    reclass_process,
    too_much,
)
from commodore.core.inventory.applications import has_removals, merge_applications
from commodore.core.inventory.class_index import ClassFiles


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
    with reclass_process(context) as process:  # it starts while the class files are read
        files, _ = _open(inventory, [name], ignore_missing_classes=ignore_missing_classes)
        with _announced(files, process, context):
            raw = process.node(name, **folders(inventory, ignore_class_notfound=ignore_missing_classes))
    return files, _node(files, name, raw, _remove_somewhere(files, [name]), context)


def find_classes(inventory: Path, target: str) -> ClassFiles:
    """The class files of a hierarchy, nothing rendered. Those that a target includes and are missing are no error.

    Raises:
        InputError: CMD-INV-019, classes include each other; a file that is no YAML.
    """
    return _open(inventory.absolute(), [target], ignore_missing_classes=True)[0]


def render_inventory(inventory: Path, context: Context) -> Inventory:
    """Render all targets below `inventory`, in parallel.

    Raises:
        InputError: see `render_node`; of several targets that cannot be rendered the first one's.
        EnvironmentFault: there is no room for temporary files.
    """
    inventory = inventory.absolute()
    targets = sorted(path.stem for path in (inventory / "targets").glob("*.yml"))
    with guard_disk(inventory), reclass_process(context) as process:
        files, paths = _open(inventory, targets)
        nodes = _render_together(inventory, _Rendering(files, paths, process), context)
        if nodes is None:
            with _announced(files, process, context):
                nodes = _share(render_parts(inventory, paths, process, None))
    removals = _remove_somewhere(files, paths)
    return Inventory(
        {name: _node(files, name, nodes[name], removals, context.with_announce(ignore)) for name in sorted(nodes)}
    )


@dataclass(frozen=True, slots=True)
class _Rendering:
    """What is rendered: the class files, the files of the targets by name, and the process that does it."""

    files: ClassFiles
    paths: Mapping[str, Path]
    process: ReclassProcess


def _render_together(inventory: Path, rendering: _Rendering, context: Context) -> dict[str, dict[str, Any]] | None:
    """All targets, rendered with fewer classes; None if that cannot be done, or does not give the same.

    Raises:
        InputError: a target cannot be rendered as it is either; with the places that users know.
    """
    files, paths, process = rendering.files, rendering.paths, rendering.process
    collected: list[Event] = []
    with put_together(inventory, paths, files.paths) as copy:
        if copy is None:
            return None
        try:
            expected = process.node(copy.probe, **folders(inventory))
            process.warnings()
        except (TargetError, PanicError, TooMuchError):
            return None
        try:
            with _announced(files, process, context.with_announce(collected.append)):
                nodes = _share(render_parts(inventory, paths, process, copy))
        except CommodoreError as failure:
            if isinstance(failure.__cause__, TargetError):
                _fail_again(inventory, rendering, failure.__cause__.target, context)
            if isinstance(failure.__cause__, TooMuchError):
                raise
            return None
    if not _is_same(expected, nodes[copy.probe]):
        context.announce(Noted("the classes of components cannot be put together", level=1))
        return None
    for event in collected:
        context.announce(event)
    return nodes


def _fail_again(inventory: Path, rendering: _Rendering, target: str, context: Context) -> None:
    """Raise the error of a target, if it has one as it is."""
    if not target:
        return
    collected: list[Event] = []
    try:
        with _announced(rendering.files, rendering.process, context.with_announce(collected.append)):
            rendering.process.node(target, **folders(inventory))
    except CommodoreError:
        for event in collected:
            context.announce(event)
        raise


def _is_same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two nodes are the same but for the time, with the order of keys and the types of numbers."""
    times = ({**node, "__reclass__": {**node["__reclass__"], "timestamp": ""}} for node in (one, other))
    return len({marshal.dumps(node, 2) for node in times}) == 1


def _share(rendered: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    table = InternTable(SHARED_LEVELS)
    return {name: table.share(node) for name, node in rendered}


def _open(
    inventory: Path, targets: Sequence[str], *, ignore_missing_classes: bool = False
) -> tuple[ClassFiles, dict[str, Path]]:
    """The class files below the absolute path of a hierarchy, and the files of its targets, relative to `targets/`."""
    import reclass_rs

    with _translated(ClassFiles.found(inventory, {})):
        reclass = reclass_rs.Reclass(**folders(inventory, ignore_class_notfound=ignore_missing_classes))
    files = ClassFiles.found(inventory, reclass.classes)
    for target in targets:  # classes in a loop would end the process: reclass-rs follows them until its stack is full
        for name in files.order(target):
            files.content(files.paths[name])
    return files, {name: Path(path) for name, path in reclass.nodes.items()}


@contextlib.contextmanager
def _announced(files: ClassFiles, process: ReclassProcess, context: Context) -> Iterator[None]:
    """While something is rendered: what reclass-rs complains of, as errors and events."""
    try:
        with _translated(files):
            try:
                yield
            except TooMuchError as error:
                raise too_much(error.targets, _suspects(files, error.targets), context) from error
    finally:
        for line in process.warnings():
            context.announce(Noted(f"reclass: {line}", level=1))


def _suspects(files: ClassFiles, targets: Iterable[str]) -> list[Path]:
    """The class files whose values refer to so much, the worst ones first."""
    names = dict.fromkeys(name for target in targets for name in files.order(target))
    return find_suspects((files.paths[name], files.content(files.paths[name])) for name in names)


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
def _translated(files: ClassFiles) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise translate(str(error), files) from error
    except PanicError as error:
        raise translate_panic(str(error), files) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of pyo3, which does not export it
            raise
        raise translate_panic(str(error), files) from None


Rendered = tuple[str, dict[str, Any]]

_PER_THREAD = 2
"""Targets of a part for each thread. They take about the same time, so that no thread waits long for the others."""
_SCHEME = "yaml_fs://"


def render_parts(
    inventory: Path, paths: Mapping[str, Path], process: ReclassProcess, copy: Together | None
) -> Iterator[Rendered]:
    """Render all targets, some at a time.

    Args:
        inventory: the absolute path of the folder with `classes/` and `targets/`.
        paths: the files of the targets, relative to `targets/`.
        process: renders.
        copy: the hierarchy to take instead.

    Returns:
        The targets' names and nodes, part by part, each node as if all had been rendered from `targets/`.

    Raises:
        TargetError, PanicError, TooMuchError: see `ReclassProcess.nodes`. The last names the targets of its part.
    """
    size = max(usable_cpus(), 1) * _PER_THREAD
    targets = sorted(paths.items())
    if len(targets) <= size and copy is None:
        yield from process.nodes(list(paths), **folders(inventory))
        return
    sources, classes = (copy.targets, copy.classes) if copy else (inventory / "targets", inventory / "classes")
    uri = f"{_SCHEME}{os.path.abspath(inventory / 'targets')}/"
    for part in (targets[start : start + size] for start in range(0, len(targets), size)):
        with temporary_folder() as folder:
            for _, path in part:
                link = folder / path
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(sources / path)
            names = [name for name, _ in part]
            hierarchy = folders(inventory, nodes_path=str(folder), classes_path=str(classes))
            for name, node in process.nodes(names, **hierarchy):
                node["__reclass__"]["uri"] = f"{uri}{paths[name]}"
                if copy is not None:
                    copy.restore(node)
                yield name, node


def folders(inventory: Path, **others: Any) -> dict[str, Any]:
    """The arguments of `reclass_rs.Reclass` for the hierarchy with this absolute path.

    Args:
        others: replace them.
    """
    # reclass-rs takes the other two paths relative to the first.
    own = {"nodes_path": str(inventory / "targets"), "classes_path": str(inventory / "classes")}
    return {"inventory_path": str(inventory), **own, **others}
