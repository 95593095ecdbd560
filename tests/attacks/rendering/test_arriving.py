"""Everything that a dependency brings along: links, submodules, archives; and where it lands."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import CommodoreError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.confinement import TrustPolicy
from commodore.core.engine.kapitan.fetch_git import _update_submodules
from commodore.core.sources.fetching import Downloads
from commodore.core.sources.fetching.archives import unpack
from commodore.core.sources.fetching.web import get_download
from tests.attacks.conftest import Secret, Witness
from tests.core.engine.world import World, jsonnet
from tests.world.context import make_context
from tests.world.lieutenant import LieutenantServer, Reply
from tests.world.loopback import LoopbackHandler, LoopbackServer
from tests.world.repos import Content, GitWorld, Link, git

FEW = replace(DEFAULT_LIMITS, archive_members=1000, archive_bytes=1 << 20)


def depend(world: World, dependency: dict[str, Any]) -> None:
    """An instance that would put what it finds into its output."""
    world.add("a", jsonnet("dependencies/a/main.jsonnet"), kapitan={"dependencies": [dependency]})
    world.write("dependencies/a/main.jsonnet", "{ a: { kind: 'X', text: importstr 'f/link' } }")


def of_git(source: str, **fields: Any) -> dict[str, Any]:
    return {"type": "git", "source": source, "output_path": "dependencies/a/f", **fields}


LINKS: dict[str, dict[str, Content]] = {
    "absolute": {"sub/link": Link("@")},
    "through a folder": {"sub/folder": Link("@/.."), "sub/link": Link("folder")},
    "of the machine": {"sub/link": Link("/proc/self/environ")},
    "climbing": {"sub/link": Link("../../../../../../../../../../../../../../../etc/passwd")},
    "to git's configuration": {"sub/link": Link("../.git/config")},
}
CIRCLES: dict[str, dict[str, Content]] = {
    "circle": {"sub/link": "", "sub/again": Link(".")},
    "circle upwards": {"sub/link": "", "sub/deep/again": Link("../..")},
    "many": {f"{n}/{letter}": Link(f"../{n + 1}") for n in range(30) for letter in "ab"} | {"30/link": ""},
}


@pytest.mark.parametrize("name", LINKS)
@pytest.mark.parametrize("fields", [{"ref": "master"}, {"ref": "master", "subdir": "sub"}, {"ref": "master~0"}])
def test_a_link_in_a_repository(
    world: World, tmp_path: Path, secret: Secret, name: str, fields: dict[str, str]
) -> None:
    """Kapitan copies what links lead to. The last ref is one that takes a whole clone."""
    files = {
        path: Link(content.target.replace("@", str(secret.path))) if isinstance(content, Link) else content
        for path, content in LINKS[name].items()
    }
    remote = GitWorld(tmp_path / "remotes").remote("evil", {"sub/file": "1", **files})
    depend(world, of_git(remote.url, **fields))
    error = world.fail_once()
    assert (error.code, error.exit_code) in [("CMD-CONF-001", 4), ("CMD-CONF-002", 4)]
    assert secret.is_in(world.root) == []
    assert not (world.root / "dependencies/a/f").exists()


@pytest.mark.parametrize("name", CIRCLES)
def test_links_that_multiply(world: World, tmp_path: Path, name: str) -> None:
    """All of them are copied, again and again."""
    remote = GitWorld(tmp_path / "remotes").remote("evil", CIRCLES[name])
    depend(world, of_git(remote.url, ref="master"))
    error = world.fail_once()
    assert (error.code, error.exit_code) == ("CMD-ENG-060", 4)
    assert not (world.root / "dependencies/a/f").exists()


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("ext::sh -c touch% @", "CMD-GIT-011"),
        ("fd::17/x", "CMD-GIT-011"),
        ("evil://x", "CMD-GIT-011"),
        ("--upload-pack=touch @", "CMD-GIT-010"),
        ("-oProxyCommand=touch @:x", "CMD-GIT-010"),
        ("git@-oProxyCommand=touch:x", "CMD-GIT-010"),
        ("ssh://-oProxyCommand=touch/x", "CMD-GIT-010"),
        ("private", "CMD-GIT-010"),
        ("file:///srv/private", "CMD-CONF-011"),
        ("/srv/private", "CMD-CONF-011"),
        ("http://127.0.0.1:9/x", "CMD-CONF-011"),
        ("https://169.254.169.254/x", "CMD-CONF-011"),
        ("https://evil.example.org/x", "CMD-CONF-012"),
    ],
)
def test_a_submodule(tmp_path: Path, witness: Witness, url: str, code: str) -> None:
    """The repository comes from a server; its submodules say by themselves where they come from."""
    remote = GitWorld(tmp_path / "remotes").remote("evil", {"a": "1"})
    modules = f'[submodule "s"]\n\tpath = s\n\turl = "{url.replace("@", str(witness.path), 1)}"\n'
    remote.commit({".gitmodules": modules})
    listing = git(remote.path, "ls-tree", "master") + f"\n160000 commit {remote.sha()}\ts\n"
    commit = git(remote.path, "commit-tree", git(remote.path, "mktree", input=listing.encode()), "-m", "evil")
    git(remote.path, "update-ref", "refs/heads/master", commit)
    tree = remote.clone(tmp_path / "tree")
    with pytest.raises(CommodoreError) as caught:
        _update_submodules(
            tree, "https://git.example.com/x.git", make_context(), TrustPolicy(hosts=("git.example.com",))
        )
    assert caught.value.code == code
    assert not witness.was_written
    assert list((tree / "s").iterdir()) == []


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("ext::sh -c touch% @", "CMD-GIT-011"),
        ("evil::x", "CMD-GIT-011"),
        ("evil://x/y", "CMD-GIT-011"),
        ("git@-oProxyCommand=touch:x", "CMD-GIT-010"),
        ("ssh://-oProxyCommand=touch/x", "CMD-GIT-010"),
        ("--upload-pack=touch", "CMD-ENG-025"),
    ],
)
def test_a_source_that_is_a_command(world: World, witness: Witness, source: str, code: str) -> None:
    world.tool("git-remote-evil", witness.shell)
    depend(world, of_git(source.replace("@", str(witness.path), 1) if "::" in source else source))
    assert world.fail_once().code == code
    assert not witness.was_written


@pytest.mark.parametrize("ref", ["--upload-pack=x", "-b", "@{-1}", "HEAD@{1}", "master:a", ":/x", "^master", ".."])
def test_a_ref_that_is_something_else(world: World, tmp_path: Path, ref: str) -> None:
    remote = GitWorld(tmp_path / "remotes").remote("evil", {"a": "1"})
    depend(world, of_git(remote.url, ref=ref))
    assert world.fail_once().code in ("CMD-ENG-025", "CMD-ENG-028")
    assert not (world.root / "dependencies/a/f").exists()


# Archives


def tarred(*members: tuple[str, bytes | dict[str, Any]], compressed: bool = True) -> bytes:
    """A tar archive of files, and of members with other attributes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz" if compressed else "w") as archive:
        for name, what in members:
            member = tarfile.TarInfo(name)
            for attribute, value in what.items() if isinstance(what, dict) else [("size", len(what))]:
                setattr(member, attribute, value)
            archive.addfile(member, None if isinstance(what, dict) else io.BytesIO(what))
    return buffer.getvalue()


