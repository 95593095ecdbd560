"""`commodore argocd`: exit codes, streams, forms."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.base.yaml.kube_yaml import read_documents
from commodore.cli.shell.settings.replaced import REPLACED
from tests.argocd.comparing.conftest import app
from tests.cli.conftest import commands
from tests.world.cluster import ROOT
from tests.world.repos import git
from tests.world.terminal import run_on_terminal

Shown = tuple[int, str, str]
Call = Callable[..., Shown]

CONFIG = "kind: ConfigMap\nmetadata: {name: argocd-cm}\ndata: {application.resourceTrackingMethod: %s}\n"


@pytest.fixture
def config(tmp_path: Path) -> Callable[[str], str]:
    def write(method: str) -> str:
        file = tmp_path / "settings.yaml"
        file.write_text(CONFIG % method, encoding="utf-8")
        return str(file)

    return write


@pytest.mark.requirement("D13", "D14")
def test_settings_of_the_repository_in_the_current_folder(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with the line of its key, also in a document that is not the first, and in values of the chart."""
    (tmp_path / "cm.yaml").write_text(
        "# resource.exclusions\n---\nkind: ConfigMap\nmetadata: {name: argocd-cm}\ndata:\n  url: x\n"
        '  "kustomize.buildOptions": --enable-helm\n  resource.exclusons: |\n    - kinds: [X]\n'
    )
    values = {
        "argo-cd": {"configs": {"params": {"create": True, "application.namespaces": "x", "aplication.namespaces": 1}}}
    }
    (tmp_path / "values.yaml").write_text(json.dumps(values, indent=1))
    monkeypatch.chdir(tmp_path)
    code, out, err = call("argocd", "settings", "-o", "json")
    places = {row["key"]: row["place"] for row in json.loads(out)["settings"] if row["place"]}
    assert places == {
        "kustomize.buildOptions": {"place": "cm.yaml", "line": 7, "column": None},
        "application.namespaces": {"place": "values.yaml", "line": 6, "column": None},
    }
    assert (code, err.count("[CMD-ARGO-"), err.count("[CMD-ARGO-122]")) == (0, 2, 2)
    assert "cm.yaml:8" in err
    assert "values.yaml:7" in err
    Path("installation.yaml").write_text("kustomize_build_options: [x]\n")
    code, out, _ = call("argocd", "settings", "--installation", "installation.yaml")
    assert "argocd-cm kustomize.buildOptions: 'x' (installation.yaml, overrides cm.yaml:7)\n" in out


@pytest.mark.requirement("D14", "D70")
def test_settings_with_their_places(call: Call, config: Callable[[str], str]) -> None:
    file = config("label")
    code, out, err = call("argocd", "settings", "--argocd-settings", file, "-o", "json")
    data = json.loads(out)
    assert (code, err, data["schema"], data["partial"]) == (0, "", "argocd-settings", False)
    (row,) = (setting for setting in data["settings"] if setting["key"] == "application.resourceTrackingMethod")
    assert (row["value"], row["level"], row["place"]) == ("label", "option", {"place": file, "line": 3, "column": None})
    code, out, _ = call("argocd", "settings")
    assert code == 0
    assert "argocd-cm helm.enable: 'true' (default)\n" in out


@pytest.mark.requirement("D28", "D71", "D73", "D74")
def test_strict_and_diagnostics(call: Call, config: Callable[[str], str]) -> None:
    file = config("labels")
    code, _, err = call("argocd", "settings", "--argocd-settings", file)
    assert (code, err.splitlines()[0][:8]) == (0, "warning:")
    assert "[CMD-ARGO-121]" in err
    assert f"at {file}:3" in err
    assert call("argocd", "settings", "--argocd-settings", file, "--diagnostics", "none")[2] == ""
    code, _, err = call("argocd", "settings", "--argocd-settings", file, "--strict", "--diagnostics", "none")
    assert (code, err[:6]) == (2, "error:")


