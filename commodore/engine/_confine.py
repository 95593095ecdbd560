"""Where an instance may write: its own output folder and its own temporary folder."""

from __future__ import annotations

import os
from pathlib import Path

from commodore.errors import PolicyError


class Confinement:
    """The folders of the instance that a worker works on.

    Args:
        output: the instance's rendered files.
        scratch: its temporary folder.
    """

    def __init__(self, output: Path, scratch: Path) -> None:
        self.output = Path(os.path.realpath(output))
        self.scratch = Path(os.path.realpath(scratch))

    def check(self, path: str | os.PathLike[str], what: str = "output file") -> None:
        """Refuse a path that, with every symlink followed, leaves both folders.

        Raises:
            PolicyError: it does.
        """
        real = Path(os.path.realpath(path))
        if not (real.is_relative_to(self.output) or real.is_relative_to(self.scratch)):
            raise PolicyError(
                "CMD-ENG-007",
                f"the {what} {self.describe(path)!r} lies outside of the instance's output folder",
                hint="output paths and output keys are relative and must not leave the folder with '..' or links",
            )

    def describe(self, path: str | os.PathLike[str]) -> str:
        """The path relative to the output folder: what a user wrote, without the folders of this run."""
        return os.path.relpath(path, self.output)
