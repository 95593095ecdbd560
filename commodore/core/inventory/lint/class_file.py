"""Class file of a hierarchy, read once, as nodes with places."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeGuard

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from commodore.base.diagnostics import Diagnostic, Rule, Subject
from commodore.base.errors import CommodoreError, Location
from commodore.base.limits import Limits
from commodore.base.yaml import compose
from commodore.core.inventory.lint.model import Skipped

UNREADABLE: Final = Rule("unreadable-file", "error", "A YAML or JSON file cannot be read.")
FILES: Final = "files"
"""The linter name of findings about whole files; it is always enabled."""

_TAG: Final = "tag:yaml.org,2002:"
_MERGE: Final = f"{_TAG}merge"
_CLASS_KEYS: Final = frozenset({"applications", "classes", "parameters"})
NO_CLASS_KEYS: Final = frozenset({"apiVersion", "kind"})
CLASS_SUFFIXES: Final = frozenset({".yml", ".yaml"})
_SUFFIXES: Final = CLASS_SUFFIXES | {".json"}
_TELLTALES: Final = (b"parameters", b"${c", b"\\")
"""Texts of which one is in any file with findings of the published tool's linters; the last one is for escapes."""
_LINE_BREAK: Final = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


def is_map(node: Node | None) -> TypeGuard[MappingNode]:
    return isinstance(node, MappingNode)


def is_list(node: Node | None) -> TypeGuard[SequenceNode]:
    return isinstance(node, SequenceNode)


def is_text(node: Node | None) -> TypeGuard[ScalarNode]:
    return isinstance(node, ScalarNode) and node.tag == f"{_TAG}str"


def is_text_for_reclass(node: Node) -> bool:
    """Check if this is a boolean of YAML 1.1 (`yes`, `off`), which reclass reads as text, like YAML 1.2."""
    return node.tag == f"{_TAG}bool" and node.value.lower() not in ("true", "false")


def is_null(node: Node | None) -> bool:
    return node is not None and node.tag == f"{_TAG}null"


def is_reference(node: Node | None) -> bool:
    """Check if a value is a text with a reference, whose value is only known after rendering."""
    return is_text(node) and "${" in node.value


def kind_of(node: Node) -> str:
    """Return the type of a value for messages."""
    name = node.tag.removeprefix(_TAG)
    words = {"str": "text", "int": "a number", "float": "a number", "bool": "true or false", "map": "a map"}
    return {**words, "seq": "a list", "null": "null", "timestamp": "a date"}.get(name, f"of type {name}")


def entries(node: MappingNode) -> list[tuple[Node, Node]]:
    """Return keys and values of a map, including those of `<<`; of duplicate keys, only the last."""
    written: list[tuple[Node, Node]] = node.value
    keys = {(key.tag, str(key.value)) for key, _ in written}
    if len(keys) == len(written) and (_MERGE, "<<") not in keys:
        return written
    return list({(key.tag, str(key.value)): (key, value) for key, value in _flattened(node, set())}.values())


def member(node: Node | None, key: str) -> Node | None:
    """Return the value of a text key; None if the node is not a map with this key."""
    if not is_map(node):
        return None
    return next((value for name, value in entries(node) if is_text(name) and name.value == key), None)


def key_text(node: Node) -> str:
    """Return the text of a key in the path of a field."""
    return str(node.value) if isinstance(node, ScalarNode) else "?"


@dataclass(frozen=True, slots=True)
class ClassFile:
    """A file with one YAML map. `name` is its name in messages."""

    path: Path
    name: str
    root: MappingNode
    content: bytes
    _lines: list[str] = field(default_factory=list, compare=False, repr=False)

    @property
    def is_class(self) -> bool:
        """Check if reclass would read it and it looks like a class, and not like a manifest or another YAML file."""
        keys = {key.value for key, _ in self.root.value if is_text(key)}
        return self.path.suffix in CLASS_SUFFIXES and bool(keys & _CLASS_KEYS) and not keys & NO_CLASS_KEYS

    @property
    def is_defaults(self) -> bool:
        """Check if it has the defaults of a component."""
        return self.path.name in ("defaults.yml", "defaults.yaml") and self.path.absolute().parent.name == "class"

    def section(self, *keys: str) -> Node | None:
        """Return the value below these keys of the file."""
        node: Node | None = self.root
        for key in keys:
            node = member(node, key)
        return node

    def finding(
        self,
        linter: str,
        rule: Rule,
        place: Node | tuple[int, int],
        message: str,
        *,
        parameter: str = "",
        hint: str = "",
    ) -> Diagnostic:
        """Return a finding at a node, or at a line and column."""
        line, column = place if isinstance(place, tuple) else _start(place)
        return finding(linter, rule, message, Location(self.name, line, column), parameter, hint)

    def place_of(self, node: Node, text: str) -> tuple[int, int]:
        """Return line and column of a text in a node; the node's own if the text is written differently."""
        if not self._lines:
            self._lines.extend(_LINE_BREAK.split(_decode(self.content)))
        lines = self._lines
        first, last = node.start_mark, node.end_mark
        for number in range(first.line, min(last.line + 1, len(lines))):
            column = lines[number].find(text, first.column if number == first.line else 0)
            if column >= 0:
                return number + 1, column + 1
        return _start(node)


