"""Config management plugins: a repository that makes one run, and one that reaches for more than its source."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from commodore import argocd
from commodore.argocd import Options, Tree
from commodore.argocd.configuration import read_policy
from commodore.base.errors import CommodoreError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.confinement import isolation
from tests.argocd.rendering.test_plugin_run import SHOWN, Policy, error, policy, said, shop
from tests.attacks.conftest import Witness
from tests.world.repos import git

__all__ = ["policy", "shop"]

needs_isolation = pytest.mark.skipif(not isolation(), reason="this machine has no namespaces for all")
CANARY = "canary-of-the-user"


@pytest.mark.parametrize("where", ["tree", "checkout", "link", "base", "map"])
def test_a_policy_that_the_repository_brings(
    shop: Path, tmp_path: Path, policy: Policy, witness: Witness, where: str
) -> None:
    """Whoever proposes a change could allow it to run a program."""
    options = policy(f"{SHOWN} ran")
    assert options.plugins.plugin_policy is not None
    outside = options.plugins.plugin_policy
    brought = shop / "policy.yaml"
    tree = shop
    if where == "checkout":
        git(shop, "init", "-q")
        tree = shop / "web"
        (shop / "web.json").rename(shop / "web" / "web.json")
    if where in ("base", "map"):
        tree = tmp_path / "other"
        shutil.copytree(shop, tree)
    shutil.move(outside, brought)
    if where == "link":
        outside.symlink_to(brought)
        brought = outside
    if where == "map":
        options = options.having(repo_map=(f"https://git.example.com/else={shop}",))
    options = options.having(plugin_policy=brought)
    if where == "base":
        result = argocd.diff(Tree.folder(shop), Tree.folder(tree), options, ["web"])
        codes = {diagnostic.code for diagnostic in result.diagnostics}
        assert ("CMD-ARGO-423" in codes, "CMD-ARGO-428" in codes) == (True, False)  # it runs for neither tree
        return
    assert error(tree, options).code == "CMD-ARGO-423"


def test_a_program_that_the_repository_brings(shop: Path, policy: Policy, tmp_path: Path) -> None:
    options = policy(f"{SHOWN} ran")
    assert options.plugins.plugin_policy is not None
    shutil.copy2(tmp_path / "programs" / "plugin", shop / "web" / "plugin")
    text = options.plugins.plugin_policy.read_text().replace(str(tmp_path / "programs"), str(shop / "web"))
    options.plugins.plugin_policy.write_text(text)
    assert error(shop, options).code == "CMD-ARGO-423"


def test_a_program_that_was_swapped(shop: Path, policy: Policy, tmp_path: Path) -> None:
    options = policy(f"{SHOWN} ran")
    (tmp_path / "programs" / "plugin").write_text(f"#!/bin/sh\n{SHOWN} evil\n")
    assert error(shop, options).code == "CMD-ARGO-423"


@pytest.mark.parametrize(
    "change",
    [
        {"generate": ["/bin/sh", "-c", "./generate.sh"]},
        {"generate": ["/usr/bin/env", "sh", "generate.sh"]},
        {"generate": ["/usr/bin/python3.12", "generate.py"]},
        {"generate": ["{link}", "-c", "./generate.sh"]},
        {"generate": ["plugin"]},
        {"generate": ["/opt/../bin/plugin"]},
        {"init": ["/bin/sh", "init.sh"]},
        {"digest": "sha256:"},
        {"paths": ["../other"]},
        {"paths": [".git"]},
        {"timeouts": {"generate": 1e9}},
    ],
)
def test_a_policy_that_leaves_open_what_runs(tmp_path: Path, change: dict[str, object]) -> None:
    (tmp_path / "harmless").symlink_to("/bin/sh")
    rule = {"name": "p", "engine": "exec", "generate": ["/opt/plugin"], "digest": f"sha256:{'0' * 64}", **change}
    file = tmp_path / "policy.yaml"
    file.write_text(json.dumps({"version": 1, "plugins": [rule]}).replace("{link}", str(tmp_path / "harmless")))
    with pytest.raises(CommodoreError) as caught:
        read_policy(file, DEFAULT_LIMITS)
    assert caught.value.code == "CMD-ARGO-422"


REACHES = {
    "environment": "env",
    "parents": "cat /proc/[0-9]*/environ | tr '\\0' ' '",
    "file": "cat {path}",
    "home": "cat {home}/.netrc ~/.netrc",
    "git": "cat .git/config ../.git/config",
    "program": "ls {programs}",
}


@needs_isolation
@pytest.mark.harmless
@pytest.mark.parametrize("way", REACHES)
def test_a_program_that_reads_what_is_the_users(
    shop: Path, tmp_path: Path, policy: Policy, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """It is one that the user allowed, which the repository misleads."""
    home = tmp_path / "home"
    home.mkdir()
    (home / ".netrc").write_text(CANARY)
    (tmp_path / "secret").write_text(CANARY)
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / CANARY).touch()
    git(shop, "init", "-q")
    git(shop, "config", "user.name", CANARY)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GITHUB_TOKEN", CANARY)
    script = REACHES[way].format(path=tmp_path / "secret", home=home, programs=tmp_path / "programs")
    options = policy(f'{SHOWN} "$( ({script}) 2>&1 | tr -d \'\\n\\"\\\\\' || true)"')
    text = said(shop, options)
    assert isinstance(text, str)
    assert CANARY not in text


@needs_isolation
def test_a_link_out_of_the_source(shop: Path, tmp_path: Path, policy: Policy) -> None:
    (shop / "web" / "link").symlink_to(tmp_path)
    assert error(shop, policy(f"{SHOWN} ran")).code == "CMD-ARGO-318"


@needs_isolation
@pytest.mark.harmless
@pytest.mark.parametrize("place", ["{folder}", "{shop}/web/written", "/usr/written"])
def test_a_program_that_writes_elsewhere(shop: Path, tmp_path: Path, policy: Policy, place: str) -> None:
    path = place.format(folder=tmp_path / "written", shop=shop)
    assert said(shop, policy(f"(echo x > {path}) 2>/dev/null || true; {SHOWN} done")) == "done"
    assert not Path(path).exists()


@needs_isolation
@pytest.mark.harmless
def test_a_program_that_asks_a_server(shop: Path, policy: Policy) -> None:
    """It has no network but a loopback of its own."""
    text = said(shop, policy(f'{SHOWN} "$(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " \\n")"'))
    assert text == "lo"


@needs_isolation
@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("yes", "CMD-ARGO-403"),
        ("(sleep 1000 &) ; sleep 1000", "CMD-ARGO-418"),
        ("yes >&2", "CMD-ARGO-418"),
        ("trap '' TERM; while :; do :; done", "CMD-ARGO-418"),
    ],
)
def test_a_program_that_never_ends(shop: Path, policy: Policy, script: str, code: str) -> None:
    assert error(shop, policy(script, timeouts={"generate": 0.7 if code.endswith("418") else 60})).code == code


@needs_isolation
@pytest.mark.parametrize("name", ["LD_PRELOAD", "PATH", "TEAM=x", ""])
def test_a_source_that_sets_other_variables(shop: Path, policy: Policy, name: str) -> None:
    value = json.loads((shop / "web.json").read_text())
    value["spec"]["source"]["plugin"]["env"] = [{"name": name, "value": "./evil.so"}]
    (shop / "web.json").write_text(json.dumps(value))
    assert error(shop, policy(f"{SHOWN} ran")).code in ("CMD-ARGO-420", "CMD-ARGO-103")


def test_a_definition_that_names_a_program(shop: Path, policy: Policy, tmp_path: Path) -> None:
    """A program that a repository defines never runs, though plugins are enabled."""
    definition = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "ConfigManagementPlugin",
        "metadata": {"name": "p"},
        "spec": {"generate": {"command": [str(tmp_path / "programs" / "plugin")]}},
    }
    (shop / "plugin.json").write_text(json.dumps(definition))
    options: Options = policy(f"{SHOWN} ran").having(plugin_policy=None)
    assert error(shop, options).code == "CMD-ARGO-420"
