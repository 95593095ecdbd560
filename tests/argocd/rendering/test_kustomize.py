"""Kustomize sources."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from commodore.argocd.configuration.profiles import PROFILES
from commodore.argocd.rendering import Capabilities
from commodore.base.errors import CommodoreError, InputError
from tests.argocd.conftest import Argo, config_map
from tests.world.folders import write_script
from tests.world.loopback import LoopbackHandler, LoopbackServer
from tests.world.repos import git

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "nginx:1"}]}
"""


@pytest.fixture
def web(argo: Argo) -> Argo:
    files = {
        "base/kustomization.yaml": "resources: [web.yaml]\n",
        "base/web.yaml": DEPLOYMENT,
        "prod/kustomization.yaml": "resources: [../base]\ncommonAnnotations: {team: a}\n",
        "extra/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
        "resources: [x.yaml]\n",
        "extra/x.yaml": config_map("x"),
    }
    argo.files(files)
    return argo


def kustomize(**options: Any) -> dict[str, Any]:
    return {"path": "prod", "kustomize": options}


def deployment(argo: Argo, **options: Any) -> Any:
    return next(data for data in argo.objects(kustomize(**options)) if data["kind"] == "Deployment")


@pytest.mark.requirement("D44", "D46")
def test_a_build_and_its_edits(web: Argo) -> None:
    before = {path: path.read_bytes() for path in web.folder().rglob("*") if path.is_file()}
    assert deployment(web)["metadata"] == {"name": "web", "annotations": {"team": "a"}}
    data = deployment(web, namePrefix="a-", nameSuffix="-b", namespace="n")
    assert (data["metadata"]["name"], data["metadata"]["namespace"]) == ("a-web-b", "n")
    assert deployment(web, replicas=[{"name": "web", "count": "3"}])["spec"]["replicas"] == 3
    assert len(web.objects(kustomize(components=["../extra"]))) == 2
    assert len(web.objects(kustomize(components=["../none"], ignoreMissingComponents=True))) == 1
    patch = {"patch": '[{"op": "replace", "path": "/spec/replicas", "value": 7}]', "target": {"kind": "Deployment"}}
    assert deployment(web, patches=[patch])["spec"]["replicas"] == 7
    assert {path: path.read_bytes() for path in web.folder().rglob("*") if path.is_file()} == before


@pytest.mark.requirement("D46")
@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("nginx:2", "nginx:2"),
        ("nginx=example.com:5000/n", "example.com:5000/n:1"),
        ("nginx=example.com/n:3", "example.com/n:3"),
        ("nginx@sha256:abc", "nginx@sha256:abc"),
        ("nginx=*:4", "nginx:4"),
        ("nginx:$ARGOCD_APP_NAME", "nginx:shop"),
    ],
)
def test_images(image: str, expected: str, web: Argo) -> None:
    containers = deployment(web, images=[image])["spec"]["template"]["spec"]["containers"]
    assert containers[0]["image"] == expected


@pytest.mark.requirement("D46")
def test_labels(web: Argo) -> None:
    data = deployment(web, commonLabels={"env": "$ARGOCD_APP_NAME"})
    assert data["metadata"]["labels"] == {"env": "shop"}
    assert data["spec"]["selector"]["matchLabels"] == {"app": "web", "env": "shop"}
    data = deployment(web, commonLabels={"env": "x"}, labelWithoutSelector=True)
    assert (data["metadata"]["labels"], data["spec"]["selector"]["matchLabels"]) == ({"env": "x"}, {"app": "web"})
    assert data["spec"]["template"]["metadata"]["labels"] == {"app": "web"}
    data = deployment(web, commonLabels={"env": "x"}, labelWithoutSelector=True, labelIncludeTemplates=True)
    assert data["spec"]["template"]["metadata"]["labels"] == {"app": "web", "env": "x"}


