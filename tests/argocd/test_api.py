"""The API: every function on a small tree, providers in memory, and no private types."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import os
import signal
import subprocess
import sys
import typing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from commodore import argocd
from commodore.argocd import Options, Providers, Tree
from commodore.argocd.operations import api
from commodore.argocd.testing import MemoryCharts, MemoryClock, MemoryGit, MemoryPlugin, MemoryRemotes
from commodore.base.cancellation import Cancellation
from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, InputError, UsageError
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.programs.running import Bounds, Command, run
from commodore.cli.argocd import settings as settings
from commodore.cli.argocd.analysis import options_by
from commodore.cli.shell.console import Console
from tests.argocd.comparing.conftest import app, config
from tests.argocd.conftest import chart
from tests.world.repos import git

URL = "https://git.example.com/team/shop.git"
OFFLINE = Options(context=Context(ignore, DEFAULT_LIMITS, offline=True)).having(self_url=(URL,))
SET = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "ApplicationSet",
    "metadata": {"name": "teams", "namespace": "argocd"},
    "spec": {
        "generators": [{"list": {"elements": [{"team": "red"}]}}],
        "template": {
            "metadata": {"name": "{{team}}"},
            "spec": {
                "project": "default",
                "destination": {"name": "in-cluster", "namespace": "{{team}}"},
                "source": {"repoURL": URL, "path": "web"},
            },
        },
    },
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {"containers": [{"name": "c", "image": "nginx:1"}]},
}


def write(folder: Path, files: dict[str, Any]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return folder


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Three Applications, of which one does not render and one is made by an ApplicationSet."""
    files = {
        "web.json": app("web", "web"),
        "bad.json": app("bad", "missing"),
        "set.json": SET,
        "web/c.json": config(k="1"),
        "web/pod.json": POD,
    }
    return write(tmp_path / "shop", files)


def with_providers(**given: Any) -> Options:
    return OFFLINE.having(providers=Providers(**given))


@pytest.mark.requirement("D76")
def test_every_question(shop: Path, tmp_path: Path) -> None:
    tree = Tree.folder(shop)
    listing = argocd.list_applications(tree, OFFLINE)
    assert [application.name for application in listing.applications] == ["bad", "red", "web"]
    assert [application.name for application in argocd.list_applications(tree, OFFLINE, ["*e*"]).applications] == [
        "red",
        "web",
    ]
    assert listing.applications[1].origin.set == "argocd/teams"
    assert listing.applications[2].origin.file == "web.json"
    assert [application.generator for application in argocd.expand(tree, OFFLINE).applications] == [
        "spec.generators[0]"
    ]

    rendering = argocd.render(tree, OFFLINE)
    assert [(application.name, len(application.objects)) for application in rendering.applications] == [
        ("argocd/bad", 0),
        ("argocd/red", 2),
        ("argocd/web", 2),
    ]
    assert rendering.partial
    assert rendering.applications[0].error is not None
    assert [diagnostic.code for diagnostic in rendering.diagnostics if diagnostic.severity == "error"] == [
        "CMD-ARGO-309"
    ]

    assert [application.status for application in argocd.test(tree, OFFLINE).applications] == ["FAIL", "PASS", "PASS"]
    assert {use.image.text for use in argocd.images(tree, OFFLINE).images} == {"nginx:1"}
    assert argocd.settings(tree, OFFLINE).namespace == "argocd"
    assert argocd.settings(None, OFFLINE).settings == argocd.settings(tree, OFFLINE).settings
    assert argocd.explain(tree, "web", OFFLINE).application.chain == ["argocd/web is defined in web.json:1"]
    assert argocd.explain(tree, "web", OFFLINE, "Pod/p/spec").application.object.pointer == "/spec"

    after = write(tmp_path / "after", {"web.json": app("web", "web"), "web/c.json": config(k="2"), "web/pod.json": POD})
    difference = argocd.diff(tree, Tree.folder(after), OFFLINE)
    states = {application.name: application.state for application in difference.applications}
    assert states == {"argocd/bad": "unknown", "argocd/red": "removed", "argocd/web": "changed"}
    assert difference.changed
    changes = {application.name: application for application in difference.applications}["argocd/web"].objects
    assert [
        (change.kind, change.key.kind, argocd.path_text(each.path), each.old, each.new)
        for change in changes
        for each in change.fields
    ] == [("changed", "ConfigMap", "data.k", "1", "2")]
    assert "data.k" in difference.text()
    assert "data.k" in difference.markdown()
    assert difference.html().startswith("<!doctype html>")
    assert difference.as_plain().summary.applications.changed == 1
    pod = {**POD, "spec": {"containers": [{"name": "c", "image": "nginx:2"}]}}
    write(after, {"web/pod.json": pod})
    changed = argocd.images(Tree.folder(after), OFFLINE, ["web"], base=tree)
    assert [(use.change, use.image.text) for use in changed.images] == [("changed", "nginx:2")]


