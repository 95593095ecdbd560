"""Rooms that hand out names without loading what is not used: a command that needs one part starts sooner."""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as `typing` has it, which is too much to load before an interruption is answered
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any


def lazy_exports(package: str, places: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """The `__getattr__` of a package's `__init__`: imports a module when one of its names is first asked for (PEP 562).

    Args:
        package: the package's `__name__`.
        places: names by the module of the package that has them.
    """
    modules = {name: module for module, names in places.items() for name in names}

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{modules[name]}"), name)

    return find
