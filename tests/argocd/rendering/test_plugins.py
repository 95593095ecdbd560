"""Sources of config management plugins, which are not run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commodore.argocd.configuration import read_policy
from commodore.argocd.model.plugins import PluginRule, rule_of_definition
from commodore.argocd.rendering.plugins import AVP
from commodore.base.errors import CommodoreError, InputError, Location
from commodore.base.limits import DEFAULT_LIMITS
from tests.argocd.conftest import URL, Argo, chart, config_map

PLACE = Location("plugin.yaml", 1)
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: <path:kv/data#key>, b: <name>}\n"


def definition(command: list[str], args: list[str] | None = None, **spec: Any) -> dict[str, Any]:
    generate = {"command": command, **({"args": args} if args else {})}
    return {"metadata": {"name": "p"}, "spec": {"generate": generate, **spec}}


@pytest.mark.requirement("D51")
@pytest.mark.parametrize(
    ("value", "rule"),
    [
        (definition(["kustomize", "build", "."]), ("p", "native-kustomize", ())),
        (definition(["kustomize"], ["build", ".", "--enable-helm"]), ("p", "native-kustomize", ("--enable-helm",))),
        (definition(["sh", "-c", "kustomize build . --enable-helm"]), ("p", "native-kustomize", ("--enable-helm",))),
        (definition(["kustomize", "build", "."], version="v1.0"), ("p-v1.0", "native-kustomize", ())),
        (definition(["sh", "-c"], ["helm template $ARGOCD_APP_NAME ."]), ("p", "native-helm", ())),
        (definition(["sh", "-c", "kustomize build . | envsubst"]), None),
        (definition(["sh", "-c", "kustomize build . ; id"]), None),
        (definition(["sh", "-c", "kustomize build $(id)"]), None),
        (definition(["sh", "-c", "helm template $ARGOCD_APP_NAME . --set a=b"]), None),
        (definition(["kustomize", "build", ".."]), None),
        (definition(["kustomize", "build", "."], init={"command": ["id"]}), None),
        (definition(["my-plugin"]), None),
    ],
)
def test_definitions_that_are_a_plain_build(value: dict[str, Any], rule: tuple[object, ...] | None) -> None:
    plugin_rule = rule_of_definition(value, PLACE)
    assert (None if plugin_rule is None else (plugin_rule.name, plugin_rule.engine, plugin_rule.options)) == rule


@pytest.mark.tools
@pytest.mark.requirement("D51", "D52")
def test_what_is_rendered_in_place_of_a_plugin(argo: Argo) -> None:
    argo.files({"k/kustomization.yaml": "resources: [a.yaml]\nnamePrefix: x-\n", "k/a.yaml": config_map("a")})
    argo.files({"d/a.yaml": SECRET})
    argo.files(chart(), below="web")
    argo.plugins = (
        PluginRule("k", "native-kustomize", place=PLACE),
        PluginRule("h", "native-helm", repositories=("https://git.example.com/*",)),
        PluginRule("other", "native-helm", repositories=("https://other.example.com/*",)),
        PluginRule("run", "exec", refusal="it is not enabled"),
        *AVP,
    )

    def names(path: str, plugin: str, **block: Any) -> list[str]:
        return [data["metadata"]["name"] for data in argo.objects({"path": path, "plugin": {"name": plugin, **block}})]

    assert names("k", "k") == ["x-a"]
    assert names("web", "h") == ["shop"]
    assert names("k", "avp-kustomize", env=[{"name": "AVP_TYPE", "value": "vault"}]) == ["x-a"]
    assert argo.objects({"path": "d", "plugin": {"name": "argocd-vault-plugin"}})[0]["stringData"] == {
        "a": "<path:kv/data#key>",
        "b": "<name>",
    }
    assert {diagnostic.code for diagnostic in argo.diagnostics.collected()} == {"CMD-ARGO-425"}
    for plugin, block, code in (
        ("other", {}, "420"),
        ("none", {}, "420"),
        ("k", {"env": [{"name": "A", "value": "b"}]}, "420"),
        ("run", {}, "423"),
    ):
        with pytest.raises(CommodoreError) as caught:
            names("k", plugin, **block)
        assert caught.value.code == f"CMD-ARGO-{code}"
    argo.plugins = (PluginRule("k", "native-kustomize", options=("--enable-exec",)),)
    with pytest.raises(CommodoreError) as caught:
        names("k", "k")
    assert caught.value.code == "CMD-ARGO-420"


@pytest.mark.requirement("D52")
def test_a_policy(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(
        "version: 1\nplugins:\n- {name: a, engine: native-kustomize, options: [--enable-helm]}\n"
        f"- {{name: b, engine: native-helm, includeCRDs: false, repositories: ['{URL}']}}\n"
        "- {name: c, engine: avp, base: helm}\n"
        f"- {{name: d, engine: exec, generate: [/usr/bin/p], digest: 'sha256:{'0' * 64}'}}\n"
    )
    rules = read_policy(file, DEFAULT_LIMITS)
    assert [(rule.name, rule.engine, rule.options, rule.base, rule.crds) for rule in rules] == [
        ("a", "native-kustomize", ("--enable-helm",), "", True),
        ("b", "native-helm", (), "", False),
        ("c", "avp", (), "helm", True),
        ("d", "exec", (), "", True),
    ]
    assert rules[1].repositories == (URL,)


@pytest.mark.requirement("D52")
@pytest.mark.parametrize(
    "text",
    [
        "version: 1\nversion: 1\nplugins: []\n",
        "version: 1\nplugin: []\n",
        "version: 2\nplugins: []\n",
        "plugins: []\n",
        "version: 1\nplugins: [&a {name: a, engine: avp}, *a]\n",
        "version: 1\nplugins: [{name: a, engine: shell}]\n",
        "version: 1\nplugins: [{name: a}]\n",
        "version: 1\nplugins: [{name: a, engine: avp, options: []}]\n",
        "version: 1\nplugins: [{name: a, engine: avp, base: jsonnet}]\n",
        "version: 1\nplugins: {}\n",
        "version: 1\n---\nplugins: []\n",
        "",
        "a: [\n",
    ],
)
def test_policies_are_read_strictly(text: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        read_policy(file, DEFAULT_LIMITS)
    assert caught.value.code == "CMD-ARGO-422"
