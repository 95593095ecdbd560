"""Files of a checkout that git ignores."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from commodore import argocd
from commodore.argocd import Options, Rendering, Tree
from tests.argocd.comparing.conftest import app
from tests.argocd.conftest import chart, config_map
from tests.world.folders import write_files
from tests.world.repos import git

URL = "https://git.example.com/team/shop.git"
CODE = "CMD-ARGO-009"


def checkout(folder: Path, files: Mapping[str, str], ignored: str = "") -> Path:
    write_files(folder, {**files, ".gitignore": ignored})
    if not (folder / ".git").exists():
        git(folder, "init", "-q")
    git(folder, "add", ".")
    return folder


def rendered(folder: Path, *, strict: bool = False) -> Rendering:
    return argocd.render(Tree.folder(folder), Options().having(self_url=(URL,), strict=strict))


def findings(rendering: Rendering) -> list[str]:
    return [
        f"{diagnostic.severity} {' '.join(place.place for place in diagnostic.locations)}"
        for diagnostic in rendering.diagnostics
        if diagnostic.code == CODE
    ]


SOURCES = {
    "helm": {
        **{f"web/{name}": text for name, text in chart().items()},
        "web/templates/own.yaml": config_map("own"),
        "web/notes.txt": "read by nothing",
        "values/a.yaml": "a: 1\n",
    },
    "kustomize": {
        "web/kustomization.yaml": "resources: [a.yaml, ../base]\n",
        "web/a.yaml": config_map("a"),
        "web/b.yaml": config_map("b"),
        "base/kustomization.yaml": "resources: [own.yaml]\n",
        "base/own.yaml": config_map("own"),
    },
    "jsonnet": {
        "web/a.jsonnet": "{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: import '../lib/n.libsonnet'}}",
        "lib/n.libsonnet": "'a'",
        "lib/m.libsonnet": "'b'",
    },
}


@pytest.mark.requirement("D75")
@pytest.mark.parametrize(
    ("kind", "ignored", "read"),
    [
        ("helm", "own.yaml\nnotes.txt\nvalues\n", "values/a.yaml web/templates/own.yaml"),
        ("kustomize", "own.yaml\nb.yaml\n", "base/own.yaml"),
        ("jsonnet", "*.libsonnet\n", "lib/n.libsonnet"),
    ],
)
def test_what_programs_read(kind: str, ignored: str, read: str, tmp_path: Path) -> None:
    """Only ignored files that a source reads are reported, and none once git tracks them."""
    source = {"repoURL": URL, "path": "web"}
    if kind == "helm":
        source["helm"] = {"valueFiles": ["../values/a.yaml"]}
    files = {**SOURCES[kind], "app.json": app("web", "", source=source)}
    folder = checkout(tmp_path, files, ignored)
    rendering = rendered(folder)
    assert findings(rendering) == [f"warning {read}"]
    assert not rendering.partial
    git(folder, "add", "--force", ".")
    assert findings(rendered(folder)) == []


@pytest.mark.requirement("D75")
def test_manifests_and_applications_are_left_out(tmp_path: Path) -> None:
    files = {
        "app.json": app("web", "web"),
        "mine.json": app("mine", "web"),
        "web/a.yaml": config_map("a"),
        "web/b.yaml": config_map("b"),
        "web/new.yaml": config_map("new"),
        "node_modules/x/values.yaml": "a: 1\n",
    }
    folder = checkout(tmp_path, files, "mine.json\nweb/b.yaml\nnode_modules\n")
    git(folder, "rm", "-q", "--cached", "web/new.yaml")
    rendering = rendered(folder)
    (application,) = rendering.applications
    assert [item.data["metadata"]["name"] for item in application.objects] == ["a", "new"]
    assert findings(rendering) == ["warning mine.json", "warning web/b.yaml"]
    assert findings(rendered(folder, strict=True)) == ["error mine.json", "error web/b.yaml"]


def test_a_folder_that_is_ignored_as_a_whole(tmp_path: Path) -> None:
    """Who names it wants to see what is in it."""
    files = {"out/app.json": app("web", "out/web"), "out/web/a.yaml": config_map("a")}
    folder = checkout(tmp_path, files, "out\n")
    rendering = rendered(folder / "out")
    assert [len(application.objects) for application in rendering.applications] == [1]
    assert findings(rendering) == []


@pytest.mark.requirement("D75")
def test_what_is_ignored_in_a_folder_that_is_not_added_yet(tmp_path: Path) -> None:
    folder = checkout(tmp_path, {"app.json": app("web", "web")}, "secret.yaml\nout\n")
    names = ("new", "secret", "out/out", "sub/secret")
    write_files(folder, {f"web/{name}.yaml": config_map(name[:3]) for name in names})
    (folder / "web" / "empty").mkdir()
    rendering = rendered(folder)
    (application,) = rendering.applications
    assert [item.data["metadata"]["name"] for item in application.objects] == ["new"]
    assert findings(rendering) == ["warning web/secret.yaml"]


@pytest.mark.requirement("D62")
def test_what_is_ignored_has_not_changed(tmp_path: Path) -> None:
    files = {"web.json": app("web", "web"), "one.json": app("one", "one"), "web/a.yaml": config_map("a")}
    folder = checkout(tmp_path, {**files, "one/a.yaml": config_map("a")}, "*.log\n")
    git(folder, "commit", "-qm", "one")
    write_files(folder, {"web/x.log": "", "one/new.yaml": config_map("new")})
    difference = argocd.diff(Tree.commit(folder, "HEAD"), Tree.folder(folder), Options().having(self_url=(URL,)))
    assert {application.name: application.state for application in difference.applications} == {
        "argocd/one": "changed",
        "argocd/web": "not-rendered",
    }
