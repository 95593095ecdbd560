"""Completing the names of clusters in a shell (spec a 1.6): quick, silent, never logging in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import yaml

from tests.world.lieutenant import LieutenantServer, cluster, failing


def complete(words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """What bash is offered for the last of these words."""
    variables = {
        "_COMMODORE_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    return subprocess.run(
        [sys.executable, "-m", "commodore"],
        env={**os.environ, **variables, **environment},
        capture_output=True,
        text=True,
        check=True,
    )


def offered(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


def test_clusters_of_the_cluster_file(tmp_path: Path) -> None:
    file = tmp_path / "clusters.yml"
    file.write_text(yaml.safe_dump({"clusters": [{"id": "c-one"}, {"id": "c-two"}, {"id": "d-one"}]}))
    done = complete(f"commodore catalog compile --cluster-file {file} c-")
    assert offered(done) == ["c-one", "c-two"]


def test_clusters_of_the_api() -> None:
    with LieutenantServer([cluster("c-x")], token="t") as server:
        done = complete("commodore catalog compile c-", COMMODORE_API_URL=server.url, COMMODORE_API_TOKEN="t")
    assert offered(done) == ["c-x"]


def test_nothing_is_offered_or_said_when_the_api_fails() -> None:
    with LieutenantServer(token="t") as server:
        server.script(failing(500))
        done = complete("commodore catalog compile ", COMMODORE_API_URL=server.url, COMMODORE_API_TOKEN="t")
        assert offered(done) == []
        without_token = complete("commodore catalog compile ", COMMODORE_API_URL=server.url)
        assert offered(without_token) == []
        assert len(server.requests) == 1, "completing neither repeats requests nor asks without a token"
