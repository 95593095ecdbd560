"""Cases of the `inventory` commands: values of every kind, odd classes and files, and what a lint makes of them."""

# ruff: noqa: E501 - the text of a file stands in one line

from __future__ import annotations

from collections.abc import Iterator

from tests.differential.case import Case, Files, as_yaml
from tests.differential.merging import MERGED, MERGES

ENTRY = "{url: 'https://x/c.git', version: v1}"


def shown() -> Iterator[Case]:
    """`inventory show` of values that are merged."""
    for name, text in MERGES.items():
        files = {
            "g/commodore.yml": "classes: [global.base, global.over]\nparameters: {}\n",
            "g/base.yml": as_yaml({"parameters": {"comp": dict(MERGED)}}),
            "g/over.yml": f"parameters:\n  comp: {text}\n",
        }
        output = "json" if len(name) % 3 == 0 else "yaml"
        yield Case(f"inventory/merged-{name}", ("inventory", "show", "-o", output, "g"), files, compared="stdout")


def classes() -> Iterator[Case]:
    """Classes of a hierarchy by name, place and sections."""
    for name, files in {
        "relative": {"g/commodore.yml": "classes: [.base]\n", "g/base.yml": "parameters: {x: 1}\n"},
        "relative-up": {"g/commodore.yml": "classes: [global.d.a]\n", "g/d/a.yml": "classes: [..b]\nparameters: {x: 1}\n", "g/b.yml": "parameters: {y: 1}\n"},
        "init": {"g/commodore.yml": "classes: [global.d]\n", "g/d/init.yml": "parameters: {x: 1}\n"},
        "init-relative": {"g/commodore.yml": "classes: [global.d]\n", "g/d/init.yml": "classes: [.a]\nparameters: {x: 1}\n", "g/d/a.yml": "parameters: {y: 1}\n"},
        "init-too": {"g/commodore.yml": "classes: [global.d]\n", "g/d/init.yml": "parameters: {x: 1}\n", "g/d.yml": "parameters: {x: 2}\n"},
        "yaml-suffix": {"g/commodore.yml": "classes: [global.a]\n", "g/a.yaml": "parameters: {x: 1}\n"},
        "first-yaml": {"g/commodore.yaml": "parameters: {x: 1}\n"},
        "both-suffixes": {"g/commodore.yml": "classes: [global.a]\n", "g/a.yaml": "parameters: {x: 1}\n", "g/a.yml": "parameters: {x: 2}\n"},
        "dots": {"g/commodore.yml": "classes: [global.a.b]\n", "g/a.b.yml": "parameters: {x: 1}\n"},
        "upper": {"g/commodore.yml": "classes: [global.A]\n", "g/A.yml": "parameters: {x: 1}\n"},
        "blank": {"g/commodore.yml": "classes: ['global.a b']\n", "g/a b.yml": "parameters: {x: 1}\n"},
        "dash": {"g/commodore.yml": "classes: [global.a-b]\n", "g/a-b.yml": "parameters: {x: 1}\n"},
        "hidden": {"g/commodore.yml": "classes: [global..a]\n", "g/.a.yml": "parameters: {x: 1}\n"},
        "reference": {"g/commodore.yml": "classes: ['global.${facts:cloud}', 'global.${cluster:tenant}.${cluster:name}']\n", "g/x-fake-cloud.yml": "parameters: {x: 1}\n"},
        "reference-own": {"g/commodore.yml": "classes: ['global.${k}']\nparameters: {k: a}\n", "g/a.yml": "parameters: {x: 1}\n"},
        "reference-earlier": {"g/commodore.yml": "classes: [global.k, 'global.${k}']\n", "g/k.yml": "parameters: {k: a}\n", "g/a.yml": "parameters: {x: 1}\n"},
        "reference-missing": {"g/commodore.yml": "classes: ['global.${nowhere}']\n"},
        "reference-map": {"g/commodore.yml": "classes: ['global.${facts}']\n"},
        "twice": {"g/commodore.yml": "classes: [global.a, global.b, global.a]\n", "g/a.yml": "parameters: {x: 1, l: [a]}\n", "g/b.yml": "parameters: {x: 2, l: [b]}\n"},
        "cycle": {"g/commodore.yml": "classes: [global.a]\n", "g/a.yml": "classes: [global.commodore]\nparameters: {x: 1}\n"},
        "self": {"g/commodore.yml": "classes: [global.commodore]\nparameters: {x: 1}\n"},
        "empty-class": {"g/commodore.yml": "classes: [global.a]\nparameters: {x: 1}\n", "g/a.yml": ""},
        "comment-class": {"g/commodore.yml": "classes: [global.a]\nparameters: {x: 1}\n", "g/a.yml": "# x\n"},
        "null-sections": {"g/commodore.yml": "classes:\nparameters:\napplications:\n"},
        "list-class": {"g/commodore.yml": "- a\n"},
        "text-class": {"g/commodore.yml": "a\n"},
        "stream": {"g/commodore.yml": "parameters: {x: 1}\n---\nparameters: {y: 1}\n"},
        "classes-text": {"g/commodore.yml": "classes: global.a\n"},
        "classes-number": {"g/commodore.yml": "classes: [1]\n"},
        "classes-null": {"g/commodore.yml": "classes: [null]\n"},
        "classes-empty-text": {"g/commodore.yml": "classes: ['']\n"},
        "applications": {"g/commodore.yml": "applications: [a, b, ~a, 'c as d']\nparameters: {x: 1}\n"},
        "applications-text": {"g/commodore.yml": "applications: a\nparameters: {x: 1}\n"},
        "applications-number": {"g/commodore.yml": "applications: [1, null]\nparameters: {x: 1}\n"},
        "exports": {"g/commodore.yml": "exports: {x: 1}\nparameters: {x: 1}\n"},
        "odd-section": {"g/commodore.yml": "nothing: {x: 1}\nparameters: {x: 1}\n"},
        "parameters-text": {"g/commodore.yml": "parameters: x\n"},
        "parameters-list": {"g/commodore.yml": "parameters: [x]\n"},
        "bom": {"g/commodore.yml": "\ufeffparameters: {x: 1}\n"},
        "crlf": {"g/commodore.yml": "parameters:\r\n  x: 1\r\n  y: |\r\n    a\r\n    b\r\n"},
        "tenant-class": {"g/commodore.yml": "classes: ['${cluster:tenant}.${cluster:name}']\n", "t/c-bar.yml": "parameters: {x: tenant}\n"},
        "tenant-missing": {"g/commodore.yml": "classes: ['${cluster:tenant}.nothing']\nparameters: {x: 1}\n"},
        "components-null": {"g/commodore.yml": "parameters: {components: null, packages: null}\n"},
        "components-empty": {"g/commodore.yml": "parameters: {components: {}, packages: {}}\n"},
        "components-list": {"g/commodore.yml": "parameters: {components: [a], packages: [b]}\n"},
        "components-text": {"g/commodore.yml": "parameters: {components: x, packages: y}\n"},
        "components-odd": {"g/commodore.yml": "parameters: {components: {a: null, b: x, c: [1], d: {x: 1}, '1': {version: 1}}}\n"},
        "components-override": {"g/commodore.yml": "classes: [global.a, global.b]\n", "g/a.yml": f"parameters: {{components: {{a: {ENTRY}, b: {ENTRY}}}}}\n", "g/b.yml": "parameters: {components: {a: {version: v2}, ~b: {version: v3}}}\n"},
        "components-reference": {"g/commodore.yml": "parameters: {v: v9, components: {a: {url: 'https://x/${v}.git', version: '${v}'}}}\n"},
    }.items():  # fmt: skip
        for command in ("show", "components") if name.startswith("components") else ("show",):
            words = ("inventory", command, "g", "t") if name.startswith("tenant") else ("inventory", command, "g")
            more: Files = {"t/other.yml": "parameters: {}\n"} if name.startswith("tenant") else {}
            yield Case(f"inventory/{command}-class-{name}", words, {**more, **files}, compared="stdout")
            strict = (*words[:2], "-A", *words[2:])
            yield Case(f"inventory/{command}-strict-{name}", strict, {**more, **files}, compared="stdout")


