"""What a watcher answers over HTTP: whether it is well, its metrics, and requests to look at once."""

from __future__ import annotations

import hmac
import json
import os
import select
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from commodore.base.errors import CommodoreError, EnvironmentFault, UsageError
from commodore.core.sources.git import repository_key
from commodore.hydrate.metrics import Metrics

_LONGEST_BODY = 1 << 20
_PATIENCE = 5.0  # seconds for a request to arrive
_INTERVALS = 3  # a loop that was not seen for so many is not alive
_URLS = ("clone_url", "git_http_url", "git_ssh_url", "ssh_url", "git_url", "html_url", "homepage", "url")
"""Where the push events of forges have the URL of their repository."""


class Bell:
    """Ends a wait, from a signal's handler or another thread."""

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._writing, False)

    def ring(self) -> None:
        """End the wait that goes on, or the next one."""
        with suppress(BlockingIOError):  # it rings already
            os.write(self._writing, b"x")

    def wait(self, seconds: float) -> None:
        """Wait for so long, or until it rings."""
        if select.select([self._reading], [], [], seconds)[0]:
            os.read(self._reading, 1 << 16)

    def close(self) -> None:
        os.close(self._reading)
        os.close(self._writing)


@dataclass
class Watched:
    """The state of a watcher: what the loop tells, and what is asked of it.

    Args:
        interval: seconds between two looks.
        clock: gives seconds that only grow.
        token: what requests for a look must have; empty to refuse them.
        bell: is rung by those that are let in.

    Attributes:
        known: keys of the repositories that were hydrated from or to at the last look.
    """

    interval: float
    clock: Callable[[], float]
    token: str
    bell: Bell
    metrics: Metrics = field(default_factory=Metrics)
    known: frozenset[str] = frozenset()
    _seen: float | None = None
    _ready: bool = False
    _hard: bool = False

    def begin(self) -> bool:
        """A look begins. Returns whether everything is to be rendered."""
        self._seen = self.clock()
        hard, self._hard = self._hard, False
        return hard

    def end(self, known: frozenset[str]) -> None:
        """A look has ended well."""
        self._seen, self.known, self._ready = self.clock(), known, True

    @property
    def is_alive(self) -> bool:
        return self._seen is not None and self.clock() - self._seen <= _INTERVALS * self.interval

    @property
    def is_ready(self) -> bool:
        return self._ready

    def ask(self, content: bytes) -> tuple[int, str]:
        """Answer a request for a look: status and words.

        Args:
            content: empty, `{"repository": URL, "hard": true}`, or the push event of a forge. Only URLs of the
                repository are taken from it; what has changed there, git is asked.
        """
        try:
            data: Any = json.loads(content) if content.strip() else {}
        except ValueError:
            return 400, "the body is no JSON\n"
        if not isinstance(data, dict):
            return 400, "the body is no JSON object\n"
        urls = list(_urls(data.get("repository")))
        if self._ready and urls and not self.known & set(_keys(urls)):
            return 200, "nothing is hydrated from this repository\n"
        self._hard = self._hard or data.get("hard") is True
        self.bell.ring()
        return 202, "looking\n"


def _urls(repository: Any) -> Iterator[str]:
    if isinstance(repository, str):
        yield repository
    elif isinstance(repository, Mapping):
        yield from (value for key in _URLS if isinstance(value := repository.get(key), str))


def _keys(urls: list[str]) -> Iterator[str]:
    for url in urls:
        try:
            yield repository_key(url)
        except CommodoreError:
            continue


def read_address(text: str) -> tuple[str, int]:
    """The host and port of an address such as `:8080` or `0.0.0.0:8080`; without a host it is loopback.

    Raises:
        UsageError: CMD-HYD-090, it is none.
    """
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise UsageError("CMD-HYD-090", f"{text!r} is no address to listen on", hint="give one like :8080")
    return host.strip("[]") or "127.0.0.1", int(port)


@contextmanager
def serving(address: str, watched: Watched) -> Iterator[int]:
    """Answer requests as long as the block runs. The value is the port.

    Raises:
        UsageError: CMD-HYD-090, the address is none.
        EnvironmentFault: CMD-HYD-091, it cannot be listened on.
    """
    try:
        server = _Server(read_address(address), watched)
    except OSError as error:
        raise EnvironmentFault(
            "CMD-HYD-091", f"{address} cannot be listened on: {error.strerror}", hint="choose another address"
        ) from error
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), name="serving", daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], watched: Watched) -> None:
        self.watched = watched
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _PATIENCE
    server_version, sys_version = "commodore", ""

    def do_GET(self) -> None:
        watched = self.server.watched
        if self.path == "/healthz":
            self._state(good=watched.is_alive)
        elif self.path == "/readyz":
            self._state(good=watched.is_ready)
        elif self.path == "/metrics":
            self._send(200, watched.metrics.text(), "text/plain; version=0.0.4; charset=utf-8")
        else:
            self._send(404, "no such page\n")

    def do_POST(self) -> None:
        watched = self.server.watched
        length = self.headers.get("Content-Length", "0")
        given = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.path != "/hydrate":
            self._send(404, "no such page\n")
        elif not watched.token or not hmac.compare_digest(given.encode(), watched.token.encode()):
            self._send(401, "the token is missing or wrong\n")
        elif not length.isdigit() or int(length) > _LONGEST_BODY:
            self._send(413, "the body is too large\n")
        else:
            self._send(*watched.ask(self.rfile.read(int(length))))

    def _state(self, *, good: bool) -> None:
        self._send(200 if good else 503, "ok\n" if good else "not yet\n")

    def _send(self, status: int, text: str, kind: str = "text/plain; charset=utf-8") -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Requests are no news."""
