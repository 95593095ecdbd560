"""Which program is called, and what it takes from its user's configuration."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commodore.engine.reuse.programs import Programs, defaults_digest, tool_digest
from commodore.limits import DEFAULT_LIMITS


def program(folder: Path, name: str, text: str = "echo 1") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def digest(tmp_path: Path, name: str, *folders: str, directory: Path | None = None, **environment: str) -> str:
    path = os.pathsep.join([*folders, "/usr/bin", "/bin"])
    programs = Programs({"PATH": path, **environment}, directory or tmp_path, tmp_path / "memory.json", DEFAULT_LIMITS)
    return tool_digest(name, programs)


def test_content_counts_and_place_does_not(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    program(one, "helm")
    program(two, "helm")
    first = digest(tmp_path, "helm", str(one))
    assert digest(tmp_path, "helm", str(two)) == first
    program(two, "helm", "echo 1 # changed")
    assert digest(tmp_path, "helm", str(two)) != first
    assert digest(tmp_path, "helm", str(two), str(one)) != digest(tmp_path, "helm", str(one), str(two))
    assert digest(tmp_path, "helm", str(tmp_path / "none")) == "missing"


def test_content_that_changes_without_a_new_size_counts(tmp_path: Path) -> None:
    """Digests are remembered by size and times; a file that is being written may get both again."""
    file = program(tmp_path / "one", "helm", "echo 1")
    first = digest(tmp_path, "helm", str(file.parent))
    times = file.stat()
    program(file.parent, "helm", "echo 2")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert digest(tmp_path, "helm", str(file.parent)) != first


def test_a_starter_counts_by_what_it_starts(tmp_path: Path) -> None:
    one = program(tmp_path / "one", "helm", f'. "{tmp_path}/version"; echo "$VERSION $MORE"').parent
    (tmp_path / "version").write_text("VERSION=1")
    first = digest(tmp_path, "helm", str(one))
    assert digest(tmp_path, "helm", str(one), MORE="x") != first
    (tmp_path / "version").write_text("VERSION=2")
    assert digest(tmp_path, "helm", str(one)) != first


def test_paths_are_relative_to_the_folder_of_the_run(tmp_path: Path) -> None:
    first = digest(tmp_path, "helm", "bin", directory=program(tmp_path / "one/bin", "helm").parent.parent)
    second = digest(tmp_path, "helm", "bin", directory=program(tmp_path / "two/bin", "helm", "echo 2").parent.parent)
    assert first != second != "missing"
    assert digest(tmp_path, "bin/helm", directory=tmp_path / "two") == second
    assert digest(tmp_path, "bin/helm", directory=tmp_path / "none") == "missing"


def test_kustomize_is_what_the_wrapper_takes_for_it(tmp_path: Path) -> None:
    folder = str(program(tmp_path / "one", "kubectl").parent)
    assert digest(tmp_path, "kustomize", folder).startswith("kubectl ")
    program(tmp_path / "one", "kustomize")
    assert digest(tmp_path, "kustomize", folder).startswith("kustomize ")


@pytest.mark.parametrize("damage", ["[]", "{", '{"x": 1}', "null"])
def test_a_damaged_memory_is_none(tmp_path: Path, damage: str) -> None:
    folder = str(program(tmp_path / "one", "helm").parent)
    first = digest(tmp_path, "helm", folder)
    (tmp_path / "memory.json").write_text(damage)
    assert digest(tmp_path, "helm", folder) == first


def test_defaults_of_users(tmp_path: Path) -> None:
    config = tmp_path / ".kube/config"
    config.parent.mkdir()
    seen = [defaults_digest("helm", {"HOME": str(tmp_path)})]
    for text in (
        "{current-context: a, contexts: [{name: a, context: {namespace: x}}]}",
        "{current-context: b, contexts: [{name: a, context: {namespace: x}}]}",
        "{current-context: a, contexts: [{name: a, context: {namespace: y}}]}",
        "no: [yaml",
    ):
        config.write_text(text)
        seen.append(defaults_digest("helm", {"HOME": str(tmp_path)}))
    seen.append(defaults_digest("helm", {"HOME": str(tmp_path), "KUBERNETES_SERVICE_HOST": "x", "POD_NAMESPACE": "p"}))
    assert len(set(seen)) == len(seen)
    assert defaults_digest("helm", {"HOME": str(tmp_path), "OTHER": "x"}) == seen[-2]
    assert defaults_digest("helm", {"HOME": "/none", "KUBECONFIG": str(config)}) == seen[-2]
    kubectl = defaults_digest("kubectl", {"HOME": str(tmp_path)})
    assert defaults_digest("kubectl", {"HOME": str(tmp_path), "KUBECTL_KUBERC": "false"}) != kubectl