def test_only_misuse_raises(shop: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no folder"):
        argocd.list_applications(Tree.folder(tmp_path / "missing"))
    with pytest.raises(InputError, match="no Application matches 'wbe'") as caught:
        argocd.render(Tree.folder(shop), OFFLINE, ["wbe"])
    assert "web" in caught.value.hint


def test_commits_and_folders(shop: Path) -> None:
    git(shop, "init", "-q", "-b", "main")
    git(shop, "add", ".")
    git(shop, "commit", "-qm", "one")
    write(shop, {"web/c.json": config(k="2")})
    git(shop, "commit", "-qam", "two")
    difference = argocd.diff(Tree.commit(shop, "HEAD~1"), Tree.commit(shop, "main"), OFFLINE)
    assert [application.name for application in difference.applications if application.state == "changed"] == [
        "argocd/red",
        "argocd/web",
    ]
    assert not argocd.diff(Tree.commit(shop, "main"), Tree.folder(shop), OFFLINE).changed
    git(shop, "update-ref", "refs/remotes/origin/main", "HEAD~1")
    assert argocd.diff(None, Tree.commit(shop, "main"), OFFLINE).base.endswith("where it left origin/main")
    rendered = argocd.render(Tree.commit(shop, "HEAD~1"), OFFLINE, ["web"])
    assert rendered.applications[0].objects[0].data["data"] == {"k": "1"}


@pytest.mark.requirement("D53", "D78")
def test_providers_stand_in_for_the_network(tmp_path: Path) -> None:
    def helm(name: str, source: dict[str, Any]) -> str:
        return app(name, "", source=source)

    values = {"helm": {"valueFiles": ["https://files.example.com/v.yaml"]}}
    charts = "https://charts.example.com"
    folder = write(
        tmp_path / "shop",
        {
            "a.json": helm("a", {"repoURL": "https://git.example.com/other", "path": "c", "targetRevision": "v1"}),
            "b.json": helm("b", {"repoURL": charts, "chart": "web", "targetRevision": "1.2.3", **values}),
            "c.json": helm("c", {"repoURL": URL, "path": "c", "plugin": {"name": "ours"}}),
            "d.json": helm("d", {"repoURL": URL, "path": "c", "plugin": {"name": "theirs"}}),
            "c/file": "",
        },
    )
    remotes = MemoryRemotes({"https://files.example.com/v.yaml": b"a: remote\n"})
    plugin = MemoryPlugin("ours", [POD])
    options = with_providers(
        git=MemoryGit(tmp_path / "git", {"https://git.example.com/other": {"v1": {"c/c.json": config(k="given")}}}),
        charts=MemoryCharts(tmp_path / "charts", {(charts, "web", "1.2.3"): chart()}),
        remotes=remotes,
        plugins=(plugin,),
    )
    made = {application.name: application for application in argocd.render(Tree.folder(folder), options).applications}
    assert made["argocd/a"].objects[0].data["data"] == {"k": "given"}
    assert json.loads(made["argocd/b"].objects[0].data["data"]["values"]) == {"a": "remote"}
    assert made["argocd/c"].objects[0].data["kind"] == "Pod"
    assert [request.environment["ARGOCD_APP_NAME"] for request in plugin.requests] == ["c"]
    assert made["argocd/d"].error is not None
    assert made["argocd/d"].error.code == "CMD-ARGO-420"
    assert remotes.requests == ["https://files.example.com/v.yaml"]
    assert "annotations" not in POD["metadata"]


@pytest.mark.requirement("D78")
def test_what_is_provided_comes_after_the_map_and_the_tree(tmp_path: Path) -> None:
    other = "https://git.example.com/other"
    folder = write(tmp_path / "shop", {"a.json": app("a", "c", source={"repoURL": other, "path": "c"})})
    mapped = write(tmp_path / "mapped", {"c/c.json": config(k="mapped")})
    provider = MemoryGit(tmp_path / "git", {other: {"": {"c/c.json": config(k="given")}}})
    options = with_providers(git=provider)
    for given, value in ((options, "given"), (options.having(repo_map={other: mapped}), "mapped")):
        rendered = argocd.render(Tree.folder(folder), given)
        assert rendered.applications[0].objects[0].data["data"] == {"k": value}
    unknown = write(
        tmp_path / "unknown", {"a.json": app("a", "c", source={"repoURL": other, "path": "c", "targetRevision": "v9"})}
    )
    assert [
        diagnostic.code for diagnostic in argocd.render(Tree.folder(unknown), options).diagnostics if diagnostic.family
    ] == ["CMD-ARGO-313"]


def test_a_generated_name_that_is_none_is_told_once(tmp_path: Path) -> None:
    """An error for an Application; a warning if a set is only shown, as in Argo CD's preview."""
    made = json.loads(json.dumps(SET))
    made["spec"]["template"]["metadata"]["name"] = "Not_a_name"
    tree = Tree.folder(write(tmp_path, {"set.json": made}))
    listed = argocd.list_applications(tree, OFFLINE).diagnostics
    told = [(diagnostic.code, diagnostic.severity) for diagnostic in listed if diagnostic.subject.set]
    assert told == [("CMD-ARGO-214", "error")]
    previewed = argocd.expand(tree, OFFLINE.having(appset=(tmp_path / "set.json",)))
    assert [
        (diagnostic.code, diagnostic.severity) for diagnostic in previewed.diagnostics if diagnostic.subject.set
    ] == [("CMD-ARGO-214", "warning")]
    assert [application.application["metadata"]["name"] for application in previewed.applications] == ["Not_a_name"]
    made["spec"]["generators"] = made["spec"]["generators"] * 2
    (tmp_path / "set.json").write_text(json.dumps(made), encoding="utf-8")
    (diagnostic,) = (
        diagnostic
        for diagnostic in argocd.list_applications(tree, OFFLINE).diagnostics
        if diagnostic.code == "CMD-ARGO-214"
    )
    assert (
        diagnostic.message
        == "spec.generators[0], set 0 makes an Application named 'Not_a_name' (and 1 more such names)"
    )


@pytest.mark.requirement("D4", "D28")
def test_fields_that_argo_cd_does_not_have(tmp_path: Path) -> None:
    """For Applications in a tree and in named files."""
    source = {"repoURL": URL, "path": "web", "helm": {"valuesFiles": ["a.yaml"], "valuesObject": {"any": {"thing": 1}}}}
    spec = {**SET["spec"]["template"]["spec"], "source": source, "syncPolicy": {"automated": {}, "syncOption": []}}
    made = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "a"}, "spec": spec}
    tree = Tree.folder(write(tmp_path, {"app.json": made}))
    for options in (OFFLINE, OFFLINE.having(app=(tmp_path / "app.json",), strict=True)):
        diagnostics = argocd.list_applications(tree, options).diagnostics
        told = [diagnostic for diagnostic in diagnostics if diagnostic.code == "CMD-ARGO-104"]
        assert [(diagnostic.message, diagnostic.hint[:25]) for diagnostic in told] == [
            ("Argo CD has no field spec.source.helm.valuesFiles, and drops it", "did you mean 'valueFiles'"),
            ("Argo CD has no field spec.syncPolicy.syncOption, and drops it", "did you mean 'syncOptions"),
        ]
        assert {diagnostic.severity for diagnostic in told} == {"error" if options.reporting.strict else "warning"}


