"""The variables that processes get which this program starts."""

from __future__ import annotations

import os
from collections.abc import Mapping


def absolute_folders(path: str) -> str:
    """PATH without its relative and its empty entries, which stand for the current folder: a program must not come out
    of a repository that the user, or a tool, happens to be in.
    """
    return os.pathsep.join(folder for folder in path.split(os.pathsep) if os.path.isabs(folder))


def child_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The caller's variables, with no relative entry in PATH."""
    variables = dict(environ)
    if "PATH" in variables:
        variables["PATH"] = absolute_folders(variables["PATH"])
    return variables
