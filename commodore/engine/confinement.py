"""Where an instance may write: its output folder, its temporary folder, and, while rendering, its own checkout."""

from __future__ import annotations

import os
from pathlib import Path

from commodore.errors import PolicyError


class Confinement:
    """The folders of the instance that a worker works on.

    Args:
        output: the instance's rendered files.
        others: its temporary folder; its component's checkout, where some components generate files for kustomize.
    """

    def __init__(self, output: Path, *others: Path) -> None:
        self.output = Path(os.path.realpath(output))
        self._roots = (self.output, *(Path(os.path.realpath(other)) for other in others))

    def check(self, path: str | os.PathLike[str], what: str = "output file") -> None:
        """Refuse a path that, with every symlink followed, leaves these folders.

        Raises:
            PolicyError: it does.
        """
        real = Path(os.path.realpath(path))
        if not any(real.is_relative_to(root) for root in self._roots):
            raise PolicyError(
                "CMD-ENG-007",
                f"the {what} {self.describe(path)!r} lies outside of the instance's output folder",
                hint="output paths and output keys are relative and must not leave the folder with '..' or links",
            )

    def describe(self, path: str | os.PathLike[str]) -> str:
        """The path relative to the output folder: what a user wrote, without the folders of this run."""
        return os.path.relpath(path, self.output)
