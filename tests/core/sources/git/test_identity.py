"""Who commits."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.core.sources.git import Author, author_from, identity_environment
from commodore.core.sources.git.identity import FALLBACK_AUTHOR
from tests.core.sources.git.conftest import Heard
from tests.world.context import make_context
from tests.world.repos import git


def named(environment: dict[str, str]) -> set[tuple[str, str]]:
    return {(environment[f"GIT_{role}_NAME"], environment[f"GIT_{role}_EMAIL"]) for role in ("AUTHOR", "COMMITTER")}


def test_both_are_used(collected: Heard, tmp_path: Path) -> None:
    author = author_from("A B", "a@b.c", collected.append)
    assert author == Author("A B", "a@b.c")
    assert named(identity_environment(tmp_path, author, make_context())) == {("A B", "a@b.c")}
    assert collected == []


@pytest.mark.parametrize(("name", "email"), [("A B", None), (None, "a@b.c"), ("A B", ""), ("", "a@b.c")])
def test_one_alone_is_warned_about(collected: Heard, name: str | None, email: str | None) -> None:
    """Giving only one was silently ignored."""
    assert author_from(name, email, collected.append) is None
    assert collected.codes == ["CMD-GIT-053"]


def test_none_is_gits_own_committer(collected: Heard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Author = committer, from the environment first, then from git's configuration, `GIT_CONFIG_GLOBAL` included."""
    assert author_from(None, None, collected.append) is None
    assert collected == []
    monkeypatch.setenv("GIT_COMMITTER_NAME", "Com Mitter")
    monkeypatch.setenv("GIT_COMMITTER_EMAIL", "com@example.com")
    assert named(identity_environment(tmp_path, None, make_context())) == {("Com Mitter", "com@example.com")}
    monkeypatch.delenv("GIT_COMMITTER_NAME")
    monkeypatch.delenv("GIT_COMMITTER_EMAIL")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "own-config"))
    git(tmp_path, "config", "--global", "user.name", "Con Figured")
    git(tmp_path, "config", "--global", "user.email", "con@example.com")
    assert named(identity_environment(tmp_path, None, make_context())) == {("Con Figured", "con@example.com")}


def test_the_fallback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GIT_COMMITTER_NAME")
    monkeypatch.delenv("GIT_COMMITTER_EMAIL")
    git(tmp_path, "config", "--global", "user.useConfigOnly", "true")
    assert named(identity_environment(tmp_path, None, make_context())) == {
        (FALLBACK_AUTHOR.name, FALLBACK_AUTHOR.email)
    }
    assert Author("Commodore", "commodore@syn.tools") == FALLBACK_AUTHOR
