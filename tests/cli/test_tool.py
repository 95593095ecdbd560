"""`commodore tool`, as typed by users, against a release server on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from commodore.core.tools import KNOWN_VERSIONS, managed_folder
from tests.cli.conftest import Shown
from tests.world.releases import ReleaseServer, Reply, failing, tool_archive, tool_script

Call = Callable[..., Shown]


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[ReleaseServer]:
    """A trusted release server that the environment names as mirror and as GitHub."""
    with ReleaseServer(tmp_path_factory.mktemp("releases")) as started:
        assert started.certificate is not None
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(started.certificate.chain))
        monkeypatch.setenv("COMMODORE_TOOL_MIRROR", started.mirror)
        monkeypatch.setenv("COMMODORE_GITHUB_URL", started.api)
        yield started


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with a shell and without tools; returns a folder of it that a test may fill."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "sleep"):
        result = next(Path(place, name) for place in ("/bin", "/usr/bin") if Path(place, name).exists())
        (folder / name).symlink_to(result)
    monkeypatch.setenv("PATH", str(folder))
    return folder


def put(folder: Path, name: str, version: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(tool_script(version))
    path.chmod(0o755)
    return path


def test_install_upgrade_uninstall(call: Call, server: ReleaseServer) -> None:
    for version in ("9.0.0", "9.0.1"):
        server.publish("helm", version)
    helm = managed_folder() / "helm"
    code, out, err = call("tool", "install", "helm", "--version", "v9.0.0")
    assert (code, out) == (0, "")
    begun, ended, installed = err.splitlines()[-3:]
    assert (begun, installed) == ("Downloading helm 9.0.0 …", f"Installed helm 9.0.0 as {helm}")
    assert ended.startswith("Downloading helm 9.0.0: ")
    code, _, err = call("tool", "install", "helm")
    assert (code, err) == (0, f"helm 9.0.0 is installed already, nothing to do: {helm}\n")
    code, _, err = call("tool", "upgrade", "helm", "--latest")
    assert (code, err.splitlines()[-1]) == (0, f"Installed helm 9.0.1 as {helm}")
    assert helm.read_text() == tool_script("9.0.1")
    code, _, err = call("tool", "uninstall", "helm")
    assert (code, err) == (0, f"Removed {helm}\n")
    assert not helm.exists()


def test_installing_another_version_than_the_managed_one_fails(call: Call) -> None:
    """The help said that it fails, and it exited 0."""
    put(managed_folder(), "helm", "4.1.4")
    code, _, err = call("tool", "install", "helm", "--version", "3.20.2")
    assert code == 1
    assert "[CMD-TOOL-021]" in err
    assert "hint: run 'commodore tool upgrade helm --version 3.20.2'" in err


@pytest.mark.parametrize("command", ["upgrade", "uninstall"])
def test_what_is_not_managed(command: str, call: Call, bare: Path) -> None:
    """Upgrading an unmanaged tool exited 0."""
    code, _, err = call("tool", command, "helm")
    assert (code, err.splitlines()[0]) == (1, "error: helm is not managed by commodore [CMD-TOOL-022]")
    path = put(bare, "helm", "4.0.0")
    code, _, err = call("tool", command, "helm")
    assert f"not managed by commodore; the one in use is {path}" in err


@pytest.mark.parametrize("command", ["install", "upgrade", "uninstall"])
def test_jb_is_not_needed(command: str, call: Call) -> None:
    assert call("tool", command, "jb") == (0, "", "jb is not needed: commodore installs Jsonnet libraries itself\n")


def test_a_misspelt_tool(call: Call) -> None:
    code, _, err = call("tool", "install", "kustomise")
    assert (code, err) == (
        1,
        "error: unknown tool 'kustomise' [CMD-TOOL-001]\n  hint: did you mean 'kustomize'?\n",
    )


@pytest.mark.parametrize(
    "words",
    [
        ("install",),
        ("install", "helm", "--missing"),
        ("upgrade",),
        ("upgrade", "helm", "--all"),
        ("uninstall",),
        ("uninstall", "helm", "--all"),
        ("install", "helm", "--version", "4.1.4", "--latest"),
        ("install", "helm", "--version", "4.1.4", "--argocd", "3.4"),
        ("install", "--missing", "--argocd", "3.4"),
    ],
)
def test_options_that_do_not_go_together(words: tuple[str, ...], call: Call) -> None:
    code, _, err = call("tool", *words)
    assert code == 2
    assert "[CMD-CLI-025]" in err


def test_installing_what_is_missing(call: Call, server: ReleaseServer, bare: Path) -> None:
    """Tools that are found are named and stay; `--version` would mean several tools."""
    result = put(bare, "helm", "4.0.0")
    server.publish("kustomize", "9.0.0")
    code, _, err = call("tool", "install", "--missing", "--latest", "--version", "")
    assert code == 0
    lines = err.splitlines()
    assert f"helm is found: {result}" in lines
    assert f"Installed kustomize 9.0.0 as {managed_folder() / 'kustomize'}" in lines
    code, _, err = call("tool", "install", "--missing", "--version", "1.0.0")
    assert code == 0
    assert "warning: --version has no effect with --missing [CMD-CLI-010]" in err
    assert f"kustomize is found: {managed_folder() / 'kustomize'}" in err


def test_one_tool_that_fails_does_not_keep_the_others(call: Call, server: ReleaseServer) -> None:
    server.announce("helm", "9.0.0")
    server.publish("kustomize", "9.0.0")
    code, _, err = call("tool", "install", "--missing", "--latest")
    assert code == 4
    assert "[CMD-TOOL-017]" in err
    assert "Installed kustomize 9.0.0" in err


def test_upgrading_all(call: Call, server: ReleaseServer) -> None:
    assert call("tool", "upgrade", "--all") == (
        0,
        "",
        "No tool is managed by commodore; see 'commodore tool install --help'\n",
    )
    put(managed_folder(), "helm", "8.0.0")
    put(managed_folder(), "kustomize", "9.0.0")
    for tool in ("helm", "kustomize"):
        server.publish(tool, "9.0.0")
    code, _, err = call("tool", "upgrade", "--all", "--latest")
    assert code == 0
    assert f"Installed helm 9.0.0 as {managed_folder() / 'helm'}" in err
    assert "kustomize 9.0.0 is installed already, nothing to do" in err
    code, _, err = call("tool", "uninstall", "--all")
    assert code == 0
    assert sorted(path.name for path in managed_folder().iterdir()) == [".lock", "state.json"]
    assert call("tool", "uninstall", "--all") == (0, "", "No tool is managed by commodore\n")


def test_listing(call: Call, server: ReleaseServer, bare: Path) -> None:
    helm = put(managed_folder(), "helm", "4.1.4")
    (managed_folder() / "state.json").write_text('{"helm": "2026-11-20T10:11:12"}')
    server.announce("helm", "4.10.0")
    server.announce("kustomize", "5.8.1")
    code, out, err = call("tool", "list")
    assert (code, err) == (0, "")
    assert out == (
        "helm v4.1.4\n"
        f"  location:  {helm}\n"
        "  managed:   yes\n"
        "  installed: 2026-11-20T10:11:12\n"
        f"  known:     {KNOWN_VERSIONS['helm']}\n"
        "  latest:    4.10.0 (upgrade available: commodore tool upgrade helm --latest)\n"
        "\n"
        "jb: not found, and not needed\n"
        "\n"
        "kustomize: not found\n"
        "  install it: commodore tool install kustomize\n"
    )


def test_a_newer_tool_needs_no_upgrade(call: Call, server: ReleaseServer, bare: Path) -> None:
    """An upgrade was said to be available also to an older version."""
    put(bare, "helm", "4.10.0")
    put(bare, "jb", "0.6.3")
    put(bare, "kustomize", "4.5.7")
    server.announce("helm", "4.9.0")
    server.announce("kustomize", "5.8.1")
    code, out, err = call("tool", "list")
    assert (code, err) == (0, "")
    assert "  latest:    4.9.0 (no upgrade needed)\n" in out
    assert "kustomize v4.5.7 (too old, at least 5.0.0 is needed)\n" in out
    assert "  latest:    5.8.1 (upgrade available)\n" in out
    assert "jb v0.6.3\n" in out
    assert "  not needed: commodore installs Jsonnet libraries itself\n" in out


def test_a_tool_that_says_nothing_is_not_missing(call: Call, bare: Path) -> None:
    """Tools with empty version output counted as missing."""
    path = put(bare, "helm", "")
    path.write_text("#!/bin/sh\n")
    code, out, err = call("tool", "list", "-V")
    assert code == 0
    assert f"helm version unknown\n  location:  {path}\n" in out
    assert "[CMD-TOOL-005]" in err


def test_listing_as_json(call: Call, server: ReleaseServer, bare: Path) -> None:
    path = put(bare, "helm", "4.1.4")
    server.announce("helm", "4.2.0")
    server.announce("kustomize", "5.8.1")
    code, out, _ = call("tool", "list", "-o", "json")
    assert code == 0
    helm, jb, kustomize = json.loads(out)["tools"]
    assert helm == {
        "name": "helm",
        "needed": True,
        "path": str(path),
        "source": "path",
        "version": "v4.1.4",
        "managed": False,
        "installed": None,
        "minimum": "3.8.0",
        "known": str(KNOWN_VERSIONS["helm"]),
        "latest": "4.2.0",
        "upgrade": "4.2.0",
        "too_old": False,
    }
    assert (jb["name"], jb["needed"], jb["path"]) == ("jb", False, None)
    assert (kustomize["path"], kustomize["latest"], kustomize["upgrade"]) == (None, "5.8.1", None)


@pytest.mark.parametrize("option", ["-V", "--skip-version-check"])
def test_listing_asks_nobody(option: str, call: Call, server: ReleaseServer, bare: Path) -> None:
    put(bare, "helm", "4.1.4")
    code, out, err = call("tool", "list", option)
    assert (code, err) == (0, "")
    assert "  latest:    N/A\n" in out
    assert server.requests == []


def test_listing_without_network(call: Call, bare: Path) -> None:
    """It was a traceback."""
    put(bare, "helm", "4.1.4")
    code, out, err = call("tool", "list", "--github-url", "https://127.0.0.1:9")
    assert code == 0
    assert "  latest:    unknown\n" in out
    assert err.count("[CMD-TOOL-031]") == 2


def test_listing_with_a_rate_limit(call: Call, server: ReleaseServer, bare: Path) -> None:
    put(bare, "helm", "4.1.4")
    server.script(failing(429, retry_after="60"), times=2)
    code, out, err = call("tool", "list")
    assert code == 0
    assert "  latest:    unknown\n" in out
    assert "GitHub answers no more requests" in err


def test_listing_with_a_broken_state(call: Call) -> None:
    """It was a traceback."""
    put(managed_folder(), "helm", "4.1.4")
    (managed_folder() / "state.json").write_text("{")
    code, out, err = call("tool", "list", "-V")
    assert code == 0
    assert "  installed: UNKNOWN\n" in out
    assert "[CMD-TOOL-023]" in err


@pytest.mark.parametrize("group", [True, False])
def test_the_token_of_the_group_or_of_the_command(group: bool, call: Call, server: ReleaseServer) -> None:
    for tool in ("helm", "kustomize"):
        server.announce(tool, "9.0.0")
    option = ("--github-token", "secret")
    code, _, _ = call("tool", *option, "list") if group else call("tool", "list", *option)
    assert code == 0
    assert {request.headers.get("authorization") for request in server.requests} == {"Bearer secret"}


def test_the_timeout_counts(call: Call, server: ReleaseServer) -> None:
    """The GitHub client ignored `--request-timeout`."""
    server.script(Reply(delay=60), times=10)
    code, _, err = call("--request-timeout", "0.1", "tool", "list")
    assert code == 0
    # On a busy machine connecting takes part of the time, and the whole of the head has twice the timeout.
    assert "no answer within 0.1 s" in err or "was not complete after 0.2 s" in err


def test_quiet_and_json_log(call: Call, server: ReleaseServer) -> None:
    server.publish("helm", "9.0.0")
    server.publish("kustomize", "9.0.0")
    assert call("--quiet", "tool", "install", "helm", "--version", "9.0.0") == (0, "", "")
    code, out, err = call("--log-format", "json", "tool", "install", "kustomize", "--version", "9.0.0")
    assert (code, out) == (0, "")
    events = [json.loads(line) for line in err.splitlines()]
    assert [event["item"] for event in events if event["event"] == "StageAdvanced"][-1] == "kustomize 9.0.0: 100 %"
    assert events[-1]["event"] == "Status"


def test_versions_say_how_to_install_what_is_missing(call: Call) -> None:
    """No hint how to install."""
    code, out, err = call("version")
    assert code == 127
    assert "helm: NOT FOUND IN PATH\n" in out
    assert err == "install it: commodore tool install helm\ninstall it: commodore tool install kustomize\n"


def start(server: ReleaseServer, *words: str) -> subprocess.Popen[bytes]:
    """A run in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "commodore", "tool", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=dict(os.environ),
    )


