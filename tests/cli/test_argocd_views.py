"""`commodore argocd images`, `explain` and `diagnostics`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.argocd.comparing.conftest import app
from tests.world.folders import write_files
from tests.world.repos import git

Shown = tuple[int, str, str]
Call = Callable[..., Shown]


def pod(image: str, name: str = "web") -> str:
    spec = {"containers": [{"name": "main", "image": image}]}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A checkout with the Applications `a` and `b`, of which `a` runs another image than in `HEAD`."""
    folder = tmp_path / "shop"
    for name in ("a", "b"):
        (folder / name).mkdir(parents=True)
        (folder / f"{name}.json").write_text(app(name, name), encoding="utf-8")
        (folder / name / "pod.json").write_text(pod("nginx:1.2"), encoding="utf-8")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "remote", "add", "origin", "https://git.example.com/team/shop.git")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    (folder / "a" / "pod.json").write_text(pod("nginx:1.3"), encoding="utf-8")
    (folder / "a" / "new.json").write_text(pod("quay.io/x/y:1", "new"), encoding="utf-8")
    return folder


@pytest.fixture
def run(call: Call, shop: Path) -> Call:
    return lambda command, *words: call("argocd", command, "--offline", "--path", str(shop), *words)


@pytest.mark.requirement("D83")
def test_images(run: Call) -> None:
    assert run("images") == (
        0,
        "nginx:1.2\n    in argocd/b\nnginx:1.3\n    in argocd/a\nquay.io/x/y:1\n    in argocd/a\n",
        "",
    )
    assert run("images", "b", "-o", "name")[1] == "nginx:1.2\n"
    (row,) = json.loads(run("images", "b", "-o", "json")[1])["images"]
    assert (row["image"]["repository"], row["image"]["tag"], row["place"], row["object"]["name"]) == (
        "library/nginx",
        "1.2",
        "main",
        "web",
    )


@pytest.mark.parametrize(
    ("words", "hooks", "images"),
    [
        ((), "show", ["job:1", "nginx:1.3", "quay.io/x/y:1"]),
        ((), "hide", ["nginx:1.3", "quay.io/x/y:1"]),
        (("--kind", "Job"), "show", ["job:1"]),
        (("--skip-kind", "Pod"), "show", ["job:1"]),
    ],
)
def test_objects_that_count(
    run: Call,
    shop: Path,
    words: tuple[str, ...],
    hooks: str,
    images: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COMMODORE_ARGOCD_HOOKS", hooks)
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "hook", "annotations": {"argocd.argoproj.io/hook": "PreSync"}},
        "spec": {"template": {"spec": {"containers": [{"name": "main", "image": "job:1"}]}}},
    }
    (shop / "a" / "job.json").write_text(json.dumps(job), encoding="utf-8")
    assert run("images", "a", "-o", "name", *words)[1].split() == images
    kinds = sorted(line.split()[0] for line in run("render", "a", "-o", "name", *words)[1].splitlines())
    assert kinds == sorted("Job.batch" if image == "job:1" else "Pod" for image in images)


@pytest.mark.requirement("D72", "D83")
def test_images_that_differ(run: Call, shop: Path) -> None:
    code, out, _ = run("images", "--base", "HEAD")
    assert (code, out.splitlines()) == (
        1,
        ["+ quay.io/x/y:1", "    in argocd/a", "~ nginx:1.3 (was nginx:1.2)", "    in argocd/a"],
    )
    rows = json.loads(run("images", "--base", "HEAD", "-o", "json")[1])["images"]
    assert {row["change"]: row["before"] and row["before"]["text"] for row in rows} == {
        "added": None,
        "changed": "nginx:1.2",
    }
    rows = run("images", "--base", "HEAD", "-o", "markdown")[1].splitlines()[2:]
    assert rows == ["| + quay.io/x/y:1 | argocd/a |", "| &#126; nginx:1.3 (was nginx:1.2) | argocd/a |"]
    assert run("images", "--base", "HEAD..HEAD")[:2] == (0, "")
    (shop / "a" / "pod.json").write_text(pod("docker.io/library/nginx:1.2"), encoding="utf-8")
    (shop / "a" / "new.json").unlink()
    assert run("images", "--base", "HEAD")[0] == 0  # the same image, written otherwise
    (shop / "a" / "pod.json").write_text(pod("apache:1.2"), encoding="utf-8")
    assert [line[:8] for line in run("images", "--base", "HEAD")[1].splitlines()[::2]] == ["+ apache", "- nginx:"]


