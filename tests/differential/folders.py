"""Cases of components with odd files and folders, and of filters over them."""

# ruff: noqa: E501 - the text of a file stands in one line

from __future__ import annotations

from collections.abc import Iterator

from tests.differential.case import Case
from tests.differential.cases import JSONNET, MAIN, NAMESPACE, component
from tests.differential.renderings import COPY, JINJA

LEAVES = "what a component reads stays in its folder"


def trees() -> Iterator[Case]:
    """Components with odd files and folders."""
    for name, files in {
        "class-yaml": {"comp/class/comp.yaml": "parameters: {}\n"},
        "more-classes": {"comp/class/more.yml": "parameters: {comp: {x: more}}\n"},
        "class-includes": {
            "comp/class/comp.yml": "classes: [.more]\nparameters: {}\n",
            "comp/class/more.yml": "parameters: {}\n",
        },
        "defaults-includes": {
            "comp/class/defaults.yml": "classes: [.more]\nparameters: {comp: {}}\n",
            "comp/class/more.yml": "parameters: {}\n",
        },
        "defaults-empty": {"comp/class/defaults.yml": ""},
        "defaults-no-key": {"comp/class/defaults.yml": "parameters: {}\n"},
        "defaults-null": {"comp/class/defaults.yml": "parameters: {comp: null}\n"},
        "defaults-broken": {"comp/class/defaults.yml": "a: [\n"},
        "class-empty": {"comp/class/comp.yml": ""},
        "class-broken": {"comp/class/comp.yml": "a: [\n"},
        "library": {"comp/lib/comp.libsonnet": "{ x: 1 }\n", "comp/main.jsonnet": "{ a: import 'lib/comp.libsonnet' }"},
        "library-path": {
            "comp/lib/comp.libsonnet": "{ x: 1 }\n",
            "comp/main.jsonnet": "{ a: import 'comp/lib/comp.libsonnet' }",
        },
        "library-other": {"comp/lib/other.libsonnet": "{ x: 1 }\n"},
        "library-alias": {
            "comp/lib/comp-x.libsonnet": "{ x: 1 }\n",
            "comp/class/defaults.yml": "parameters: {comp: {_metadata: {library_aliases: {al.libsonnet: comp-x.libsonnet}}}}\n",
            "comp/main.jsonnet": "{ a: import 'lib/al.libsonnet' }",
        },
        "library-argocd": {
            "comp/main.jsonnet": "local a = import 'lib/argocd.libjsonnet'; { a: a.App('x', 'n'), b: a.Project('p'), c: a.App('x', 'n', base='y') }"
        },
        "library-argocd-secrets": {
            "comp/main.jsonnet": "local a = import 'lib/argocd.libjsonnet'; { a: a.App('x', 'n', 'p', false), k: std.objectFields(a) }"
        },
        "jsonnetfile": {"comp/jsonnetfile.json": '{"version": 1, "dependencies": [], "legacyImports": true}\n'},
        "jsonnetfile-broken": {"comp/jsonnetfile.json": "{\n"},
        "jsonnetfile-empty": {"comp/jsonnetfile.json": "{}\n"},
        "jsonnetfile-rendered": {"comp/jsonnetfile.jsonnet": "{ version: 1, dependencies: [], legacyImports: true }\n"},
        "jsonnetfile-variables": {
            "comp/jsonnetfile.jsonnet": "{ version: 1, dependencies: [], legacyImports: true, x:: std.extVar('x') }\n",
            "comp/class/defaults.yml": "parameters: {comp: {jsonnetfile_parameters: {x: y}}}\n",
        },
        "vendor": {"comp/vendor/v/x.libsonnet": "{ x: 1 }\n", "comp/main.jsonnet": "{ a: import 'v/x.libsonnet' }"},
        "gitignore": {"comp/.gitignore": "main.jsonnet\n"},
        "unused": {"comp/README.md": "x\n", "comp/docs/x": "y\n", "comp/tests/defaults.yml": "parameters: {}\n"},
        "filters-file": {"comp/postprocess/filters.yml": "filters: [{type: builtin}]\n"},
    }.items():
        yield component(f"tree-{name}", files=files)
    for name, links in {
        "main": {"comp/l.jsonnet": "main.jsonnet"},
        "outside": {"comp/l.jsonnet": "../outside.jsonnet"},
        "class": {"comp/class/more.yml": "comp.yml"},
    }.items():
        entry = {**JSONNET, "input_paths": ["comp/l.jsonnet" if "comp/l.jsonnet" in links else "comp/main.jsonnet"]}
        differs = LEAVES if name == "outside" else ""
        yield component(f"tree-link-{name}", (entry,), files={"outside.jsonnet": MAIN}, links=links, differs=differs)
    for name, (copied, change) in {
        "file": ({"a": "x"}, {"input_paths": ["comp/f/a"]}),
        "two-paths": ({"a": "x", "b/c": "y"}, {"input_paths": ["comp/f/a", "comp/f/b"]}),
        "glob": ({"a.yaml": "a: 1\n", "b.yaml": "b: 1\n", "c.txt": "c"}, {"input_paths": ["comp/f/*.yaml"]}),
        "glob-deep": ({"x/a.yaml": "a: 1\n", "y/b.yaml": "b: 1\n"}, {"input_paths": ["comp/f/**/*.yaml"]}),
        "glob-none": ({"a": "x"}, {"input_paths": ["comp/f/*.no"]}),
        "glob-set": ({"a1": "x", "a2": "y", "b1": "z"}, {"input_paths": ["comp/f/[ab]1"]}),
        "question": ({"a1": "x", "a22": "y"}, {"input_paths": ["comp/f/a?"]}),
        "slash": ({"a": "x"}, {"input_paths": ["comp/f/"]}),
        "hidden": ({".h": "x", ".d/x": "y"}, {}),
        "binary": ({"a.bin": "\u0000\u0001"}, {}),
        "odd-names": ({"a b": "x", "ü": "y", "a'b": "z", "-x": "w", "a:b": "v"}, {}),
        "secret": ({"a": "?{vaultkv:a/b/c}\n"}, {}),
        "output-file": ({"a": "x"}, {"input_paths": ["comp/f/a"], "output_path": "comp/b.txt"}),
        "prune": ({"a.yaml": "a: null\n"}, {"prune": True}),
        "yaml": ({"a.yaml": "b:   1\na: 'x'\n"}, {"output_type": "yaml"}),
        "go-on": ({"a": "x"}, {"input_paths": ["comp/no"], "continue_on_compile_error": True}),
        "dots": ({"a": "x"}, {"input_paths": ["comp/./f/../f/a"]}),
        "empty": ({"a": ""}, {}),
        "git": ({".gitignore": "x", ".gitkeep": ""}, {}),
    }.items():
        yield component(
            f"copied-{name}", ({**COPY, **change},), files={f"comp/f/{path}": text for path, text in copied.items()}
        )
    for name, entries in {
        "copy-then-copy": (COPY, {**COPY, "input_paths": ["comp/g"]}),
        "copy-then-remove": (COPY, {"input_paths": ["compiled/comp/comp/a"], "input_type": "remove"}),
        "remove-folder": (JSONNET, {"input_paths": ["compiled/comp/comp"], "input_type": "remove"}, COPY),
        "remove-glob": (COPY, {"input_paths": ["compiled/comp/comp/*"], "input_type": "remove"}),
        "remove-missing": (COPY, {"input_paths": ["compiled/comp/no"], "input_type": "remove"}),
        "remove-missing-ignored": (
            COPY,
            {"input_paths": ["compiled/comp/no"], "input_type": "remove", "ignore_missing": True},
        ),
        "remove-all": (COPY, {"input_paths": ["compiled/comp"], "input_type": "remove"}),
        "copy-of-compiled": (JSONNET, {**COPY, "input_paths": ["compiled/comp/comp/a.yaml"], "output_path": "again/"}),
        "jinja-over": (JSONNET, {**JINJA, "input_paths": ["compiled/comp/comp/a.yaml"], "output_path": "again/"}),
        "same-output": (JSONNET, JSONNET),
        "jsonnet-over-copy": ({**COPY, "input_paths": ["comp/g/a.yaml"]}, JSONNET),
    }.items():
        files = {"comp/f/a": "x\n", "comp/f/b": "y\n", "comp/g/a": "z\n", "comp/g/a.yaml": "old: 1\n"}
        yield component(f"entries-{name}", entries, files=files)


