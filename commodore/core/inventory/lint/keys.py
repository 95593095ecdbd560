"""Linters `top-level-keys`, for keys that reclass ignores, and `duplicate-keys`, for duplicate keys in a map."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from yaml import MappingNode, Node, SequenceNode

from commodore.base.diagnostics import Diagnostic, Rule
from commodore.base.errors import did_you_mean
from commodore.core.inventory.lint.class_file import CLASS_SUFFIXES, NO_CLASS_KEYS, ClassFile, is_text, key_text
from commodore.core.inventory.lint.linter import Linter
from commodore.core.inventory.lint.references import differs_by_one_letter

UNKNOWN: Final = Rule("unknown-top-level-key", "warning", "A class has a top-level key that reclass ignores.")

_KNOWN: Final = ("applications", "classes", "environment", "exports", "parameters")
_SPARE: Final = ("_", ".", "x-")
"""Prefix of keys with anchors for use below."""


class TopLevelKeys(Linter):
    """Checks classes, and files that are not classes because a key is misspelt."""

    name = "top-level-keys"
    summary = "Top-level keys of a class that reclass ignores."
    rules = (UNKNOWN,)

    def read(self, file: ClassFile) -> Iterator[Diagnostic]:
        keys = [key for key, _ in file.root.value if is_text(key)]
        if file.path.suffix not in CLASS_SUFFIXES or NO_CLASS_KEYS & {key.value for key in keys}:
            return
        for key in keys:
            name = key_text(key)
            if name in _KNOWN or name.startswith(_SPARE) or not (file.is_class or _is_misspelt(name)):
                continue
            message = f"unknown key {name!r} at the top of a class; everything below it is ignored"
            hint = did_you_mean(name, _KNOWN) or "move it below `parameters`, or remove it"
            yield file.finding(self.name, UNKNOWN, key, message, parameter=name, hint=hint)


def _is_misspelt(name: str) -> bool:
    """Check if a key differs by one letter from a known one. `parameter` and the like have a meaning in other files."""
    return any(differs_by_one_letter(name, known) and f"{name}s" != known for known in _KNOWN)


DUPLICATE: Final = Rule("duplicate-key", "error", "A key is duplicated in a map.")


class DuplicateKeys(Linter):
    """Checks the whole file, and keys as they are written: `a` and `~a` are two keys."""

    name = "duplicate-keys"
    summary = "Duplicate keys in a map."
    rules = (DUPLICATE,)

    def read(self, file: ClassFile) -> Iterator[Diagnostic]:
        for path, node in _maps(file.root):
            first: dict[tuple[str, Any], Node] = {}
            for key, _ in node.value:
                same = first.setdefault((key.tag, str(key.value)), key)
                if same is not key:
                    parameter = f"{path}.{key_text(key)}" if path else key_text(key)
                    message = f"the key {key_text(key)!r} is already set in line {same.start_mark.line + 1}"
                    hint = "keep one of them; reclass refuses the file"
                    yield file.finding(self.name, DUPLICATE, key, message, parameter=parameter, hint=hint)


def _maps(root: Node) -> Iterator[tuple[str, MappingNode]]:
    """Yield the maps as they are written, including those of `<<` and those hidden by a duplicate."""
    seen: set[int] = set()
    stack: list[tuple[str, Node]] = [("", root)]
    while stack:
        path, node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, MappingNode):
            yield path, node
            members = [(f"{path}.{key_text(key)}" if path else key_text(key), value) for key, value in node.value]
            stack += reversed(members)
        elif isinstance(node, SequenceNode):
            stack += reversed([(f"{path}[{index}]", item) for index, item in enumerate(node.value)])
