"""Secrets in what is shown: replaced on both sides, so that equal ones stay equal and different ones different."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from commodore.manifests.object_diff.fields import field_changes
from commodore.manifests.object_diff.model import Comparison, ObjectChange, PlacedObject
from commodore.manifests.objects import key_of

_REFERENCE = re.compile(r"\?\{[^{}]*\}")
"""A reference to a secret, which names it and is none."""
_SECRET_KEY = re.compile(
    r"(?:pass(?:word|wd|phrase)|token|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?(?:access[_-]?)?key"
    r"|client[_-]?secret|credentials?)$",
    re.IGNORECASE,
)
_NAMES_ONLY = frozenset({"secretKey", "secretAccessKeyRef", "tokenKey", "accessKey"})
"""Fields of well-known kinds that match and hold the name of something."""
_PATTERNS = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"),
    re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,})"),
    re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"),
    re.compile(r"(?<=[Bb]earer )[\w.~+/-]{16,}=*"),
    *(
        re.compile(rf"(?<=[-_]{name}=)[^\s\"'&]+", re.IGNORECASE)
        for name in ("password", "token", "secret", "apikey", "api-key")
    ),
)

Placeholder = Callable[[str, Any], str]


class Masks:
    """Placeholders for the secrets of one object on both sides: for each key one for each distinct value."""

    def __init__(self) -> None:
        self._seen: dict[str, list[Any]] = {}

    def placeholder(self, key: str, value: Any) -> str:
        """What is shown instead of a value: longer for each further value of the same key."""
        known = self._seen.setdefault(key, [])
        if value not in known:
            known.append(value)
        return "+" * (8 + 4 * known.index(value))


def mask(comparison: Comparison) -> Comparison:
    """The comparison without secrets: what reports are made from. Objects without secrets stay the same objects."""
    return replace(comparison, changes=tuple(map(_mask_change, comparison.changes)))


def _mask_change(change: ObjectChange) -> ObjectChange:
    masks = Masks()
    old, new = (side and _mask_side(side, masks) for side in (change.old, change.new))
    if old is change.old and new is change.new:
        return change
    fields = change.fields
    if old is not None and new is not None:
        fields = field_changes(old.content, new.content)
    return replace(change, old=old, new=new, fields=fields)


def _mask_side(side: PlacedObject, masks: Masks) -> PlacedObject:
    content = mask_object(side.content, masks)
    return side if content is side.content else replace(side, content=content)


def mask_object(content: Any, masks: Masks) -> Any:
    """An object without secrets; the same one if it has none."""
    key = key_of(content)
    if (key.group, key.kind) == ("", "Secret"):
        content = dict(content)
        for field in ("data", "stringData"):
            values = content.get(field)
            if isinstance(values, dict):
                content[field] = {name: _mask_text(value, str(name), masks) for name, value in values.items()}
    return _mask(content, "", masks, 0)


def _mask(value: Any, key: str, masks: Masks, depth: int) -> Any:
    """Copies only what differs, so that most objects are not copied at all."""
    if isinstance(value, str):
        if _names_a_secret(key) and value:
            return _mask_text(value, key, masks)
        return _mask_patterns(value, masks)
    if depth > _DEPTH:
        return value if not isinstance(value, dict | list) or not value else _TOO_DEEP
    if isinstance(value, dict):
        named = value.get("name")
        inner = {
            one: _mask(item, named if one == "value" and isinstance(named, str) else str(one), masks, depth + 1)
            for one, item in value.items()
        }
        return inner if any(inner[one] is not item for one, item in value.items()) else value
    if isinstance(value, list):
        items = [_mask(item, "", masks, depth + 1) for item in value]
        return items if any(one is not other for one, other in zip(items, value, strict=True)) else value
    return value


_DEPTH = 100
_TOO_DEEP = "(nested too deeply)"


def _names_a_secret(key: str) -> bool:
    return key not in _NAMES_ONLY and _SECRET_KEY.search(key) is not None


def _mask_text(value: Any, key: str, masks: Masks) -> Any:
    """A whole value masked, but for references in it."""
    if value is None or value == "":
        return value
    if isinstance(value, str) and (references := _REFERENCE.findall(value)):
        rest = _REFERENCE.sub("", value)
        return "".join(references) + (masks.placeholder(key, rest) if rest.strip() else "")
    return masks.placeholder(key, value)


def _mask_patterns(value: str, masks: Masks) -> str:
    masked = value
    for pattern in _PATTERNS:
        if pattern.search(masked):
            masked = pattern.sub(lambda match: masks.placeholder("", match[0]), masked)
    return masked if masked != value else value