@pytest.mark.requirement("D73")
def test_every_failure_is_exit_code_2(call: Call, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("kind: Deployment\n", encoding="utf-8")
    code, out, err = call("argocd", "settings", "--argocd-settings", str(bad))
    assert (code, out) == (2, "")
    assert "[CMD-ARGO-103]" in err
    assert call("argocd", "settings", "--argocd-settings", str(tmp_path / "none.yaml"))[0] == 2
    assert call("argocd", "nonsense")[0] == 2


def test_diagnostics_as_json_lines(call: Call, config: Callable[[str], str]) -> None:
    code, _, err = call("--log-format", "json", "argocd", "settings", "--argocd-settings", config("labels"))
    assert code == 0
    assert [json.loads(line)["code"] for line in err.splitlines()] == ["CMD-ARGO-121"]


@pytest.fixture
def shop(tmp_path: Path) -> list[str]:
    """An Application with a folder that stands for its repository: the options that say so."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "a.yaml").write_text('kind: A\nmetadata: {name: a, annotations: {a: "1e3", "y": "no"}}\n')
    application = """\
kind: Application
metadata: {name: shop}
spec:
  destination: {server: https://kubernetes.default.svc, namespace: web}
  source: {repoURL: "https://git.example.com/shop", path: %s}
"""
    (tmp_path / "app.yaml").write_text(application % ".")
    (tmp_path / "bad.yaml").write_text((application % "none").replace("name: shop", "name: bad"))
    return ["--app", str(tmp_path / "app.yaml"), "--repo-map", f"https://git.example.com/shop={tmp_path / 'shop'}"]


@pytest.mark.requirement("D12", "D70", "D85")
def test_render_as_a_stream(call: Call, shop: list[str]) -> None:
    code, out, err = call("argocd", "render", *shop)
    assert (code, err) == (0, "")
    (value,) = read_documents(out, place="out")
    annotations = {"a": "1e3", "y": "no", "argocd.argoproj.io/tracking-id": "shop:/A:web/a"}
    assert value == {"kind": "A", "metadata": {"name": "a", "namespace": "web", "annotations": annotations}}
    assert call("argocd", "render", *shop)[1] == out
    assert call("argocd", "render", *shop, "-o", "name")[1] == "A web/a\n"
    code, out, _ = call("argocd", "render", *shop, "--stage", "manifests", "-o", "json")
    data = json.loads(out)
    assert (code, data["schema"], data["objects"][0]["source"]) == (0, "argocd-render", 1)
    assert data["objects"][0]["partial"] is False
    assert "namespace" not in data["objects"][0]["object"]["metadata"]


def test_render_into_a_folder(call: Call, shop: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert call("argocd", "render", *shop, "--out", str(out)) == (0, "", f"1 file in {out}.\n")
    assert (out / "shop.yaml").read_text(encoding="utf-8") == call("argocd", "render", *shop)[1]
    (out / "shop.yaml").rename(tmp_path / "mine.yaml")
    assert call("argocd", "render", *shop, "--out", str(tmp_path))[0] == 2


def test_a_revision_of_a_repository(call: Call, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    for number in ("1", "2"):
        (folder / "a.json").write_text(app(f"app-{number}", "."), encoding="utf-8")
        if number == "1":
            git(folder, "init", "-q", "-b", "main")
            git(folder, "add", ".")
            git(folder, "commit", "-qm", "one")
    bare = tmp_path / "bare"
    git(tmp_path, "clone", "-q", "--bare", str(folder), str(bare))
    words = ("argocd", "apps", "-o", "name", "--offline")
    assert call(*words, "--path", str(folder))[1] == "argocd/app-2\n"
    assert call(*words, "--path", str(folder), "--ref", "main")[1] == "argocd/app-1\n"
    assert call(*words, "--repo", str(bare), "--ref", "main")[1] == "argocd/app-1\n"
    assert "[CMD-ARGO-032]" in call(*words, "--repo", str(bare))[2]
    compared = ("argocd", "diff", "--offline", "--path", str(folder), "--base-repo", str(bare))
    assert "[CMD-ARGO-032]" in call(*compared)[2]
    assert "app-2" in call(*compared, "--base", "main")[1]


@pytest.mark.requirement("D73", "D84")
def test_what_can_be_rendered_is_shown_with_the_error(call: Call, shop: list[str], tmp_path: Path) -> None:
    code, out, err = call("argocd", "render", *shop, "--app", str(tmp_path / "bad.yaml"), "-o", "name")
    assert (code, out) == (2, "A web/a\n")
    assert "argocd/bad: the path 'none' is not in" in err
    assert "[CMD-ARGO-309]" in err


def test_render_needs_applications(call: Call, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("kind: Deployment\n", encoding="utf-8")
    assert "[CMD-ARGO-103]" in call("argocd", "render", "--app", str(other))[2]


@pytest.mark.requirement("D23")
def test_a_name_that_kubernetes_refuses_is_rendered(call: Call, shop: list[str], tmp_path: Path) -> None:
    """With a warning, but not if it would lead elsewhere as a part of a path."""
    text = (tmp_path / "app.yaml").read_text()
    (tmp_path / "app.yaml").write_text(text.replace("name: shop", "name: Shop_1"))
    code, out, err = call("argocd", "render", *shop, "-o", "name")
    assert (code, out) == (0, "A web/a\n")
    assert "metadata.name is 'Shop_1', which Kubernetes refuses as a name [CMD-ARGO-103]" in err
    for name in ("../shop", "..", "a/b"):
        (tmp_path / "app.yaml").write_text(text.replace("name: shop", f"name: {name}"))
        assert call("argocd", "render", *shop, "-o", "name")[:2] == (2, "")


@pytest.mark.requirement("D29")
def test_several_sources_win_over_one_beside_them(call: Call, shop: list[str], tmp_path: Path) -> None:
    text = (tmp_path / "app.yaml").read_text().replace("path: .", "path: none")
    sources = '  sources: [{repoURL: "https://git.example.com/shop", path: .}]\n'
    (tmp_path / "app.yaml").write_text(text + sources)
    assert call("argocd", "render", *shop, "-o", "name")[:2] == (0, "A web/a\n")


def test_a_map_that_nothing_uses_is_told(call: Call, shop: list[str], tmp_path: Path) -> None:
    unused = f"https://git.example.com/unused={tmp_path}"
    code, _, err = call("argocd", "render", *shop, "--repo-map", unused, "--diagnostics", "all")
    assert (code, "[CMD-ARGO-319]" in err) == (0, True)
    assert call("argocd", "render", *shop, "--repo-map", unused, "--strict")[0] == 2


@pytest.mark.requirement("D56", "D70")
def test_normalize(call: Call, tmp_path: Path) -> None:
    (tmp_path / "app.yaml").write_text(
        "kind: Application\nmetadata: {name: a}\n"
        "spec: {ignoreDifferences: [{kind: ConfigMap, jqPathExpressions: [.data.a]}]}\n"
    )
    (tmp_path / "objects.yaml").write_text("kind: ConfigMap\nmetadata: {name: c}\ndata: {a: x, b: z}\n---\nkind: B\n")
    given = ("argocd", "normalize", "--app", str(tmp_path / "app.yaml"), "--objects", str(tmp_path / "objects.yaml"))
    code, out, err = call(*given)
    assert (code, err) == (0, "")
    expected = [{"kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"b": "z"}}, {"kind": "B"}]
    assert list(read_documents(out, place="out")) == expected
    assert json.loads(call(*given, "-o", "json")[1])["objects"] == expected
    code, _, err = call("argocd", "normalize", "--app", str(tmp_path / "app.yaml"))
    assert (code, "[CMD-ARGO-021]" in err) == (2, True)
    (tmp_path / "objects.yaml").write_text("- a\n")
    assert "[CMD-ARGO-103]" in call(*given)[2]


SET = """
kind: ApplicationSet
metadata: {name: s}
spec:
  generators:
  - list: {elements: [{name: one}, {name: two}]}
  - git: {repoURL: "https://git.example.com/shop", directories: [{path: "*"}]}
  template:
    metadata: {name: "app-{{path.basename}}{{name}}"}
    spec: {source: {repoURL: "https://git.example.com/shop", path: x}, destination: {name: in-cluster}}
"""


@pytest.mark.requirement("D70", "D84")
def test_applications_of_sets(call: Call, tmp_path: Path) -> None:
    file = tmp_path / "set.yaml"
    file.write_text(SET, encoding="utf-8")
    shop = tmp_path / "shop"
    (shop / "web").mkdir(parents=True)
    (shop / "web" / "file").write_text("", encoding="utf-8")
    given = ("argocd", "appsets", "--appset", str(file), "--repo-map", f"https://git.example.com/shop={shop}")
    code, out, _ = call(*given, "-o", "name", "--diagnostics", "none")
    assert (code, out.splitlines()[0]) == (0, "argocd/app-{{path.basename}}one")
    assert out.splitlines()[2] == "argocd/app-web{{name}}"
    code, out, _ = call(*given, "-o", "json")
    data = json.loads(out)
    assert (code, data["schema"], len(data["applications"])) == (0, "argocd-appsets", 3)
    assert data["applications"][2]["parameters"]["path"] == "web"
    code, out, _ = call(*given, "-o", "yaml")
    assert (code, out.count("kind: Application\n")) == (0, 3)
    code, out, err = call(*given[:4], "--offline", "-o", "table", "--diagnostics", "none")
    assert (code, len(out.splitlines())) == (2, 2)
    assert "[CMD-ARGO-310]" in err


def test_sets_of_a_folder(call: Call, tmp_path: Path) -> None:
    """Each by its name; what generators would ask for becomes a facts file, which makes them work."""
    asks = {"github": {"organization": "acme"}}
    entries = [
        {"scmProvider": {**asks, "filters": [{"pathsExist": ["deploy"]}]}},
        {
            "matrix": {
                "generators": [{"list": {"elements": [{"a": "1"}]}}, {"pullRequest": {"gitlab": {"project": "7"}}}]
            }
        },
    ]
    spec = {"destination": {"name": "in-cluster"}, "source": {"repoURL": "https://x", "path": "."}}
    for name, generators, called in (
        ("listed", [{"list": {"elements": [{"name": "one"}]}}], "app-{{name}}"),
        ("asking", entries[:1], "app-{{repository}}"),
        ("pulls", entries[1:], "app-{{a}}-{{number}}"),
    ):
        template = {"metadata": {"name": called}, "spec": {**spec, "project": "default"}}
        made = {"generators": generators, "template": template}
        kind = {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "ApplicationSet",
            "metadata": {"name": name},
            "spec": made,
        }
        (tmp_path / f"{name}.json").write_text(json.dumps(kind), encoding="utf-8")
    words = ("argocd", "appsets", "--offline", "--path", str(tmp_path), "-o", "name")
    assert call(*words, "listed")[:2] == (0, "argocd/app-one\n")
    assert call(*words, "argocd/l*")[1] == "argocd/app-one\n"
    assert "[CMD-ARGO-022]" in call(*words, "lasted")[2]
    facts = tmp_path / "facts"
    code, _, err = call(*words, "--write-facts", str(facts / "none" / "facts"))
    assert (code, "[CMD-WORK-003]" in err) == (2, True)
    assert call(*words, "--write-facts", str(facts))[:2] == (0, "")
    (needed,) = read_documents(facts.read_text(encoding="utf-8"), place="x")
    assert set(needed) == {"scmRepositories", "pullRequests"}
    assert (needed["scmRepositories"][0]["organization"], needed["scmRepositories"][0]["paths"]) == ("acme", [])
    assert (needed["pullRequests"][0]["provider"], needed["pullRequests"][0]["organization"]) == ("gitlab", "7")
    needed["scmRepositories"][0] |= {"repository": "shop", "paths": ["deploy"]}
    facts.write_text(json.dumps(needed), encoding="utf-8")
    code, out, _ = call(*words, "asking", "--facts", str(facts), "--diagnostics", "none")
    assert (code, out) == (0, "argocd/app-shop\n")
    assert call(*words, "pulls", "--facts", str(facts))[1] == "argocd/app-1-1\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with two Applications, whose repository it is if that is said."""
    for name, path in (("web", "web"), ("bad", "none")):
        file = tmp_path / "tree" / "apps" / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}}}\nspec:\n"
            "  destination: {server: https://kubernetes.default.svc, namespace: web}\n"
            f"  source: {{repoURL: https://user:s3cret@git.example.com/shop, path: {path}}}\n"
        )
    (tmp_path / "tree" / "web").mkdir()
    (tmp_path / "tree" / "web" / "a.yaml").write_text("kind: A\nmetadata: {name: a}\n")
    return tmp_path / "tree"


