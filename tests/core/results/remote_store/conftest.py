"""One S3-compatible server for all tests of a process, and a fresh bucket and proxy for each test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.world.object_store import ObjectServer, TcpProxy


@dataclass
class Bucket:
    """A bucket of the server. Clients reach it through the proxy; `read`, `write` and `names` do not."""

    server: ObjectServer
    proxy: TcpProxy
    name: str

    @property
    def url(self) -> str:
        return f"s3://{self.name}/team"

    def names(self) -> list[str]:
        return self.server.names(self.name)

    def read(self, name: str) -> bytes:
        return self.server.read(self.name, name)

    def write(self, name: str, content: bytes) -> None:
        self.server.write(self.name, name, content)


@pytest.fixture(scope="session")
def object_server(clean_session: None) -> Iterator[ObjectServer]:
    with ObjectServer() as server:
        yield server


@pytest.fixture
def bucket(
    object_server: ObjectServer, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bucket]:
    name = f"b{abs(hash(request.node.nodeid)):x}"
    object_server.make_bucket(name)
    with TcpProxy(object_server.port) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.site)
        monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
        monkeypatch.setenv("AWS_REGION", "us-east-1")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "SECRET-ID")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "SECRET-KEY")
        yield Bucket(object_server, proxy, name)
