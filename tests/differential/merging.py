"""Cases of values: what is merged and refers to each other, files with values, and the options that name them."""

# ruff: noqa: E501 - the text of a file stands in one line

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.differential.case import Case, Files
from tests.differential.cases import component

MERGED: Mapping[str, Any] = {
    "m": {"a": 1, "n": {"x": 1}},
    "l": [1, {"a": 1}],
    "t": "text",
    "z": None,
    "r": "${comp:t}",
    "k": "t",
    "deep": {"one": {"two": {"three": "${comp:k}"}}},
}
MERGES: Mapping[str, str] = {
    "whole": "{x: '${comp:m}', y: '${comp:l}', z2: '${comp:z}'}",
    "in-text": "{x: 'a${comp:m}b', y: 'a${comp:l}b', w: 'a${comp:z}b', v: '${comp:t}${comp:t}'}",
    "types": "{n: 1, f: 1.5, b: true, x: 'a${comp:n}', y: 'a${comp:f}', w: 'a${comp:b}', v: '${comp:n}${comp:b}'}",
    "default": "{x: '${nowhere::d}', y: '${nowhere::}', w: '${comp:t::d}', v: '${nowhere::[1]}', u: '${nowhere::${comp:t}}'}",
    "nested": "{x: '${comp:${comp:k}}', y: '${comp:deep:one:two:three}', w: '${comp:${comp:deep:one:two:three}}'}",
    "escaped": "{x: '\\${comp:t}', y: '\\\\${comp:t}', w: '$${comp:t}', v: '${comp:t', u: '$[comp:t]', s: '\\\\\\${comp:t}', q: '$comp:t}'}",
    "in-list": "{x: ['${comp:t}', {a: '${comp:t}'}], y: ['${comp:l}']}",
    "in-key": "{'${comp:t}': 1, x: {'a-${comp:t}': 2}}",
    "blanks": "{x: '${ comp:t }', y: '${comp: t}', w: '${comp:t }'}",
    "empty": "{x: '${}'}",
    "list-index": "{x: '${comp:l:0}'}",
    "list-index-map": "{x: '${comp:l:1:a}'}",
    "self": "{x: '${comp:x}'}",
    "cycle": "{x: '${comp:y}', y: '${comp:x}'}",
    "cycle-map": "{x: '${comp}'}",
    "missing": "{x: '${comp:nowhere}'}",
    "missing-deep": "{x: '${comp:t:x}'}",
    "null-path": "{x: '${comp:z:x}'}",
    "dots": "{x: '${comp.t}'}",
    "list-over-text": "{t: [1]}",
    "map-over-text": "{t: {a: 1}}",
    "text-over-map": "{m: x}",
    "text-over-list": "{l: x}",
    "map-over-list": "{l: {a: 1}}",
    "list-over-map": "{m: [1]}",
    "null-over-map": "{m: null}",
    "null-over-list": "{l: null}",
    "map-over-null": "{z: {a: 1}}",
    "list-over-null": "{z: [1]}",
    "text-over-number": "{m: {a: x}}",
    "number-over-text": "{t: 1}",
    "bool-over-text": "{t: true}",
    "over-reference": "{r: 1}",
    "map-over-reference": "{r: {a: 1}}",
    "reference-over-map": "{m: '${comp:deep}'}",
    "reference-over-list": "{l: '${comp:m}'}",
    "reference-over-text": "{t: '${comp:k}'}",
    "override-map": "{~m: {b: 1}}",
    "override-list": "{~l: [2]}",
    "override-text": "{~t: x}",
    "override-null": "{~z: {a: 1}}",
    "override-absent": "{~new: [1], ~new2: {a: 1}}",
    "override-deep": "{m: {~n: {y: 2}}}",
    "override-to-null": "{~m: null}",
    "override-to-list": "{~m: [1]}",
    "override-to-text": "{~l: x}",
    "override-reference": "{~m: '${comp:deep}'}",
    "override-and-plain": "{~l: [2], l: [3]}",
    "plain-and-override": "{l: [3], ~l: [2]}",
    "override-empty": "{~l: [], ~m: {}}",
    "override-twice": "{~~l: [2]}",
    "constant": "{=c: 1}",
    "constant-map": "{=c: {a: 1}}",
    "constant-override": "{~=c: 1}",
    "prefix-alone": "{'~': 1, '=': 2}",
    "prefix-inside": "{'a~b': 1, 'a=b': 2}",
    "append-equal": "{l: [1, 1]}",
    "append-maps": "{l: [{a: 1}]}",
    "append-nested": "{m: {n: {l: [1]}}}",
    "empty-map": "{m: {}}",
    "empty-list": "{l: []}",
    "anchors": "{a: &x {b: 1}, c: *x, d: {<<: *x, e: 2}}",
    "anchors-list": "{a: &x [1], c: *x}",
    "merge-list": "{a: &x {b: 1}, b: &y {c: 1}, d: {<<: [*x, *y]}}",
    "numbers": "{a: 012, b: 0x1f, c: 0o17, d: 1e3, e: 1.0, f: 1_000, g: .5, h: +1, i: -0, j: 12345678901234567, k: 0.1, l: [], m: {a: 1.10}}",
    "big-number": "{a: 123456789012345678901}",
    "unsigned": "{a: 18446744073709551615}",
    "floats": "{a: .inf, b: 1e400}",
    "nan": "{a: .nan}",
    "words": "{a: yes, b: on, c: No, d: ~, e: Null, f: TRUE, g: y}",
    "number-keys": "{1: a, 1.5: b}",
    "bool-keys": "{true: a}",
    "null-keys": "{~: a}",
    "dates": "{a: 2020-01-01, b: 2020-01-01T00:00:00Z, c: 12:30}",
    "binary": "{a: !!binary aGVsbG8=}",
    "tagged": "{a: !!str 1, b: !!int '2'}",
    "custom-tag": "{a: !x 1}",
    "duplicate": "{a: 1, a: 2}",
    "texts": '{a: "x\\ny", b: "\\u00fc", c: "\\t", d: " x ", e: ""}',
    "unicode": "{a: grün, ü: 1}",
    "long": "{a: '" + "x " * 200 + "'}",
    "instance": "{a: '${_instance}', b: '${cluster:name}', c: '${facts:cloud}', d: '${_reclass_:name:short}'}",
    "injected": "{a: '${kapitan:vars:target}'}",
    "whole-parameters": "{a: '${facts}'}",
    "argocd": "{a: '${argocd}', b: '${components}'}",
    "dynamic": "{a: '${dynamic_facts:x}'}",
    "secret": "{a: '?{vaultkv:${cluster:tenant}/${cluster:name}/x}', b: 'x?{vaultkv:a/b}y?{vaultkv:c/d}'}",
    "braces": "{a: '{{ x }}', b: '}', c: '{', d: '$', e: '${', f: '$}'}",
    "colons": "{'a:b': 1, x: '${comp:m:a}'}",
    "deep-merge": "{deep: {one: {two: {four: 4}, ~x: 1}}}",
    "null-all": "null",
    "list-all": "[1]",
    "text-all": "x",
}
"""Values of `comp` that are merged over others, by what they try."""
SHOW = '{ a: (import "lib/kapitan.libjsonnet").inventory().parameters.comp }'