def test_the_time_of_templates(tmp_path: Path) -> None:
    """Refused without one; set by an option or by the clock of the caller."""
    made = json.loads(json.dumps(SET))
    made["spec"] |= {"goTemplate": True}
    made["spec"]["template"]["spec"]["destination"]["namespace"] = "x"
    made["spec"]["template"]["metadata"]["name"] = '{{ now | date "2006-01-02" }}-{{ ago (toDate "2006" "2026") }}'
    tree = Tree.folder(write(tmp_path, {"set.json": made}))
    assert [diagnostic.code for diagnostic in argocd.expand(tree, OFFLINE).diagnostics if diagnostic.family] == [
        "CMD-ARGO-207"
    ]
    clock = MemoryClock(datetime(2026, 1, 2, 3, 0, 5, tzinfo=UTC))
    for options, name in (
        (with_providers(clock=clock), "2026-01-02-27h0m5s"),
        (with_providers(clock=clock).having(fixed_time="2026-01-01"), "2026-01-01-0s"),
        (OFFLINE.having(fixed_time="2026-01-01T12:00:00+02:00"), "2026-01-01-10h0m0s"),
    ):
        (generated,) = argocd.expand(tree, options).applications
        assert generated.application["metadata"]["name"] == name
        assert (generated.set, generated.element, generated.parameters) == ("argocd/teams", 0, {"team": "red"})
    with pytest.raises(UsageError) as caught:
        argocd.expand(tree, OFFLINE.having(fixed_time="noon"))
    assert caught.value.code == "CMD-ARGO-033"


