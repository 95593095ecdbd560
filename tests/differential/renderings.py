"""Cases of rendered files: inputs with odd parameters, libraries, and the shape of what is written."""

# ruff: noqa: E501 - the text of a file stands in one line

from __future__ import annotations

from collections.abc import Iterator

from tests.differential.case import Case, as_yaml
from tests.differential.cases import JSONNET, MAIN, NAMESPACE, chart, component

RUNS = "helm runs nothing else and asks no server unless the trust policy allows it"
HELM = {"input_paths": ["comp/c/one"], "input_type": "helm", "output_path": "comp/"}
COPY = {"input_paths": ["comp/f"], "input_type": "copy", "output_path": "comp/"}
JINJA = {"input_paths": ["comp/t"], "input_type": "jinja2", "output_path": "comp/"}

CHARTS_DIFFER = {"post-renderer": RUNS, "dependency-update": RUNS}


def charts() -> Iterator[Case]:
    """The `helm` input with each of its parameters."""
    rich = {
        "comp/c/one/crds/crd.yaml": "kind: CustomResourceDefinition\nmetadata: {name: x}\n",
        "comp/c/one/templates/test.yaml": "kind: Pod\nmetadata:\n  name: t\n  annotations: {helm.sh/hook: test}\n",
        "comp/c/one/templates/hook.yaml": "kind: Job\nmetadata:\n  name: h\n  annotations: {helm.sh/hook: pre-install}\n",
        "comp/c/one/templates/deep/b.yml": "kind: B\nkube: {{ .Capabilities.KubeVersion }}\n",
        "comp/c/one/templates/many.yaml": (
            "kind: A\nmetadata: {name: a}\n---\n---\nkind: B\nmetadata: {name: b}\n# comment\n---\n{{ if false }}x{{ end }}\n"
        ),
        "comp/c/one/templates/api.yaml": (
            'kind: C\nhas: {{ .Capabilities.APIVersions.Has "x.io/v1" }}\nup: {{ .Release.IsUpgrade }}\n'
        ),
        "comp/c/one/templates/NOTES.txt": "notes {{ .Release.Name }}\n",
        "comp/c/one/templates/_x.tpl": '{{ define "x" }}x{{ end }}\n',
        "comp/c/one/values.yaml": "v: default\nl: [1]\nm: {a: 1}\n",
        "comp/c/one/templates/v.yaml": "kind: V\nv: {{ toJson .Values }}\n",
        "comp/v1.yaml": "v: one\nm: {b: 2}\n",
        "comp/v2.yaml": "v: two\nl: [3]\n",
        "comp/v3.yaml": "",
    }
    for name, change in {
        "rich": {},
        "no-hooks": {"helm_params": {"no_hooks": True}},
        "crds": {"helm_params": {"name": "r", "include_crds": True}},
        "no-crds": {"helm_params": {"name": "r", "include_crds": False}},
        "skip-crds": {"helm_params": {"name": "r", "skip_crds": True}},
        "skip-tests": {"helm_params": {"name": "r", "skip_tests": False}},
        "skip-tests-true": {"helm_params": {"name": "r", "skip_tests": True}},
        "upgrade": {"helm_params": {"name": "r", "is_upgrade": True}},
        "api-versions": {"helm_params": {"name": "r", "api_versions": "x.io/v1"}},
        "api-versions-list": {"helm_params": {"name": "r", "api_versions": ["x.io/v1", "y.io/v1"]}},
        "kube-version-flag": {"helm_params": {"name": "r", "kube_version": "1.29.3"}},
        "kube-version-field": {"helm_params": {"name": "r"}, "kube_version": "x.io/v1"},
        "name-template": {"helm_params": {"name_template": "nt"}},
        "name-template-too": {"helm_params": {"name": "r", "name_template": "nt"}},
        "create-namespace": {"helm_params": {"name": "r", "create_namespace": True, "namespace": "n"}},
        "dependency-update": {"helm_params": {"name": "r", "dependency_update": True}},
        "validate": {"helm_params": {"name": "r", "validate": False}},
        "debug": {"helm_params": {"name": "r", "debug": True}},
        "output-dir": {"helm_params": {"name": "r", "output_dir": "x"}},
        "output-file-deep": {"helm_params": {"name": "r", "output_file": "x/y.yaml"}},
        "output-file-plain": {"helm_params": {"name": "r", "output_file": "all"}},
        "output-file-json": {"helm_params": {"name": "r", "output_file": "all.json"}},
        "release-name-false": {"helm_params": {"name": "r", "release_name": False}},
        "name-empty": {"helm_params": {"name": ""}},
        "name-null": {"helm_params": {"name": None}},
        "name-number": {"helm_params": {"name": 1}},
        "name-upper": {"helm_params": {"name": "Upper"}},
        "params-empty": {"helm_params": {}},
        "params-null": {"helm_params": None},
        "params-list": {"helm_params": []},
        "values": {"helm_params": {"name": "r", "values": "comp/v1.yaml"}},
        "show-only": {"helm_params": {"name": "r", "show_only": "templates/v.yaml"}},
        "short-flag": {"helm_params": {"name": "r", "n": "ns"}},
        "unknown-flag": {"helm_params": {"name": "r", "no_such_flag": True}},
        "null-flag": {"helm_params": {"name": "r", "namespace": None}},
        "number-flag": {"helm_params": {"name": "r", "namespace": 1}},
        "post-renderer": {"helm_params": {"name": "r", "post_renderer": "cat"}},
        "files": {"helm_params": {"name": "r"}, "helm_values_files": ["comp/v1.yaml", "comp/v2.yaml"]},
        "files-twice": {"helm_params": {"name": "r"}, "helm_values_files": ["comp/v1.yaml", "comp/v1.yaml"]},
        "files-empty": {"helm_params": {"name": "r"}, "helm_values_files": ["comp/v3.yaml"]},
        "files-missing": {"helm_params": {"name": "r"}, "helm_values_files": ["comp/nowhere.yaml"]},
        "files-null": {"helm_params": {"name": "r"}, "helm_values_files": None},
        "files-and-values": {
            "helm_params": {"name": "r"},
            "helm_values_files": ["comp/v1.yaml"],
            "helm_values": {"v": "given", "m": {"c": 3}},
        },
        "values-types": {
            "helm_params": {"name": "r"},
            "helm_values": {
                "a": "1.5",
                "b": "1e3",
                "c": "0x10",
                "d": "yes",
                "e": None,
                "f": 1.0,
                "g": 10000000,
                "h": "a\nb\n",
                "i": "null",
                "j": "2020-01-01",
                "k": "",
                "l": [],
                "m": {},
                "n": "1_000",
                "o": "=",
                "p": "~",
                "q": "0o17",
                "r": "grün",
                "s": "12:30",
            },
        },
        "values-null": {"helm_params": {"name": "r"}, "helm_values": None},
        "values-empty": {"helm_params": {"name": "r"}, "helm_values": {}},
        "values-list": {"helm_params": {"name": "r"}, "helm_values": []},
        "values-secret": {"helm_params": {"name": "r"}, "helm_values": {"v": "?{vaultkv:a/b/c}"}},
        "prune": {"helm_params": {"name": "r"}, "prune": True},
        "slash": {"helm_params": {"name": "r"}, "input_paths": ["comp/c/one/"]},
        "glob": {"helm_params": {"name": "r"}, "input_paths": ["comp/c/*"]},
        "twice": {"helm_params": {"name": "r"}, "input_paths": ["comp/c/one", "comp/c/one"]},
        "ignored": {"helm_params": {"name": "r"}, "input_paths": ["comp/c/no"], "ignore_missing": True},
        "go-on": {"helm_params": {"name": "r"}, "input_paths": ["comp/c/no"], "continue_on_compile_error": True},
        "entry-name": {"helm_params": {"name": "r"}, "name": "x"},
        "output-plain": {"helm_params": {"name": "r"}, "output_type": "plain"},
        "output-yaml": {"helm_params": {"name": "r"}, "output_type": "yaml"},
        "helm-path": {"helm_params": {"name": "r"}, "helm_path": "helm"},
        "input-params": {"helm_params": {"name": "r"}, "input_params": {"a": 1}},
        "target-folder": {"helm_params": {"name": "r"}, "output_path": "."},
    }.items():
        differs = CHARTS_DIFFER.get(name, "")
        yield component(f"chart-{name}", ({**HELM, **change},), files={**chart("one"), **rich}, differs=differs)
    # Templates whose output is hard to read
    for name, text in {
        "failing": '{{ fail "no" }}\n',
        "required": '{{ required "needs v" .Values.nowhere }}\n',
        "nil": "{{ .Values.nowhere.deep }}\n",
        "syntax": "{{ if }}\n",
        "not-yaml": "a: [\n",
        "list": "- a\n",
        "list-kind": "kind: List\napiVersion: v1\nitems:\n  - {kind: A}\n  - {kind: B}\n",
        "windows": "kind: A\r\nx: |\r\n  a\r\n  b\r\n",
        "tabs": 'kind: A\nx: "a\\tb"\n',
        "empty": "",
        "comment": "# only\n",
        "duplicate": "kind: A\na: 1\na: 2\n",
        "numbers": "kind: A\na: 012\nb: 1_0\nc: 0o17\nd: 1e3\ne: .5\nf: 0b11\ng: 1:30\nh: 12345678901234567890123\n",
        "words": "kind: A\na: yes\nb: On\nc: n\nd: ~\ne: =\n'y': 1\non: 2\n",
        "anchors": "a: &x {b: 1}\nc: *x\nd: &l [1]\ne: *l\n",
        "merge-key": "x: &x {b: 1}\nc: {<<: *x, d: 2}\n",
        "date": "kind: A\nd: 2020-01-02\nt: 2020-01-02T03:04:05Z\n",
        "binary": "kind: A\nb: !!binary aGVsbG8=\n",
        "tag": "kind: A\nb: !custom x\n",
        "keys": "1: a\ntrue: b\nnull: c\n1.5: d\n",
        "unicode": 'kind: A\na: grün ☃\nb: "\\U0001F389"\n',
        "long": "kind: A\na: " + "word " * 40 + "\nb: '" + "x" * 200 + "'\n",
        "trailing": 'kind: A\na: "x  \\ny"\nb: "\\n"\nc: "a\\n\\n"\nd: " a\\n b"\n',
        "floats": "a: 1.0\nb: 1.10\nc: 1e100\nd: -0.0\ne: .inf\nf: .nan\ng: 123456789.123456789\n",
        "bom": "\ufeffkind: A\n",
        "ends": "kind: A\n...\n---\nkind: B\n",
        "directive": "%YAML 1.1\n---\nkind: A\n",
        "secret": "kind: A\na: ?{vaultkv:a/b/c}\n",
        "tagged-text": "kind: A\na: !!str 1\nb: !!int '2'\nc: !!float 3\n",
        "sets": "kind: A\na: !!set {x, y}\nb: !!omap [a: 1]\n",
    }.items():
        files = {**chart("one"), "comp/c/one/templates/x.yaml": text}
        entry = {**HELM, "helm_params": {"name": "r"}}
        yield component(f"template-{name}", (entry,), files=files)
        copied = {"comp/f/x.yaml": text or " \n"}
        differs = "binary data stay what they are" if name == "binary" else ""
        yield component(f"template-copied-{name}", (COPY,), [NAMESPACE], files=copied, differs=differs)


