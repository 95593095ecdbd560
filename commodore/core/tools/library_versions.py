"""Versions of the libraries that determine a catalog's bytes."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata

# In the order of the output of `commodore version`.
_CORE = ("kapitan", "gojsonnet", "reclass-rs")


@dataclass(frozen=True, slots=True)
class CoreLibrary:
    """A library and its installed version; None if it is not installed."""

    name: str
    version: str | None


def core_libraries() -> tuple[CoreLibrary, ...]:
    """Return Kapitan, gojsonnet and reclass-rs as installed. Their metadata is read, none of them is imported."""
    return tuple(CoreLibrary(name, installed_version(name)) for name in _CORE)


def installed_version(name: str) -> str | None:
    """Return the version of an installed distribution; None if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
