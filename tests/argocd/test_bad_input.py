"""Bad and hostile input, row by row: each is refused with its code, soon, and what is sound goes on.

Rows about chart repositories are in acquiring/test_charts.py, about jq and pointers in normalising/test_normalise.py,
about files with Applications in discovery/test_scan.py.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from commodore.argocd import ArgoSettings, Diagnostics, Tree, diff, render
from commodore.argocd.acquiring.chart_index import ChartIndex
from commodore.argocd.appsets import Expander, Facts, read_facts, read_set
from commodore.base.context import Context
from commodore.base.errors import CommodoreError, Findings, Location
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS
from tests.argocd.comparing.conftest import URL as APPS
from tests.argocd.comparing.conftest import app, config
from tests.argocd.conftest import OTHER, URL, Argo, chart, config_map
from tests.world.folders import write_script
from tests.world.loopback import LoopbackHandler, LoopbackServer
from tests.world.repos import git
from tests.world.syscalls import Call, Tapped

Source = dict[str, Any]

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefghi", "bcdefghij", strict=True)
)
OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"


def code_of(call: Callable[[], object]) -> str:
    """The code of the error that a call ends with; empty if it does not."""
    try:
        call()
    except Findings as error:
        return ",".join(sorted({inner.code.removeprefix("CMD-ARGO-") for inner in error.errors}))
    except CommodoreError as error:
        return error.code.removeprefix("CMD-ARGO-")
    return ""


def helm(**options: Any) -> Source:
    return {"path": "web", "helm": options}


SOURCES: dict[str, tuple[Source, str]] = {
    "nothing is named": ({}, "301"),
    "a path that is absolute": ({"path": "/etc"}, "309"),
    "a path that leaves": ({"path": "../other"}, "309"),
    "a path that is a file": ({"path": "web/Chart.yaml"}, "309"),
    "a path with a step back": ({"path": "web/../web"}, ""),
    "a chart without a version": ({"chart": "c", "repoURL": "https://charts.example.com"}, "303"),
    "a revision that is an option": (
        {"repoURL": "https://x.example.com/r", "path": ".", "targetRevision": "--x"},
        "320",
    ),
    "a revision with a line break": (
        {"repoURL": "https://x.example.com/r", "path": ".", "targetRevision": "a\nb"},
        "320",
    ),
    "a revision that is long": (
        {"repoURL": "https://x.example.com/r", "path": ".", "targetRevision": "a" * 9999},
        "320",
    ),
    "a URL that is a program": ({"repoURL": "ext::sh -c id", "path": "."}, "320"),
    "a URL of files": ({"repoURL": "file:///etc", "path": "."}, "320"),
    "a URL that is an option": ({"repoURL": "-x", "path": "."}, "320"),
    "several types": ({"path": "web", "helm": {"releaseName": "a"}, "kustomize": {"namePrefix": "b"}}, "302"),
    "a plugin": ({"path": "web", "plugin": {"name": "p"}}, "420"),
    "a value file that is not there": (helm(valueFiles=["none.yaml"]), "407"),
    "a value file that is a folder": (helm(valueFiles=["templates"]), "407"),
    "a value file that leaves": (helm(valueFiles=["../../x.yaml"]), "408"),
    "a value file of no ref": (helm(valueFiles=["$values/x.yaml"]), "407"),
    "a value file of another scheme": (helm(valueFiles=["ftp://example.com/v"]), "320"),
    "a value file that is a list": (helm(valueFiles=["list.yaml"]), "409"),
    "a value file that is not UTF-8": (helm(valueFiles=["latin.yaml"]), "409"),
    "a value file that is empty": (helm(valueFiles=["empty.yaml"]), ""),
    "a value file that is large": (helm(valueFiles=["large.yaml"]), "403"),
    "a value file that is not YAML": (helm(valueFiles=["broken.yaml"]), "405"),
    "a parameter with a comma": (helm(parameters=[{"name": "a", "value": "x,y"}]), ""),
    "a parameter with braces": (helm(parameters=[{"name": "a", "value": "{x,y}"}]), ""),
    "a parameter with a place in a list": (helm(parameters=[{"name": "a[0].b", "value": "x"}]), ""),
    "a parameter with a line break": (helm(parameters=[{"name": "a", "value": "x\ny"}]), ""),
    "values that are a bomb": (helm(values=BOMB), "405"),
    "an invalid version": (helm(kubeVersion="banana"), "103"),
    "a value that is required": ({"path": "required"}, "405"),
    "output that is not YAML": ({"path": "invalid"}, "405"),
    "a template without end": ({"path": "endless"}, "405"),
    "a chart without output": ({"path": "silent"}, ""),
    "a kustomization with an unknown field": ({"path": "unknown"}, "410"),
    "a base that is missing": ({"path": "missing"}, "410"),
    "kustomizations in a circle": ({"path": "circle"}, "410"),
    "a version of kustomize": ({"path": "k", "kustomize": {"version": "v9"}}, "411"),
    "a kustomization with a part elsewhere": ({"path": "remote"}, "310"),
    "a kustomization with an edit that is in conflict": (
        {"path": "labelled", "kustomize": {"commonLabels": {"a": "b"}}},
        "412",
    ),
    "a chart that is a kustomization, too": ({"path": "both"}, ""),
    "a file that is not a manifest": ({"path": "notes"}, ""),
    "a manifest with a brace": ({"path": "brace"}, "401"),
    "JSON with two objects": ({"path": "json"}, "401"),
    "a manifest that is a bomb": ({"path": "bomb"}, "401"),
    "an object without a kind": ({"path": "kindless"}, ""),
    "Jsonnet that imports anything": ({"path": "passwd"}, "408"),
    "Jsonnet that imports from above": ({"path": "above"}, "408"),
    "Jsonnet that calls itself": ({"path": "recursion"}, "404"),
    "Jsonnet that is a number": ({"path": "number"}, "404"),
}


@pytest.fixture
def bad(argo: Argo) -> Argo:
    """A repository with one folder per row that needs one."""
    template = "templates/all.yaml"
    charts = {
        "web": chart(),
        "required": chart(**{template: OBJECT + "data: {a: {{ required `missing` .Values.none }}}\n"}),
        "invalid": chart(**{template: OBJECT + "data: {a: [\n"}),
        "endless": chart(**{template: '{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}'}),
        "silent": chart(**{template: ""}),
        "both": {**chart(), "kustomization.yaml": "resources: []\n"},
    }
    for below, files in charts.items():
        argo.files(files, below=below)
    files: Mapping[str, str] = {
        "web/list.yaml": "- a\n",
        "web/empty.yaml": "",
        "web/large.yaml": "# " + "x" * 5000,
        "web/broken.yaml": "a: [",
        "remote/kustomization.yaml": "resources: ['https://example.invalid/a.yaml']\n",
        "labelled/kustomization.yaml": "commonLabels: {a: c}\n",
        "unknown/kustomization.yaml": "resource: [a.yaml]\n",
        "missing/kustomization.yaml": "resources: [../none]\n",
        "circle/kustomization.yaml": "resources: [a]\n",
        "circle/a/kustomization.yaml": "resources: [../../circle]\n",
        "k/kustomization.yaml": "resources: []\n",
        "notes/notes.yaml": "a: [\n",
        "brace/a.yaml": OBJECT + "data: {{ .x }}\n",
        "json/a.json": '{"kind": "A"} {"kind": "B"}',
        "bomb/a.yaml": OBJECT + BOMB,
        "kindless/a.yaml": "metadata: {name: a}\n",
        "passwd/a.jsonnet": "importstr '/etc/passwd'",
        "above/a.jsonnet": "import '../../x.libsonnet'",
        "recursion/a.jsonnet": "local f(x) = f(x + 1) + 1; {kind: 'A', a: f(0)}",
        "number/a.jsonnet": "5",
    }
    argo.files(files)
    argo.files({"web/latin.yaml": "a: é".encode("latin-1")})
    argo.limits = replace(argo.limits, argocd_file_bytes=4000)
    (argo.root / "x.libsonnet").write_text("{}")
    return argo


@pytest.mark.requirement("D4", "D54", "D74")
def test_sources(bad: Argo) -> None:
    codes = {row: code_of(partial(bad.objects, source)) for row, (source, _) in SOURCES.items()}
    assert codes == {row: code for row, (_, code) in SOURCES.items()}


REF = {"repoURL": OTHER, "path": "", "ref": "v", "targetRevision": "main"}
BROKEN: dict[str, tuple[dict[str, str | bytes], tuple[Source, ...]]] = {
    "a folder that is not there": ({}, ({"path": "nodir"},)),
    "a file of another repository that is not there": (
        chart(),
        ({"path": ".", "helm": {"fileParameters": [{"name": "a", "path": "$v/none"}]}}, REF),
    ),
    "values of another repository": (chart(), ({"path": ".", "helm": {"valueFiles": ["$v/bad.yaml"]}}, REF)),
    "a template": (chart(**{"templates/all.yaml": "{{ fail .Values.a }}"}), ({"path": "."},)),
    "values": (chart(**{"values.yaml": "a: [\n"}), ({"path": "."},)),
    "a base": ({"k/kustomization.yaml": "resources: [none]\n"}, ({"path": "k"},)),
    "an edited base": (
        {"k/kustomization.yaml": "resources: [none]\n"},
        ({"path": "k", "kustomize": {"namespace": "n"}},),
    ),
    "a library": ({"a.jsonnet": "import 'none.libsonnet'"}, ({"path": "."},)),
    "a program": ({"a.jsonnet": "{ a: error 'x' }"}, ({"path": "."},)),
}


@pytest.mark.requirement("D85")
@pytest.mark.parametrize("name", BROKEN)
def test_messages_name_no_folder_of_this_machine(name: str, argo: Argo) -> None:
    files, sources = BROKEN[name]
    argo.files(files)
    argo.files({"bad.yaml": "a: [\n"}, url=OTHER)
    with pytest.raises(CommodoreError) as caught:
        argo.objects(*sources)
    shown = [str(caught.value), caught.value.hint, *(diagnostic.message for diagnostic in argo.diagnostics.collected())]
    assert not [text for text in shown if str(argo.root) in text or "/tmp" in text or ".cache" in text]


@pytest.mark.requirement("D44")
def test_links_out_of_the_repository(bad: Argo, tmp_path: Path) -> None:
    """Argo CD renders nothing of such a repository."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "a.yaml").write_text(OBJECT)
    os.symlink(tmp_path / "secret", bad.folder() / "out")
    assert code_of(lambda: bad.objects({"path": "out"})) == "309"
    assert code_of(lambda: bad.objects({"path": "k"})) == "318"
    (bad.folder() / "out").unlink()
    os.symlink("../../../secret/a.yaml", bad.folder() / "web" / "out.yaml")
    assert code_of(lambda: bad.objects(helm(valueFiles=["out.yaml"]))) in ("318", "408")
    assert code_of(lambda: bad.objects({"path": "k"})) == "318"