def wait_for(path: Path) -> None:
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} did not appear")


@pytest.mark.parametrize("old", [None, "8.0.0"])
def test_killed_while_downloading(old: str | None, call: Call, server: ReleaseServer) -> None:
    """Issue: a kill half-way leaves the old tool or none, and no rubbish after the next run."""
    helm = managed_folder() / "helm"
    if old:
        put(helm.parent, "helm", old)
    server.publish("helm", "9.0.0")
    server.script(Reply(cut=30, hold=True), path=server.archive("helm", "9.0.0"))
    words = ("upgrade" if old else "install", "helm", "--version", "9.0.0")
    with start(server, *words) as running:
        assert server.holding.wait(30)
        running.kill()
    assert (helm.read_text() if helm.exists() else None) == (tool_script(old) if old else None)
    assert call("tool", *words)[0] == 0
    assert helm.read_text() == tool_script("9.0.0")
    assert sorted(path.name for path in helm.parent.iterdir()) == [".lock", "helm", "state.json"]


def test_killed_while_trying_the_new_tool(call: Call, server: ReleaseServer, tmp_path: Path) -> None:
    """The new tool, which would run on, ends when its file is removed by the next run."""
    helm = put(managed_folder(), "helm", "8.0.0")
    body = f"if [ ! -e '{tmp_path}/tried' ]; then : >'{tmp_path}/tried'; while [ -e \"$0\" ]; do sleep 0.05; done; fi"
    server.publish("helm", "9.0.0", tool_archive("helm", "9.0.0", body=body))
    with start(server, "upgrade", "helm", "--version", "9.0.0") as running:
        wait_for(tmp_path / "tried")
        running.kill()
    assert helm.read_text() == tool_script("8.0.0")
    assert call("tool", "upgrade", "helm", "--version", "9.0.0")[0] == 0
    assert helm.read_text() == tool_script("9.0.0", body=body)
    assert sorted(path.name for path in helm.parent.iterdir()) == [".lock", "helm", "state.json"]