def valued() -> Iterator[Case]:
    """Values files of `inventory show`."""
    base = {
        "g/commodore.yml": "classes: ['${cluster:tenant}.${cluster:name}']\nparameters: {a: {b: 1}}\n",
        "t/c-bar.yml": "parameters: {x: t}\n",
        "t/c-mine.yml": "parameters: {x: mine}\n",
    }
    for name, texts in {
        "ids": ("parameters: {cluster: {name: c-mine, tenant: t-mine}}\n",),
        "tenant-only": ("parameters: {cluster: {tenant: t-mine}}\n",),
        "cluster-only": ("parameters: {cluster: {name: c-mine}}\n",),
        "two": ("parameters: {a: {b: 2, c: 1}}\n", "parameters: {a: {b: 3}}\n"),
        "two-ids": ("parameters: {cluster: {name: c-mine}}\n", "parameters: {cluster: {name: c-bar}}\n"),
        "number-ids": ("parameters: {cluster: {name: 1, tenant: 2}}\n",),
        "null-ids": ("parameters: {cluster: {name: null, tenant: null}}\n",),
        "facts": ("parameters: {facts: {cloud: mine, more: 1}}\n",),
        "dynamic": ("parameters: {dynamic_facts: {a: {b: c}}}\n",),
        "classes": ("classes: [global.nothing]\nparameters: {x: 1}\n",),
        "includes": ("classes: [v1]\nparameters: {x: 1}\n", "parameters: {y: 2}\n"),
        "override": ("parameters: {a: {~b: 2}}\n",),
        "reference": ("parameters: {x: '${a:b}', y: '${cluster:name}'}\n",),
        "empty": ("",),
        "null-parameters": ("parameters:\n",),
        "no-parameters": ("classes: []\n",),
        "list": ("- a\n",),
        "stream": ("parameters: {x: 1}\n---\nparameters: {y: 1}\n",),
        "broken": ("a: [\n",),
        "date": ("parameters: {x: 2020-01-01, y: yes, z: 012}\n",),
    }.items():
        files = {f"v{number}.yml": text for number, text in enumerate(texts)}
        given = tuple(word for file in files for word in ("-f", file))
        for command, folders in (("show", ("g", "t")), ("show", ("g",)), ("components", ("g", "t"))):
            label = f"{command}-{'-'.join(folders)}"
            words = ("inventory", command, *given, *folders)
            yield Case(f"inventory/values-{name}-{label}", words, {**base, **files}, compared="stdout")


