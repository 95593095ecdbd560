"""The published JSON Schemas of `docs/reference`, which are part of the wheel, and texts for errors of a validator."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from commodore.base.errors import EnvironmentFault

if TYPE_CHECKING:
    from jsonschema import ValidationError

_PACKAGE = Path(__file__).resolve().parents[2]
# In the wheel the schemas are next to this module; in a checkout they are in docs.
_PLACES = (_PACKAGE / "published-schemas", _PACKAGE.parent / "docs" / "reference")

_REFERENCE: Final = {"$ref": "#/$defs/reference"}

_TYPE_WORDS: Final = MappingProxyType(
    {
        "object": "a map",
        "array": "a list",
        "string": "a text",
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "null": "null",
    }
)


@functools.cache
def published_schema(name: str) -> dict[str, Any]:
    """Return a schema published for editors. The data must not be changed.

    Args:
        name: `class-file`, `cluster-file` or `commodore-file`.

    Raises:
        EnvironmentFault: CMD-CLI-061, the schema is missing in this installation.
    """
    file = f"{name}-schema.json"
    for place in _PLACES:
        if (place / file).is_file():
            schema: dict[str, Any] = json.loads((place / file).read_text(encoding="utf-8"))
            return schema
    raise EnvironmentFault(
        "CMD-CLI-061",
        f"the JSON Schema {file} is not part of this installation",
        hint="install commodore again",
    )


def types_in_words(types: str | Sequence[str]) -> str:
    """Format the value of a schema's `type` for a message: `a map or null`."""
    return " or ".join(_TYPE_WORDS[kind] for kind in ([types] if isinstance(types, str) else types))


def meant_errors(error: ValidationError) -> Iterator[ValidationError]:
    """Yield the errors to report for an error: for alternatives, those of the intended alternative.

    That is the first one with the value's type. The alternative of a reference `${...}` is never chosen.
    """
    if error.validator != "anyOf":
        yield error
        return
    for errors in _alternatives(error):
        if not any(_is_own_type(inner) for inner in errors):
            for inner in errors:
                yield from meant_errors(inner)
            return
    yield error


def alternative_types(error: ValidationError) -> list[str]:
    """Return the types of the alternatives in an error of `anyOf`, if the value has none of these types."""
    values = (inner.validator_value for errors in _alternatives(error) for inner in errors if _is_own_type(inner))
    return [kind for types in values for kind in ([types] if isinstance(types, str) else types)]


def _alternatives(error: ValidationError) -> Iterator[list[ValidationError]]:
    """Yield the errors of each alternative, except for that of a reference."""
    for index, alternative in enumerate(error.validator_value):
        if alternative != _REFERENCE:
            yield [inner for inner in error.context or () if inner.schema_path[0] == index]


def _is_own_type(error: ValidationError) -> bool:
    """Return True if the value of an alternative has the wrong type itself, not a part of it."""
    return error.validator == "type" and not error.path