def test_annotations(web: Argo) -> None:
    data = deployment(web, commonAnnotations={"a": "$ARGOCD_APP_NAME"})
    assert data["metadata"]["annotations"] == {"team": "a", "a": "$ARGOCD_APP_NAME"}
    data = deployment(web, commonAnnotations={"a": "$ARGOCD_APP_NAME"}, commonAnnotationsEnvsubst=True)
    assert data["metadata"]["annotations"]["a"] == "shop"
    data = deployment(web, commonAnnotations={"team": "b"}, forceCommonAnnotations=True)
    assert data["metadata"]["annotations"] == {"team": "b"}


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"commonAnnotations": {"team": "b"}}, "CMD-ARGO-412"),
        ({"commonLabels": {"a": "b"}, "labelIncludeTemplates": True}, "CMD-ARGO-412"),
        ({"commonLabels": {"a": "not a label"}}, "CMD-ARGO-412"),
        ({"images": ["nginx"]}, "CMD-ARGO-412"),
        ({"namespace": "Not/One"}, "CMD-ARGO-412"),
        ({"replicas": [{"name": "web", "count": "many"}]}, "CMD-ARGO-103"),
        ({"version": "v9.9.9"}, "CMD-ARGO-411"),
        ({"components": ["../../../etc"]}, "CMD-ARGO-408"),
        ({"components": ["../none"]}, "CMD-ARGO-410"),
        ({"patches": [{"patch": "- op: [", "target": {"kind": "A"}}]}, "CMD-ARGO-410"),
    ],
)
def test_what_is_refused(options: dict[str, Any], code: str, web: Argo) -> None:
    with pytest.raises(CommodoreError) as caught:
        web.objects(kustomize(**options))
    assert caught.value.code == code
    assert str(web.root) not in caught.value.message


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("--enable-exec", "CMD-ARGO-420"),
        ("--network=true", "CMD-ARGO-420"),
        ("-e HOME", "CMD-ARGO-420"),
        ("-o /tmp/x", "CMD-ARGO-410"),
        ("--no-such-option", "CMD-ARGO-410"),
    ],
)
def test_build_options_that_are_refused(words: str, code: str, web: Argo) -> None:
    web.config["kustomize.buildOptions"] = words
    with pytest.raises(CommodoreError) as caught:
        web.objects({"path": "prod"})
    assert caught.value.code == code


@pytest.mark.requirement("D46")
def test_build_options(web: Argo) -> None:
    web.files({"far/kustomization.yaml": "resources: [../base/web.yaml]\n"})
    with pytest.raises(CommodoreError):
        web.objects({"path": "far"})
    web.config["kustomize.buildOptions"] = "--load-restrictor LoadRestrictionsNone"
    assert len(web.objects({"path": "far"})) == 1


def test_charts_without_the_option_say_what_argo_cd_needs(argo: Argo) -> None:
    argo.files({"app/kustomization.yaml": "helmCharts: [{name: web, repo: 'https://charts.example.com'}]\n"})
    with pytest.raises(InputError) as caught:
        argo.objects({"path": "app"})
    assert (caught.value.code, "--enable-helm" in caught.value.message) == ("CMD-ARGO-410", True)
    assert "kustomize.buildOptions: --enable-helm" in caught.value.hint


