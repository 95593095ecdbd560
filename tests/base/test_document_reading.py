"""Documents that the program reads again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import pytest

from commodore.base.document_reading import read_document, read_record
from commodore.base.documents import document_text, plain


@dataclass(frozen=True)
class Part:
    json_properties: ClassVar = ("twice",)

    size: int
    names: set[str]

    @property
    def twice(self) -> int:
        return 2 * self.size


@dataclass(frozen=True)
class Whole:
    kind: Literal["a", "b"]
    part: Part | None
    pairs: tuple[tuple[str, bool], ...]
    by_name: Mapping[str, list[Part]]
    weight: float = 1.5
    kept: object = field(default=None, metadata={"json": False})


WHOLE = Whole("a", Part(1, {"y", "x"}), (("p", True),), {"n": [Part(2, set())]})
PLAIN: dict[str, Any] = plain(WHOLE)


def test_a_document_is_read_as_what_it_was_made_of() -> None:
    assert read_document("whole", Whole, document_text("whole", WHOLE).encode()) == WHOLE


def test_what_is_not_there_has_its_default_and_what_is_unknown_does_not_count() -> None:
    assert read_record(Whole, {**PLAIN, "part": None, "further": 1, "kept": "x"}) == Whole(
        "a", None, WHOLE.pairs, WHOLE.by_name
    )
    assert read_record(Whole, {name: value for name, value in PLAIN.items() if name != "weight"}) == WHOLE


def test_a_whole_number_is_a_number() -> None:
    weight = read_record(Whole, {**PLAIN, "weight": 2}).weight
    assert (weight, type(weight)) == (2.0, float)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "c"},
        {"kind": ["a"]},
        {"part": {"size": "1", "names": []}},
        {"part": {"size": True, "names": []}},
        {"part": {"size": 1}},
        {"pairs": [["p"]]},
        {"pairs": "pp"},
        {"by_name": []},
        {"weight": "1"},
        {"weight": True},
    ],
)
def test_values_of_other_types(wrong: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        read_record(Whole, {**PLAIN, **wrong})


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema": "other", "version": 1}', '{"schema": "whole", "version": 2}']
)
def test_other_documents(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|no whole of|Expecting"):
        read_document("whole", Whole, text.encode())
