"""Diagnostics: their order, their count, and their severity with --strict."""

from __future__ import annotations

import itertools
import re

import pytest

from commodore.argocd import Diagnostic, Diagnostics, Subject
from commodore.argocd.diagnostics import STRICT
from commodore.base.diagnostics import by_cause
from commodore.base.documents import plain
from commodore.base.errors import Findings, InputError, Location, PolicyError
from commodore.cli.shell.error_pages import read_error_rooms
from tests.conftest import ROOT


@pytest.mark.requirement("D90")
def test_the_order_does_not_depend_on_when_they_are_found() -> None:
    three = [
        Diagnostic("CMD-ARGO-416", "c", "info"),
        Diagnostic("CMD-ARGO-319", "a", "warning", subject=Subject("argocd/b")),
        Diagnostic("CMD-ARGO-319", "a", "warning", subject=Subject("argocd/a")),
    ]
    results = set()
    for order in itertools.permutations(three):
        diagnostics = Diagnostics()
        for diagnostic in order:
            diagnostics.add(diagnostic)
        results.add(diagnostics.collected())
    assert results == {(three[2], three[1], three[0])}


def test_equal_ones_are_one_with_a_number() -> None:
    diagnostics = Diagnostics()
    for _ in range(3):
        diagnostics.add(Diagnostic("CMD-ARGO-319", "a", "warning"))
    assert [diagnostic.count for diagnostic in diagnostics.collected()] == [3]


def test_those_of_one_cause_are_together_and_the_new_ones_first() -> None:
    asked = "spec.generators[%d].plugin of %s needs the answer of the plugin %s"
    first, second, third, other, old = (
        Diagnostic(
            "CMD-ARGO-202",
            asked % (number, name, plugin),
            "boundary",
            subject=Subject(set=f"argocd/{name}"),
            before=before,
        )
        for number, name, plugin, before in (
            (0, "a", "x", False),
            (1, "b", "x", False),
            (0, "c-a", "x", False),
            (0, "d", "y", False),
            (0, "e", "x", True),
        )
    )
    assert by_cause([old, first, second, other, third]) == [(first, second, third), (other,), (old,)]


@pytest.mark.requirement("D28", "D75")
def test_strict_makes_errors_of_what_could_not_be_honoured() -> None:
    diagnostics = Diagnostics()
    diagnostics.add(Diagnostic("CMD-ARGO-319", "a", "warning"))
    diagnostics.add(Diagnostic("CMD-ARGO-122", "b", "info"))
    assert [diagnostic.severity for diagnostic in diagnostics.collected()] == ["warning", "info"]
    strict = Diagnostics(STRICT)
    strict.join(diagnostics)
    assert [(diagnostic.severity, diagnostic.escalated) for diagnostic in strict.collected()] == [
        ("error", True),
        ("info", False),
    ]


@pytest.mark.requirement("D74")
def test_errors_keep_their_places_and_families() -> None:
    diagnostics = Diagnostics()
    errors = [InputError("CMD-ARGO-103", "a", locations=[Location("x", 3)]), PolicyError("CMD-ARGO-420", "b")]
    diagnostics.take(Findings(errors), Subject("argocd/a"))
    assert [
        (diagnostic.code, diagnostic.family, diagnostic.subject.application) for diagnostic in diagnostics.collected()
    ] == [
        ("CMD-ARGO-103", "input", "argocd/a"),
        ("CMD-ARGO-420", "policy", "argocd/a"),
    ]
    assert plain(diagnostics.collected()[0])["locations"] == [{"place": "x", "line": 3, "column": None}]


@pytest.mark.requirement("D75")
def test_each_code_has_a_test() -> None:
    """Tests write codes in full, or their numbers at the beginning of a text: `"103 the field ..."`, `"304,310"`."""
    number = re.compile(r"CMD-ARGO-(\d{3})|(?<=[\"',])(\d{3})\b")
    rooms = ("argocd", "attacks", "cli", "hydrate")
    texts = (file.read_text(encoding="utf-8") for room in rooms for file in (ROOT / "tests" / room).rglob("*.py"))
    tested = {first or second for text in texts for first, second in number.findall(text)}
    codes = {page.code for room in read_error_rooms() for page in room.pages if page.code.startswith("CMD-ARGO-")}
    assert len(codes) > 100
    assert {code for code in codes if code.removeprefix("CMD-ARGO-") not in tested} == set()
