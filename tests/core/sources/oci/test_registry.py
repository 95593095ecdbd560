"""Asking registries, a real one on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.events import ignore
from commodore.base.kubernetes.images import ImageReference
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.sources.oci import Registries, at_version, content_layer, parse_reference
from tests.world.registry import CHART, TOKEN, RegistryServer, digest_of

QUICK = replace(DEFAULT_LIMITS, request_backoff=0.0)


@pytest.fixture
def server() -> Iterator[RegistryServer]:
    with RegistryServer() as registry:
        yield registry


@pytest.fixture
def registries() -> Iterator[Registries]:
    client = Registries(Context(ignore, QUICK, False))
    yield client
    client.close()


def named(server: RegistryServer, rest: str = "team/chart") -> ImageReference:
    return parse_reference(f"oci://{server.name}/{rest}")


def code(call: Any, *arguments: Any) -> str:
    with pytest.raises(CommodoreError) as caught:
        call(*arguments)
    assert TOKEN not in str(caught.value)
    return caught.value.code


def test_tags_of_several_pages_with_a_token(server: RegistryServer, registries: Registries) -> None:
    for tag in ("1.0.0", "1.1.0", "2.0.0_build", "latest", "x"):
        server.push("team/chart", tag, [(CHART, b"c")])
    assert registries.tags(named(server)) == ["1.0.0", "1.1.0", "2.0.0_build", "latest", "x"]
    paths = [path for path, _ in server.asked]
    assert paths.count("/token") == 1
    assert server.asked[0] == ("/v2/team/chart/tags/list", "")


@pytest.mark.parametrize("wants_token", [True, False])
def test_the_content_of_a_version(server: RegistryServer, registries: Registries, wants_token: bool) -> None:
    server.wants_token = wants_token
    digest = server.push("team/chart", "1.0.0_b", [(CHART, b"content"), ("application/other", b"more")])
    reference = named(server).at("1.0.0+b")
    manifest = registries.manifest(reference)
    layer = content_layer(reference, manifest)
    assert manifest.digest == digest
    assert registries.blob(reference, layer, 100) == b"content"
    assert registries.manifest(named(server).at(digest)) == manifest


def test_blobs_elsewhere_are_fetched_without_the_token(server: RegistryServer, registries: Registries) -> None:
    server.push("team/chart", "1", [(CHART, b"content")])
    with RegistryServer() as other:
        other.push("any", "1", [(CHART, b"content")])
        server.blob_site = other.site
        reference = named(server).at("1")
        layer = content_layer(reference, registries.manifest(reference))
        assert registries.blob(reference, layer, 100) == b"content"
        assert [authorization for _, authorization in other.asked] == [""]


def test_what_is_not_there(server: RegistryServer, registries: Registries) -> None:
    server.push("team/chart", "1", [(CHART, b"content")])
    assert code(registries.manifest, named(server).at("2")) == "CMD-OCI-004"
    assert code(registries.tags, named(server, "team/other")) == "CMD-OCI-004"


def test_registries_that_want_credentials(server: RegistryServer, registries: Registries) -> None:
    server.gives_token = False
    server.push("team/chart", "1", [(CHART, b"content")])
    assert code(registries.tags, named(server)) == "CMD-OCI-003"


def test_damaged_content_is_refused(server: RegistryServer, registries: Registries) -> None:
    digest = server.push("team/chart", "1", [(CHART, b"content")])
    reference = named(server).at("1")
    layer = content_layer(reference, registries.manifest(reference))
    server.damage = b" "
    assert code(registries.manifest, named(server).at(digest)) == "CMD-OCI-005"
    assert code(registries.blob, reference, layer, 100) == "CMD-OCI-005"


def test_large_content_is_refused_before_it_is_fetched(server: RegistryServer, registries: Registries) -> None:
    server.push("team/chart", "1", [(CHART, b"x" * 50)])
    reference = named(server).at("1")
    layer = content_layer(reference, registries.manifest(reference))
    before = len(server.asked)
    assert code(registries.blob, reference, layer, 49) == "CMD-OCI-005"
    assert len(server.asked) == before


@pytest.mark.parametrize(
    "changed",
    [{"layers": None}, {"config": []}, {"layers": [{"digest": "sha256:x", "size": 1}]}, {"layers": [{"size": -1}]}],
)
def test_manifests_that_are_none(server: RegistryServer, registries: Registries, changed: dict[str, Any]) -> None:
    server.push("team/chart", "1", [(CHART, b"content")], changed)
    assert code(registries.manifest, named(server).at("1")) == "CMD-OCI-005"


def test_layers_that_are_not_one(server: RegistryServer, registries: Registries) -> None:
    server.push("team/chart", "none", [("application/other", b"c")])
    server.push("team/chart", "two", [(CHART, b"c"), (CHART, b"d")])
    server.push("team/chart", "many", [(CHART, b"c"), *[("application/other", b"%d" % number) for number in range(10)]])
    for tag in ("none", "two", "many"):
        reference = named(server).at(tag)
        assert code(content_layer, reference, registries.manifest(reference)) == "CMD-OCI-006"


def test_offline_no_registry_is_asked(server: RegistryServer) -> None:
    registries = Registries(Context(ignore, QUICK, True))
    assert code(registries.tags, named(server)) == "CMD-OCI-002"
    registries.close()
    assert server.asked == []


def test_answers_that_are_no_json(server: RegistryServer, registries: Registries) -> None:
    server.push("team/chart", "1", [(CHART, b"content")])
    server.repositories["team/chart"].manifests["1"] = b"<html>"
    assert code(registries.manifest, named(server).at("1")) == "CMD-OCI-005"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("oci://ghcr.io/team/chart", "ghcr.io/team/chart"),
        ("Registry.example.com:5000/a/b_c/d--e:v1.2", "registry.example.com:5000/a/b_c/d--e:v1.2"),
        (f"oci://localhost/a@{digest_of(b'')}", f"localhost/a@{digest_of(b'')}"),
        ("oci://ghcr.io/team/chart/", "ghcr.io/team/chart"),
    ],
)
def test_references(text: str, shown: str) -> None:
    assert str(parse_reference(text)) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "chart",
        "oci://ghcr.io",
        "oci://user:secret@ghcr.io/a",
        "oci://ghcr.io/A",
        "oci://ghcr.io/../a",
        "ghcr.io/a:b c",
        "ghcr.io/a@sha256:1",
        "https://ghcr.io/a",
        "ghcr.io/a?x=y",
        "-o/a",
        "ghcr.io/" + "a" * 600,
    ],
)
def test_what_is_no_reference(text: str) -> None:
    with pytest.raises(CommodoreError) as caught:
        parse_reference(text)
    assert caught.value.code == "CMD-OCI-001"
    assert "secret" not in caught.value.message


def test_versions_of_a_reference() -> None:
    reference = parse_reference("oci://ghcr.io/a")
    assert str(reference.at("1.0.0+b")) == "ghcr.io/a:1.0.0_b"
    assert code(at_version, reference, "a b") == "CMD-OCI-001"
    assert json.dumps(str(reference.at(digest_of(b"")))).count("sha256") == 1
