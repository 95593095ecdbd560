"""What every linter is: it reads one file after another, and may say something at the end about all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from commodore.base.diagnostics import Diagnostic, Rule
from commodore.core.inventory.lint.class_file import ClassFile


class Linter:
    """A linter at work. It keeps of each file only what it needs at the end.

    `name` is what users call it, `rules` are all that its findings can name; one that runs `by_default` judges as the
    published tool does.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    rules: ClassVar[tuple[Rule, ...]]
    by_default: ClassVar[bool] = False

    def read(self, file: ClassFile) -> Iterator[Diagnostic]:
        """Look at a file; says what can be told from it alone."""
        yield from ()

    def finish(self) -> Iterator[Diagnostic]:
        """Say what only all files together tell."""
        yield from ()
