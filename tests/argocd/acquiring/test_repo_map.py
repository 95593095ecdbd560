"""Folders that replace repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.argocd.acquiring import MappedRepository, Providers, RepoMap, parse_repo_map, repository_identity
from commodore.base.errors import CommodoreError, UsageError
from tests.argocd.conftest import Argo


@pytest.mark.requirement("D35")
def test_equal_repositories() -> None:
    for group in (
        ["https://git.example.com/a/b", "https://git.example.com/a/b.git", "https://x:y@GIT.example.com/A/b.git/"],
        ["git@git.example.com:a/b.git", "ssh://git@git.example.com/a/b", "git.example.com:a/b"],
    ):
        assert len({repository_identity(url) for url in group}) == 1
    assert repository_identity("https://a/b") != repository_identity("https://a/c")


def test_entries(tmp_path: Path) -> None:
    repo_map = RepoMap(parse_repo_map([f"https://a/b?x=1={tmp_path}", f"https://a/c={tmp_path}#v1"]))
    entry = repo_map.find("https://a/c.git")
    assert entry is not None
    assert (entry.folder, entry.revision) == (tmp_path, "v1")
    assert [entry.url for entry in repo_map.unused()] == ["https://a/b?x=1"]


@pytest.mark.requirement("D35")
def test_two_spellings_of_one_repository(tmp_path: Path) -> None:
    """They may have the same folder, but not different ones."""
    (tmp_path / "link").symlink_to(tmp_path)
    texts = [f"https://a/b={tmp_path}", f"https://A/b.git={tmp_path / 'link'}"]
    repo_map = RepoMap(parse_repo_map(texts))
    assert repo_map.find("https://a/B") == MappedRepository("https://a/b", tmp_path)
    assert repo_map.unused() == []

    for other in (f"https://A/b.git={tmp_path.parent}", f"https://A/b.git={tmp_path}#v1"):
        with pytest.raises(UsageError, match="different folders for the repository"):
            parse_repo_map([texts[0], other])


def test_maps_with_other_providers_share_what_was_asked() -> None:
    entries = RepoMap([MappedRepository("https://a/b", Path("/x"))], refresh=["charts"])
    provided = entries.providing(Providers())
    assert provided.find("https://a/b") is not None
    assert entries.unused() == []
    assert (provided.refreshes("charts", 1), entries.refreshes("charts", 1)) == (True, False)


@pytest.mark.parametrize("texts", [["https://a/b"], ["=x"], ["https://a/b=/none"]])
def test_entries_that_are_none(texts: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        parse_repo_map(texts)
    assert caught.value.code == "CMD-ARGO-020"


def test_texts_that_are_no_urls(argo: Argo) -> None:
    """As in repositories that are templates of others."""
    argo.offline = False
    for url in ("<GITOPS_REPO_URL>", "{{metadata.annotations.repo}}", "https://", "cnoe://manifests"):
        with pytest.raises(CommodoreError) as caught:
            argo.objects({"path": "."}, sources=[{"repoURL": url, "path": "."}])
        assert (caught.value.code, url in caught.value.message) == ("CMD-ARGO-320", True)


def test_passwords_are_hidden() -> None:
    with pytest.raises(UsageError) as caught:
        parse_repo_map(["https://user:s3cret@a/b=/none"])
    assert "s3cret" not in str(caught.value)
