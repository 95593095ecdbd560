"""Secrets in what is shown: replaced on both sides, so that equal ones stay equal and different ones different."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from commodore.base.errors import InputError
from commodore.base.yaml.yaml_out import dump_stream
from commodore.core.review.fields import embedded_documents, field_changes
from commodore.core.review.model import Comparison, ObjectChange, PlacedObject
from commodore.core.review.pointers import KindPointer

_REFERENCE = re.compile(r"\?\{[^{}]*\}")
"""A reference to a secret, which names it and is none."""
_NAME = (
    r"(?:pass(?:word|wd|phrase)|(?<![a-z])pass|(?-i:Pass)|(?<![a-z])pwd|token|api[_-]?key|access[_-]?key"
    r"|private[_-]?key|secret[_-]?(?:access[_-]?)?key|client[_-]?secret|credential)s?"
)
_SECRET_KEY = re.compile(rf"{_NAME}$", re.IGNORECASE)
_NAMES_ONLY = frozenset({"secretKey", "secretAccessKeyRef", "tokenKey", "accessKey"})
"""Fields of well-known kinds that match and hold the name of something."""
_PATTERNS = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"),
    re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,})"),
    re.compile(r"(?<=//hooks\.slack\.com/services/)[\w/]+"),
    re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"),
    re.compile(r"(?<=[Bb]earer )[\w.~+/-]{16,}=*"),
    re.compile(rf"(?i)(?:{_NAME}|secret)=(?P<value>[^\s\"'&,;]+)"),
    # a line of a configuration file
    re.compile(
        rf"(?im)^[ \t]*(?:-[ \t]+)?[\"']?[\w.-]*{_NAME}[\"']?[ \t]*[=:][ \t]*(?P<value>[^\s].*)$",
    ),
)
_HARMLESS = re.compile(r"(?i)true|false|null|none|\d{1,3}|[|>][+-]?|[\[{]|\$\([^)]*\)|\$\{[^}]*\}|\++")
"""What follows the name of a secret and is none: switches, counts, the names of variables, a mask."""
_HINT = re.compile(rf"(?i){_NAME}|secret|://")
"""What a text holds that could be a document with secrets."""


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


def mask(comparison: Comparison, places: Sequence[KindPointer] = ()) -> Comparison:
    """The comparison without secrets: what reports are made from. Objects without secrets stay the same objects.

    Args:
        places: where there are secrets, too.
    """
    return replace(comparison, changes=tuple(_mask_change(one, places) for one in comparison.changes))


def _mask_change(change: ObjectChange, places: Sequence[KindPointer]) -> ObjectChange:
    masks = Masks()
    old, new = (side and _mask_side(side, masks, places) for side in (change.old, change.new))
    if old is change.old and new is change.new:
        return change
    fields = change.fields
    if old is not None and new is not None:
        fields = field_changes(old.content, new.content)
    return replace(change, old=old, new=new, fields=fields)


def _mask_side(side: PlacedObject, masks: Masks, places: Sequence[KindPointer]) -> PlacedObject:
    content = side.content
    for place in places:
        content = place.changed(content, lambda key, value: _mask_whole(value, key, masks))
    content = mask_object(content, masks)
    return side if content is side.content else replace(side, content=content)


def mask_text(text: str) -> str:
    """A text, such as a line of a diff, without what looks like a secret in it."""
    return _mask_patterns(text, Masks())


def mask_object(content: Any, masks: Masks) -> Any:
    """An object without secrets; the same one if it has none."""
    return _mask(content, "", masks, 0)


def _mask(value: Any, key: str, masks: Masks, depth: int) -> Any:
    """Copies only what differs, so that most objects are not copied at all."""
    if isinstance(value, str):
        return _mask_string(value, key, masks, depth)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return masks.placeholder(key, value) if _names_a_secret(key) and abs(value) >= _SHORT else value
    if depth > _DEPTH:
        return value if not isinstance(value, dict | list) or not value else _TOO_DEEP
    if isinstance(value, dict):
        named = value.get("name")
        secret = _secret_data(value, masks)
        inner = {
            one: secret[one]
            if one in secret
            else _mask(item, named if one == "value" and isinstance(named, str) else str(one), masks, depth + 1)
            for one, item in value.items()
        }
        return inner if any(inner[one] is not item for one, item in value.items()) else value
    if isinstance(value, list):
        keys = [key, *map(_option, value)]
        items = [
            _mask(item, (before or key) if isinstance(item, str) else "", masks, depth + 1)
            for item, before in zip(value, keys, strict=False)
        ]
        return items if any(one is not other for one, other in zip(items, value, strict=True)) else value
    return value


_DEPTH = 100
_TOO_DEEP = "(nested too deeply)"
_SHORT = 1000
"""Numbers below it are counts and limits, whatever they are called."""


def _secret_data(content: dict[Any, Any], masks: Masks) -> dict[Any, Any]:
    """The fields of a Secret that hold secrets, masked; nothing for any other map."""
    if content.get("kind") != "Secret" or content.get("apiVersion") not in ("v1", None):
        return {}
    return {
        field: {name: _mask_text(value, str(name), masks) for name, value in values.items()}
        for field in ("data", "stringData")
        if isinstance(values := content.get(field), dict)
    }


def _option(item: Any) -> str:
    """The name of an option of a program whose value is the next argument; empty for anything else."""
    return item.lstrip("-") if isinstance(item, str) and item.startswith("-") and "=" not in item else ""


def _names_a_secret(key: str) -> bool:
    return key not in _NAMES_ONLY and _SECRET_KEY.search(key) is not None


def _mask_whole(value: Any, key: str, masks: Masks) -> Any:
    """A value of which all is secret: every text and number in it masked."""
    if isinstance(value, dict):
        return {name: _mask_whole(inner, str(name), masks) for name, inner in value.items()}
    if isinstance(value, list):
        return [_mask_whole(inner, key, masks) for inner in value]
    return value if isinstance(value, bool) else _mask_text(value, key, masks)


def _mask_text(value: Any, key: str, masks: Masks) -> Any:
    """A whole value masked, but for references in it."""
    if value is None or value == "":
        return value
    if isinstance(value, str) and (references := _REFERENCE.findall(value)):
        rest = _REFERENCE.sub("", value)
        return "".join(references) + (masks.placeholder(key, rest) if rest.strip() else "")
    return masks.placeholder(key, value)


def _mask_string(value: str, key: str, masks: Masks, depth: int) -> str:
    if value and _names_a_secret(key):
        return str(_mask_text(value, key, masks))
    if _HINT.search(value) and (documents := embedded_documents(value)) is not None:
        masked = [_mask(one, "", masks, depth + 1) for one in documents]
        if any(one is not other for one, other in zip(masked, documents, strict=True)):
            try:
                return dump_stream(masked)
            except InputError:  # nested too deeply to be written again
                return masks.placeholder(key, value)
    return _mask_patterns(value, masks)


def _mask_patterns(value: str, masks: Masks) -> str:
    masked = value
    for pattern in _PATTERNS:
        if pattern.search(masked):
            masked = pattern.sub(lambda match: _mask_match(match, masks), masked)
    return masked if masked != value else value


def _mask_match(match: re.Match[str], masks: Masks) -> str:
    found = match.groupdict().get("value")
    if found is None:
        return masks.placeholder("", match[0])
    if _HARMLESS.fullmatch(found) or _REFERENCE.fullmatch(found.strip("\"'")):
        return match[0]
    return match[0][: match.start("value") - match.start()] + masks.placeholder("", found)
