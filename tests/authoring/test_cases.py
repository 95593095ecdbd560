"""Selection of test cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.authoring.cases import find_suite
from commodore.base.errors import CommodoreError, Findings, InputError, PolicyError, UsageError
from commodore.base.events import Event, Noted, Warned, ignore
from tests.authoring.suite_world import write
from tests.world.context import make_context


def cruft(*cases: str) -> dict[str, object]:
    return {"context": {"cookiecutter": {"test_cases": " ".join(cases)}}}


def names(folder: Path, *only: str) -> list[str]:
    return [case.name for case in find_suite(folder, only, make_context(announce=ignore)).cases]


def refusal(folder: Path, *only: str) -> CommodoreError:
    with pytest.raises(CommodoreError) as caught:
        find_suite(folder, only, make_context(announce=ignore))
    return caught.value


def test_every_class_file_is_a_case(tmp_path: Path) -> None:
    write(tmp_path, {"tests/b.yml": "", "tests/a.yaml": "", "tests/x.jsonnet": "{}", "tests/.hidden.yml": ""})
    write(tmp_path, {"tests/golden/b/demo/x.yaml": "", "tests/deeper/c.yml": ""})
    assert names(tmp_path) == ["a", "b"]


def test_the_template_names_the_cases(tmp_path: Path) -> None:
    """Cases with golden trees count too, and names without a file do not: real repositories have both."""
    write(tmp_path, {f"tests/{name}.yml": "" for name in ("one", "two", "common")})
    write(tmp_path, {".cruft.json": cruft("one", "gone"), "tests/golden/two/demo/x.yaml": ""})
    collected: list[Event] = []
    suite = find_suite(tmp_path, (), make_context(announce=collected.append))
    assert [case.name for case in suite.cases] == ["one", "two"]
    assert [event.message.split(":")[0] for event in collected if isinstance(event, Noted)] == [
        "tests/common is not a test case"
    ]
    assert names(tmp_path, "common") == ["common"]


def test_golden_tests_are_off_without_any_golden_tree(tmp_path: Path) -> None:
    write(tmp_path, {"tests/a.yml": "", "tests/golden/.new-left/x.yaml": ""})
    assert not find_suite(tmp_path, (), make_context(announce=ignore)).golden_tests
    write(tmp_path, {"tests/golden/b/demo/x.yaml": ""})
    assert find_suite(tmp_path, (), make_context(announce=ignore)).golden_tests


@pytest.mark.parametrize(
    ("folders", "alias"), [([], None), (["demo"], "demo"), (["team"], "team"), (["demo", "team"], None)]
)
def test_the_golden_tree_names_the_instance(folders: list[str], alias: str | None, tmp_path: Path) -> None:
    write(tmp_path, {"tests/a.yml": "", **{f"tests/golden/a/{folder}/x.yaml": "" for folder in folders}})
    (case,) = find_suite(tmp_path, (), make_context(announce=ignore)).cases
    assert case.alias == alias


def test_a_misspelt_name_gets_a_suggestion(tmp_path: Path) -> None:
    write(tmp_path, {"tests/defaults.yml": "", "tests/other.yml": ""})
    error = refusal(tmp_path, "default")
    assert isinstance(error, UsageError)
    assert (error.code, error.hint) == ("CMD-TEST-001", "did you mean 'defaults'?")
    assert refusal(tmp_path, "zzz").hint == "the test cases are defaults, other"


@pytest.mark.parametrize("name", ["../defaults", "/etc/passwd", "golden", "--update"])
def test_a_name_is_no_path(name: str, tmp_path: Path) -> None:
    write(tmp_path, {"tests/defaults.yml": "", "tests/golden/defaults/x.yaml": "", "defaults.yml": ""})
    assert refusal(tmp_path, name).code == "CMD-TEST-001"


def test_no_cases(tmp_path: Path) -> None:
    error = refusal(tmp_path)
    assert isinstance(error, InputError)
    assert error.code == "CMD-TEST-002"
    write(tmp_path, {"tests/a.yml": "", ".cruft.json": cruft("gone")})
    assert refusal(tmp_path).code == "CMD-TEST-002"


def test_a_damaged_cruft_file_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"tests/a.yml": "", ".cruft.json": "{"})
    assert refusal(tmp_path).code == "CMD-TEST-003"
    (tmp_path / ".cruft.json").write_text("[" * 100_000, encoding="utf-8")
    assert refusal(tmp_path).code == "CMD-TEST-003"
    write(tmp_path, {".cruft.json": ["test_cases"]})
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("link", ["tests", "tests/golden", "tests/golden/b", "tests/a.yml"])
def test_links_that_lead_out_are_refused(link: str, tmp_path: Path) -> None:
    repository, outside = tmp_path / "repository", tmp_path / "outside"
    write(outside, {"a.yml": "", "golden/a/x.yaml": ""})
    if link != "tests":
        write(repository, {"tests/b.yml": ""})
    repository.mkdir(exist_ok=True)
    targets = {"tests/golden": "golden", "tests/golden/b": "golden/a", "tests/a.yml": "a.yml"}
    (repository / link).parent.mkdir(exist_ok=True)
    (repository / link).symlink_to(outside / targets.get(link, ""))
    error = refusal(repository)
    for cause in error.errors if isinstance(error, Findings) else (error,):
        assert (type(cause), cause.code) == (PolicyError, "CMD-TEST-004")


def test_a_golden_tree_without_a_case_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"tests/a.yml": "", "tests/golden/a/x.yaml": "", "tests/golden/old/x.yaml": ""})
    collected: list[Event] = []
    find_suite(tmp_path, (), make_context(announce=collected.append))
    assert [event.code for event in collected if isinstance(event, Warned)] == ["CMD-TEST-005"]
    collected.clear()
    find_suite(tmp_path, ("a",), make_context(announce=collected.append))
    assert collected == []
