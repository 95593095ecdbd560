"""What several families need of lists."""

from __future__ import annotations

from commodore.base.gotemplate.printing import plain
from commodore.base.gotemplate.values import Value


def texts(value: Value) -> list[str]:
    """The items of a list as texts, without nils; a single value as a list of one; nil as an empty list."""
    if value is None:
        return []
    if not isinstance(value, list):
        return [value if isinstance(value, str) else plain(value)]
    return [item if isinstance(item, str) else plain(item) for item in value if item is not None]
