"""An explanation as JSON-ready data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from commodore.catalog.stages.explaining.model import FieldPlace, ManifestExplanation, ParameterCandidate, ReadParameter
from commodore.core.inventory.explain import path_text


def as_dict(found: ManifestExplanation) -> dict[str, Any]:
    """Everything; keys are those of the model. `explain` holds the words of a command line."""
    repository = found.repository
    return {
        "manifest": found.path,
        "file": str(found.file),
        "edited": found.edited,
        "instance": found.instance,
        "component": found.component,
        "repository": None
        if repository is None
        else {
            "url": repository.url,
            "version": repository.version,
            "commit": repository.commit,
            "path": repository.path,
            "changed": repository.changed,
        },
        "reused": found.reused,
        "refusal": found.refusal,
        "entries": [
            {
                "index": entry.index,
                "inputType": entry.input_type,
                "inputPaths": list(entry.input_paths),
                "outputPath": entry.output_path,
                "charts": [
                    {"name": one.name, "version": one.version, "path": one.path, "source": one.source}
                    for one in entry.charts
                ],
                "settings": _plain(entry.settings),
            }
            for entry in found.entries
        ],
        "filters": [
            {"index": one.index, "type": one.type, "filter": one.filter, "path": one.path, "enabled": one.enabled}
            for one in found.filters
        ],
        "parameters": [_parameter(one) for one in found.parameters],
        "names": [_parameter(one) for one in found.names],
        "files": [
            {"path": one.path, "kind": one.kind, "exists": one.exists, "changed": one.changed} for one in found.files
        ],
        "sources": list(found.sources),
        "tools": list(found.tools),
        "allTargets": found.all_targets,
        **_object(found),
    }


def _object(found: ManifestExplanation) -> dict[str, Any]:
    if found.object is None:
        return {}
    one = found.object
    told: dict[str, Any] = {
        "object": {"kind": one.kind, "namespace": one.namespace, "name": one.name, "line": one.line}
    }
    if found.field is not None:
        told["field"] = _field(found.field)
    return told


def _field(field: FieldPlace) -> dict[str, Any]:
    return {
        "path": path_text(field.path),
        "value": _plain(field.value),
        "line": field.line,
        "candidates": [_candidate(one) for one in field.candidates],
        "omitted": field.omitted,
    }


def _candidate(one: ParameterCandidate) -> dict[str, Any]:
    return {
        "target": one.target,
        "path": path_text(one.path),
        "value": _plain(one.value),
        "match": "equal" if one.whole else "contained",
        "explain": list(one.command),
    }


def _parameter(one: ReadParameter) -> dict[str, Any]:
    return {
        "target": one.target,
        "path": path_text(one.path) if one.path else "",
        "value": _plain(one.value),
        "isSet": one.is_set,
        "changed": one.changed,
        "explain": list(one.command),
    }


def _plain(value: Any) -> Any:
    """Values that JSON knows; dates and the like, which YAML has, as text."""
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)