REFS: dict[str, tuple[list[Source], str]] = {
    "a ref that is not a word": ([{"ref": "a b", "path": "k"}], "304"),
    "a ref twice": ([{"ref": "a", "path": "k"}, {"ref": "a", "path": "k"}], "304"),
    "no such ref": ([{"ref": "other"}, helm(valueFiles=["$values/x.yaml"])], "304"),
    "a ref and a way out": ([{"ref": "values"}, helm(valueFiles=["$values/../../x"])], "408"),
    "a ref alone": ([{"ref": "values"}, helm(valueFiles=["$values"])], "408"),
    "a ref of a chart": (
        [
            {"ref": "values", "repoURL": "https://c.example.com", "chart": "c", "targetRevision": "1.0.0"},
            helm(valueFiles=["$values/x.yaml"]),
        ],
        "304,310",
    ),
}


@pytest.mark.parametrize("row", REFS)
def test_references(row: str, bad: Argo) -> None:
    sources, code = REFS[row]
    several = sources if len(sources) > 1 else [*sources, {"path": "k"}]
    assert code in code_of(lambda: bad.objects(*several))


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ({"source": []}, "103"),
        ({"sources": {}}, "103"),
        ({"sources": [None]}, "103"),
        ({"source": {"repoURL": {}}}, "103"),
        ({"source": {"repoURL": URL, "path": ["k"]}}, "103"),
        ({"source": "k"}, "103"),
        ({"metadata": {"name": ""}}, "103"),
        ({"metadata": {"name": "../x"}}, "103"),
        ({"metadata": {"name": "a" * 300}}, "103"),
        ({"metadata": {"name": "Upper"}}, "103"),
        ({"metadata": {"name": 5}}, "103"),
        ({"source": {"repoURL": URL, "path": "k", "helm": {"valuesObject": []}}}, "103"),
        ({"destination": {}}, "606"),
    ],
)
def test_fields(spec: dict[str, Any], code: str, bad: Argo) -> None:
    assert code_of(lambda: bad.objects({"path": "k"}, **spec)) == code