@pytest.mark.requirement("D79")
@pytest.mark.parametrize("command", [name for name in vars(settings) if name.startswith("ARGOCD_")])
def test_the_defaults_are_those_of_the_commands(command: str) -> None:
    """The defaults of commands are those of the API."""
    values = {option.name: () if option.multiple else option.default for option in getattr(settings, command)}
    if "path" not in values or "repo_map" not in values:
        return  # asks no question of a tree
    made = options_by(values, Console())
    same = Options()
    assert made.context.limits == same.context.limits == DEFAULT_LIMITS
    assert dataclasses.replace(made, context=same.context) == same


def test_options_have_the_names_that_they_have_on_the_command_line() -> None:
    """Except options of the API only, and one whose flag has another meaning elsewhere."""
    flags: dict[str, set[str]] = {}
    for command in (name for name in vars(settings) if name.startswith("ARGOCD_")):
        for option in getattr(settings, command):
            flags.setdefault(option.name, set()).update(
                flag.strip("-") for text in option.flags for flag in text.split("/")
            )
    # Parts of other options: --show events, --no-cache, and a range of --argocd-version.
    assert Options.names() - flags.keys() == {"providers", "events", "reuse", "base_argocd_version"}
    assert {name for name in Options.names() & flags.keys() if name.replace("_", "-") not in flags[name]} == {
        "context_lines"
    }
    parts = [getattr(Options(), option.name) for option in dataclasses.fields(Options)]
    assert max(len(dataclasses.fields(part)) for part in (Options(), *parts) if dataclasses.is_dataclass(part)) <= 15
    with pytest.raises(TypeError, match="kube_verison"):
        Options().having(kube_verison="1.34")


