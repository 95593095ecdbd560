"""The files of its repository that an Application reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commodore.argocd import ArgoSettings
from commodore.argocd.acquiring import repository_identity
from commodore.argocd.comparing.owners import ChangedFiles
from commodore.argocd.comparing.reads import Reads, reads_of
from commodore.argocd.model.application import read_application
from commodore.argocd.trees import Tree
from commodore.base.errors import Location
from commodore.base.limits import DEFAULT_LIMITS
from tests.argocd.comparing.conftest import URL, app

Read = Callable[..., list[str]]


@pytest.fixture
def reads(tmp_path: Path) -> Callable[..., Reads]:
    """Return the reads of an Application with these sources in a repository with these files."""

    def reads(files: dict[str, str], *sources: dict[str, Any]) -> Reads:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text.startswith("-> "):
                path.symlink_to(text[3:])
            else:
                path.write_text(text, encoding="utf-8")
        spec = {"sources": [{"repoURL": URL, **source} for source in sources]}
        application = read_application(json.loads(app("shop", "x", **spec)), Location("app"))
        own = {repository_identity(URL): Tree(tmp_path, "", "the tree")}
        return reads_of(application, ArgoSettings(), own, DEFAULT_LIMITS)

    return reads


@pytest.fixture
def read(reads: Callable[..., Reads]) -> Read:
    return lambda *arguments: reads(*arguments).as_lines()


@pytest.mark.requirement("D62")
def test_a_folder(read: Read) -> None:
    assert read({"a/x.yaml": ""}, {"path": "a"}) == ["a/*"]
    assert read({}, {"path": "a", "directory": {"recurse": True}}) == ["a/**"]
    assert read({}, {"path": "./a/"}) == ["a/*"]
    assert read({"x.yaml": ""}, {"path": "."}) == ["*"]
    assert read({}, {"path": "not-there"}) == ["not-there/**"]
    assert read({}, {"path": "a", "repoURL": "https://git.example.com/other"}) == []


@pytest.mark.requirement("D62")
def test_overrides_count(read: Read) -> None:
    files = {"c/Chart.yaml": "", "c/.argocd-source-shop.yaml": "helm: {valueFiles: [../v.yaml]}"}
    assert read(files, {"path": "c"}) == ["c/**", "v.yaml"]


@pytest.mark.requirement("D62", "D32")
def test_a_chart_with_its_value_files(read: Read) -> None:
    files = {
        "c/Chart.yaml": 'dependencies: [{name: l, repository: "file://../lib"}, {name: x, repository: "https://x"}]',
        "lib/Chart.yaml": "name: l",
    }
    helm = {
        "valueFiles": [
            "a.yaml",
            "/top.yaml",
            "../env/*.yaml",
            "$ref/r.yaml",
            "https://e.com/v.yaml",
            "$ARGOCD_APP_NAME.yaml",
        ],
        "fileParameters": [{"name": "f", "path": "../file.txt"}],
    }
    reads = read(files, {"path": "c", "helm": helm}, {"ref": "ref"})
    assert reads == ["c/**", "env/**", "file.txt", "lib/**", "r.yaml", "top.yaml"]


@pytest.mark.requirement("D62")
def test_values_for_a_chart_from_elsewhere(read: Read) -> None:
    chart = {"repoURL": "https://charts.example.com", "chart": "web", "targetRevision": "1.0.0"}
    helm = {"valueFiles": ["$values/v/$ARGOCD_APP_NAME.yaml", "own.yaml", "$other/x.yaml"]}
    other = {"repoURL": "https://git.example.com/other", "ref": "other"}
    assert read({}, {**chart, "helm": helm}, {"ref": "values"}, other) == ["v/shop.yaml"]


@pytest.mark.requirement("D62")
def test_a_kustomization_with_all_that_it_names(read: Read) -> None:
    files = {
        "k/kustomization.yaml": """
resources: [../base, d.yaml, https://example.com/x]
components: [../component]
patches: [{path: ../patches/p.yaml}]
configMapGenerator: [{name: a, files: [key=../files/a.txt], envs: [../env]}]
generators: [../gen/chart.yaml]
helmGlobals: {chartHome: ../charts}
""",
        "base/kustomization.yml": "resources: [deeper]",
        "base/deeper/Kustomization": "bases: [../../deepest]",
        "deepest/x.yaml": "",
        "component/kustomization.yaml": "",
        "gen/chart.yaml": "valuesFile: ../gen-values.yaml",
        "charts/c/values.yaml": "",
    }
    reads = read(files, {"path": "k", "kustomize": {"components": ["../more"]}})
    for path in ("base", "deepest", "component", "charts", "k"):
        assert f"{path}/**" in reads
    for path in ("patches/p.yaml", "files/a.txt", "env", "gen/chart.yaml", "gen-values.yaml", "more"):
        assert path in reads
    assert not [path for path in reads if path.startswith(("base/d", "k/k"))]  # said with their folders


@pytest.mark.requirement("D62")
def test_imports_of_jsonnet(read: Read) -> None:
    files = {
        "j/a.jsonnet": "local b = importstr \"v.txt\"; (import '../lib/a.libsonnet') + (import 'far.libsonnet')",
        "lib/a.libsonnet": "import 'b.libsonnet'",
        "lib/b.libsonnet": "{}",
        "vendor/far.libsonnet": "{}",
    }
    reads = read(files, {"path": "j", "directory": {"jsonnet": {"libs": ["vendor"]}}})
    assert reads == [
        "j/*",
        "j/far.libsonnet",
        "j/v.txt",
        "lib/a.libsonnet",
        "lib/b.libsonnet",
        "vendor/far.libsonnet",
        "vendor/v.txt",
    ]


@pytest.mark.requirement("D62")
def test_what_links_lead_to(read: Read) -> None:
    files = {"shared/x.yaml": "", "one.yaml": "", "a/l.yaml": "-> ../one.yaml", "a/deep": "-> ../shared"}
    assert read(files, {"path": "a", "directory": {"recurse": True}}) == ["a/**", "one.yaml", "shared/**"]
    assert read({"b/l.yaml": "-> ../one.yaml"}, {"path": "b"}) == ["b/*", "one.yaml"]
    assert read({"b/out.yaml": "-> /etc/passwd"}, {"path": "b"}) == ["b/*", "one.yaml"]


def test_paths_that_leave_the_repository_are_not_followed(read: Read) -> None:
    files = {"k/kustomization.yaml": "resources: [../../outside, /etc]", "j/a.jsonnet": "import '../../x'"}
    assert read(files, {"path": "k"}) == ["k/**"]
    assert read(files, {"path": "j"}) == ["j/*"]
    assert read(files, {"path": "../up"}) == ["../up/**"]


@pytest.mark.parametrize(
    ("path", "touched"),
    [("f/a", True), ("f/b", False), ("d/x/y", True), ("d", False), ("flat/a", True), ("flat/a/b", False), ("x", False)],
)
def test_what_touches(path: str, touched: bool) -> None:
    assert ChangedFiles([path]).read_by(Reads({"f/a"}, {"d"}, {"flat"})) == ({path} if touched else set())


def test_the_whole_repository() -> None:
    changed = ChangedFiles(["a", "a/b"])
    assert changed.read_by(Reads(folders={""})) == {"a", "a/b"}
    assert changed.read_by(Reads(flat={""})) == {"a"}
