"""Faces of rooms: what others may use, loaded when it is first asked for, so that a command starts with what it needs.

A face is an `__init__` with one block of imports under `if TYPE_CHECKING:`, a line `from M import X as X` for each
name. Type checkers and editors read the block as what the room exports; at run time the same lines say where a name is,
and `else:` gives the face its `__getattr__`, of which type checkers would believe that it has every name.
"""

from __future__ import annotations

import importlib
import sys

TYPE_CHECKING = False  # as `typing` has it, which is too much to load before an interruption is answered
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def lazy_exports(package: str) -> Callable[[str], Any]:
    """Make the `__getattr__` of a face (PEP 562), which has `__all__` too.

    Args:
        package: the package's `__name__`.
    """
    modules: dict[str, str] = {}

    def find(name: str) -> Any:
        if not modules:
            modules.update(_exports(sys.modules[package]))
        if name == "__all__":
            return sorted(modules)
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(modules[name]), name)

    return find


def _exports(face: Any) -> dict[str, str]:
    """Modules by the names that a face imports as themselves. A parser would take 10 ms to load, this takes 0.1 ms."""
    lines = (line.split() for line in face.__spec__.loader.get_data(face.__file__).decode().splitlines())
    return {words[5]: words[1] for words in lines if len(words) == 6 and words[4] == "as" and words[3] == words[5]}
