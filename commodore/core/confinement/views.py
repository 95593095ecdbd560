"""The file system that a component's programs see: its own files, and the files that every program needs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping

from commodore.core.confinement.namespaces import View

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


def view_of(roots: Mapping[str, str], writable: Iterable[str], environment: Mapping[str, str]) -> View:
    """The view for a confinement.

    Args:
        roots: its folders, with their kinds; see `Roots`.
        writable: the writable folders.
        environment: the variables of the program; programs in the folders of its PATH can be run.
    """
    home = environment.get("HOME") or os.path.expanduser("~")
    path = environment.get("PATH", os.defpath)
    folders = [folder for folder in path.split(os.pathsep) if os.path.isabs(folder) and not _holds(folder, home)]
    system = [
        *_PROGRAMS,
        *(f"/etc/{name}" for name in _SETTINGS),
        sys.prefix,
        sys.base_prefix,
        *folders,
        *_plugins(home, environment),
    ]
    shown = [root for root, kind in roots.items() if kind != "closed"]
    hidden = [root for root, kind in roots.items() if kind == "closed"]
    for root, kind in roots.items():
        if kind == "working":
            hidden += [entry for entry in _entries(root) if os.path.basename(entry).startswith(".")]
        if kind != "closed":
            hidden += _repositories(root, _REPOSITORIES if kind == "working" else 0)
    shown += [folder for folder in sys.path if os.path.basename(folder) in _LIBRARIES]
    return View((*system, *shown), tuple(writable), tuple(dict.fromkeys(hidden)), home)


def _plugins(home: str, environment: Mapping[str, str]) -> list[str]:
    """Return the folders in which helm and kustomize search the user's plugins."""
    data = environment.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    configuration = environment.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    places = (
        environment.get("HELM_PLUGINS") or os.path.join(data, "helm", "plugins"),
        environment.get("KUSTOMIZE_PLUGIN_HOME") or os.path.join(configuration, "kustomize", "plugin"),
    )
    return [place for place in places if os.path.isabs(place) and not _holds(place, home)]


def _holds(folder: str, home: str) -> bool:
    return home == folder or home.startswith(folder.rstrip(os.sep) + os.sep)


def _repositories(folder: str, depth: int) -> list[str]:
    """Return the folders `.git`: their configuration may hold credentials."""
    places = [place] if os.path.isdir(place := os.path.join(folder, ".git")) else []
    for entry in _entries(folder) if depth else ():
        if os.path.isdir(entry) and not os.path.islink(entry):
            places += _repositories(entry, depth - 1)
    return places


def _entries(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in os.listdir(folder)]
    except OSError:
        return []
