"""The descriptions of dry commits."""

from __future__ import annotations

import json

import pytest

from commodore.hydrate.branches.provenance import read_commit, split_message
from commodore.hydrate.model import Reference
from tests.hydrate.conftest import Heard
from tests.world.context import make_context
from tests.world.repos import GitWorld, git

P = "Argocd-reference-commit-"


@pytest.mark.parametrize(
    ("message", "subject", "body"),
    [
        ("one", "one", ""),
        ("one\ntwo\n\nbody\n", "one two", "body\n"),
        ("\n\none\n\n\nbody\n\nmore\n\n", "one", "body\n\nmore\n"),
        ("", "", ""),
    ],
)
def test_messages(message: str, subject: str, body: str) -> None:
    assert split_message(message) == (subject, body)


@pytest.mark.requirement("H29")
def test_a_commit_with_a_reference(world: GitWorld, collected: Heard) -> None:
    """Trailers of the last block are recorded and leave the body; elsewhere they are words."""
    sha = "a" * 40
    body = f"Why.\n\n{P}sha: beef\n\nEnd."
    trailers = [
        f"{P}author: Ada <ada@example.com>",
        f"{P}sha: {sha}",
        f"{P}repourl: https://user:secret@git.example.com/x.git",
        f"{P}body: {json.dumps('all of it')}",
        "Signed-off-by: Jo <jo@example.com>",
    ]
    remote = world.remote("dry", {"a": "1"})
    commit = remote.commit({"a": "2"}, message=f"Subject\n\n{body}\n\n" + "\n".join(trailers) + "\n")
    commit_data = read_commit(remote.path, commit, make_context(collected.append))
    assert commit_data.subject == "Subject"
    assert commit_data.body == f"{body}\n\nSigned-off-by: Jo <jo@example.com>\n"
    assert commit_data.date.endswith("Z")
    url = "https://git.example.com/x.git"
    assert commit_data.reference == Reference("Ada <ada@example.com>", body="all of it", sha=sha, url=url)
    assert collected.codes == []


@pytest.mark.parametrize(
    "trailer", [f"{P}author: nobody", f"{P}sha: beef", f"{P}date: today", f"{P}body: x", f"{P}repourl: git@host:x"]
)
def test_trailers_that_others_could_not_read(world: GitWorld, collected: Heard, trailer: str) -> None:
    remote = world.remote("dry", {"a": "1"})
    commit = remote.commit({"a": "2"}, message=f"Subject\n\n{trailer}\n")
    commit_data = read_commit(remote.path, commit, make_context(collected.append))
    assert commit_data.reference is None
    assert commit_data.body == f"{trailer}\n"
    assert collected.codes == ["CMD-HYD-024"]


@pytest.mark.parametrize(
    ("header", "message", "subject", "reported"),
    [
        (b"", b"a\xffb", "a\ufffdb", True),
        (b"", b"a\0b", "a\ufffdb", True),
        (b"", b"long\n\n" + b"x" * (1 << 20), "long", True),
        (b"encoding ISO-8859-1\n", b"a\xe4b", "a\xe4b", False),
        (b"encoding none-such\n", b"ab", "ab", False),
    ],
    ids=["no text", "nul", "long", "encoding", "unknown encoding"],
)
def test_messages_that_cannot_be_kept(
    world: GitWorld, collected: Heard, header: bytes, message: bytes, subject: str, reported: bool
) -> None:
    remote = world.remote("dry", {"a": "1"})
    tree = git(remote.path, "rev-parse", "HEAD^{tree}").encode()
    who = b"Jo <jo@example.com> 1700000000 +0200\n"
    data = b"tree " + tree + b"\nauthor " + who + b"committer " + who + header + b"\n" + message
    sha = git(remote.path, "hash-object", "-t", "commit", "-w", "--stdin", "--literally", input=data)
    commit = read_commit(remote.path, sha, make_context(collected.append))
    assert (commit.subject, commit.author, commit.date) == (subject, "Jo <jo@example.com>", "2023-11-14T22:13:20Z")
    assert len(commit.body) <= 1 << 20
    assert collected.codes == (["CMD-HYD-027"] if reported else [])
