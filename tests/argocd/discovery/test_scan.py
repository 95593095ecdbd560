"""Definitions in the files of a tree."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from commodore.argocd import Diagnostics
from commodore.argocd.configuration import Installation
from commodore.argocd.discovery import ApplicationFilter, Listing, Search, SearchRoot, open_listing, select
from commodore.argocd.discovery.own import own_repositories
from commodore.base.context import Context
from commodore.base.errors import CommodoreError, PolicyError
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS
from tests.argocd.conftest import but_the_version

CONTEXT = Context(ignore, DEFAULT_LIMITS)


def app(name: str, path: str = ".", namespace: str = "", project: str = "") -> str:
    """Return the text of an Application."""
    where = f", namespace: {namespace}" if namespace else ""
    return (
        f"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}{where}}}\nspec:\n"
        f"  project: '{project}'\n  destination: {{server: https://kubernetes.default.svc}}\n"
        f"  source: {{repoURL: https://git.example.com/shop, path: {path}}}\n"
    )


class Folder:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.diagnostics = Diagnostics()

    def write(self, **files: str) -> None:
        for name, text in files.items():
            self.file(name.replace("__", "/") + ".yaml", text)

    def file(self, name: str, text: str | bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def listing(self, below: str = ".", objects: tuple[Path, ...] = (), **search: Any) -> Listing:
        diagnostics = Diagnostics()
        root = SearchRoot(self.root / below, Search(**search), Installation(objects=objects))
        with open_listing(root, CONTEXT, diagnostics) as listing:
            pass
        self.diagnostics = but_the_version(diagnostics)
        return listing

    def names(self, below: str = ".") -> list[str]:
        return [application.name for application in self.listing(below).applications]

    def codes(self) -> list[str]:
        return [diagnostic.code for diagnostic in self.diagnostics.collected()]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "tree").mkdir()
    return Folder(tmp_path / "tree")


CONFIG = (
    "kind: ConfigMap\nmetadata: {name: argocd-cm, namespace: gitops, labels: {app.kubernetes.io/part-of: argocd}}\n"
)


@pytest.mark.requirement("D15", "D16", "D23")
def test_one_of_each(folder: Folder) -> None:
    folder.write(
        a="# first\n---\n" + app("a"),
        sets="apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s}\n",
        project="apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: p}\n",
        config=CONFIG + "data: {application.resourceTrackingMethod: label, installationID: tree}\n",
        cluster="kind: Secret\nmetadata: {labels: {argocd.argoproj.io/secret-type: cluster}}\n"
        "stringData: {name: c, server: https://c}\n",
    )
    option = folder.root.parent / "option.yaml"
    option.write_text("kind: ConfigMap\nmetadata: {name: argocd-cm}\ndata: {installationID: option}\n")
    listing = folder.listing(objects=(option,))
    (application,) = listing.applications
    assert (application.name, str(application.place)) == ("a", "a.yaml:3")
    assert (len(listing.sets), listing.settings.namespace, listing.settings.tracking_method) == (1, "gitops", "label")
    assert listing.settings.installation == "option"
    assert [str(place) for place in listing.settings.config["installationID"].overridden] == ["config.yaml:3"]
    assert [cluster.name for cluster in listing.settings.clusters] == ["c"]
    assert len(listing.settings.projects) == 1
    assert folder.codes() == ["CMD-ARGO-210"]


def test_where_is_looked(folder: Folder) -> None:
    items = app("listed").replace("\n", "\n  ").strip()
    folder.write(
        deep__down__a=app("a"),
        **{".hidden__b": app("b")},
        chart__templates__c=app("c") + "{{ if",
        chart__Chart="name: chart",
        patched__patch=app("d"),
        patched__kustomization="patches: [{path: patch.yaml}]",
        other=app("e").replace("argoproj.io", "example.com"),
        many="kind: List\nitems:\n- " + items,
    )
    folder.file("f.json", '{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "f"}}')
    folder.file(".git/g.yaml", app("g"))
    folder.file("h.txt", app("h"))
    assert folder.names() == ["a", "b", "f", "listed"]
    assert folder.names("deep") == ["a"]


@pytest.mark.requirement("D25", "D85")
def test_the_order_does_not_depend_on_when_files_were_made(tmp_path: Path) -> None:
    results = set()
    for number in range(5):
        folder = Folder(tmp_path / str(number))
        names = [f"a{index}" for index in range(12)]
        random.Random(number).shuffle(names)
        for name in names:
            folder.file(f"{name}.yaml", app(name) + "---\n" + app("same", path=name))
        same = next(application for application in folder.listing().applications if application.name == "same")
        results.add((*folder.names(), same.sources[0].path, *folder.codes()))
    assert len(results) == 1


@pytest.mark.requirement("D20")
def test_what_is_defined_twice(folder: Folder) -> None:
    folder.write(a=app("x"), b=app("x"), c=app("x", namespace="team"))
    assert folder.names() == ["x", "x"]
    assert folder.codes() == []
    folder.write(b=app("x", path="other"))
    assert folder.names() == ["x", "x"]
    (told,) = folder.diagnostics.collected()
    assert (told.code, [str(place) for place in told.locations]) == ("CMD-ARGO-105", ["a.yaml:1", "b.yaml:1"])
    assert "differently: by two files;" in told.message


@pytest.mark.requirement("D20")
def test_an_application_set_that_is_defined_twice(folder: Folder) -> None:
    folder.file("a.yaml", set_of(list={"elements": [{"name": "x", "path": "a"}]}))
    folder.file("b.yaml", set_of(list={"elements": [{"name": "x", "path": "a"}]}))
    assert (folder.names(), folder.codes()) == (["x"], [])
    folder.file("b.yaml", set_of(list={"elements": [{"name": "y", "path": "a"}]}))
    assert folder.names() == ["x"]
    (told,) = folder.diagnostics.collected()
    assert (told.code, told.subject.set, [str(place) for place in told.locations]) == (
        "CMD-ARGO-105",
        "s",
        ["a.yaml:1", "b.yaml:1"],
    )
    assert told.message == "the ApplicationSet s is defined twice, differently: by two files; the first one counts"


def test_what_one_file_defines_twice(folder: Folder) -> None:
    folder.file("a.yaml", app("x") + "---\n" + app("x", path="other"))
    folder.listing()
    (told,) = folder.diagnostics.collected()
    assert "differently: by two documents of a file;" in told.message


def set_of(**generator: Any) -> str:
    """Return the text of an ApplicationSet with one generator, of parameters `name` and `path`."""
    source = {"repoURL": "https://git.example.com/a", "path": "{{.path}}"}
    template = {
        "metadata": {"name": "{{.name}}"},
        "spec": {"source": source, "destination": {"server": "https://kubernetes.default.svc"}},
    }
    spec = {"goTemplate": True, "generators": [generator], "template": template}
    return json.dumps(
        {"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": {"name": "s"}, "spec": spec}
    )


def test_a_name_that_a_set_makes_twice_is_told_once(folder: Folder) -> None:
    elements = [{"name": "x", "path": "one"}, {"name": "x", "path": "two"}]
    folder.file("set.yaml", set_of(list={"elements": elements}))
    assert (folder.names(), folder.codes()) == (["x"], ["CMD-ARGO-209"])


def test_an_error_of_a_generator_says_where_its_set_is(folder: Folder) -> None:
    folder.file("set.yaml", set_of(git={"repoURL": "ext::sh -c x", "directories": [{"path": "*"}]}))
    folder.listing()
    told = folder.diagnostics.collected()[0]
    assert (told.code, [str(place) for place in told.locations]) == ("CMD-ARGO-320", ["set.yaml:1"])


@pytest.mark.requirement("D27", "D84")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        (app("b").replace("spec:", "\tspec:"), "CMD-ARGO-101"),
        (app("b") + "x: [", "CMD-ARGO-101"),
        (app("b") + "x: {{ of a set }} [\n# kind: ApplicationSet", "CMD-ARGO-101"),
        (app("b").replace("source: {", "source: [").replace(" .}", " .]"), "CMD-ARGO-103"),
        (app("../x"), "CMD-ARGO-103"),
        (app("Upper"), "CMD-ARGO-103"),
        (app("b").replace("spec:", "spec: []\nx:"), "CMD-ARGO-103"),
        ("argocd-cm: [", "CMD-ARGO-102"),
        (b"argocd-cm \x00\xff\xfe", "CMD-ARGO-102"),
        ("argocd-cm: " + "[" * 100_000, "CMD-ARGO-102"),
        ("# argocd" + " " * DEFAULT_LIMITS.argocd_scanned_bytes, "CMD-ARGO-102"),
    ],
)
def test_files_that_cannot_be_read(text: str | bytes, code: str, folder: Folder) -> None:
    folder.write(a=app("a"))
    folder.file("b.yaml", text)
    assert "a" in folder.names()
    assert code in folder.codes()


def test_templates_of_other_programs_are_no_errors(folder: Folder) -> None:
    folder.write(a=app("a"), b=app("b") + "{{< if .x >}}\nx: {{< .y >}}\n{{< end >}}\n")
    assert folder.names() == ["a"]
    (told,) = folder.diagnostics.collected()
    assert (told.code, told.severity) == ("CMD-ARGO-102", "warning")
    assert told.message.startswith("b.yaml seems to be a template of Applications, and is not read: ")


def test_a_byte_order_mark(folder: Folder) -> None:
    folder.file("a.yaml", app("a").encode("utf-8-sig"))
    assert folder.names() == ["a"]


@pytest.mark.requirement("D28")
def test_no_applications(folder: Folder) -> None:
    assert folder.names() == []
    assert folder.codes() == ["CMD-ARGO-011"]


def test_links_out_of_the_tree_are_not_followed(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "outside.yaml").write_text(app("outside"))
    folder.write(a=app("a"))
    os.symlink(tmp_path / "outside.yaml", folder.root / "b.yaml")
    assert folder.names() == ["a"]


def test_choosing(folder: Folder) -> None:
    folder.write(a=app("web"), b=app("web", namespace="team"), c=app("api", project="core"))
    listed = folder.listing().applications

    def chosen(*names: str, project: str = "") -> list[str]:
        selected = select(listed, names, controller="argocd", application_filter=ApplicationFilter(project=project))
        return [f"{application.namespace}/{application.name}" for application in selected]

    assert chosen() == ["/api", "/web", "team/web"]
    assert chosen("argocd/web", "api") == ["/api", "/web"]
    assert chosen("w*") == ["/web", "team/web"]
    assert chosen("team/*") == ["team/web"]
    assert chosen(project="c*") == ["/api"]
    for text, code, hint in (("wbe", "CMD-ARGO-006", "'web'"), ("web", "CMD-ARGO-007", "argocd/web, team/web")):
        with pytest.raises(CommodoreError) as caught:
            chosen(text)
        assert caught.value.code == code
        assert hint in caught.value.hint


@pytest.mark.requirement("D36", "D60")
def test_the_own_repository_is_the_whole_checkout(tmp_path: Path) -> None:
    for command in (["init", "-q"], ["remote", "add", "origin", "git@git.example.com:team/shop.git"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    (tmp_path / "apps").mkdir()
    tree, own = own_repositories(tmp_path / "apps", ["https://git.example.com/team/shop"], CONTEXT)
    assert tree.root == tmp_path
    assert sorted(own) == ["git.example.com/team/shop", "https://git.example.com/team/shop"]


@pytest.mark.requirement("D42", "D43")
@pytest.mark.parametrize("linked", [False, True])
def test_a_cache_in_the_tree_is_refused(linked: bool, folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a link leads there."""
    inside = folder.root / "sub" / "cache"
    inside.mkdir(parents=True)
    place = inside
    if linked:
        place = folder.root.parent / "link"
        place.symlink_to(inside)
    folder.write(a=app("a"))
    assert folder.names() == ["a"]
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    with pytest.raises(PolicyError) as caught:
        folder.names()
    assert caught.value.code == "CMD-ARGO-008"


