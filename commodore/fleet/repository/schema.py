"""The schemas of a fleet's files, and validation against them."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commodore.base.errors import CommodoreError, InputError, Location, did_you_mean
from commodore.base.fields import kind_of
from commodore.base.names import check_name
from commodore.base.values.pointers import pointer_text
from commodore.base.yaml.json_schemas import meant_errors, types_in_words
from commodore.fleet.findings import shown
from commodore.fleet.repository.files import Document

if TYPE_CHECKING:
    from jsonschema import ValidationError

NAME = "^[a-z0-9][a-z0-9._-]*$"
ITEM_NAME = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"

_FOLDER = Path(__file__).resolve().parent / "schemas"
STATIC_SCHEMAS = tuple(sorted(path.stem for path in _FOLDER.glob("*.json")))
"""Names of the schemas that are the same for every fleet; that of `config` depends on its dimensions."""


@functools.cache
def static_schema(name: str) -> dict[str, Any]:
    """Return one of `STATIC_SCHEMAS`. The result is cached and must not be changed."""
    schema: dict[str, Any] = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return schema


_NAMES: dict[str, Any] = {
    "name": {"type": "string", "pattern": NAME, "maxLength": 200},
    "dimension": {"type": "string", "pattern": "^[a-z][a-z0-9_-]*$"},
}


def config_schema(dimensions: Sequence[str]) -> dict[str, Any]:
    """Return the schema of `config/config.yaml` for a fleet with these dimensions."""
    name = {"$ref": "#/$defs/name"}
    kind = {
        "type": "object",
        "required": ["name"],
        "additionalProperties": False,
        "properties": {"name": name, "applications": {"type": "array", "uniqueItems": True, "items": name}},
    }
    first = dimensions[0]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "config/config.yaml of a fleet",
        "type": "object",
        "required": ["dimensions", "sequence", "cluster_types"],
        "additionalProperties": False,
        "properties": {
            "dimensions": {
                "type": "array",
                "minItems": 1,
                "maxItems": 8,
                "uniqueItems": True,
                "items": {"$ref": "#/$defs/dimension"},
            },
            "sequence": {
                "type": "object",
                "required": [first],
                "additionalProperties": False,
                "properties": {first: {"$ref": "#/$defs/level1"}},
            },
            "cluster_types": {"type": "array", "minItems": 1, "items": {"anyOf": [name, kind]}},
            "generator": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "style": {"enum": ["charts", "manifests"]},
                    "output": {"enum": ["charts", "manifests"]},
                    "patches": {"enum": ["last", "by-level"]},
                    "inject_dimensions": {"type": "boolean"},
                    "chart_naming": {"enum": ["charts", "manifests"]},
                    "promotion_level": {"enum": list(dimensions)},
                    "chart": {"type": "string"},
                    "sample_cluster": {"type": "object"},
                },
            },
        },
        "$defs": {**_NAMES, **_levels(dimensions)},
    }


def _levels(dimensions: Sequence[str]) -> dict[str, Any]:
    """Return the definitions of the nodes of each dimension."""
    name = {"$ref": "#/$defs/name"}
    gate = {
        "promotion": {"enum": ["automated", "manual"]},
        "soak": {"type": "string", "pattern": "^[0-9]{1,9}[smhd]$"},
    }
    definitions: dict[str, Any] = {}
    for level, _ in enumerate(dimensions, 1):
        node: dict[str, Any] = {
            "type": "object",
            "required": ["name"],
            "additionalProperties": False,
            "properties": {"name": name, **gate},
        }
        if level < len(dimensions):
            node["required"].append(dimensions[level])
            node["properties"][dimensions[level]] = {"$ref": f"#/$defs/level{level + 1}"}
        items = node if level < len(dimensions) else {"anyOf": [name, node]}
        definitions[f"level{level}"] = {"type": "array", "minItems": 1, "items": items}
    return definitions


def schema_problems(document: Document, schema: dict[str, Any], data: Any = None) -> list[CommodoreError]:
    """Validate a file: return an error CMD-FLT-003 for each violation, CMD-NAME-001 and 006 for names.

    Args:
        data: the part of the file to validate, by default all.
    """
    data = document.data if data is None else data
    texts = list(_wrong_keys(document, data, ()))
    if texts:
        return texts
    return [
        problem
        for error in _validator()(schema).iter_errors(data)
        for meant in meant_errors(error)
        for problem in _explain(document, meant)
    ]


@functools.cache
def _validator() -> Any:
    """Return a validator whose `$` in patterns matches the end of the text only, not before a newline (JSON Schema)."""
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend

    def pattern(_: Any, regexp: str, text: object, __: Any) -> Iterator[ValidationError]:
        if isinstance(text, str) and not re.search(re.sub(r"\$$", r"\\Z", regexp), text):
            yield ValidationError(f"{text!r} does not match {regexp!r}")

    return extend(Draft202012Validator, {"pattern": pattern})


def _wrong_keys(document: Document, data: Any, path: tuple[object, ...]) -> Iterator[CommodoreError]:
    """Yield an error for each key that is not a string, down to the items of sections; charts check deeper keys."""
    if not isinstance(data, dict):
        return
    for key, value in data.items():
        if not isinstance(key, str):
            yield _wrong(document, (*path, key), f"the key {shown(key)} is {kind_of(key)}, must be a text", "quote it")
        elif len(path) < 3:
            yield from _wrong_keys(document, value, (*path, key))


def _explain(document: Document, error: ValidationError) -> Iterator[CommodoreError]:
    path = tuple(error.absolute_path)
    value, where = error.instance, f"{pointer_text(path)} is {shown(error.instance)}"
    expected: Any = error.validator_value
    match error.validator:
        case "type":
            yield _wrong(
                document, path, f"{pointer_text(path)} is {_in_words(value)}, must be {types_in_words(expected)}"
            )
        case "required":
            for key in (key for key in expected if key not in value):
                yield _wrong(document, path, f"{pointer_text(path)} has no {key!r}", f"add {key!r}")
        case "additionalProperties":
            known = error.schema.get("properties", {})
            for key in (key for key in value if key not in known):
                hint = did_you_mean(str(key), known) or f"known are {', '.join(known)}"
                yield _wrong(document, (*path, key), f"{pointer_text((*path, key))} is unknown", hint)
        case "enum":
            words = ", ".join(map(str, expected))
            hint = did_you_mean(str(value), map(str, expected))
            yield _wrong(document, path, f"{where}, must be one of {words}", hint)
        case "anyOf":
            yield _wrong(document, path, f"{pointer_text(path)} is {_in_words(value)}, must be a name or a map")
        case "minItems" | "minProperties":
            yield _wrong(document, path, f"{pointer_text(path)} is empty, must have at least one entry")
        case "uniqueItems":
            return  # read_config reports the duplicates with their places
        case "maxItems":
            yield _wrong(document, path, f"{pointer_text(path)} has {len(value)} entries, must have at most {expected}")
        case "not":
            yield _wrong(
                document, (*path, value), f"{pointer_text((*path, value))} has a reserved name", "choose another one"
            )
        case _:
            yield _wrong_text(document, error, path, value)


def _wrong_text(document: Document, error: ValidationError, path: tuple[object, ...], value: Any) -> CommodoreError:
    """Return the error about a string of the wrong form."""
    pattern = error.schema.get("pattern")
    key = "propertyNames" in error.absolute_schema_path
    location = document.at((*path, value) if key else path)
    if pattern == ITEM_NAME:
        return InputError(
            "CMD-NAME-001",
            f"{shown(value)} cannot be the name of an application",
            hint="use at most 253 lower-case letters, digits, '-' and '.', with a letter or digit at both ends",
            locations=[location],
        )
    if pattern == NAME:
        try:
            check_name(value, "type, application or node of a fleet")
        except InputError as wrong:
            return wrong.about(at=[location])
    expected = f"of the form {pattern}" if pattern else f"valid for {error.validator} {error.validator_value}"
    return _wrong(document, path, f"{pointer_text(path)} is {shown(value)}, must be {expected}")


def _in_words(value: Any) -> str:
    return kind_of(value) if isinstance(value, (dict, list)) or value is None else f"{kind_of(value)} ({shown(value)})"


def _wrong(document: Document, path: Sequence[object], what: str, hint: str = "") -> CommodoreError:
    location: Location = document.at(path)
    hint = hint or "'commodore fleet schema' prints what a file may hold"
    return InputError("CMD-FLT-003", f"{document.place}: {what}", hint=hint, locations=[location])