@pytest.mark.requirement("D23", "D41", "D70", "D83")
def test_apps(call: Call, tree: Path) -> None:
    code, out, err = call("argocd", "apps", "--path", str(tree))
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()] == [
        ["NAME", "PROJECT", "DESTINATION", "SOURCES", "DEFINED", "IN"],
        ["argocd/bad", "default", "in-cluster", "web", "none", "apps/bad.yaml:1"],
        ["argocd/web", "default", "in-cluster", "web", "web", "apps/web.yaml:1"],
    ]
    assert call("argocd", "apps", "--path", str(tree), "-o", "name", "w*")[1] == "argocd/web\n"
    code, out, _ = call("argocd", "apps", "--path", str(tree), "-o", "json", "web")
    (row,) = json.loads(out)["applications"]
    origin = {"kind": "file", "file": "apps/web.yaml", "line": 1, "set": "", "generator": "", "parent": ""}
    assert (code, row["origin"]) == (0, origin)
    assert "s3cret" not in out
    (value,) = read_documents(call("argocd", "apps", "--path", str(tree), "-o", "yaml", "web")[1], place="out")
    assert value["applications"] == [row]


@pytest.mark.requirement("D23", "D24", "D73")
def test_apps_that_are_rendered(call: Call, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tree / "apps" / "web.yaml"
    root = file.read_text().replace("web", "chart")
    (tree / "apps" / "chart.yaml").write_text(root)
    (tree / "chart" / "templates").mkdir(parents=True)
    (tree / "chart" / "Chart.yaml").write_text("apiVersion: v2\nname: c\nversion: 1.0.0\n")
    (tree / "chart" / "templates" / "a.yaml").write_text(root.replace("name: chart", "name: child, namespace: argocd"))
    given = ("argocd", "apps", "--path", str(tree), "--self-url", "https://git.example.com/shop")
    code, out, _ = call(*given)
    assert (code, out.splitlines()[3].split()[-3:]) == (0, ["apps/chart.yaml:1", "by", "argocd/chart"])
    monkeypatch.setenv("COMMODORE_ARGOCD_DISCOVERY", "static")
    assert "child" not in call(*given)[1]
    monkeypatch.delenv("COMMODORE_ARGOCD_DISCOVERY")
    (tree / "chart" / "templates" / "b.yaml").write_text("{{ fail `x` }}")
    code, out, err = call(*given)
    assert (code, len(out.splitlines()), "[CMD-ARGO-405]" in err) == (2, 4, True)
    code, _, err = call("argocd", "render", *given[2:], "--offline", "-o", "name", "chart")
    assert (code, err.count("CMD-ARGO-405"), "times" in err) == (2, 1, False)


@pytest.mark.requirement("D71", "D73")
def test_folders_without_applications(call: Call, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    code, out, err = call("argocd", "apps", "--path", str(tmp_path / "empty"))
    assert (code, out, "[CMD-ARGO-011]" in err) == (0, "", True)
    assert call("argocd", "apps", "--path", str(tmp_path / "empty"), "--strict")[0] == 2
    code, _, err = call("argocd", "apps", "--path", str(tmp_path / "none"))
    assert (code, "[CMD-ARGO-001]" in err) == (2, True)
    assert "[CMD-ARGO-006]" in call("argocd", "apps", "--path", str(tmp_path / "empty"), "web")[2]


@pytest.mark.requirement("D36", "D44")
def test_render_what_a_folder_defines(call: Call, tree: Path) -> None:
    given = ("argocd", "render", "--path", str(tree), "--self-url", "https://git.example.com/shop.git", "-o", "name")
    assert call(*given, "web")[:2] == (0, "A web/a\n")
    code, out, err = call(*given)
    assert (code, out) == (2, "A web/a\n")
    assert "[CMD-ARGO-309]" in err
    code, _, err = call("argocd", "render", "--path", str(tree), "--offline", "web")
    assert (code, "[CMD-ARGO-310]" in err, "s3cret" in err) == (2, True, False)


@pytest.mark.requirement("D19")
def test_render_says_once_that_secrets_are_shown(call: Call, tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    for name, data in (("a", "stringData: {k: v}"), ("b", "data: {k: dg==}"), ("c", "data: {}")):
        text = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}}}\n{data}\n"
        (tmp_path / "web" / f"{name}.yaml").write_text(text)
    (tmp_path / "app.yaml").write_text(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web}\nspec:\n"
        "  destination: {server: https://kubernetes.default.svc, namespace: web}\n"
        "  source: {repoURL: https://git.example.com/shop, path: web}\n"
    )
    given = ("argocd", "render", "--path", str(tmp_path), "--self-url", "https://git.example.com/shop")
    told = "Secrets are shown in plain text; --skip-kind Secret omits them.\n"
    assert call(*given)[2] == call(*given, "-o", "json")[2] == told
    for words in (["--skip-kind", "Secret"], ["-o", "name"]):
        assert told not in call(*given, *words)[2]


