"""Repositories, their URLs, versions, trees and objects; and what is kept of them."""

from __future__ import annotations

import base64
import hashlib
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.base.documents import plain
from commodore.base.errors import CommodoreError, InputError
from commodore.base.events import Announce, Event, Warned, ignore
from commodore.core.sources.git import Checkout, RepositoryStore, check_out
from commodore.core.sources.git.ls_remote import ask
from commodore.core.sources.git.urls import normalize
from tests.attacks.conftest import Witness, holding
from tests.world.cluster import ClusterWorld
from tests.world.context import make_context
from tests.world.git_server import GitServer
from tests.world.loopback import LoopbackHandler, LoopbackServer
from tests.world.repos import GitWorld, Remote, git


@pytest.fixture
def remotes(tmp_path: Path) -> GitWorld:
    return GitWorld(tmp_path / "remotes")


def bring(
    folder: Path, url: str, version: str, *, mirrors: Path | None = None, announce: Announce = ignore
) -> Checkout:
    """Everything that a compile does with a dependency."""
    with RepositoryStore(folder / "repos", make_context(announce), mirrors=mirrors) as store:
        store.sync([(url, version)])
        repository = store.repository(url)
        return check_out(repository, folder / "x", repository.resolve(version))


# URLs and versions


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("ext::sh -c touch% /tmp/x", "CMD-GIT-011"),
        ("fd::17/x", "CMD-GIT-011"),
        ("::https://git.example.com/x", "CMD-GIT-011"),
        ("evil://git.example.com/x", "CMD-GIT-011"),
        ("http::https://git.example.com/x", "CMD-GIT-011"),
        ("-u./evil", "CMD-GIT-010"),
        ("--upload-pack=touch /tmp/x", "CMD-GIT-010"),
        ("-oProxyCommand=touch:x", "CMD-GIT-010"),
        ("ssh://-oProxyCommand=touch/x", "CMD-GIT-010"),
        ("ssh://-oProxyCommand=touch@git.example.com/x", "CMD-GIT-010"),
        ("git@-oProxyCommand=touch:x", "CMD-GIT-010"),
        ("-l@git.example.com:x", "CMD-GIT-010"),
        ("ssh://git@git.example.com/x\n--upload-pack=touch", "CMD-GIT-010"),
        ("https://git.example.com\\@evil.example.com/x", "CMD-GIT-010"),
        ("https://git.example.com/x\0", "CMD-GIT-010"),
        ("file://evil.example.com/x", "CMD-GIT-010"),
        ("../x", "CMD-GIT-010"),
        ("x", "CMD-GIT-010"),
        ("", "CMD-GIT-010"),
    ],
)
def test_a_url_that_is_something_else(tmp_path: Path, url: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        bring(tmp_path / "work", url, "master")
    assert caught.value.code == code
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize(
    "version",
    [
        *("--upload-pack=touch /tmp/x", "-x", "", " ", "\0", "a\nb", "x" * 5000),
        *("@{-1}", "@{u}", "@{push}", "HEAD@{1}", "master@{0}", "@{1 day ago}", "stash@{0}", "FETCH_HEAD"),
        *(":/Change", "^master", "master..master", "master:a", "master^{tree}", "^{/x}", "master^{/(a+)+$}"),
        *("../../x", "refs/../x", "worktrees/x/HEAD", "refs/commodore/discarded/x"),
    ],
)
def test_a_version_that_is_something_else(tmp_path: Path, remotes: GitWorld, version: str) -> None:
    remote = remotes.remote(files={"a": "1"})
    with pytest.raises(InputError) as caught:
        bring(tmp_path / "work", remote.url, version)
    assert caught.value.code in ("CMD-GIT-030", "CMD-GIT-031", "CMD-GIT-032")
    assert len(caught.value.message) < 1000
    assert not (tmp_path / "work" / "x").exists()


@pytest.mark.harmless
@pytest.mark.parametrize("kind", ["heads", "tags"])
def test_a_name_that_is_a_commit_id(tmp_path: Path, remotes: GitWorld, kind: str) -> None:
    """A full id means the commit, whatever has its name."""
    remote = remotes.remote(files={"a": "good"})
    good = remote.sha()
    evil = remote.commit({"a": "evil"}, branch="evil")
    git(remote.path, "update-ref", f"refs/{kind}/{good}", evil)
    assert bring(tmp_path / "work", remote.url, good).sha == good
    assert (tmp_path / "work/x/a").read_text() == "good"


@pytest.mark.harmless
def test_a_tag_with_the_name_of_a_branch(tmp_path: Path, remotes: GitWorld) -> None:
    remote = remotes.remote(files={"a": "good"})
    remote.commit({"a": "evil"}, branch="evil")
    git(remote.path, "update-ref", "refs/tags/master", "evil")
    bring(tmp_path / "work", remote.url, "master")
    assert (tmp_path / "work/x/a").read_text() == "good"


@pytest.mark.parametrize("change", ["moved", "deleted"])
def test_a_tag_that_does_not_stay(tmp_path: Path, remotes: GitWorld, change: str) -> None:
    """One that moved is reported, one that went is an error; what it was is kept."""
    remote = remotes.remote(files={"a": "good"})
    remote.tag("v1")
    good = bring(tmp_path / "work", remote.url, "v1").sha
    remote.commit({"a": "evil"})
    collected: list[Event] = []
    if change == "moved":
        remote.tag("v1")
        bring(tmp_path / "work", remote.url, "v1", announce=collected.append)
        assert [event.code for event in collected if isinstance(event, Warned)] == ["CMD-GIT-022"]
    else:
        remote.delete_tag("v1")
        with pytest.raises(InputError) as caught:
            bring(tmp_path / "work", remote.url, "v1", announce=collected.append)
        assert caught.value.code == "CMD-GIT-030"
    [bare] = (tmp_path / "work" / "repos").rglob("*.git")
    assert good in git(bare, "for-each-ref", "--format=%(objectname)", "refs/commodore")


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("https://git.example.com/x?repo=a", "https://git.example.com/x?repo=b"),
        ("https://git.example.com/x", "https://git.example.com/x?repo=b"),
        ("https://git.example.com/x", "/git.example.com/x"),
        ("https://git.example.com/x", "https://git.example.com/x.git/hooks/y"),
        ("https://git.example.com/x.git/refs/heads/y", "https://git.example.com/x"),
        ("{folder}/plain", "{folder}/plain.git"),
        ("{folder}/plain", "file://{folder}/plain.git"),
    ],
)
def test_two_repositories_that_would_share_a_clone(tmp_path: Path, first: str, other: str) -> None:
    for name in ("plain", "plain.git"):
        (tmp_path / name).mkdir()
    with RepositoryStore(tmp_path / "repos", make_context()) as store:
        store.repository(first.format(folder=tmp_path))
        with pytest.raises(InputError) as caught:
            store.repository(other.format(folder=tmp_path))
    assert caught.value.code == "CMD-GIT-013"