def test_images_of_what_renders(run: Call, shop: Path) -> None:
    (shop / "a" / "broken.json").write_text("{", encoding="utf-8")
    code, out, err = run("images")
    assert (code, out, "[CMD-ARGO-401]" in err) == (2, "nginx:1.2\n    in argocd/b\n", True)


@pytest.mark.requirement("D83")
def test_explain(run: Call, shop: Path) -> None:
    code, out, _ = run("explain", "b")
    assert code == 0
    assert out.splitlines() == [
        "argocd/b",
        "  argocd/b is defined in b.json:1",
        "  project default, destination https://kubernetes.default.svc b",
        "source 1: Directory b",
        "  of https://git.example.com/team/shop.git at HEAD",
        "  from the tree itself",
        "reads of the repository",
        "  b/*",
        "objects: 1",
        "  Pod b/web (source 1, pod.json)",
    ]
    data = json.loads(run("explain", "b", "-o", "json")[1])
    assert (data["schema"], data["application"]["sources"][0]["type"]) == ("argocd-explain", "Directory")
    assert "[CMD-ARGO-026]" in run("explain", "*")[2]
    assert run("explain", "*", "--select", "namespace=b")[1] == out
    (shop / "b" / "broken.json").write_text("{", encoding="utf-8")
    code, out, err = run("explain", "b")
    assert (code, out.splitlines()[-1], "[CMD-ARGO-401]" in err) == (2, "objects: 0", True)


def test_explain_the_chain(run: Call, shop: Path) -> None:
    template = {"metadata": {"name": "made"}, "spec": json.loads(app("x", "apps"))["spec"]}
    spec = {"generators": [{"list": {"elements": [{"name": "a"}]}}], "template": template}
    metadata = {"name": "set", "namespace": "argocd"}
    appset = {"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": metadata, "spec": spec}
    (shop / "set.json").write_text(json.dumps(appset), encoding="utf-8")
    (shop / "apps").mkdir()
    (shop / "apps" / "c.jsonnet").write_text(app("c", "b"), encoding="utf-8")
    lines = run("explain", "c")[1].splitlines()
    assert lines[1].startswith("  argocd/made is made by the ApplicationSet argocd/set in set.json:1, by ")
    assert lines[2] == "  argocd/c is rendered by argocd/made"


@pytest.mark.requirement("D3", "D83")
def test_diagnostics(run: Call, shop: Path) -> None:
    code, out, err = run("diagnostics")
    assert (code, out.splitlines()[0][-14:], err) == (0, "[CMD-ARGO-910]", "")
    (shop / "b" / "broken.json").write_text("{", encoding="utf-8")
    (shop / "bad.yaml").write_text("a: [argocd-cm", encoding="utf-8")
    code, out, err = run("diagnostics")
    assert (code, out.count("[CMD-ARGO-102]"), err) == (0, 1, "")
    assert run("diagnostics", "--show", "rendered", "--select", "namespace=a")[0] == 0  # what counts is rendered alone
    code, out, _ = run("diagnostics", "--show", "rendered", "-o", "json")
    data = json.loads(out)
    assert (code, data["partial"], {diagnostic["code"] for diagnostic in data["diagnostics"]}) == (
        2,
        True,
        {"CMD-ARGO-102", "CMD-ARGO-401", "CMD-ARGO-608", "CMD-ARGO-910"},
    )


@pytest.mark.requirement("D35", "D75")
def test_diagnostics_say_where_things_came_from(run: Call, shop: Path) -> None:
    """Rendered sources come from the cache the second time; nothing of it is said without being asked for."""
    (shop / "b" / "kustomization.yaml").write_text("resources: [pod.json]\n", encoding="utf-8")

    def told(*words: str) -> list[str]:
        diagnostics = json.loads(run("diagnostics", "--show", "rendered", "-o", "json", *words)[1])["diagnostics"]
        return [diagnostic["message"] for diagnostic in diagnostics if diagnostic["code"] == "CMD-ARGO-330"]

    assert told() == []
    tree, output = told("--show", "events")
    head = git(shop, "rev-parse", "HEAD").strip()
    assert tree == f"https://git.example.com/team/shop.git is {head}: the tree under analysis"
    assert output == "the output of kustomize for argocd/b: from the cache"
    assert told("--show", "events", "--no-cache")[1] == "the output of kustomize for argocd/b: rendered"