PROJECT = """\
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default}
spec: {sourceRepos: ["*"], destinations: [{server: "*", namespace: %s}]}
"""


@pytest.mark.requirement("D70", "D73", "D75", "D83", "D84")
def test_testing_applications(call: Call, tree: Path) -> None:
    given = ("argocd", "test", "--path", str(tree), "--self-url", "https://git.example.com/shop", "--offline")
    assert call(*given, "web")[:2] == (0, "PASS argocd/web 1 object\n1 PASS, 0 FAIL, 0 SKIPPED\n")
    code, out, err = call(*given)
    assert (code, out.splitlines()[0][:39]) == (2, "FAIL argocd/bad CMD-ARGO-309: the path ")
    assert out.endswith("1 PASS, 1 FAIL, 0 SKIPPED\n")
    assert out.splitlines()[1:3] == ["    at apps/bad.yaml:1", "    hint: check the path and the revision"]
    assert "[CMD-ARGO-309]" not in err  # once is enough
    (tree / "project.yaml").write_text(PROJECT % "api")
    code, out, _ = call(*given, "web", "-o", "json")
    (row,) = json.loads(out)["applications"]
    assert (code, row["status"], [problem["code"] for problem in row["problems"]]) == (2, "FAIL", ["CMD-ARGO-603"])
    code, out, _ = call(*given, "-o", "junit")
    assert (code, out.count("<failure")) == (2, 2)
    code, _, err = call("argocd", "render", *given[2:], "web")
    assert (code, err[:8], "[CMD-ARGO-603]" in err) == (0, "warning:", True)
    web = tree / "apps" / "web.yaml"
    web.write_text(web.read_text().replace("path: web", "path: web, plugin: {name: p}"))
    assert call(*given, "web")[1].splitlines()[-1] == "0 PASS, 0 FAIL, 1 SKIPPED"


