"""Render the hierarchy with reclass-rs: one node during discovery, all targets once."""

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
from commodore.core.inventory._class_bundling import BundledHierarchy, bundle_classes
from commodore.core.inventory._failures import translate, translate_panic
from commodore.core.inventory._growth import find_suspects
from commodore.core.inventory._reclass_process import (
    PanicError,
    ReclassProcess,
    ResourceLimitError,
    TargetError,
    reclass_process,
    too_much,
)
from commodore.core.inventory.applications import has_removals, merge_applications
from commodore.core.inventory.class_index import ClassFiles


@dataclass(frozen=True, slots=True)
class Node:
    """One rendered target: `raw` is the node of reclass, which filters receive."""

    name: str
    applications: tuple[str, ...]
    raw: Mapping[str, Any]

    @property
    def parameters(self) -> Mapping[str, Any]:
        parameters: Mapping[str, Any] = self.raw["parameters"]
        return parameters

    @property
    def classes(self) -> tuple[str, ...]:
        """The included classes, as reclass lists them: not in merge order, references as written."""
        return tuple(self.raw["classes"])


@dataclass(frozen=True, slots=True)
class Inventory:
    """The rendered hierarchy: every target by name, sorted."""

    nodes: Mapping[str, Node]


def render_node(inventory: Path, name: str, context: Context, *, ignore_missing_classes: bool = False) -> Node:
    """Render one target of the hierarchy below `inventory` (`classes/` and `targets/`).

    Raises:
        InputError: the hierarchy is invalid; the error names the class and, if possible, its file and line.
    """
    return render_with_files(inventory, name, context, ignore_missing_classes=ignore_missing_classes)[1]


def render_with_files(
    inventory: Path, name: str, context: Context, *, ignore_missing_classes: bool = False
) -> tuple[ClassFiles, Node]:
    """Render one target like `render_node`, and return the class files, too."""
    inventory = inventory.absolute()
    with reclass_process(context) as process:  # it starts while the class files are read
        files, _ = _open(inventory, [name], ignore_missing_classes=ignore_missing_classes)
        with _announced(files, process, context):
            raw = process.node(name, **folders(inventory, ignore_class_notfound=ignore_missing_classes))
    return files, _node(files, name, raw, _remove_somewhere(files, [name]), context)


def find_classes(inventory: Path, target: str) -> ClassFiles:
    """Return the class files of a hierarchy, without rendering. Missing classes are not an error.

    Raises:
        InputError: CMD-INV-019, classes include each other; a file is not YAML.
    """
    return _open(inventory.absolute(), [target], ignore_missing_classes=True)[0]


def render_inventory(inventory: Path, context: Context) -> Inventory:
    """Render all targets below `inventory`, in parallel.

    Raises:
        InputError: see `render_node`; of several invalid targets, the error of the first.
        EnvironmentFault: no space for temporary files.
    """
    inventory = inventory.absolute()
    targets = sorted(path.stem for path in (inventory / "targets").glob("*.yml"))
    with guard_disk(inventory), reclass_process(context) as process:
        files, paths = _open(inventory, targets)
        nodes = _render_bundled(inventory, _Rendering(files, paths, process), context)
        if nodes is None:
            with _announced(files, process, context):
                nodes = _share(render_parts(inventory, paths, process, None))
    removals = _remove_somewhere(files, paths)
    return Inventory(
        {name: _node(files, name, nodes[name], removals, context.with_announce(ignore)) for name in sorted(nodes)}
    )


@dataclass(frozen=True, slots=True)
class _Rendering:
    """A rendering: the class files, the files of the targets by name, and the process."""

    files: ClassFiles
    paths: Mapping[str, Path]
    process: ReclassProcess