def test_a_repository_in_a_clone_of_the_last_run(tmp_path: Path, remotes: GitWorld) -> None:
    remote = remotes.remote(files={"a": "1"})
    bring(tmp_path / "work", remote.url, "master")
    with pytest.raises(InputError) as caught:
        bring(tmp_path / "work", f"{remote.url}/refs/heads/evil", "master")
    assert caught.value.code == "CMD-GIT-013"


@pytest.mark.harmless
@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("https://git.example.com/x", "https://git.example.com:8443/x"),
        ("https://git.example.com/x", "https://git.example.org/x"),
        ("https://git.example.com/a/b", "https://git.example.com/a%2Fb"),
        ("https://git.example.com/x", "https://git.example.com/X"),
        ("ssh://git@git.example.com/x", "ssh://git@git.example.com:2222/x"),
    ],
)
def test_two_repositories_that_share_no_clone(tmp_path: Path, first: str, other: str) -> None:
    with RepositoryStore(tmp_path / "repos", make_context()) as store:
        assert store.repository(first).path != store.repository(other).path


@pytest.mark.parametrize(
    ("order", "version"),
    [(("x", "x.git"), "master"), (("x.git", "x"), None), (("x", "x.git"), "v1"), (("x.git", "x"), "v1~0")],
)
def test_two_repositories_whose_urls_differ_in_their_ending(
    tmp_path: Path, remotes: GitWorld, order: tuple[str, str], version: str | None
) -> None:
    """A server has different ones at `x` and at `x.git`."""
    for name in ("one", "two"):
        remotes.remote(name, files={"a": name}).tag("v1")
    with GitServer(remotes.root) as server, RepositoryStore(tmp_path / "repos", make_context()) as store:
        server.moved = {"/x": f"{server.site}/one.git", "/x.git": f"{server.site}/two.git"}
        first, second = (f"{server.site}/{name}" for name in order)
        store.sync([(first, version), (second, version)])
        for url in (first, second):
            with pytest.raises(InputError) as caught:
                store.repository(url).resolve(version)
            assert caught.value.code == "CMD-GIT-013"