def test_testing_nothing(call: Call, tmp_path: Path) -> None:
    assert call("argocd", "test", "--path", str(tmp_path))[:2] == (0, "no Applications\n")
    assert json.loads(call("argocd", "test", "--path", str(tmp_path), "-o", "json")[1])["applications"] == []
    assert call("argocd", "test", "--path", str(tmp_path), "--strict")[0] == 2


@pytest.mark.requirement("D15", "D16", "D17")
def test_settings_of_a_repository(call: Call, tmp_path: Path) -> None:
    """Options beat ConfigMaps of the tree, which beat values of the chart of Argo CD."""
    (tmp_path / "tree" / "chart").mkdir(parents=True)
    values = "configs:\n  cm:\n    %s: %s\n    kustomize.buildOptions: --enable-helm\n"
    key = "application.resourceTrackingMethod"
    (tmp_path / "tree" / "chart" / "values.yaml").write_text(values % (key, "label"))
    (tmp_path / "tree" / "cm.yaml").write_text(CONFIG % "annotation+label")
    (tmp_path / "option.yaml").write_text(values % (key, "annotation"))

    def shown(*words: str) -> dict[str, tuple[str, str, int]]:
        code, out, _ = call("argocd", "settings", *words, "-o", "json")
        assert code == 0
        rows = json.loads(out)["settings"]
        return {row["key"]: (row["value"], row["level"], len(row["overridden"])) for row in rows}

    tree = ["--path", str(tmp_path / "tree")]
    assert shown(*tree)[key] == ("annotation+label", "tree", 1)
    assert shown(*tree)["kustomize.buildOptions"] == ("--enable-helm", "chart", 0)
    (tmp_path / "installation.yaml").write_text("values: [option.yaml]\n")
    option = ["--installation", str(tmp_path / "installation.yaml")]
    assert shown(*tree, *option)[key] == ("annotation", "option", 2)
    (tmp_path / "empty").mkdir()
    assert shown("--path", str(tmp_path / "empty"), *option)[key] == ("annotation", "option", 0)
    (tmp_path / "tree" / "cm.yaml").unlink()
    assert shown(*tree)[key] == ("label", "chart", 0)


