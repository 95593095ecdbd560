"""A real S3-compatible server in a process of its own, and a proxy in front of it that has the faults of networks.

with ObjectServer() as server, TcpProxy(server.port) as proxy:
    server.make_bucket("results")
    proxy.fault = "status 503"
    ...                              # clients use proxy.site
"""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

import requests

_SERVE = """
import logging, sys
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), True)
print(server.port, flush=True)
server.serve_forever()
"""


_SIGNED = {"Authorization": "AWS4-HMAC-SHA256 Credential=x/20260101/r/s3/aws4_request, SignedHeaders=host, Signature=x"}


class ObjectServer:
    """Serves S3 on loopback from `with` to the end of the block. Takes any credentials."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen([sys.executable, "-c", _SERVE], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())
        self.site = f"http://127.0.0.1:{self.port}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        self._process.communicate()

    def kill(self) -> None:
        """End the server at once."""
        self._process.kill()

    def make_bucket(self, name: str) -> None:
        requests.put(f"{self.site}/{name}", timeout=60).raise_for_status()

    def names(self, bucket: str) -> list[str]:
        """The names of the objects in a bucket."""
        return re.findall("<Key>([^<]*)</Key>", requests.get(f"{self.site}/{bucket}", timeout=60).text)

    def read(self, bucket: str, name: str) -> bytes:
        answer = requests.get(f"{self.site}/{bucket}/{name}", headers=_SIGNED, timeout=60)
        answer.raise_for_status()
        return answer.content

    def write(self, bucket: str, name: str, content: bytes) -> None:
        requests.put(f"{self.site}/{bucket}/{name}", data=content, headers=_SIGNED, timeout=60).raise_for_status()


class TcpProxy:
    """Hands bytes between clients and a port on loopback.

    Attributes:
        target: the port; another one counts for connections from then on.
        fault: what happens to each connection: nothing if empty; `refuse` ends it at once, `hang` leaves it without an
            answer, `status N` answers with that, `cut` ends it in the middle of the answer.
        latency: seconds before each answer.
        answers: how many parts of answers there were.
        answered: is called after each, with their number.
        connections: how many there were.
        asked: is called with all that clients send.
    """

    def __init__(self, port: int) -> None:
        self.target = port
        self.fault = ""
        self.latency = 0.0
        self.connections = 0
        self.answered: Callable[[int], None] = lambda number: None
        self.answers = 0
        self.asked: Callable[[bytes], None] = lambda content: None
        self._stopping = threading.Event()
        self._open: list[socket.socket] = []

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.site = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for item in self._open:
            with contextlib.suppress(OSError):
                item.shutdown(socket.SHUT_RDWR)
            item.close()
        self._thread.join()

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(client)
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        fault = self.fault  # which another thread may change
        with contextlib.suppress(OSError):
            if fault == "refuse":
                client.close()
            elif fault.startswith("status"):
                client.recv(1 << 16)
                body = b"SECRET-ECHO"  # servers repeat what they got
                head = f"HTTP/1.1 {fault.split()[1]} x\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
                client.sendall(head.encode() + body)
                client.shutdown(socket.SHUT_WR)
                while client.recv(1 << 16):
                    continue
            elif fault != "hang":
                self._pass_on(client)

    def _pass_on(self, client: socket.socket) -> None:
        try:
            with socket.create_connection(("127.0.0.1", self.target)) as server:
                threading.Thread(target=self._ask, args=(client, server), daemon=True).start()
                while content := server.recv(1 << 16):
                    time.sleep(self.latency)
                    if self.fault == "cut":
                        client.sendall(content[: len(content) // 2])
                        break
                    client.sendall(content)
                    self.answers += 1
                    self.answered(self.answers)
        finally:  # closing alone tells the client nothing while another thread reads from the socket
            client.shutdown(socket.SHUT_RDWR)
            client.close()

    def _ask(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while content := client.recv(1 << 16):
                self.asked(content)
                server.sendall(content)
            server.shutdown(socket.SHUT_WR)
