"""Patterns of paths, as options have them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from commodore.base.errors import UsageError
from commodore.base.values.globs import doublestar
from commodore.base.values.patterns import fits


class PathPatterns:
    """Patterns of paths, as options have them.

    Raises:
        UsageError: CMD-ARGO-025, a pattern is invalid.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._compiled = []
        for text in texts:
            pattern = doublestar(text)
            if pattern is None:
                raise UsageError(
                    "CMD-ARGO-025",
                    f"invalid pattern {text!r}",
                    hint="'**' matches folders, '*' anything within a folder; brackets must be closed",
                )
            self._compiled.append(pattern)

    def fit(self, path: str) -> bool:
        """Check if a path matches a pattern."""
        return any(fits(pattern, path) for pattern in self._compiled)

    def cover(self, path: str) -> bool:
        """Check if a path, or a folder that contains it, matches a pattern."""
        return any(map(self.fit, (path, *map(str, PurePosixPath(path).parents))))
