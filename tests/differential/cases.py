"""Cases of components, values, class files, the inventory and lists of clusters."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.differential.case import Case, Compared, Files, as_yaml

MAIN = '{ a: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } } }'
JSONNET = {"input_paths": ["comp/main.jsonnet"], "input_type": "jsonnet", "output_path": "comp/"}
NAMESPACE = {"type": "builtin", "filter": "helm_namespace", "path": "comp", "filterargs": {"namespace": "nn"}}
TEMPLATE = """apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-%s
  namespace: {{ .Release.Namespace }}
data:
  x: |
    a
    b
  v: {{ .Values.v | default "none" | quote }}
"""


def chart(name: str) -> Files:
    return {
        f"comp/c/{name}/Chart.yaml": f"apiVersion: v2\nname: {name}\nversion: 0.1.0\n",
        f"comp/c/{name}/templates/a.yaml": TEMPLATE % name,
    }


def component(
    name: str,
    entries: Any = (JSONNET,),
    filters: Any = None,
    parameters: Mapping[str, Any] | None = None,
    files: Mapping[str, str] | None = None,
    **rest: Any,
) -> Case:
    """A `component compile`; the entries' paths are relative to the folder next to the component's."""
    own = {"kapitan": {"compile": list(entries) if isinstance(entries, tuple) else entries}}
    if filters is not None:
        own["commodore"] = {"postprocess": {"filters": filters}}
    base = {
        "comp/class/comp.yml": as_yaml({"parameters": own}),
        "comp/class/defaults.yml": as_yaml({"parameters": {"comp": dict(parameters or {})}}),
        "comp/main.jsonnet": MAIN,
    }
    words = ("component", "compile", "comp", "-o", "{out}", *rest.pop("options", ()))
    return Case(f"component/{name}", words, {**base, **(files or {})}, **rest)


def label(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


SKIPPED = ("CMD-ENG-041", "CMD-ENG-044")


def filters() -> Iterator[Case]:
    for value in ("yes", "no", "", 0, 1, None, "true", "false", [], {}, True, False, 1.5):
        yield component(f"filter-enabled-{label(value)}", filters=[{**NAMESPACE, "enabled": value}], allow=SKIPPED)
    for key in NAMESPACE:
        left = {name: value for name, value in NAMESPACE.items() if name != key}
        yield component(f"filter-without-{key}", filters=[left], allow=SKIPPED)
        for value in ("", None, 1, [], {}, "x"):
            yield component(f"filter-{key}-{label(value)}", filters=[{**NAMESPACE, key: value}], allow=SKIPPED)
    for key, values in {
        "namespace": ("a", "", None, 1, True, "A b", "${cluster:name}"),
        "create_namespace": (True, False, "true", "false", "yes", None, 1),
        "exclude_objects": (
            [],
            None,
            [{"kind": "ConfigMap"}],
            [{"kind": "ConfigMap", "name": "a"}],
            [{"kind": "ConfigMap", "name": "b"}],
            [{"name": "a"}],
            [{"kind": "configmap"}],
            "x",
        ),
        "other": (1, "x"),
    }.items():
        for value in values:
            item = {**NAMESPACE, "filterargs": {"namespace": "nn", key: value}}
            yield component(f"namespace-{key}-{label(value)}", filters=[item], allow=SKIPPED)
    for shape in ({"a": NAMESPACE}, {}, "", "x", None, [], 1, ["x"], [None], [[]]):
        yield component(f"filters-{label(shape)}", filters=shape if shape is not None else [], allow=SKIPPED)
    for path in ("comp/", "./comp", "comp/.", "nowhere", "comp/a.yaml", "", "."):
        yield component(f"filter-path-{path or 'empty'}", filters=[{**NAMESPACE, "path": path}], allow=SKIPPED)
    jsonnet = {"type": "jsonnet", "filter": "pp/f.jsonnet", "path": "comp", "filterargs": {"x": "1"}}
    for name, text in {
        "object": "{ made: { a: 1 } }",
        "list": "{ made: [{ a: 1 }, { b: 2 }] }",
        "nothing": "{}",
        "null": "{ made: null }",
        "text": "{ made: 'text' }",
        "number": "{ made: 1.5 }",
        "argument": "{ made: { x: std.extVar('x'), t: std.extVar('target'), c: std.extVar('component') } }",
        "missing-argument": "{ made: { x: std.extVar('y') } }",
        "over": "{ a: { replaced: true } }",
        "deep": "{ 'x/y': { a: 1 } }",
        "array": "[1]",
        "error": "error 'no'",
        "syntax": "{",
        "inventory": "local i = std.native('commodore_inventory')(); { made: { x: std.objectHas(i, 'parameters') } }",
        "list-dir": "{ made: { x: std.native('list_dir')(std.extVar('output_path')) } }",
        "list-dir-path": "{ made: { x: std.length(std.native('list_dir')(std.extVar('output_path'), false)) } }",
        "load": "{ made: std.native('yaml_load')(std.extVar('output_path') + '/a.yaml') }",
        "load-all": "{ made: std.native('yaml_load_all')(std.extVar('output_path') + '/a.yaml') }",
        "library": "local c = import 'lib/commodore.libjsonnet'; { made: { x: std.isObject(c) } }",
        "fix-up": "local c = import 'lib/commodore.libjsonnet'; c.fixupDir(std.extVar('output_path'), function(o) o)",
        "numbers": "{ made: { a: 1e20, b: 0.1, c: -0, d: 100000000000000000000 } }",
        "multi-line": "{ made: { a: 'x\\ny\\n', b: 'x\\ny', c: '\\n', d: ' a\\nb' } }",
    }.items():
        yield component(f"jsonnet-filter-{name}", filters=[jsonnet], files={"comp/pp/f.jsonnet": text})
    yield component("jsonnet-filter-missing", filters=[jsonnet], allow=SKIPPED)
    for value in (None, {}, {"x": 1}, {"x": True}, {"x": None}, [], "x"):
        item = {**jsonnet, "filterargs": value}
        yield component(f"jsonnet-filter-arguments-{label(value)}", filters=[item], files={"comp/pp/f.jsonnet": "{}"})
    yield component("filters-two", filters=[NAMESPACE, {**NAMESPACE, "filterargs": {"namespace": "mm"}}])
    yield component(
        "filter-on-made-folder",
        filters=[jsonnet, {**NAMESPACE, "path": "made"}],
        files={"comp/pp/f.jsonnet": '{ "../made/x": { kind: "X", apiVersion: "v1", metadata: { name: "x" } } }'},
        differs="a filter runs on what an earlier one has made",
    )


def copied() -> Iterator[Case]:
    """Files that are copied into the output, and then filtered."""
    copy = {"input_paths": ["comp/f"], "input_type": "copy", "output_path": "comp/"}
    for name, files in {
        "yaml": {"a.yaml": "kind: A\nmetadata: {name: a}\n"},
        "yml": {"a.yml": "kind: A\nmetadata: {name: a}\n"},
        "json": {"a.json": '{"kind": "A", "metadata": {"name": "a"}}\n'},
        "text": {"a.txt": "x\n"},
        "stream": {"a.yaml": "kind: A\n---\nkind: B\n---\n"},
        "empty": {"a.yaml": ""},
        "list": {"a.yaml": "- kind: A\n"},
        "scalar": {"a.yaml": "x\n"},
        "no-metadata": {"a.yaml": "kind: A\n"},
        "null-metadata": {"a.yaml": "kind: A\nmetadata:\n"},
        "binary": {"a.yaml": "kind: A\nbinaryData:\n  x: !!binary aGVsbG8=\n"},
        "date": {"a.yaml": "kind: A\nd: 2020-01-02\n"},
        "numbers": {"a.yaml": "kind: A\na: 1.0\nb: 1e3\nc: 0o17\nd: 017\ne: 1_000\nf: 12345678901234567890\n"},
        "words": {"a.yaml": "kind: A\na: yes\nb: on\nc: 'no'\nd: ~\ne: null\nf: 'null'\n"},
        "anchors": {"a.yaml": "kind: A\na: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}\n"},
        "texts": {"a.yaml": "kind: A\na: |\n  x\n  y\nb: >\n  x\n  y\nc: \"x\\ty\"\nd: ' x'\n"},
        "unicode": {"a.yaml": "kind: A\na: grün ☃\n"},
        "deep": {"x/a.yaml": "kind: A\n"},
        "broken": {"a.yaml": "a: [\n"},
    }.items():
        given = {f"comp/f/{path}": text for path, text in files.items()}
        yield component(f"copy-{name}", (copy,), files=given)
        differs = {
            "binary": "binary data stay what they are",
            "yml": "an object is there once",
            "json": "an object is there once",
            "text": "a text file is not a manifest",
            "scalar": "a text has no metadata that JSON could be joined to",
        }.get(name, "")
        yield component(f"namespace-over-{name}", (copy,), [NAMESPACE], files=given, differs=differs)
    for name, links in {
        "file": {"comp/f/l.yaml": "a.yaml"},
        "above": {"comp/f/l.yaml": "../class/comp.yml"},
        "folder": {"comp/f/l": "../class"},
        "nothing": {"comp/f/l.yaml": "nowhere"},
    }.items():
        yield component(f"copy-link-{name}", (copy,), files={"comp/f/a.yaml": "a: 1\n"}, links=links)
    for key, value in {"ignore_missing": True, "output_path": ".", "input_paths": ["comp/nowhere"]}.items():
        yield component(f"copy-{key}", ({**copy, key: value},), files={"comp/f/a.yaml": "a: 1\n"})


def inputs() -> Iterator[Case]:
    for kind in ("yaml", "json", "plain", "toml", "nothing"):
        for name, text in {
            "object": "{ a: { b: 1, c: [1, 2] } }",
            "list": "{ a: [{ b: 1 }, { c: 2 }] }",
            "text": "{ a: 'some text' }",
            "number": "{ a: 1 }",
            "null": "{ a: null }",
            "empty": "{}",
            "top-list": "[{ a: 1 }]",
            "top-text": "'text'",
        }.items():
            yield component(
                f"jsonnet-{kind}-{name}",
                ({**JSONNET, "output_type": kind},),
                files={"comp/main.jsonnet": text},
                allow=("CMD-ENG-012",),
            )
    for name, text in {
        "multi-line": "{ a: { b: 'x\\ny\\n', c: 'x\\n', d: '\\tx\\ny' } }",
        "keys": "{ a: { '1': 1, 'a b': 2, 'a: b': 3, '': 4, 'yes': 5, '~': 6 } }",
        "texts": "{ a: { b: 'yes', c: '1', d: '1.5', e: 'null', f: ' x ', g: '#x', h: '2020-01-01', i: '0x1f' } }",
        "numbers": "{ a: { b: 1.5, c: 1e10, d: -1, e: 0.1 + 0.2, f: 1e21, g: 123456789012 } }",
        "nested": "{ 'x/y/a': { b: 1 } }",
        "dots": "{ 'a.b': { b: 1 } }",
        "import": "local x = import 'x.libsonnet'; { a: x }",
        "inventory": "local i = std.extVar('inventory_path'); { a: { b: std.isString(i) } }",
        "target": "{ a: { b: std.extVar('target') } }",
        "kapitan": (
            "local kap = import 'lib/kapitan.libjsonnet'; local i = kap.inventory();"
            " { a: { b: i.parameters.cluster.name, c: i.parameters._instance } }"
        ),
        "kube": "local k = import 'lib/kube.libjsonnet'; { a: k.ConfigMap('x') { data: { a: 'b' } } }",
        "error": "error 'no'",
        "syntax": "{ a: ",
        "assert": "{ assert false : 'message' }",
        "trace": "{ a: std.trace('told', { b: 1 }) }",
        "native": "{ a: { b: std.native('sha256_string')('x'), c: std.native('yaml_dump')({ a: 1 }) } }",
        "b64": "{ a: { b: std.base64('x'), c: std.manifestYamlDoc({ a: [1] }) } }",
        "missing-import": "import 'nowhere.libsonnet'",
        "missing-parameter": (
            "local kap = import 'lib/kapitan.libjsonnet'; { a: { b: kap.inventory().parameters.nowhere } }"
        ),
    }.items():
        yield component(
            f"jsonnet-{name}", files={"comp/main.jsonnet": text, "comp/x.libsonnet": "{ x: 1 }"}, options=("-J", "comp")
        )
    helm = {"input_paths": ["comp/c/one"], "input_type": "helm", "output_path": "comp/"}
    for name, change in {
        "plain": {},
        "name": {"helm_params": {"name": "rel"}},
        "namespace": {"helm_params": {"name": "rel", "namespace": "ns"}},
        "values": {"helm_values": {"v": "x"}},
        "value-number": {"helm_values": {"v": 1}},
        "value-digits": {"helm_values": {"v": "012345678"}},
        "values-files": {"helm_values_files": ["comp/v.yaml"]},
        "two": {"input_paths": ["comp/c/one", "comp/c/two"]},
        "two-name": {"input_paths": ["comp/c/one", "comp/c/two"], "helm_params": {"name": "rel", "namespace": "ns"}},
        "output-file": {"helm_params": {"name": "rel", "output_file": "one.yaml"}},
        "two-output-file": {
            "input_paths": ["comp/c/one", "comp/c/two"],
            "helm_params": {"name": "rel", "output_file": "one.yaml"},
        },
        "flag": {"helm_params": {"name": "rel", "no_hooks": True}},
        "dash": {"helm_params": {"name": "rel", "no-hooks": True}},
        "set": {"helm_params": {"name": "rel", "set": "v=x"}},
        "missing": {"input_paths": ["comp/c/nowhere"]},
        "release-name": {"helm_params": {"release_name": "rel"}},
        "release-name-switch": {"helm_params": {"name": "rel", "release_name": True}},
        "json": {"output_type": "json"},
        "kube-version": {"kube_version": "1.29.0"},
    }.items():
        yield component(
            f"helm-{name}", ({**helm, **change},), files={**chart("one"), **chart("two"), "comp/v.yaml": "v: file\n"}
        )
    kustomize = {"input_paths": ["comp/k"], "input_type": "kustomize", "output_path": "comp/"}
    objects = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: |\n    l1\n    l2\n  y: '5'\n"
    for name, (change, more) in {
        "plain": ({}, {}),
        "namespace": ({"namespace": "ns"}, {}),
        "own-namespace": ({}, {"comp/k/kustomization.yaml": "namespace: own\nresources: [cm.yaml]\n"}),
        "two-objects": ({}, {"comp/k/cm.yaml": objects + "---\n" + objects.replace("name: a", "name: b")}),
        "folder": ({"output_path": "x/y"}, {}),
        "missing": ({"input_paths": ["comp/nowhere"]}, {}),
        "broken": ({}, {"comp/k/cm.yaml": "a: [\n"}),
        "patch": (
            {
                "patches": {
                    "p": {
                        "target": {"kind": "ConfigMap", "name": "a"},
                        "patch": {
                            "apiVersion": "v1",
                            "kind": "ConfigMap",
                            "metadata": {"name": "a"},
                            "data": {"z": "1\n2\n"},
                        },
                    }
                }
            },
            {},
        ),
    }.items():
        files = {"comp/k/kustomization.yaml": "resources: [cm.yaml]\n", "comp/k/cm.yaml": objects, **more}
        yield component(f"kustomize-{name}", ({**kustomize, **change},), files=files)
    jinja = {"input_paths": ["comp/t"], "input_type": "jinja2", "output_path": "comp/"}
    for name, text in {
        "text": "x\n",
        "value": "{{ inventory.parameters.cluster.name }}\n",
        "missing": "{{ nowhere.x }}\n",
        "params": "{{ input_params.x }}\n",
        "filter": "{{ 'x' | sha256 }} {{ 'x' | b64encode }} {{ {'a': 1} | yaml }}\n",
        "loop": "{% for i in [1, 2] %}\n- {{ i }}\n{% endfor %}\n",
        "syntax": "{% for %}\n",
        "no-newline": "x",
    }.items():
        entry = {**jinja, "input_params": {"x": "given"}}
        yield component(f"jinja2-{name}", (entry,), files={"comp/t/a.txt": text, "comp/t/b.yaml.j2": "a: 1\n"})
        yield component(f"jinja2-suffix-{name}", ({**entry, "suffix_remove": True},), files={"comp/t/a.j2": text})
    for name, entry in {
        "remove": {"input_paths": ["compiled/comp/comp/a.yaml"], "input_type": "remove", "output_path": "."},
        "external": {
            "input_paths": ["/bin/sh"],
            "input_type": "external",
            "output_path": "x",
            "args": ["-c", "'echo a'"],
        },
        "unknown": {"input_paths": ["comp"], "input_type": "nothing", "output_path": "."},
        "no-paths": {"input_type": "jsonnet", "output_path": "."},
        "no-type": {"input_paths": ["comp/main.jsonnet"], "output_path": "."},
        "no-output": {"input_paths": ["comp/main.jsonnet"], "input_type": "jsonnet"},
        "odd-key": {**JSONNET, "nothing": 1},
        "glob": {**JSONNET, "input_paths": ["comp/*.jsonnet"]},
        "twice": {**JSONNET, "input_paths": ["comp/main.jsonnet", "comp/main.jsonnet"]},
        "ignored": {**JSONNET, "input_paths": ["comp/nowhere"], "ignore_missing": True},
        "continue": {**JSONNET, "input_paths": ["comp/nowhere"], "continue_on_compile_error": True},
        "prune": {**JSONNET, "prune": True},
    }.items():
        differs = "commands run only where the trust policy allows it" if name == "external" else ""
        yield component(f"entry-{name}", (JSONNET, entry), differs=differs)
    for shape in (None, {}, [], "x", [None]):
        yield component(f"entries-{label(shape)}", shape)


def metadata() -> Iterator[Case]:
    values = (True, False, None, "yes", "text", "", 1, 0, "false", [], {"a": 1})
    for key, value in itertools.product(("multi_instance", "multi_version", "deprecated"), values):
        parameters = {"_metadata": {key: value}}
        yield component(f"metadata-{key}-{label(value)}", parameters=parameters)
        if key == "multi_instance":
            yield component(f"metadata-alias-{label(value)}", parameters=parameters, options=("-a", "other"))
    for key, value in {
        "replaced_by": "x",
        "replaces": "x",
        "deprecation_notice": "x",
        "other": 1,
        "library_aliases": {"comp-a.libsonnet": "comp-b.libsonnet"},
    }.items():
        library = {"comp/lib/comp-b.libsonnet": "{}"}
        yield component(f"metadata-{key}", parameters={"_metadata": {key: value}}, files=library)
    for value in ({}, None):
        yield component(f"metadata-{label(value)}", parameters={"_metadata": value})
    many = {"_metadata": {"multi_instance": True}}
    for alias in ("other", "Other", "other-1", "other_1", "1other", "o.ther", "-other", "o ther", "comp", "", "'x'"):
        differs = "a name must be safe in paths and commands" if alias in ("o.ther", "-other", "o ther") else ""
        yield component(f"alias-{alias or 'empty'}", parameters=many, options=(f"--alias={alias}",), differs=differs)
    for name in ("comp", "Comp", "comp-1"):
        yield component(f"name-{name}", options=("-n", name))


def values() -> Iterator[Case]:
    show = '{ a: (import "lib/kapitan.libjsonnet").inventory().parameters.comp }'
    texts = {
        "plain": "parameters: {comp: {x: 1}}\n",
        "text": "parameters: {comp: {x: 'yes'}}\n",
        "null": "parameters: {comp: {x: null}}\n",
        "list": "parameters: {comp: {x: [1, 2]}}\n",
        "merge": "parameters: {comp: {m: {b: 2}}}\n",
        "merge-list": "parameters: {comp: {l: [3]}}\n",
        "override": "parameters: {comp: {~m: {b: 2}}}\n",
        "override-list": "parameters: {comp: {~l: [3]}}\n",
        "constant": "parameters: {comp: {=x: 1}}\n",
        "reference": "parameters: {comp: {x: '${cluster:name}'}}\n",
        "reference-in-text": "parameters: {comp: {x: 'a-${cluster:name}-b'}}\n",
        "reference-missing": "parameters: {comp: {x: '${nowhere}'}}\n",
        "reference-escaped": "parameters: {comp: {x: '\\\\${cluster:name}'}}\n",
        "reference-nested": "parameters: {comp: {x: '${comp:${comp:k}}'}}\n",
        "no-parameters": "classes: []\n",
        "missing-class": "classes: [nowhere]\n",
        "empty": "",
        "broken": "a: [\n",
        "list-file": "- a\n",
        "type-clash": "parameters: {comp: {m: [1]}}\n",
        "applications": "applications: [other]\nparameters: {}\n",
        "facts": "parameters: {facts: {distribution: mine}, comp: {x: '${facts:distribution}'}}\n",
        "secret": "parameters: {comp: {x: '?{vaultkv:a/b/c}'}}\n",
        "multi-line": "parameters:\n  comp:\n    x: |\n      a\n      b\n",
        "date": "parameters: {comp: {x: 2020-01-01}}\n",
        "float": "parameters: {comp: {x: 1.0, y: 1e3, z: .5}}\n",
    }
    parameters = {"m": {"a": 1}, "l": [1, 2], "k": "v", "v": "deep"}
    for name, text in texts.items():
        files = {"comp/main.jsonnet": show, "v.yml": text}
        yield component(f"values-{name}", parameters=parameters, files=files, options=("-f", "v.yml"))
    more = {"comp/main.jsonnet": show, "v.yml": texts["plain"], "d/v.yml": "parameters: {comp: {x: 2}}\n"}
    for name, given in {
        "twice": ("v.yml", "v.yml"),
        "one-name": ("v.yml", "d/v.yml"),
        "missing": ("nowhere.yml",),
        "folder": ("d",),
    }.items():
        options = tuple(word for file in given for word in ("-f", file))
        differs = "values files of one name overwrite each other there" if name == "one-name" else ""
        yield component(f"values-files-{name}", parameters=parameters, files=more, options=options, differs=differs)


LINT_DIFFERS = {
    "broken": "a class file that cannot be read is an error",
    "tabs": "a class file that cannot be read is an error",
    "number-name": "a name that is a number is a finding",
}
PATTERN_DIFFERS = {
    "ignore-blank": "a blank line leaves nothing out",
    "pattern-blank-and-file": "an empty option counts as not given",
    "pattern-spaces": "blanks around a pattern do not count, wherever it is given",
}


def lint() -> Iterator[Case]:
    described = "  components: {c: {url: 'https://x/c.git', version: v1}}\n"
    texts = {
        "good": f"parameters:\n{described}",
        "no-version": "parameters:\n  components: {c: {url: 'https://x/c.git'}}\n",
        "no-url": "parameters:\n  components: {c: {version: v1}}\n",
        "null-version": "parameters:\n  components: {c: {url: 'https://x/c.git', version: null}}\n",
        "number-version": "parameters:\n  components: {c: {url: 'https://x/c.git', version: 1}}\n",
        "odd-key": "parameters:\n  components: {c: {url: 'https://x/c.git', version: v1, foo: 1}}\n",
        "null-entry": "parameters:\n  components: {c: null}\n",
        "text-entry": "parameters:\n  components: {c: x}\n",
        "list": "parameters:\n  components: [c]\n",
        "null": "parameters:\n  components: null\n",
        "number-name": "parameters:\n  components: {1: {url: 'https://x/c.git', version: v1}}\n",
        "path": "parameters:\n  components: {c: {url: 'https://x/c.git', version: v1, path: x}}\n",
        "number-path": "parameters:\n  components: {c: {url: 'https://x/c.git', version: v1, path: 1}}\n",
        "packages": "parameters:\n  packages: {p: {url: 'https://x/p.git', version: v1}}\n",
        "packages-no-version": "parameters:\n  packages: {p: {url: 'https://x/p.git'}}\n",
        "packages-odd": "parameters:\n  packages: {p: {url: 1}}\n",
        "deprecated": "parameters: {a: '${customer:name}'}\n",
        "deprecated-cluster": "parameters: {a: '${cluster:cloud}'}\n",
        "deprecated-cluster-dist": "parameters: {a: '${cluster:dist}'}\n",
        "deprecated-escaped": "parameters: {a: '\\\\${customer:name}'}\n",
        "deprecated-in-list": "parameters: {a: ['${customer:name}']}\n",
        "deprecated-key": "parameters: {'${customer:name}': 1}\n",
        "parameters-list": "parameters: [a]\n",
        "parameters-null": "parameters:\n",
        "parameters-text": "parameters: x\n",
        "odd-section": "parameters: {}\nfoo: 1\n",
        "no-class": "a: 1\n",
        "empty": "",
        "list-file": "- a\n",
        "broken": "a: [\n",
        "stream": "parameters: {}\n---\nparameters: {}\n",
        "tabs": "parameters:\n\ta: 1\n",
        "classes": "classes: [a]\napplications: [b]\nparameters: {}\n",
        "twice": "parameters: {a: 1}\nparameters: {b: 1}\n",
    }
    for (name, text), linter in itertools.product(
        texts.items(), ((), ("components",), ("packages",), ("deprecated-parameters",))
    ):
        words = tuple(word for item in linter for word in ("-l", item))
        suffix = linter[0] if linter else "all"
        command = ("inventory", "lint", *words, "h")
        differs = LINT_DIFFERS.get(name, "")
        yield Case(f"lint/{name}-{suffix}", command, {"h/a.yml": text}, compared="code", differs=differs)
    good, bad = texts["good"], texts["no-version"]
    for name, ignored in {
        "none": None,
        "file": "b.yml\n",
        "folder": "sub/\n",
        "glob": "*.yml\n",
        "deep": "**/b.yml\n",
        "blank": "\n",
        "blank-and-file": "\nb.yml\n",
        "comment": "# b.yml\n",
        "slash": "/\n",
        "anchored": "/b.yml\n",
        "negated": "*.yml\n!a.yml\n",
        "spaces": "  b.yml  \n",
    }.items():
        files = {"h/a.yml": good, "h/b.yml": bad, "h/sub/b.yml": bad}
        if ignored is not None:
            files["h/.commodoreignore"] = ignored
        of_file, of_option = (PATTERN_DIFFERS.get(f"{kind}-{name}", "") for kind in ("ignore", "pattern"))
        yield Case(f"lint/ignore-{name}", ("inventory", "lint", "h"), files, compared="code", differs=of_file)
        if ignored is not None and ignored.strip():
            words = ("inventory", "lint", "--ignore-patterns", ignored.split("\n")[0], "h")
            files = {"h/a.yml": good, "h/b.yml": bad}
            yield Case(f"lint/pattern-{name}", words, files, compared="code", differs=of_option)
    for name, words in {
        "file": ("h/a.yml",),
        "bad-file": ("h/b.yml",),
        "two": ("h/a.yml", "h/b.yml"),
        "missing": ("nowhere",),
        "no-target": (),
        "no-target-linter": ("-l", "components"),
        "unknown-linter": ("-l", "nothing", "h"),
        "verbose": ("-v", "h/a.yml"),
        "suffix": ("h/c.yaml",),
        "hidden": ("hidden",),
    }.items():
        files = {"h/a.yml": good, "h/b.yml": bad, "h/c.yaml": bad, "hidden/.a.yml": bad}
        differs = "there is nothing to lint" if name in ("no-target-linter", "hidden") else ""
        yield Case(f"lint/target-{name}", ("inventory", "lint", *words), files, compared="code", differs=differs)


def inventory() -> Iterator[Case]:
    base = {
        "g/commodore.yml": "classes: [global.base]\nparameters: {a: {b: 1}}\n",
        "g/base.yml": (
            "parameters:\n  components: {c: {url: 'https://x/c.git', version: v1}}\n"
            "  packages: {p: {url: 'https://x/p.git', version: v2}}\n  l: [1]\n"
        ),
        "t/c-one.yml": "parameters: {a: {c: 2}, l: [2]}\n",
    }
    facts = "parameters:\n  cluster: {name: c-one, tenant: t-one}\n  facts: {distribution: k3s}\n"
    for command, (name, (words, files)) in itertools.product(
        ("show", "components", "packages"),
        {
            "global": (("g",), {}),
            "tenant": (("g", "t"), {}),
            "json": (("-o", "json", "g", "t"), {}),
            "yaml": (("-o", "yaml", "g", "t"), {}),
            "unknown-format": (("-o", "toml", "g"), {}),
            "values": (("-f", "v.yml", "g", "t"), {"v.yml": facts}),
            "values-parameters": (("-f", "v.yml", "g"), {"v.yml": "parameters: {x: {y: z}}\n"}),
            "missing-class": (("g",), {"g/base.yml": "classes: [nowhere]\nparameters: {x: 1}\n"}),
            "missing-class-strict": (("-A", "g"), {"g/base.yml": "classes: [nowhere]\nparameters: {x: 1}\n"}),
            "reference": (("g",), {"g/base.yml": "parameters: {x: '${a:b}'}\n"}),
            "reference-missing": (("g",), {"g/base.yml": "parameters: {x: '${nowhere}'}\n"}),
            "merge": (("g",), {"g/base.yml": "parameters: {a: {b: 0, d: 4}}\n"}),
            "broken": (("g",), {"g/base.yml": "a: [\n"}),
            "nowhere": (("nowhere",), {}),
            "no-folder": ((), {}),
        }.items(),
    ):
        yield Case(f"inventory/{command}-{name}", ("inventory", command, *words), {**base, **files}, compared="stdout")


CLUSTER = {
    "id": "c-one",
    "displayName": "Cluster One",
    "tenant": "t-one",
    "facts": {"cloud": "x"},
    "gitRepo": {"url": "ssh://git@git.example.com/c-one.git"},
}


def catalog() -> Iterator[Case]:
    other = {**CLUSTER, "id": "c-two", "displayName": "Cluster Two", "tenant": "t-two"}
    answers: dict[str, Any] = {
        "one": [CLUSTER],
        "two": [other, CLUSTER],
        "none": [],
        "null": None,
        "no-name": [{key: value for key, value in CLUSTER.items() if key != "displayName"}],
        "long": [{**CLUSTER, "displayName": "A very long name " * 4}],
    }
    options: dict[str, tuple[str, ...]] = {
        "plain": (),
        "id": ("-o", "id"),
        "json": ("-o", "json"),
        "yaml": ("-o", "yaml"),
        "tenant": ("-t", "t-one"),
        "tenant-empty": ("-t", ""),
        "sorted": ("--sort-by", "id"),
        "sorted-empty": ("--sort-by", ""),
        "verbose": ("-v",),
    }
    for (answer, clusters), (name, words) in itertools.product(answers.items(), options.items()):
        command = ("catalog", "list", "--api-url", "{api}", "--api-token", "token", *words)
        compared: Compared = "stdout" if name in ("id", "json", "yaml") else "code"
        differs = "null is an empty list" if answer == "null" else ""
        yield Case(f"catalog/list-{answer}-{name}", command, compared=compared, clusters=clusters, differs=differs)


def first_cases() -> Iterator[Case]:
    for each in (filters, copied, inputs, metadata, values, lint, inventory, catalog):
        yield from each()
