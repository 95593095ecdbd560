"""Patterns of paths that options give."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from commodore.base.errors import UsageError
from commodore.base.values.globs import doublestar
from commodore.base.values.patterns import fits


class PathPatterns:
    """Patterns of paths that options give.

    Raises:
        UsageError: CMD-ARGO-025, one is not valid.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._compiled = []
        for text in texts:
            pattern = doublestar(text)
            if pattern is None:
                raise UsageError(
                    "CMD-ARGO-025",
                    f"the pattern {text!r} is not valid",
                    hint="'**' stands for folders, '*' for anything within one; a bracket has an end",
                )
            self._compiled.append(pattern)

    def fit(self, path: str) -> bool:
        """Whether a path fits one of them."""
        return any(fits(one, path) for one in self._compiled)

    def cover(self, path: str) -> bool:
        """Whether a path, or a folder that it is in, fits one of them."""
        return any(map(self.fit, (path, *map(str, PurePosixPath(path).parents))))
