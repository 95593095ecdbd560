"""The published JSON Schemas of `docs/reference`, which are part of the wheel, and the errors of a validator."""

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
# In the wheel the schemas lie next to this module; in a checkout they are where they are written.
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
    """A schema that is published for editors, as data that must not be changed.

    Args:
        name: `class-file`, `cluster-file` or `commodore-file`.

    Raises:
        EnvironmentFault: CMD-CLI-061, the schema is missing in this installation.
    """
    file = f"{name}-schema.json"
    for place in _PLACES:
        if (place / file).is_file():
            found: dict[str, Any] = json.loads((place / file).read_text(encoding="utf-8"))
            return found
    raise EnvironmentFault(
        "CMD-CLI-061",
        f"the JSON Schema {file} is not part of this installation",
        hint="install commodore again",
    )


def types_in_words(types: str | Sequence[str]) -> str:
    """The value of a schema's `type` as a message shows it: `a map or null`."""
    return " or ".join(_TYPE_WORDS[kind] for kind in ([types] if isinstance(types, str) else types))


def meant_errors(error: ValidationError) -> Iterator[ValidationError]:
    """What to report of an error: of alternatives, what is wrong with the one that the file means.

    That is the first one whose type the value has. The alternative that the value is a reference `${...}` never counts.
    """
    if error.validator != "anyOf":
        yield error
        return
    for found in _alternatives(error):
        if not any(_is_own_type(one) for one in found):
            for one in found:
                yield from meant_errors(one)
            return
    yield error


def alternative_types(error: ValidationError) -> list[str]:
    """The types that the alternatives of an error of `anyOf` want, if the value has none of them."""
    wanted = (one.validator_value for found in _alternatives(error) for one in found if _is_own_type(one))
    return [kind for types in wanted for kind in ([types] if isinstance(types, str) else types)]


def _alternatives(error: ValidationError) -> Iterator[list[ValidationError]]:
    """What is wrong with each alternative, but for that of a reference."""
    for index, alternative in enumerate(error.validator_value):
        if alternative != _REFERENCE:
            yield [inner for inner in error.context or () if inner.schema_path[0] == index]


def _is_own_type(error: ValidationError) -> bool:
    """Whether the value of an alternative has the wrong type itself, not something in it."""
    return error.validator == "type" and not error.path
