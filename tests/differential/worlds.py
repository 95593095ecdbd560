"""Cases of clusters by options, facts, the state of the working directory and of the catalog."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.differential.case import Case, Step, as_yaml
from tests.differential.world import COMPILE, LOCAL, SITE, world


def app(parameters: Mapping[str, Any]) -> Step:
    """A commit to the component."""
    return {"app": {"class/defaults.yml": as_yaml({"parameters": {"app": dict(parameters)}})}}


def compiles() -> Iterator[Case]:
    """Options of `catalog compile`."""
    push = (*COMPILE, "--push")
    yield world("plain")
    yield world("push", push)
    yield world("push-twice", push, before=(push,))
    yield world("push-edit-push", push, before=(push, app({"x": 2})))
    yield world("push-edit-look", before=(push, app({"x": 2})))
    yield world("interactive-no-answer", push, "-i")
    yield world("interactive-alone", COMPILE, "-i")
    yield world("short-push", COMPILE, "--pus")
    yield world("no-api", ("catalog", "compile", "c-one"))
    yield world("unknown-cluster", ("catalog", "compile", "c-two", *COMPILE[3:]))
    yield world("working-dir", ("-d", "deep/er", *COMPILE))
    for name, words in {
        "both": ("--git-author-name", "A", "--git-author-email", "a@example.com"),
        "name": ("--git-author-name", "A"),
        "email": ("--git-author-email", "a@example.com"),
        "empty": ("--git-author-name", "", "--git-author-email", ""),
    }.items():
        yield world(f"author-{name}", push, *words)
    for name, variables in {
        "git": {"GIT_AUTHOR_NAME": "V", "GIT_AUTHOR_EMAIL": "v@example.com"},
        "git-name": {"GIT_AUTHOR_NAME": "V"},
        "git-empty": {"GIT_AUTHOR_NAME": "", "GIT_AUTHOR_EMAIL": ""},
        "push": {"COMMODORE_CATALOG_COMPILE_PUSH": "1"},
        "push-empty": {"COMMODORE_CATALOG_COMPILE_PUSH": ""},
        "push-odd": {"COMMODORE_CATALOG_COMPILE_PUSH": "maybe"},
        "fact": {"COMMODORE_CATALOG_COMPILE_DYNAMIC_FACT": "a=1 b=2"},
        "fetch": {"COMMODORE_CATALOG_COMPILE_FETCH_DEPENDENCIES": "false"},
        "folder": {"COMMODORE_WORKING_DIR": "elsewhere"},
        "folder-empty": {"COMMODORE_WORKING_DIR": ""},
        "revision": {"GLOBAL_REPO_REVISION_OVERRIDE": "feature"},
        "revision-empty": {"GLOBAL_REPO_REVISION_OVERRIDE": "", "TENANT_REPO_REVISION_OVERRIDE": ""},
        "migration": {"COMMODORE_CATALOG_COMPILE_MIGRATION": "ignore-yaml-formatting"},
        "verbose": {"COMMODORE_VERBOSE": "2"},
        "timeout": {"COMMODORE_REQUEST_TIMEOUT": "x"},
        "processes": {"COMMODORE_CATALOG_COMPILE_PROCESSES": "x"},
        "url-empty": {"COMMODORE_API_URL": ""},
    }.items():
        feature = {"defaults@feature": {"common.yml": "parameters: {}\n"}}
        words = COMPILE if name == "push" or name.startswith("push-") else push
        if "revision" in name:
            words = COMPILE
        yield world(f"variable-{name}", words, environment=variables, repositories=feature)
    branches = {
        "defaults@feature": {"commodore.yml": "classes: [global.common]\n"},
        "defaults#v1": {"note": "x\n"},
        "tenant@feature": {"c-one.yml": as_yaml({"parameters": {"app": {"x": "feature"}}})},
    }
    for name, words in {
        "global-branch": ("-g", "feature"),
        "global-tag": ("-g", "v1"),
        "tenant-branch": ("-t", "feature"),
        "both": ("-g", "feature", "-t", "feature"),
        "unknown": ("-g", "nowhere"),
        "relative": ("-g", "master~1"),
        "empty": ("-g", "", "-t", ""),
        "push": ("-g", "feature", "--push"),
        "push-empty": ("-g", "", "--push"),
    }.items():
        yield world(f"override-{name}", COMPILE, *words, repositories=branches)
    for name, (api, organisation) in {
        "cluster": ({"globalGitRepoRevision": "v1", "tenantGitRepoRevision": "feature"}, {}),
        "tenant": ({}, {"globalGitRepoRevision": "v1", "tenantGitRepoRevision": "feature"}),
        "both": ({"tenantGitRepoRevision": "master"}, {"tenantGitRepoRevision": "feature"}),
        "null": ({"tenantGitRepoRevision": None}, {"tenantGitRepoRevision": "feature"}),
        "empty": ({"tenantGitRepoRevision": ""}, {"tenantGitRepoRevision": "feature"}),
        "unknown": ({"tenantGitRepoRevision": "nowhere"}, {}),
    }.items():
        yield world(f"revision-{name}", push, api=api, organisation=organisation, repositories=branches)


def migrations() -> Iterator[Case]:
    """Everything that a catalog holds already, and how changes are shown."""
    push = (*COMPILE, "--push")
    for name in ("kapitan-0.29-to-0.30", "ignore-yaml-formatting", "IGNORE-yaml-formatting", "nothing", ""):
        yield world(f"migration-{name or 'empty'}", push, "-m", name, before=(push, app({"x": 2})))
    for name, files in {
        "empty": {},
        "readme": {"README.md": "hello\n"},
        "stale": {"manifests/old.yaml": "a: 1\n", "refs/old": "x\n"},
        "hidden": {"manifests/.hidden": "x\n", "refs/.hidden": "x\n"},
        "hidden-folder": {"manifests/.git-keep/x": "x\n", "manifests/app/.keep": "x\n"},
        "ignore": {".gitignore": "*.yaml\n"},
        "ignore-nested": {"manifests/.gitignore": "two\n"},
        "others": {"other/x.yaml": "a: 1\n", "compiled/x": "x\n"},
        "file-in-the-way": {"manifests/app": "x\n"},
        "manifests-file": {"manifests": "x\n"},
    }.items():
        yield world(f"catalog-{name}", push, repositories={"catalog": files})
    yield world("catalog-branch", push, repositories={"catalog": {"README.md": "x\n"}, "catalog@main": {"a": "b\n"}})
    yield world("catalog-nowhere", push, api={"gitRepo": {"url": f"{SITE}/nowhere.git"}})
    cleaned = ("catalog", "clean")
    yield world("clean", cleaned, before=(COMPILE,))
    yield world("clean-pushed", cleaned, before=(push,))
    yield world("clean-nothing", cleaned)
    yield world("clean-twice", cleaned, before=(push, cleaned))
    yield world("clean-then-compile", push, before=(push, cleaned, app({"x": 3})))


def facts() -> Iterator[Case]:
    base = {"cloud": "cloudscale", "distribution": "k3s", "region": "rma1"}
    for name, value in {
        "no-region": {"cloud": "a", "distribution": "b"},
        "no-cloud": {"distribution": "b"},
        "no-distribution": {"cloud": "a"},
        "empty-cloud": {**base, "cloud": ""},
        "null-cloud": {**base, "cloud": None},
        "none": {},
        "null": None,
        "more": {**base, "x": "y", "lieutenant-instance": "prod", "a.b": "c"},
        "yes": {**base, "x": "yes", "y": "1", "z": "null"},
        "object": {**base, "x": {"y": "z"}},
        "multi-line": {**base, "x": "a\nb\n"},
        "reference": {**base, "x": "${cluster:name}"},
        "unicode": {**base, "x": "grün"},
    }.items():
        yield world(f"facts-{name}", api={"facts": value})
    for name, change in {
        "absent": {"facts": ...},
        "no-tenant": {"tenant": ...},
        "null-tenant": {"tenant": None},
        "other-tenant": {"tenant": "t-two"},
        "no-repository": {"gitRepo": ...},
        "no-url": {"gitRepo": {}},
        "no-name": {"displayName": ...},
        "odd-name": {"displayName": "A: 'b' \"c\" #d\n"},
        "null-dynamic": {"dynamicFacts": None},
        "empty-dynamic": {"dynamicFacts": {}},
        "absent-dynamic": {"dynamicFacts": ...},
        "more": {"other": 1},
        "scp-url": {"gitRepo": {"url": "git@git.example.com:catalog.git"}},
        "ssh-url": {"gitRepo": {"url": "ssh://git@git.example.com/catalog.git"}},
        "slashes-url": {"gitRepo": {"url": f"{SITE}//catalog.git"}},
        "case-url": {"gitRepo": {"url": "https://GIT.example.com/catalog.git"}},
    }.items():
        yield world(f"api-{name}", (*COMPILE, "--push"), api=change)
    for name, change in {
        "no-name": {"displayName": ...},
        "no-repository": {"gitRepo": ...},
        "no-global": {"globalGitRepoURL": ...},
        "other-id": {"id": "t-two"},
    }.items():
        yield world(f"tenant-{name}", api={}, organisation=change)
    for text in (
        "a=b",
        "a.b=c",
        "a.b.c=d",
        "a",
        "=b",
        "a=",
        "a..b=c",
        "a.=b",
        ".a=b",
        'a=json:""',
        'a=json:{"x": [1, true, null]}',
        "a=json:null",
        "a=json:",
        "a=json:{",
        "a=b=c",
        "a= b ",
        "a=1",
        "a=yes",
        'a.b=json:{"c": 1}',
    ):
        yield world(f"fact-{text}", COMPILE, "-d", text, api={"dynamicFacts": ...})
    for name, words in {
        "twice": ("a=1", "a=2"),
        "under-text": ("a=b", "a.c=d"),
        "over-object": ("a.c=d", "a=b"),
        "merged": ("a.b=1", "a.c=2"),
        "into-json": ('a=json:{"b": 1}', "a.c=2"),
    }.items():
        given = tuple(word for text in words for word in ("--dynamic-fact", text))
        yield world(f"facts-given-{name}", COMPILE, *given, api={"dynamicFacts": ...})
    yield world("facts-given-and-known", COMPILE, "-d", "a=b")
    yield world("facts-given-and-empty", COMPILE, "-d", "a=b", api={"dynamicFacts": {}})


def local() -> Iterator[Case]:
    push = (*COMPILE, "--push")
    defaults = "dependencies/app/class/defaults.yml"
    edit: Step = {"work": {defaults: as_yaml({"parameters": {"app": {"x": "mine"}}})}}
    tenant_edit: Step = {"work": {"inventory/classes/t-one/c-one.yml": "parameters: {app: {x: mine}}\n"}}
    for name, words in {"": (), "-fetch": ("-F",), "-push": ("--push",), "-force": ("--force",)}.items():
        yield world(f"local{name}", LOCAL, *words, before=(push, edit))
        yield world(f"local-tenant{name}", LOCAL, *words, before=(push, tenant_edit))
    yield world("local-no-fetch", LOCAL, "--no-fetch-dependencies", before=(push, edit))
    yield world("local-unchanged", LOCAL, before=(push,))
    yield world("local-facts", LOCAL, "-d", "a=b", before=(push,))
    yield world("local-revision", LOCAL, "-g", "nowhere", before=(push,))
    yield world("local-migration", LOCAL, "-m", "ignore-yaml-formatting", before=(push, edit))
    yield world("local-first", LOCAL)
    yield world("local-other", ("catalog", "compile", "c-two", "--local"), before=(push,))
    yield world(
        "local-unknown-component",
        LOCAL,
        before=(push, {"work": {"inventory/classes/t-one/c-one.yml": "applications: [other]\n"}}),
    )
    yield world(
        "local-removed", LOCAL, before=(push, {"work": {"inventory/classes/t-one/c-one.yml": "applications: [~app]\n"}})
    )
    yield world("no-fetch", COMPILE, "--no-fetch-dependencies")
    yield world("fetch", COMPILE, "--fetch-dependencies")
    yield world("fetch-short", COMPILE, "-F")
    yield world("dirty-component", before=(push, edit))
    yield world("dirty-component-force", COMPILE, "--force", before=(push, edit))
    yield world("dirty-tenant", before=(push, tenant_edit))
    yield world("dirty-tenant-force", COMPILE, "--force", before=(push, tenant_edit))
    yield world("untracked-component", before=(push, {"work": {"dependencies/app/new": "x\n"}}))
    yield world(
        "untracked-tenant",
        before=(push, {"work": {"inventory/classes/t-one/new": "x\n"}}),
        differs="untracked files stay, and stop nothing unless they are in the way",
    )
    yield world("edited-catalog", push, before=(push, {"work": {"catalog/manifests/app/show.yaml": "x\n"}}))


def worlds() -> Iterator[Case]:
    for each in (compiles, migrations, facts, local):
        yield from each()
