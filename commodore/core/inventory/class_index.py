"""Index of class files: included classes, their merge order, and `applications`, read without rendering.

reclass-rs neither reports the order in which it merged a target's classes, nor survives classes that include each
other, so both are determined here.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.base.errors import CommodoreError, InputError, Location
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.yaml import load, load_all
from commodore.core.inventory._growth import is_deep

_SECTION = r"^%s[ \t]*:[^\n]*(?:\n(?:[ \t\r\-#][^\n]*)?)*"
_ENTRY = re.compile(
    r"""[ \t]*-[ \t]+(?P<quote>['"]?)(?P<entry>[\w.~${}:/-]+)(?P=quote)(?:[ \t]+#.*)?[ \t]*""", re.ASCII
)
_REFERENCE = re.compile(r"\$\{([^${}]*)\}")
_NESTING = 8  # levels of nested references that are followed

Fill = Callable[[str, Collection[str]], str]


@dataclass(slots=True)
class ClassFiles:
    """The class files of one hierarchy, each read once.

    `inventory` is the folder with `classes/` and `targets/`; `paths` has the file of each class, as found by
    reclass-rs.
    """

    inventory: Path
    paths: Mapping[str, Path]
    _contents: dict[Path, bytes] = field(default_factory=dict)
    _sections: dict[tuple[Path, str], tuple[str, ...]] = field(default_factory=dict)
    _parameters: dict[Path, Mapping[Any, Any]] = field(default_factory=dict)
    _defining: dict[tuple[Path, str], bool] = field(default_factory=dict)

    @classmethod
    def of_reclass(cls, inventory: Path, files: Mapping[str, Any]) -> ClassFiles:
        """Return the class files of `Reclass.classes`: class name -> path below `classes/`."""
        return cls(inventory, {name: inventory / "classes" / files[name] for name in sorted(files)})

    def target(self, name: str) -> Path:
        """Return the file of a target."""
        return self.inventory / "targets" / f"{name}.yml"

    def content(self, path: Path) -> bytes:
        """Return the bytes of a file; empty if it cannot be read, which reclass-rs reports.

        Raises:
            InputError: it is nested so deeply (CMD-YAML-003) that reclass-rs would need hours for it.
        """
        if path not in self._contents:
            self._contents[path] = b""
            with contextlib.suppress(OSError):
                self._contents[path] = path.read_bytes()
            if is_deep(self._contents[path], DEFAULT_LIMITS.yaml_depth):
                load_all(self._contents[path], place=str(path))  # raises the error if it is nested too deeply
        return self._contents[path]

    def section(self, path: Path, key: str) -> tuple[str, ...]:
        """Return the entries of a top-level list of strings (`classes`, `applications`), as written."""
        if (path, key) not in self._sections:
            self._sections[path, key] = _read_section(self.content(path), key)
        return self._sections[path, key]

    def parameters(self, path: Path) -> Mapping[Any, Any]:
        """Return the `parameters` of a file; empty if it cannot be read."""
        if path not in self._parameters:
            document = _load(self.content(path))
            parameters = document.get("parameters") if isinstance(document, Mapping) else None
            self._parameters[path] = parameters if isinstance(parameters, Mapping) else {}
        return self._parameters[path]

    def line_of(self, path: Path, text: str) -> int | None:
        """Return the first line of a file that contains `text`, which is not empty."""
        before, separator, _ = self.content(path).partition(text.encode())
        return before.count(b"\n") + 1 if separator else None

    def line_of_entry(self, path: Path, key: str, entry: str) -> int | None:
        """Return the first line of a file with this entry of a top-level list of strings (see `section`)."""
        content = self.content(path)
        item = rb"""(?:-[ \t]+|[\[,]\s*)['"]?(?P<entry>%s)(?=['"]?[ \t]*(?:[\],\r\n]|[ \t]#|\Z))"""
        start = max(content.find(key.encode()), 0)
        match = re.compile(item % re.escape(entry.encode())).search(content, start)
        return content[: match.start("entry")].count(b"\n") + 1 if match else None

    def order(self, target: str, fill: Fill | None = None) -> list[str]:
        """Return the classes of a target in merge order: the includes of a class, then the class.

        Args:
            fill: replaces the references of an entry, given the classes merged so far. Without it, only references
                that do not depend on other references are replaced.

        Raises:
            InputError: CMD-INV-019, classes include each other.
        """
        walk = _Walk(self, fill or self._fill)
        walk.follow(target)
        return list(walk.merged)

    def lookup(self, reference: str, merged: Collection[str]) -> Any:
        """Return the value of `a:b` after merging these classes: that of the last class that sets it.

        Raises:
            LookupError: no class sets it.
        """
        path, _, default = reference.partition("::")
        keys = path.split(":")
        for name in reversed(tuple(merged)):
            if name not in self.paths or not all(self._may_define(self.paths[name], key) for key in keys):
                continue
            value: Any = self.parameters(self.paths[name])
            for key in keys:
                value = _member(value, key)
            if value is not None:
                return value
        if "::" in reference:
            return default
        raise LookupError(reference)

    def _fill(self, entry: str, merged: Collection[str]) -> str:
        """Replace the references of an entry; unresolvable ones stay, and are reported by reclass-rs."""
        for _ in range(_NESTING):
            if "${" not in entry:
                break
            with contextlib.suppress(LookupError):
                entry = _REFERENCE.sub(lambda match: _text(self.lookup(match[1], merged)), entry)
        return entry

    def _may_define(self, path: Path, key: str) -> bool:
        if (path, key) not in self._defining:
            pattern = rb"""[\s{,"'=~]%s["']?[ \t]*:""" % re.escape(key.encode())
            self._defining[path, key] = re.search(pattern, self.content(path)) is not None
        return self._defining[path, key]


class _Walk:
    """A traversal of the classes of one target, with its own stack, as chains of classes may be long."""

    def __init__(self, files: ClassFiles, fill: Fill) -> None:
        self.files = files
        self.fill = fill
        self.merged: dict[str, None] = {}
        self._open: dict[str, Iterator[str]] = {}

    def follow(self, target: str) -> None:
        path = self.files.target(target)
        for top in self.files.section(path, "classes"):
            self._enter(top, "", path)
            while self._open:
                name, entries = next(reversed(self._open.items()))
                entry = next(entries, None)
                if entry is not None:
                    self._enter(entry, name, self.files.paths[name])
                else:
                    self._open.popitem()
                    self.merged[name] = None

    def _enter(self, entry: str, including: str, path: Path) -> None:
        name = absolute(self.fill(entry, self.merged), including)
        if name in self._open:
            raise self._loop(name, path, entry)
        if name not in self.merged and name in self.files.paths:
            self._open[name] = iter(self.files.section(self.files.paths[name], "classes"))

    def _loop(self, name: str, path: Path, entry: str) -> CommodoreError:
        names = list(self._open)
        loop = names[names.index(name) :]
        places = [Location(str(path), self.files.line_of_entry(path, "classes", entry))]
        return InputError(
            "CMD-INV-019",
            f"classes include each other: {' -> '.join([*loop, name])}",
            hint="remove one of the includes",
            locations=[*places, *(str(self.files.paths[other]) for other in loop if self.files.paths[other] != path)],
        )


def absolute(entry: str, including: str) -> str:
    """Return the class name of an entry: `.x` is a sibling of the class that includes it, `..x` is a level up."""
    name = entry.lstrip(".")
    levels = len(entry) - len(name)
    return ".".join([*including.split(".")[:-levels], name]) if levels else entry


def _member(value: Any, key: str) -> Any:
    if not isinstance(value, Mapping):
        return None
    return next((value[name] for name in (f"={key}", f"~{key}", key) if name in value), None)


def _text(value: Any) -> str:
    if isinstance(value, (Mapping, list)):
        raise LookupError
    return str(value)


def _read_section(content: bytes, key: str) -> tuple[str, ...]:
    if key.encode() not in content:
        return ()
    text = content.decode("utf-8", errors="replace")
    section = re.search(_SECTION % key, text, re.MULTILINE)
    if section is None:
        return _strings(_load(content), key)
    head, *lines = section[0].splitlines()
    if head.partition(":")[2].strip() == "":
        matches = [_ENTRY.fullmatch(line) for line in lines if line.strip() and not line.strip().startswith("#")]
        if all(matches):
            return tuple(match["entry"] for match in matches if match)
    return _strings(_load(section[0].encode()), key) or _strings(_load(content), key)


def _strings(document: Any, key: str) -> tuple[str, ...]:
    entries = document.get(key) if isinstance(document, Mapping) else None
    return tuple(entry for entry in entries if isinstance(entry, str)) if isinstance(entries, list) else ()


def _load(content: bytes) -> Any:
    with contextlib.suppress(CommodoreError):
        return load(content, place="")
    return None
