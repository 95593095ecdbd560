"""Sessions of `requests` for all requests of the program, with connections that can be cut off by a time limit.

Timeouts of sockets apply between two bytes, so a response whose headers arrive slowly could last for ever. Here the
whole response has a time limit: when it is exceeded the connections are shut down, and readers get an end of file.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection

from commodore.core.sources.http.urls import basic
from commodore.version import __version__


class WatchedAdapter(HTTPAdapter):
    """An adapter of requests that tracks its connections."""

    def __init__(self) -> None:
        self._open: weakref.WeakSet[HTTPConnection] = weakref.WeakSet()
        super().__init__()

    @contextlib.contextmanager
    def watched(self, seconds: float) -> Iterator[None]:
        """Shut down all connections if the block takes longer."""
        timer = threading.Timer(seconds, self._cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = self._pools()

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = self._pools()
        return manager

    def _pools(self) -> dict[str, Any]:
        """Return pool classes that register their connections."""
        known = self._open

        class Plain(HTTPConnection):
            def connect(self) -> None:
                known.add(self)
                super().connect()

        class Encrypted(HTTPSConnection):
            def connect(self) -> None:
                known.add(self)
                super().connect()

        class PlainPool(urllib3.HTTPConnectionPool):
            ConnectionCls = Plain

        class EncryptedPool(urllib3.HTTPSConnectionPool):
            ConnectionCls = Encrypted

        return {"http": PlainPool, "https": EncryptedPool}

    def _cut(self) -> None:
        for connection in list(self._open):
            open_socket = connection.sock
            if open_socket is not None:
                with contextlib.suppress(OSError, ValueError):
                    open_socket.shutdown(socket.SHUT_RDWR)


def open_session(adapter: WatchedAdapter) -> requests.Session:
    """Open a session that follows no redirects: the client validates their targets.

    Proxies and certificate authorities of the environment are used; `SSL_CERT_FILE` and `SSL_CERT_DIR` if
    `REQUESTS_CA_BUNDLE` and `CURL_CA_BUNDLE` are not set. Credentials of `.netrc` are never sent.
    """
    session = _Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, adapter)
    session.headers.update({"User-Agent": f"commodore/{__version__}"})
    session.auth = _leave_as_is
    session.verify = os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR") or True
    return session


class _Session(requests.Session):
    """A session that ignores redirects. requests parses them even with `allow_redirects=False` and can raise there."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        return None


def _leave_as_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Authentication that does nothing; having one keeps a session from reading `.netrc`."""
    return request


def netrc_credentials(url: str) -> dict[str, str]:
    """Return the header with the credentials of `.netrc` (or the file NETRC) for the URL's host; empty without them."""
    login = requests.utils.get_netrc_auth(url)
    return basic(*login) if login is not None else {}
