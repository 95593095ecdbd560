"""Linter `secret-references`: `?{...}` that are malformed or not supported."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from commodore.base.diagnostics import Diagnostic, Rule
from commodore.core.inventory.lint.class_file import ClassFile, is_map, texts
from commodore.core.inventory.lint.linter import Linter
from commodore.core.refs import check_text

SECRET: Final = Rule("secret-reference", "error", "A secret reference `?{...}` is malformed or not supported.")
_NOT_SEARCHED: Final = re.compile(r"parameters\.[=~]*kapitan\.")
"""Parameters that only Kapitan reads."""


class SecretReferences(Linter):
    """Checks the text only; the values of `${...}` in it are unknown."""

    name = "secret-references"
    summary = "Secret references `?{...}` that are malformed."
    rules = (SECRET,)

    def read(self, file: ClassFile) -> Iterator[Diagnostic]:
        parameters = file.section("parameters")
        if not file.is_class or not is_map(parameters) or b"?{" not in file.content:
            return
        for parameter, node in texts(parameters, "parameters"):
            if "?{" not in node.value or _NOT_SEARCHED.match(parameter):
                continue
            for tag, error in check_text(node.value, parameter):
                message = f"{error.message} [{error.code}]"
                yield file.finding(
                    self.name, SECRET, file.place_of(node, tag), message, parameter=parameter, hint=error.hint
                )