def templates() -> Iterator[Case]:
    """Jinja2 with each of its filters."""
    for name, text in {
        "filters": (
            "{{ 'x' | sha256 }}\n{{ 'x' | b64encode }}\n{{ 'eA==' | b64decode }}\n{{ {'b': 1, 'a': [1, 'x']} | yaml }}\n"
            "{{ {'a': 1, 'b': {'c': 'd'}} | toml }}\n{{ 'yes' | bool }} {{ 'x' | bool }} {{ none | bool }}\n"
            "{{ 'abc' | regex_replace('b', 'x') }} {{ 'a.b' | regex_escape }} {{ 'abc' | regex_search('b') }}\n"
            "{{ 'a1b2' | regex_findall('[0-9]') }} {{ true | ternary('a', 'b') }} {{ false | ternary('a', 'b') }}\n"
        ),
        "merge": "{{ {'a': {'b': 1}} | merge_strategic({'a': {'c': 2}}) }}\n",
        "dates": "{{ '2020-01-02 03:04:05' | to_datetime }} {{ '%Y' | strftime(0) }}\n",
        "glob": "{{ 'comp/t/*' | fileglob }}\n",
        "inventory": "{{ inventory.parameters.cluster.name }} {{ inventory.parameters._instance }}\n",
        "global": "{{ inventory_global.keys() | list }}\n",
        "target": "{{ target }}\n",
        "secret": "x: ?{vaultkv:a/b/c}\n",
        "do": "{% set x = [] %}{% do x.append(1) %}{{ x }}\n",
        "blocks": "a\n  {% if true %}\n  b\n  {% endif %}\nc\n\n",
        "include": "{% include 'b.txt' %}\n",
        "extends": "{% extends 'b.txt' %}\n",
        "import": "{% import 'b.txt' as b %}x\n",
        "macro": "{% macro m(a) %}<{{ a }}>{% endmacro %}{{ m(1) }}\n",
        "undefined": "{{ x | default('d') }} {{ inventory.nothing | default('e') }}\n",
        "undefined-strict": "{{ x }}\n",
        "raw": "{% raw %}{{ x }}{% endraw %}\n",
        "tojson": "{{ {'b': 1, 'a': '<x>'} | tojson }}\n",
        "none": "{{ none }} {{ true }} {{ 1.0 }}\n",
        "comment": "a{# no #}b\n",
        "division": "{{ 1 / 0 }}\n",
        "crlf": "a\r\nb\r\n",
        "two-newlines": "a\n\n\n",
        "topics": "{{ topics is defined }}\n",
        "compile-path": "{{ input_params.compile_path is defined }}\n",
        "range": "{% for i in range(3) %}{{ loop.index }}{% endfor %}\n",
        "format": "{{ '%s-%d' | format('a', 1) }} {{ 'a b' | replace(' ', '_') }} {{ [3,1] | sort }}\n",
        "reveal": "{{ '?{vaultkv:a/b/c}' | reveal_maybe }}\n",
    }.items():
        yield component(f"template-jinja-{name}", (JINJA,), files={"comp/t/a.txt": text, "comp/t/b.txt": "b\n"})
    tree = {
        "comp/t/x/y.yaml": "a: {{ 1 }}\n",
        "comp/t/.hidden": "x\n",
        "comp/t/.dir/x": "x\n",
        "comp/t/a.yaml.j2": "b: 1\n",
        "comp/t/b.tmpl": "c\n",
        "comp/t/empty": "",
    }
    for name, change in {
        "tree": {},
        "file": {"input_paths": ["comp/t/a.yaml.j2"]},
        "suffix": {"suffix_remove": True},
        "suffix-other": {"suffix_remove": True, "suffix_stripped": ".tmpl"},
        "params": {"input_params": {"a": {"b": [1]}}},
        "yaml": {"output_type": "yaml", "input_paths": ["comp/t/a.yaml.j2"]},
        "json": {"output_type": "json", "input_paths": ["comp/t/a.yaml.j2"]},
        "prune": {"prune": True},
        "missing": {"input_paths": ["comp/nowhere"]},
        "missing-strict": {"input_paths": ["comp/nowhere"], "ignore_missing": False},
        "slash": {"input_paths": ["comp/t/"]},
        "glob": {"input_paths": ["comp/t/*"]},
        "odd": {"suffix_remove": "yes"},
    }.items():
        yield component(f"jinja-{name}", ({**JINJA, **change},), files=tree)


