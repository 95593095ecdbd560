"""Versions and ranges, as charts and targetRevision mean them."""

from __future__ import annotations

import pytest

from commodore.base.values.versions import VersionProblem, find_version, goes_back, is_exact, parse_range, parse_version


@pytest.mark.parametrize(
    ("expected", "fits", "misses"),
    [
        ("^1.2", ["1.2.0", "1.9.9"], ["1.1.9", "2.0.0", "1.3.0-rc.1"]),
        ("~1.2.3", ["1.2.3", "1.2.9"], ["1.3.0", "1.2.2"]),
        ("~1", ["1.9.0"], ["2.0.0"]),
        ("1.x", ["1.0.0", "1.99.0"], ["2.0.0", "0.9.0"]),
        ("*", ["0.0.1", "99.0.0"], ["1.0.0-rc.1"]),
        (">=1 <3", ["1.0.0", "2.9.9"], ["3.0.0", "0.9.9"]),
        ("1.2 - 1.4", ["1.2.0", "1.4.9"], ["1.5.0", "1.1.0"]),
        ("^0.2.3", ["0.2.3", "0.2.9"], ["0.3.0", "0.2.2"]),
        ("^0.0.3", ["0.0.3"], ["0.0.4"]),
        ("!=1.2.3", ["1.2.4"], ["1.2.3", "1.2.4-rc.1"]),
        (">1", ["2.0.0"], ["1.9.9"]),
        (">1.1", ["1.2.0"], ["1.1.9"]),
        ("<=1.2", ["1.2.9", "1.0.0"], ["1.3.0"]),
        ("<1 || >2", ["0.5.0", "3.0.0"], ["1.5.0"]),
        (">=1.2.3-0", ["1.2.3-rc.1", "1.3.0-alpha"], ["1.2.2"]),
        ("1.2.3", ["1.2.3", "1.2.3+build"], ["1.2.4"]),
    ],
)
def test_ranges(expected: str, fits: list[str], misses: list[str]) -> None:
    result = parse_range(expected)
    assert [text for text in fits if parse_version(text) not in result] == []
    assert [text for text in misses if parse_version(text) in result] == []


@pytest.mark.parametrize("text", ["", "banana", ">= <", "1.2.3.4", "^", "|| 1"])
def test_what_is_no_range(text: str) -> None:
    with pytest.raises(VersionProblem):
        parse_range(text)


@pytest.mark.parametrize("text", ["", "x", "1.2.3.4", "1.2.3-01", "-1", "1.2.3-", "v"])
def test_what_is_no_version(text: str) -> None:
    with pytest.raises(VersionProblem):
        parse_version(text)


def test_order_of_versions() -> None:
    texts = [
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
        "1.2",
    ]
    assert sorted(texts, key=parse_version) == texts
    assert parse_version("v1.2") == parse_version("1.2.0+b")


def test_the_highest_version_of_a_range() -> None:
    versions = list(map(parse_version, ["1.9.0", "1.10.0", "2.0.0", "1.11.0-rc.1"]))
    highest = parse_range("1.x").highest(versions)
    assert highest is not None
    assert highest.original == "1.10.0"
    assert parse_range("5.x").highest(versions) is None


@pytest.mark.parametrize("text", ["9" * 5000, "1." + "9" * 5000, ">=" + "9" * 5000, "1||" * 10_000, "*" * 30_000])
def test_long_texts_are_no_range(text: str) -> None:
    with pytest.raises(VersionProblem):
        parse_range(text)


def test_pre_releases_with_many_digits_are_compared_as_texts() -> None:
    assert parse_version("1.0.0-" + "9" * 5000) > parse_version("1.0.0-9")


@pytest.mark.parametrize(
    ("old", "new", "back"),
    [
        ("1.2.3", "1.2.2", True), ("v1.10", "v1.9", True), ("1.9", "1.10", False), ("1.2", "1.2-rc1", True),
        ("abc", "1.2", False), ("20240101", "1.2", False),
        ("8e88487", "4af6692", False), ("20240102", "20240101", True),
        ("2" * 5000, "1" * 5000, False), ("٣", "2", False),
    ],
)  # fmt: skip
def test_versions_that_go_back(old: str, new: str, back: bool) -> None:
    assert goes_back(old, new) is back


@pytest.mark.parametrize(
    ("text", "exact"),
    [("1.2.3", True), ("v1.2.3-rc.1+b", True), ("1.2", False), ("1.2.x", False), ("1.2.3 ", False), ("^1.2.3", False)],
)
def test_exact_versions(text: str, exact: bool) -> None:
    assert is_exact(text) is exact


@pytest.mark.parametrize("value", ["", "latest", "1.2.3.4", "vv1", 1, None, "1e3"])
def test_values_without_a_version(value: object) -> None:
    assert find_version(value) is None
    assert find_version(" v1.2 ") == parse_version("1.2.0")