UNREAD = "a class file that cannot be read is an error"
BLANK = "a blank pattern means nothing"
LINKS = "links to folders are not followed"
LINTS_DIFFER = {
    "file-custom-tag": UNREAD,
    "file-vault": UNREAD,
    "file-hidden-folder": "there is nothing to lint",
    "file-git": "there is nothing to lint",
    "ignoring-empty": BLANK,
    "ignored-empty": BLANK,
    "inner-empty": BLANK,
    "link-folder": LINKS,
}


def lint(name: str, words: tuple[str, ...], files: Files, links: Files | None = None) -> Case:
    differs = LINTS_DIFFER.get(name, "")
    return Case(f"lint/{name}", ("inventory", "lint", *words), files, links or {}, "code", differs=differs)


def linted() -> Iterator[Case]:
    """Lints of odd class files, places and patterns."""
    good, bad = "parameters: {components: {c: {version: v1}}}\n", "parameters: {components: {c: {url: 'https://x'}}}\n"
    described = {
        "url-number": "{url: 1, version: v1}",
        "url-null": "{url: null, version: v1}",
        "url-list": "{url: [x], version: v1}",
        "version-list": "{version: [v1]}",
        "version-date": "{version: 2020-01-01}",
        "version-float": "{version: 1.0}",
        "version-true": "{version: true}",
        "version-empty": "{version: ''}",
        "version-reference": "{version: '${v}'}",
        "only-version": "{version: v1}",
        "path-null": "{version: v1, path: null}",
        "override-key": "{~version: v1}",
        "constant-key": "{=version: v1}",
        "two-odd-keys": "{version: v1, a: 1, b: 2}",
        "number-key": "{version: v1, 1: x}",
        "empty": "{}",
        "list": "[version]",
    }
    for section in ("components", "packages"):
        for name, entry in described.items():
            files = {"h/a.yml": f"parameters:\n  {section}:\n    c: {entry}\n"}
            yield Case(f"lint/entry-{section}-{name}", ("inventory", "lint", "h"), files, compared="code")
        for name, text in {
            "override": f"  ~{section}: {{c: {{version: v1}}}}\n",
            "override-bad": f"  ~{section}: {{c: {{}}}}\n",
            "entry-override": f"  {section}: {{~c: {{version: v1}}}}\n",
            "entry-override-bad": f"  {section}: {{~c: {{url: 'https://x'}}}}\n",
            "empty": f"  {section}: {{}}\n",
            "text": f"  {section}: x\n",
            "number": f"  {section}: 1\n",
            "false": f"  {section}: false\n",
            "empty-list": f"  {section}: []\n",
            "empty-text": f"  {section}: ''\n",
        }.items():
            files = {"h/a.yml": f"parameters:\n{text}"}
            yield Case(f"lint/section-{section}-{name}", ("inventory", "lint", "h"), files, compared="code")
    for name, text in {
        "twice": "parameters: {a: '${customer:name} ${customer:name}'}\n",
        "all": "parameters: {a: '${customer:name}${cloud:provider}${cloud:region}${cluster:dist}'}\n",
        "inside": "parameters: {a: 'x${customer:name}y'}\n",
        "longer": "parameters: {a: '${customer:names}', b: '${cluster:distribution}'}\n",
        "default": "parameters: {a: '${customer:name::x}'}\n",
        "nested": "parameters: {a: '${x:${customer:name}}'}\n",
        "classes": "classes: ['global.${cloud:provider}']\nparameters: {}\n",
        "applications": "applications: ['${customer:name}']\nparameters: {}\n",
        "outside": "a: '${customer:name}'\n",
        "comment": "parameters: {a: 1} # ${customer:name}\n",
        "deep": "parameters: {a: [{b: [['${customer:name}']]}]}\n",
        "old-syntax": "parameters: {a: '$[customer:name]'}\n",
        "blank": "parameters: {a: '${ customer:name }'}\n",
    }.items():
        yield Case(f"lint/removed-{name}", ("inventory", "lint", "h"), {"h/a.yml": text}, compared="code")
    for name, (path, text) in {
        "json": ("h/a.json", '{"parameters": {"components": {"c": {}}}}\n'),
        "json-good": ("h/a.json", '{"parameters": {}}\n'),
        "readme": ("h/README.md", "# Title\n\n* a: b\n  c\n"),
        "readme-map": ("h/README.md", "parameters: {components: {c: {}}}\n"),
        "no-suffix": ("h/a", bad),
        "text": ("h/a.txt", bad),
        "script": ("h/a.sh", "#!/bin/sh\necho 'x'\n"),
        "jsonnet": ("h/a.jsonnet", "local x = 1; { a: x }\n"),
        "template": ("h/a.yml.j2", "{% if x %}\na: 1\n{% endif %}\n"),
        "deep": ("h/x/y/z/a.yml", bad),
        "hidden-folder": ("h/.x/a.yml", bad),
        "git": ("h/.git/a.yml", bad),
        "custom-tag": ("h/a.yml", "a: !x 1\n"),
        "vault": ("h/a.yml", "a: !vault |\n  x\n"),
        "tab-text": ("h/a.txt", "a:\tb\n\t- c\n"),
        "licence": ("h/LICENSE", "Copyright (c) 2020: someone\n\n  All rights: reserved\n"),
        "csv": ("h/a.csv", "a,b\n'c,d\n"),
        "python": ("h/a.py", "def x():\n    return {1: 2}\n"),
        "makefile": ("h/Makefile", "all:\n\techo x\n"),
        "empty-yaml": ("h/a.yml", ""),
        "many": ("h/a.yml", "---\n---\n"),
        "duplicate": ("h/a.yml", "parameters: {components: {c: {}, c: {version: v1}}}\n"),
        "anchors": ("h/a.yml", "parameters: {x: &a {version: v1}, components: {c: *a}}\n"),
        "merge": ("h/a.yml", "parameters: {x: &a {version: v1}, components: {c: {<<: *a, url: 'https://x'}}}\n"),
        "bom": ("h/a.yml", "\ufeff" + bad),
        "crlf": ("h/a.yml", bad.replace("\n", "\r\n")),
        "number-keys": ("h/a.yml", "1: 2\nparameters: {1: 2, true: x}\n"),
        "set": ("h/a.yml", "? a\n? b\n"),
        "date": ("h/a.yml", "parameters: {a: 2020-01-01}\n"),
        "equals": ("h/a.yml", "parameters: {a: =}\n"),
        "unicode": ("h/ü.yml", "parameters: {ü: ü}\n"),
        "dash": ("h/-a.yml", bad),
        "alias-bomb": ("h/a.yml", "a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n"),
        "classes-text": ("h/a.yml", "classes: a\n"),
        "applications-text": ("h/a.yml", "applications: a\n"),
        "odd-filters": ("h/a.yml", "parameters: {x: {commodore: {postprocess: {filters: [x]}}}}\n"),
        "facts-typo": ("h/a.yml", "parameters: {a: '${fact:cloud}'}\n"),
        "reference-typo": ("h/a.yml", "parameters: {a: '${cluster:name'}\n"),
        "secret-odd": ("h/a.yml", "parameters: {a: '?{vaultkv:a}'}\n"),
    }.items():
        yield lint(f"file-{name}", ("h",), {path: text})
    for name, patterns in {
        "two": ("b.yml", "sub"),
        "slash-folder": ("/sub", "/b.yml"),
        "deep": ("sub/b.yml", "/b.yml"),
        "stars": ("**",),
        "star": ("*",),
        "question": ("?.yml",),
        "set": ("[ab].yml", "[!a].yml"),
        "dot": (".",),
        "dotdot": ("..",),
        "trailing": ("sub/", "b.yml/"),
        "absolute": ("/",),
        "empty": ("",),
        "braces": ("{a,b}.yml",),
        "double": ("**/sub/**", "b.yml"),
        "broken": ("[", "b.yml"),
        "up": ("../h/b.yml",),
    }.items():
        files = {"h/a.yml": good, "h/b.yml": bad, "h/sub/b.yml": bad}
        given = tuple(word for pattern in patterns for word in ("--ignore-patterns", pattern))
        yield lint(
            f"ignoring-{name}",
            (
                *given,
                "h",
            ),
            files,
        )
        listed = {**files, "h/.commodoreignore": "".join(f"{pattern}\n" for pattern in patterns)}
        yield lint(f"ignored-{name}", ("h",), listed)
        inner = {**files, "h/sub/.commodoreignore": "*\n"}
        yield lint(
            f"inner-{name}",
            (
                *given,
                "h",
            ),
            inner,
        )
    for name, words in {
        "file-ignored": ("--ignore-patterns", "b.yml", "h/b.yml"),
        "folder-ignored": ("--ignore-patterns", "h", "h"),
        "two-folders": ("h", "h/sub"),
        "nested-good": ("h/good",),
        "linter-twice": ("-l", "components", "-l", "components", "h/b.yml"),
        "linters-all": ("-l", "components", "-l", "packages", "-l", "deprecated-parameters", "h/good"),
        "linter-old": ("-l", "component-versions", "h"),
        "linter-upper": ("-l", "COMPONENTS", "h/b.yml"),
        "packages-only": ("-l", "packages", "h/b.yml"),
        "dot": (".",),
        "missing-and-good": ("h/good", "nowhere"),
        "link": ("l",),
        "link-file": ("lf.yml",),
    }.items():
        files = {"h/a.yml": good, "h/b.yml": bad, "h/sub/b.yml": bad, "h/good/a.yml": good}
        links = {"l": "h", "lf.yml": "h/b.yml"} if "link-" in name or name == "link" else {}
        yield Case(f"lint/given-{name}", ("inventory", "lint", *words), files, links, compared="code")
    files = {"h/a.yml": good, "other/b.yml": bad}
    for name, links in {
        "file": {"h/l.yml": "../other/b.yml"},
        "folder": {"h/l": "../other"},
        "dangling": {"h/l.yml": "nowhere"},
        "loop": {"h/l": "."},
    }.items():
        yield lint(f"link-{name}", ("h",), files, links)


def lookups() -> Iterator[Case]:
    for each in (shown, classes, valued, linted):
        yield from each()
