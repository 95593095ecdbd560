"""A real Lieutenant API on loopback that can misbehave on purpose.

with LieutenantServer([cluster("c-one")], [tenant("t-one")]) as api:
    api.script(failing(503), times=2)      # fails twice, then works
    ...                                    # use api.url
    assert [r.target for r in api.requests] == ["/clusters/c-one"] * 3
"""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.world.certificates import Certificate
from tests.world.loopback import LoopbackHandler, LoopbackServer, Scripts


def cluster(cluster_id: str = "c-one", tenant_id: str = "t-one", **changes: Any) -> dict[str, Any]:
    """A complete cluster object as the API gives it; `changes` replace top-level keys, a value of `...` removes one."""
    whole = {
        "id": cluster_id,
        "displayName": f"Cluster {cluster_id}",
        "tenant": tenant_id,
        "facts": {"cloud": "cloudscale", "distribution": "k3s", "region": "rma1"},
        "dynamicFacts": {"kubernetesVersion": {"major": "1", "minor": "31"}},
        "gitRepo": {"url": f"ssh://git@git.example.com/catalogs/{cluster_id}.git", "type": "auto"},
        "annotations": {"team": "ops"},
    }
    return {key: value for key, value in (whole | changes).items() if value is not ...}


def tenant(tenant_id: str = "t-one", **changes: Any) -> dict[str, Any]:
    """A complete tenant object as the API gives it; `changes` as for `cluster`."""
    whole = {
        "id": tenant_id,
        "displayName": f"Tenant {tenant_id}",
        "gitRepo": {"url": f"ssh://git@git.example.com/tenants/{tenant_id}.git"},
        "globalGitRepoURL": "https://git.example.com/global/defaults.git",
    }
    return {key: value for key, value in (whole | changes).items() if value is not ...}


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrived. Header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one request. What is left at its default is as the regular answer has it.

    `delay` is slept before the status line, `trickle` before each byte of the body. `cut` closes the connection after
    that many bytes of the body, `drop` before anything is sent. `until` is waited for before the status line.
    """

    status: int | None = None
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    trickle: float = 0.0
    cut: int | None = None
    drop: bool = False
    until: threading.Event | None = None


def failing(status: int, reason: str | None = None, **headers: str) -> Reply:
    """An API error with a JSON body; `retry_after="1"` becomes the header `Retry-After`."""
    body = {} if reason is None else {"reason": reason}
    return answering(body, status=status, **headers)


def answering(value: Any, status: int = 200, **headers: str) -> Reply:
    """This value as JSON."""
    return plain(status, json.dumps(value), content_type="application/json", **headers)


def plain(status: int, text: str, **headers: str) -> Reply:
    """A body that need not be JSON, as proxies and login pages send it."""
    return Reply(status, text.encode(), {name.replace("_", "-").title(): value for name, value in headers.items()})


def redirect(location: str, status: int = 302) -> Reply:
    return Reply(status, b"", {"Location": location})


def slow(seconds: float) -> Reply:
    return Reply(delay=seconds)


def held(until: threading.Event) -> Reply:
    """Answered when this is set."""
    return Reply(until=until)


def truncated(after: int = 5) -> Reply:
    return Reply(cut=after)


def dropped() -> Reply:
    return Reply(drop=True)


class LieutenantServer(LoopbackServer):
    """A Lieutenant API with these clusters and tenants, in its own threads, from `with` to the end of the block.

    Args:
        clusters: cluster objects.
        tenants: tenant objects.
        token: the bearer token asked for; without one everybody is let in.
        oidc: what `GET /` says about logging in.
        certificate: serve https with it.
        prefix: a path in front of all endpoints, such as `/lieutenant`.
    """

    def __init__(
        self,
        clusters: Iterable[Mapping[str, Any]] = (),
        tenants: Iterable[Mapping[str, Any]] = (),
        *,
        token: str | None = None,
        oidc: Mapping[str, Any] | None = None,
        certificate: Certificate | None = None,
        prefix: str = "",
    ) -> None:
        super().__init__(_Handler, certificate)
        self.clusters = [dict(each) for each in clusters]
        self.tenants = [dict(each) for each in tenants]
        self.token = token
        self.oidc = oidc
        self.prefix = prefix
        self.requests: list[Request] = []
        self.reports: list[tuple[str, Any]] = []
        self._scripts: Scripts[Reply] = Scripts()
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """The API's URL, without a slash at its end."""
        return self.site + self.prefix

    def script(self, *replies: Reply, times: float = 1, method: str | None = None, path: str | None = None) -> None:
        """Answer coming requests (of this method and path, or any) by these replies in order, each `times` times.

        `times=math.inf` never ends. When the script is used up the answers are regular again.
        """
        self._scripts.add(replies, times, method, path)

    def reply_to(self, request: Request) -> Reply:
        """The answer to a request, which is remembered."""
        with self._lock:
            self.requests.append(request)
            scripted = self._scripts.take(request.method, request.path) or Reply()
            if scripted.drop or scripted.body is not None:
                return scripted
            regular = self._regular(request)
        return Reply(
            scripted.status or regular.status,
            regular.body,
            {**regular.headers, **scripted.headers},
            scripted.delay,
            scripted.trickle,
            scripted.cut,
            until=scripted.until,
        )

    def _regular(self, request: Request) -> Reply:
        path = request.path.removeprefix(self.prefix)
        if request.method == "GET" and path in ("", "/"):
            return answering({} if self.oidc is None else {"oidc": self.oidc})
        if self.token is not None and request.headers.get("authorization") != f"Bearer {self.token}":
            return failing(401, "missing or malformed token")
        if request.method == "GET" and path == "/clusters/":
            return answering(self._select(parse_qs(urlsplit(request.target).query)))
        if request.method == "GET" and (match := re.fullmatch(r"/(clusters|tenants)/([^/]+)", path)):
            known = self.clusters if match[1] == "clusters" else self.tenants
            return self._one(known, unquote(match[2]))
        if request.method == "POST" and (match := re.fullmatch(r"/clusters/([^/]+)/compileMeta", path)):
            result = self._one(self.clusters, unquote(match[1]))
            if result.status != 200:
                return result
            self.reports.append((unquote(match[1]), json.loads(request.body)))
            return Reply(204, b"")
        return failing(404, "no such endpoint")

    def _select(self, query: Mapping[str, list[str]]) -> list[dict[str, Any]]:
        chosen = [each for each in self.clusters if "tenant" not in query or each.get("tenant") in query["tenant"]]
        if "sort_by" in query:
            chosen.sort(key=lambda each: str(each.get(query["sort_by"][0], "")))
        return chosen

    def _one(self, known: list[dict[str, Any]], expected: str) -> Reply:
        for each in known:
            if each.get("id") == expected:
                return answering(each)
        return failing(404, f'"{expected}" not found')


class _Handler(LoopbackHandler):
    protocol_version = "HTTP/1.1"
    world: LieutenantServer

    def answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path, headers, self.rfile.read(length))
        reply = self.world.reply_to(request)
        self.world.stopping.wait(reply.delay)
        if reply.until is not None:
            reply.until.wait()
        if reply.drop:
            self._end()
            return
        body = reply.body or b""
        self.send_response(reply.status or 200)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.status != 204 and "Transfer-Encoding" not in reply.headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if reply.trickle:
            for byte in body:
                if self.world.stopping.wait(reply.trickle):
                    break
                self.wfile.write(bytes([byte]))
        else:
            self.wfile.write(body if reply.cut is None else body[: reply.cut])
        if reply.cut is not None:
            self._end()

    def _end(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)
