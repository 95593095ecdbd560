"""Linter `deprecated-parameters`: variables that were removed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from commodore.base.diagnostics import Diagnostic, Rule
from commodore.core.inventory.lint.class_file import ClassFile, texts
from commodore.core.inventory.lint.linter import Linter

REMOVED_VARIABLES: Final = {
    "${customer:name}": "${cluster:tenant}",
    "${cloud:provider}": "${facts:cloud}",
    "${cloud:region}": "${facts:region}",
    "${cluster:dist}": "${facts:distribution}",
}
"""The removed variable, and its replacement."""

REMOVED: Final = Rule("removed-variable", "error", "A text uses a variable that was removed.")


def may_use_removed(content: bytes) -> bool:
    """Check if a file may use removed variables: it has one of the names, or may spell one with escapes."""
    return (
        any(name.encode() in content for name in REMOVED_VARIABLES)
        or b"\\" in content
        or content[:2] in (b"\xff\xfe", b"\xfe\xff")
    )


class DeprecatedParameters(Linter):
    """Finds each removed variable once per string value, anywhere in the file. Keys are not searched."""

    name = "deprecated-parameters"
    summary = "Variables such as `${customer:name}` that were removed."
    rules = (REMOVED,)
    by_default = True

    def read(self, file: ClassFile) -> Iterator[Diagnostic]:
        if not may_use_removed(file.content):
            return
        for field, node in texts(file.root):
            for name, instead in REMOVED_VARIABLES.items():
                if name in node.value:
                    message = f"{field} uses {name}, which was removed"
                    hint = f"use {instead} instead"
                    yield file.finding(
                        self.name, REMOVED, file.place_of(node, name), message, parameter=field, hint=hint
                    )
