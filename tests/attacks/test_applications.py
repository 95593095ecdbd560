"""Repositories of Applications that want to read what is not theirs: git's own folder, and files outside."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commodore.cli.main import run
from commodore.confinement import isolation
from commodore.errors import CommodoreError
from tests.argocd.conftest import Argo, argo, chart
from tests.attacks.conftest import Secret, Witness

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


ASKED_OF_HELM = {
    "climbing values": {"valueFiles": ["../../private/credentials.yml"]},
    "absolute values": {"valueFiles": ["SECRET"]},
    "values of this machine": {"valueFiles": ["http://127.0.0.1:9/values.yaml"]},
    "values of the network's own": {"valueFiles": ["http://169.254.169.254/latest/user-data"]},
    "values of a process": {"valueFiles": ["/proc/self/environ"]},
    "values without end": {"valueFiles": ["/dev/zero"]},
    "values of an unknown scheme": {"valueFiles": ["evil://values"]},
    "values by standard input": {"valueFiles": ["-"]},
    "values of another source": {"valueFiles": ["$ref/../../private/credentials.yml"]},
    "a file as a parameter": {"fileParameters": [{"name": "name", "path": "SECRET"}]},
    "a climbing file as a parameter": {"fileParameters": [{"name": "name", "path": "../../private/credentials.yml"}]},
    "a name that is an option": {"releaseName": "--post-renderer=/bin/sh"},
    "a bomb of aliases": {"values": "a: &a [*a]"},
}
SOURCES: dict[str, dict[str, object]] = {
    **{name: {"path": "chart", "helm": helm} for name, helm in ASKED_OF_HELM.items()},
    "a climbing path": {"path": "../private"},
    "a path that climbs from inside": {"path": "chart/../../private"},
    "a resource outside": {"path": "kustomize"},
    "libraries outside": {"path": "jsonnet", "directory": {"jsonnet": {"libs": ["../../private"]}}},
    "an import outside": {"path": "jsonnet"},
    "a plugin": {"path": "chart", "plugin": {"name": "x", "env": [{"name": "A", "value": "b"}]}},
    "a command as a repository": {"repoURL": "ext::sh -c 'WITNESS'", "path": "."},
    "an option as a repository": {"repoURL": "--upload-pack=WITNESS", "path": "."},
    "an option as a host": {"repoURL": "ssh://-oProxyCommand=WITNESS/x", "path": "."},
    "a folder as a repository": {"repoURL": "PRIVATE", "path": "."},
    "a folder as a URL": {"repoURL": "file://PRIVATE", "path": "."},
    "a revision that is an option": {
        "repoURL": "https://127.0.0.1:9/x",
        "path": ".",
        "targetRevision": "--upload-pack=x",
    },
}
ENDS = {
    "CMD-ARGO-309": (
        "a climbing path",
        "a path that climbs from inside",
    ),
    "CMD-ARGO-313": ("an option as a host",),
    "CMD-ARGO-320": (
        "a folder as a URL",
        "a folder as a repository",
        "values of an unknown scheme",
        "a command as a repository",
        "an option as a repository",
        "a revision that is an option",
    ),
    "CMD-ARGO-405": (
        "a name that is an option",
        "a bomb of aliases",
        "a file as a parameter",
    ),
    "CMD-ARGO-407": (
        "absolute values",
        "values by standard input",
        "values of a process",
        "values without end",
    ),
    "CMD-ARGO-408": (
        "values of another source",
        "a climbing file as a parameter",
        "an import outside",
        "climbing values",
        "libraries outside",
    ),
    "CMD-ARGO-410": ("a resource outside",),
    "CMD-ARGO-420": ("a plugin",),
    "CMD-CONF-011": (
        "values of this machine",
        "values of the network's own",
    ),
}


@pytest.mark.parametrize("name", SOURCES)
def test_what_a_source_names(
    tmp_path: Path, secret: Secret, witness: Witness, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    tree = tmp_path / "tree"
    for path, text in {
        "chart/Chart.yaml": "{apiVersion: v2, name: c, version: 1.0.0}",
        "chart/templates/a.yaml": "kind: A\nmetadata: {name: '{{ .Values.password }}{{ .Values.name }}'}\n",
        "kustomize/kustomization.yaml": "resources: [../../private/credentials.yml]\n",
        "jsonnet/main.jsonnet": f"{{ kind: 'A', metadata: {{ name: importstr '{secret.path}' }} }}",
    }.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    source = {"repoURL": "https://git.example.com/shop", "targetRevision": "HEAD", **SOURCES[name]}
    spec = {"destination": {"server": "https://kubernetes.default.svc"}, "source": source}
    made = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "x"}, "spec": spec}
    text = json.dumps(made).replace("SECRET", str(secret.path)).replace("PRIVATE", str(secret.path.parent))
    (tree / "app.yaml").write_text(text.replace("WITNESS", witness.shell))
    status = run(["argocd", "render", "x", "--path", str(tree), "--self-url", "https://git.example.com/shop"])
    out, err = capfd.readouterr()
    assert (status, out) == (2, "")
    assert secret.text not in err
    assert not witness.was_written
    [code] = re.findall(r"(?s)error: .*?\[(CMD-[A-Z]+-\d+)\]", err)
    assert name in ENDS[code]
