"""Clusters of a fleet on a second machine, with a store of results that is killed while they are compiled."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from commodore.core.results.remote_store import new_key, read_signer
from tests.world.many_clusters import FleetWorld
from tests.world.object_store import ObjectServer, TcpProxy


@pytest.mark.requirement("FC2", "FC7", "FC13")
def test_a_store_that_is_killed_in_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that it gave before is used, the rest is rendered: the catalogs are the same, and a warning says so
    once.
    """
    (tmp_path / "key").write_bytes(new_key())
    (tmp_path / "trust").write_text(read_signer(tmp_path / "key").trust_line)
    world = FleetWorld(tmp_path / "world", 3)
    with ObjectServer() as server, TcpProxy(server.port) as proxy:
        server.make_bucket("results")
        environment = {
            "AWS_ENDPOINT_URL": proxy.site,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "SECRET-ID",
            "AWS_SECRET_ACCESS_KEY": "SECRET-KEY",
            "COMMODORE_CACHE_URL": "s3://results/fleet",
            "COMMODORE_CACHE_TRUST": str(tmp_path / "trust"),
        }
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "first"))
        first = world.cli("--cache-mode", "write", "--cache-key", str(tmp_path / "key"))
        assert first.code == 0, first.stderr
        assert len(server.names("results")) >= 4  # a list of reads, and a result for each cluster

        shutil.rmtree(world.root / "work")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "second"))
        last = proxy.answers + 2
        proxy.answered = lambda number: server.kill() if number == last else None
        second = world.cli("--push")
    assert second.code == 0, second.stderr
    warned = [
        event for event in map(json.loads, second.stderr.splitlines()) if event.get("code", "") == "CMD-CACHE-020"
    ]
    assert len(warned) == 1
    assert "SECRET" not in first.stderr + first.stdout + second.stderr + second.stdout
    monkeypatch.setenv("COMMODORE_CACHE_MODE", "off")
    for name in world.names:
        assert world.files(name) == world.single(name)
        assert world.commits(name) == 1


@pytest.mark.requirement("FC7")
def test_clusters_with_secrets_are_taken_from_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with an empty cache renders nothing, though each cluster has ref files of its own; no write fails."""
    world = FleetWorld(tmp_path / "world", 2)
    secret = "?{vaultkv:${cluster:tenant}/${cluster:name}/app/password}"
    vault = {"vault_addr": "https://vault.example.com", "vault_mount": "kv"}
    text = yaml.safe_dump({"parameters": {"app": {"data": {"password": secret}}, "secret_management": vault}})
    world.world.tenant_config.commit({f"{name}.yml": text for name in world.names})
    monkeypatch.setenv("COMMODORE_CACHE_URL", (tmp_path / "store").as_uri())
    trees: list[dict[str, str]] = []
    for machine, mode, rendered in (("first", "write", 2), ("second", "read", 0)):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / machine))
        done = world.cli("--cache-mode", mode, "-o", "json")
        assert done.code == 0, done.stderr
        assert "CMD-CACHE-020" not in done.stderr
        clusters = json.loads(done.stdout)["clusters"]
        assert sum(cluster["instances"]["rendered"] for cluster in clusters) == rendered
        trees.append({cluster["id"]: cluster["tree"] for cluster in clusters})
        shutil.rmtree(world.root / "work")
    assert trees[0] == trees[1]
