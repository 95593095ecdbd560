"""Base class of linters: they read one file after another, and may report findings about all files at the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from commodore.base.diagnostics import Diagnostic, Rule
from commodore.core.inventory.lint.class_file import ClassFile


class Linter:
    """A linter. It keeps only data of each file that it needs at the end.

    `name` is its name for users, `rules` are the rules of its findings; linters that run `by_default` agree with the
    published tool.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    rules: ClassVar[tuple[Rule, ...]]
    by_default: ClassVar[bool] = False

    def read(self, file: ClassFile) -> Iterator[Diagnostic]:
        """Check a file, and yield the findings that do not depend on other files."""
        yield from ()

    def finish(self) -> Iterator[Diagnostic]:
        """Yield the findings that depend on all files."""
        yield from ()