@pytest.mark.harmless
def test_a_repository_whose_name_gets_another_ending(tmp_path: Path, remotes: GitWorld) -> None:
    """In the next run: what the clone has of the other one does not count."""
    shas = [remotes.remote(name, files={"a": name}).sha() for name in ("one", "two")]
    with GitServer(remotes.root) as server:
        server.moved = {"/x": f"{server.site}/one.git", "/x.git": f"{server.site}/two.git"}
        for name, sha in (("x", shas[0]), ("x.git", shas[1]), ("x", shas[0])):
            assert bring(tmp_path, f"{server.site}/{name}", "master").sha == sha


# Servers


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_redirect_that_would_carry_credentials(status: int, host: str) -> None:
    """The other server asks for them, too."""
    seen: list[str] = []

    class Thief(LoopbackHandler):
        def answer(self) -> None:
            seen.append(str(self.headers))
            self.send(401, {"WWW-Authenticate": "Basic realm=x"})

    with LoopbackServer(Thief) as thief:

        class Lure(LoopbackHandler):
            def answer(self) -> None:
                if "Authorization" not in self.headers:
                    self.send(401, {"WWW-Authenticate": "Basic realm=x"})
                else:
                    self.send(status, {"Location": f"http://{host}:{thief.port}{self.path}"})

        with LoopbackServer(Lure) as lure, pytest.raises(CommodoreError) as caught:
            ask(normalize(f"http://tess:canary@127.0.0.1:{lure.port}/x.git"), make_context())
    assert caught.value.code in ("CMD-GIT-004", "CMD-GIT-005")
    assert "canary" not in str(plain(caught.value))
    secret = base64.b64encode(b"tess:canary").decode()
    assert not [text for text in seen if secret in text or "canary" in text]


@pytest.mark.parametrize(
    "target", ["http://169.254.169.254/x.git", "http://[fd00:ec2::254]/x.git", "http://metadata.google.internal/x.git"]
)
@pytest.mark.parametrize("hops", [0, 1])
def test_a_server_that_redirects_to_its_link(tmp_path: Path, remotes: GitWorld, target: str, hops: int) -> None:
    with GitServer(remotes.root) as server:
        server.moved["/x.git"] = f"{server.site}/y.git" if hops else target
        server.moved["/y.git"] = target
        with pytest.raises(CommodoreError) as caught:
            bring(tmp_path, f"{server.site}/x.git", "master")
    assert caught.value.code == "CMD-CONF-011"


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/x.git", "https://[fe80::1]/x.git", "ssh://git@metadata.google.internal/x.git"]
)
def test_a_repository_on_the_link(tmp_path: Path, url: str) -> None:
    """No address of a network: what answers there are services of the cloud."""
    with pytest.raises(CommodoreError) as caught:
        bring(tmp_path, url, "master")
    assert caught.value.code == "CMD-CONF-011"


