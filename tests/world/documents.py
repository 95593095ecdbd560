"""Documents for machines held to their published schemas."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import jsonschema
import yaml

SCHEMAS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "schemas"


def check_documents(text: str) -> None:
    """Validate what a command has printed, if these are documents: a JSON or YAML document, or one per line."""
    for document in _documents(text):
        if isinstance(document, dict) and isinstance(name := document.get("schema"), str) and "/" not in name:
            _validator(name).validate(document)


def _documents(text: str) -> list[Any]:
    if text.startswith("schema: "):
        return [yaml.safe_load(text)]
    if not text.startswith("{"):
        return []
    try:
        return [json.loads(text)]
    except ValueError:
        lines = (line for line in text.splitlines() if line.startswith('{"schema"'))
        return [json.loads(line) for line in lines]


@functools.cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    _close(schema)
    return jsonschema.Draft202012Validator(schema)


def _close(schema: Any) -> None:
    """Allow no fields but the ones that are listed."""
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
            schema["additionalProperties"] = False
        for inner in schema.values():
            _close(inner)
    elif isinstance(schema, list):
        for inner in schema:
            _close(inner)
