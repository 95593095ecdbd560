"""Cases of clusters: references that nothing uses, names that meet, variables of `.env`, fetched folders, filters."""

# ruff: noqa: E501 - the text of a file stands in one line

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.differential.case import Case, as_yaml
from tests.differential.world import COMPILE, SITE, at, component, world

PUSH = (*COMPILE, "--push")


def unused_secrets() -> Iterator[Case]:
    """References in parameters that no manifest holds."""
    for name, reference in {
        "plain": "?{vaultkv:a/b/c}",
        "blanks": "?{vaultkv:a b/c d}",
        "unicode": "?{vaultkv:ü/k}",
        "sub-variable": "?{vaultkv:a/b@x.y}",
        "hash": "?{vaultkv:a/b:deadbeef}",
        "five": "?{vaultkv:a/b:mount:path:key}",
        "five-equal": "?{vaultkv:a/b:mount:a:b}",
        "six": "?{vaultkv:a/b:1:2:3:4}",
        "embedded": "?{vaultkv:a/b:embedded}",
        "function": "?{vaultkv:a/b||random:str}",
        "no-key": "?{vaultkv:a/b/}",
        "double-slash": "?{vaultkv:a//b}",
        "no-slash": "?{vaultkv:abc}",
        "no-colon": "?{vaultkv}",
        "other-type": "?{base64:a/b}",
        "upper-type": "?{VaultKV:a/b}",
        "blank-type": "?{ vaultkv:a/b}",
        "quotes": "?{vaultkv:a'b/c}",
        "comma": "?{vaultkv:a,b/c}",
        "equals": "?{vaultkv:a=b/c=}",
        "at-end": "?{vaultkv:a/b}=",
        "dot": "?{vaultkv:./a/b}",
        "dot-inside": "?{vaultkv:a/./b}",
        "git": "?{vaultkv:.gitx/a/b}",
        "long": "?{vaultkv:" + "x" * 250 + "/k}",
        "dollar": "?{vaultkv:a/$b}",
        "bar": "?{vaultkv:a|b/c}",
        "brace": "?{vaultkv:a{b/c}",
        "new-line": "?{vaultkv:a/\nb}",
        "escaped-reference": "?{vaultkv:a/\\${b}/c}",
    }.items():
        yield world(f"unused-{name}", PUSH, parameters={"other": {"s": reference}})
    for name, reference in {
        "five": "?{vaultkv:a/b:mount:path:key}",
        "five-equal": "?{vaultkv:a/b::a:b}",
        "blanks": "?{vaultkv:a b/c d}",
        "unicode": "x ?{vaultkv:ü/k} y ?{vaultkv:a/b}",
        "quotes": "?{vaultkv:a'b/c}",
    }.items():
        yield world(f"used-{name}", PUSH, parameters={"app": {"s": reference}})
    both = {"x": "?{vaultkv:a/b}", "y": "?{vaultkv:a/b/c}"}
    yield world("unused-file-and-folder", PUSH, parameters={"other": both})
    yield world("unused-two-spellings", PUSH, parameters={"other": {"x": "?{vaultkv:a/b}", "y": "?{vaultkv:a//b}"}})
    many = {"app": component("app", {"p": "?{vaultkv:a/${_instance}/p}"}, multi_instance=True)}
    yield world("secret-of-instances", PUSH, applications=("app", "app as two"), repositories=many)
    yield world(
        "secret-of-undeployed", PUSH, parameters={"nothing": {"p": "?{vaultkv:a/b}", "l": [["?{vaultkv:c/d}"]]}}
    )
    for name, vault in {
        "none": None,
        "empty": {},
        "more": {"VAULT_ADDR": "https://v", "auth": "token", "VAULT_NAMESPACE": "n", "mount": "m"},
        "lower": {"addr": "https://v", "auth": "token", "skip_verify": True},
        "odd": {"nothing": 1},
    }.items():
        parameters = {"app": {"s": "?{vaultkv:a/b/c}"}, "kapitan": {"secrets": {"vaultkv": vault}}}
        yield world(f"vault-{name}", PUSH, parameters=parameters)
        yield world(f"vault-unused-{name}", PUSH, parameters={"kapitan": {"secrets": {"vaultkv": vault}}})


