"""What of the file system a component's programs see: its own files, and what programs need to run at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping

from commodore.confinement.namespaces import View

_PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu")
_SETTINGS = (
    *("alternatives", "ca-certificates", "crypto-policies", "group", "hosts", "ld.so.cache", "ld.so.conf"),
    *(
        "ld.so.conf.d",
        "locale.alias",
        "localtime",
        "mime.types",
        "nsswitch.conf",
        "passwd",
        "pki",
        "profile",
        "resolv.conf",
    ),
    *("protocols", "resolv.conf", "services", "ssl", "static", "terminfo", "timezone"),
)
_LIBRARIES = ("site-packages", "dist-packages")
_REPOSITORIES = 2  # folders between a working directory and the repositories in it


def view_of(roots: Mapping[str, str], writable: Iterable[str], path: str) -> View:
    """The view for a confinement.

    Args:
        roots: its folders, with their kinds; see `Roots`.
        writable: those that may be written to.
        path: the PATH of the program; what lies in its folders can be run.
    """
    home = os.path.expanduser("~")
    folders = [folder for folder in path.split(os.pathsep) if os.path.isabs(folder) and not _holds(folder, home)]
    system = [*_PROGRAMS, *(f"/etc/{name}" for name in _SETTINGS), sys.prefix, sys.base_prefix, *folders]
    shown = [root for root, kind in roots.items() if kind != "closed"]
    hidden = [root for root, kind in roots.items() if kind == "closed"]
    for root, kind in roots.items():
        if kind == "working":
            hidden += [entry for entry in _entries(root) if os.path.basename(entry).startswith(".")]
        if kind != "closed":
            hidden += _repositories(root, _REPOSITORIES if kind == "working" else 0)
    shown += [folder for folder in sys.path if os.path.basename(folder) in _LIBRARIES]
    return View((*system, *shown), tuple(writable), tuple(dict.fromkeys(hidden)), home)


def _holds(folder: str, home: str) -> bool:
    return home == folder or home.startswith(folder.rstrip(os.sep) + os.sep)


def _repositories(folder: str, depth: int) -> list[str]:
    """Folders `.git`: in their configuration may be credentials."""
    found = [place] if os.path.isdir(place := os.path.join(folder, ".git")) else []
    for entry in _entries(folder) if depth else ():
        if os.path.isdir(entry) and not os.path.islink(entry):
            found += _repositories(entry, depth - 1)
    return found


def _entries(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in os.listdir(folder)]
    except OSError:
        return []
