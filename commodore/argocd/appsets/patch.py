"""`templatePatch`: a strategic merge patch on a generated Application."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DIRECTIVES = ("$patch", "$retainKeys")


def patched(value: Any, patch: Any, path: str = "") -> Any:
    """A value with a patch laid over it: maps join, null deletes, lists replace; finalizers join.

    Args:
        path: where the value is, with dots.
    """
    if isinstance(patch, Mapping):
        if patch.get("$patch") == "replace":
            return {key: item for key, item in patch.items() if key not in _DIRECTIVES}
        if patch.get("$patch") == "delete":
            return {}
        return _joined(value if isinstance(value, Mapping) else {}, patch, path)
    if isinstance(patch, list):
        if path == "metadata.finalizers":
            old = value if isinstance(value, list) else []
            return [*old, *(item for item in patch if item not in old)]
        return [_plain(item) for item in patch]
    return patch


def _joined(value: Mapping[str, Any], patch: Mapping[str, Any], path: str) -> dict[str, Any]:
    found = dict(value)
    for key, item in patch.items():
        if key in _DIRECTIVES or key.startswith("$setElementOrder/"):
            continue
        if key.startswith("$deleteFromPrimitiveList/"):
            name = key.partition("/")[2]
            found[name] = [one for one in found.get(name) or [] if one not in (item or [])]
            continue
        if item is None:
            found.pop(key, None)
            continue
        found[key] = patched(found.get(key), item, f"{path}.{key}" if path else key)
    retained = patch.get("$retainKeys")
    return {key: item for key, item in found.items() if key in retained} if isinstance(retained, list) else found


def _plain(value: Any) -> Any:
    """What a patch adds as new: its nulls say nothing there."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if item is not None and key not in _DIRECTIVES}
    return [_plain(item) for item in value] if isinstance(value, list) else value
