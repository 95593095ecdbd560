"""A cluster with something of everything that a run moves, fetches and renders, in two states."""

from __future__ import annotations

import json

import yaml

from tests.world.cluster import ClusterWorld

_HELM_CLASS = {
    "parameters": {
        "kapitan": {
            "dependencies": [],
            "compile": [
                {
                    "input_type": "helm",
                    "input_paths": ["dependencies/charted/chart"],
                    "output_path": "charted/",
                    "helm_params": {"name": "release", "namespace": "charted"},
                    "helm_values": {"word": "${charted:word}"},
                }
            ],
        },
        "commodore": {
            "postprocess": {
                "filters": [
                    {
                        "type": "builtin",
                        "filter": "helm_namespace",
                        "path": "charted/chart/templates",
                        "filterargs": {"namespace": "charted", "create_namespace": "true"},
                    },
                    {"type": "jsonnet", "path": "charted/chart/templates", "filter": "postprocess/label.jsonnet"},
                ]
            }
        },
    }
}
_LABEL = """
local com = import 'lib/commodore.libjsonnet';
com.fixupDir(std.extVar('output_path'), function(o) o { metadata+: { labels: { filtered: '%s' } } })
"""
_TEMPLATE = """apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-%d
data:
  word: {{ .Values.word | quote }}
  state: %s
"""


def _chart(state: str) -> dict[str, str]:
    about = {"chart/Chart.yaml": "apiVersion: v2\nname: chart\nversion: 1.0.0\n", "chart/values.yaml": "word: x\n"}
    return about | {f"chart/templates/{number}.yaml": _TEMPLATE % (number, state) for number in range(4)}


def _static(state: str) -> dict[str, str]:
    return {
        f"files/{number}.yaml": f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: s{number}\ndata: {{s: {state}}}\n"
        for number in range(5)
    }


def _git_class(url: str) -> str:
    dependency = {"type": "git", "source": url, "output_path": "dependencies/fetching/fetched", "ref": "master"}
    copy = {"input_type": "copy", "input_paths": ["dependencies/fetching/fetched/files"], "output_path": "fetching/"}
    kapitan = {"dependencies": [dependency], "compile": [copy]}
    return yaml.safe_dump({"parameters": {"kapitan": kapitan}})


def _many(state: str) -> dict[str, str]:
    """Files that only let a checkout take longer."""
    return {f"docs/{number}.md": f"{state} {number}\n" * 20 for number in range(12)}


def first_state(world: ClusterWorld) -> None:
    """Everything as it is first."""
    secret = "?{vaultkv:a/b/one}"
    world.component("app", _many("first"), data={"a": "1"}, metadata={"multi_instance": True}, secret=secret)
    world.applications.append("app as other")
    charted = {"class/charted.yml": yaml.safe_dump(_HELM_CLASS), "postprocess/label.jsonnet": _LABEL % "first"}
    world.component("charted", {**charted, **_chart("first")}, word="hello")
    static = world.remotes["static"] = world.git.remote("static", {**_static("first"), **_many("first")})
    world.component("fetching", {"class/fetching.yml": _git_class(static.url)})
    library = world.remotes["library"] = world.git.remote("library", {"names/main.libsonnet": "{ name: 'first' }"})
    jsonnetfile = {
        "version": 1,
        "dependencies": [{"source": {"git": {"remote": library.url, "subdir": "names"}}, "version": "master"}],
        "legacyImports": True,
    }
    world.component(
        "using",
        {
            "jsonnetfile.json": json.dumps(jsonnetfile),
            "component/main.jsonnet": "{ out: { kind: 'A', l: import 'names/main.libsonnet' } }",
        },
    )
    world.package("extra", {"a.yml": "parameters: {app: {data: {p: '1'}}}\n", **_many("first")})
    world.tenant_classes = ["extra.a"]
    world.parameters["secret_management"] = {"vault_addr": "https://vault.example.com", "vault_mount": "kv"}


def second_state(world: ClusterWorld) -> None:
    """Every repository moves to another commit."""
    secret = "?{vaultkv:a/b/two}"
    changed = world.component_files("app", {"a": "2"}, {"multi_instance": True}, secret=secret)
    world.remotes["app"].commit({**changed, **_many("second"), "docs/new.md": "new", "docs/1.md": None})
    world.remotes["charted"].commit({**_chart("second"), "postprocess/label.jsonnet": _LABEL % "second"})
    world.remotes["static"].commit({**_static("second"), **_many("second"), "files/9.yaml": "kind: New\n"})
    world.remotes["library"].commit({"names/main.libsonnet": "{ name: 'second' }", "names/more.libsonnet": "{}"})
    world.remotes["using"].commit({"class/defaults.yml": "parameters: {using: {more: 1}}\n", **_many("second")})
    world.remotes["pkg.extra"].commit({"a.yml": "parameters: {app: {data: {p: '2'}}}\n", **_many("second")})
    world.tenant_parameters = {"charted": {"word": "goodbye"}, "app": {"data": {"t": "x"}}}
