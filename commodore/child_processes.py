"""What processes get that this program starts: variables, and a bound for their memory."""

from __future__ import annotations

import contextlib
import os
import resource
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


def bound_memory(size: int) -> None:
    """Let this process, and each that it starts, have no more memory than `size` bytes: it ends, not the machine."""
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    with contextlib.suppress(OSError, ValueError):  # a system without such a limit
        resource.setrlimit(resource.RLIMIT_DATA, (size if most == resource.RLIM_INFINITY else min(size, most), most))


def has_less_memory(size: int) -> bool:
    """Whether the user's own limits leave a process less than so many bytes."""
    limits = (resource.getrlimit(which)[0] for which in (resource.RLIMIT_AS, resource.RLIMIT_DATA))
    return any(limit not in (resource.RLIM_INFINITY, -1) and limit < size for limit in limits)