CUSTOM = "kind: CustomResourceDefinition\nspec: {group: argoproj.io, names: {kind: %s}}\n"


def test_documents_that_define_nothing_here_are_not_parsed(folder: Folder) -> None:
    """The others stay on their lines, with texts that end as they are written."""
    others = "# notes\n" + CUSTOM % "Application" + "x: [\n"
    config = CONFIG + "data:\n  installationID: |+\n    a\n\n"
    folder.file("a.yaml", f"{others}---\n{app('a')}---\n{others}--- # more\r\n{config}---x: no\n---\n{others}")
    listing = folder.listing()
    assert [str(application.place) for application in listing.applications] == ["a.yaml:6"]
    assert listing.settings.installation == "a\n\n"
    assert folder.codes() == []


@pytest.mark.parametrize("text", [CUSTOM % "Rollout", "a: argocd\nconfigs: [\n".replace("configs:", "config :")])
def test_files_of_no_interest_are_not_parsed(text: str, folder: Folder) -> None:
    folder.file("a.yaml", text + "x: [\n")
    folder.write(b=app("b"))
    assert (folder.names(), folder.codes()) == (["b"], [])


def test_what_was_parsed_before_is_kept_by_its_content(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also by other folders of the repository; what is damaged is parsed again."""
    from commodore.argocd.trees import parsed
    from commodore.core.results.caches import result_cache

    read: list[str] = []

    def noting(content: bytes, *, place: str) -> Any:
        read.append(place)
        return real(content, place=place)

    real = parsed.read_placed_documents
    monkeypatch.setattr(parsed, "read_placed_documents", noting)
    url = ("https://git.example.com/shop",)
    labels = "labels: {argocd.argoproj.io/secret-type: repository}"
    secret = f"kind: Secret\nmetadata: {{{labels}}}\nstringData: {{password: s3cret}}\n"
    folder.write(a=app("a"), b=app("b"), secret=secret)

    def names() -> list[str]:
        read.clear()
        return [str(application.place) for application in folder.listing(self_url=url).applications]

    assert (names(), read) == (["a.yaml:1", "b.yaml:1"], ["a.yaml", "b.yaml", "secret.yaml"])
    assert (names(), read) == (["a.yaml:1", "b.yaml:1"], ["secret.yaml"])
    assert not any(b"s3cret" in file.read_bytes() for file in result_cache().rglob("*.*"))
    folder.file("b.yaml", "# moved\n---\n" + app("b"))
    assert (names(), read) == (["a.yaml:1", "b.yaml:3"], ["b.yaml", "secret.yaml"])
    folder.root.rename(folder.root.parent / "elsewhere")
    folder.root = folder.root.parent / "elsewhere"
    folder.file("b.yaml", app("b"))
    assert (names(), read) == (["a.yaml:1", "b.yaml:1"], ["secret.yaml"])
    for file in result_cache().rglob("*.result"):
        file.write_bytes(file.read_bytes()[:-1])
    assert (names(), len(read)) == (["a.yaml:1", "b.yaml:1"], 3)


def test_documents_of_earlier_runs_go_when_they_are_many(folder: Folder) -> None:
    from commodore.argocd.trees import ParsedFiles
    from commodore.core.results.caches import result_cache

    def run(*names: str) -> int:
        """Return the number of cached contents."""
        files = ParsedFiles(result_cache(), ["repository"], DEFAULT_LIMITS)
        for name in names:
            ((value, _),) = files.documents(app(name).encode(), "file")
            assert value["metadata"]["name"] == name
        files.keep()
        (kept,) = result_cache().rglob("*.result")
        return kept.read_bytes().count(b'"Application"')

    assert [run(*names) for names in (("a", "b"), ("c", "a"), ("d", "e"), ("a",))] == [2, 3, 4, 4]


def test_settings_that_cannot_be_read_are_a_warning(folder: Folder) -> None:
    folder.write(a=app("web"), cm="kind: ConfigMap\nmetadata: {name: argocd-cm}\ndata:\n\tx: y\n")
    folder.listing()
    (told,) = folder.diagnostics.collected()
    assert (told.code, told.severity) == ("CMD-ARGO-102", "warning")
    folder.write(cm="kind: ConfigMap\nmetadata: {name: argocd-cm}\ndata: {{ .Values.x }}\n")
    folder.listing()
    assert [diagnostic.severity for diagnostic in folder.diagnostics.collected()] == ["info"]