def read_class_file(path: Path, name: str, limits: Limits) -> ClassFile | Skipped | Diagnostic:
    """Read a file with any extension.

    Returns a finding for a YAML or JSON file (by its extension) that cannot be read, and `Skipped` for a file without
    exactly one YAML map. Files with other extensions are parsed only if they contain a relevant text.
    """
    expected = path.suffix in _SUFFIXES
    try:
        if not path.is_file():
            return Skipped(name, "it is not a regular file")
        if path.stat().st_size > limits.lint_file_bytes:
            reason = f"the file is larger than {limits.lint_file_bytes} bytes"
            return _unreadable(name, reason) if expected else Skipped(name, reason)
        content = path.read_bytes()
    except OSError as error:
        return _unreadable(name, f"the file cannot be read: {error.strerror}")
    if not expected and not any(text in content for text in _TELLTALES):
        return Skipped(name, "it is neither YAML nor JSON by its extension")
    return parse_class_file(path, name, content)


def parse_class_file(path: Path, name: str, content: bytes) -> ClassFile | Skipped | Diagnostic:
    """Parse the bytes of a file like `read_class_file`."""
    try:
        nodes = compose(content, place=name)
    except CommodoreError as error:
        if path.suffix not in _SUFFIXES or _is_template(path):
            return Skipped(name, "it is not valid YAML")
        place = error.locations[0] if error.locations else None
        line, column = (place.line or 1, place.column or 1) if place else (1, 1)
        reason = error.message.removeprefix(f"{name} ")
        return _unreadable(name, reason if reason == error.message else f"the file {reason}", line, column, error.hint)
    if len(nodes) != 1 or is_null(nodes[0]):
        return Skipped(name, "it has more than one document" if nodes[1:] else "it is empty")
    root = nodes[0]
    return ClassFile(path, name, root, content) if is_map(root) else Skipped(name, "its document is not a map")


def fields(node: Node, path: str = "") -> Iterator[tuple[str, Node]]:
    """Yield all nodes below a node with the paths of their fields, `a.b[0]`. A node with an anchor is yielded once."""
    seen: set[int] = set()
    stack = [(path, node)]
    while stack:
        place, current = stack.pop()
        if isinstance(current, ScalarNode):
            yield place, current
            continue
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield place, current
        if is_map(current):
            members = [(f"{place}.{key_text(key)}" if place else key_text(key), item) for key, item in entries(current)]
        else:
            members = [(f"{place}[{index}]", item) for index, item in enumerate(current.value)]
        stack += reversed(members)


def texts(node: Node, path: str = "") -> Iterator[tuple[str, ScalarNode]]:
    """Yield all string values below a node, with the paths of their fields."""
    for place, value in fields(node, path):
        if is_text(value):
            yield place, value


def plain_data(node: Node, name: Callable[[Node], str] = key_text) -> Any:
    """Convert a node to data, for checks of types, keys and texts.

    Each node is converted once, as aliases may nest. Numbers only keep their type. `yes` and `on` are texts, as in
    reclass.

    Args:
        name: returns the key in the data for the key of a map.
    """
    made: dict[int, Any] = {}

    def plain(part: Node) -> Any:
        if isinstance(part, ScalarNode):
            if is_text_for_reclass(part):
                return part.value
            kinds = {"null": None, "bool": part.value.lower() == "true", "int": 1, "float": 1.5}
            return kinds.get(part.tag.removeprefix(_TAG), part.value)
        if id(part) not in made:
            made[id(part)] = None
            if is_map(part):
                made[id(part)] = {name(key): plain(value) for key, value in entries(part)}
            else:
                made[id(part)] = [plain(item) for item in part.value]
        return made[id(part)]

    return plain(node)


def _flattened(node: MappingNode, open_nodes: set[int]) -> Iterator[tuple[Node, Node]]:
    own: list[tuple[Node, Node]] = []
    merged: list[MappingNode] = []
    for key, value in node.value:
        if key.tag != _MERGE:
            own.append((key, value))
        elif is_map(value):
            merged.append(value)
        elif is_list(value):
            merged += [item for item in reversed(value.value) if is_map(item)]
    for other in merged:
        if id(other) not in open_nodes:
            yield from _flattened(other, {*open_nodes, id(node)})
    yield from own


def finding(linter: str, rule: Rule, message: str, place: Location, parameter: str = "", hint: str = "") -> Diagnostic:
    """Return a finding of a linter's rule.

    Args:
        parameter: the path of the field in the file (`parameters.a.b[0]`); empty without a field.
    """
    return Diagnostic(
        f"{linter}/{rule.id}",
        _writable(message),
        rule.severity,
        _writable(hint),
        subject=Subject(object=_writable(parameter)),
        locations=(place,),
    )


def _writable(text: str) -> str:
    """Return a text without lone surrogates, which YAML can spell but UTF-8 cannot encode."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


def _start(node: Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _decode(content: bytes) -> str:
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    return content.decode(encoding, errors="replace")


def _is_template(path: Path) -> bool:
    """Check if it is a template of a Helm chart, which is not YAML before it is rendered."""
    return any(parent.name == "templates" and (parent.parent / "Chart.yaml").is_file() for parent in path.parents)


def _unreadable(name: str, reason: str, line: int = 1, column: int = 1, hint: str = "") -> Diagnostic:
    hint = hint or "correct it, or add it to .commodoreignore if it is not a class"
    return finding(FILES, UNREADABLE, reason, Location(name, line, column), hint=hint)