@pytest.mark.requirement("D48")
def test_charts_of_a_kustomization(argo: Argo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kustomize unpacks charts into the kustomization's folder, so it runs in a copy, with our helm and options for
    it.
    """
    program = tmp_path / "bin" / "kustomize"
    write_script(program, "for last; do :; done\ntouch \"$2/charts\"\necho 'kind: A'\necho \"metadata: {name: '$*'}\"")
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    argo.files({"app/kustomization.yaml": "helmCharts: [{name: web}]\n"})
    argo.config["kustomize.buildOptions"] = "--enable-helm"
    argo.capabilities = Capabilities("1.30", ("a/v1", "b/v1"))
    before = sorted(argo.folder().rglob("*"))
    (data,) = argo.objects({"path": "app"})
    said = data["metadata"]["name"].split()
    assert said[0] == "build"
    assert said[2:-1] == [
        "--enable-helm",
        *("--helm-kube-version", "1.30.0", "--helm-api-versions", "a/v1", "--helm-api-versions", "b/v1"),
        "--helm-command",
    ]
    assert Path(said[-1]).name == "helm"
    assert sorted(argo.folder().rglob("*")) == before


def test_a_copy_has_what_a_kustomization_may_read(argo: Argo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To copy all of a large repository takes longer than a build, and there is a copy for each kustomization."""
    program = tmp_path / "bin" / "kustomize"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\necho 'kind: A'\necho 'metadata: {name: a}'\necho files:\n"
        'for one in */* */*/* */*/*/*; do [ -f "$one" ] && echo "- $one"; done; exit 0\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    kustomization = (
        "Resources: [../base]\nhelmGlobals: {chartHome: ../all/charts}\nhelmCharts: [{name: web, repo: 'https://x'}]\n"
    )
    files = {
        "app/kustomization.yaml": kustomization,
        "app/values.yaml": "",
        "base/kustomization.yaml": "{}",
        "all/charts/web/Chart.yaml": "",
        "all/other.yaml": "",
        "other/kustomization.yaml": "helmCharts: [{name: web}]\n",
    }
    argo.files(files)
    argo.config["kustomize.buildOptions"] = "--enable-helm"
    needed = ["all/charts/web/Chart.yaml", "app/kustomization.yaml", "app/values.yaml", "base/kustomization.yaml"]
    (data,) = argo.objects({"path": "app"})
    assert sorted(data["files"]) == needed
    (data,) = argo.objects({"path": "base", "kustomize": {"components": ["../extra"], "ignoreMissingComponents": True}})
    assert data["files"] == ["base/kustomization.yaml"]
    argo.files({"app/kustomization.yaml": kustomization + "generators: [g.yaml]\n"})
    (data,) = argo.objects({"path": "app"})
    assert sorted(data["files"]) == sorted(files)  # its own programs may read any of them


def test_a_kustomization_is_one_file(web: Argo) -> None:
    web.files({"prod/kustomization.yml": "resources: []\n"})
    with pytest.raises(CommodoreError) as caught:
        web.objects(kustomize(namePrefix="a-"))
    assert caught.value.code == "CMD-ARGO-410"
    with pytest.raises(CommodoreError) as caught:
        web.objects({"path": "extra/..", "kustomize": {"namePrefix": "a-"}})
    assert caught.value.code == "CMD-ARGO-410"


@pytest.mark.requirement("D2")
@pytest.mark.parametrize(
    "content",
    [
        "resources: ['https://127.0.0.1:1/a.yaml']",
        "resources: ['https://example.invalid/b?ref=main']",
        "resources: ['github.com/example/b//c?ref=v1']",
        "components: ['https://example.invalid/a/b//c?ref=main']",
        "crds: ['https://example.invalid/a.yaml']",
    ],
)
def test_remote_parts_are_not_asked_for_offline(content: str, argo: Argo) -> None:
    argo.files({"kustomization.yaml": content})
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"path": "."})
    assert (caught.value.code, caught.value.family) == ("CMD-ARGO-310", "environment")


@pytest.mark.requirement("D50")
def test_remote_files_of_all_kinds_and_their_names_in_errors(argo: Argo) -> None:
    argo.offline = False
    with Files() as server:
        argo.files(
            {
                "kustomization.yaml": f"resources: [base]\npatches: [{{path: '{server.site}/p.yaml?token=s3cret'}}]\n",
                "base/kustomization.yaml": f"resources: ['{server.site}/a']\n",
            }
        )
        (data,) = argo.objects({"path": "."})
        assert data["metadata"]["name"] == "remote"
        assert sorted(server.asked) == ["/a", "/p.yaml?token=s3cret"]
        argo.files({"kustomization.yaml": f"resources: [base]\npatches: [{{path: '{server.site}/none'}}]\n"})
        argo.offline = True
        with pytest.raises(CommodoreError, match=f"{server.site}/none is not in the cache"):
            argo.objects({"path": "."})


