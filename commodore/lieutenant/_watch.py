"""Connections that can be cut from outside.

Time limits of sockets count from byte to byte, so an answer whose headers drip would last for ever. Here a whole answer
has one: when it is over the connections are shut down, and whoever reads gets an end of file.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection


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
