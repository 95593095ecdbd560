"""Repositories of Applications that want to read what is not theirs: git's own folder, and files outside."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import Any

import pytest

from commodore.confinement import isolation
from commodore.errors import CommodoreError
from tests.argocd.conftest import Argo, argo, chart
from tests.attacks.conftest import Secret

__all__ = ["argo"]

CONFIG = ".git/config"


@pytest.fixture
def cloned(argo: Argo, secret: Secret) -> Argo:
    """A working copy of the user's, with a chart, and a password in the URL of its remote."""
    argo.files({f"c/{name}": text for name, text in chart().items()})
    argo.files(
        {CONFIG: f"url = https://user:{secret.text}@git.example.com\n", ".git/values.yaml": f"a: {secret.text}\n"}
    )
    return argo


def shown(argo: Argo, source: dict[str, Any]) -> str:
    """All that comes of a source: its objects, or its error."""
    try:
        return json.dumps(argo.objects(source))
    except CommodoreError as error:
        return json.dumps(error.as_dict())


HELM: dict[str, dict[str, Any]] = {
    "relative values": {"valueFiles": ["../.git/values.yaml"]},
    "absolute values": {"valueFiles": ["/.git/values.yaml"]},
    "pattern": {"valueFiles": ["/.git/val*.yaml"]},
    "file": {"fileParameters": [{"name": "x", "path": f"../{CONFIG}"}]},
    "link": {"valueFiles": ["link.yaml"]},
}


@pytest.mark.parametrize("way", HELM)
def test_values_from_the_folder_of_git(cloned: Argo, secret: Secret, way: str) -> None:
    os.symlink("../.git/values.yaml", cloned.folder() / "c" / "link.yaml")
    with pytest.raises(CommodoreError) as caught:
        cloned.objects({"path": "c", "helm": HELM[way]})
    assert caught.value.code in ("CMD-ARGO-407", "CMD-ARGO-408")
    assert secret.text not in str(caught.value.as_dict())


@pytest.mark.harmless
def test_a_chart_that_reads_the_folder_of_git(cloned: Argo, secret: Secret) -> None:
    template = 'kind: A\nmetadata: {name: x}\ntext: {{ .Files.Get ".git/config" | quote }}\n'
    cloned.files({**chart(), "templates/file.yaml": template})
    assert secret.text not in shown(cloned, {"path": "."})


@pytest.mark.parametrize("options", ["", "--load-restrictor LoadRestrictionsNone"])
def test_a_kustomization_that_reads_the_folder_of_git(cloned: Argo, secret: Secret, options: str) -> None:
    if options and not isolation():
        pytest.skip("this machine has no namespaces for all")
    cloned.config["kustomize.buildOptions"] = options
    cloned.files({"kustomization.yaml": f"configMapGenerator: [{{name: x, files: [{CONFIG}]}}]\n"})
    with pytest.raises(CommodoreError) as caught:
        cloned.objects({"path": "."})
    assert caught.value.code == "CMD-ARGO-410"
    assert secret.text not in str(caught.value.as_dict())


@pytest.mark.skipif(not isolation(), reason="this machine has no namespaces for all")
@pytest.mark.parametrize("name", ["{path}", "../../../private/credentials.yml", f"../{CONFIG}"])
def test_a_kustomization_without_restrictions(cloned: Argo, secret: Secret, name: str) -> None:
    """Files of the whole repository are asked for by that, and no others."""
    cloned.config["kustomize.buildOptions"] = "--load-restrictor LoadRestrictionsNone"
    cloned.files(
        {"k/kustomization.yaml": f"configMapGenerator: [{{name: x, files: [{name.format(path=secret.path)}]}}]\n"}
    )
    with pytest.raises(CommodoreError) as caught:
        cloned.objects({"path": "k"})
    assert caught.value.code == "CMD-ARGO-410"
    assert secret.text not in str(caught.value.as_dict())


JSONNET = {
    "git": "importstr '../.git/config'",
    "outside": "importstr '../../../private/credentials.yml'",
    "absolute": "importstr '{path}'",
    "binary": "std.map(function(x) x, importbin '../.git/config')",
    "device": "importstr '/dev/zero'",
    "environment": "importstr '/proc/self/environ'",
}


@pytest.mark.parametrize("way", JSONNET)
def test_jsonnet_that_reads_other_files(cloned: Argo, secret: Secret, way: str) -> None:
    cloned.files({"j/a.jsonnet": f"{{kind: 'A', metadata: {{name: {JSONNET[way].format(path=secret.path)}}}}}"})
    with pytest.raises(CommodoreError) as caught:
        cloned.objects({"path": "j"})
    assert caught.value.code in ("CMD-ARGO-404", "CMD-ARGO-408")
    assert secret.text not in str(caught.value.as_dict())


def test_jsonnet_that_wants_all_memory(argo: Argo) -> None:
    argo.limits = replace(argo.limits, rendering_bytes=600 << 20)
    argo.files({"a.jsonnet": "std.length(std.makeArray(100000000, function(i) i))"})
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"path": "."})
    assert caught.value.code == "CMD-ARGO-404"


@pytest.mark.harmless
def test_words_of_jsonnet_to_the_terminal(argo: Argo, capfd: pytest.CaptureFixture[str]) -> None:
    argo.files({"a.jsonnet": "std.trace('\\u001b]0;canary\\u0007', {kind: 'A', metadata: {name: 'x'}})"})
    assert len(argo.objects({"path": "."})) == 1
    assert "canary" not in "".join(capfd.readouterr())
