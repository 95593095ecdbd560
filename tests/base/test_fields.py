"""The reader of fields: wrong values are errors of the caller's code, or are noted and count as absent."""

from __future__ import annotations

from typing import ClassVar

import pytest

from commodore.base import fields
from commodore.base.errors import InputError, Location
from commodore.base.fields import kind_of

WRONG = {"text": 4, "flag": "yes", "list": {}, "map": [], "maps": [1, {"a": "b"}], "texts": ["a", None, "b"]}


class Fields(fields.Fields):
    code: ClassVar[str] = "CMD-X-001"
    advice: ClassVar[str] = "see the page"


@pytest.mark.parametrize(
    ("read", "message", "hint"),
    [
        (lambda read: read.text("text"), "spec.text must be text, not a number", "write it in quotes"),
        (lambda read: read.flag("flag"), "spec.flag must be true or false, not text", "see the page"),
        (lambda read: read.values("list"), "spec.list must be a list, not a map", "see the page"),
        (lambda read: read.fields("map"), "spec.map must be a map, not a list", "see the page"),
        (lambda read: list(read.items("maps")), "spec.maps[0] must be a map, not a number", "see the page"),
        (lambda read: read.texts("texts"), "spec.texts[1] must be text, not null", "see the page"),
        (lambda read: read.required("none"), "spec.none is missing", "add the field"),
    ],
)
def test_a_wrong_value_is_an_error_or_noted(read, message: str, hint: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError) as caught:
        read(Fields(WRONG, "spec", Location("f", 3)))
    assert (caught.value.code, caught.value.message, caught.value.hint) == ("CMD-X-001", message, hint)
    assert caught.value.locations == (Location("f", 3),)
    noted: list[InputError] = []
    read(Fields(WRONG, "spec", Location("f", 3), noted))
    assert [item.message for item in noted] == [message]


def test_what_is_noted_counts_as_absent() -> None:
    noted: list[InputError] = []
    read = Fields(WRONG, "", Location("f"), noted)
    assert (read.text("text", "d"), read.flag("flag", True), read.values("list"), read.texts("texts")) == (
        "d",
        True,
        [],
        ("a", "b"),
    )
    assert [item.text("a") for item in read.items("maps")] == ["", "b"]
    assert len(noted) == 5


def test_an_unknown_field_names_the_one_that_is_meant() -> None:
    read = Fields({"valuesFiles": [], "chart": ""}, "helm")
    assert list(read.unknown(("valueFiles", "chart"))) == [("helm.valuesFiles", "did you mean 'valueFiles'?")]


def test_kinds() -> None:
    values = (None, True, 4, 1.5, "a", {}, [], object())
    assert list(map(kind_of, values)) == ["null", "true", "a number", "a number", "text", "a map", "a list", "object"]
