"""`--cache-url` from the command line: what one machine has compiled, another one does not render."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from commodore.base.errors import EnvironmentFault
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.results.remote_store import ReadAccess, RemoteStore, Trust
from tests.core.results.remote_store.conftest import Bucket
from tests.core.results.remote_store.conftest import bucket as bucket
from tests.core.results.remote_store.conftest import object_server as object_server
from tests.world.cluster import ClusterWorld, Result


def notes(result: Result) -> str:
    assert result.code == 0, result.stderr
    events = [json.loads(line) for line in result.stderr.splitlines()]
    return "\n".join(str(event.get("message", "")) for event in events)


@pytest.mark.requirement("FC7", "FC14")
def test_a_second_machine_renders_nothing(tmp_path: Path, bucket: Bucket) -> None:
    """By key and trust file, from environment and options; without the store's credentials in any output."""
    world = ClusterWorld(tmp_path / "world")
    world.component("app", data={"colour": "red"})
    made = world.run("cache", "key", "--new", str(tmp_path / "key.pem"))
    assert made.code == 0, made.stderr
    assert (tmp_path / "key.pem").stat().st_mode & 0o777 == 0o600
    (tmp_path / "trust").write_text(made.stdout)
    world.environment |= {"COMMODORE_CACHE_URL": bucket.url, "COMMODORE_CACHE_TRUST": str(tmp_path / "trust")}
    world.environment["XDG_CACHE_HOME"] = str(tmp_path / "first")

    first = world.compile("-v", "--cache-mode", "write", "--cache-key", str(tmp_path / "key.pem"))
    assert "0 used" in notes(first)
    assert any(name.endswith(".result") for name in bucket.names())

    written = bucket.names()
    world.environment["XDG_CACHE_HOME"] = str(tmp_path / "second")
    second = world.compile("-v")
    assert "2 used, 0 missing, 0 written" in notes(second)
    assert "1 from the cache (1 of them from the remote one)" in second.stdout + notes(second)
    assert bucket.names() == written
    info, verified, pruned = (
        world.run("cache", *words)
        for words in (
            ("info", "--remote"),
            ("verify", "--remote", "-o", "json"),
            ("prune", "--remote", "--all", "--dry-run"),
        )
    )
    assert f"{bucket.url}: {len(written)} objects" in info.stdout
    told = {"url": bucket.url, "objects": len(written), "damaged": [], "not_trusted": []}
    assert json.loads(verified.stdout).items() >= {"dry_run": False, "stores": [told]}.items()
    assert f"would remove {len(written)} objects" in pruned.stdout
    assert bucket.names() == written
    offline = world.compile("-v", "--offline", "--no-cache", "--cache-mode", "off")
    assert "remote cache" not in notes(offline)
    for result in (first, second):
        assert "SECRET" not in result.stdout + result.stderr

    del world.environment["COMMODORE_CACHE_URL"]
    none = world.run("cache", "info", "--remote")
    assert (none.code, "CMD-CACHE-029" in none.stderr) == (2, True)
    refused = world.run("cache", "key", "--new", str(tmp_path / "key.pem"))
    assert refused.code == 3
    assert world.run("cache", "key", str(tmp_path / "key.pem")).stdout == made.stdout


@pytest.mark.requirement("FC7")
@pytest.mark.parametrize(
    "command",
    [
        ("fleet", "compile", "--cluster-file", "component/class/app.yml"),
        ("component", "compile", "component", "--name", "app"),
    ],
)
def test_every_command_that_compiles_takes_a_store(tmp_path: Path, command: tuple[str, ...]) -> None:
    """A store of which it is not said whose results count is refused before anything begins."""
    for name in ("app", "defaults"):
        file = tmp_path / "component" / "class" / f"{name}.yml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("parameters: {}\n")
    done = subprocess.run(
        [sys.executable, "-m", "commodore", "-d", "work", *command, "--cache-url", "s3://bucket"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "CMD-CACHE-023" in done.stderr


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(EnvironmentFault, match="obstore") as caught:
        RemoteStore(ReadAccess(("s3://bucket",), Trust({})), None, DEFAULT_LIMITS)
    assert caught.value.code == "CMD-CACHE-026"
    assert "commodore-catalog[remote-cache]" in caught.value.hint