def zipped(*names: str, content: bytes = b"x") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, content)
    return buffer.getvalue()


def header(kind: bytes, size: int) -> bytes:
    """A header that announces a long text, and nothing behind it."""
    member = tarfile.TarInfo("x")
    member.type, member.size = kind, size
    return gzip.compress(member.tobuf(tarfile.GNU_FORMAT))


def changed(content: bytes, *places: tuple[bytes, int, int]) -> bytes:
    """A byte behind each mark is another one."""
    result = bytearray(content)
    for mark, offset, value in places:
        result[result.find(mark) + offset] = value
    return bytes(result)


LOCAL, CENTRAL = b"PK\x03\x04", b"PK\x01\x02"
MIXED = tarred(("a", b"some text"), ("b", bytes(range(256)) * 40), compressed=False)
LEAVES, DAMAGED, MUCH = "CMD-ENG-030", "CMD-ENG-031", "CMD-ENG-032"
ARCHIVES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "climbs": (LEAVES, lambda: tarred(("../x", b"x"))),
    "climbs later": (LEAVES, lambda: tarred(("a/../../x", b"x"))),
    "absolute": (LEAVES, lambda: tarred(("/tmp/commodore-attack", b"x"))),
    "link out": (LEAVES, lambda: tarred(("l", {"type": tarfile.SYMTYPE, "linkname": "/etc"}))),
    "link up": (LEAVES, lambda: tarred(("l", {"type": tarfile.SYMTYPE, "linkname": "../x"}))),
    "link up and down": (LEAVES, lambda: tarred(("a/l", {"type": tarfile.SYMTYPE, "linkname": "b/../../../x"}))),
    "through a link": (
        LEAVES,
        lambda: tarred(("a/l", {"type": tarfile.SYMTYPE, "linkname": ".."}), ("a/l/x", b"x")),
    ),
    "hard link out": (LEAVES, lambda: tarred(("l", {"type": tarfile.LNKTYPE, "linkname": "../main.jsonnet"}))),
    "pipe": (LEAVES, lambda: tarred(("p", {"type": tarfile.FIFOTYPE}))),
    "device": (LEAVES, lambda: tarred(("d", {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 5}))),
    "block device": (LEAVES, lambda: tarred(("d", {"type": tarfile.BLKTYPE, "devmajor": 8}))),
    "zip climbs": (LEAVES, lambda: zipped("../x")),
    "zip climbs back": (LEAVES, lambda: zipped("..\\x")),
    "zip absolute": (LEAVES, lambda: zipped("/tmp/commodore-attack")),
    "members": (MUCH, lambda: gzip.compress(tarfile.TarInfo("x").tobuf() * 300_000)),
    "zip members": (MUCH, lambda: zipped(*map(str, range(2000)))),
    "bytes": (MUCH, lambda: tarred(("x", bytes(2 << 20)))),
    "zip bytes": (MUCH, lambda: zipped("x", content=bytes(2 << 20))),
    "announced bytes": (MUCH, lambda: header(tarfile.REGTYPE, 1 << 60)),
    "announced header": (MUCH, lambda: header(tarfile.XHDTYPE, 1 << 60)),
    "announced name": (MUCH, lambda: header(tarfile.GNUTYPE_LONGNAME, 1 << 60)),
    "bytes after the end": (MUCH, lambda: gzip.compress(tarred(("x", b"x"), compressed=False) + bytes(2 << 20))),
    "deep": (DAMAGED, lambda: tarred(("/".join(["d" * 200] * 40), b"x"))),
    "long": (DAMAGED, lambda: tarred(("n" * 300, b"x"))),
    "truncated": (DAMAGED, lambda: gzip.compress(MIXED)[:-20]),
    "edited": (DAMAGED, lambda: changed(gzip.compress(MIXED, 0), (b"some text", 2, 0))),
    "file and folder": (DAMAGED, lambda: tarred(("a", b"x"), ("a/b", b"y"))),
    "folder and file": (DAMAGED, lambda: tarred(("a/b", b"x"), ("a", b"y"))),
    "link to nothing": (DAMAGED, lambda: tarred(("a", {"type": tarfile.LNKTYPE, "linkname": "nothing"}))),
    "zip long": (DAMAGED, lambda: zipped("n" * 300)),
    "zip file and folder": (DAMAGED, lambda: zipped("a", "a/b")),
    "zip encrypted": (DAMAGED, lambda: changed(zipped("a"), (LOCAL, 6, 1), (CENTRAL, 8, 1))),
    "zip method": (DAMAGED, lambda: changed(zipped("a"), (LOCAL, 8, 99), (CENTRAL, 10, 99))),
    "zip edited": (DAMAGED, lambda: changed(zipped("a"), (LOCAL, 14, 0), (CENTRAL, 16, 0))),
    "zip truncated": (DAMAGED, lambda: zipped("a", "b")[:-30]),
}


