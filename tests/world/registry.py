"""A registry of OCI artefacts on loopback: tags in pages, manifests, blobs, tokens."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.world.loopback import LoopbackHandler, LoopbackServer

CHART = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
TOKEN = "token-of-the-registry"


def digest_of(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@dataclass
class _Repository:
    manifests: dict[str, bytes] = field(default_factory=dict)  # by tag and by digest
    blobs: dict[str, bytes] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)


class RegistryServer(LoopbackServer):
    """Serves from `with` to the end of the block.

    Attributes:
        wants_token: whether it takes requests with a token only.
        gives_token: whether its token service gives one.
        login: the Authorization that its token service wants; empty for none.
        page: how many tags one answer lists.
        blob_site: where it redirects to for blobs, if anywhere.
        asked: method, path and Authorization of each request.
    """

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.repositories: dict[str, _Repository] = {}
        self.wants_token = True
        self.gives_token = True
        self.login = ""
        self.page = 2
        self.blob_site = ""
        self.damage = b""
        self.asked: list[tuple[str, str]] = []

    @property
    def name(self) -> str:
        """The registry's name in references."""
        return f"127.0.0.1:{self.port}"

    def push(
        self, repository: str, tag: str, layers: list[tuple[str, bytes]], changed: dict[str, Any] | None = None
    ) -> str:
        """Put an artefact in; returns its digest. `changed` is put into its manifest."""
        hosted = self.repositories.setdefault(repository, _Repository())
        for _, content in [*layers, ("", b"{}")]:
            hosted.blobs[digest_of(content)] = content
        manifest = {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": _described("application/vnd.cncf.helm.config.v1+json", b"{}"),
            "layers": [_described(kind, content) for kind, content in layers],
            **(changed or {}),
        }
        body = json.dumps(manifest).encode()
        hosted.manifests[tag] = hosted.manifests[digest_of(body)] = body
        hosted.tags.append(tag)
        return digest_of(body)


def _described(kind: str, content: bytes) -> dict[str, Any]:
    return {"mediaType": kind, "digest": digest_of(content), "size": len(content)}


class _Handler(LoopbackHandler):
    world: RegistryServer

    def answer(self) -> None:
        address = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(address.query).items()}
        authorization = self.headers.get("Authorization", "")
        self.world.asked.append((address.path, authorization))
        if address.path == "/token":
            self._token(query, authorization)
        elif address.path.startswith("/elsewhere/"):
            self._blob(address.path.rpartition("/")[2])
        elif self.world.wants_token and authorization != f"Bearer {TOKEN}":
            realm = f'Bearer realm="{self.world.site}/token",service="registry"'
            self.send(401, {"WWW-Authenticate": realm})
        else:
            self._registry(address.path, query)

    def _token(self, query: dict[str, str], authorization: str) -> None:
        known = not self.world.login or authorization == self.world.login
        if known and self.world.gives_token and query["scope"].endswith(":pull") and query["service"] == "registry":
            self.send(200, body=json.dumps({"token": TOKEN}).encode())
        else:
            self.send(403)

    def _registry(self, path: str, query: dict[str, str]) -> None:
        name, kind, what = path.removeprefix("/v2/").rsplit("/", 2)
        hosted = self.world.repositories.get(name)
        if hosted is None:
            self.send(404)
        elif (kind, what) == ("tags", "list"):
            self._tags(name, hosted, int(query.get("last", "0")))
        elif kind == "manifests":
            body = hosted.manifests.get(what)
            self.send(404) if body is None else self.send(200, {"Content-Type": _MANIFEST}, body + self.world.damage)
        elif self.world.blob_site:
            self.send(307, {"Location": f"{self.world.blob_site}/elsewhere/{what}"})
        else:
            self._blob(what)

    def _tags(self, name: str, hosted: _Repository, start: int) -> None:
        end = start + self.world.page
        more = {"Link": f'</v2/{name}/tags/list?last={end}>; rel="next"'} if end < len(hosted.tags) else {}
        self.send(200, more, json.dumps({"name": name, "tags": hosted.tags[start:end]}).encode())

    def _blob(self, digest: str) -> None:
        results = [
            repository.blobs[digest] for repository in self.world.repositories.values() if digest in repository.blobs
        ]
        self.send(200, body=results[0] + self.world.damage) if results else self.send(404)
