"""Applications that other Applications render."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from commodore.argocd import Diagnostics
from commodore.argocd.diagnostics import STRICT
from commodore.argocd.discovery import Listing, Search, SearchRoot, open_listing
from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS, Limits
from tests.argocd.conftest import but_the_version
from tests.world.folders import write_files

pytestmark = pytest.mark.tools

URL = "https://git.example.com/shop"


def app(name: str, path: str = ".", **metadata: str) -> str:
    """Return the text of an Application with a source in the tree."""
    more = "".join(f", {key}: {value}" for key, value in metadata.items())
    return (
        f"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}{more}}}\nspec:\n"
        "  destination: {server: https://kubernetes.default.svc, namespace: argocd}\n"
        f"  source: {{repoURL: {URL}, path: {path}}}\n"
    )


def chart(*templates: str) -> dict[str, str]:
    """Return the files of a chart."""
    named = {f"templates/{number}.yaml": text for number, text in enumerate(templates)}
    return {"Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n", **named}


SET = (
    "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: s}\nspec:\n"
    "  generators: [%s]\n  template:\n    metadata: {name: '{{name}}'}\n"
    "    spec: {project: default, destination: {name: in-cluster}, source: {repoURL: %s, path: '{{name}}'}}\n"
)


class Repo:
    """A folder that replaces its repository, and its Applications."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.diagnostics = Diagnostics()

    def write(self, files: Mapping[str, str], below: str = "") -> None:
        write_files(self.root / below, files)

    def listing(self, limits: Limits = DEFAULT_LIMITS, **search: Any) -> Listing:
        context = Context(ignore, limits, offline=True)
        diagnostics = Diagnostics()
        root = SearchRoot(self.root, Search(self_url=(URL,), **search))
        with open_listing(root, context, diagnostics) as listing:
            pass
        self.diagnostics = but_the_version(diagnostics)
        return listing

    def origins(self, **named: Any) -> dict[str, str]:
        """Return the origin of each Application."""
        return {
            label.removeprefix("argocd/"): str(origin)
            for label, origin in sorted(self.listing(**named).origins.items())
        }

    def codes(self) -> list[str]:
        return [diagnostic.code for diagnostic in self.diagnostics.collected()]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    (tmp_path / "tree").mkdir()
    return Repo(tmp_path / "tree")


@pytest.mark.requirement("D24", "D26")
def test_apps_of_apps_in_charts_and_kustomizations(repo: Repo) -> None:
    repo.write({"root.yaml": app("root", "chart")})
    repo.write(chart("{{ range list 1 2 }}\n---\n" + app("child-{{ . }}", "k") + "{{ end }}"), "chart")
    repo.write({"kustomization.yaml": "resources: [../base]\nnamePrefix: x-\n"}, "k")
    repo.write({"kustomization.yaml": "resources: [set.txt]\n"}, "base")
    repo.write({"set.txt": SET % ("{list: {elements: [{name: web}]}}", URL)}, "base")
    repo.write({"cm.yaml": "kind: ConfigMap\nmetadata: {name: c}\n"}, "web")
    assert repo.origins() == {
        "root": "a file",
        "child-1": "what argocd/root renders",
        "child-2": "what argocd/root renders",
        "web": "the ApplicationSet argocd/x-s",
    }
    assert repo.codes() == []
    assert repo.origins(max_depth=0) == {"root": "a file"}


@pytest.mark.requirement("D9", "D23")
def test_what_holds_nothing_of_argo_cd_is_not_rendered(repo: Repo) -> None:
    """These charts fail when they are rendered."""
    note = "kind: A\nmetadata: {annotations: {argocd.argoproj.io/sync-wave: '1'}}\n"
    repo.write({"a.yaml": app("a", "plain"), "b.yaml": app("b", "marked")})
    repo.write(chart(note, "{{ fail `plain` }}"), "plain")
    repo.write(chart("{{ fail `marked` }}# argoproj.io/v1alpha1"), "marked")
    listing = repo.listing()
    assert list(listing.failures) == ["argocd/b"]
    listing.report_failures(repo.diagnostics, exclude=[listing.applications[0]])
    (told,) = repo.diagnostics.collected()
    assert (told.code, told.subject.application, "marked" in told.message) == ("CMD-ARGO-405", "argocd/b", True)


def test_values_that_may_hold_applications(repo: Repo) -> None:
    """A chart that writes its values."""
    source = f"source: {{repoURL: {URL}, path: c, helm: {{valueFiles: [../values.txt]}}}}"
    repo.write({"a.yaml": app("a").replace(f"source: {{repoURL: {URL}, path: .}}", source)})
    repo.write(chart("{{ range .Values.objects }}\n---\n{{ toYaml . }}\n{{ end }}"), "c")
    repo.write({"values.txt": "objects:\n- " + app("b", "none").replace("\n", "\n  ").rstrip() + "\n"})
    assert repo.origins() == {"a": "a file", "b": "what argocd/a renders"}


@pytest.mark.requirement("D20", "D90")
def test_which_of_several_counts(repo: Repo) -> None:
    entry = app("same", "entry")
    repo.write({"a.yaml": app("a", "c"), "same.yaml": app("same", "file", namespace="argocd")})
    repo.write(chart(app("same", "rendered"), app("equal", "x")), "c")
    repo.write({"equal.yaml": app("equal", "x")})
    repo.write(chart(entry), "entries/e")
    paths = {application.name: application.sources[0].path for application in repo.listing().applications}
    assert paths == {"a": "c", "same": "file", "equal": "x"}
    assert repo.codes() == ["CMD-ARGO-106"]
    listing = repo.listing(entry=("entries/e",))
    assert {application.name: application.sources[0].path for application in listing.applications}["same"] == "entry"
    assert repo.codes() == ["CMD-ARGO-105", "CMD-ARGO-106"]  # by two renderings; by a rendering and a file
    repo.write({"set.yaml": SET % ("{list: {elements: [{name: a}, {name: same}]}}", URL)})
    assert repo.origins()["same"] == "a file"
    assert repo.codes() == ["CMD-ARGO-105", "CMD-ARGO-105", "CMD-ARGO-106"]


