"""The commands in a README give the manifests next to it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.hydrated_place import CONFIG, Place
from tests.world.repos import git

CHART = {
    "Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n",
    "values.yaml": "v: own\nw: own\nx: own\n",
    "more.yaml": "v: more\n",
    "it's.yaml": "w: other\n",
    "text.txt": "some, text",
    "templates/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}, "
    "namespace: {{ .Release.Namespace }}}\ndata: {{ .Values | toJson }}\n",
}
BASE = {
    "kustomization.yaml": "resources: [config.yaml, deployment.yaml]\n",
    "config.yaml": CONFIG.format(name="base", value="1"),
    "deployment.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1, "
    "selector: {}, template: {spec: {containers: [{name: web, image: 'web:1'}]}}}\n",
}
PATCH = {"target": {"kind": "ConfigMap"}, "patch": "- {op: add, path: /data/more, value: it's}"}
CASES: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "a chart in a folder of a folder": ("deep er/dry", CHART, {}),
    "values of several kinds": (
        "dry",
        CHART,
        {
            "helm": {
                "valueFiles": ["more.yaml", "it's.yaml"],
                "values": "x: |\n  a 'b'\n  c\n",
                "parameters": [{"name": "u", "value": "a b,$c"}],
                "fileParameters": [{"name": "z", "path": "text.txt"}],
                "releaseName": "other",
            }
        },
    ),
    "an edited kustomization": (
        "deep er/dry",
        BASE,
        {
            "kustomize": {
                "namePrefix": "a-",
                "images": ["web=other:2"],
                "replicas": [{"name": "web", "count": 3}],
                "namespace": "there",
                "commonLabels": {"a": "b"},
                "commonAnnotations": {"c": "d e"},
                "patches": [PATCH],
            }
        },
    ),
    "a directory": ("dry", {"config.yaml": CONFIG.format(name="a", value="1")}, {}),
}


def script_of(readme: str) -> str:
    """The commands of a README, as they are copied from it."""
    return readme.partition("```shell\n")[2].partition("```")[0]


@pytest.mark.requirement("H29")
@pytest.mark.parametrize("case", CASES)
def test_the_commands_of_a_readme_give_its_manifests(place: Place, tmp_path: Path, case: str) -> None:
    path, files, options = CASES[case]
    (place.folder / "b.yaml").unlink()
    place.remote.commit({f"{path}/{name}": text for name, text in files.items()})
    dry = {"repoURL": place.remote.url, "targetRevision": "main", "path": path, **options}
    place.application("a", drySource=dry)
    code, groups = place.run()
    assert code == 0, groups[0]["error"]
    readme = git(place.remote.path, "show", "env/dev:a/README.md")
    place.remote.commit({f"{path}/{name}": "changed since" for name in files})
    script = script_of(readme)
    edits = [line for line in script.splitlines() if line.startswith("# kustomize edit ")]
    assert len(edits) == (6 if case == "an edited kustomization" else 0), "as Argo CD counts them"
    if case == "a directory":
        script += f"cat {path}/*.yaml\n"
    home = tmp_path / "by-hand"
    home.mkdir()
    done = subprocess.run(["bash", "-euc", script], cwd=home, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{script}\n{done.stderr}"
    assert by_name(done.stdout.partition("apiVersion")) == by_name(
        git(place.remote.path, "show", "env/dev:a/manifest.yaml").partition("apiVersion")
    )


def by_name(parts: tuple[str, str, str]) -> list[Any]:
    """Objects of a stream, sorted; what git says before them is not part of it."""
    return sorted(filter(None, yaml.safe_load_all("".join(parts[1:]))), key=lambda item: str(item["metadata"]))
