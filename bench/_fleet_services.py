"""Services of other machines that a run over many clusters uses, to be killed: workers of Dask, a store of results."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from commodore.core.results.remote_store import new_key, read_signer
from tests.world.object_store import ObjectServer, TcpProxy

_BUCKET = "results"
_FAULTS = ("refuse", "status 503", "cut")


class Dask:
    """A scheduler and two workers, each a process of its own."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._file = folder / "scheduler.json"
        self._file.unlink(missing_ok=True)
        self._environment = environment | {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "20"}
        self._folder = folder
        words = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
        self.scheduler = self._start("scheduler", *words)
        self._workers = [self._add_worker() for _ in range(2)]
        self.address = ""
        while not self.address:
            time.sleep(0.05)
            with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):  # it is not written at once
                self.address = str(json.loads(self._file.read_text())["address"])

    def replace_worker(self) -> None:
        """Kill the oldest worker and start another one."""
        end(self._workers.pop(0))
        self._workers.append(self._add_worker())

    def _add_worker(self) -> subprocess.Popen[bytes]:
        words = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--local-directory", str(self._folder))
        return self._start("worker", *words)

    def _start(self, kind: str, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--scheduler-file", self._file, *words]
        null = subprocess.DEVNULL
        return subprocess.Popen(command, env=self._environment, stdin=null, stdout=null, stderr=null, process_group=0)

    def close(self) -> None:
        for worker in (self.scheduler, *self._workers):
            end(worker)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextlib.contextmanager
def dask(folder: Path, environment: dict[str, str]) -> Iterator[Dask]:
    """Dask with two workers on this machine.

    Args:
        folder: where it keeps its files.
    """
    made = Dask(folder, environment)
    try:
        yield made
    finally:
        made.close()


class Store:
    """An S3-compatible server, reached through a network that is slow and fails now and then.

    Args:
        folder: where the keys of the writer are.
    """

    def __init__(self, folder: Path) -> None:
        self._server = ObjectServer().__enter__()
        self._proxy = TcpProxy(self._server.port).__enter__()
        self._proxy.latency = 0.01
        self._server.make_bucket(_BUCKET)
        self._closed = threading.Event()
        self._disturbing: threading.Thread | None = None
        key, trust = folder / "store.pem", folder / "store.trust"
        key.write_bytes(new_key())
        trust.write_text(read_signer(key).trust_line)
        self.environment = {
            "AWS_ENDPOINT_URL": self._proxy.site,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "bench",
            "AWS_SECRET_ACCESS_KEY": "bench",
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
            "COMMODORE_CACHE_URL": f"s3://{_BUCKET}/fleet",
            "COMMODORE_CACHE_MODE": "write",
            "COMMODORE_CACHE_KEY": str(key),
            "COMMODORE_CACHE_TRUST": str(trust),
        }

    @property
    def answers(self) -> int:
        """The number of parts of answers that were passed on."""
        return self._proxy.answers

    def names(self) -> list[str]:
        """The objects of a list that it has."""
        return self._server.names(_BUCKET)

    def restart(self) -> None:
        """Kill the server, and start another one, which is empty."""
        self._server.__exit__(None, None, None)
        self._server = ObjectServer().__enter__()
        self._server.make_bucket(_BUCKET)
        self._proxy.target = self._server.port

    def disturb(self, chance: random.Random) -> None:
        """Let the network fail from now on, for some tenths of a second every few seconds."""

        def work() -> None:
            while not self._closed.wait(own.uniform(0.5, 4)):
                self._proxy.fault = own.choice(_FAULTS)
                self._closed.wait(own.uniform(0.05, 0.3))
                self._proxy.fault = ""

        own = random.Random(chance.random())
        self._disturbing = threading.Thread(target=work, name="faults", daemon=True)
        self._disturbing.start()

    def close(self) -> None:
        self._closed.set()
        if self._disturbing is not None:
            self._disturbing.join()
        self._proxy.__exit__(None, None, None)
        self._server.__exit__(None, None, None)


@contextlib.contextmanager
def store(folder: Path) -> Iterator[Store]:
    """A store of results, whose environment lets runs read and write it."""
    made = Store(folder)
    try:
        yield made
    finally:
        made.close()
