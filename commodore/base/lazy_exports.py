"""Public interfaces of packages, with modules imported on first use, for a fast start of commands.

The `__init__` of a package has a block of imports under `if TYPE_CHECKING:`, a line `from M import X as X` for each
name. Type checkers and editors read the block as the exports; at run time the same lines give each name's module. The
`else:` branch defines `__getattr__`: type checkers would assume that it has every name.
"""

from __future__ import annotations

import importlib
import sys

TYPE_CHECKING = False  # as in `typing`, which takes too long to import before signal handlers are installed
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def lazy_exports(package: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package (PEP 562), which also has `__all__`.

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
    """Return modules by the names that a package imports as themselves. A parser would take 10 ms to import, this takes
    0.1 ms.
    """
    lines = (line.split() for line in face.__spec__.loader.get_data(face.__file__).decode().splitlines())
    return {words[5]: words[1] for words in lines if len(words) == 6 and words[4] == "as" and words[3] == words[5]}