@pytest.mark.requirement("D28")
def test_rounds_without_end(repo: Repo) -> None:
    """Each Application renders another one of the same chart."""
    name = "{{ .Release.Name }}x"
    repo.write({"a.yaml": app("a", "c")})
    repo.write(chart(app(f"'{name}'", "c")), "c")
    assert list(repo.origins(max_depth=2)) == ["a", "ax", "axx"]
    (told,) = repo.diagnostics.collected()
    assert (told.code, "argocd/axx" in told.message) == ("CMD-ARGO-107", True)
    strict = Diagnostics(STRICT)
    strict.join(repo.diagnostics)
    assert strict.collected()[0].severity == "error"


@pytest.mark.requirement("D16")
def test_settings_that_are_rendered_count(repo: Repo) -> None:
    config = "kind: ConfigMap\nmetadata: {name: argocd-cm}\ndata: {application.resourceTrackingMethod: %s}\n"
    repo.write({"a.yaml": app("a", "c")})
    repo.write(chart("apiVersion: v1\n" + config % "label"), "c")
    assert repo.listing().settings.tracking_method == "label"
    assert repo.codes() == []
    # The ConfigMap switches helm off, so that it is not rendered, so that helm is on.
    repo.write(chart("apiVersion: v1\n" + config.replace("resourceTrackingMethod: %s", "x: y, helm.enable: off")), "c")
    repo.listing()
    assert repo.codes() == ["CMD-ARGO-108"]


@pytest.mark.requirement("D26", "D27", "D28")
def test_sets_that_need_what_is_not_there(repo: Repo) -> None:
    generators = "{list: {elements: [{name: one}]}}, {plugin: {configMapRef: {name: p}}}"
    repo.write({"a.yaml": app("a"), "s.yaml": SET % (generators, URL)})
    assert repo.origins() == {"a": "a file", "one": "the ApplicationSet argocd/s"}
    (told,) = repo.diagnostics.collected()
    assert (told.code, told.severity) == ("CMD-ARGO-202", "boundary")
    strict = Diagnostics(STRICT)
    strict.join(repo.diagnostics)
    assert strict.collected()[0].severity == "error"


def test_too_many_applications(repo: Repo) -> None:
    from dataclasses import replace

    repo.write({"a.yaml": "---\n".join(app(name) for name in ("a", "b", "c"))})
    with pytest.raises(CommodoreError) as caught:
        repo.listing(replace(DEFAULT_LIMITS, argocd_applications=2))
    assert caught.value.code == "CMD-ARGO-217"


def test_a_folder_without_applications_says_what_may_render_them(repo: Repo) -> None:
    """The hint names the folder, for new users of app-of-apps charts."""
    repo.write(chart(app("web")), below="apps")
    repo.write(chart("kind: Application\n", "# argoproj.io/\nkind: ApplicationSetting\n"), below="other")
    assert repo.listing().applications == ()
    (told,) = repo.diagnostics.collected()
    assert (told.code, told.hint) == ("CMD-ARGO-011", "render the charts that define them: --entry apps")
    assert [application.name for application in repo.listing(entry=("apps",)).applications] == ["web"]
    umbrella = "name: argocd\ndependencies: [{name: argocd-apps, repository: 'https://x'}]\n"
    repo.write({"Chart.yaml": umbrella}, below="system/argocd")
    repo.listing()
    assert (
        repo.diagnostics.collected()[0].hint
        == "render the charts that define them: --entry apps or --entry system/argocd"
    )


def test_applications_of_jsonnet_that_is_imported(repo: Repo) -> None:
    """Imports of Jsonnet define the objects; the rendered file does not have their kind."""
    root = app("root", path="apps").replace("path: apps", "path: apps, directory: {jsonnet: {libs: [lib]}}")
    files = {"root.yaml": root, "apps/all.jsonnet": "(import 'more.libsonnet').all\n"}
    repo.write({**files, "apps/more.libsonnet": '{all: std.parseYaml(importstr "argo.libsonnet")}'})
    listing = repo.listing()
    assert [application.name for application in listing.applications] == ["root"]
    assert "more.libsonnet" in listing.failures["argocd/root"].message  # it was rendered: the import may define some
    repo.write({"lib/argo.libsonnet": app("web")})
    assert [application.name for application in repo.listing().applications] == ["root", "web"]
    repo.write(
        {"lib/argo.libsonnet": "[]", "apps/all.jsonnet": "import 'broken.libsonnet'", "apps/broken.libsonnet": "{"}
    )
    assert repo.listing().failures == {}  # it was not


def test_a_repository_that_is_a_chart_of_applications(repo: Repo) -> None:
    repo.write({**chart(app("web")), "other.yaml": "# argoproj.io/\nspec:\n  kind: Application\n"})
    assert repo.listing().applications == ()
    assert repo.diagnostics.collected()[0].hint == "render the charts that define them: --entry ."
    assert [application.name for application in repo.listing(entry=(".",)).applications] == ["web"]


def test_an_entry_that_fails_is_not_a_folder_without_applications(repo: Repo) -> None:
    repo.write(chart('{{ fail "no" }}'), below="apps")
    listing = repo.listing(entry=("apps",))
    assert (list(listing.failures), repo.diagnostics.collected()) == (["the entry apps"], ())