def merges() -> Iterator[Case]:
    """Values of class files that are merged and refer to each other."""
    for name, text in MERGES.items():
        files = {"comp/main.jsonnet": SHOW, "v.yml": f"parameters:\n  comp: {text}\n"}
        yield component(f"merged-{name}", parameters=MERGED, files=files, options=("-f", "v.yml"))
    two: Files = {
        "comp/main.jsonnet": SHOW,
        "v.yml": "parameters:\n  comp: {m: {b: 2}, l: [2], r: one, q: '${comp:w}'}\n",
        "w.yml": "parameters:\n  comp: {m: {c: 3}, ~l: [3], r: two, w: w, s: '${other:x}'}\n  other: {x: y}\n",
    }
    yield component("merged-two-files", parameters=MERGED, files=two, options=("-f", "v.yml", "-f", "w.yml"))
    yield component("merged-two-files-back", parameters=MERGED, files=two, options=("-f", "w.yml", "-f", "v.yml"))


def values_files() -> Iterator[Case]:
    """Values files by name, place and sections, and other options of `component compile`."""
    good = "parameters: {comp: {x: 1}}\n"
    show = {"comp/main.jsonnet": SHOW}
    for name, path in {
        "yaml": "v.yaml",
        "no-suffix": "v",
        "dots": "v.a.yml",
        "dots-yaml": "v.1.yaml",
        "json": "v.json",
        "upper": "V.YML",
        "blank": "a b.yml",
        "unicode": "ü.yml",
        "dash": "-v.yml",
        "deep": "d/e/v.yml",
        "hidden": ".v.yml",
        "comp": "comp.yml",
        "params": "params.yml",
        "cluster": "cluster.yml",
        "defaults": "defaults.yml",
        "init": "init.yml",
        "number": "1.yml",
        "long": "x" * 120 + ".yml",
        "colon": "a:b.yml",
        "hash": "a#b.yml",
        "quote": "a'b.yml",
        "inside": "comp/tests/v.yml",
        "class": "comp/class/v.yml",
    }.items():
        yield component(
            f"file-{name}", files={**show, path: good}, options=(f"-f={path}" if False else f"--values={path}",)
        )
    yield component("file-dot", files={**show, "v.yml": good}, options=("-f", "./v.yml"))
    yield component("file-up", files={**show, "v.yml": good}, options=("-f", "comp/../v.yml"))
    yield component("file-link", files={**show, "v.yml": good}, links={"w.yml": "v.yml"}, options=("-f", "w.yml"))
    yield component("file-dangling", files=show, links={"w.yml": "no.yml"}, options=("-f", "w.yml"))
    yield component(
        "file-three",
        files={**show, "a.yml": good, "b.yml": "parameters: {comp: {x: 2}}\n", "c.yml": "classes: []\n"},
        options=("-f", "a.yml", "-f", "b.yml", "-f", "c.yml"),
    )
    for name, text in {
        "class-relative": "classes: [.other]\n" + good,
        "class-defaults": "classes: [defaults.comp]\n" + good,
        "class-params": "classes: [params.cluster]\n" + good,
        "class-sibling": "classes: [w]\n" + good,
        "class-reference": "classes: ['${comp:cls}']\n" + good,
        "class-null": "classes:\n" + good,
        "class-text": "classes: w\n" + good,
        "class-number": "classes: [1]\n" + good,
        "class-self": "classes: [v]\n" + good,
        "applications-text": "applications: x\n" + good,
        "applications-null": "applications:\n" + good,
        "applications-odd": "applications: [1, null, x, ~x]\n" + good,
        "exports": "exports: {x: 1}\n" + good,
        "environment": "environment: prod\n" + good,
        "other-section": "foo: {x: 1}\n" + good,
        "parameters-null": "parameters:\n",
        "parameters-text": "parameters: x\n",
        "parameters-list": "parameters: [x]\n",
        "stream": good + "---\n" + good,
        "comment": "# only\n",
        "bom": "\ufeff" + good,
        "crlf": good.replace("\n", "\r\n"),
        "tabs": "parameters:\n\tcomp: 1\n",
        "kapitan": "parameters: {kapitan: {compile: []}}\n",
        "kapitan-more": "parameters: {kapitan: {compile: [{input_paths: [comp/main.jsonnet], input_type: jsonnet, output_path: more}]}}\n",
        "kapitan-null": "parameters: {kapitan: null}\n",
        "kapitan-odd": "parameters: {kapitan: {nothing: 1}}\n",
        "kapitan-labels": "parameters: {kapitan: {labels: {a: b}}}\n",
        "kapitan-vars": "parameters: {kapitan: {vars: {target: other, x: 1}}}\n",
        "commodore-null": "parameters: {commodore: null}\n",
        "commodore-text": "parameters: {commodore: x}\n",
        "postprocess-null": "parameters: {commodore: {postprocess: null}}\n",
        "filters-null": "parameters: {commodore: {postprocess: {filters: null}}}\n",
        "cluster": "parameters: {cluster: {name: c-mine, tenant: t-mine}, comp: {x: '${cluster:name}'}}\n",
        "cluster-null": "parameters: {cluster: null}\n",
        "components": "parameters: {components: {comp: {url: 'https://x/y.git', version: v1}}}\n",
        "components-odd": "parameters: {components: {comp: {version: 1}}}\n",
        "components-null": "parameters: {components: null}\n",
        "removed-versions": "parameters: {component_versions: {comp: {version: v1}}}\n",
        "removed-variable": "parameters: {comp: {x: '${customer:name}'}}\n",
        "instance": "parameters: {_instance: mine, comp: {x: '${_instance}'}}\n",
        "base-directory": "parameters: {comp: {x: '${_base_directory}'}}\n",
        "vault": "parameters: {kapitan: {secrets: {vaultkv: {auth: token, VAULT_ADDR: 'https://x'}}}}\n",
        "target-full-path": "parameters: {kapitan: {target_full_path: x}}\n",
        "facts": "parameters: {facts: {cloud: null, x: [1]}, comp: {x: '${facts:cloud}', y: '${facts:x}'}}\n",
        "dynamic": "parameters: {dynamic_facts: {k: v}, comp: {x: '${dynamic_facts:k}'}}\n",
        "global": "parameters: {global: {http_proxy: 'http://p', no_proxy: null}}\n",
    }.items():
        files = {**show, "v.yml": text, "w.yml": "parameters: {comp: {w: 1}}\n"}
        yield component(f"section-{name}", parameters={"cls": "w"}, files=files, options=("-f", "v.yml"))
    words: Mapping[str, tuple[str, ...]] = {
        "output-missing": ("-o", "{out}/x/y"),
        "output-twice": ("-o", "{out}/x"),
        "search-path": ("-J", "lib"),
        "search-path-missing": ("-J", "nowhere"),
        "search-path-file": ("-J", "v.yml"),
        "search-path-two": ("-J", "lib", "-J", "comp"),
        "repo-directory": ("-r", "."),
        "repo-directory-other": ("-r", "elsewhere"),
        "name": ("-n", "comp"),
        "name-other": ("-n", "other"),
        "alias": ("-a", "two"),
        "alias-and-name": ("-a", "two", "-n", "comp"),
        "verbose": ("-v",),
        "verbose-more": ("-vvv",),
        "values-empty": ("-f", ""),
        "alias-empty": ("-a", ""),
        "name-empty": ("-n", ""),
        "output-empty": ("-o", ""),
    }
    for name, given in words.items():
        files = {
            "comp/main.jsonnet": "{ a: (import 'lib/kapitan.libjsonnet').inventory().parameters.comp, "
            + ("b: import 'x.libsonnet' }" if "path" in name else "}"),
            "lib/x.libsonnet": "{ x: 1 }",
            "v.yml": good,
        }
        yield component(
            f"option-{name}",
            parameters={"_metadata": {"multi_instance": True}},
            files=files,
            options=given,
            differs="an empty option has no value" if name == "values-empty" else "",
        )
    for name, value in {
        "values": "v.yml",
        "output": "{out}",
        "alias": "two",
        "search-paths": "lib",
        "name": "comp",
    }.items():
        variable = f"COMMODORE_COMPONENT_COMPILE_{name.replace('-', '_').upper()}"
        yield component(
            f"variable-{name}",
            parameters={"_metadata": {"multi_instance": True}},
            files={**show, "v.yml": good, "lib/x": "x"},
            environment={variable: value},
        )
        yield component(f"variable-{name}-empty", files=show, environment={variable: ""})
    many = {"_metadata": {"multi_instance": True}, "x": 1, "m": {"a": 1}}
    for name, text in {
        "plain": "parameters: {two: {x: 2, m: {b: 2}}}\n",
        "override": "parameters: {two: {~m: {b: 2}}}\n",
        "null": "parameters: {two: null}\n",
        "text": "parameters: {two: x}\n",
        "list": "parameters: {two: [1]}\n",
        "base": "parameters: {comp: {x: 3}}\n",
        "both": "parameters: {comp: {x: 3}, two: {x: 4, y: '${comp:m}'}}\n",
        "own": "parameters: {two: {x: '${two:y}', y: z}}\n",
        "metadata": "parameters: {two: {_metadata: {multi_instance: false}}}\n",
        "instance": "parameters: {two: {x: '${_instance}'}}\n",
    }.items():
        yield component(
            f"instance-{name}", parameters=many, files={**show, "v.yml": text}, options=("-a", "two", "-f", "v.yml")
        )


def merging() -> Iterator[Case]:
    for each in (merges, values_files):
        yield from each()