def test_interrupted_while_downloading(server: ReleaseServer) -> None:
    """Ctrl-C removes at once what was begun."""
    server.publish("helm", "9.0.0")
    server.script(Reply(cut=30, hold=True), path=server.archive("helm", "9.0.0"))
    with start(server, "install", "helm", "--version", "9.0.0") as running:
        assert server.holding.wait(30)
        running.terminate()
        assert running.wait(30) == 130
    assert sorted(path.name for path in managed_folder().iterdir()) == [".lock"]


@pytest.mark.requirement("D82")
def test_tools_of_a_version_of_argo_cd(call: Call, server: ReleaseServer, bare: Path) -> None:
    """Each version of Argo CD has its own helm, which counts before that of PATH."""
    put(bare, "helm", "4.1.4")
    server.publish("helm", "3.19.4")
    code, _, err = call("argocd", "version", "--argocd-version", "3.4")
    assert (code, err) == (0, "")
    code, _, err = call("tool", "install", "helm", "--argocd", "v3.4.1")
    path = managed_folder() / "argocd-3.4" / "helm"
    assert (code, err.splitlines()[-1]) == (0, f"Installed helm 3.19.4 as {path}")
    data = {}
    for version in ("3.4", "3.5"):
        code, out, _ = call("argocd", "version", "--argocd-version", version, "-o", "json")
        assert code == 0
        data[version] = {load["name"]: load for load in json.loads(out)["tools"]}
    assert data["3.4"]["helm"] == {
        "name": "helm",
        "version": "3.19.4",
        "wanted": "3.19.4",
        "same": True,
        "path": str(path),
    }
    assert (data["3.5"]["helm"]["version"], data["3.5"]["helm"]["same"]) == ("4.1.4", False)
    assert data["3.5"]["kustomize"]["path"] is None
    lines = call("argocd", "version", "--argocd-version", "3.5")[1].splitlines()
    assert lines[0].endswith(", follows Argo CD 3.5")
    assert lines[1:3] == [
        f"helm 4.1.4 ({bare / 'helm'}); Argo CD runs 4.2.1",
        "kustomize is not installed; Argo CD runs 5.8.1",
    ]
    assert [line.split()[0] for line in lines[3:]] == ["Jsonnet", "jq", "RE2", "Lua", "Python"]
    for version, expected in (("3.4", 0), ("3.5", 2)):
        words = ("--argocd-version", version, "--path", str(bare), "--offline")
        assert call("argocd", "apps", *words)[0] == 0
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("COMMODORE_ARGOCD_EXACT_TOOLS", "1")
            code, _, err = call("argocd", "apps", *words)
        assert (code, "Argo CD 3.5 runs 4.2.1" in err) == (expected, expected == 2)