def names() -> Iterator[Case]:
    """Names that differ little, or mean two things."""
    pair = {"foo-bar": component("foo-bar"), "foo_bar": component("foo_bar")}
    entry = {"foo-bar": at("foo-bar"), "foo_bar": at("foo_bar")}
    many = {"app": component("app", multi_instance=True), "two": component("two", multi_instance=True)}
    for name, (applications, entries, repositories) in {
        "one-key": (("foo-bar", "foo_bar"), entry, pair),
        "one-key-described": (("foo-bar",), entry, pair),
        "alias-key": (("app", "app as ap-p", "app as ap_p"), {}, many),
        "alias-under": (("app", "app as two-x"), {}, many),
        "one-alias": (("app as x", "two as x"), {"two": at("two")}, many),
        "alias-described": (("app", "app as two"), {"two": at("two")}, many),
        "alias-deployed": (("app", "app as two", "two"), {"two": at("two")}, many),
        "alias-swapped": (("app as two", "two as app"), {"two": at("two")}, many),
        "upper": (("Foo",), {"Foo": at("foo")}, {"foo": component("Foo")}),
        "number": (("foo2",), {"foo2": at("foo")}, {"foo": component("foo2")}),
        "digits": (("123",), {"123": at("foo")}, {"foo": component("123")}),
        "under": (("foo_bar",), {"foo_bar": at("foo_bar")}, pair),
        "dot": (("foo.bar",), {"foo.bar": at("foo")}, {"foo": component("foo.bar")}),
        "long": (("x" * 80,), {"x" * 80: at("foo")}, {"foo": component("x" * 80)}),
        "reserved-params": (("params",), {"params": at("foo")}, {"foo": component("params")}),
        "reserved-facts": (("facts",), {"facts": at("foo")}, {"foo": component("facts")}),
        "reserved-global": (("global",), {"global": at("foo")}, {"foo": component("global")}),
        "reserved-components": (("components",), {"components": at("foo")}, {"foo": component("components")}),
        "reserved-lib": (("lib",), {"lib": at("foo")}, {"foo": component("lib")}),
        "reserved-libs": (("libs",), {"libs": at("foo")}, {"foo": component("libs")}),
        "reserved-vendor": (("vendor",), {"vendor": at("foo")}, {"foo": component("vendor")}),
        "reserved-defaults": (("defaults",), {"defaults": at("foo")}, {"foo": component("defaults")}),
        "reserved-argocd": (("argocd",), {"argocd": at("foo")}, {"foo": component("argocd")}),
        "reserved-commodore": (("commodore",), {"commodore": at("foo")}, {"foo": component("commodore")}),
        "reserved-manifests": (("manifests",), {"manifests": at("foo")}, {"foo": component("manifests")}),
        "tenant": (("t-one",), {"t-one": at("foo")}, {"foo": component("t-one")}),
        "kapitan": (("kapitan",), {"kapitan": at("foo")}, {"foo": component("kapitan")}),
        "pkg": (("pkg",), {"pkg": at("foo")}, {"foo": component("pkg")}),
        "pkg-dot": (("pkg.",), {}, {}),
        "as": (("as",), {"as": at("foo")}, {"foo": component("as")}),
        "dashes": (("a--b",), {"a--b": at("foo")}, {"foo": component("a--b")}),
        "end-dash": (("ab-",), {"ab-": at("foo")}, {"foo": component("ab-")}),
        "one-letter": (("a",), {"a": at("foo")}, {"foo": component("a")}),
    }.items():
        yield world(f"named-{name}", PUSH, applications=applications, entry=entries, repositories=repositories)
    same = {"app": at("app"), "other": {"url": f"{SITE}/app.git", "version": "master", "path": "other"}}
    nested = {f"other/{path}": text for path, text in component("other").items()}
    yield world(
        "one-repository",
        PUSH,
        applications=("app", "other"),
        entry=same,
        repositories={"app": {**component("app"), **nested}},
    )
    yield world("path-of-alias", PUSH, applications=("app", "app as two"), entry={"two": {"path": "other"}},
        repositories={"app": {**component("app", multi_instance=True, multi_version=True), **{f"other/{path}": text for path, text in component("app", {"x": "sub"}).items()}}})  # fmt: skip


