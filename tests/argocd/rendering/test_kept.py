"""Outputs of helm and kustomize are reused only for the same files and arguments."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commodore.argocd.trees import files_of_kustomization
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.render.output_cache import OutputCache, files_below
from tests.argocd.conftest import OTHER, Argo, chart
from tests.world.folders import write_script

pytestmark = pytest.mark.tools

Runs = Callable[[], list[str]]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Real helm and kustomize behind programs that write down that they ran; gives who ran since it was asked last."""
    import shutil

    log = tmp_path / "log"
    log.touch()
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("helm", "kustomize"):
        real = shutil.which(name)
        program = folder / name
        write_script(program, f'echo $1 >> {log}\nexec {real} "$@"')
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def since() -> list[str]:
        programs = [line for line in log.read_text().split() if line]
        log.write_text("")
        return programs

    return since


@pytest.mark.requirement("D44", "D85")
def test_a_chart_is_rendered_once_until_something_of_it_changes(argo: Argo, runs: Runs) -> None:
    argo.files(chart(), below="web")
    argo.files({"v.yaml": "a: v\n", "f.txt": "f"}, below="web")

    def rendered(**helm: Any) -> tuple[str, int]:
        runs()
        options = {"valueFiles": ["v.yaml"], "fileParameters": [{"name": "f", "path": "f.txt"}], **helm}
        (data,) = argo.objects({"path": "web", "helm": options})
        return data["data"]["values"], runs().count("template")

    assert rendered() == ('{"a":"v","f":"f"}', 1)
    assert rendered() == ('{"a":"v","f":"f"}', 0)
    assert rendered(values="a: w") == ('{"a":"w","f":"f"}', 1)
    argo.files({"v.yaml": "a: x\n"}, below="web")
    assert rendered() == ('{"a":"x","f":"f"}', 1)
    argo.files({"f.txt": "g"}, below="web")
    assert rendered() == ('{"a":"x","f":"g"}', 1)
    argo.files({"values.yaml": "b: c\n"}, below="web")
    assert rendered() == ('{"a":"x","b":"c","f":"g"}', 1)
    argo.limits = DEFAULT_LIMITS.__class__(result_bytes=0)
    assert rendered()[1] == 1


def test_charts_with_random_functions_and_failures_are_not_kept(argo: Argo, runs: Runs) -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: %s}\n"
    argo.files(chart(**{"templates/all.yaml": text % "{{ randAlphaNum 9 }}"}), below="web")
    runs()
    assert argo.objects({"path": "web"}) != argo.objects({"path": "web"})
    assert runs().count("template") == 2


@pytest.mark.requirement("D46", "D62")
def test_a_kustomization_counts_with_its_bases(argo: Argo, runs: Runs) -> None:
    argo.files({"kustomization.yaml": "resources: [../base]\n"}, below="web")
    argo.files(
        {"kustomization.yaml": "resources: [a.yaml]\nconfigMapGenerator: [{name: g, files: [f.txt]}]\n"}, below="base"
    )
    argo.files({"a.yaml": "apiVersion: v1\nkind: A\nmetadata: {name: a}\n", "f.txt": "1"}, below="base")

    def rendered(**kustomize: Any) -> tuple[list[str], int]:
        runs()
        objects = argo.objects({"path": "web", "kustomize": kustomize})
        return [data["metadata"]["name"] for data in objects], runs().count("build")

    names, count = rendered()
    assert (len(names), count) == (2, 1)
    assert rendered() == (names, 0)
    assert rendered(namePrefix="x-")[1] == 1
    assert rendered(namePrefix="x-")[1] == 0
    argo.files({"f.txt": "2"}, below="base")
    changed, count = rendered()
    assert (changed != names, count) == (True, 1)
    argo.files({"f.txt": "3"}, url=OTHER)
    assert rendered()[1] == 0


@pytest.mark.parametrize(
    "text",
    [
        "resources: [https://example.com/a.yaml]\n",
        "resources: [github.com/acme/shop]\n",
        "resources: [../../outside]\n",
        "helmCharts: [{name: c}]\n",
        "generators: [g.yaml]\n",
        "resources: [link]\n",
        "resources: [",
    ],
)
def test_of_some_kustomizations_it_is_not_known_what_is_read(text: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "k").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (root / "k" / "kustomization.yaml").write_text("resources: [a.yaml]\n")
    (root / "k" / "a.yaml").write_text("")
    files = files_of_kustomization(root / "k", root)
    assert files == [f"{root}/k/a.yaml", f"{root}/k/kustomization.yaml"]
    (root / "k" / "kustomization.yaml").write_text(text)
    if "link" in text:
        (root / "k" / "link").symlink_to("a.yaml")
    assert files_of_kustomization(root / "k", root) is None


def test_files_that_change_meanwhile_keep_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_script(tmp_path / "helm", "")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    folder = tmp_path / "chart"
    folder.mkdir()
    file = folder / "a"
    ran = []

    def output(change: str) -> bytes:
        def run() -> bytes:
            ran.append(file.read_text())
            file.write_text(change)
            return ran[-1].encode()

        file.write_text("a")
        kept = OutputCache(tmp_path / "results", DEFAULT_LIMITS)
        return kept.output("helm", [], lambda: files_below(folder, "c"), run)[0]

    assert [output("b"), output("a"), output("b")] == [b"a"] * 3
    assert len(ran) == 2, "the second run was kept"
