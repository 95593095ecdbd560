"""Repositories of Applications that want to read what is not theirs: git's own folder, and files outside."""

from __future__ import annotations

import contextlib
import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commodore.argocd.acquiring import MappedRepository, RepoMap, Repositories
from commodore.argocd.appsets import Expander, Facts, read_set
from commodore.base.context import Context
from commodore.base.documents import plain
from commodore.base.errors import CommodoreError, Location
from commodore.base.events import ignore
from commodore.cli.main import run
from commodore.core.confinement import isolation
from tests.argocd.conftest import URL, Argo, argo, chart
from tests.attacks.conftest import Secret, Witness
from tests.world.loopback import LoopbackHandler, LoopbackServer

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
        return json.dumps(plain(error))


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
    assert secret.text not in str(plain(caught.value))


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
    assert secret.text not in str(plain(caught.value))


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
    assert secret.text not in str(plain(caught.value))


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
    assert secret.text not in str(plain(caught.value))


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
    "a parameter that names another file": {"fileParameters": [{"name": "name=SECRET,b", "path": "Chart.yaml"}]},
    "a release name that reads variables": {"releaseName": "{{ env `HOME` }}"},
    "values that are several files": {"valueFiles": ["v.yaml,SECRET"]},
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
    "a repository on the link": {"repoURL": "http://169.254.169.254/x.git", "path": "."},
    "a chart on the link": {"repoURL": "http://169.254.169.254/charts", "chart": "x", "targetRevision": "1.0.0"},
    "a registry on the link": {"repoURL": "oci://[fe80::1]/charts", "chart": "x", "targetRevision": "1.0.0"},
    "a registry of the cloud": {"repoURL": "metadata.google.internal/charts", "chart": "x", "targetRevision": "1.0.0"},
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
    "CMD-ARGO-320": (
        "a folder as a URL",
        "a folder as a repository",
        "values of an unknown scheme",
        "a command as a repository",
        "an option as a repository",
        "an option as a host",
        "a revision that is an option",
    ),
    "CMD-ARGO-405": (
        "a name that is an option",
        "a parameter that names another file",
        "a release name that reads variables",
        "a bomb of aliases",
        "a file as a parameter",
    ),
    "CMD-ARGO-407": (
        "absolute values",
        "values that are several files",
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
        "a repository on the link",
        "a chart on the link",
        "a registry on the link",
        "a registry of the cloud",
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


TRAVERSAL: dict[str, tuple[dict[str, Any], dict[str, str], tuple[str, ...]]] = {
    "source": ({"path": "c/../../private"}, {}, ("CMD-ARGO-309",)),
    "chart": (
        {"chart": "../private", "repoURL": "https://charts.example.com", "targetRevision": "1.0.0"},
        {},
        ("CMD-ARGO-315",),
    ),
    "reference": (
        {"path": "c", "helm": {"valueFiles": ["$r/../../private/credentials.yml"]}},
        {},
        ("CMD-ARGO-407", "CMD-ARGO-408"),
    ),
    "absolute file": (
        {"path": "c", "helm": {"fileParameters": [{"name": "a", "path": "{path}"}]}},
        {},
        ("CMD-ARGO-405", "CMD-ARGO-408"),
    ),
    "variable": (
        {"path": "c", "helm": {"valueFiles": ["$ARGOCD_APP_NAME/../../../private/credentials.yml"]}},
        {},
        ("CMD-ARGO-408",),
    ),
    "pattern": ({"path": "c", "helm": {"valueFiles": ["../../private/*.yml"]}}, {}, ("CMD-ARGO-408",)),
    "dependency": (
        {"path": "d"},
        {
            "d/Chart.yaml": "apiVersion: v2\nname: d\nversion: 1.0.0\n"
            "dependencies: [{name: private, version: '*', repository: 'file://../../private'}]\n"
        },
        ("CMD-ARGO-406", "CMD-ARGO-408"),
    ),
    "component": ({"path": "k", "kustomize": {"components": ["../../private"]}}, {}, ("CMD-ARGO-408",)),
    "resource": (
        {"path": "k"},
        {"k/kustomization.yaml": "resources: [../../private/credentials.yml]\n"},
        ("CMD-ARGO-410",),
    ),
    "patch": (
        {"path": "k"},
        {"k/kustomization.yaml": "patches: [{path: ../../private/credentials.yml}]\n"},
        ("CMD-ARGO-410",),
    ),
    "generator": (
        {"path": "k"},
        {"k/kustomization.yaml": "secretGenerator: [{name: a, envs: [../../private/credentials.yml]}]\n"},
        ("CMD-ARGO-410",),
    ),
    "library": (
        {"path": "j", "directory": {"jsonnet": {"libs": ["../private"]}}},
        {"j/a.jsonnet": "{kind: 'A', metadata: {name: importstr 'credentials.yml'}}"},
        ("CMD-ARGO-404", "CMD-ARGO-408"),
    ),
}


@pytest.mark.parametrize("field", TRAVERSAL)
def test_paths_that_climb(cloned: Argo, secret: Secret, field: str) -> None:
    """In every field that names a path; the secret lies next to the repository."""
    source, files, codes = TRAVERSAL[field]
    cloned.files({"k/kustomization.yaml": "resources: []\n", **files})
    text = json.dumps(source).replace("{path}", str(secret.path))
    with pytest.raises(CommodoreError) as caught:
        cloned.objects(json.loads(text))
    assert caught.value.code in codes
    assert secret.text not in str(plain(caught.value))


def test_overrides_that_are_a_link(cloned: Argo, secret: Secret) -> None:
    os.symlink(secret.path, cloned.folder() / "c" / ".argocd-source.yaml")
    with pytest.raises(CommodoreError) as caught:
        cloned.objects({"path": "c"})
    assert caught.value.code == "CMD-ARGO-318"
    assert secret.text not in str(plain(caught.value))


class Listener(LoopbackServer):
    """A server on this machine that remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.asked: list[str] = []


class _Handler(LoopbackHandler):
    world: Listener

    def answer(self) -> None:
        self.world.asked.append(self.path)
        self.send(200, body=b'{"const": "a secret of this machine"}')


@pytest.mark.parametrize("leads", ["index", "redirect"])
def test_a_chart_whose_server_leads_to_the_link(argo: Argo, leads: str) -> None:
    class Lure(LoopbackHandler):
        def answer(self) -> None:
            target = "http://169.254.169.254/latest/x.tgz"
            if leads == "redirect":
                self.send(302, {"Location": target})
            else:
                self.send(200, body=f"entries: {{x: [{{version: 1.0.0, urls: ['{target}']}}]}}".encode())

    argo.offline = False
    with LoopbackServer(Lure) as server, pytest.raises(CommodoreError) as caught:
        argo.objects({"repoURL": server.site, "chart": "x", "targetRevision": "1.0.0"})
    assert caught.value.code == ("CMD-CONF-011" if leads == "index" else "CMD-ARGO-320")


@pytest.mark.harmless
def test_a_file_with_values_that_helm_would_take_for_several(argo: Argo, secret: Secret) -> None:
    name = f"v.yaml,{secret.path}"
    argo.files({**chart(), "v.yaml": "a: 1\n", name: "a: 2\n"})
    (item,) = argo.objects({"path": ".", "helm": {"valueFiles": [name]}})
    assert item["data"]["values"] == '{"a":2}'


@pytest.mark.harmless
@pytest.mark.parametrize("place", ["chart", "chart in it"])
@pytest.mark.parametrize("target", ["server", "file"])
def test_a_schema_that_refers_elsewhere(argo: Argo, secret: Secret, place: str, target: str) -> None:
    """helm would ask servers of this machine even offline, and read any file."""
    (secret.path.parent / "secret.json").write_text(json.dumps({"const": secret.text}), encoding="utf-8")
    with Listener() as server:
        reference = f"{server.url}/a.json" if target == "server" else f"file://{secret.path.parent}/secret.json"
        schema = json.dumps({"properties": {"a": {"$ref": reference}}})
        below = "values.schema.json" if place == "chart" else "charts/sub/values.schema.json"
        sub = {f"charts/sub/{name}": text for name, text in chart("sub").items()} if place != "chart" else {}
        argo.files({**chart(), **sub, below: schema})
        argo.offline = False
        assert len(argo.objects({"path": "."})) >= 1
        assert server.asked == []
    assert "CMD-ARGO-427" in [item.code for item in argo.diagnostics.collected()]


def test_a_schema_of_its_own_still_counts(argo: Argo) -> None:
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "$defs": {"a": {"type": "number"}}}
    argo.files({**chart(), "values.schema.json": json.dumps({**schema, "properties": {"a": {"$ref": "#/$defs/a"}}})})
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"path": "."})
    assert caught.value.code == "CMD-ARGO-405"


@pytest.mark.skipif(not isolation(), reason="this machine has no namespaces for all")
def test_a_kustomization_that_asks_this_machine(argo: Argo) -> None:
    """Proxies do not stand before servers of the machine itself; offline there is no network at all."""
    with Listener() as server:
        argo.files({"kustomization.yaml": f"resources: ['{server.url}/a.yaml']\n"})
        with pytest.raises(CommodoreError) as caught:
            argo.objects({"path": "."})
        assert server.asked == []
    assert caught.value.code in ("CMD-ARGO-310", "CMD-ARGO-410")


@pytest.mark.parametrize(
    "text",
    [
        "resources: ['http://169.254.169.254/latest/user-data']",
        "resources: ['git::http://169.254.169.254/x.git//y']",
        "patches: [{path: 'http://metadata.google.internal/x'}]",
        "resources: [base]",
        "generators: ['{apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: g}, files: [\"http://2852039166/x\"]}']",
    ],
    ids=["file", "repository", "patch", "in a base", "plugin"],
)
def test_a_kustomization_that_asks_the_link(argo: Argo, text: str) -> None:
    argo.files({"k/kustomization.yaml": text, "k/base/kustomization.yaml": "resources: ['https://169.254.1.1/x']"})
    argo.offline = False
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"path": "k"})
    assert caught.value.code == "CMD-CONF-011"


@pytest.mark.harmless
def test_a_chart_that_asks_the_network(argo: Argo) -> None:
    template = (
        'kind: A\nmetadata: {name: x}\naddress: {{ getHostByName "localhost" | quote }}\n'
        'secret: {{ lookup "v1" "Secret" "kube-system" "" | toJson | quote }}\n'
    )
    argo.files({**chart(), "templates/all.yaml": template})
    (item,) = argo.objects({"path": "."})
    assert (item["address"], item["secret"]) == ("", "{}")


GENERATORS: dict[str, tuple[dict[str, Any], str]] = {
    "directories": ({"git": {"repoURL": URL, "directories": [{"path": "../*"}]}}, "{{path}}"),
    "files": ({"git": {"repoURL": URL, "files": [{"path": "../private/*.yml"}]}}, "{{password}}"),
    "a file that is a link": ({"git": {"repoURL": URL, "files": [{"path": "c/link.yml"}]}}, "{{password}}"),
    "a template without end": (
        {"list": {"elements": [{"a": "b"}]}},
        '{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}',
    ),
    "a template that grows": (
        {"list": {"elements": [{"a": "b"}]}},
        "{{ $x := .a }}{{ range until 60 }}{{ $x = print $x $x }}{{ end }}{{ $x }}",
    ),
    "a template that repeats": ({"list": {"elements": [{"a": "b"}]}}, '{{ repeat 1000000000 "a" }}'),
}


@pytest.mark.harmless
@pytest.mark.parametrize("way", GENERATORS)
def test_sets_that_climb_or_grow(cloned: Argo, secret: Secret, way: str) -> None:
    """Nothing of the user's is in what a set makes or says, and it ends."""
    generator, name = GENERATORS[way]
    os.symlink(secret.path, cloned.folder() / "c" / "link.yml")
    template = {
        "metadata": {"name": name},
        "spec": {
            "project": "default",
            "destination": {"name": "in-cluster"},
            "source": {"repoURL": URL, "path": "c"},
        },
    }
    value = {
        "metadata": {"name": "set"},
        "spec": {"generators": [generator], "template": template, "goTemplate": "git" not in generator},
    }
    context = Context(ignore, cloned.limits, offline=True)
    repositories = Repositories(context, RepoMap([MappedRepository(URL, cloned.folder())]), cloned.root / "scratch")
    expander = Expander(cloned.settings, repositories.tree, Facts(), context, cloned.diagnostics)
    made: object = None
    with contextlib.suppress(CommodoreError):
        made = [item.data for item in expander.expand(read_set(value, Location("set.yaml", 1)))]
    told = plain(cloned.diagnostics.collected())
    assert not made
    assert secret.text not in json.dumps([made, told])
    assert any(item["severity"] in ("error", "warning") for item in told) or made is None
