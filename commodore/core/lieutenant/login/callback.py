"""Server of the redirect URI. It accepts one callback: that with the state of this login.

By default it listens on this machine only. All other requests (favicons, scanners, old tabs) are refused without ending
the login.
"""

from __future__ import annotations

import contextlib
import errno
import hmac
import queue
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from commodore.base.errors import EnvironmentFault
from commodore.base.events import Announce, Warned
from commodore.base.limits import Limits
from commodore.core.lieutenant.login import _page
from commodore.core.lieutenant.login.options import LOOPBACK, CallbackSettings
from commodore.core.serving import Handler, Listener

_HOSTS = frozenset({"localhost", *LOOPBACK})


@dataclass(slots=True)
class Callback:
    """The parameters of a callback. The receiver must report the result, so that the browser can show it."""

    code: str = field(repr=False)
    error: str = ""
    description: str = ""
    issuer: str | None = None
    _page: bytes | None = field(default=None, repr=False)
    _decided: threading.Event = field(default_factory=threading.Event, repr=False)
    _shown: threading.Event = field(default_factory=threading.Event, repr=False)

    def succeed(self, limits: Limits) -> None:
        """Show the page of a successful login."""
        self._answer(_page.SUCCESS, limits)

    def fail(self, reason: str, limits: Limits) -> None:
        """Show the reason of a failed login."""
        self._answer(_page.failure(reason), limits)

    def _answer(self, page: bytes, limits: Limits) -> None:
        self._page = page
        self._decided.set()
        self._shown.wait(limits.callback_page_seconds)


class CallbackServer:
    """A server that listens until it is closed; use `listening`."""

    def __init__(self, settings: CallbackSettings, limits: Limits, announce: Announce) -> None:
        self.limits = limits
        self.closed = threading.Event()
        self._announce = announce
        self._state = ""
        self._taken = False
        self._refused = 0
        self._lock = threading.Lock()
        self._arrived: queue.SimpleQueue[Callback] = queue.SimpleQueue()
        self._servers: list[_Listener] = []
        self.port = settings.port
        try:
            for address in settings.addresses():
                self._listen(address, optional=bool(self._servers))
        except BaseException:
            self.close()
            raise

    @property
    def redirect_uri(self) -> str:
        """The only accepted URI; identity providers compare it as text, so it has no slash at the end."""
        return f"http://localhost:{self.port}"

    def start(self, state: str) -> None:
        """Accept requests; the callback is recognized by `state`."""
        self._state = state
        for server in self._servers:
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()

    def wait(self, deadline: float) -> Callback | None:
        """Wait for the callback of this login; None if it has not arrived by `deadline` (monotonic clock)."""
        with contextlib.suppress(queue.Empty):
            return self._arrived.get(timeout=max(0.0, deadline - time.monotonic()))
        return None

    def close(self) -> None:
        """Stop listening, and end requests that wait for a page."""
        self.closed.set()
        for server in self._servers:
            if self._state:
                server.shutdown()
            server.server_close()

    def take(self, state: str, callback: Callback) -> bytes | None:
        """Accept the first callback with the right state, and return None; else return the page for its browser."""
        with self._lock:
            if not hmac.compare_digest(state.encode(errors="replace"), self._state.encode()):
                self._refused += 1
                first = self._refused == 1
            elif self._taken:
                return _page.ANSWERED
            else:
                self._taken = True
                self._arrived.put(callback)
                return None
        if first:
            self._announce(
                Warned(
                    "CMD-LOGIN-024",
                    "a callback of another login was refused",
                    hint="use the link of this login, not an older one; still waiting",
                )
            )
        return _page.OTHER_LOGIN

    def _listen(self, address: str, *, optional: bool) -> None:
        try:
            server = _Listener(address, self.port, self)
        except OSError as error:
            if optional and error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT):
                return  # no IPv6 on this machine
            where = f"port {self.port} of {address}"
            if error.errno == errno.EADDRINUSE:
                raise EnvironmentFault(
                    "CMD-LOGIN-030",
                    f"{where} is in use, so the identity provider's response cannot be received",
                    hint="perhaps another login is waiting; stop the process on the port, choose another port with "
                    "--callback-port if the identity provider allows it, or use --device",
                ) from error
            raise EnvironmentFault(
                "CMD-LOGIN-032",
                f"cannot listen on {where}: {error.strerror or error}",
                hint="choose another address or port with --callback-address and --callback-port, or use --device",
            ) from error
        self._servers.append(server)
        self.port = int(server.server_address[1])


@contextlib.contextmanager
def listening(settings: CallbackSettings, limits: Limits, announce: Announce) -> Iterator[CallbackServer]:
    """Run a callback server during the block.

    Raises:
        UsageError: the settings are invalid.
        EnvironmentFault: the port is in use or not allowed.
    """
    server = CallbackServer(settings, limits, announce)
    try:
        yield server
    finally:
        server.close()


class _Listener(Listener):
    def __init__(self, address: str, port: int, owner: CallbackServer) -> None:
        self.owner = owner
        super().__init__(address, port, _Handler, only_v6=True)


class _Handler(Handler):
    server: _Listener

    def setup(self) -> None:
        self.request.settimeout(self.server.owner.limits.callback_request_seconds)
        super().setup()

    def do_GET(self) -> None:  # noqa: N802 - the name that http.server calls
        try:
            parts = urlsplit(self.path)
            query = parse_qs(parts.query, keep_blank_values=True, max_num_fields=32)
            host = urlsplit(f"//{self.headers.get('Host', '')}").hostname
        except ValueError:
            self._send(400, _page.page("Malformed request", "This is not a response of an identity provider."))
            return
        if parts.path != "/" or host not in _HOSTS:
            self._send(404, _page.page("Nothing here", "Only a response of an identity provider is expected here."))
            return
        owner = self.server.owner
        callback = Callback(
            code=_single(query.get("code")),
            error=_single(query.get("error")),
            description=_single(query.get("error_description")),
            issuer=_single(query.get("iss")) if "iss" in query else None,
        )
        rejection = owner.take(_single(query.get("state")), callback)
        if rejection is not None:
            self._send(400, rejection)
            return
        while not callback._decided.wait(0.1):
            if owner.closed.is_set():
                return
        self._send(200 if callback._page == _page.SUCCESS else 400, callback._page or b"")
        callback._shown.set()

    def _send(self, status: int, body: bytes) -> None:
        self.send(status, _page.HEADERS, body)


def _single(values: Sequence[str] | None) -> str:
    """Return a parameter that occurs exactly once, as RFC 6749 3.1 requires; else an empty string."""
    return values[0] if values and len(values) == 1 else ""
