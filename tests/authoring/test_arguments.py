"""From choices to template arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.authoring.arguments import (
    MINOR_ALLOW,
    PATCH_BLOCK,
    Choices,
    choose,
    complete,
    depname,
    new_arguments,
    this_year,
)
from commodore.authoring.slug import COMPONENT, PACKAGE
from commodore.base.errors import InputError
from commodore.base.events import Event, Noted, ignore
from tests.world.context import make_context


def test_defaults_of_a_component() -> None:
    assert new_arguments(COMPONENT, "foo", None, "projectsyn", Choices(), make_context(announce=ignore)) == {
        "slug": "foo",
        "name": "foo",
        "github_owner": "projectsyn",
        "copyright_holder": "VSHN AG <info@vshn.ch>",
        "copyright_year": this_year(),
        "test_cases": "defaults",
        "add_golden": "y",
        "add_lib": "n",
        "add_pp": "n",
        "add_matrix": "y",
        "automerge_patch": "y",
        "automerge_patch_v0": "n",
        "auto_release": "y",
        "automerge_patch_regexp_blocklist": "",
        "automerge_patch_v0_regexp_allowlist": "",
        "automerge_minor_regexp_allowlist": "",
    }


def test_defaults_of_a_package() -> None:
    arguments = new_arguments(
        PACKAGE, "foo", "The Foo", "me", Choices(copyright_holder="Me"), make_context(announce=ignore)
    )
    assert arguments == {
        "slug": "foo",
        "name": "The Foo",
        "github_owner": "me",
        "copyright_holder": "Me",
        "copyright_year": this_year(),
        "test_cases": "defaults",
        "add_golden": "y",
    }


def test_cases_keep_their_order_and_are_there_once() -> None:
    stored = {"test_cases": "defaults b"}
    assert (
        choose(stored, Choices(add_cases=("a", "b", "a")), make_context(announce=ignore))["test_cases"]
        == "defaults b a"
    )


def test_removals_come_after_additions() -> None:
    chosen = choose(
        {"test_cases": "defaults"}, Choices(add_cases=("a",), remove_cases=("defaults",)), make_context(announce=ignore)
    )
    assert chosen["test_cases"] == "a"


def test_the_last_case_stays() -> None:
    with pytest.raises(InputError) as caught:
        choose({"test_cases": "defaults"}, Choices(remove_cases=("defaults",)), make_context(announce=ignore))
    assert caught.value.code == "CMD-TPL-007"


def test_unknown_removals_are_noted_when_verbose() -> None:
    collected: list[Event] = []
    choices = Choices(remove_cases=("x",), remove_patterns={PATCH_BLOCK: ("y",)})
    assert (
        choose({"test_cases": "defaults"}, choices, make_context(announce=collected.append))["test_cases"] == "defaults"
    )
    assert collected == [
        Noted("there is no test case 'x' to remove", level=1),
        Noted(f"there is no pattern 'y' in {PATCH_BLOCK} to remove", level=1),
    ]


def test_patterns_are_a_sorted_set() -> None:
    stored = {"test_cases": "defaults", MINOR_ALLOW: "b;a"}
    choices = Choices(add_patterns={MINOR_ALLOW: (depname("c.d"), "a")}, remove_patterns={MINOR_ALLOW: ("b",)})
    assert choose(stored, choices, make_context(announce=ignore))[MINOR_ALLOW] == "^c.d$;a"


@pytest.mark.parametrize("pattern", ["", "a;b", "a\nb"])
def test_patterns_that_cannot_be_stored(pattern: str) -> None:
    with pytest.raises(InputError) as caught:
        choose(
            {"test_cases": "defaults"}, Choices(add_patterns={PATCH_BLOCK: (pattern,)}), make_context(announce=ignore)
        )
    assert caught.value.code == "CMD-TPL-008"


def test_several_cases_force_matrix_tests() -> None:
    collected: list[Event] = []
    stored = {"test_cases": "defaults", "add_matrix": "n"}
    assert choose(stored, Choices(add_cases=("a",)), make_context(announce=collected.append))["add_matrix"] == "y"
    assert collected == [Noted("matrix tests are turned on, as there is more than one test case")]
    assert choose(stored, Choices(), make_context(announce=ignore))["add_matrix"] == "n"


def test_patch_v0_forces_patch() -> None:
    stored = {"test_cases": "defaults"}
    chosen = choose(
        stored, Choices(switches={"automerge_patch": False, "automerge_patch_v0": True}), make_context(announce=ignore)
    )
    assert (chosen["automerge_patch"], chosen["automerge_patch_v0"]) == ("y", "y")


def test_what_is_not_chosen_stays() -> None:
    stored = {"test_cases": "defaults", "add_lib": "y", "own": "thing", "copyright_year": "2001"}
    assert (
        choose(stored, Choices(switches={"add_lib": None}, copyright_holder=""), make_context(announce=ignore))
        == stored
    )
    assert (
        choose(stored, Choices(update_copyright_year=True), make_context(announce=ignore))["copyright_year"]
        == this_year()
    )


def test_missing_arguments_are_found_in_the_files(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "class").mkdir()
    (tmp_path / "tests" / "golden").mkdir(parents=True)
    (tmp_path / "class" / "foo.yml").write_text(
        "parameters: {=_x: 1, commodore: {postprocess: {filters: []}}}", encoding="utf-8"
    )
    (tmp_path / ".sync.yml").write_text("LICENSE: {holder: Some One, year: 2019}", encoding="utf-8")
    completed = complete({"slug": "foo", "own": "thing"}, COMPONENT, tmp_path)
    expected = {"add_lib": "y", "add_pp": "y", "add_golden": "y", "add_matrix": "n", "own": "thing"}
    expected |= {"copyright_holder": "Some One", "copyright_year": "2019", "test_cases": "defaults"}
    assert {name: completed[name] for name in expected} == expected


def test_missing_arguments_without_any_files(tmp_path: Path) -> None:
    completed = complete({"slug": "foo", "add_pp": "y"}, COMPONENT, tmp_path)
    assert (completed["add_lib"], completed["add_pp"], completed["add_golden"]) == ("n", "y", "n")
    assert completed["copyright_year"] == this_year()


@pytest.mark.parametrize("content", ["parameters: [", "- 1", "parameters: {commodore: 3}"])
def test_unreadable_class_files_only_make_the_guess_worse(tmp_path: Path, content: str) -> None:
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "foo.yml").write_text(content, encoding="utf-8")
    assert complete({"slug": "foo"}, COMPONENT, tmp_path)["add_pp"] == "n"


def test_stored_names_are_not_trusted(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="test case"):
        complete({"slug": "foo", "test_cases": "../../x"}, COMPONENT, tmp_path)
    with pytest.raises(InputError, match="owner"):
        complete({"slug": "foo", "github_owner": "x/../y"}, COMPONENT, tmp_path)
