"""A real git server on loopback: `git http-backend` behind HTTP, with a password for pushes, and accidents.

with GitServer(folder, password="secret") as server:
    url = f"{server.site}/repository.git"
"""

from __future__ import annotations

import base64
import contextlib
import os
import subprocess
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.world.loopback import LoopbackHandler, LoopbackServer


class GitServer(LoopbackServer):
    """Serves the bare repositories of a folder.

    Args:
        password: what pushes need; empty for nothing.

    Attributes:
        private: whether all need the password.
        asked: method and path of each request.
        logins: the Authorization of each request.
        lost: how many answers to coming pushes are lost after the push was taken.
        moved: the repositories, by path, that it redirects for, with their URLs.
    """

    def __init__(self, root: Path, *, password: str = "") -> None:
        super().__init__(_Handler)
        self.root = root
        self.password = password
        self.private = False
        self.asked: list[tuple[str, str]] = []
        self.logins: list[str] = []
        self.lost = 0
        self.moved: dict[str, str] = {}
        for bare in root.glob("*.git"):
            subprocess.run(["git", "-C", str(bare), "config", "http.receivepack", "true"], check=True)


class _Handler(LoopbackHandler):
    world: GitServer

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = self._chunks()
        parts = urlsplit(self.path)
        self.world.asked.append((self.command, self.path))
        self.world.logins.append(self.headers.get("Authorization", ""))
        for path, url in self.world.moved.items():
            if parts.path.startswith(f"{path}/"):
                self.send(302, {"Location": f"{url}{self.path.removeprefix(path)}"})
                return
        pushing = "git-receive-pack" in self.path
        sent = self.headers.get("Authorization", "").partition(" ")[2]
        known = base64.b64decode(sent).decode().partition(":")[2]
        if (pushing or self.world.private) and self.world.password and known != self.world.password:
            self.send(401, {"WWW-Authenticate": 'Basic realm="git"'})
            return
        environment = {
            **os.environ,
            "GIT_PROJECT_ROOT": str(self.world.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "PATH_INFO": unquote(parts.path),
            "QUERY_STRING": parts.query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "REMOTE_USER": "jo",
            "REMOTE_ADDR": "127.0.0.1",
        }
        done = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True, check=False)
        if pushing and self.command == "POST" and self.world.lost:
            self.world.lost -= 1
            self.close_connection = True
            return
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines() if ": " in line)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # git has read enough
            self.send(int(headers.pop("Status", "200").split(" ")[0]), headers, content)

    def _chunks(self) -> bytes:
        result = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            result += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return result