@pytest.mark.requirement("D39", "D40", "D41")
def test_a_password_in_a_url_is_in_no_message(bad: Argo) -> None:
    source = {"repoURL": "https://me:s3cret@x.example.com/r", "path": "."}
    with pytest.raises(CommodoreError) as caught:
        bad.objects(source)
    assert caught.value.code == "CMD-ARGO-310"
    assert "s3cret" not in repr(caught.value) + str(caught.value) + caught.value.hint


@pytest.mark.requirement("D89")
def test_control_characters_are_shown_as_escapes(bad: Argo) -> None:
    bad.files({"control/templates/a.yaml": '{{ fail "\\u001b[31mred" }}', "control/Chart.yaml": chart()["Chart.yaml"]})
    with pytest.raises(CommodoreError) as caught:
        bad.objects({"path": "control"})
    assert "\x1b" not in caught.value.message


def expand(generators: str, template: str = "{{name}}", **options: Any) -> list[str]:
    """The codes of a set."""
    from commodore.base.yaml.kube_yaml import read_documents

    text = f"metadata: {{name: s}}\nspec:\n  generators: {generators}\n"
    value = next(read_documents(text, place="set"))
    value["spec"] |= {
        "template": {
            "metadata": {"name": template},
            "spec": {
                "project": "default",
                "destination": {"name": "in-cluster"},
                "source": {"repoURL": URL, "path": "."},
            },
        },
        **options,
    }
    diagnostics = Diagnostics()
    limits = replace(DEFAULT_LIMITS, argocd_set_applications=100)
    context = Context(ignore, limits, offline=True)

    def no_repository(url: str, revision: str) -> Any:
        raise AssertionError(f"{url} {revision} is asked for")

    try:
        expander = Expander(ArgoSettings(), no_repository, Facts(), context, diagnostics)
        expander.expand(read_set(value, Location("set.yaml", 1)))
    except CommodoreError as error:
        diagnostics.take(error)
    return [diagnostic.code.removeprefix("CMD-ARGO-") for diagnostic in diagnostics.collected()]