def _render_bundled(inventory: Path, rendering: _Rendering, context: Context) -> dict[str, dict[str, Any]] | None:
    """Render all targets with bundled classes; None if that is not possible, or the result differs.

    Raises:
        InputError: a target cannot be rendered without bundling either; the error has the user's files.
    """
    files, paths, process = rendering.files, rendering.paths, rendering.process
    collected: list[Event] = []
    with bundle_classes(inventory, paths, files.paths) as copy:
        if copy is None:
            return None
        try:
            expected = process.node(copy.probe, **folders(inventory))
            process.warnings()
        except (TargetError, PanicError, ResourceLimitError):
            return None
        try:
            with _announced(files, process, context.with_announce(collected.append)):
                nodes = _share(render_parts(inventory, paths, process, copy))
        except CommodoreError as failure:
            if isinstance(failure.__cause__, TargetError):
                _fail_again(inventory, rendering, failure.__cause__.target, context)
            if isinstance(failure.__cause__, ResourceLimitError):
                raise
            return None
    if not _is_same(expected, nodes[copy.probe]):
        context.announce(Noted("the classes of components cannot be bundled", level=1))
        return None
    for event in collected:
        context.announce(event)
    return nodes


def _fail_again(inventory: Path, rendering: _Rendering, target: str, context: Context) -> None:
    """Raise the error of a target, if it also fails without bundling."""
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


def _is_same(first: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Check if two nodes are equal except for the time, including the order of keys and the types of numbers."""
    times = ({**node, "__reclass__": {**node["__reclass__"], "timestamp": ""}} for node in (first, other))
    return len({marshal.dumps(node, 2) for node in times}) == 1


def _share(rendered: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    table = InternTable(SHARED_LEVELS)
    return {name: table.share(node) for name, node in rendered}


def _open(
    inventory: Path, targets: Sequence[str], *, ignore_missing_classes: bool = False
) -> tuple[ClassFiles, dict[str, Path]]:
    """Return the class files of a hierarchy (absolute path), and the files of its targets, relative to `targets/`."""
    import reclass_rs

    with _translated(ClassFiles.of_reclass(inventory, {})):
        reclass = reclass_rs.Reclass(**folders(inventory, ignore_class_notfound=ignore_missing_classes))
    files = ClassFiles.of_reclass(inventory, reclass.classes)
    for (
        target
    ) in targets:  # classes in a loop would crash the process: reclass-rs follows them until its stack overflows
        for name in files.order(target):
            files.content(files.paths[name])
    return files, {name: Path(path) for name, path in reclass.nodes.items()}


@contextlib.contextmanager
def _announced(files: ClassFiles, process: ReclassProcess, context: Context) -> Iterator[None]:
    """Raise errors and announce warnings of reclass-rs during the block."""
    try:
        with _translated(files):
            try:
                yield
            except ResourceLimitError as error:
                raise too_much(error.targets, _suspects(files, error.targets), context) from error
    finally:
        for line in process.warnings():
            context.announce(Noted(f"reclass: {line}", level=1))


def _suspects(files: ClassFiles, targets: Iterable[str]) -> list[Path]:
    """Return the class files that may cause endless rendering, the worst ones first."""
    names = dict.fromkeys(name for target in targets for name in files.order(target))
    return find_suspects((files.paths[name], files.content(files.paths[name])) for name in names)


def _remove_somewhere(files: ClassFiles, targets: Iterable[str]) -> bool:
    """Check if any class or target removes applications, so that they must be merged here."""
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
        if type(error).__name__ != "PanicException":  # from pyo3, which does not export it
            raise
        raise translate_panic(str(error), files) from None


Rendered = tuple[str, dict[str, Any]]

_PER_THREAD = 2
"""Targets of a part for each thread. They take about the same time, so that no thread waits long."""
_SCHEME = "yaml_fs://"


def render_parts(
    inventory: Path, paths: Mapping[str, Path], process: ReclassProcess, copy: BundledHierarchy | None
) -> Iterator[Rendered]:
    """Render all targets in parts.

    Args:
        inventory: the absolute path of the folder with `classes/` and `targets/`.
        paths: the files of the targets, relative to `targets/`.
        process: the rendering process.
        copy: the bundled hierarchy to render instead.

    Returns:
        The targets' names and nodes, part by part, each node as if it was rendered from `targets/`.

    Raises:
        TargetError, PanicError, ResourceLimitError: see `ReclassProcess.nodes`. The last has the targets of its part.
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
    """Return the arguments of `reclass_rs.Reclass` for the hierarchy with this absolute path.

    Args:
        others: arguments that replace the defaults.
    """
    # In reclass-rs the other two paths are relative to the first.
    own = {"nodes_path": str(inventory / "targets"), "classes_path": str(inventory / "classes")}
    return {"inventory_path": str(inventory), **own, **others}
