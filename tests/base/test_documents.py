"""Documents for machines, and the schemas that are made from their classes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import jsonschema
import pytest

from commodore.base.document_schemas import document_schema
from commodore.base.documents import ABSENT, NO_NUMBERS, Absent, document, document_text, plain
from commodore.base.errors import InputError


class Colour(Enum):
    RED = "red"


class Key(NamedTuple):
    kind: str
    name: str


@dataclass(frozen=True)
class Inner:
    """A thing inside.

    Attributes:
        size: in bytes; None if it
            is unknown.
    """

    size: int | None
    others: tuple[Inner, ...] = ()


@dataclass(frozen=True)
class Version:
    """A version."""

    number: int

    def as_plain(self) -> str:
        """As text."""
        return f"v{self.number}"


def shout(text: str) -> list[str]:
    """In capitals."""
    return [text.upper()]


@dataclass(frozen=True)
class Everything:
    """All that
    there can be.
    """

    json_properties: ClassVar = ("twice",)

    number: int
    inner: Inner
    path: Path
    moment: datetime | date
    kind: Literal["a", "b"] | None
    colour: Colour
    key: Key
    pair: tuple[int, str]
    names: frozenset[str]
    by_name: Mapping[str, Inner]
    version: Version
    given: Any | Absent
    left: str | Absent
    text: str = field(default="x", metadata={"json": shout})
    hidden: object = field(default=None, metadata={"json": False})

    @property
    def twice(self) -> int:
        """The number, twice."""
        return 2 * self.number


@dataclass(frozen=True)
class Whole:
    """A document."""

    all: Everything


EVERYTHING = Everything(
    4,
    Inner(None, (Inner(3),)),
    Path("/x"),
    datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC),
    None,
    Colour.RED,
    Key("Pod", "web"),
    (1, "one"),
    frozenset({"b", "a"}),
    {"n": Inner(1)},
    Version(3),
    {True: [None], 1.5: date(2024, 1, 2)},
    ABSENT,
    hidden=object(),
)


def test_a_document_holds_the_fields_of_its_class() -> None:
    result = document("whole", Whole(EVERYTHING))
    assert result == json.loads(document_text("whole", Whole(EVERYTHING)))
    assert (result["schema"], result["version"]) == ("whole", 1)
    assert result["all"] == {
        "number": 4,
        "inner": {"size": None, "others": [{"size": 3, "others": []}]},
        "path": "/x",
        "moment": "2024-01-02 03:04:05+00:00",
        "kind": None,
        "colour": "red",
        "key": {"kind": "Pod", "name": "web"},
        "pair": [1, "one"],
        "names": ["a", "b"],
        "by_name": {"n": {"size": 1, "others": []}},
        "version": "v3",
        "given": {"true": [None], "1.5": "2024-01-02"},
        "text": ["X"],
        "twice": 8,
    }


def test_an_error_is_a_map_of_its_fields() -> None:
    error = InputError("CMD-INV-001", "wrong", locations=["a.yml"])
    location = {"place": "a.yml", "line": None, "column": None}
    fields = {"code": "CMD-INV-001", "family": "input", "message": "wrong", "hint": "", "locations": [location]}
    assert plain([error]) == [fields]


def test_bytes_are_as_in_yaml() -> None:
    assert plain({"a": b"abc"}) == {"a": "YWJj"}


@dataclass(frozen=True)
class Measured:
    seconds: float | None


@pytest.mark.parametrize(("number", "shown"), [(1.5, 1.5), (None, None), *((float(text), text) for text in NO_NUMBERS)])
def test_numbers_that_json_does_not_know_are_texts_that_the_schema_names(number: float, shown: object) -> None:
    made = document("measured", Measured(number))
    assert made["seconds"] == shown
    validator = jsonschema.Draft202012Validator(document_schema("measured", Measured))
    validator.validate(made)
    assert not validator.is_valid({**made, "seconds": "1.5"})


def test_what_json_has_nothing_for_is_refused() -> None:
    with pytest.raises(TypeError, match="object has no form in JSON"):
        plain({"a": object()})


def test_the_schema_of_a_class_describes_its_documents() -> None:
    schema = document_schema("whole", Whole)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    whole = document("whole", Whole(EVERYTHING))
    validator.validate(whole)
    for wrong in (
        {"kind": "c"},
        {"pair": [1]},
        {"names": [1]},
        {"by_name": {"n": 1}},
        {"twice": "8"},
        {"colour": "blue"},
    ):
        assert not validator.is_valid({**whole, "all": {**whole["all"], **wrong}}), wrong
    everything = schema["$defs"]["Everything"]
    assert everything["description"] == "All that there can be."
    assert set(everything["properties"]) - set(everything["required"]) == {"given", "left"}
    assert everything["properties"]["twice"] == {"description": "The number, twice.", "type": "integer"}
    size = schema["$defs"]["Inner"]["properties"]["size"]
    assert size == {"description": "In bytes; null if it is unknown.", "type": ["integer", "null"]}


@dataclass(frozen=True)
class Narrower(Inner):
    """A thing that is described further down.

    Attributes:
        depth: in steps.
    """

    depth: int = 0


def test_the_schema_of_a_class_describes_what_it_inherits() -> None:
    properties = document_schema("narrower", Narrower)["properties"]
    assert [properties[name]["description"] for name in ("size", "depth")] == [
        "In bytes; null if it is unknown.",
        "In steps.",
    ]