@pytest.mark.requirement("D51", "D52")
def test_plugins(call: Call, tmp_path: Path) -> None:
    """A definition of the tree that is a plain build, and a policy, which counts before it."""
    tree, policy = tmp_path / "tree", tmp_path / "policy.yaml"
    (tree / "k").mkdir(parents=True)
    (tree / "k" / "kustomization.yaml").write_text("resources: [a.yaml]\nnamePrefix: x-\n")
    (tree / "k" / "a.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    (tree / "plugin.yaml").write_text(
        "kind: ConfigMap\nmetadata: {name: plugins}\ndata:\n  plugin.yaml: |\n"
        "    apiVersion: argoproj.io/v1alpha1\n    kind: ConfigManagementPlugin\n    metadata: {name: plain}\n"
        "    spec: {generate: {command: [kustomize, build, .]}}\n"
    )
    (tree / "app.yaml").write_text(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: shop}\nspec:\n"
        "  destination: {server: https://kubernetes.default.svc, namespace: web}\n"
        "  source: {repoURL: https://git.example.com/shop, path: k, plugin: {name: plain}}\n"
    )
    policy.write_text("version: 1\nplugins: [{name: plain, engine: avp, base: directory}]\n")
    words = ["--path", str(tree), "--self-url", "https://git.example.com/shop", "--offline", "-o", "name"]
    assert call("argocd", "render", *words)[:2] == (0, "ConfigMap web/x-a\n")
    code, out, err = call("argocd", "render", *words, "--plugin-policy", str(policy), "--kind", "ConfigMap")
    assert (code, out, err) == (0, "ConfigMap web/a\n", "")
    for left_out in (["--skip-kind", "ConfigMap"], ["--kind", "Pod"]):
        assert call("argocd", "render", *words, *left_out) == (0, "", "")
    for kept in (["--skip-kind", "Secret"], ["--skip-kind", "CustomResourceDefinition"]):
        assert call("argocd", "render", *words, *kept)[1] == "ConfigMap web/x-a\n"
    assert call("argocd", "plugins", "check", str(policy)) == (
        0,
        "plain is rendered with placeholders of secrets as they are, by directory\n",
        "",
    )
    policy.write_text("version: 1\nplugins: [{name: plain, engine: exec, run: [id]}]\n")
    code, out, err = call("argocd", "plugins", "check", str(policy))
    assert (code, out) == (2, "")
    assert "[CMD-ARGO-422]" in err