def more_filters() -> Iterator[Case]:
    """Filters over many kinds of folders, and with odd arguments."""
    objects = {
        "comp/f/a.yaml": "kind: ConfigMap\nmetadata: {name: a, namespace: old}\n---\nkind: Secret\nmetadata: {name: b}\n",
        "comp/f/deep/b.yaml": "kind: B\nmetadata: {name: c}\n",
        "comp/f/00_namespace.yaml": "kind: Namespace\nmetadata: {name: old}\n",
        "comp/f/c.yaml": "apiVersion: v1\nkind: List\nitems: [{kind: X, metadata: {name: x}}]\n",
    }
    for name, arguments in {
        "create": {"namespace": "nn", "create_namespace": "true"},
        "create-upper": {"namespace": "nn", "create_namespace": "True"},
        "exclude": {"namespace": "nn", "exclude_objects": [{"kind": "Secret", "name": "b"}]},
        "exclude-two": {
            "namespace": "nn",
            "exclude_objects": [{"kind": "Secret", "name": "b"}, {"kind": "ConfigMap", "name": "a"}],
        },
        "exclude-more-keys": {"namespace": "nn", "exclude_objects": [{"kind": "Secret", "name": "b", "x": "y"}]},
        "exclude-namespace": {
            "namespace": "nn",
            "exclude_objects": [{"kind": "Namespace", "name": "old"}],
            "create_namespace": True,
        },
        "exclude-number": {"namespace": "nn", "exclude_objects": [{"kind": "Secret", "name": 1}]},
        "exclude-map": {"namespace": "nn", "exclude_objects": {"kind": "Secret", "name": "b"}},
        "exclude-bar": {"namespace": "nn", "exclude_objects": [{"kind": "Secret", "name": "a|b"}]},
        "reference": {"namespace": "${comp:ns}"},
        "missing-namespace": {"create_namespace": "true"},
        "odd-arguments": {"namespace": "nn", "chart_output_dir": "x", "a b": "c"},
        "clashing": {"namespace": "nn", "path": "x"},
        "target": {"namespace": "nn", "target": "x", "component": "y", "output_path": "z"},
        "number-argument": {"namespace": "nn", "other": 1},
        "null-argument": {"namespace": "nn", "other": None},
        "list-argument": {"namespace": "nn", "other": ["x"]},
    }.items():
        yield component(
            f"over-{name}",
            (COPY,),
            [{**NAMESPACE, "filterargs": arguments}],
            files=objects,
            parameters={"ns": "from-ref"},
            allow=("CMD-ENG-041", "CMD-ENG-044"),
        )
    yield component("over-deep", (COPY,), [{**NAMESPACE, "path": "comp/deep"}], files=objects)
    yield component("over-twice", (COPY,), [NAMESPACE, {**NAMESPACE, "path": "comp/deep"}, NAMESPACE], files=objects)
    fix = {"type": "jsonnet", "filter": "pp/f.jsonnet", "path": "comp"}
    com = "local com = import 'lib/commodore.libjsonnet'; local out = std.extVar('output_path'); "
    for name, text in {
        "fixup": com + "com.fixupDir(out, function(o) o { x: 1 })",
        "fixup-null": com + "com.fixupDir(out, function(o) null)",
        "fixup-some": com + "com.fixupDir(out, function(o) if o.kind == 'Secret' then null else o)",
        "list": com + "{ made: com.list_dir(out) }",
        "namespace": com + "com.addNamespaceToHelmOutput(out, 'nn')",
        "namespace-exclude": com + "com.addNamespaceToHelmOutput(out, 'nn', [{ kind: 'Secret', name: 'b' }])",
        "patch": com + "{ a: com.patchNamespace(out + '/a.yaml', 'nn') }",
        "patch-kinds": com + "{ a: com.patchNamespace(out + '/a.yaml', 'nn', ['Secret']) }",
        "load": com + "{ made: com.yaml_load_all(out + '/a.yaml'), one: com.yaml_load(out + '/00_namespace.yaml') }",
        "load-missing": com + "{ made: com.yaml_load(out + '/no.yaml') }",
        "load-many": com + "{ made: com.yaml_load(out + '/a.yaml') }",
        "inventory": com
        + "local i = com.inventory(); { made: { k: std.objectFields(i), c: i.parameters.comp, f: i.parameters.facts, e: i.environment, ex: i.exports, a: i.applications } }",
        "raw": com
        + "local p = com.inventory().parameters; { made: { k: std.objectFields(p), kap: p.kapitan, com: p.commodore, r: p._reclass_, i: p._instance } }",
        "reclass": com
        + "local r = com.inventory().__reclass__; { made: std.objectFields(r) + [r.environment, r.name, r.node] }",
        "classes": com + "{ made: com.inventory().classes }",
        "empty-map": "{ a: {} }",
        "empty-list": "{ a: [] }",
        "false": "{ a: false, b: 0, c: '' }",
        "nulls": "{ a: [null, { b: null }] }",
        "texts": "{ a: 'x\\ny', b: ['x', 'y\\n'] }",
        "nested": "{ a: [[1], []] }",
        "extension": "{ 'a.yaml': { b: 1 }, 'c.json': { d: 1 }, '.h': { x: 1 } }",
        "kube": "local kube = import 'lib/kube.libjsonnet'; { made: kube.ConfigMap('x') { data: { a: 'b' } } }",
        "kapitan": "local kap = import 'lib/kapitan.libjsonnet'; { made: kap.inventory().parameters.comp }",
        "relative": "{ made: import 'x.libsonnet' }",
        "component-library": "{ made: import 'lib/comp.libsonnet' }",
        "argocd": "local a = import 'lib/argocd.libjsonnet'; { made: a.App('x', 'y') }",
        "import-text": "{ made: { a: importstr 'x.libsonnet' } }",
        "trace": "{ made: std.trace('said', { a: 1 }) }",
        "secret": "{ made: { a: '?{vaultkv:a/b/c}' } }",
        "natives": "{ made: std.native('file_read')('x') }",
        "top-null": "null",
        "top-text": "'x'",
        "function": "function() { a: 1 }",
    }.items():
        files = {
            **objects,
            "comp/pp/f.jsonnet": text,
            "comp/pp/x.libsonnet": "{ x: 1 }",
            "comp/lib/comp.libsonnet": "{ l: 1 }",
        }
        differs = "the names are sorted" if name == "list" else ""
        yield component(f"filtered-{name}", (COPY,), [fix], files=files, parameters={"x": 1}, differs=differs)
    for name, change in {
        "dots": {"filter": "pp/../pp/f.jsonnet"},
        "leading": {"filter": "/pp/f.jsonnet"},
        "library": {"filter": "lib/f.jsonnet"},
        "no-arguments": {},
        "empty-arguments": {"filterargs": {}},
        "disabled": {"enabled": False},
        "disabled-broken": {"enabled": False, "filter": "pp/no.jsonnet"},
        "unknown-key": {"nothing": 1},
        "path-missing": {"path": "no"},
        "path-dot": {"path": "."},
        "path-file": {"path": "comp/a.yaml"},
        "path-deep": {"path": "comp/new/deep"},
        "path-dotdot": {"path": "comp/../comp"},
        "type-upper": {"type": "Jsonnet"},
    }.items():
        files = {**objects, "comp/pp/f.jsonnet": "{ made: { a: 1 } }"}
        yield component(
            f"filtering-{name}",
            (COPY,),
            [{**fix, **change}],
            files=files,
            allow=("CMD-ENG-041", "CMD-ENG-044"),
            differs=LEAVES if name == "leading" else "",
        )


def folders() -> Iterator[Case]:
    for each in (trees, more_filters):
        yield from each()
