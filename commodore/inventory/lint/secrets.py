"""The linter `secret-references`: `?{...}` that could not be written or would be lost (spec c 9.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from commodore.inventory.lint.class_file import ClassFile, entries, is_map, key_text, texts
from commodore.inventory.lint.linter import Linter
from commodore.inventory.lint.model import Finding, Rule
from commodore.refs import check_text

SECRET: Final = Rule("secret-reference", "error", "A secret reference `?{...}` is malformed or not supported.")
_NOT_SEARCHED: Final = "kapitan"
"""What Kapitan is told, `parameters.kapitan`, is read by Kapitan alone."""


class SecretReferences(Linter):
    """Judges what the text says; what a `${...}` in it stands for is not known."""

    name = "secret-references"
    summary = "Secret references `?{...}` that are malformed."
    rules = (SECRET,)

    def read(self, file: ClassFile) -> Iterator[Finding]:
        parameters = file.section("parameters")
        if not file.is_class or not is_map(parameters) or b"?{" not in file.content:
            return
        for key, value in entries(parameters):
            if key_text(key).lstrip("=~") == _NOT_SEARCHED:
                continue
            for parameter, node in texts(value, f"parameters.{key_text(key)}"):
                if "?{" not in node.value:
                    continue
                for tag, error in check_text(node.value, parameter):
                    message = f"{error.message} [{error.code}]"
                    yield file.finding(self.name, SECRET, node, message, parameter=parameter, hint=error.hint, text=tag)