@pytest.mark.requirement("D50")
def test_programs_find_what_a_kustomize_that_is_a_script_needs(
    argo: Argo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "kustomize"
    real = shutil.which("kustomize")
    write_script(program, f'cat /dev/null; exec "$(readlink -f {real})" "$@"')
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    argo.files({"kustomization.yaml": "configMapGenerator: [{name: a}]\n"})
    assert len(argo.objects({"path": "."})) == 1


@pytest.mark.requirement("D80")
def test_overrides_choose_no_version_before_3_2(argo: Argo) -> None:
    argo.files({"kustomization.yaml": "resources: []\n", ".argocd-source.yaml": "kustomize: {version: v9}\n"})
    argo.profile = PROFILES[1]
    assert argo.objects({"path": "."}) == []
    argo.profile = PROFILES[2]
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"path": "."})
    assert caught.value.code == "CMD-ARGO-411"


def test_errors_begin_with_their_cause_and_all_of_it_is_info(argo: Argo) -> None:
    """Before that, kustomize warns of deprecated fields."""
    argo.files({"kustomization.yaml": "patchesStrategicMerge: [a.yaml]\nresources: [none.yaml]\n"}, below="k")
    with pytest.raises(InputError) as caught:
        argo.objects({"path": "k"})
    assert caught.value.message == "kustomize build fails: k/none.yaml, which a kustomization names, does not exist"
    (info,) = argo.diagnostics.collected()
    assert (info.code, info.severity) == ("CMD-ARGO-410", "info")
    assert info.message.startswith("kustomize says: error: accumulating resources")


def test_errors_of_the_kustomize_within_kubectl_have_no_time(argo: Argo, tmp_path: Path, monkeypatch: Any) -> None:
    log = 'E1123 02:08:10.808726   20691 run.go:72] "command failed" err="no \\"a\\" in b"'
    program = tmp_path / "bin" / "kubectl"
    write_script(program, f"echo '{log}' >&2\nexit 1")
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    argo.files({"kustomization.yaml": "resources: []\n"})
    with pytest.raises(CommodoreError) as caught:
        argo.objects({"path": "."})
    assert caught.value.message == 'kustomize build fails: no "a" in b'


class _Files(LoopbackHandler):
    world: Files

    def answer(self) -> None:
        self.world.asked.append(self.path)
        self.send(200, {}, config_map("remote").encode())


class Files(LoopbackServer):
    """A web server that has the same manifest everywhere."""

    def __init__(self) -> None:
        super().__init__(_Files)
        self.asked: list[str] = []


@pytest.mark.requirement("D2", "D50")
def test_remote_files_and_bases(argo: Argo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of a web server and a folder of a git repository; the user's own rules for URLs lead to the latter."""
    base = tmp_path / "bases" / "team" / "base.git"
    (base / "deep").mkdir(parents=True)
    (base / "deep" / "kustomization.yaml").write_text("resources: [a.yaml]\n")
    (base / "deep" / "a.yaml").write_text(config_map("based"))
    git(base, "init", "-q", "-b", "main")
    git(base, "add", ".")
    git(base, "commit", "-qm", "one")
    git(base, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(base, "config", "--global", f"url.file://{tmp_path}/bases/.insteadOf", "https://git.example.com/")
    argo.offline = False
    with Files() as server:
        argo.files(
            {
                "kustomization.yaml": f"resources: ['{server.site}/a.yaml', "
                "'https://git.example.com/team/base.git//deep?ref=main']\n"
            }
        )
        names = sorted(data["metadata"]["name"] for data in argo.objects({"path": "."}))
        assert (names, server.asked) == (["based", "remote"], ["/a.yaml"])
        argo.offline = True
        assert sorted(data["metadata"]["name"] for data in argo.objects({"path": "."})) == names
        assert (server.asked, [diagnostic.code for diagnostic in argo.diagnostics.collected()]) == (
            ["/a.yaml"],
            ["CMD-ARGO-321"] * 2,
        )