def test_a_person_sees_what_goes_on(tree: Path) -> None:
    """At a terminal only."""
    words = ["render", "--path", str(tree), "--self-url", "https://git.example.com/shop", "--offline", "web"]
    command = [sys.executable, "-m", "commodore", "argocd", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    code, seen = run_on_terminal(command, environment)
    assert code == 0
    assert "Looking for Applications" in seen
    assert "Rendering" in seen
    assert "kind: A" in seen.rpartition("Rendering")[2]
    assert "Rendering" not in run_on_terminal(command, environment, streams=["stdout"])[1]


@pytest.mark.requirement("D84", "D86")
def test_testing_what_cannot_be_expanded(call: Call, tree: Path) -> None:
    """A test that says nothing of a set's Applications has not passed."""
    (tree / "apps" / "bad.yaml").unlink()
    plugin = SET.replace("list: {elements: [{name: one}, {name: two}]}", "plugin: {configMapRef: {name: p}}")
    (tree / "set.yaml").write_text(f"apiVersion: argoproj.io/v1alpha1{plugin}")
    given = ("argocd", "test", "--path", str(tree), "--self-url", "https://git.example.com/shop", "--offline")
    code, out, err = call(*given)
    assert (code, out.splitlines()[0][:40]) == (2, "UNKNOWN ApplicationSet argocd/s CMD-ARGO")
    assert (out.splitlines()[-1], "CMD-ARGO-202" in err) == ("1 PASS, 0 FAIL, 0 SKIPPED, 1 UNKNOWN", False)
    assert call(*given, "--allow-unknown")[0] == 0
    assert call(*given, "web")[:2] == (0, "PASS argocd/web 1 object\n1 PASS, 0 FAIL, 0 SKIPPED\n")
    assert json.loads(call("argocd", "apps", *given[2:], "-o", "json")[1])["partial"]


@pytest.mark.requirement("D16", "D84")
def test_naming_an_application_neither_renders_nor_reports_others(call: Call, tree: Path) -> None:
    other = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: %s}\nspec: {source: {repoURL: "
    other += "'https://git.example.com/shop', path: %s}, destination: {name: in-cluster}}\n"
    (tree / "apps" / "parent.yaml").write_text(other % ("parent", "parent"))
    (tree / "apps" / "broken.yaml").write_text("kind: Application\napiVersion: argoproj.io/v1alpha1\n\tmetadata:\n")
    (tree / "apps" / "nameless.yaml").write_text(other % ("true", "web"))
    (tree / "parent").mkdir()
    parent = tree / "parent" / "kustomization.yaml"
    parent.write_text("resources: [missing.yaml]\ncommonAnnotations: {a: argoproj.io/v1}\n")
    given = ("--path", str(tree), "--self-url", "https://git.example.com/shop", "--offline")
    code, _, err = call("argocd", "render", *given)
    assert (code, {line for line in ("parent", "broken.yaml", "nameless.yaml") if line in err}) == (
        2,
        {"parent", "broken.yaml", "nameless.yaml"},
    )
    for command in ("render", "test", "images", "explain", "apps"):
        code, _, err = call("argocd", command, *given, "web")
        assert (code, err) == (0, "")
    assert call("argocd", "render", *given, "w*")[0] == 2
    parent.write_text("resources: [missing.yaml]\nconfigMapGenerator: [{name: argocd-cm}]\n")
    code, _, err = call("argocd", "render", *given, "web")
    assert (code, "[CMD-ARGO-109]" in err) == (0, True)
    code, _, err = call("argocd", "render", *given, "child")
    assert (code, "no Application matches 'child'" in err, "argocd/parent" in err) == (2, True, True)


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ("--skip-crds", "--skip-kind CustomResourceDefinition"),
        ("--html", "--html is now --report FILE.html"),
        ("--argocd-cm", "--argocd-cm is now the field argocd_cm of --installation FILE"),
        ("--app-namespace", "--app-namespace is now the field application_namespaces of --installation FILE"),
        ("--project", "--project is now --select 'project=GLOB'"),
        ("-l", "-l is now --select 'LABELS'"),
    ],
)
def test_options_that_were_replaced_name_what_replaces_them(call: Call, option: str, hint: str) -> None:
    code, _, err = call("argocd", "diff", option, "x")
    assert (code, hint in err) == (2, True), err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("catalog validate --kubernetes-version 1", "--kube-version"),
        ("fleet report --failed", "--state failed"),
        ("hydrate run --summary x", "--report markdown=FILE"),
        ("observe run --sync-period 1m", "--interval"),
    ],
)
def test_options_of_other_groups_that_were_replaced(call: Call, words: str, hint: str) -> None:
    assert f"is now {hint}" in call(*words.split())[2]


