"""Sessions of `requests` as all requests of the program use them, and connections that can be cut from outside.

Time limits of sockets count from byte to byte, so an answer whose headers drip would last for ever. Here a whole answer
has one: when it is over the connections are shut down, and readers get an end of file.
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
    """An adapter of requests that knows its connections."""

    def __init__(self) -> None:
        self._open: weakref.WeakSet[HTTPConnection] = weakref.WeakSet()
        super().__init__()

    @contextlib.contextmanager
    def watched(self, seconds: float) -> Iterator[None]:
        """Cut all connections if what is done here takes longer."""
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
        """Pools whose connections are remembered from their making."""
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
            found = connection.sock
            if found is not None:
                with contextlib.suppress(OSError, ValueError):
                    found.shutdown(socket.SHUT_RDWR)


def open_session(adapter: WatchedAdapter) -> requests.Session:
    """A session that follows no redirects: where they may lead is for the client to decide.

    The environment counts where it says how to reach a server: proxies and certificate authorities, of which
    `SSL_CERT_FILE` and `SSL_CERT_DIR` are used if `REQUESTS_CA_BUNDLE` and `CURL_CA_BUNDLE` are not set. It does not
    count where it says who we are: an entry in `.netrc` is never sent.
    """
    session = _Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, adapter)
    session.headers.update({"User-Agent": f"commodore/{__version__}"})
    session.auth = _leave_as_is
    session.verify = os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR") or True
    return session


class _Session(requests.Session):
    """requests looks into redirects even with `allow_redirects=False`; a malformed one must not raise there."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        return None


def _leave_as_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Having an authentication of its own keeps a session from looking into `.netrc`."""
    return request


def netrc_credentials(url: str) -> dict[str, str]:
    """The header for what `.netrc` (or the file that NETRC names) has for the URL's host; empty if that is nothing."""
    found = requests.utils.get_netrc_auth(url)
    return basic(*found) if found is not None else {}