def ten(key: str) -> str:
    """A list generator of ten elements."""
    elements = ", ".join(f"{{{key}: '{number}x'}}" for number in range(10))
    return f"{{list: {{elements: [{elements}]}}}}"


_ONE = "{list: {elements: [{a: b}]}}"
_TWO = f"{{matrix: {{generators: [{_ONE}, {_ONE}]}}}}"
NESTED = f"[{{matrix: {{generators: [{_ONE}, {{matrix: {{generators: [{_ONE}, {_TWO}]}}}}]}}}}]"
THOUSAND = f"[{{matrix: {{generators: [{ten('a')}, {{matrix: {{generators: [{ten('b')}, {ten('c')}]}}}}]}}}}]"
GO: dict[str, Any] = {"goTemplate": True}


@pytest.mark.parametrize(
    ("generators", "template", "options", "code"),
    [
        ("[{generator: {}}]", "a", {}, "201"),
        ("[{lists: {}}]", "a", {}, "201"),
        ("[{matrix: {generators: [{list: {}}]}}]", "a", {}, "211"),
        ("[{merge: {generators: [{list: {}}, {list: {}}]}}]", "a", {}, "212"),
        (NESTED, "a", {}, "211"),
        ("[{list: {elements: [a]}}]", "a", {}, "103"),
        ("[{list: {elements: [{count: 5}]}}]", "a", {}, "103"),
        ("[{list: {elements: [{x: v}]}}]", "{{ .x ", GO, "205"),
        ("[{list: {elements: [{x: v}]}}]", "{{ .x.y }}", GO, "206"),
        ("[{list: {elements: [{x: v}]}}]", '{{ env "HOME" }}', GO, "205"),
        ("[{list: {elements: [{x: v}]}}]", "{{ now }}", GO, "207"),
        ("[{list: {elements: [{x: v}]}}]", '{{ fail "x" }}', GO, "206"),
        (
            "[{list: {elements: [{x: v}]}}]",
            '{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}',
            GO,
            "206",
        ),
        ("[{list: {elements: [{x: v}]}}]", "{{ range until 100000000 }}x{{ end }}", GO, "206"),
        ("[{list: {elements: [{x: v}]}}]", '{{ repeat 100000000 "xxxxxxxxxx" }}', GO, "206"),
        ("[{list: {elements: [{x: v}]}}]", "a{{nope}}", {}, "215"),
        ("[{list: {elements: [{x: ''}]}}]", "{{ .x }}", GO, "214"),
        ("[{list: {elements: [{x: a}, {x: b}]}}]", "same", {}, "209"),
        (
            THOUSAND,
            "{{a}}{{b}}{{c}}",
            {},
            "217",
        ),
        ("[{plugin: {configMapRef: {name: p}}}]", "a", {}, "202"),
    ],
)
def test_sets(generators: str, template: str, options: dict[str, Any], code: str) -> None:
    assert code in expand(generators, template, **options)


