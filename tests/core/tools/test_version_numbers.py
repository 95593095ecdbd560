"""Versions are compared by their numbers."""

from __future__ import annotations

import pytest

from commodore.base.errors import InputError
from commodore.core.tools import named_version, tool_version

# By the rules of Semantic Versioning 2.0, chapter 11.
ASCENDING = [
    "0.9.9",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.9",
    "1.0.10",
    "1.9.0",
    "1.10.0",
    "10.0.0",
]


def test_order() -> None:
    """Versions were compared as strings."""
    numbers = [named_version(text) for text in ASCENDING]
    numbers.reverse()
    assert [str(number) for number in sorted(numbers)] == ASCENDING


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("v4.1.4", "4.1.4"),
        ("4.1.4", "4.1.4"),
        ("v4.1.4+g05fa379", "4.1.4"),
        ("3.15.4+ds~1", "3.15.4"),
        ("5.7", "5.7.0"),
    ],
)
def test_what_tools_say(said: str, meant: str) -> None:
    assert tool_version(said) == named_version(meant)


@pytest.mark.parametrize("text", [None, "", "unknown", "4", "v", "4.1.4.5", "1.2.3-", "١.٢.٣"])
def test_what_is_no_version(text: str | None) -> None:
    assert tool_version(text) is None


@pytest.mark.parametrize(
    "text", ["", "4", "4.1", "4.1.4\n", "latest", "../4.1.4", "4.1.4+build", "-4.1.4", "v4.1.4/..", f"{'9' * 20}.0.0"]
)
def test_what_users_may_not_name(text: str) -> None:
    with pytest.raises(InputError) as caught:
        named_version(text)
    assert caught.value.code == "CMD-TOOL-006"