def jsonnets() -> Iterator[Case]:
    """The files of a Jsonnet entry, and what libraries give."""
    for name, (change, text) in {
        "prune": (
            {"prune": True},
            "{ a: { b: null, c: {}, d: [], e: [null, {}, 1], f: { g: null }, h: '', i: 0, j: false } }",
        ),
        "prune-all": ({"prune": True}, "{ a: { b: null }, c: null, d: [null], e: {} }"),
        "prune-list": ({"prune": True}, "{ a: [{}, null, { b: null }, { c: 1 }] }"),
        "json": ({"output_type": "json"}, "{ a: { z: 1, b: [1.5, null, true, 'grün\\n'], c: {} }, 'b/c': [], d: {} }"),
        "json-list": ({"output_type": "json"}, "{ a: [{ b: 1 }] }"),
        "json-prune": ({"output_type": "json", "prune": True}, "{ a: { b: null, c: 1 } }"),
        "plain-text": ({"output_type": "plain"}, "{ 'a.txt': 'x\\ny', b: 'z\\n' }"),
        "toml": ({"output_type": "toml"}, "{ a: { x: 1, y: { z: ['a', 'b'], w: 1.5 }, b: true, s: 'x\\ny' } }"),
        "auto": (
            {"output_type": "auto"},
            "{ 'a.json': { b: 1 }, 'b.yaml': { c: 1 }, 'c.txt': 'x', d: { e: 1 }, 'f.toml': { g: 1 } }",
        ),
        "yml": ({"output_type": "yml"}, "{ a: { b: 1 } }"),
        "extension": ({}, "{ 'a.yaml': { b: 1 }, 'b.json': { c: 1 }, 'c.d': { e: 1 }, '.hidden': { f: 1 } }"),
        "falsy": ({}, "{ a: {}, b: [], c: null, d: '', e: 0, f: false }"),
        "true": ({}, "{ a: true }"),
        "nested-lists": ({}, "{ a: [[1, 2], [3]], b: [[]], c: [1, 'x', null, true] }"),
        "odd-keys": ({}, "{ 'a b': { c: 1 }, 'ü': { c: 1 }, 'UP': { c: 1 }, \"q'x\": { c: 1 }, 'a#b': { c: 1 } }"),
        "empty-key": ({}, "{ '': { a: 1 } }"),
        "hidden": ({}, "{ a:: { b: 1 }, c: { d:: 1, e: 2 } }"),
        "top-number": ({}, "1"),
        "top-list": ({}, "[{ a: 1 }, { b: 2 }]"),
        "top-empty-list": ({}, "[]"),
        "top-null": ({}, "null"),
        "top-text": ({"output_type": "plain"}, "'x'"),
        "function": ({}, "function(x) x"),
        "function-default": ({}, "function(x=1) { a: { b: x } }"),
        "two": ({"input_paths": ["comp/main.jsonnet", "comp/x.libsonnet"]}, MAIN),
        "glob": ({"input_paths": ["comp/*.*sonnet"]}, MAIN),
        "go-on": ({"continue_on_compile_error": True}, "error 'x'"),
        "input-params": ({"input_params": {"x": 1}}, MAIN),
        "entry-name": ({"name": "x"}, MAIN),
        "output-slash": ({"output_path": "/x"}, MAIN),
        "output-dot": ({"output_path": "./x/./y"}, MAIN),
        "output-empty": ({"output_path": ""}, MAIN),
        "output-instance": ({"output_path": "${_instance}/x"}, MAIN),
        "base-directory": ({"input_paths": ["${_base_directory}/main.jsonnet"]}, MAIN),
        "absolute-missing": ({"input_paths": ["${_base_directory}/nowhere.jsonnet"]}, MAIN),
        "paths-text": ({"input_paths": "comp/main.jsonnet"}, MAIN),
        "paths-empty": ({"input_paths": []}, MAIN),
        "paths-null": ({"input_paths": None}, MAIN),
        "type-upper": ({"input_type": "Jsonnet"}, MAIN),
        "prune-text": ({"prune": "yes"}, MAIN),
        "prune-number": ({"prune": 1}, MAIN),
        "ignore-text": ({"ignore_missing": "true"}, MAIN),
        "output-type-null": ({"output_type": None}, MAIN),
        "secret": (
            {},
            "{ a: { b: '?{vaultkv:a/b/c}', c: 'x ?{vaultkv:a/b/d} y ?{vaultkv:a/b/e}', d: ['?{vaultkv:a/b/c}'] } }",
        ),
        "secret-plain": ({"output_type": "plain"}, "{ a: 'x ?{vaultkv:a/b/c} y\\n?{vaultkv:d/e}' }"),
        "secret-json": ({"output_type": "json"}, "{ a: { b: '?{vaultkv:a/b/c}' } }"),
        "secret-key": ({}, "{ a: { '?{vaultkv:a/b/c}': 1 } }"),
        "secret-name": ({}, "{ '?{vaultkv:a}': { b: 1 } }"),
        "secret-odd": ({}, "{ a: { b: '?{vaultkv:a b/c}', c: '?{vaultkv}', d: '?{}', e: '?{vaultkv:}', f: '?{:x}' } }"),
        "secret-function": ({}, "{ a: { b: '?{vaultkv:a/b||random:str}' } }"),
        "secret-sub": ({}, "{ a: { b: '?{vaultkv:a/b@x.y}' } }"),
        "secret-other": ({}, "{ a: { b: '?{base64:a/b}' } }"),
        "secret-plain-kind": ({}, "{ a: { b: '?{plain:a/b}' } }"),
        "secret-gpg": ({}, "{ a: { b: '?{gpg:a/b}' } }"),
        "secret-equal": ({}, "{ a: { b: '?{vaultkv:a/b=}', c: '?{vaultkv:a/b}==' } }"),
        "secret-b64": ({}, "{ a: { b: std.base64('?{vaultkv:a/b/c}') } }"),
        "secret-inside": ({}, "{ a: { b: '?{vaultkv:a/?{vaultkv:b}}' } }"),
    }.items():
        files = {"comp/main.jsonnet": text, "comp/x.libsonnet": "{ x: { y: 1 } }"}
        yield component(f"rendered-{name}", ({**JSONNET, **change},), files=files, allow=("CMD-ENG-012",))
    for style in ("literal", "folded", "double-quotes", "nothing", "", None, 1):
        text = "{ a: { b: 'x\\ny\\n', c: 'x', d: '" + "long " * 30 + "\\nz', e: ' x\\n' } }"
        yield component(
            f"style-{style}",
            files={
                "comp/main.jsonnet": text,
                "v.yml": as_yaml({"parameters": {"multiline_string_style": style}}),
            },
            options=("-f", "v.yml"),
        )
    texts = [
        "yes",
        "no",
        "on",
        "off",
        "true",
        "True",
        "TRUE",
        "null",
        "Null",
        "~",
        "y",
        "n",
        "1",
        "01",
        "1.0",
        "1e3",
        "1.0e3",
        "0x1f",
        "0o17",
        "0b1",
        "1_000",
        ".5",
        "5.",
        "+1",
        "-1",
        "1:30",
        "2020-01-01",
        "=",
        "<",
        "<<",
        "-",
        "--",
        "---",
        "...",
        "?",
        ":",
        "a:",
        "a:b",
        "#a",
        "a#b",
        "'a'",
        '"a"',
        "[a]",
        "{a}",
        "*a",
        "&a",
        "!a",
        "|a",
        ">a",
        "%a",
        "@a",
        "`a",
        "a,b",
        ".inf",
        ".nan",
        "1.2.3",
        "0777",
        "1e",
        "0x",
    ]
    odd = ["", " ", " a", "a ", "a: b", "a #b", "\t", "a\tb", "a\n", "\n", "\na", "a\n\n", "a \nb", "a\r\nb", "a\\b", "\u00e9",
           "\u2028", "\ud83c\udf89", "\u0085", "\u0007", "\u200b", "a\n b", "  a\nb", "- a", "? a", "a" * 100, "ab " * 60,
           "ab  cd " * 20, "a\n" + "b " * 60, "'", '"', "''", "a'b", 'a"b\n', "key: |\n  x\n", "--- a", "...\n", "# a\nb", "\ufeff"]  # fmt: skip
    import json

    yield component("texts-values", files={"comp/main.jsonnet": "{ a: " + json.dumps([texts, odd]) + " }"})
    yield component(
        "texts-keys", files={"comp/main.jsonnet": "{ a: " + json.dumps({key: key for key in (*texts, *odd)}) + " }"}
    )
    yield component(
        "texts-long-keys",
        files={
            "comp/main.jsonnet": "{ a: { ['k' * 0 + std.repeat('k', n)]: { x: [n] } for n in [120, 127, 128, 129, 1100] } }".replace(
                "'k' * 0 + ", ""
            )
        },
    )
    yield component(
        "numbers-many",
        files={
            "comp/main.jsonnet": "{ a: [0, -0, 1.0, 1.5, 1e5, 1e15, 1e16, 1e17, 1e20, 1e21, 1e22, 1e100, 1e-5, 1e-7, 0.1, 0.30000000000000004,"
            " 123456789.125, 9007199254740993, 2147483648, -1.5e-10, 3.0e0, 1/3] }"
        },
    )
    yield component(
        "texts-folded", (COPY,), [NAMESPACE], files={"comp/f/a.yaml": as_yaml({"kind": "A", "v": [*texts, *odd]})}
    )
    kap = "local kap = import 'lib/kapitan.libjsonnet'; "
    com = "local com = import 'lib/commodore.libjsonnet'; "
    kube = "local kube = import 'lib/kube.libjsonnet'; "
    for name, text in {
        "kapitan-yaml": kap + "{ a: { l: kap.yaml_load('comp/d.yaml'), s: kap.yaml_load_stream('comp/s.yaml') } }",
        "kapitan-dump": kap
        + "{ a: { l: kap.yaml_dump(std.toString({ b: [1], a: 'x\\ny' })), s: kap.yaml_dump_stream('[{\"a\": 1}, {}]') } }",
        "kapitan-files": kap
        + "{ a: { r: kap.file_read('comp/d.yaml'), e: kap.file_exists('comp/d.yaml').exists, n: kap.file_exists('no') } }",
        "kapitan-dirs": kap + "{ a: { l: kap.dir_files_list('comp/f'), r: kap.dir_files_read('comp/f') } }",
        "kapitan-hashes": kap
        + "{ a: { s: kap.sha256('x'), o: kap.sha256({ a: 1 }), g: std.length(kap.gzip_b64('x')) > 0 } }",
        "kapitan-jinja": kap + "{ a: { j: kap.jinja2_template('comp/t.j2', { x: 1 }) } }",
        "kapitan-schema": kap
        + "{ a: { j: kap.jsonschema({ a: 1 }, { type: 'object' }), k: kap.jsonschema({ a: 1 }, { type: 'string' }) } }",
        "kapitan-fields": kap + "{ a: std.objectFieldsAll(kap) }",
        "kapitan-inventory": kap
        + "local i = kap.inventory(); { a: { k: std.objectFields(i), p: i.parameters.comp, c: i.parameters.cluster, f: i.parameters.facts } }",
        "kapitan-kapitan": kap + "local i = kap.inventory(); { a: i.parameters.kapitan { compile: 0, vars: 0 } }",
        "kapitan-compile": kap + "local i = kap.inventory(); { a: i.parameters.kapitan.compile }",
        "kapitan-parameters": kap
        + "local i = kap.inventory(); { a: std.objectFields(i.parameters), b: i.classes, c: i.applications, d: i.exports }",
        "kapitan-reclass": kap + "local i = kap.inventory(); { a: i.parameters._reclass_ }",
        "kapitan-global": kap + "{ a: std.objectFields(kap.inventory_global()) }",
        "kapitan-other-target": kap + "{ a: kap.inventory('cluster') }",
        "kapitan-missing-yaml": kap + "{ a: kap.yaml_load('comp/no.yaml') }",
        "kapitan-odd-yaml": kap + "{ a: kap.yaml_load('comp/t.j2') }",
        "kapitan-missing-read": kap + "{ a: kap.file_read('comp/no') }",
        "commodore-fields": com + "{ a: std.objectFieldsAll(com) }",
        "commodore-envlist": com
        + "{ a: com.envList({ B: 1, A: { secretKeyRef: { name: 's' } }, C: null, D: true, E: [1], F: 'x', G:: 1, H: 1.5, I: {} }) }",
        "commodore-proxy": com + "{ a: com.proxyVars }",
        "commodore-render": com
        + "{ a: [com.renderArray(x) for x in [['c', 'a', '~b', 'b', '~a'], [], ['~'], ['~~a', 'a'], ['a', 'a'], ['a', '~a', 'a']]] }",
        "commodore-mergeable": com
        + "{ a: { a: { x: 1 }, l: [1], s: 1 } + com.makeMergeable({ a: { y: 2 }, l: [2], n: null, s: { t: 1 } }) }",
        "commodore-mergeable-odd": com + "{ a: { s: 'x' } + com.makeMergeable({ s: { t: 1 } }) }",
        "commodore-mergeable-null": com + "{ a: { s: null } + com.makeMergeable({ s: { t: 1 } }) }",
        "commodore-default": com
        + "{ a: [com.getValueOrDefault({ a: null, b:: 1, c: 2 }, x, 'd') for x in ['a', 'b', 'c', 'd']] }",
        "commodore-generate": com
        + kube
        + "{ a: com.generateResources({ foo_bar: { data: { k: 'v' } }, gone: null, baz: { metadata+: { labels+: { x: 'y' } } }, e: {} }, kube.ConfigMap) }",
        "commodore-kustomization": com
        + "{ a: com.Kustomization('https://x//y', 'v1', { 'img/a': { newTag: '1', newName: 'b' } }, { namespace: 'foo', resources: ['x'] }), b: com.Kustomization('u') }",
        "commodore-namespaced": com
        + "{ a: [com.namespaced('n', o) for o in [{}, { metadata: { namespace: 'x', name: 'y' } }, { metadata: {} }]] }",
        "commodore-filter-null": com + "{ a: com.filterNull([1, null, [null], {}]) }",
        "commodore-inventory": com + "{ a: com.inventory().parameters.comp }",
        "commodore-yaml": com + "{ a: com.yaml_load('comp/d.yaml'), b: std.parseJson(com.yaml_load('comp/d.yaml')) }",
        "kube-fields": kube + "{ a: std.objectFields(kube), b: std.objectFieldsAll(kube) }",
        "kube-workloads": kube
        + (
            "local c = { containers_+: { default: kube.Container('c') { image: 'i:latest', env_+: { B: 'x', A: { secretKeyRef: { name: 's', key: 'k' } } },"
            " ports_+: { http: { containerPort: 80 } }, volumeMounts_+: { v: { mountPath: '/x' } }, args_+: { a: 1 } } }, volumes_+: { v: kube.EmptyDirVolume() } };"
            " local d = kube.Deployment('d') { spec+: { template+: { spec+: c } } };"
            " { d: d, s: kube.StatefulSet('s') { spec+: { template+: { spec+: c } } }, ds: kube.DaemonSet('x') { spec+: { template+: { spec+: c } } },"
            " j: kube.Job('j') { spec+: { template+: { spec+: c } } }, cj: kube.CronJob('cj') { spec+: { schedule: '* * * * *', jobTemplate+: { spec+: { template+: { spec+: c } } } } },"
            " svc: kube.Service('svc') { target_pod: d.spec.template }, pdb: kube.PodDisruptionBudget('p') { target_pod: d.spec.template, spec+: { minAvailable: 1 } },"
            " hpa: kube.HorizontalPodAutoscaler('h') { target: d, spec+: { maxReplicas: 3 } }, pod: kube.Pod('p') { spec+: c },"
            " vpa: kube.createVPAFor(d), list: kube.List() { items_+: { d: d } } }"
        ),
        "kube-objects": kube
        + (
            "local sa = kube.ServiceAccount('sa') { metadata+: { namespace: 'n' } }; local r = kube.Role('r') { rules: [] }; local cr = kube.ClusterRole('cr') {};"
            " { sa: sa, r: r, rb: kube.RoleBinding('rb') { subjects_: [sa], roleRef_: r }, crb: kube.ClusterRoleBinding('crb') { subjects_: [sa], roleRef_: cr },"
            " cm: kube.ConfigMap('c') { data: { a: 'b' } }, sec: kube.Secret('s') { data_: { a: 'b' }, stringData: { x: 'y' } }, ns: kube.Namespace('n'),"
            " pvc: kube.PersistentVolumeClaim('p') { storage: '1Gi', storageClass: 'x' }, pv: kube.PersistentVolume('pv'), sc: kube.StorageClass('sc') { provisioner: 'x' },"
            " crd: kube.CustomResourceDefinition('g.io', 'v1', 'Kind'), np: kube.NetworkPolicy('np') { spec+: { ingress_: { a: { from: [] } } } },"
            " ing: kube.Ingress('i') { spec+: { rules: [{ host: 'h', http: { paths: [{ path: '/x' }] } }] } }, ep: kube.Endpoints('e') { Ip: 1 }, l: kube._Object('v1', 'X', 'y'),"
            " h: kube.hyphenate('a_b'), o: kube.parseOctal('755'), n: kube.siToNum('1Ki'), u: kube.toUpper('a'), m: kube.mapToNamedList({ a_b: { x: 1 }, c: { name: 'd' } }) }"
        ),
        "kube-bad-path": kube
        + "{ ing: kube.Ingress('i') { spec+: { rules: [{ http: { paths: [{ path: 'x' }] } }] } } }",
        "kube-number-data": kube + "{ cm: kube.ConfigMap('c') { data: { a: 1 } } }",
        "kube-no-image": kube + "{ p: kube.Pod('p') { spec+: { containers_+: { c: kube.Container('c') } } } }",
        "std": "{ a: { a: std.manifestJsonEx({ b: 1 }, '  '), b: std.sort([2, 1]), c: std.md5('x'), d: std.parseYaml('a: 1'), e: std.asciiUpper('a'),"
        " f: std.strReplace('aa', 'a', 'b'), g: std.trim(' a '), h: std.manifestYamlDoc({ a: 'x\\ny', b: [] }, true), i: std.manifestToml({ a: { b: 1 } }),"
        " j: std.prune({ a: null }), l: std.format('%05.2f', 1.5), m: std.mergePatch({ a: 1 }, { a: null }), n: std.sha256('x') } }",
        "std-file": "{ a: { f: importstr 'd.yaml', b: std.length(importbin 'd.yaml') } }",
        "std-extvar": "{ a: { t: std.extVar('target') } }",
        "std-extvar-missing": "{ a: std.extVar('component') }",
        "natives": "{ a: std.native('nothing')('x') }",
    }.items():
        more = {
            "comp/d.yaml": "b: 1\na: [x, 2020-01-01, yes]\n",
            "comp/s.yaml": "a: 1\n---\nb: 2\n---\n",
            "comp/t.j2": "{{ x }}\n",
            "comp/f/b": "b\n",
            "comp/f/a": "a\n",
        }
        files = {"comp/main.jsonnet": text, **more}
        differs = "the names are sorted" if name == "kapitan-dirs" else ""
        yield component(f"library-{name}", files=files, parameters={"x": 1, "n": None}, differs=differs)


def renderings() -> Iterator[Case]:
    for each in (charts, templates, jsonnets):
        yield from each()