def unpacked(content: bytes, folder: Path) -> list[str]:
    """Anything that is there after an archive was unpacked."""
    file = folder / ("x.zip" if content.startswith(LOCAL) else "x.tar.gz")
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    target = folder / "to" / "here"
    target.mkdir(parents=True)
    (folder / "main.jsonnet").write_text("precious")
    assert unpack(file, target, "application/octet-stream", FEW)
    return sorted(str(path.relative_to(target)) for path in target.rglob("*") if not path.is_dir())


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive(tmp_path: Path, name: str) -> None:
    code, make = ARCHIVES[name]
    with pytest.raises(CommodoreError) as caught:
        unpacked(make(), tmp_path / "work")
    assert caught.value.code == code
    assert {path.name for path in (tmp_path / "work").iterdir()} <= {"to", "main.jsonnet", "x.zip", "x.tar.gz"}
    assert os.listdir(tmp_path / "work" / "to") == ["here"]
    assert not Path("/tmp/commodore-attack").exists()


@pytest.mark.harmless
@pytest.mark.parametrize(
    "content",
    [
        tarred(
            (".git/config", b"[core]"), ("a/.GIT/hooks/post-checkout", b"#!"), ("a/b", b"x"), ("a/.git", b"gitdir:")
        ),
        zipped(".git/config", "a/.git", "a\\.git\\config", "a/b"),
    ],
    ids=["tar", "zip"],
)
def test_an_archive_with_a_repository(tmp_path: Path, content: bytes) -> None:
    """Git would believe its configuration if a component had a submodule in the same place."""
    assert unpacked(content, tmp_path / "work") == ["a/b"]


