"""`commodore catalog objects` and `commodore catalog images`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.world.repos import git

Call = Callable[..., tuple[int, str, str]]

POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: n}}
spec: {{containers: [{{name: c, image: '{image}'}}]}}
"""


def write(folder: Path, **images: str) -> None:
    for name, image in images.items():
        file = folder / "manifests" / name / "pod.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(POD.format(name=name, image=image))


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """A catalog with one commit, and a change that is not committed."""
    folder = tmp_path / "catalog"
    folder.mkdir()
    git(folder, "init", "--quiet")
    write(folder, one="quay.io/a/b:1", two="quay.io/a/b:1")
    (folder / "manifests" / "one" / "values.yaml").write_text("no: object\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "one")
    write(folder, two="quay.io/a/b:2", three="nginx")
    return folder


def test_objects(call: Call, catalog: Path) -> None:
    code, out, _ = call("catalog", "objects", str(catalog))
    assert code == 0
    assert [line.split() for line in out.splitlines()] == [
        ["KIND", "NAMESPACE", "NAME", "INSTANCE", "FILE"],
        ["Pod", "n", "one", "one", "manifests/one/pod.yaml"],
        ["Pod", "n", "three", "three", "manifests/three/pod.yaml"],
        ["Pod", "n", "two", "two", "manifests/two/pod.yaml"],
    ]


def test_chosen_objects_as_json(call: Call, catalog: Path) -> None:
    out = call("catalog", "objects", str(catalog), "--instance", "one", "-o", "json")[1]
    assert json.loads(out)["objects"] == [
        {
            "key": {"group": "", "kind": "Pod", "namespace": "n", "name": "one"},
            "api_version": "v1",
            "file": "manifests/one/pod.yaml",
            "instance": "one",
        }
    ]
    words = ("catalog", "objects", str(catalog), "-o", "json")
    assert len(json.loads(call(*words, "--revision", "HEAD")[1])["objects"]) == 2
    assert json.loads(call(*words, "--kind", "Service")[1])["objects"] == []


def test_images_with_their_objects(call: Call, catalog: Path) -> None:
    assert call("catalog", "images", str(catalog))[1].splitlines() == [
        "nginx  (does not name one version)",
        "  Pod n/three (c)  manifests/three/pod.yaml",
        "quay.io/a/b:1",
        "  Pod n/one (c)  manifests/one/pod.yaml",
        "quay.io/a/b:2",
        "  Pod n/two (c)  manifests/two/pod.yaml",
    ]
    load = json.loads(call("catalog", "images", str(catalog), "-o", "json")[1])["images"]
    images = [(item["image"], len(item["places"])) for item in load]
    assert [(image["repository"], image["tag"], image["is_pinned"], places) for image, places in images] == [
        ("library/nginx", "", False, 1),
        ("a/b", "1", True, 1),
        ("a/b", "2", True, 1),
    ]


def test_images_that_differ(call: Call, catalog: Path) -> None:
    words = ("catalog", "images", str(catalog), "--diff", "HEAD")
    assert call(*words)[1].splitlines() == [
        "docker.io/library/nginx",
        "  + nginx  Pod n/three",
        "quay.io/a/b",
        "  + quay.io/a/b:2  Pod n/two",
    ]
    load = json.loads(call(*words, "-o", "json")[1])["changes"]
    assert [(item["repository"], len(item["removed"]), len(item["added"])) for item in load] == [
        ("docker.io/library/nginx", 0, 1),
        ("quay.io/a/b", 0, 1),
    ]
    assert call("catalog", "images", str(catalog), "--revision", "HEAD", "--diff", "HEAD")[:2] == (0, "")


def test_hostile_names(call: Call, tmp_path: Path) -> None:
    write(tmp_path, one="evil\\x1b[31m/x:1")
    file = tmp_path / "manifests" / "one" / "pod.yaml"
    file.write_text(
        file.read_text().replace("name: one", 'name: "x\\e[31m\\u202e"').replace("'evil", '"evil').replace(":1'", ':1"')
    )
    for view in ("objects", "images"):
        code, out, _ = call("catalog", view, str(tmp_path))
        assert code == 0
        assert not {"\x1b", "\u202e"} & set(out)
