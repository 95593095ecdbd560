"""A release server on loopback: archives with tools that are shell scripts, their checksums, and lists of releases.

with ReleaseServer(tmp_path) as server:
    server.publish("helm", "4.9.0")                  # its mirror layout, with a right checksum
    server.script(truncated(), path=server.archive("helm", "4.9.0"))     # breaks off once, then works
    ...                                              # use server.mirror, server.api
    assert server.asked(server.archive("helm", "4.9.0")) == 2

It speaks https with a throw-away certificate (`server.certificate.chain`), unless `tls` is false.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import platform
import tarfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.world.certificates import make_certificate
from tests.world.loopback import LoopbackHandler, LoopbackServer, Scripts

ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine().lower())
PLATFORM = f"{platform.system().lower()}-{ARCHITECTURE}"
REPOSITORIES = {"helm": "helm/helm", "kustomize": "kubernetes-sigs/kustomize"}
TAGS = {"helm": "v", "kustomize": "kustomize/v"}


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrived. Header names are in lower case."""

    path: str
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one request; what is left at None is as the regular answer has it.

    `cut` closes the connection after that many bytes of the body; with `hold` the server first waits there until
    `let_go`, or until the client is gone. `delay` is waited before anything is sent. Without `sized` there is no
    `Content-Length`.
    """

    status: int | None = None
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: int | None = None
    hold: bool = False
    sized: bool = True


def truncated(after: int = 20) -> Reply:
    return Reply(cut=after)


def failing(status: int, **headers: str) -> Reply:
    """`retry_after="1"` becomes the header `Retry-After`."""
    return Reply(status, b"{}", {name.replace("_", "-").title(): value for name, value in headers.items()})


def redirect(location: str) -> Reply:
    return Reply(302, b"", {"Location": location})


def tool_script(version: str, *, body: str = "") -> str:
    """A tool that says its version, whatever it is asked."""
    return f"#!/bin/sh\n{body}\necho v{version}\n"


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an archive: a file, or another kind with the target of a link."""

    name: str
    content: str = ""
    kind: bytes = tarfile.REGTYPE
    target: str = ""


def pack(*members: Member) -> bytes:
    """A gzipped tar archive, the same bytes each time."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        for member in members:
            info = tarfile.TarInfo(member.name)
            info.type, info.linkname, info.mode, info.size = (
                member.kind,
                member.target,
                0o755,
                len(member.content.encode()),
            )
            archive.addfile(info, io.BytesIO(member.content.encode()))
    return gzip.compress(plain.getvalue(), mtime=0)


def tool_archive(tool: str, version: str, *, body: str = "") -> bytes:
    """The archive as the tool's project makes it, with a text next to the executable."""
    name = f"{PLATFORM}/helm" if tool == "helm" else "kustomize"
    return pack(Member(f"{PLATFORM}/LICENSE", "free\n"), Member(name, tool_script(version, body=body)))


class ReleaseServer(LoopbackServer):
    """Serves from `with` to the end of the block, in threads of its own."""

    def __init__(self, folder: Path, *, tls: bool = True) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        super().__init__(_Handler, make_certificate(folder) if tls else None)
        self.files: dict[str, bytes] = {}
        self.releases: dict[str, list[dict[str, Any]]] = {name: [] for name in REPOSITORIES.values()}
        self.requests: list[Request] = []
        self.holding = threading.Event()
        self.going_on = threading.Event()
        self._scripts: Scripts[Reply] = Scripts()

    @property
    def mirror(self) -> str:
        return f"{self.site}/tools"

    @property
    def api(self) -> str:
        return f"{self.site}/api"

    def archive(self, tool: str, version: str) -> str:
        """The path of an archive on this server."""
        system, _, machine = PLATFORM.partition("-")
        file = f"helm-v{version}-{PLATFORM}" if tool == "helm" else f"kustomize_v{version}_{system}_{machine}"
        return f"/tools/{tool}/v{version}/{file}.tar.gz"

    def checksums(self, tool: str, version: str) -> str:
        """The path of the file with its checksum."""
        archive = self.archive(tool, version)
        return f"{archive}.sha256sum" if tool == "helm" else f"{archive.rpartition('/')[0]}/checksums.txt"

    def publish(self, tool: str, version: str, content: bytes | None = None, *, checksum: str | None = "") -> str:
        """Release a version; returns the SHA-256 of its archive.

        Args:
            checksum: what stands in the file with checksums instead of the right one; None for no such file.
        """
        archive = self.archive(tool, version)
        self.files[archive] = tool_archive(tool, version) if content is None else content
        digest = hashlib.sha256(self.files[archive]).hexdigest()
        if checksum is not None:
            line = f"{checksum or digest}  {archive.rpartition('/')[2]}\n"
            self.files[self.checksums(tool, version)] = f"{'0' * 64}  other.tar.gz\n{line}".encode()
        self.announce(tool, version)
        return digest

    def announce(self, tool: str, version: str, *, tag: str | None = None, **more: Any) -> None:
        """Put a release into the list of releases, the newest first."""
        name = f"{TAGS[tool]}{version}" if tag is None else f"{tag}{version}"
        listed = {"tag_name": name, "draft": False, "prerelease": False, **more}
        self.releases[REPOSITORIES[tool]].insert(0, listed)

    def script(self, *replies: Reply, times: float = 1, path: str | None = None) -> None:
        """Answer coming requests (for this path) by these, each `times` times."""
        self._scripts.add(replies, times, None, path)

    def let_go(self) -> None:
        """Go on with the requests that are held."""
        self.going_on.set()

    def asked(self, path: str) -> int:
        """The number of requests there were for a path."""
        return sum(request.path == path for request in self.requests)

    def reply_to(self, request: Request) -> Reply:
        """The answer to a request, which is remembered."""
        self.requests.append(request)
        regular = self._regular(request.path)
        reply = self._scripts.take("GET", request.path)
        if reply is None:
            return regular
        status = regular.status if reply.status is None else reply.status
        body = regular.body if reply.body is None else reply.body
        return Reply(status, body, reply.headers, reply.delay, reply.cut, reply.hold, reply.sized)

    def _regular(self, path: str) -> Reply:
        if path in self.files:
            return Reply(200, self.files[path])
        for repository, releases in self.releases.items():
            if path == f"/api/repos/{repository}/releases":
                return Reply(200, json.dumps(releases).encode())
        return Reply(404, b'{"message": "Not Found"}')


class _Handler(LoopbackHandler):
    world: ReleaseServer

    def answer(self) -> None:
        world = self.world
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = world.reply_to(Request(urlsplit(self.path).path, headers))
        world.stopping.wait(reply.delay)
        body = reply.body or b""
        self.send_response(reply.status or 200)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.sized:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: reply.cut])
        if reply.hold:
            self.wfile.flush()
            world.holding.set()
            self._wait_for_the_end()

    def _wait_for_the_end(self) -> None:
        """Until the client has closed the connection, or the server may go on."""
        self.connection.settimeout(0.05)
        world = self.world
        while not (world.stopping.is_set() or world.going_on.is_set()):
            try:
                if not self.connection.recv(1):
                    return
            except TimeoutError:
                continue
