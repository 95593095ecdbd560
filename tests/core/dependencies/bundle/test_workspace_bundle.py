"""Content of `vendor` for a compile."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.base.events import Warned
from commodore.base.files.workspace import Workspace
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.dependencies.bundle import BundledComponent, BundleResult, JsonnetFile, bundle, bundle_component
from commodore.core.dependencies.bundle.jsonnetfile import parse_jsonnetfile
from tests.core.dependencies.bundle.conftest import Bundler, Libraries, document, git, parsed


@pytest.fixture
def workspace(bundler: Bundler) -> Workspace:
    workspace = Workspace.at(bundler.folder)
    for name in ("argocd", "prometheus"):
        (workspace.component(name) / "component").mkdir(parents=True)
        (workspace.component(name) / "component" / "main.jsonnet").write_text(f"'{name}'\n", encoding="utf-8")
    workspace.libraries.mkdir()
    (workspace.libraries / "argocd.libsonnet").write_text("'library'\n", encoding="utf-8")
    return workspace


def bundled(workspace: Workspace, bundler: Bundler, **required: JsonnetFile | None) -> BundleResult:
    components = [BundledComponent(name, workspace.component(name), file) for name, file in required.items()]
    bundler.collected.clear()
    return bundle(workspace, components, sources=bundler.sources())


def test_the_workspaces_jsonnetfile_byte_for_byte(workspace: Workspace, bundler: Bundler) -> None:
    bundled(workspace, bundler, prometheus=None, argocd=None)
    assert (
        workspace.jsonnetfile.read_text(encoding="utf-8")
        == """{
    "version": 1,
    "dependencies": [
        {
            "source": {
                "local": {
                    "directory": "dependencies/argocd"
                }
            }
        },
        {
            "source": {
                "local": {
                    "directory": "dependencies/prometheus"
                }
            }
        },
        {
            "source": {
                "local": {
                    "directory": "dependencies/lib"
                }
            }
        }
    ],
    "legacyImports": true
}
"""
    )


@pytest.mark.requirement("C45", "C46", "C49")
def test_components_libraries_and_what_they_require(
    workspace: Workspace, bundler: Bundler, libraries: Libraries
) -> None:
    """Imports `<component>/component/x`, `lib/<library>`, `<legacy name>/x`, `<full name>/x`."""
    libraries.add("lib")
    result = bundled(workspace, bundler, argocd=parsed(git("lib", "master", name="syn")), prometheus=None)
    assert bundler.read("argocd/component/main.jsonnet") == "'argocd'\n"
    assert bundler.read("prometheus/component/main.jsonnet") == "'prometheus'\n"
    assert bundler.read("lib/argocd.libsonnet") == "'library'\n"
    assert bundler.read("syn/main.libsonnet") == bundler.read("git.example.com/org/lib/main.libsonnet") == "'lib'\n"
    lock = parse_jsonnetfile(workspace.jsonnetfile_lock.read_bytes(), "lock", DEFAULT_LIMITS)
    assert lock == result.lock
    names = [entry.package_name(workspace.root) for entry in lock.dependencies]
    assert names == ["argocd", "git.example.com/org/lib", "lib", "prometheus"]


def test_the_first_component_by_name_decides_with_a_warning(
    workspace: Workspace, bundler: Bundler, libraries: Libraries
) -> None:
    """Conflicting versions are resolved silently; the warning names both components."""
    remote = libraries.add("shared", {"version": "1"})
    remote.tag("v1")
    remote.commit({"version": "2"})
    required = {"prometheus": parsed(git("shared", "master")), "argocd": parsed(git("shared", "v1"))}
    result = bundled(workspace, bundler, **required)
    assert bundler.read("git.example.com/org/shared/version") == "1"
    (conflict,) = result.conflicts
    assert (conflict.kept, conflict.kept_by, conflict.dropped, conflict.dropped_by) == (
        "v1",
        "argocd",
        "master",
        "prometheus",
    )
    (warning,) = [event for event in bundler.collected if isinstance(event, Warned)]
    assert "argocd" in warning.message
    assert "prometheus" in warning.message


def test_what_is_rendered_counts_not_what_lies_there(
    workspace: Workspace, bundler: Bundler, libraries: Libraries
) -> None:
    libraries.add("lib")
    (workspace.component("argocd") / "jsonnetfile.json").write_text(document(git("none", "v1")), encoding="utf-8")
    bundled(workspace, bundler, argocd=parsed(git("lib", "master")))
    assert (bundler.vendor / "git.example.com/org/lib").exists()
    (workspace.component("argocd") / "jsonnetfile.json").write_text(document(git("lib", "master")), encoding="utf-8")
    bundled(workspace, bundler, argocd=JsonnetFile())
    assert not (bundler.vendor / "git.example.com").exists()
    bundled(workspace, bundler, argocd=None)
    assert (bundler.vendor / "git.example.com/org/lib").exists()


def test_an_earlier_lock_is_not_kept_to(workspace: Workspace, bundler: Bundler, libraries: Libraries) -> None:
    remote = libraries.add("lib")
    file = parsed(git("lib", "master"))
    first = bundled(workspace, bundler, argocd=file)
    assert bundled(workspace, bundler, argocd=file).reused
    new = remote.commit({"a": "2"})
    second = bundled(workspace, bundler, argocd=file)
    assert not second.reused
    assert second.lock != first.lock
    assert new in workspace.jsonnetfile_lock.read_text(encoding="utf-8")


def test_the_same_components_the_same_bytes_whatever_the_order(
    workspace: Workspace, bundler: Bundler, libraries: Libraries
) -> None:
    libraries.add("lib")
    file = parsed(git("lib", "master"))
    first = bundled(workspace, bundler, argocd=file, prometheus=file)
    files = (workspace.jsonnetfile.read_bytes(), workspace.jsonnetfile_lock.read_bytes())
    second = bundled(workspace, bundler, prometheus=file, argocd=file)
    assert second.reused
    assert second.lock == first.lock
    assert (workspace.jsonnetfile.read_bytes(), workspace.jsonnetfile_lock.read_bytes()) == files


def test_a_component_alone(tmp_path: Path, bundler: Bundler, libraries: Libraries) -> None:
    """`component compile` puts `vendor` into the user's tree and deletes a tracked lock file there."""
    remote = libraries.add("lib", {"version": "1"})
    component = tmp_path / "component-foo"
    component.mkdir()
    (component / "jsonnetfile.lock.json").write_text("{}", encoding="utf-8")
    (tmp_path / "temporary").mkdir()
    vendor = tmp_path / "temporary" / "vendor"
    file = parsed(git("lib", "master"))
    bundle_component(component, file, vendor=vendor, sources=bundler.sources())
    assert (vendor / "lib/version").read_text(encoding="utf-8") == "1"
    assert [path.name for path in component.iterdir()] == ["jsonnetfile.lock.json"]
    remote.commit({"version": "2"})
    bundle_component(component, file, vendor=vendor, sources=bundler.sources())
    assert (vendor / "lib/version").read_text(encoding="utf-8") == "2"
