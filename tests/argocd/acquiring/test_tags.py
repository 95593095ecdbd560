"""Git revisions that are ranges of versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.argocd.acquiring import MappedRepository, RepoMap, Repositories
from commodore.argocd.acquiring.tags import is_range, newest_tag
from commodore.base.context import Context
from commodore.base.errors import InputError
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS
from tests.world.repos import git

TAGS = ("v1.0.0", "v1.2.0", "1.3.0-rc.1", "v2.0.0", "chart-1.9.0", "chart-2.1.0", "nightly")


@pytest.mark.parametrize(
    ("requested", "prefix", "tag"),
    [
        ("1.*", "", "v1.2.0"),
        ("^1.0.0", "", "v1.2.0"),
        ("~1.0", "", "v1.0.0"),
        (">=1.0.0", "", "v2.0.0"),
        (">=1.3.0-0 <2.0.0", "", "1.3.0-rc.1"),
        ("*", "", "v2.0.0"),
        ("3.*", "", None),
        ("*", "chart-", "chart-2.1.0"),
        ("1.9.0", "chart-", "chart-1.9.0"),
    ],
)
def test_the_newest_tag_of_a_range(requested: str, prefix: str, tag: str | None) -> None:
    assert is_range(requested, prefix)
    assert newest_tag(TAGS, requested, prefix) == tag


@pytest.mark.parametrize(
    "requested", ["main", "v1.2.0", "1.2.0", "feature/1.x", "0123456789abcdef0123456789abcdef01234567"]
)
def test_what_is_no_range(requested: str) -> None:
    assert not is_range(requested)


def test_repositories_at_ranges(tmp_path: Path) -> None:
    """A branch with that name is used if no tag matches."""
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for number in ("1.0.0", "1.1.0", "2.0.0"):
        (folder / "a").write_text(number, encoding="utf-8")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", number)
        git(folder, "tag", f"v{number}")
    git(folder, "branch", "5.x", "v1.0.0")
    context = Context(ignore, DEFAULT_LIMITS)

    def content(revision: str) -> str:
        repositories = Repositories(
            context, RepoMap([MappedRepository("https://x/y", folder, revision)]), tmp_path / revision
        )
        (tmp_path / revision).mkdir()
        try:
            return (repositories.tree("https://x/y", "").root / "a").read_text(encoding="utf-8")
        finally:
            repositories.close()

    assert [content(revision) for revision in ("1.*", "~1.0.0", "v1.0.0", "main", "5.x")] == [
        "1.1.0",
        "1.0.0",
        "1.0.0",
        "2.0.0",
        "1.0.0",
    ]
    with pytest.raises(InputError) as caught:
        content("7.x")
    assert caught.value.code == "CMD-ARGO-313"
