"""Cases of authors' commands: components and packages made of a template, compiled, changed and deleted; and lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.differential.case import Case, as_yaml
from tests.differential.world import SITE
from tests.world.lieutenant import cluster, tenant

TEMPLATE = {
    "cookiecutter.json": (
        '{"name": "", "slug": "", "parameter_key": "{{ cookiecutter.slug.replace(\'-\', \'_\') }}",'
        ' "test_cases": "defaults", "add_lib": "n", "add_pp": "n", "add_golden": "y", "add_matrix": "y",'
        ' "add_go_unit": "n", "automerge_patch": "y", "automerge_patch_v0": "n", "auto_release": "y",'
        ' "automerge_patch_regexp_blocklist": "", "automerge_patch_v0_regexp_allowlist": "",'
        ' "automerge_minor_regexp_allowlist": "", "copyright_holder": "H", "copyright_year": "1950",'
        ' "github_owner": "o", "github_name": "component-{{ cookiecutter.slug }}",'
        ' "github_url": "https://github.com/{{ cookiecutter.github_owner }}/{{ cookiecutter.github_name }}"}\n'
    ),
    "{{ cookiecutter.slug }}/README.md": "# {{ cookiecutter.name }}\n\n{{ cookiecutter.github_url }}\n",
    "{{ cookiecutter.slug }}/{{ cookiecutter.slug }}.txt": "{{ cookiecutter.test_cases }} {{ cookiecutter.add_lib }}\n",
    "{{ cookiecutter.slug }}/class/{{ cookiecutter.slug }}.yml": "parameters: {}\n",
    "{{ cookiecutter.slug }}/class/defaults.yml": "parameters: { {{ cookiecutter.parameter_key }}: {} }\n",
    "{{ cookiecutter.slug }}/LICENSE": "{{ cookiecutter.copyright_year }} {{ cookiecutter.copyright_holder }}\n",
    "{{ cookiecutter.slug }}/.gitignore": "*.orig\n*.rej\nignored\n",
    "{{ cookiecutter.slug }}/tests/{{ cookiecutter.test_cases.split(' ') | first }}.yml": "a: 1\n",
}
TRUSTED = {
    f"COMMODORE_{kind}_{verb}_TRUST_TEMPLATE": "1" for kind in ("COMPONENT", "PACKAGE") for verb in ("NEW", "UPDATE")
}
NEWER = {
    **TEMPLATE,
    "{{ cookiecutter.slug }}/README.md": "# {{ cookiecutter.name }}\n\nNewer: {{ cookiecutter.github_url }}\n",
    "{{ cookiecutter.slug }}/more": "more\n",
}


DIFFERS = {
    "new-ignored": "what the template makes is committed, also if its own `.gitignore` names it",
    "new-empty-owner": "an empty option has no value",
    "slug-global": "a slug must not take parameters with a meaning of their own",
    "slug-lib": "a slug must not take the folder of libraries",
}
CASES_DIFFER = "upper case is taken for lower case"
LISTS_DIFFER = {
    "sort-case": CASES_DIFFER,
    "out-upper": CASES_DIFFER,
    "without-token": "without a token the API is not asked",
}
OPTIONS_DIFFER = {"format-upper": CASES_DIFFER, "verbose": "status goes to standard error"}
SLUGS = {
    "component": (
        "f",
        "fo",
        "Foo",
        "foo_bar",
        "foo-",
        "1foo",
        "foo--bar",
        "component-foo",
        "t-foo",
        "global",
        "lib",
        "",
    ),
    "package": ("foo1", "package-foo", "t-foo", "params", "lib"),
}


def author(name: str, *command: str, **rest: Any) -> Case:
    repositories = {"template": TEMPLATE, "template@newer": NEWER, "template#v1": {"note": "x\n"}}
    if name.endswith("-ignored"):
        repositories["template"] = {**TEMPLATE, "{{ cookiecutter.slug }}/ignored": "x\n"}
    differs = DIFFERS.get(name.partition("-")[2], "") if name != "package-slug-lib" else ""
    given = {"repositories": repositories, "differs": differs, "environment": TRUSTED, **rest}
    return Case(f"author/{name}", command, compared="checkouts", **given)


def new(kind: str, slug: str, *options: str) -> tuple[str, ...]:
    return (kind, "new", slug, "--template-url", f"{SITE}/template.git", "--template-version", "master", *options)


def made() -> Iterator[Case]:
    for kind in ("component", "package"):
        folder = "dependencies/foo-bar" if kind == "component" else "dependencies/pkg.foo-bar"
        yield author(f"{kind}-new", *new(kind, "foo-bar"))
        yield author(f"{kind}-new-ignored", *new(kind, "foo-bar"))
        for name, words in {
            "name": ("--name", "Foo & Bar"),
            "owner": ("--owner", "me"),
            "copyright": ("--copyright", "Me <me@example.com>"),
            "golden": ("--no-golden-tests",),
            "cases": ("-t", "one", "-t", "two", "-t", "one"),
            "tag": ("--template-version", "v1"),
            "newer": ("--template-version", "newer"),
            "unknown-version": ("--template-version", "nowhere"),
            "output": ("--output-dir", "."),
            "output-missing": ("--output-dir", "nowhere"),
            "empty-name": ("--name", ""),
            "empty-owner": ("--owner", ""),
        }.items():
            yield author(f"{kind}-new-{name}", *new(kind, "foo-bar", *words))
        for slug in SLUGS[kind]:
            yield author(f"{kind}-slug-{slug or 'empty'}", *new(kind, slug))
        first = new(kind, "foo-bar")
        yield author(f"{kind}-new-twice", *first, before=(first,))
        yield author(f"{kind}-new-in-the-way", *first, before=({"work": {f"{folder}/x": "x\n"}},))
        for name, words in {
            "nothing": (),
            "newer": ("--template-version", "newer"),
            "no-commit": ("--template-version", "newer", "--no-commit"),
            "copyright": ("--copyright", "Other"),
            "year": ("--update-copyright-year",),
            "case": ("-t", "extra"),
            "remove-case": ("--remove-test-case", "defaults"),
            "swap-case": ("-t", "extra", "--remove-test-case", "defaults"),
            "golden": ("--no-golden-tests",),
            "unknown-version": ("--template-version", "nowhere"),
        }.items():
            yield author(f"{kind}-update-{name}", kind, "update", folder, *words, before=(first,))
        edited = {"work": {f"{folder}/README.md": "# mine\n"}}
        yield author(
            f"{kind}-update-dirty", kind, "update", folder, "--template-version", "newer", before=(first, edited)
        )
        yield author(
            f"{kind}-update-untracked",
            kind,
            "update",
            folder,
            "--template-version",
            "newer",
            before=(first, {"work": {f"{folder}/new": "x\n"}}),
        )
        yield author(f"{kind}-update-nowhere", kind, "update", "nowhere")
        yield author(f"{kind}-update-no-template", kind, "update", "x", before=({"work": {"x/a": "b\n"}},))
    for name, words in {
        "lib": ("--lib",),
        "pp": ("--pp",),
        "matrix": ("--no-matrix-tests",),
        "matrix-cases": ("--no-matrix-tests", "-t", "one"),
        "automerge": ("--no-automerge-patch",),
        "automerge-v0": ("--automerge-patch-v0", "--no-automerge-patch"),
        "autorelease": ("--no-autorelease",),
        "block": ("--add-automerge-patch-block-depname", "b/x", "--add-automerge-patch-block-pattern", "^a"),
        "allow": ("--add-automerge-patch-v0-allow-depname", "x", "--add-automerge-minor-allow-pattern", "y"),
    }.items():
        first = new("component", "foo-bar")
        yield author(f"component-new-{name}", *new("component", "foo-bar", *words))
        yield author(f"component-update-{name}", "component", "update", "dependencies/foo-bar", *words, before=(first,))
    first = new("component", "foo-bar")
    yield author("component-delete", "component", "delete", "foo-bar", "--force", before=(first,))
    yield author("component-delete-no-answer", "component", "delete", "foo-bar", before=(first,))
    yield author("component-delete-nowhere", "component", "delete", "other", "--force", before=(first,))


def compiled() -> Iterator[Case]:
    """`package compile`."""
    show = (
        "local p = (import 'lib/kapitan.libjsonnet').inventory().parameters;"
        " { show: { kind: 'X', app: p.app, facts: p.facts, cluster: p.cluster } }"
    )
    app = {
        "class/app.yml": as_yaml(
            {
                "parameters": {
                    "kapitan": {
                        "compile": [
                            {
                                "input_paths": ["${_base_directory}/main.jsonnet"],
                                "input_type": "jsonnet",
                                "output_path": "app/",
                            }
                        ]
                    }
                }
            }
        ),
        "class/defaults.yml": "parameters: {app: {x: 1}}\n",
        "main.jsonnet": show,
    }
    described = {"components": {"app": {"url": f"{SITE}/app.git", "version": "master"}}}
    package = {
        "pkg/common.yml": as_yaml({"applications": ["app"], "parameters": {**described, "app": {"x": "package"}}}),
        "pkg/tests/defaults.yml": "classes: [..common]\n",
        "pkg/tests/other.yml": "classes: [..common]\nparameters: {app: {x: other}}\n",
        "pkg/tests/none.yml": "parameters: {}\n",
        "pkg/tests/broken.yml": "a: [\n",
        "pkg/tests/unknown.yml": "classes: [..common]\napplications: [unknown]\n",
        "pkg/tests/missing.yml": "classes: [nowhere]\n",
        "v.yml": "parameters: {app: {x: values}, facts: {distribution: mine}}\n",
    }
    for name, words in {
        "plain": ("pkg", "tests.defaults"),
        "file": ("pkg", "tests/defaults.yml"),
        "suffix": ("pkg", "tests/defaults"),
        "other": ("pkg", "tests.other"),
        "root-class": ("pkg", "common"),
        "none": ("pkg", "tests.none"),
        "broken": ("pkg", "tests.broken"),
        "unknown": ("pkg", "tests.unknown"),
        "missing": ("pkg", "tests.missing"),
        "nowhere": ("pkg", "tests.nowhere"),
        "no-class": ("pkg",),
        "values": ("pkg", "tests.defaults", "-f", "v.yml"),
        "values-twice": ("pkg", "tests.defaults", "-f", "v.yml", "-f", "v.yml"),
        "values-missing": ("pkg", "tests.defaults", "-f", "w.yml"),
        "tmp-dir": ("pkg", "tests.defaults", "--tmp-dir", "tmp"),
        "keep": ("pkg", "tests.defaults", "-k"),
        "local": ("pkg", "tests.defaults", "--local"),
        "local-tmp": ("pkg", "tests.defaults", "--local", "--tmp-dir", "tmp"),
        "no-fetch": ("pkg", "tests.defaults", "--no-fetch-dependencies"),
        "slash": ("./pkg/", "tests.defaults"),
    }.items():
        yield Case(
            f"package/{name}", ("package", "compile", *words), package, compared="compiled", repositories={"app": app}
        )


def listed() -> Iterator[Case]:
    """`catalog list` at an API that sorts and filters."""
    clusters = [
        cluster("c-b", "t-one", displayName="Beta"),
        cluster("c-a", "t-two", displayName="Gamma Ray"),
        cluster("c-c", "t-one", displayName="Älpha"),
    ]
    tenants = (tenant("t-one"), tenant("t-two"))
    base = ("catalog", "list", "--api-url", "{api}", "--api-token", "opaque")

    def case(name: str, command: tuple[str, ...], **rest: Any) -> Case:
        given = {"compared": "stdout", "differs": LISTS_DIFFER.get(name, ""), **rest}
        return Case(f"list/{name}", command, clusters=clusters, tenants=tenants, **given)

    for name, words in {
        "plain": (),
        "tenant": ("-t", "t-two"),
        "tenant-long": ("--tenant", "t-two", "-o", "id"),
        "tenant-unknown": ("-t", "nowhere"),
        "tenant-unknown-id": ("-t", "nowhere", "-o", "id"),
        "tenant-unknown-json": ("-t", "nowhere", "-o", "json"),
        "tenant-unknown-yaml": ("-t", "nowhere", "-o", "yaml"),
        "sort-id": ("--sort-by", "id"),
        "sort-name": ("--sort-by", "displayName"),
        "sort-tenant": ("--sort-by=tenant",),
        "sort-case": ("--sort-by", "ID"),
        "out-json": ("--out", "json"),
        "out-yml": ("-o", "yml"),
        "out-equals": ("--out=id",),
        "out-joined": ("-oid",),
        "out-upper": ("-o", "JSON"),
        "out-empty": ("-o", ""),
        "out-table": ("-o", "table"),
        "out-twice": ("-o", "id", "-o", "json"),
        "abbreviated": ("--ou", "id"),
        "abbreviated-tenant": ("--ten", "t-two"),
    }.items():
        yield case(name, (*base, *words))
    bare = ("catalog", "list")
    for name, variables in {
        "out": {"COMMODORE_CATALOG_LIST_OUT": "id"},
        "out-empty": {"COMMODORE_CATALOG_LIST_OUT": ""},
        "tenant": {"COMMODORE_CATALOG_LIST_TENANT": "t-two"},
        "tenant-empty": {"COMMODORE_CATALOG_LIST_TENANT": ""},
        "sort": {"COMMODORE_CATALOG_LIST_SORT_BY": "id"},
        "sort-empty": {"COMMODORE_CATALOG_LIST_SORT_BY": ""},
        "token-empty": {"COMMODORE_API_TOKEN": ""},
        "verbose": {"COMMODORE_CATALOG_LIST_VERBOSE": "1"},
        "timeout-empty": {"COMMODORE_REQUEST_TIMEOUT": ""},
        "oidc-empty": {"COMMODORE_OIDC_CLIENT": "", "COMMODORE_OIDC_DISCOVERY_URL": ""},
    }.items():
        yield case(f"variable-{name}", base, environment=variables)
    yield case("without-token", (*bare, "--api-url", "{api}"), compared="code")
    yield case("token-file", (*bare, "--api-url", "{api}", "--api-token", "file"), files={"file": "opaque\n"})
    yield case("no-url", (*bare, "--api-url", "", "--api-token", "x"), compared="code")


def looked_up() -> Iterator[Case]:
    """Spellings of options of the `inventory` commands."""
    hierarchy = {
        "g/commodore.yml": "classes: [global.base]\nparameters: {a: {b: 1}}\n",
        "g/base.yml": "parameters:\n  components: {c: {url: 'https://x/c.git', version: v1}}\n",
        "v.yml": "parameters: {x: y}\n",
    }
    for name, (words, variables) in {
        "format": (("show", "g"), {"COMMODORE_INVENTORY_SHOW_OUTPUT_FORMAT": "json"}),
        "format-empty": (("show", "g"), {"COMMODORE_INVENTORY_SHOW_OUTPUT_FORMAT": ""}),
        "format-odd": (("show", "g"), {"COMMODORE_INVENTORY_SHOW_OUTPUT_FORMAT": "toml"}),
        "format-upper": (("show", "-o", "JSON", "g"), {}),
        "format-joined": (("components", "-ojson", "g"), {}),
        "format-long": (("components", "--output-format=json", "g"), {}),
        "format-short": (("components", "--output", "json", "g"), {}),
        "values": (("show", "g"), {"COMMODORE_INVENTORY_SHOW_VALUES": "v.yml"}),
        "values-empty": (("show", "g"), {"COMMODORE_INVENTORY_SHOW_VALUES": ""}),
        "values-missing": (("show", "-f", "w.yml", "g"), {}),
        "values-folder": (("show", "-f", "g", "g"), {}),
        "strict": (("show", "--no-allow-missing-classes", "g"), {}),
        "lint": (("lint", "g"), {"COMMODORE_INVENTORY_LINT_LINTER": "components packages"}),
        "lint-empty": (("lint", "g"), {"COMMODORE_INVENTORY_LINT_LINTER": ""}),
        "lint-odd": (("lint", "g"), {"COMMODORE_INVENTORY_LINT_LINTER": "nothing"}),
        "lint-upper": (("lint", "-l", "Components", "g"), {}),
        "lint-ignore": (("lint", "g"), {"COMMODORE_INVENTORY_LINT_IGNORE_PATTERNS": "*.yml"}),
        "global-variable": (("show",), {"COMMODORE_INVENTORY_SHOW_GLOBAL_CONFIG": "g"}),
        "three": (("show", "g", "g", "g"), {}),
        "dashes": (("show", "--", "g"), {}),
        "slash": (("show", "g/"), {}),
        "file": (("show", "v.yml"), {}),
        "tenant-file": (("show", "g", "v.yml"), {}),
        "empty-tenant": (("show", "g", ""), {}),
        "verbose": (("show", "-vvv", "g"), {}),
    }.items():
        compared: Any = "code" if words[0] == "lint" else "stdout"
        differs = OPTIONS_DIFFER.get(name, "")
        yield Case(
            f"options/{name}",
            ("inventory", *words),
            hierarchy,
            environment=variables,
            compared=compared,
            differs=differs,
        )


def authors() -> Iterator[Case]:
    for each in (listed, looked_up, compiled, made):
        yield from each()
