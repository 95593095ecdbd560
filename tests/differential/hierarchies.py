"""Cases of clusters by what their hierarchies and components say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.differential.case import Case, Step, as_yaml
from tests.differential.world import CLASS, COMPILE, LOCAL, SITE, VAULT, at, component, world

PUSH = (*COMPILE, "--push")


def described() -> Iterator[Case]:
    """Entries of components and packages."""
    two = component("app", {"x": "two"})
    versions = {
        "app@feature": two,
        "app@Feature/x": component("app", {"x": "slash"}),
        "app#v1": two,
        "app#v2": component("app", {"x": "v2"}),
    }
    for name, version in {
        "branch": "feature",
        "slash": "Feature/x",
        "tag": "v1",
        "tag-peeled": "v1^{}",
        "tag-ref": "refs/tags/v1",
        "before": "v2~1",
        "unknown": "nowhere",
        "null": None,
        "empty": "",
        "number": 1,
        "float": 1.0,
        "true": True,
        "blank": " feature ",
        "dash": "-x",
        "head": "HEAD",
        "origin": "origin/feature",
    }.items():
        yield world(f"version-{name}", PUSH, entry={"app": at("app", version)}, repositories=versions)
    yield world("version-absent", PUSH, entry={"app": {"url": f"{SITE}/app.git"}})
    yield world("url-absent", PUSH, entry={"app": {"version": "master"}})
    yield world(
        "version-changed",
        PUSH,
        entry={"app": at("app", "feature")},
        repositories=versions,
        before=(PUSH, {"tenant": {"c-one.yml": as_yaml({"parameters": {"components": {"app": {"version": "v2"}}}})}}),
    )
    nested = {f"sub/{path}": text for path, text in component("nested").items()}
    for name, path in {
        "plain": "sub",
        "slash": "sub/",
        "leading": "/sub",
        "dot": "./sub",
        "unknown": "nowhere",
        "empty": "",
        "null": None,
        "number": 1,
    }.items():
        yield world(
            f"path-{name}",
            PUSH,
            applications=("nested",),
            entry={"nested": at("nested", path=path)},
            repositories={"nested": {**nested, **component("nested")}},
        )
    for name, entry in {
        "scp": {"url": "git@git.example.com:app.git", "version": "master"},
        "ssh": {"url": "ssh://git@git.example.com/app.git", "version": "master"},
        "no-suffix": {"url": f"{SITE}/app", "version": "master"},
        "case": {"url": "https://GIT.example.com/app.git", "version": "master"},
        "dots": {"url": f"{SITE}/x/../app.git", "version": "master"},
        "unknown": {"url": f"{SITE}/nowhere.git", "version": "master"},
        "more-keys": {"url": f"{SITE}/app.git", "version": "master", "other": 1},
        "null": None,
        "text": "x",
        "list": [],
        "empty": {},
    }.items():
        yield world(f"entry-{name}", PUSH, entry={"app": entry})
    yield world("entry-unused", PUSH, entry={"other": at("nowhere")})
    yield world("entry-unused-version", PUSH, entry={"other": {"version": "v1"}})
    yield world("components-null", PUSH, common={"parameters": {"components": None}})
    yield world("removed-versions", PUSH, parameters={"component_versions": {"app": {"version": "v1"}}})
    yield world("removed-versions-empty", PUSH, parameters={"component_versions": {}})
    for variable in ("customer:name", "cloud:provider", "cloud:region", "cluster:dist"):
        yield world(f"removed-{variable}", own={"parameters": {"x": f"${{{variable}}}"}})
    yield world("removed-in-component", repositories={"app": component("app", {"y": "${customer:name}"})})


def instances() -> Iterator[Case]:
    many = {"app": component("app", multi_instance=True)}
    both = {"app": component("app", multi_instance=True, multi_version=True), "app@other": {"x": "y\n"}}
    for name, (applications, repositories) in {
        "alias": (("app as two",), many),
        "alias-and-base": (("app", "app as two"), many),
        "alias-forbidden": (("app as two",), {}),
        "alias-itself": (("app as app",), {}),
        "alias-itself-and-bare": (("app", "app as app"), {}),
        "alias-twice": (("app as two", "app as two"), many),
        "alias-blanks": (("app  as  two",), many),
        "alias-upper": (("app as Two",), many),
        "alias-dash": (("app as two-three", "app"), many),
        "alias-under": (("app as two_three",), many),
        "alias-quotes": (("app as 'two'",), many),
        "alias-dot": (("app as t.wo",), many),
        "alias-number": (("app as 2",), many),
        "alias-cluster": (("app as cluster",), many),
        "alias-lib": (("app as lib",), many),
        "alias-of-alias": (("app as two as three",), many),
        "alias-empty": (("app as ",), many),
        "upper-as": (("app AS two",), many),
        "upper": (("App",), {}),
        "quotes": (("'app'",), {}),
        "blank": ((" app",), {}),
        "unknown": (("app", "other"), {}),
        "unknown-alias": (("other as two",), {}),
        "none": ((), {}),
        "twice": (("app", "app"), {}),
        "number": ((1,), {}),
        "null": ((None,), {}),
        "removed-later": (("app", "~app"), {}),
        "removed-before": (("~app", "app"), {}),
        "removed-unknown": (("app", "~other"), {}),
        "removed-alias": (("app", "app as two", "~app as two"), many),
    }.items():
        yield world(f"instances-{name}", PUSH, applications=applications, repositories=repositories)
    yield world("tenant-removes", PUSH, own={"applications": ["~app"]})
    yield world("tenant-adds", PUSH, applications=(), own={"applications": ["app"]})
    yield world("tenant-renames", PUSH, own={"applications": ["~app", "app as two"]}, repositories=many)
    for name, (entry, repositories) in {
        "version": ({"two": {"version": "other"}}, both),
        "url": ({"two": at("app", "other")}, both),
        "forbidden": ({"two": {"version": "other"}}, {**many, "app@other": {"x": "y\n"}}),
        "path": ({"two": {"path": "."}}, both),
        "empty": ({"two": {}}, both),
        "null-version": ({"two": {"version": None}}, both),
        "base-without-version": ({"app": {"url": f"{SITE}/app.git"}, "two": {"version": "other"}}, both),
        "unused-base": ({"two": {"version": "other"}, "app": ...}, both),
    }.items():
        yield world(f"alias-{name}", PUSH, entry=entry, repositories=repositories, applications=("app", "app as two"))
    yield world(
        "alias-parameters",
        PUSH,
        applications=("app", "app as two"),
        repositories=many,
        parameters={"app": {"x": "base"}, "two": {"x": "own", "y": "${_instance}"}},
    )
    for name, metadata in {
        "deprecated": {"deprecated": True},
        "deprecated-text": {"deprecated": "yes"},
        "replaced": {"deprecated": True, "replaced_by": "other", "deprecation_notice": "See https://example.com/x"},
        "replaced-empty": {"deprecated": True, "replaced_by": "", "deprecation_notice": ""},
        "replaced-null": {"deprecated": True, "replaced_by": None, "deprecation_notice": None},
        "replaces": {"replaces": "old"},
        "aliases": {"library_aliases": {"other.libsonnet": "app.libsonnet"}},
        "aliases-missing": {"library_aliases": {"other.libsonnet": "app-x.libsonnet"}},
        "aliases-null": {"library_aliases": None},
        "aliases-list": {"library_aliases": []},
        "multi-text": {"multi_instance": "yes"},
    }.items():
        yield world(
            f"metadata-{name}",
            PUSH,
            repositories={"app": {**component("app", **metadata), "lib/app.libsonnet": "{ a: 1 }\n"}},
        )
    yield world(
        "metadata-changed",
        PUSH,
        own={"parameters": {"app": {"_metadata": {"multi_instance": True}}}},
        repositories={"app": component("app", multi_instance=False)},
    )
    for name, files in {
        "own": {"lib/app.libsonnet": "{}\n"},
        "longer": {"lib/app-more.libsonnet": "{}\n"},
        "prefix": {"lib/apple.libsonnet": "{}\n"},
        "other": {"lib/other.libsonnet": "{}\n"},
        "deep": {"lib/app/x.libsonnet": "{}\n"},
        "jsonnet": {"lib/app.jsonnet": "{}\n"},
        "text": {"lib/README.md": "x\n"},
        "hidden": {"lib/.keep": ""},
    }.items():
        yield world(f"library-{name}", PUSH, repositories={"app": {**component("app"), **files}})
    for name, removed in {
        "no-defaults": "class/defaults.yml",
        "no-class": "class/app.yml",
        "no-jsonnet": "component/main.jsonnet",
    }.items():
        left = {path: text for path, text in component("app").items() if path != removed}
        yield world(
            name,
            PUSH,
            applications=("bare as bare",) if False else ("bare",),
            entry={"bare": at("bare")},
            repositories={"bare": {path.replace("app.yml", "bare.yml"): text for path, text in left.items()}},
        )
    yield world("no-entries", PUSH, repositories={"app": {"class/app.yml": "parameters: {}\n"}})
    yield world(
        "one-file",
        PUSH,
        applications=("app", "app as two"),
        repositories={"app": {**many["app"], "class/app.yml": CLASS.replace("${_instance}/", "same/")}},
    )


def packages() -> Iterator[Case]:
    item = {"one": {"main.yml": "parameters: {app: {x: package}}\n"}}
    for name, entry in {
        "plain": at("one"),
        "branch": at("one", "feature"),
        "null-version": at("one", None),
        "no-version": {"url": f"{SITE}/one.git"},
        "no-url": {"version": "master"},
        "unknown": at("nowhere"),
        "unknown-version": at("one", "nowhere"),
        "path": at("one", path="sub"),
        "path-slash": at("one", path="/sub/"),
        "path-unknown": at("one", path="nowhere"),
    }.items():
        yield world(
            f"package-{name}",
            PUSH,
            applications=("app", "pkg.one"),
            parameters={"packages": {"one": entry}},
            repositories={
                "one": {**item["one"], "sub/main.yml": "parameters: {app: {x: sub}}\n"},
                "one@feature": {"main.yml": "parameters: {app: {x: feature}}\n"},
                "defaults": {
                    "commodore.yml": "classes: [global.common, 'one.main', '${cluster:tenant}.${cluster:name}']\n"
                },
            },
        )
    for name in ("components", "defaults", "global", "params", "t-one", "One", "o.ne", "1", ""):
        yield world(
            f"package-named-{name or 'empty'}",
            PUSH,
            applications=("app", f"pkg.{name}"),
            parameters={"packages": {name: at("one")}},
            repositories=item,
        )
    yield world("package-undescribed", PUSH, applications=("app", "pkg.one"))
    yield world(
        "package-not-included",
        PUSH,
        applications=("app",),
        parameters={"packages": {"one": at("one")}},
        repositories=item,
    )
    yield world(
        "package-removed",
        PUSH,
        applications=("app", "pkg.one", "~pkg.one"),
        parameters={"packages": {"one": at("one")}},
        repositories=item,
    )
    more = {
        "one": {
            "main.yml": as_yaml(
                {
                    "applications": ["two"],
                    "parameters": {"components": {"two": at("two"), "app": {"version": "feature"}}},
                }
            )
        },
        "two": component("two"),
        "app@feature": component("app", {"x": "feature"}),
        "defaults": {"commodore.yml": "classes: [global.common, 'one.main', '${cluster:tenant}.${cluster:name}']\n"},
    }
    yield world(
        "package-adds-component",
        PUSH,
        applications=("app", "pkg.one"),
        parameters={"packages": {"one": at("one")}},
        repositories=more,
    )
    yield world("class-missing", PUSH, common={"classes": ["nowhere"]})
    yield world(
        "class-missing-package",
        PUSH,
        applications=("app",),
        repositories={"defaults": {"commodore.yml": "classes: [global.common, 'one.main']\n"}},
    )


def secrets() -> Iterator[Case]:
    for name, reference in {
        "plain": "?{vaultkv:a/b/c}",
        "reference": "?{vaultkv:${cluster:tenant}/${cluster:name}/key}",
        "instance": "?{vaultkv:a/${_instance}/key}",
        "in-text": "x ?{vaultkv:a/b/c} y ?{vaultkv:a/b/d}",
        "twice": ["?{vaultkv:a/b/c}", "?{vaultkv:a/b/c}"],
        "short": "?{vaultkv:a/b}",
        "colon": "?{vaultkv:a/b:c}",
        "slashes": "?{vaultkv:a//b}",
        "end-slash": "?{vaultkv:a/b/}",
        "other-kind": "?{gkms:a/b}",
        "plain-kind": "?{plain:a/b}",
        "escaped": "\\?{vaultkv:a/b/c}",
        "unclosed": "?{vaultkv:a/b/c",
        "dots": "?{vaultkv:a.b/c-d_e/f}",
        "hidden": "?{vaultkv:.a/b/c}",
        "multi-line": "a\n?{vaultkv:a/b/c}\nb\n",
        "key": {"?{vaultkv:a/b/c}": 1},
    }.items():
        yield world(f"secret-{name}", PUSH, parameters={"app": {"s": reference}})
    gone: Step = {
        "defaults": {
            "common.yml": as_yaml(
                {
                    "applications": ["app"],
                    "parameters": {"components": {"app": at("app")}, "kapitan": {"secrets": {"vaultkv": VAULT}}},
                }
            )
        }
    }
    yield world("secret-removed", PUSH, parameters={"app": {"s": "?{vaultkv:a/b/c}"}}, before=(PUSH, gone))
    yield world("secret-local", LOCAL, parameters={"app": {"s": "?{vaultkv:a/b/c}"}}, before=(PUSH,))


def inputs() -> Iterator[Case]:
    """Inputs and filters of components in a catalog."""

    def entries(*compile: Mapping[str, Any], **more: Any) -> dict[str, str]:
        return {"class/app.yml": as_yaml({"parameters": {"kapitan": {"compile": list(compile)}, **more}})}

    copy = {"input_paths": ["${_base_directory}/files"], "input_type": "copy", "output_path": "${_instance}/"}
    files = {
        "files/a.yaml": "kind: A\nmetadata: {name: a}\n",
        "files/b.txt": "x\n",
        "files/.hidden": "x\n",
        "files/empty/.keep": "",
        "files/deep/c.json": '{"a": 1}\n',
        "files/d.yml": "x: |\n  a\n  b\n",
    }
    yield world("copy", PUSH, repositories={"app": {**entries(copy), **files}})
    yield world(
        "copy-file",
        PUSH,
        repositories={"app": {**entries({**copy, "input_paths": ["${_base_directory}/files/a.yaml"]}), **files}},
    )
    yield world("copy-dot", PUSH, repositories={"app": {**entries({**copy, "output_path": "."}), **files}})
    namespace = {"type": "builtin", "filter": "helm_namespace", "path": "app", "filterargs": {"namespace": "nn"}}
    for name, change in {
        "plain": {},
        "create": {"filterargs": {"namespace": "nn", "create_namespace": True}},
        "create-text": {"filterargs": {"namespace": "nn", "create_namespace": "true"}},
        "disabled": {"enabled": False},
        "reference": {"path": "${_instance}", "filterargs": {"namespace": "${app:x}"}},
    }.items():
        filters = {"postprocess": {"filters": [{**namespace, **change}]}}
        only = {"files/a.yaml": files["files/a.yaml"]}
        yield world(f"filter-{name}", PUSH, repositories={"app": {**entries(copy, commodore=filters), **only}})
    chart = {
        "chart/Chart.yaml": "apiVersion: v2\nname: chart\nversion: 0.1.0\n",
        "chart/templates/a.yaml": "kind: A\nmetadata: {name: '{{ .Release.Name }}'}\nx: {{ .Values.x | quote }}\n",
        "chart/templates/b.yaml": "{{ if .Values.b }}kind: B{{ end }}\n",
        "chart/templates/NOTES.txt": "x\n",
    }
    helm = {
        "input_paths": ["${_base_directory}/chart"],
        "input_type": "helm",
        "output_path": "${_instance}/",
        "helm_params": {"name": "${_instance}"},
        "helm_values": "${app:values}",
    }
    yield world(
        "helm", PUSH, parameters={"app": {"values": {"x": 1}}}, repositories={"app": {**entries(helm), **chart}}
    )
    yield world(
        "helm-alias",
        PUSH,
        parameters={"app": {"values": {"x": 1}}, "two": {"values": {"b": True}}},
        applications=("app", "app as two"),
        repositories={"app": {**component("app", multi_instance=True), **entries(helm), **chart}},
    )
    kustomize = {"input_paths": ["${_base_directory}/k"], "input_type": "kustomize", "output_path": "${_instance}/"}
    objects = {
        "k/kustomization.yaml": "resources: [cm.yaml]\n",
        "k/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  x: |\n    l1\n    l2\n",
    }
    many = component("app", multi_instance=True)
    yield world("kustomize", PUSH, repositories={"app": {**entries(kustomize), **objects}})
    yield world(
        "kustomize-alias",
        PUSH,
        applications=("app", "app as two"),
        repositories={"app": {**many, **entries(kustomize, copy), **files, **objects}},
    )
    prune = {**copy, "prune": True}
    yield world("copy-prune", PUSH, repositories={"app": {**entries(prune), **files}})
    yield world(
        "two-inputs",
        PUSH,
        repositories={"app": {**entries(copy, {**helm, "output_path": "h"}), **files, **chart}},
        parameters={"app": {"values": {"x": 1}}},
    )
    for name, script in {
        "null": "{ a: null }",
        "list": "{ a: [{ b: 1 }, { c: 2 }] }",
        "empty": "{}",
        "deep": "{ 'x/y': { a: 1 } }",
        "text": "{ a: 'x' }",
        "multi-line": "{ a: { b: 'x\\ny\\n' } }",
        "error": "error 'x'",
    }.items():
        yield world(f"jsonnet-{name}", PUSH, repositories={"app": {"component/main.jsonnet": script}})


def hierarchies() -> Iterator[Case]:
    for each in (described, instances, packages, secrets, inputs):
        yield from each()
