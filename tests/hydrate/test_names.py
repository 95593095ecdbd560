"""Branches and paths that may be written to."""

from __future__ import annotations

import pytest

from commodore.base.errors import Location, PolicyError
from commodore.hydrate.branches.layout import check_branch, output_path

PLACE = Location("app.yaml", 1)


@pytest.mark.requirement("H42")
@pytest.mark.parametrize(
    ("path", "normal"),
    [("a", "a"), ("./a", "a"), ("a/", "a"), ("a//b/./c", "a/b/c"), ("a.b/c d", "a.b/c d"), ("ä", "ä")],
)
def test_paths_have_one_form(path: str, normal: str) -> None:
    assert output_path(path, PLACE) == normal


@pytest.mark.requirement("H42")
@pytest.mark.parametrize(
    "path",
    [
        "", ".", "/", "./.", "/a", "..", "a/../b", "a/..", ".git", "a/.GIT", "a/.git ", "git~1/x", ".g\u200cit/hooks",
        "a\\b", "a\nb", "a\0b", "a./b", "a ", "hydrator.metadata/x", ".gitattributes", "x" * 256, "a/" * 1100 + "a",
    ],
)  # fmt: skip
def test_paths_that_lead_elsewhere(path: str) -> None:
    with pytest.raises(PolicyError) as caught:
        output_path(path, PLACE)
    assert caught.value.code == "CMD-HYD-007"


@pytest.mark.requirement("H43")
@pytest.mark.parametrize("branch", ["main", "environments/dev-next", "a.b", "ä"])
def test_branches(branch: str) -> None:
    assert check_branch(branch, PLACE) == branch


@pytest.mark.requirement("H43")
@pytest.mark.parametrize(
    "branch",
    [
        "", "-x", "HEAD", "refs/heads/x", "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "@", "a@{1}",
        "a//b", "/a", "a/", "a.", "a.lock", "a/.b", "a.lock/b", "a\nb", "a\x7fb", "x" * 201,
    ],
)  # fmt: skip
def test_names_that_are_no_branches(branch: str) -> None:
    with pytest.raises(PolicyError) as caught:
        check_branch(branch, PLACE)
    assert caught.value.code == "CMD-HYD-008"