@pytest.mark.parametrize("text", ["cluster: []\n", "clusters: 5\n", "clusters: [{nam: a}]\n"])
def test_facts(text: str, tmp_path: Path) -> None:
    file = tmp_path / "facts.yaml"
    file.write_text(text)
    assert code_of(lambda: read_facts([file], DEFAULT_LIMITS)) == "203"


def test_objects_whose_labels_are_no_texts(bad: Argo) -> None:
    bad.files({"labels/a.yaml": OBJECT.replace("name: c", "name: c, labels: {a: 5}")})
    assert code_of(lambda: bad.desired({"path": "labels"})) == "503"


def test_the_others_go_on(bad: Argo) -> None:
    bad.files({"a.yaml": config_map("a")}, url=OTHER)
    assert len(bad.objects({"repoURL": OTHER, "path": "."})) == 1


HELMS = {"hangs": ("exec /bin/sleep 1000", "418"), "is killed": ("kill -KILL $$", "405"), "says no": ("exit 1", "405")}


@pytest.mark.parametrize("row", HELMS)
def test_a_helm_that(row: str, bad: Argo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that hangs is ended with all that it has started."""
    script, code = HELMS[row]
    folder = tmp_path / "bin"
    folder.mkdir()
    write_script(folder / "helm", script)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    bad.limits = replace(bad.limits, argocd_source_seconds=0.3 if code == "418" else 60)
    with pytest.raises(CommodoreError) as caught:
        bad.objects({"path": "web"})
    assert caught.value.code == f"CMD-ARGO-{code}"
    assert ("SIGKILL" in caught.value.message) is (row == "is killed")


class _Silent(LoopbackHandler):
    world: Silent

    def answer(self) -> None:
        self.world.asked.append(self.path)
        self.world.end.wait()


class Silent(LoopbackServer):
    """A server that takes questions and does not answer before its end."""

    def __init__(self) -> None:
        super().__init__(_Silent)
        self.asked: list[str] = []
        self.end = threading.Event()

    def __exit__(self, *error: Any) -> None:
        self.end.set()
        super().__exit__(*error)


def test_a_server_that_hangs(bad: Argo) -> None:
    """The others go on."""
    bad.offline = False
    bad.limits = replace(bad.limits, download_timeout=0.2, argocd_download_seconds=0.5)
    with Silent() as server:
        chart = {"repoURL": server.site, "chart": "web", "targetRevision": "1.2.3"}
        assert code_of(lambda: bad.objects(chart)) == "311"
        assert set(server.asked) == {"/index.yaml"}
    assert code_of(lambda: bad.objects({"path": "both"})) == ""


def test_an_index_of_very_many_charts() -> None:
    """A chart is found, or reported as missing, without parsing the whole index."""
    entries = "".join(f"  chart-{number}:\n  - {{version: 1.0.0, urls: [x]}}\n" for number in range(200_000))
    index = ChartIndex(f"apiVersion: v1\nentries:\n{entries}".encode(), "index.yaml")
    assert index.entries("chart-199999") == [{"version": "1.0.0", "urls": ["x"]}]
    assert index.entries("web") is None


@pytest.mark.parametrize("place", ["/dev/null/cache", "/proc/self/fdinfo/cache"])
def test_a_cache_that_cannot_be_written(place: str, bad: Argo, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full or read-only disk works like an empty cache."""
    with_cache = bad.objects({"path": "web"})
    monkeypatch.setenv("XDG_CACHE_HOME", place)
    assert bad.objects({"path": "web"}) == with_cache
    checkout = repository_of_two_commits(bad.root / "checkout")
    difference = diff(Tree.commit(checkout, "HEAD~1"), Tree.commit(checkout, "HEAD"))
    assert [(application.name, application.state) for application in difference.applications] == [
        ("argocd/a", "changed")
    ]


def test_a_full_disk_below_the_cache(tmp_path: Path) -> None:
    checkout = repository_of_two_commits(tmp_path / "checkout")
    cache = tmp_path / "cache"
    words = ["argocd", "diff", "--path", str(checkout), "--base", "HEAD~1", "--ref", "HEAD", "-o", "json", "--offline"]
    refused: list[str] = []

    def decide(call: Call) -> int:
        if call.path.startswith(str(cache)) and call.name in ("open", "openat", "write", "mkdir", "mkdirat"):
            refused.append(call.path)
            return errno.ENOSPC
        return 0

    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    command = [sys.executable, "-m", "commodore", *words]
    with Tapped(command, decide, directory=tmp_path, environment=environment) as tapped:
        out, err = tapped.process.communicate()
    assert (tapped.process.returncode, b"Traceback" in err) == (1, False), err
    assert json.loads(out)["summary"]["objects"]["changed"] == 1
    assert refused


def test_two_runs_at_once(tmp_path: Path) -> None:
    """They share a cache that is empty at first, and say the same."""
    checkout = repository_of_two_commits(tmp_path / "checkout")
    begun = threading.Barrier(2)

    def run(_: int) -> tuple[Any, ...]:
        begun.wait()
        difference = diff(Tree.commit(checkout, "HEAD~1"), Tree.commit(checkout, "HEAD"))
        return (
            difference.text(),
            difference.as_plain().summary,
            [diagnostic.code for diagnostic in difference.diagnostics],
        )

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(run, range(2))
    assert first == second
    assert first[1].objects.changed == 1


def test_a_source_in_a_submodule(tmp_path: Path) -> None:
    """Submodules are not followed: their folders are empty in a commit. The others go on."""
    checkout = repository_of_two_commits(tmp_path / "checkout")
    other = repository_of_two_commits(tmp_path / "other")
    (checkout / "b.json").write_text(app("b", "module/a"), encoding="utf-8")
    for words in (
        ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "module"],
        ["add", "."],
        ["commit", "-qm", "three"],
    ):
        git(checkout, *words)
    result = render(Tree.commit(checkout, "HEAD"))
    assert {
        application.name: application.error.code if application.error else "" for application in result.applications
    } == {
        "argocd/a": "",
        "argocd/b": "CMD-ARGO-309",
    }
    told = render(Tree.folder(checkout))
    assert {
        application.name: application.error.code if application.error else "" for application in told.applications
    } == {
        "argocd/a": "",
        "argocd/b": "",
    }


def repository_of_two_commits(folder: Path) -> Path:
    """A checkout with an Application of one ConfigMap, which the second commit changes."""
    (folder / "a").mkdir(parents=True)
    (folder / "a.json").write_text(app("a", "a"), encoding="utf-8")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "remote", "add", "origin", APPS)
    for number in range(2):
        (folder / "a" / "c.json").write_text(config(k=str(number)), encoding="utf-8")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", str(number))
    return folder
