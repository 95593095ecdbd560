"""Git servers that send without end, or hardly anything."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from commodore.base.errors import CommodoreError
from commodore.base.limits import Limits
from commodore.core.sources.git import Git
from tests.world.context import make_context
from tests.world.repos import GitWorld, git

SMALL = Limits(git_messages_bytes=1 << 20, git_memory_bytes=16 << 20, git_file_bytes=8 << 20, git_slow_seconds=1)
Story = Callable[[socket.socket], None]
SHA = "1" * 40


def line(text: bytes) -> bytes:
    """A pkt-line."""
    return b"%04x%s" % (len(text) + 4, text)


@contextlib.contextmanager
def serving(story: Story) -> Iterator[int]:
    """A server on loopback that tells this to whoever connects; gives its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, contextlib.suppress(OSError):
                    story(connection)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def endless_refs(connection: socket.socket) -> None:
    connection.recv(4096)
    connection.sendall(line(b"%s refs/heads/a\0side-band-64k\n" % SHA.encode()))
    while True:
        connection.sendall(b"".join(line(b"%s refs/heads/%d\n" % (SHA.encode(), number)) for number in range(1000)))


def by_http(body: Story) -> Story:
    def story(connection: socket.socket) -> None:
        connection.recv(65536)
        kind = b"application/x-git-upload-pack-advertisement"
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\nConnection: close\r\n\r\n")
        connection.sendall(line(b"# service=git-upload-pack\n") + b"0000")
        body(connection)

    return story


def endless_lines(connection: socket.socket) -> None:
    while True:
        connection.sendall(b"".join(line(b"%s refs/heads/%d\n" % (SHA.encode(), number)) for number in range(1000)))


def dripping(connection: socket.socket) -> None:
    for byte in b"0fff" + b"x" * 60:
        connection.sendall(bytes([byte]))
        time.sleep(0.3)


def dripping_after_a_request(connection: socket.socket) -> None:
    connection.recv(4096)
    dripping(connection)


def ask(url: str, folder: Path, limits: Limits = SMALL) -> CommodoreError:
    with pytest.raises(CommodoreError) as caught:
        Git(folder, make_context(limits=limits), about=url).run(["ls-remote", "--", url])
    assert url in caught.value.message
    return caught.value


@pytest.mark.parametrize(("scheme", "story"), [("git", endless_refs), ("http", by_http(endless_lines))])
def test_refs_without_end(scheme: str, story: Story, tmp_path: Path) -> None:
    """Git keeps them all before it writes any."""
    with serving(story) as port:
        error = ask(f"{scheme}://127.0.0.1:{port}/a", tmp_path)
    assert (error.code, error.exit_code) == ("CMD-GIT-006", 4)
    assert "raise git_memory_bytes with COMMODORE_LIMITS" in error.hint


def test_a_question_without_an_answer(tmp_path: Path) -> None:
    """Something arrives all the time, but it does not come to an end."""
    with serving(endless_refs) as port:
        error = ask(f"git://127.0.0.1:{port}/a", tmp_path, Limits(git_question_seconds=0.5))
    assert error.code == "CMD-GIT-003"
    assert "raise git_question_seconds with COMMODORE_LIMITS" in error.hint


@pytest.mark.parametrize(
    ("scheme", "story"), [("http", by_http(dripping)), ("git", dripping_after_a_request)], ids=["http", "git"]
)
def test_a_byte_now_and_then(scheme: str, story: Story, tmp_path: Path) -> None:
    with serving(story) as port:
        error = ask(f"{scheme}://127.0.0.1:{port}/a", tmp_path)
    assert (error.code, error.exit_code) == ("CMD-GIT-007", 3)
    assert "git_slow_seconds" in error.hint


def test_messages_without_end(tmp_path: Path) -> None:
    """Progress messages of a server are written to standard error."""

    def story(connection: socket.socket) -> None:
        connection.recv(4096)
        capabilities = b"%s HEAD\0side-band-64k agent=x\n" % SHA.encode()
        connection.sendall(line(capabilities) + line(b"%s refs/heads/a\n" % SHA.encode()) + b"0000")
        connection.recv(65536)
        connection.sendall(line(b"NAK\n"))
        while True:
            connection.sendall(line(b"\2" + b"x" * 60_000 + b"\n") * 10)

    git(tmp_path, "init", "--quiet")
    with serving(story) as port:
        url = f"git://127.0.0.1:{port}/a"
        fetching = Git(tmp_path, make_context(limits=SMALL), about=url)
        with pytest.raises(CommodoreError) as caught:
            fetching.run(["fetch", url, "HEAD"], settings=["protocol.version=0"])
    assert caught.value.code == "CMD-GIT-006"
    assert "git_messages_bytes" in caught.value.hint


def test_objects_without_end(world: GitWorld, tmp_path: Path) -> None:
    remote = world.remote(files={"a": "".join(map(chr, range(32, 127))) * 10_000})
    git(tmp_path, "init", "--quiet")
    small = Limits(git_file_bytes=2000)
    with pytest.raises(CommodoreError) as caught:
        Git(tmp_path, make_context(limits=small)).run(["fetch", f"file://{remote.path}", "HEAD"])
    assert caught.value.code == "CMD-GIT-006"
    assert "git_file_bytes" in caught.value.hint


@pytest.mark.harmless
def test_a_large_repository_arrives(world: GitWorld, tmp_path: Path) -> None:
    remote = world.remote(files={"a": "a line of text\n" * 100_000})
    git(tmp_path, "init", "--quiet")
    Git(tmp_path, make_context(limits=SMALL)).run(["fetch", f"file://{remote.path}", "HEAD"])
    assert Git(tmp_path, make_context()).run(["cat-file", "-s", "FETCH_HEAD:a"]).text == "1500000"
