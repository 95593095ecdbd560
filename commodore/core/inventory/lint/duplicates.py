"""The linter `duplicate-keys`: keys that stand twice in a map, which reclass refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from yaml import MappingNode, Node, SequenceNode

from commodore.base.diagnostics import Diagnostic, Rule
from commodore.core.inventory.lint.class_file import ClassFile, key_text
from commodore.core.inventory.lint.linter import Linter

DUPLICATE: Final = Rule("duplicate-key", "error", "A key is twice in one map.")


class DuplicateKeys(Linter):
    """Looks at the whole file, and at keys as they are written: `a` and `~a` are two."""

    name = "duplicate-keys"
    summary = "Keys that are twice in one map."
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
    """The maps as they are written, those behind `<<` and those that a duplicate hides too."""
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
