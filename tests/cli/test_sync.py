"""`component sync` and `package sync`, as they are typed."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.authoring.sync_world import BRANCH, SyncWorld, sync_world
from tests.world.cluster import ROOT
from tests.world.github import failing
from tests.world.repos import git

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SyncWorld]:
    with sync_world(tmp_path) as made:
        monkeypatch.setenv("COMMODORE_GITHUB_URL", made.server.url)
        monkeypatch.setenv("COMMODORE_GITHUB_TOKEN", made.server.token)
        yield made


def listed(world: SyncWorld) -> str:
    return str(world.request().list_file)


def test_the_result_is_a_table(call: Call, world: SyncWorld) -> None:
    name = world.component("foo")
    world.advance()
    world.component("fresh")
    world.names += ["acme/gone", "odd"]
    code, out, err = call("component", "sync", listed(world), "--trust-template", "-l", "one", "--pr-label", "two")
    assert code == 1
    assert out.splitlines() == [
        f"created      {name}    {world.server.site}/{name}/pull/1",
        "up-to-date   acme/component-fresh",
        "skipped      acme/gone             it does not exist, or is not visible with the token",
        f"failed       'odd'                 entry 4 of {listed(world)}, 'odd', does not name a repository",
    ]
    assert "[CMD-SYNC-004]" in err
    assert "4 repositories: 1 created, 1 up-to-date, 1 skipped, 1 failed" in err
    assert [label["name"] for label in world.server.pulls(name)[0]["labels"]] == ["one", "two"]


def test_results_as_json(call: Call, world: SyncWorld) -> None:
    name = world.component("foo")
    world.advance()
    words = ["component", "sync", listed(world), "--dry-run", "--trust-template", "--pr-branch", "topic"]
    code, out, err = call("--log-format", "json", *words)
    assert code == 0, err
    assert json.loads(out) == {
        "schema": "sync-item",
        "version": 1,
        "name": name,
        "status": "would-create",
        "reason": "",
        "url": "",
        "template": f"main ({world.template.sha('main')[:7]})",
        "rejected": False,
        "error": None,
        "earlier": False,
    }
    events = [json.loads(line)["event"] for line in err.splitlines()]
    assert {"StageAdvanced", "Status"} <= set(events)


def test_options_have_variables(call: Call, world: SyncWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    name = world.component("foo")
    world.component("other")
    world.advance()
    monkeypatch.setenv("COMMODORE_COMPONENT_SYNC_FILTER", "foo$")
    monkeypatch.setenv("COMMODORE_COMPONENT_SYNC_PR_BRANCH", "topic")
    monkeypatch.setenv("COMMODORE_COMPONENT_SYNC_TRUST_TEMPLATE", "1")
    code, out, _ = call("component", "sync", listed(world))
    assert code == 0
    assert len(out.splitlines()) == 1
    assert world.tip(name, "topic")
    assert world.tip(name) == ""


def test_packages_are_synchronised(call: Call, world: SyncWorld) -> None:
    words = ["--output-dir", "authors", "--template-url", world.template.url, "--trust-template"]
    code, _, err = call("package", "new", "bar", *words)
    assert code == 0, err
    name = "acme/package-bar"
    hosted = world.server.repository(name)
    git(world.root / "authors" / "bar", "push", "--quiet", hosted.remote.url, "master")
    world.names.append(name)
    world.advance()
    code, out, err = call("package", "sync", listed(world), "--trust-template")
    assert code == 0, err
    assert out.split()[:2] == ["created", name]
    assert [pull["title"] for pull in world.server.pulls(name)] == ["Update from package template"]


def test_without_a_token(call: Call, world: SyncWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMMODORE_GITHUB_TOKEN")
    code, out, err = call("component", "sync", listed(world))
    assert (code, out) == (2, "")
    assert "CMD-SYNC-001" in err
    assert "COMMODORE_GITHUB_TOKEN" in err
    assert "--github-token" in err


def test_errors_name_the_repository(call: Call, world: SyncWorld) -> None:
    name = world.component("foo")
    world.advance()
    code, _, err = call("component", "sync", listed(world))
    assert code == 1
    assert f"error: {name}: the template " in err
    assert "[CMD-TPL-020]" in err


def test_a_run_that_ends_early_is_an_error_of_the_surroundings(call: Call, world: SyncWorld) -> None:
    world.component("foo")
    world.component("bar")
    code, out, err = call("component", "sync", listed(world), "--github-token", "wrong")
    assert code == 3
    assert [line.split()[0] for line in out.splitlines()] == ["postponed", "postponed"]
    assert "CMD-SYNC-020" in err
    assert "2 repositories: 2 postponed" in err


def test_the_list_must_exist(call: Call, world: SyncWorld) -> None:
    assert call("component", "sync", "none.yaml")[0] == 2


def test_ctrl_c_ends_a_pause_at_once(world: SyncWorld) -> None:
    """GitHub requests a pause of minutes; whoever sits there does not."""
    world.component("foo")
    waiting = world.component("bar")
    world.server.script(failing(429, "slow down", retry_after="800"), times=math.inf, path=f"/repos/{waiting}")
    process = subprocess.Popen(
        [sys.executable, "-m", "commodore", "-d", "work", "component", "sync", listed(world), "--trust-template"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=world.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = ""
    while "trying again in 800 s" not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    while not world.state:
        assert process.poll() is None, said
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate()
    assert process.returncode == 130, said + rest
    assert "Traceback" not in rest
    [state] = world.state
    assert [item["name"] for item in json.loads(state.read_text(encoding="utf-8"))["items"]] == [world.names[0]]
    assert world.tip(waiting, BRANCH) == ""
