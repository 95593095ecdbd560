"""The script that checks and extends the table of known tools, on a mirror on loopback."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from commodore.core.tools import Platform, Releases, known_pins, named_version
from tests.world.context import make_context
from tests.world.releases import ReleaseServer

ROOT = Path(__file__).resolve().parents[2]
PLATFORMS = [Platform(system, machine) for system in ("darwin", "linux") for machine in ("amd64", "arm64")]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ReleaseServer]:
    with ReleaseServer(tmp_path / "releases") as started:
        yield started


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A copy of the script and of its table, which may be changed."""
    for name in ("scripts/tool-pins", "commodore/core/tools/pins.json"):
        (tmp_path / name).parent.mkdir(parents=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path / "commodore" / "core" / "tools" / "pins.json"


def publish(server: ReleaseServer, tool: str, version: str, *, wrong: bool = False) -> dict[str, str]:
    """A version for all platforms; the checksums are the known ones, if there are any. Returns them."""
    digests = {}
    for platform in PLATFORMS:
        asset = Releases(make_context(), mirror=server.mirror, platform=platform).asset(tool, named_version(version))
        path, checksums = (url.removeprefix(server.site) for url in (asset.url, asset.checksums))
        server.files[path] = f"{asset.file}".encode()
        own = hashlib.sha256(server.files[path]).hexdigest()
        digests[str(platform)] = "ab" * 32 if wrong else asset.digest or own
        server.files[checksums] = (
            server.files.get(checksums, b"") + f"{digests[str(platform)]}  {asset.file}\n".encode()
        )
    return digests


def run(server: ReleaseServer, table: Path, *words: str) -> subprocess.CompletedProcess[str]:
    assert server.certificate is not None
    environment = {
        **os.environ,
        "COMMODORE_TOOL_MIRROR": server.mirror,
        "REQUESTS_CA_BUNDLE": str(server.certificate.chain),
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, str(table.parents[3] / "scripts" / "tool-pins"), *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_checking(server: ReleaseServer, table: Path) -> None:
    entries = [(tool, version) for tool, versions in known_pins().items() for version in versions]
    for tool, version in entries:
        publish(server, tool, version)
    done = run(server, table, "check")
    assert (done.returncode, done.stderr, done.stdout.count("ok ")) == (0, "", 4 * len(entries))
    for path in [path for path in server.files if path.endswith("v4.1.4-linux-amd64.tar.gz.sha256sum")]:
        server.files[path] = server.files[path].replace(b"7", b"8")
    done = run(server, table, "check")
    assert done.returncode == 1
    assert [line.split(" ", 2)[2] for line in done.stdout.splitlines() if "DIFFERS" in line] == [
        "helm 4.1.4 linux-amd64"
    ]


def test_adding(server: ReleaseServer, table: Path) -> None:
    digests = publish(server, "helm", "4.10.0")
    assert run(server, table, "add", "helm", "4.10.0").returncode == 0
    written = json.loads(table.read_text())
    assert written["helm"].pop("4.10.0") == digests
    assert written == known_pins()


def test_adding_what_differs(server: ReleaseServer, table: Path) -> None:
    """The archive from its checksum, or both from the table."""
    before = table.read_text()
    publish(server, "helm", "4.10.0", wrong=True)
    for version in ("4.10.0", "4.1.4"):
        publish(server, "helm", version, wrong=version == "4.10.0")
        done = run(server, table, "add", "helm", version)
        assert (done.returncode, "the digests differ" in done.stderr) == (1, True)
    assert table.read_text() == before
