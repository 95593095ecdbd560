"""Explanations as JSON-ready data."""

from __future__ import annotations

from typing import Any

from commodore.core.inventory.explain.model import (
    ClassFilePlace,
    Contribution,
    ExplainedPart,
    Explanation,
    ParameterReference,
)
from commodore.core.inventory.parameter_path import format_path, key_text


def as_dict(explanation: Explanation) -> dict[str, Any]:
    """An explanation as `commodore inventory explain -o json` writes it. Keys and paths are texts, files absolute."""
    return {
        "path": path_text(explanation.path),
        "target": explanation.target,
        "set": explanation.is_set,
        "value": _data(explanation.value),
        "complete": explanation.complete,
        "chain": [_contribution(one) for one in explanation.chain],
        "parts": [_part(one) for one in explanation.parts],
    }


def path_text(path: tuple[Any, ...]) -> str:
    """A path whose keys may be of any type, as people write it."""
    return format_path([key if isinstance(key, int) and not isinstance(key, bool) else key_text(key) for key in path])


def _contribution(one: Contribution) -> dict[str, Any]:
    return {
        **_source(one.source),
        "path": path_text(one.path),
        "key": _key(one.key),
        "overwrites": one.overwrites,
        "constant": one.constant,
        "written": _data(one.value),
        "resolved": _data(one.resolved),
        "effect": one.effect,
        "counts": one.counts,
        "wins": one.wins,
        "references": [_reference(reference) for reference in one.references],
    }


def _source(source: ClassFilePlace) -> dict[str, Any]:
    origin = source.origin
    repository = None
    if origin is not None:
        repository = {
            "url": origin.url,
            "commit": origin.commit,
            "path": origin.path,
            "changed": origin.changed,
        }
    return {
        "class": source.name,
        "file": str(source.file),
        "line": source.line,
        "column": source.column,
        "generated": source.generated,
        "repository": repository,
    }


def _reference(reference: ParameterReference) -> dict[str, Any]:
    explanation = reference.explanation
    return {
        "written": reference.written,
        "path": path_text(reference.path),
        "outcome": reference.outcome,
        "explanation": as_dict(explanation) if explanation is not None else None,
    }


def _part(part: ExplainedPart) -> dict[str, Any]:
    return {"key": _key(part.key), **_source(part.source), "through": part.through, "places": part.places}


def _key(key: Any) -> str | int:
    return key if isinstance(key, int) and not isinstance(key, bool) else key_text(key)


def _data(value: Any) -> Any:
    """The value with keys that JSON knows."""
    if isinstance(value, dict):
        return {key_text(key): _data(inner) for key, inner in value.items()}
    return [_data(item) for item in value] if isinstance(value, list) else value
