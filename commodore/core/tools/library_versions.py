"""The libraries that make a catalog's bytes, and their versions."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata

# In the order in which `commodore version` names them.
_CORE = ("kapitan", "gojsonnet", "reclass-rs")


@dataclass(frozen=True, slots=True)
class CoreLibrary:
    """A library and its installed version; None when it is not installed."""

    name: str
    version: str | None


def core_libraries() -> tuple[CoreLibrary, ...]:
    """Kapitan, gojsonnet and reclass-rs as installed. Reads their metadata and imports none of them."""
    return tuple(CoreLibrary(name, _installed(name)) for name in _CORE)


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