@pytest.mark.parametrize(
    ("words", "variable", "coloured"),
    [
        ((), "", False),
        (("--color", "always"), "", True),
        (("--color", "always"), "1", True),
        (("--color", "never"), "", False),
    ],
)
def test_colours(
    run: Call,
    shop: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    variable: str,
    coloured: bool,
) -> None:
    """Of results, diagnostics and errors; what programs read has none."""
    monkeypatch.setenv("NO_COLOR", variable)
    (shop / "b" / "broken.json").write_text("{", encoding="utf-8")
    _, out, err = run("diff", "--base", "HEAD", "--no-exit-code", *words)
    assert ("\x1b[" in out, "\x1b[" in err) == (coloured, coloured)
    assert ("\x1b[" in run("render", "nothing-like-it", *words)[2]) == coloured
    assert "\x1b[" not in run("apps", "-o", "json", *words)[1]


@pytest.mark.requirement("D54", "D75")
def test_diagnostics_of_plugins(run: Call, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only Applications with sources of plugins are rendered."""
    monkeypatch.setenv("COMMODORE_ARGOCD_AVP", "1")
    (shop / "b" / "broken.json").write_text("{", encoding="utf-8")
    for name, plugin in (("c", "avp"), ("d", "other")):
        value = json.loads(app(name, "a"))
        value["spec"]["source"]["plugin"] = {"name": plugin}
        (shop / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    code, out, _ = run("diagnostics", "--show", "plugins", "-o", "json")
    codes = {
        (diagnostic["application"], diagnostic["code"])
        for diagnostic in json.loads(out)["diagnostics"]
        if diagnostic["application"]
    }
    assert (code, codes) == (2, {("argocd/c", "CMD-ARGO-425"), ("argocd/d", "CMD-ARGO-420")})


@pytest.mark.requirement("D62")
def test_diagnostics_of_an_annotation_that_misses_files(run: Call, shop: Path) -> None:
    value = json.loads(app("b", "b"))
    for paths, missed in (("pod.json", True), (".", False)):
        value["metadata"]["annotations"] = {"argocd.argoproj.io/manifest-generate-paths": paths}
        (shop / "b.json").write_text(json.dumps(value), encoding="utf-8")
        (shop / "b" / "other.json").write_text(pod("nginx", "other"), encoding="utf-8")
        code, out, _ = run("diagnostics", "--show", "rendered")
        assert (code, "reads: b/other.json [CMD-ARGO-804]" in out) == (0, missed)


def test_diagnostics_for_code_scanning(run: Call, shop: Path) -> None:
    (shop / "bad.yaml").write_text("a: [argocd-cm", encoding="utf-8")
    (log,) = json.loads(run("diagnostics", "-o", "sarif")[1])["runs"]
    places = {result["ruleId"]: result["locations"] for result in log["results"]}
    (place,) = places["CMD-ARGO-102"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "bad.yaml"
    assert yaml.safe_load(run("diagnostics", "-o", "yaml")[1])["partial"] is False


def test_explain_an_object(run: Call, shop: Path) -> None:
    """Its name may be given with its namespace, which it has only at the end; a pointer leads into it."""
    code, out, err = run("explain", "b", "Pod/web")
    assert (code, err) == (0, "")
    assert out.splitlines()[-6:] == [
        "Pod/b/web (source 1, pod.json)",
        "  rendered",
        "  tracked",
        "    added metadata.annotations",
        "  desired",
        "    added metadata.namespace",
    ]
    for pointer, stages in (
        ("/metadata/namespace", ["absent", "absent", '"b"']),
        ("/spec/containers/0/image", ['"nginx:1.2"'] * 3),
    ):
        lines = run("explain", "b", f"Pod/b/web{pointer}")[1].splitlines()
        assert lines[-4:] == [
            f"Pod/b/web{pointer} (source 1, pod.json)",
            *(f"  {name}: {value}" for name, value in zip(("rendered", "tracked", "desired"), stages, strict=True)),
        ]
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "s3cret"}}
    (shop / "b" / "secret.json").write_text(json.dumps(secret), encoding="utf-8")
    code, out, _ = run("explain", "b", "Secret/s/stringData/a", "-o", "json")
    stages = json.loads(out)["application"]["object"]["stages"]
    assert (code, stages[0]) == (0, {"stage": "rendered", "present": True, "value": "++++++++"})
    for text in ("Pod/wbe", "Pod/web/spec/nothing", "web"):
        code, _, err = run("explain", "b", text)
        assert (code, "[CMD-ARGO-029]" in err) == (2, True)


def test_commands_name_no_folder_of_this_run(run: Call, shop: Path) -> None:
    (shop / "c" / "templates").mkdir(parents=True)
    (shop / "c" / "Chart.yaml").write_text("apiVersion: v2\nname: c\nversion: 1.0.0\n", encoding="utf-8")
    (shop / "c" / "v.yaml").write_text("a: 1\n", encoding="utf-8")
    source = {"repoURL": "https://git.example.com/team/shop.git", "path": "c"}
    source |= {"helm": {"values": "b: 2", "valueFiles": ["v.yaml"]}}
    (shop / "c.json").write_text(app("c", "c", source=source), encoding="utf-8")
    code, out, _ = run("explain", "c", "-o", "json")
    values = "--values ./c/v.yaml --values inline-values.yaml"
    assert (code, json.loads(out)["application"]["commands"]) == (
        0,
        [
            "printf %s 'b: 2' > inline-values.yaml",
            f"helm template ./c --name-template c --namespace c {values} --include-crds",
        ],
    )


@pytest.mark.requirement("D83")
def test_explain_a_value(run: Call, shop: Path) -> None:
    """Each layer that sets it, in the order in which they count, and what that comes to as helm has it."""
    files = {
        "Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\ndependencies: [{name: d, alias: e, version: 1.0.0}]\n",
        "values.yaml": "image: {tag: one, name: web}\nhosts: [a, b]\nm: {k.k: 1}\n",
        "v.yaml": "image: {tag: two}\n",
        "charts/d/Chart.yaml": "apiVersion: v2\nname: d\nversion: 1.0.0\n",
        "charts/d/values.yaml": "size: 3\n",
        "templates/a.yaml": "kind: A\nmetadata: {name: a}\nimage: {{ .Values.image | toJson }}\n"
        "e: {{ .Values.e | toJson }}\nhosts: {{ .Values.hosts | toJson }}\n",
    }
    write_files(shop / "c", files)
    helm = {
        "valueFiles": ["v.yaml"],
        "values": "image: {pull: true}\ne: {size: 4}\n",
        "parameters": [
            {"name": "image.tag", "value": "3"},
            {"name": "hosts[1]", "value": "x"},
            {"name": "image.tag", "value": "4", "forceString": True},
        ],
    }
    source = {"repoURL": "https://git.example.com/team/shop.git", "path": "c", "helm": helm}
    (shop / "c.json").write_text(app("c", "c", source=source), encoding="utf-8")
    code, out, err = run("explain", "c", "--value", "image.tag")
    assert (code, err) == (0, "")
    assert out.splitlines()[-6:] == [
        "value image.tag",
        '  "one" in values.yaml of the chart (source 1)',
        '  "two" in c/v.yaml (source 1)',
        "  3 in parameter image.tag (source 1)",
        '  "4" in parameter image.tag (source 1)',
        '  so source 1 has "4"',
    ]
    (made,) = yaml.safe_load_all(run("render", "c")[1])
    for path, value in (("image", made["image"]), ("e.size", made["e"]["size"]), ("hosts", made["hosts"])):
        data = json.loads(run("explain", "c", "-o", "json", "--value", path)[1])["application"]["value"]
        assert data["values"] == [{"source": 1, "value": value}]
    assert [layer["place"] for layer in data["layers"]] == ["values.yaml of the chart", "parameter hosts[1]"]
    assert "  1 in values.yaml" in run("explain", "c", "--value", "m.k\\.k")[1]
    for name, path in (("c", "imag.tag"), ("b", "a")):
        code, _, err = run("explain", name, "--value", path)
        assert (code, "[CMD-ARGO-036]" in err) == (2, True)
