"""Mask secrets in reports: replaced on both sides, so that equal values stay equal and different values different."""

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
"""A reference to a secret, by name."""
_NAME = (
    r"(?:pass(?:word|wd|phrase)|(?<![a-z])pass|(?-i:Pass)|(?<![a-z])pwd|token|api[_-]?key|access[_-]?key"
    r"|private[_-]?key|secret[_-]?(?:access[_-]?)?key|client[_-]?secret|credential)s?"
)
_SECRET_KEY = re.compile(rf"{_NAME}$", re.IGNORECASE)
_NAMES_ONLY = frozenset({"secretKey", "secretAccessKeyRef", "tokenKey", "accessKey"})
"""Fields of well-known kinds that match, but hold a name."""
_PATTERNS = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"),
    re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,})"),
    re.compile(r"(?<=//hooks\.slack\.com/services/)[\w/]+"),
    re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"),
    re.compile(r"(?<=[Bb]earer )[\w.~+/-]{16,}=*"),
    re.compile(rf"(?i)(?:{_NAME}|secret)=(?P<value>[^\s\"'&,;]+)"),
    # an assignment in a configuration file
    re.compile(
        rf"(?im)^[ \t]*(?:-[ \t]+)?[\"']?[\w.-]*{_NAME}[\"']?[ \t]*[=:][ \t]*(?P<value>[^\s].*)$",
    ),
)
_HARMLESS = re.compile(r"(?i)true|false|null|none|\d{1,3}|[|>][+-]?|[\[{]|\$\([^)]*\)|\$\{[^}]*\}|\++")
"""Values after the name of a secret that are not secret: switches, counts, names of variables, masks."""
_HINT = re.compile(rf"(?i){_NAME}|secret|://")
"""Characters of a text that may be a document with secrets."""


class Masks:
    """Placeholders for the secrets of an object on both sides: one for each distinct value of each key."""

    def __init__(self) -> None:
        self._seen: dict[str, list[Any]] = {}

    def placeholder(self, key: str, value: Any) -> str:
        """Return the placeholder of a value: longer for each further value of the same key."""
        known = self._seen.setdefault(key, [])
        if value not in known:
            known.append(value)
        return "+" * (8 + 4 * known.index(value))


def mask(comparison: Comparison, places: Sequence[KindPointer] = ()) -> Comparison:
    """Mask the secrets of a comparison, before reports are made from it. Objects without secrets stay the same objects.

    Args:
        places: further fields with secrets.
    """
    return replace(comparison, changes=tuple(_mask_change(change, places) for change in comparison.changes))


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
    """Mask likely secrets in a text, such as a line of a diff."""
    return _mask_patterns(text, Masks())


def mask_object(content: Any, masks: Masks) -> Any:
    """Return an object with masked secrets; the same object if it has none."""
    return _mask(content, "", masks, 0)


def _mask(value: Any, key: str, masks: Masks, depth: int) -> Any:
    """Copy only changed parts, so that most objects are not copied at all."""
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
            name: secret[name]
            if name in secret
            else _mask(item, named if name == "value" and isinstance(named, str) else str(name), masks, depth + 1)
            for name, item in value.items()
        }
        return inner if any(inner[name] is not item for name, item in value.items()) else value
    if isinstance(value, list):
        keys = [key, *map(_option, value)]
        items = [
            _mask(item, (before or key) if isinstance(item, str) else "", masks, depth + 1)
            for item, before in zip(value, keys, strict=False)
        ]
        return items if any(masked is not item for masked, item in zip(items, value, strict=True)) else value
    return value


_DEPTH = 100
_TOO_DEEP = "(nested too deeply)"
# shown in place of values nested too deeply
_SHORT = 1000
"""Smaller numbers are counts and limits, whatever their name."""


def _secret_data(content: dict[Any, Any], masks: Masks) -> dict[Any, Any]:
    """Return the masked data fields of a Secret; empty for other maps."""
    if content.get("kind") != "Secret" or content.get("apiVersion") not in ("v1", None):
        return {}
    return {
        field: {name: _mask_text(value, str(name), masks) for name, value in values.items()}
        for field in ("data", "stringData")
        if isinstance(values := content.get(field), dict)
    }


def _option(item: Any) -> str:
    """Return the name of a program option whose value is the next argument; empty for other items."""
    return item.lstrip("-") if isinstance(item, str) and item.startswith("-") and "=" not in item else ""


def _names_a_secret(key: str) -> bool:
    return key not in _NAMES_ONLY and _SECRET_KEY.search(key) is not None


def _mask_whole(value: Any, key: str, masks: Masks) -> Any:
    """Mask every text and number in a value that is secret as a whole."""
    if isinstance(value, dict):
        return {name: _mask_whole(inner, str(name), masks) for name, inner in value.items()}
    if isinstance(value, list):
        return [_mask_whole(inner, key, masks) for inner in value]
    return value if isinstance(value, bool) else _mask_text(value, key, masks)


def _mask_text(value: Any, key: str, masks: Masks) -> Any:
    """Mask a whole value, except for references in it."""
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
        masked = [_mask(document, "", masks, depth + 1) for document in documents]
        if any(result is not document for result, document in zip(masked, documents, strict=True)):
            try:
                return dump_stream(masked)
            except InputError:  # nested too deeply to be serialized
                return masks.placeholder(key, value)
    return _mask_patterns(value, masks)


def _mask_patterns(value: str, masks: Masks) -> str:
    masked = value
    for pattern in _PATTERNS:
        if pattern.search(masked):
            masked = pattern.sub(lambda match: _mask_match(match, masks), masked)
    return masked if masked != value else value


def _mask_match(match: re.Match[str], masks: Masks) -> str:
    value = match.groupdict().get("value")
    if value is None:
        return masks.placeholder("", match[0])
    if _HARMLESS.fullmatch(value) or _REFERENCE.fullmatch(value.strip("\"'")):
        return match[0]
    return match[0][: match.start("value") - match.start()] + masks.placeholder("", value)
