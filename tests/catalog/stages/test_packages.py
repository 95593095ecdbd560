"""Packages, and what they may change."""

from __future__ import annotations

import pytest
import yaml

from tests.world.cluster import ClusterWorld


def classes(**content: object) -> str:
    return yaml.safe_dump(content)


@pytest.mark.requirement("C3", "C8", "C10", "C11", "C20", "C21")
def test_packages_bring_components_and_other_packages(world: ClusterWorld) -> None:
    """A component only named in a package is found, and so is a package named in one."""
    component = world.component("from-package", data={"a": "b"}, include="")
    inner = world.package(
        "inner",
        {"deep/folder/set.yml": classes(parameters={"from_package": {"data": {"package": "inner"}}})},
        include=False,
    )
    world.packages["inner"]["path"] = "deep/folder"
    world.package(
        "outer",
        {
            "all.yml": classes(applications=["pkg.inner", "from-package"], classes=["inner.set"]),
        },
    )
    world.tenant_config.commit({"common.yml": classes(classes=["outer.all"])})
    world.tenant_classes = ["t-one.common"]
    result = world.compile()
    assert result.code == 0, result.stderr
    assert world.manifest("from-package/config.yaml")["data"] == {"a": "b", "package": "inner"}
    assert (world.work / "dependencies" / "pkg.inner" / ".git").is_file()
    link = world.work / "inventory" / "classes" / "inner"
    assert link.is_symlink()
    assert link.resolve() == world.work / "dependencies" / "pkg.inner" / "deep" / "folder"
    assert (component.url, inner.url) == (world.descriptions["from-package"]["url"], world.packages["inner"]["url"])


@pytest.mark.requirement("C18", "C22")
def test_a_package_moves_a_component_to_another_version(world: ClusterWorld) -> None:
    """A package changes a component's version; when it goes, the worktree moves back."""
    component = world.component("app", data={"version": "one"})
    component.tag("v1")
    component.commit(world.component_files("app", {"version": "two"}))
    component.tag("v2")
    world.descriptions["app"]["version"] = "v1"
    world.package("newer", {"set.yml": classes(parameters={"components": {"app": {"version": "v2"}}})})
    world.tenant_classes = ["newer.set"]
    assert world.compile().code == 0
    assert world.manifest("app/config.yaml")["data"] == {"version": "two"}
    world.tenant_classes = []
    world.applications.remove("pkg.newer")
    assert world.compile().code == 0
    assert world.manifest("app/config.yaml")["data"] == {"version": "one"}
    assert not (world.work / "inventory" / "classes" / "newer").exists()


def test_packages_that_remove_each_other_never_settle(world: ClusterWorld) -> None:
    world.package("a", {"set.yml": classes(parameters={"packages": {"a": {"version": "b"}}})})
    world.remotes["pkg.a"].commit({"set.yml": "parameters: {}\n"}, branch="b")
    world.tenant_classes = ["a.set"]
    result = world.compile()
    assert result.code == 1
    assert result.error["code"] == "CMD-DEP-043"
    assert "does not converge: the packages a keep" in result.error["message"]


@pytest.mark.requirement("C10")
def test_an_unknown_package_gets_a_suggestion(world: ClusterWorld) -> None:
    """A package that is not described is an error that names it."""
    world.package("monitoring", {"a.yml": ""}, include=False)
    world.applications.append("pkg.monitorin")
    result = world.compile()
    assert result.code == 1
    assert (result.error["code"], "'monitorin'" in result.error["message"]) == ("CMD-DEP-012", True)
    assert result.error["hint"] == "did you mean 'monitoring'?"