@pytest.mark.parametrize("words", ["argocd apps --html x", "fleet generate --html x", "fleet plan --failed"])
def test_a_command_without_the_replacement_does_not_name_it(call: Call, words: str) -> None:
    """Nor are options suggested that only files set, such as `fold`."""
    code, _, err = call(*words.split())
    assert (code, "is now" in err, "--fold" in err, "--help'" in err) == (2, False, False, True), err


def test_no_replaced_option_is_there() -> None:
    for known in commands():
        flags = {flag for option in known.command.params for flag in option.opts}
        assert not flags & {*REPLACED.get((*known.words, "")[0], {})}, known.words


@pytest.mark.requirement("D20")
def test_an_installation_and_a_selection(
    call: Call, tmp_path: Path, config: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The objects of the selected Applications, including those of the option."""
    monkeypatch.chdir(tmp_path)
    Path("cd").mkdir()
    Path("cd/more.yaml").write_text("kind: ConfigMap\nmetadata: {name: argocd-cm}\ndata: {installationID: here}\n")
    Path("cd/installation.yaml").write_text("objects: [more.yaml]\nnamespace: gitops\n")
    words = ["--installation", "cd/installation.yaml", "--argocd-settings", config("label"), "-o", "json"]
    data = json.loads(call("argocd", "settings", *words)[1])
    rows = {row["key"]: row["value"] for row in data["settings"]}
    assert (data["namespace"], rows["installationID"], rows["application.resourceTrackingMethod"]) == (
        "gitops",
        "here",
        "label",
    )
    application = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": "web", "labels": {"team": "a"}},
        "spec": {"project": "shop", "destination": {"name": "in-cluster"}, "source": {"repoURL": "x", "path": "."}},
    }
    Path("web.json").write_text(json.dumps(application))
    for expression, names in (("project=sh*,team=a", "gitops/web\n"), ("project=sh*,team!=a", ""), ("namespace=x", "")):
        out = call("argocd", "apps", "--installation", "cd/installation.yaml", "--select", expression, "-o", "name")[1]
        assert out == names
