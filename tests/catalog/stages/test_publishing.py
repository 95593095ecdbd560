"""References and manifests of whole clusters."""

from __future__ import annotations

import base64

import pytest
import yaml

from tests.world.cluster import ClusterWorld

VAULT = {"secret_management": {"vault_addr": "https://vault.example.com", "vault_mount": "clusters/kv"}}

SECRET = """
local inventory = (import 'lib/kapitan.libjsonnet').inventory();
{ secret: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, stringData: inventory.parameters.app.secrets } }
"""


@pytest.fixture
def vaulted(world: ClusterWorld) -> ClusterWorld:
    world.component("app", {"component/main.jsonnet": SECRET}, secrets={})
    world.parameters |= VAULT
    return world


@pytest.mark.requirement("C63", "C64", "C65", "C66", "C68")
def test_references_and_ref_files_are_in_step(vaulted: ClusterWorld) -> None:
    """References are found rendered, get ref files, and lose them when they go."""
    own = "?{vaultkv:${cluster:tenant}/${cluster:name}/app/password}"
    vaulted.tenant_parameters = {"app": {"secrets": {"password": own, "user": "?{vaultkv:shared/user}"}}}
    result = vaulted.compile("--push")
    assert result.code == 0, result.stderr
    tree = vaulted.tree()
    assert sorted(path for path in tree if path.startswith("refs/")) == [
        "refs/shared/user",
        "refs/t-one/c-one/app/password",
    ]
    file = yaml.safe_load(tree["refs/t-one/c-one/app/password"])
    assert base64.b64decode(file.pop("data")) == b"t-one/c-one/app:password"
    assert file["encoding"] == "original"
    assert file["type"] == "vaultkv"
    assert file["vault_params"]["VAULT_ADDR"] == "https://vault.example.com"
    assert file["vault_params"]["mount"] == "clusters/kv"
    shown = vaulted.manifest("app/secret.yaml")["stringData"]
    assert sorted(text.rsplit(":", 1)[0] for text in shown.values()) == [  # Kapitan adds the file's digest
        "?{vaultkv:shared/user",
        "?{vaultkv:t-one/c-one/app/password",
    ]

    vaulted.tenant_parameters["app"]["secrets"] = {"fresh": "?{vaultkv:fresh/key}"}
    vaulted.tenant_parameters["secret_management"] = {"vault_mount": "other"}
    assert vaulted.compile("--push").code == 0
    tree = vaulted.tree()
    assert sorted(path for path in tree if path.startswith("refs/")) == ["refs/fresh/key"]
    assert yaml.safe_load(tree["refs/fresh/key"])["vault_params"]["mount"] == "other"

    vaulted.tenant_parameters = {}
    assert vaulted.compile("--push").code == 0
    assert sorted(vaulted.tree()) == ["manifests/app/secret.yaml"]


@pytest.mark.requirement("C67")
def test_references_in_the_output_alone(vaulted: ClusterWorld) -> None:
    """One in base64 is worth a warning; Kapitan cannot resolve one in clear that no parameter holds."""
    vaulted.remotes["app"].commit(
        {
            "component/main.jsonnet": "{ secret: { kind: 'Secret', metadata: { name: 'x' },"
            " data: { b: std.base64('?{vaultkv:made/up}') } } }"
        }
    )
    result = vaulted.compile()
    assert result.code == 0, result.stderr
    assert [code.rsplit("-", 1)[0] for code in result.warnings] == ["CMD-REF"]
    vaulted.remotes["app"].commit(
        {"component/main.jsonnet": "{ a: { stringData: { a: '?{vaultkv:' + 'made/up}' } } }"},
    )
    result = vaulted.compile()
    assert (result.code, result.error["code"]) == (1, "CMD-ENG-023")
    assert "?{vaultkv:made/up}" in result.error["message"]


@pytest.mark.requirement("C44")
def test_instances_that_write_one_file(world: ClusterWorld) -> None:
    """Two instances with one file are named; the catalog is as it was."""
    world.component("a", {"class/a.yml": shared_class()}, data={"from": "a"})
    assert world.compile("--push").code == 0
    before = world.local_tree()
    world.component("b", {"class/b.yml": shared_class()}, data={"from": "b"})
    result = world.compile("--push")
    assert (result.code, result.error["code"]) == (1, "CMD-CAT-001")
    assert "a, b write 'shared/config.yaml'" in result.error["message"]
    assert world.local_tree() == before
    assert len(world.commits()) == 2
    result = world.compile("--allow", "CMD-CAT-001")
    assert (result.code, result.warnings) == (0, ["CMD-CAT-001"])
    assert world.local_tree() != before
    world.tenant_parameters["commodore"] = {"allow": ["CMD-CAT-001"]}
    result = world.compile("--push")
    assert (result.code, result.warnings) == (0, ["CMD-CAT-001"])
    assert len(world.commits()) == 3
    assert world.compile("--allow", "CMD-CAT-002").code == 2


def shared_class() -> str:
    entry = {
        "input_paths": ["${_base_directory}/component/main.jsonnet"],
        "input_type": "jsonnet",
        "output_path": "shared/",
    }
    return yaml.safe_dump({"parameters": {"kapitan": {"compile": [entry]}}})