@pytest.mark.harmless
def test_an_archive_with_the_mode_of_another_user(tmp_path: Path) -> None:
    content = tarred(("run", {"mode": 0o6777, "uid": 0, "gid": 0}), ("shut", {"type": tarfile.DIRTYPE, "mode": 0}))
    unpacked(content, tmp_path / "work")
    assert (tmp_path / "work/to/here/run").stat().st_mode & 0o7777 == 0o755


def test_a_download_that_drips() -> None:
    """Each byte is in time, and the time for all of them is half an hour."""
    limits = replace(DEFAULT_LIMITS, download_timeout=0.1, download_rate=1e6)
    with LieutenantServer() as server:
        server.script(Reply(200, b"x" * 100_000, trickle=0.02))
        with pytest.raises(CommodoreError) as caught:
            get_download(f"{server.url}/x", make_context(limits=limits))
    assert caught.value.code == "CMD-ENG-028"
    assert "comes at less than 1e+06 bytes per second" in caught.value.message


@pytest.mark.harmless
@pytest.mark.parametrize("attack", ["edited", "link", "pipe", "folder"])
def test_a_kept_download_that_is_not_ours(tmp_path: Path, attack: str) -> None:
    """It counts as missing."""
    downloads = Downloads(tmp_path, DEFAULT_LIMITS)
    digest = downloads.add("https://example.com/x", b"good", {})
    assert downloads.find("https://example.com/x", digest) is not None
    [file] = tmp_path.rglob("content")
    file.rename(file.with_name("other"))
    match attack:
        case "edited":
            file.write_bytes(b"evil")
        case "link":
            file.symlink_to(file.with_name("other"))
        case "pipe":
            os.mkfifo(file)
        case _:
            file.mkdir()
    assert downloads.find("https://example.com/x", digest) is None
    assert downloads.last("https://example.com/x") is None


@pytest.mark.parametrize("kind", ["git", "tar", "zip"])
def test_a_place_with_links(world: World, tmp_path: Path, kind: str) -> None:
    """The component brings the link, and its dependency a file that lands behind it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    content = zipped("sub/evil") if kind == "zip" else tarred(("sub/evil", b"x"))

    class Handler(LoopbackHandler):
        def answer(self) -> None:
            self.send(200, {"Content-Type": f"application/{kind if kind == 'zip' else 'gzip'}"}, content)

    with LoopbackServer(Handler) as server:
        source = {"type": "http", "source": f"{server.site}/x.tar.gz", "unpack": True}
        if kind == "git":
            source = of_git(GitWorld(tmp_path / "remotes").remote("evil", {"sub/evil": "x"}).url, ref="master")
        depend(world, {**source, "output_path": "dependencies/a/f"})
        (world.root / "dependencies/a/f").mkdir()
        (world.root / "dependencies/a/f/sub").symlink_to(outside)
        assert world.fail_once().code == "CMD-ENG-033"
    assert list(outside.iterdir()) == []