def reached(value: Any, classes: set[type]) -> None:
    """Collect the classes of this package in an annotation."""
    for inner in typing.get_args(value):
        reached(inner, classes)
    if inspect.isclass(value) and value.__module__.startswith("commodore.") and value not in classes:
        classes.add(value)


@pytest.mark.requirement("D76")
def test_objects_of_a_difference_have_no_secrets_and_flags_name_them(tmp_path: Path) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": "planted"}}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}}
    old = write(tmp_path / "old", {"web.json": app("web", "web"), "web/s.json": secret, "web/claim.json": claim})
    secret = {**secret, "stringData": {"k": "planted again"}}
    new = write(tmp_path / "new", {"web.json": app("web", "web"), "web/s.json": secret})
    (web,) = argocd.diff(Tree.folder(old), Tree.folder(new), OFFLINE).applications
    assert {(change.kind, change.key.kind) for change in web.objects} == {
        ("removed", "PersistentVolumeClaim"),
        ("changed", "Secret"),
    }
    assert "planted" not in repr(web)
    assert [(flag.name, flag.key.name) for flag in web.flags] == [("deletes-volume", "data")]


@pytest.mark.requirement("D76")
def test_a_question_that_is_cancelled(shop: Path) -> None:
    """Running programs end, and there is no result."""
    cancellation = Cancellation()
    context = dataclasses.replace(OFFLINE.context, cancellation=cancellation, announce=lambda _: cancellation.cancel())
    with pytest.raises(EnvironmentFault, match="cancelled") as caught:
        argocd.render(Tree.folder(shop), OFFLINE.having(context=context))
    assert caught.value.code == "CMD-ARGO-038"
    assert run(Command(["sleep", "50"], dict(os.environ)), Bounds(60), cancellation).code == -signal.SIGTERM


@pytest.mark.requirement("D77")
def test_no_private_type_is_reached() -> None:
    """Types of parameters, results and fields are exported here, or are of shared packages."""
    public = {getattr(argocd, name) for name in argocd.__all__ if inspect.isclass(getattr(argocd, name))}
    shared = {
        "commodore.base.errors",
        "commodore.base.context",
        "commodore.base.limits",
        "commodore.base.kubernetes.objects",
    }
    seen: set[type] = set()
    for operation in vars(api).values():
        if (
            inspect.isfunction(operation)
            and operation.__module__ == api.__name__
            and not operation.__name__.startswith("_")
        ):
            for hint in typing.get_type_hints(operation).values():
                reached(hint, seen)
    waiting = list(seen)
    while waiting:  # what results and options hold
        cls = waiting.pop()
        before = set(seen)
        for member in dataclasses.fields(cls) if dataclasses.is_dataclass(cls) and cls.__module__ not in shared else ():
            if not member.name.startswith("_"):
                reached(typing.get_type_hints(cls)[member.name], seen)
        waiting += seen - before
    assert {cls.__qualname__ for cls in seen - public if cls.__module__ not in shared} == set()


def test_the_face_is_lazy() -> None:
    code = "import sys, commodore.argocd; print([n for n in sys.modules if n.startswith('commodore.argocd.')])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"
    assert importlib.import_module("commodore.argocd").Tree is Tree


def test_templates_are_loaded_for_application_sets_alone(tmp_path: Path) -> None:
    code = (
        "import sys; from commodore.argocd import Tree, list_applications\n"
        "found = list_applications(Tree.folder(sys.argv[1])).applications\n"
        "print(len(found), 'commodore.base.gotemplate' in sys.modules)"
    )
    (tmp_path / "a.json").write_text(app("a", "none"), encoding="utf-8")
    assert subprocess.check_output([sys.executable, "-c", code, str(tmp_path)], text=True) == "1 False\n"