# Trees


def plant(remote: Remote, *entries: tuple[str, str, str | bytes]) -> None:
    """A commit on master with entries that git itself would not make: mode, name, and content or object id."""
    lines = []
    for mode, name, content in entries:
        sha = content if isinstance(content, str) else git(remote.path, "hash-object", "-w", "--stdin", input=content)
        lines.append(f"{mode} {name}\0".encode() + bytes.fromhex(sha))
    arguments = ("hash-object", "-t", "tree", "-w", "--literally", "--stdin")
    tree = git(remote.path, *arguments, input=b"".join(lines))
    git(remote.path, "update-ref", "refs/heads/master", git(remote.path, "commit-tree", tree, "-m", "evil"))


@pytest.mark.parametrize("name", [".git", ".GIT", ".Git", "git~1", ".git ", "..", "."])
@pytest.mark.parametrize("kind", ["folder", "file", "link", "submodule"])
def test_a_tree_with_a_repository(tmp_path: Path, remotes: GitWorld, name: str, kind: str) -> None:
    remote = remotes.remote(files={"a": "1"})
    content = b"[core]\n\tfsmonitor = touch /tmp/x\n"
    blob = git(remote.path, "hash-object", "-w", "--stdin", input=content)
    folder = git(remote.path, "mktree", input=f"100644 blob {blob}\tconfig\n".encode())
    mode, value = {
        "folder": ("40000", folder),
        "file": ("100644", blob),
        "link": ("120000", blob),
        "submodule": ("160000", remote.sha()),
    }[kind]
    plant(remote, (mode, name, value))
    with pytest.raises(CommodoreError) as caught:
        bring(tmp_path / "work", remote.url, "master")
    assert caught.value.code == "CMD-GIT-002"
    assert os.listdir(tmp_path / "work" / "x") in ([], [".git"])
    assert (tmp_path / "work" / "x" / ".git").is_file()
    assert holding(b"fsmonitor = touch", [tmp_path / "work"]) == []


@pytest.mark.harmless
def test_a_component_that_is_full_of_programs(world: ClusterWorld, witness: Witness) -> None:
    """Hooks, filters, submodules, and a folder that is a bare repository with a configuration of its own."""
    config = f"[core]\n\tbare = true\n\tfsmonitor = {witness.shell}\n\tsshCommand = {witness.shell}\n\thooksPath = .\n"
    config += f'[filter "evil"]\n\tsmudge = {witness.shell}\n\tclean = {witness.shell}\n[diff]\n\texternal = touch\n'
    hook = f"#!/bin/sh\n{witness.shell}\n"
    files = {
        **{f"hooks/{name}": hook for name in ("post-checkout", "post-merge", "pre-commit", "reference-transaction")},
        **{f"{folder}HEAD": "ref: refs/heads/master\n" for folder in ("", "sub/")},
        **{f"{folder}config": config for folder in ("", "sub/")},
        **{f"{folder}{name}/keep": "" for folder in ("", "sub/") for name in ("objects", "refs")},
        ".gitattributes": "* filter=evil diff=evil merge=evil\n",
        ".gitmodules": '[submodule "s"]\n\tpath = s\n\turl = ext::sh -c evil\n\tupdate = !touch /tmp/x\n',
        ".gitconfig": config,
    }
    remote = world.component("c-evil", files)
    remote.commit({f"sub/{name}": content for name, content in world.component_files("c-evil").items()})
    world.descriptions["c-evil"]["path"] = "sub"
    assert world.compile().code == 0
    remote.commit({"more": "1"})
    result = world.compile("--force")
    assert result.code == 0, result.stderr
    assert not witness.was_written


# Objects


