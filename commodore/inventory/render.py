"""Rendering the hierarchy with reclass-rs: one node while discovering, all targets once (spec c 3)."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.errors import CommodoreError, InputError, Location
from commodore.events import Announce, Noted, ignore
from commodore.inventory.applications import merge_applications


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
        """The classes included, in merge order."""
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
        InputError: the hierarchy is wrong; names the class and, where reclass tells, its file and line.
    """
    reclass = _open(inventory, ignore_missing_classes)
    with _translated(inventory, reclass), _captured_warnings(announce):
        raw = reclass.nodeinfo(name).as_dict()
    return _node(inventory, name, raw, reclass.classes, announce)


def render_inventory(inventory: Path, *, announce: Announce = ignore) -> Inventory:
    """Render all targets below `inventory`, in parallel.

    Raises:
        InputError: see `render_node`.
    """
    reclass = _open(inventory, ignore_missing_classes=False)
    with _translated(inventory, reclass), _captured_warnings(announce):
        rendered = reclass.inventory().as_dict()["nodes"]
    classes = reclass.classes
    return Inventory({name: _node(inventory, name, rendered[name], classes, ignore) for name in sorted(rendered)})


def _node(inventory: Path, name: str, raw: dict[str, Any], files: Mapping[str, str], announce: Announce) -> Node:
    target = inventory / "targets" / f"{name}.yml"
    paths = [inventory / "classes" / files[cls] for cls in raw["classes"] if cls in files]
    applications = merge_applications([*paths, target], tuple(raw["applications"]), announce)
    return Node(name, applications, {**raw, "applications": list(applications)})


def _open(inventory: Path, ignore_missing_classes: bool) -> Any:
    import reclass_rs

    _set_threads()
    with _translated(inventory, None):
        return reclass_rs.Reclass(
            inventory_path=str(inventory),
            nodes_path=str(inventory / "targets"),
            classes_path=str(inventory / "classes"),
            ignore_class_notfound=ignore_missing_classes,
        )


@functools.cache
def _set_threads() -> None:
    """reclass-rs takes its thread count once per process and says so on stderr when asked again."""
    import reclass_rs

    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 0
    reclass_rs.Reclass.set_thread_count(usable)


@contextlib.contextmanager
def _captured_warnings(announce: Announce) -> Iterator[None]:
    """reclass-rs writes its warnings straight to file descriptor 2; announce them in debug instead."""
    sys.stderr.flush()
    saved = os.dup(2)
    with tempfile.TemporaryFile() as sink:
        os.dup2(sink.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            sink.seek(0)
            for line in sink.read().decode(errors="replace").splitlines():
                announce(Noted(f"reclass: {line}", level=1))


@contextlib.contextmanager
def _translated(inventory: Path, reclass: Any) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise _translate(inventory, str(error), reclass.classes if reclass is not None else {}) from error


_TARGET = re.compile(r"rendering (?:node )?(?P<target>[^\s:]+): (?!Error)(?P<cause>.*)", re.DOTALL)
_PARSE = re.compile(
    r"Deserializing (?P<cls>\S+?): (?P<cause>.*?)(?: at line (?P<line>\d+) column (?P<column>\d+))?(?:,|$)"
)
_MISSING = re.compile(r"Class (?P<cls>\S+) not found")
_DANGLING = re.compile(r"IO error for operation on (?P<path>.*?): (?P<cause>.*)", re.DOTALL)
_LOOKUP = re.compile(r"lookup error for reference '(?P<ref>[^']*)' in parameter '(?P<parameter>[^']*)'")
_LOOP = re.compile(r"reference loop")


def _translate(inventory: Path, text: str, files: Mapping[str, str]) -> CommodoreError:
    target = _TARGET.search(text)
    where = f" while rendering target {target['target']!r}" if target else ""
    cause = target["cause"] if target else text
    if found := _PARSE.search(cause):
        place = str(inventory / "classes" / files[found["cls"]]) if found["cls"] in files else f"class {found['cls']}"
        line, column = (int(found[part]) if found[part] else None for part in ("line", "column"))
        return InputError(
            "CMD-INV-001",
            f"class {found['cls']} is not valid YAML: {found['cause']}",
            hint="correct the file",
            locations=[Location(place, line, column)],
        )
    if found := _MISSING.search(cause):
        return InputError(
            "CMD-INV-002",
            f"class {found['cls']} is included but does not exist{where}",
            hint=_missing_hint(inventory, found["cls"]),
            locations=_including(inventory, found["cls"], files),
        )
    if found := _LOOKUP.search(cause):
        return InputError(
            "CMD-INV-003",
            f"parameter {found['parameter']!r} refers to {found['ref']}, which is not defined{where}",
            hint="define the parameter, or give a default: ${path::default}",
            locations=_mentioning(inventory, found["ref"], files),
        )
    if _LOOP.search(cause):
        return InputError(
            "CMD-INV-004",
            f"references form a loop{where}: {cause}",
            hint="an instance's parameters may refer to the instance's own key, but not to its component's key",
        )
    if found := _DANGLING.search(text):
        return InputError(
            "CMD-INV-005",
            f"cannot read {found['path']}: {found['cause']}",
            hint="a link in the hierarchy may point to a file that no longer exists",
            locations=[found["path"]],
        )
    return InputError("CMD-INV-006", f"the hierarchy cannot be rendered: {cause}{where}")


def _missing_hint(inventory: Path, cls: str) -> str:
    root = cls.split(".", 1)[0]
    if (inventory / "classes" / root).exists():
        return f"create {cls.replace('.', '/')}.yml in that repository, or remove the include"
    return f"if {root!r} is a package, include 'pkg.{root}' in `applications` and describe it in `parameters.packages`"


def _class_files(inventory: Path, files: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    for relative in sorted(files.values()):
        path = inventory / "classes" / relative
        with contextlib.suppress(OSError, UnicodeDecodeError):
            yield path, path.read_text()


def _mentioning(inventory: Path, text: str, files: Mapping[str, str]) -> list[Location]:
    """The first lines of class files that contain `text`, at most three."""
    found: list[Location] = []
    for path, content in _class_files(inventory, files):
        if text in content:
            line = content[: content.index(text)].count("\n") + 1
            found.append(Location(str(path), line))
            if len(found) == 3:
                break
    return found


def _including(inventory: Path, cls: str, files: Mapping[str, str]) -> list[Location]:
    """Where a class is included by its full name or by a relative one."""
    last = cls.rsplit(".", 1)[-1]
    found: list[Location] = []
    for path, content in _class_files(inventory, files):
        for number, line in enumerate(content.splitlines(), 1):
            entry = line.strip().removeprefix("- ").strip("'\" ")
            if line.strip().startswith("- ") and (entry == cls or (entry.startswith(".") and entry.endswith(last))):
                found.append(Location(str(path), number))
    return found[:3]