def environments() -> Iterator[Case]:
    """Variables, and the file `.env`."""
    for name, text in {
        "fact": "COMMODORE_CATALOG_COMPILE_DYNAMIC_FACT=a=1\n",
        "revision": "GLOBAL_REPO_REVISION_OVERRIDE=feature\n",
        "export": "export GLOBAL_REPO_REVISION_OVERRIDE=feature\n",
        "quotes": "GLOBAL_REPO_REVISION_OVERRIDE='feature'\n",
        "blanks": "GLOBAL_REPO_REVISION_OVERRIDE = feature\n",
        "comment": "# x\nGLOBAL_REPO_REVISION_OVERRIDE=feature # y\n",
        "author": "GIT_AUTHOR_NAME=Env\nGIT_AUTHOR_EMAIL=env@example.com\n",
        "empty": "",
        "folder": "COMMODORE_WORKING_DIR=elsewhere\n",
        "push": "COMMODORE_CATALOG_COMPILE_PUSH=1\n",
        "verbose": "COMMODORE_VERBOSE=1\n",
        "processes": "COMMODORE_CATALOG_COMPILE_PROCESSES=1\n",
        "odd": "nothing at all\n",
        "other": "SOMETHING=else\n",
        "crlf": "GLOBAL_REPO_REVISION_OVERRIDE=feature\r\n",
        "twice": "GLOBAL_REPO_REVISION_OVERRIDE=nowhere\nGLOBAL_REPO_REVISION_OVERRIDE=feature\n",
    }.items():
        feature = {"defaults@feature": {"commodore.yml": "classes: [global.common]\n"}}
        yield world(f"dotenv-{name}", COMPILE, files={".env": text}, repositories=feature)
    yield world(
        "dotenv-and-variable",
        COMPILE,
        files={".env": "GIT_AUTHOR_NAME=Env\nGIT_AUTHOR_EMAIL=env@example.com\n"},
        environment={"GIT_AUTHOR_NAME": "V", "COMMODORE_CATALOG_COMPILE_PUSH": "1"},
    )
    for name, variables in {
        "local-fetch": {"COMMODORE_CATALOG_COMPILE_LOCAL": "0"},
        "local": {"COMMODORE_CATALOG_COMPILE_LOCAL": "1"},
        "force": {"COMMODORE_CATALOG_COMPILE_FORCE": "1"},
        "interactive": {"COMMODORE_CATALOG_COMPILE_INTERACTIVE": "1"},
        "no-fetch": {"COMMODORE_CATALOG_COMPILE_FETCH_DEPENDENCIES": "0"},
        "author": {
            "COMMODORE_CATALOG_COMPILE_GIT_AUTHOR_NAME": "V",
            "COMMODORE_CATALOG_COMPILE_GIT_AUTHOR_EMAIL": "v@x.ch",
        },
        "tenant": {"COMMODORE_CATALOG_COMPILE_TENANT_REPO_REVISION_OVERRIDE": "feature"},
        "global": {"COMMODORE_CATALOG_COMPILE_GLOBAL_REPO_REVISION_OVERRIDE": "feature"},
        "facts": {"COMMODORE_CATALOG_COMPILE_DYNAMIC_FACT": "a=1 b.c=2"},
        "cluster": {"COMMODORE_CATALOG_COMPILE_CLUSTER": "c-two"},
        "url": {"COMMODORE_CATALOG_COMPILE_API_URL": "https://nowhere.example.com"},
        "lang": {"LC_ALL": "C", "LANG": "C"},
        "zone": {"TZ": "America/New_York"},
        "umask": {"COMMODORE_UMASK": "1"},
        "pager": {"PAGER": "cat", "GIT_PAGER": "cat", "NO_COLOR": "1"},
        "editor": {"GIT_EDITOR": "false"},
        "helm-path": {"KAPITAN_HELM_PATH": "helm"},
        "vault": {"VAULT_NAMESPACE": "x", "VAULT_ADDR": "y"},
    }.items():
        words = COMPILE if "author" not in name else PUSH
        feature = {
            "defaults@feature": {"commodore.yml": "classes: [global.common]\n"},
            "tenant@feature": {"c-one.yml": "parameters: {app: {x: feature}}\n"},
        }
        yield world(
            f"environment-{name}",
            words,
            environment=variables,
            repositories=feature,
            parameters={"app": {"s": "?{vaultkv:a/b/c}"}} if name == "vault" else {},
        )