def damage(path: Path, change: Callable[[bytes], bytes]) -> None:
    content = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(change(content))


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda content: content[: len(content) // 2],
    "emptied": lambda content: b"",
    "edited": lambda content: content[:-30] + bytes(30),
    "replaced": lambda content: b"PACK" + bytes(len(content)),
    "edited within": lambda content: content[:1000] + bytes(1000) + content[2000:],
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_server_with_damaged_objects(tmp_path: Path, remotes: GitWorld, change: str) -> None:
    files = {"a": random.Random(1).randbytes(3000).hex(), "b": "y"}
    remote = remotes.remote(files=files)
    git(remote.path, "repack", "-a", "-d", "-q")
    [pack] = (remote.path / "objects" / "pack").glob("*.pack")
    damage(pack, CHANGES[change])
    with pytest.raises(CommodoreError) as caught:
        bring(tmp_path / "work", remote.url, "master")
    assert (caught.value.code, caught.value.exit_code) == ("CMD-GIT-002", 3)  # not 021: our clone is sound
    assert "ask its owners to check" in caught.value.hint
    assert not (tmp_path / "work" / "x").exists()


def renumbered(content: bytes) -> bytes:
    """An index in which two objects have changed places, with the right digest at its end."""
    count = int.from_bytes(content[8 + 255 * 4 : 8 + 256 * 4], "big")
    first = 8 + 256 * 4 + count * 24  # behind the names and the checksums
    item, other = content[first : first + 4], content[first + 4 : first + 8]
    changed = content[:first] + other + item + content[first + 8 : -20]
    return changed + hashlib.sha1(changed, usedforsecurity=False).digest()


@pytest.fixture(scope="module")
def two_kept(clean_session: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[Remote, Path, set[Path]]:
    """A repository; a folder in which it and another one are kept; the files of the other one, relative to that."""
    folder = tmp_path_factory.mktemp("two")
    remotes = GitWorld(folder / "remotes")
    remote, other = remotes.remote("one", {"a": "good", "b": "1"}), remotes.remote("two", {"a": "evil", "b": "2"})
    kept = folder / "kept"
    bring(folder / "first", other.url, "master", mirrors=kept)
    foreign = {path.relative_to(kept) for path in kept.rglob("*.*")}
    bring(folder / "first-too", remote.url, "master", mirrors=kept)
    return remote, kept, foreign


@pytest.mark.harmless
@pytest.mark.parametrize("ending", ["pack", "idx", "json"])
@pytest.mark.parametrize("attack", ["truncated", "edited", "forged", "swapped", "link", "pipe", "folder", "gone"])
def test_a_kept_repository_that_is_not_ours(
    tmp_path: Path, two_kept: tuple[Remote, Path, set[Path]], ending: str, attack: str
) -> None:
    """It counts as missing: the repository is fetched."""
    remote, sound, others = two_kept
    kept = tmp_path / "kept"
    shutil.copytree(sound, kept, symlinks=True)
    files = {path.relative_to(kept) for path in kept.rglob(f"*.{ending}")}
    [foreign] = (kept / path for path in files & others)
    [file] = (kept / path for path in files - others)
    match attack:
        case "forged":
            damage(file, renumbered if ending == "idx" else lambda content: content.replace(b"master", b"evilly"))
        case "swapped":
            damage(file, lambda _: foreign.read_bytes())
        case "link":
            file.unlink()
            file.symlink_to(foreign)
        case "pipe":
            file.unlink()
            os.mkfifo(file)
        case "folder":
            file.unlink()
            file.mkdir()
        case "gone":
            file.unlink()
        case _:
            damage(file, CHANGES[attack])
    bring(tmp_path / "second", remote.url, "master", mirrors=kept)
    assert (tmp_path / "second/x/a").read_text() == "good"
    [bare] = (tmp_path / "second" / "repos").rglob("*.git")
    git(bare, "fsck", "--strict")
