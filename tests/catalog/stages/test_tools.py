"""The tools that a compile needs, and their paths for its workers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import EnvironmentFault, Findings
from commodore.base.events import ignore
from commodore.catalog.stages.components import kustomize_wrapper
from commodore.catalog.stages.tools import check_tools, needed_tools, tool_environment
from commodore.core.tools import managed_folder
from tests.world.context import make_context
from tests.world.folders import write_script


def node(*entries: Any, dependencies: Any = ()) -> dict[str, Any]:
    return {"parameters": {"kapitan": {"compile": list(entries), "dependencies": list(dependencies)}}}


def put(folder: Path, name: str, said: str = "") -> Path:
    return write_script(folder / name, f"echo '{said}'")


@pytest.mark.parametrize(
    ("given", "needed"),
    [
        (node(), set()),
        (node({"input_type": "jsonnet"}, {"input_type": "copy"}, {"input_type": "external"}), set()),
        (node({"input_type": "helm"}), {"helm"}),
        (node({"input_type": "helm", "helm_path": "/opt/helm"}), set()),
        (node({"input_type": "kustomize"}, {"input_type": "helm"}), {"helm", "kustomize"}),
        (node({"input_type": "external", "input_paths": [str(kustomize_wrapper())]}), {"kustomize"}),
        (node({"input_type": "external", "input_paths": ["make"]}), set()),
        (node(dependencies=[{"type": "helm"}, {"type": "git"}]), {"helm"}),
        ({}, set()),
        ({"parameters": {"kapitan": [1]}}, set()),
        ({"parameters": {"kapitan": {"compile": [1, {"input_type": []}], "dependencies": 7}}}, set()),
    ],
)
def test_what_is_needed(given: dict[str, Any], needed: set[str]) -> None:
    assert needed_tools(given) == needed


@pytest.mark.tools
def test_only_what_is_needed_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "bin", "helm", "v2.17.0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    check_tools([("app", node())], make_context(announce=ignore))
    with pytest.raises(EnvironmentFault) as caught:
        check_tools([("app", node({"input_type": "helm"}))], make_context(announce=ignore))
    assert caught.value.code == "CMD-TOOL-025"


def test_missing_tools_are_named_with_what_needs_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    helm, both = node({"input_type": "helm"}), node({"input_type": "helm"}, {"input_type": "kustomize"})
    with pytest.raises(Findings) as caught:
        check_tools([("b", helm), ("a", both), ("c", node())], make_context(announce=ignore))
    first, second = caught.value.errors
    assert (first.code, first.hint) == ("CMD-TOOL-034", "commodore tool install helm")
    assert first.message == "helm was not found, and instances a, b need it"
    assert second.message == "kustomize was not found, and instance a needs it"


def test_workers_find_managed_tools_behind_those_in_path(tmp_path: Path) -> None:
    environ = {"PATH": str(tmp_path)}
    assert tool_environment(environ) == {}
    put(managed_folder(), "helm")
    assert tool_environment(environ) == {"PATH": f"{tmp_path}:{managed_folder()}"}


def test_workers_find_the_kustomize_of_kubectl(tmp_path: Path) -> None:
    put(tmp_path, "kubectl")
    folder = kustomize_wrapper().parent / "kubectl-kustomize"
    assert os.access(folder / "kustomize", os.X_OK)
    assert tool_environment({"PATH": str(tmp_path)}) == {"PATH": f"{tmp_path}:{folder}"}
    put(tmp_path, "kustomize")
    assert tool_environment({"PATH": str(tmp_path)}) == {}