def fetched() -> Iterator[Case]:
    """Dependencies that Kapitan fetches, from repositories."""
    copy = {"input_paths": ["dependencies/app/got"], "input_type": "copy", "output_path": "${_instance}/"}
    source = {"a.yaml": "a: 1\n", "sub/b.yaml": "b: 1\n", ".hidden": "x\n"}
    for name, change in {
        "plain": {},
        "ref": {"ref": "v1"},
        "branch": {"ref": "feature"},
        "subdir": {"subdir": "sub"},
        "subdir-missing": {"subdir": "no"},
        "ref-missing": {"ref": "no"},
        "submodules": {"submodules": False},
        "force": {"force_fetch": True},
        "odd-key": {"nothing": 1},
        "no-source": {"source": None},
        "absolute": {"output_path": "${_base_directory}/got"},
        "relative": {"output_path": "got"},
    }.items():
        item = {"type": "git", "source": f"{SITE}/lib.git", "output_path": "dependencies/app/got", **change}
        entries = [{**copy, "input_paths": ["got"]}] if name == "relative" else [copy]
        files = {"class/app.yml": as_yaml({"parameters": {"kapitan": {"dependencies": [item], "compile": entries}}})}
        yield world(
            f"fetched-{name}",
            PUSH,
            repositories={"app": files, "lib": source, "lib#v1": {"more": "x\n"}, "lib@feature": {"a.yaml": "a: f\n"}},
            differs="the folder `.git` is left out"
            if name in ("plain", "ref", "branch", "submodules", "force", "absolute", "relative")
            else "",
        )


def filtered() -> Iterator[Case]:
    """Filters of instances in a catalog."""
    entry = {
        "input_paths": ["${_base_directory}/component/main.jsonnet"],
        "input_type": "jsonnet",
        "output_path": "${_instance}/",
    }

    def classed(filters: list[Mapping[str, Any]]) -> str:
        return as_yaml(
            {"parameters": {"kapitan": {"compile": [entry]}, "commodore": {"postprocess": {"filters": filters}}}}
        )

    jsonnet = {
        "type": "jsonnet",
        "filter": "postprocess/f.jsonnet",
        "path": "${_instance}",
        "filterargs": {"x": "${_instance}"},
    }
    script = (
        "local com = import 'lib/commodore.libjsonnet'; local p = com.inventory().parameters;"
        " { made: { t: std.extVar('target'), c: std.extVar('component'), x: std.extVar('x'), i: p._instance, a: p.app } }"
    )
    for name, applications in {"plain": ("app",), "instances": ("app", "app as two", "app as three-x")}.items():
        files = {
            **component("app", multi_instance=True),
            "class/app.yml": classed([jsonnet]),
            "postprocess/f.jsonnet": script,
        }
        yield world(
            f"filter-jsonnet-{name}",
            PUSH,
            applications=applications,
            repositories={"app": files},
            parameters={"two": {"x": "two"}},
        )
    library = {
        **component("app"),
        "class/app.yml": classed([jsonnet]),
        "lib/app.libsonnet": "{ l: 1 }\n",
        "postprocess/f.jsonnet": "{ made: import 'lib/app.libsonnet', x:: std.extVar('x') }",
    }
    yield world("filter-jsonnet-library", PUSH, repositories={"app": library})
    own = {"commodore": {"postprocess": {"filters": [{**jsonnet, "filterargs": {"x": "hierarchy"}}]}}}
    yield world(
        "filter-from-hierarchy",
        PUSH,
        repositories={"app": {**component("app"), "postprocess/f.jsonnet": script}},
        parameters=own,
    )
    hidden = {**component("app"), "component/main.jsonnet": "{ '.x': { a: 1 }, 'x.json': { b: 1 }, 'd/.y': { c: 1 } }"}
    yield world("hidden-output", PUSH, repositories={"app": hidden})
    for name, script in {
        "other-instance": "local kap = import 'lib/kapitan.libjsonnet'; { a: { b: std.objectFields(kap.inventory_global()) } }",
        "cluster": "local kap = import 'lib/kapitan.libjsonnet'; { a: kap.inventory('cluster').parameters.app }",
        "classes": "local kap = import 'lib/kapitan.libjsonnet'; { a: kap.inventory().classes, b: kap.inventory().applications }",
        "kapitan": "local kap = import 'lib/kapitan.libjsonnet'; { a: kap.inventory().parameters.kapitan { compile: [] } }",
        "library-of-other": "{ a: import 'lib/two.libsonnet' }",
        "component-path": "{ a: import 'two/lib/two.libsonnet' }",
        "dependencies-path": "{ a: import 'dependencies/two/lib/two.libsonnet' }",
        "vendor-path": "{ a: import 'vendor/two/lib/two.libsonnet' }",
    }.items():
        two = {**component("two"), "lib/two.libsonnet": "{ x: 2 }\n"}
        yield world(
            f"jsonnet-sees-{name}",
            PUSH,
            applications=("app", "two"),
            entry={"two": at("two")},
            repositories={"app": {"component/main.jsonnet": script}, "two": two},
        )


def more_worlds() -> Iterator[Case]:
    for each in (unused_secrets, names, environments, fetched, filtered):
        yield from each()
