"""An API server on loopback: objects, versions, pages, watches, and the faults that real ones have.

It knows no schemas and no rights; tests/world/apiserver.py starts a real server.
"""

from __future__ import annotations

import bisect
import contextlib
import copy
import json
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.world.kargo_twin import Denied, Kargo, finish, record

Object = dict[str, Any]
Key = tuple[str, str, str]  # plural, namespace, name

PLURALS = {
    "Application": "applications",
    "Stage": "stages",
    "Freight": "freights",
    "Warehouse": "warehouses",
    "Promotion": "promotions",
}


@dataclass
class Fault:
    """Anything that happens to requests of a verb to a resource: a code, a lost answer, or a wait before the answer.

    `gate` is waited for before the request is carried out, `lost` cuts the connection after it was.
    """

    verb: str
    plural: str
    times: int = 1
    code: int = 0
    message: str = "a fault"
    retry_after: int | None = None
    lost: bool = False
    gate: threading.Event | None = None


@dataclass
class Refusal(Exception):
    code: int
    message: str
    retry_after: int | None = None


class FakeApiServer:
    """The server's state. Everything is under one lock; watches wait on its condition."""

    def __init__(self, kargo: Kargo | None = None) -> None:
        self.kargo = kargo or Kargo()
        self.kargo.get = self._stored
        self.fields: set[str] = set()  # of a Stage's status, that the served schemas have
        self.faults: list[Fault] = []
        self.requests: Counter[tuple[str, str]] = Counter()
        self.refused: list[tuple[str, str, int]] = []
        self.tokens: set[str] = set()
        self._objects: dict[Key, Object] = {}
        self._log: list[tuple[int, str, str, Object]] = []
        self._version = 100
        self._oldest = 0
        self._changed = threading.Condition(threading.RLock())
        self._generation = 0
        self._stopped = False

    # What tests do

    def put(self, *objects: Object) -> None:
        """Store objects, new ones or in place of others."""
        for item in objects:
            self._store(PLURALS.get(item["kind"], item["kind"].lower() + "s"), copy.deepcopy(item))

    def delete(self, plural: str, namespace: str, name: str) -> None:
        with self._changed:
            gone = self._objects.pop((plural, namespace, name))
            self._note("DELETED", plural, gone)

    def all(self, plural: str) -> list[Object]:
        with self._changed:
            return [copy.deepcopy(value) for key, value in sorted(self._objects.items()) if key[0] == plural]

    def fail(self, verb: str, plural: str, **fault: Any) -> Fault:
        """Let the next requests fail; returns the fault, whose `times` may be changed."""
        made = Fault(verb, plural, **fault)
        with self._changed:
            self.faults.append(made)
        return made

    def drop_watches(self) -> None:
        """Cut all watches."""
        with self._changed:
            self._generation += 1
            self._changed.notify_all()

    def compact(self) -> None:
        """Forget what happened so far: watches from before are reported 410."""
        with self._changed:
            self._version += 1
            self._oldest = self._version
            self._log.clear()

    def run_kargo(self, phase: str = "Succeeded") -> None:
        """Let Kargo run all open Promotions, and record them."""
        with self._changed:
            for item in self.all("promotions"):
                if not item.get("status", {}).get("phase"):
                    self._store("promotions", finish(item, phase))
            promotions: dict[str, list[Object]] = defaultdict(list)
            for item in self.all("promotions"):
                promotions[item["spec"]["stage"]].append(item)
            freights = self.all("freights")
            for stage in self.all("stages"):
                after = record(stage, promotions[stage["metadata"]["name"]], freights)
                if after != stage:
                    self._store("stages", after)

    def stop(self) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    # What requests do

    def _stored(self, plural: str, namespace: str, name: str) -> Object | None:
        with self._changed:
            return copy.deepcopy(self._objects.get((plural, namespace, name)))

    def _store(self, plural: str, body: Object) -> Object:
        with self._changed:
            meta = body["metadata"]
            key = (plural, meta.get("namespace", "default"), meta["name"])
            kind = "MODIFIED" if key in self._objects else "ADDED"
            meta.setdefault("uid", f"uid-{plural}-{meta['name']}")
            self._objects[key] = body
            self._note(kind, plural, body)
            return copy.deepcopy(body)

    def _note(self, kind: str, plural: str, body: Object) -> None:
        self._version += 1
        body["metadata"]["resourceVersion"] = str(self._version)
        self._log.append((self._version, kind, plural, copy.deepcopy(body)))
        self._changed.notify_all()

    def _fault(self, verb: str, plural: str) -> Fault | None:
        with self._changed:
            self.requests[verb, plural] += 1
            for fault in self.faults:
                if (fault.verb, fault.plural) == (verb, plural) and fault.times > 0:
                    fault.times -= 1
                    return fault
        return None

    def listed(self, plural: str, namespace: str | None, limit: int, start: int) -> Object:
        with self._changed:
            results = [
                self._objects[key]
                for key in sorted(key for key in self._objects if key[0] == plural and namespace in (None, key[1]))
            ]
            meta: Object = {"resourceVersion": str(self._version)}
            if limit and start + limit < len(results):
                meta["continue"] = str(start + limit)
            expected = results[start : start + limit] if limit else results
            return {"kind": "List", "metadata": meta, "items": expected}

    def events(self, plural: str, namespace: str | None, version: int, seconds: float) -> Iterator[Object]:
        """Everything that a watch sends."""
        end = time.monotonic() + seconds
        with self._changed:
            generation = self._generation
        while True:
            with self._changed:
                if version < self._oldest:
                    yield {"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "too old"}}
                    return
                fresh = self._log[bisect.bisect_right(self._log, version, key=lambda entry: entry[0]) :]
                version = fresh[-1][0] if fresh else version
                if not fresh:
                    if self._stopped or generation != self._generation or time.monotonic() > end:
                        return
                    self._changed.wait(0.5)
                    continue
            for _, kind, changed, body in fresh:
                if changed == plural and namespace in (None, body["metadata"].get("namespace", "default")):
                    yield {"type": kind, "object": body}

    def create(self, plural: str, namespace: str, body: Object, dry_run: bool) -> Object:
        with self._changed:
            body["metadata"].setdefault("namespace", namespace)
            if plural == "promotions":
                try:
                    body = self.kargo.admit(body)
                except Denied as denied:
                    text = f'admission webhook "promotion.kargo.akuity.io" denied the request: {denied.text}'
                    raise Refusal(denied.code, text) from denied
            if (plural, namespace, body["metadata"]["name"]) in self._objects:
                raise Refusal(409, f'{plural} "{body["metadata"]["name"]}" already exists')
            body["metadata"]["creationTimestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            return body if dry_run else self._store(plural, body)

    def change(self, plural: str, namespace: str, name: str, body: Object, replace: bool) -> Object:
        with self._changed:
            before = self._objects.get((plural, namespace, name))
            if before is None:
                raise Refusal(404, f"{plural} {name!r} not found")
            if replace:
                if body["metadata"].get("resourceVersion") != before["metadata"]["resourceVersion"]:
                    raise Refusal(409, "the object has been modified")
                return self._store(plural, body)
            return self._store(plural, {**before, **body})

    def schemas(self) -> Object:
        status: Object = {"properties": {field: {} for field in self.fields}}
        return {"components": {"schemas": {"com.github.akuity.kargo.Stage": {"properties": {"status": status}}}}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # the body is a packet of its own, which would wait for a delayed ACK
    api: FakeApiServer

    def log_message(self, *_: object) -> None:
        pass

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):
            super().handle()

    def do_GET(self) -> None:
        self._do("GET")

    def do_POST(self) -> None:
        self._do("POST")

    def do_PUT(self) -> None:
        self._do("PUT")

    def do_PATCH(self) -> None:
        self._do("PATCH")

    def _do(self, method: str) -> None:
        self.api.tokens.add(self.headers.get("Authorization", "").removeprefix("Bearer "))
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        parts = url.path.strip("/").split("/")
        if parts[0] == "openapi":
            self._answer(200, self.api.schemas())
            return
        rest = parts[2:] if parts[0] == "api" else parts[3:]
        namespace = rest[1] if rest[0] == "namespaces" else None
        plural, *names = rest[2:] if namespace else rest
        name = names[0] if names else ""
        verbs = {"POST": "create", "PUT": "update", "PATCH": "patch"}
        verb = verbs.get(method) or ("watch" if "watch" in query else "get" if name else "list")
        fault = self.api._fault(verb, plural)
        try:
            if fault and fault.gate:
                fault.gate.wait(60)
            if fault and fault.code:
                raise Refusal(fault.code, fault.message, fault.retry_after)
            if verb == "watch":
                self._watch(plural, namespace, query)
                return
            result = self._found(verb, plural, namespace, name, body, query)
        except Refusal as refusal:
            self.api.refused.append((verb, plural, refusal.code))
            status = {"kind": "Status", "code": refusal.code, "message": refusal.message}
            headers = {"Retry-After": str(refusal.retry_after)} if refusal.retry_after is not None else {}
            self._answer(refusal.code, status, headers)
            return
        if fault and fault.lost:
            self.close_connection = True
            self.connection.close()
            return
        self._answer(200, result)

    def _found(
        self, verb: str, plural: str, namespace: str | None, name: str, body: Object, query: dict[str, str]
    ) -> Object:
        api = self.api
        if verb == "list":
            return api.listed(plural, namespace, int(query.get("limit", 0)), int(query.get("continue", 0)))
        assert namespace is not None
        if verb == "get":
            result = api._stored(plural, namespace, name)
            if result is None:
                raise Refusal(404, f"{plural} {name!r} not found")
            return result
        if verb == "create":
            return api.create(plural, namespace, body, "dryRun" in query)
        return api.change(plural, namespace, name, body, verb == "update")

    def _watch(self, plural: str, namespace: str | None, query: dict[str, str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        version, seconds = int(query["resourceVersion"]), float(query["timeoutSeconds"])
        self.wfile.flush()
        for event in self.api.events(plural, namespace, version, seconds):
            line = json.dumps(event).encode() + b"\n"
            self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def _answer(self, code: int, body: Object, headers: dict[str, str] | None = None) -> None:
        content = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


@dataclass
class Running:
    """A server that listens, and the kubeconfig for it."""

    api: FakeApiServer
    port: int
    kubeconfig: Path
    _server: ThreadingHTTPServer = field(repr=False)

    def restart(self) -> None:
        """Cut all connections; the state stays."""
        self.api.drop_watches()


@contextlib.contextmanager
def serving(folder: Path, api: FakeApiServer | None = None) -> Iterator[Running]:
    """Serve on loopback until the block ends."""
    api = api or FakeApiServer()
    handler = type("Handler", (_Handler,), {"api": api})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.request_queue_size = 64
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    port = int(server.server_address[1])
    kubeconfig = folder / f"kubeconfig-{port}"
    kubeconfig.write_text(json.dumps(kubeconfig_for(f"http://127.0.0.1:{port}")), encoding="utf-8")
    try:
        yield Running(api, port, kubeconfig, server)
    finally:
        api.stop()
        server.shutdown()
        server.server_close()
        thread.join()


def kubeconfig_for(server: str, token: str = "", namespace: str = "observer", **cluster: Any) -> Object:
    """A kubeconfig with one context."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "test", "user": {"token": token} if token else {}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test", "namespace": namespace}}],
        "current-context": "test",
    }


def wait_until(holds: Callable[[], Any], seconds: float = 60) -> Any:
    """Wait for something to become true; returns it."""
    end = time.monotonic() + seconds
    while not (result := holds()):
        if time.monotonic() > end:
            raise AssertionError(f"did not come true: {holds}")
        time.sleep(0.02)
    return result


def names(objects: Iterable[Object]) -> list[str]:
    return [str(item["metadata"]["name"]) for item in objects]
