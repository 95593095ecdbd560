"""The hierarchy on disk: exactly what the run names, links that stay inside, nothing written twice."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import EnvironmentFault, Findings, InputError
from commodore.base.files.workspace import Workspace
from commodore.base.yaml import load
from commodore.core.inventory import (
    ClassLinks,
    Target,
    bootstrap_target,
    cluster_parameters,
    foreign_class_folders,
    link_classes,
    link_packages,
    prune_classes,
    read_cluster_params,
    write_cluster_params,
    write_targets,
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def component(
    workspace: Workspace, instance: str, name: str = "", *, sub: str = "", defaults: bool = True
) -> ClassLinks:
    name = name or instance
    checkout = workspace.component(instance)
    directory = checkout / sub
    (directory / "class").mkdir(parents=True)
    (directory / "class" / f"{name}.yml").write_text("{}")
    if defaults:
        (directory / "class" / "defaults.yml").write_text("{}")
    return ClassLinks(instance, name, directory, checkout)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class TestParameters:
    def test_the_facts_class(self, workspace: Workspace) -> None:
        """One document with `cluster`, `facts` and `dynamic_facts`."""
        given = {
            "cluster": cluster_parameters(
                name="c-x", display_name="X", catalog_url="ssh://x", tenant="t-x", tenant_display_name="T"
            ),
            "facts": {"cloud": "c1"},
            "dynamic_facts": {},
        }
        write_cluster_params(workspace, given)
        content = workspace.cluster_params.read_bytes()
        assert load(content, place="") == {"parameters": given}
        before = workspace.cluster_params.stat().st_ino
        write_cluster_params(workspace, dict(reversed(given.items())))
        assert workspace.cluster_params.read_bytes() == content
        assert workspace.cluster_params.stat().st_ino == before  # not written again

    def test_reading_it_back(self, workspace: Workspace) -> None:
        """Local mode has its cluster from there."""
        given = {"cluster": {"name": "c-x", "tenant": "t-x"}, "facts": {"a": "1"}}
        write_cluster_params(workspace, given)
        write_targets(workspace, [bootstrap_target()])
        assert read_cluster_params(workspace) == given

    @pytest.mark.parametrize("missing", ["params", "target"])
    def test_nothing_to_read_back(self, workspace: Workspace, missing: str) -> None:
        write_cluster_params(workspace, {"cluster": {"name": "c-x", "tenant": "t-x"}})
        write_targets(workspace, [bootstrap_target()])
        (workspace.cluster_params if missing == "params" else workspace.target("cluster")).unlink()
        with pytest.raises(InputError) as raised:
            read_cluster_params(workspace)
        assert raised.value.code == "CMD-INV-011"
        assert raised.value.hint == "run once without --local"

    @pytest.mark.parametrize(
        ("content", "code"),
        [
            ("", "CMD-INV-012"),
            ("[]", "CMD-INV-012"),
            ("parameters: []", "CMD-INV-012"),
            ("parameters: {cluster: 1}", "CMD-INV-012"),
            ("parameters: {cluster: {name: c}}", "CMD-INV-012"),
            ("parameters: {cluster: {name: 1, tenant: t}}", "CMD-INV-012"),
            ("parameters: [", "CMD-YAML-001"),
            ("parameters: {cluster: {name: c, tenant: ../../x}}", "CMD-NAME-001"),
            ("parameters: {cluster: {name: c, tenant: global}}", "CMD-NAME-002"),
        ],
    )
    def test_damaged_facts(self, workspace: Workspace, content: str, code: str) -> None:
        """The tenant's name is a folder's: a damaged file must not lead elsewhere."""
        write_targets(workspace, [bootstrap_target()])
        workspace.cluster_params.parent.mkdir(parents=True)
        workspace.cluster_params.write_text(content)
        with pytest.raises(InputError) as raised:
            read_cluster_params(workspace)
        assert raised.value.code == code


class TestWriteTargets:
    def test_exactly_these(self, workspace: Workspace) -> None:
        """Leftovers of an earlier run do not count, hidden ones and folders neither."""
        write_targets(workspace, [bootstrap_target(), Target("old", (), {})])
        (workspace.targets / ".hidden.yml").write_text("")
        (workspace.targets / "folder").mkdir()
        before = workspace.target("cluster").stat().st_ino
        write_targets(workspace, [bootstrap_target(), Target("new", ("a",), {"x": 1})])
        assert names(workspace.targets) == ["cluster.yml", "new.yml"]
        assert workspace.target("cluster").stat().st_ino == before
        assert load(workspace.target("new").read_bytes(), place="") == {"classes": ["a"], "parameters": {"x": 1}}

    def test_none(self, workspace: Workspace) -> None:
        write_targets(workspace, [])
        assert names(workspace.targets) == []


class TestLinkClasses:
    @pytest.mark.requirement("C20")
    def test_the_links(self, workspace: Workspace) -> None:
        """Relative links to the sub-directory; an alias's files carry the component's name."""
        links = [component(workspace, "nfs", sub="a/b"), component(workspace, "share", "nfs")]
        assert link_classes(workspace, reversed(links)) == ["nfs", "share"]
        up = "../../../dependencies"
        assert {path.name: os.readlink(path) for path in workspace.component_classes.iterdir()} == {
            "nfs.yml": f"{up}/nfs/a/b/class/nfs.yml",
            "share.yml": f"{up}/share/class/nfs.yml",
        }
        assert {path.name: os.readlink(path) for path in workspace.defaults_classes.iterdir()} == {
            "nfs.yml": f"{up}/nfs/a/b/class/defaults.yml",
            "share.yml": f"{up}/share/class/defaults.yml",
        }

    def test_exactly_these(self, workspace: Workspace) -> None:
        first, two = component(workspace, "one"), component(workspace, "two")
        link_classes(workspace, [first, two])
        (workspace.component_classes / ".left").write_text("")
        (workspace.defaults_classes / "left.yml").symlink_to("nowhere")
        (two.directory / "class" / "defaults.yml").unlink()
        assert link_classes(workspace, [two]) == []
        assert names(workspace.component_classes) == ["two.yml"]
        assert names(workspace.defaults_classes) == []

    def test_without_a_class_file(self, workspace: Workspace) -> None:
        """All components are named at once; defaults are optional."""
        links = [component(workspace, name, defaults=False) for name in ("a", "b", "c")]
        for link in links[:2]:
            link.component_class.unlink()
        with pytest.raises(Findings) as raised:
            link_classes(workspace, links)
        assert [error.code for error in raised.value.errors] == ["CMD-INV-009", "CMD-INV-009"]
        assert "component 'a' has no class file class/a.yml" in raised.value.errors[0].message
        assert "`path`" in raised.value.errors[0].hint

    @pytest.mark.parametrize("file", ["defaults.yml", "nfs.yml"])
    @pytest.mark.parametrize("target", ["/etc/passwd", "../../../secret", "../../../dependencies/other/x"])
    def test_class_files_that_lead_out(self, workspace: Workspace, file: str, target: str) -> None:
        """Class files may be links to any file of the machine."""
        (workspace.root / "secret").write_text("password: x")
        (workspace.component("other")).mkdir(parents=True)
        (workspace.component("other") / "x").write_text("")
        link = component(workspace, "nfs")
        (link.directory / "class" / file).unlink()
        (link.directory / "class" / file).symlink_to(target)
        with pytest.raises(InputError) as raised:
            link_classes(workspace, [link])
        assert raised.value.code == "CMD-INV-010"
        assert f"class/{file} of component 'nfs'" in raised.value.message

    def test_links_inside_the_repository(self, workspace: Workspace) -> None:
        link = component(workspace, "nfs", sub="sub")
        link.defaults_class.rename(link.checkout / "shared.yml")
        link.defaults_class.symlink_to("../../shared.yml")
        assert link_classes(workspace, [link]) == ["nfs"]

    @pytest.mark.parametrize("file", ["defaults.yml", "nfs.yml"])
    def test_dangling_class_files(self, workspace: Workspace, file: str) -> None:
        """The component is named; missing defaults and defaults that dangle differ."""
        link = component(workspace, "nfs")
        (link.directory / "class" / file).unlink()
        (link.directory / "class" / file).symlink_to("nowhere.yml")
        with pytest.raises(InputError) as raised:
            link_classes(workspace, [link])
        assert raised.value.code == "CMD-INV-023"
        assert f"class/{file} of component 'nfs' is a link to nowhere.yml" in raised.value.message

    def test_a_folder_in_the_way(self, workspace: Workspace) -> None:
        """A folder in a link's place is kept."""
        (workspace.component_classes / "nfs.yml").mkdir(parents=True)
        with pytest.raises(EnvironmentFault) as raised:
            link_classes(workspace, [component(workspace, "nfs")])
        assert raised.value.code == "CMD-WORK-004"


class TestLinkPackages:
    def package(self, workspace: Workspace, name: str, sub: str = "") -> Path:
        directory = workspace.package(name) / sub
        directory.mkdir(parents=True)
        (directory / "common.yml").write_text("{}")
        return directory

    @pytest.mark.requirement("C20")
    def test_the_links(self, workspace: Workspace) -> None:
        """The package's sub-directory is a class folder."""
        packages = {"mon": self.package(workspace, "mon", "sub"), "net": self.package(workspace, "net")}
        workspace.tenant_config("t-x").mkdir(parents=True)
        link_packages(workspace, packages, "t-x")
        assert os.readlink(workspace.classes / "mon") == "../../dependencies/pkg.mon/sub"
        assert (workspace.classes / "net" / "common.yml").is_file()

    def test_what_the_run_does_not_know_goes(self, workspace: Workspace) -> None:
        """Links and files go; folders, which may hold work, are for `foreign_class_folders` to report."""
        link_packages(workspace, {"mon": self.package(workspace, "mon")}, "t-x")
        for folder in ("t-x", "t-other", "global", "components"):
            (workspace.classes / folder).mkdir()
        (workspace.classes / "stray.yml").write_text("")
        (workspace.classes / "params").symlink_to("global")
        link_packages(workspace, {}, "t-x")
        assert names(workspace.classes) == ["components", "global", "params", "t-other", "t-x"]
        assert foreign_class_folders(workspace, {"t-x"}) == [workspace.classes / "t-other"]

    def test_before_anything_is_there(self, workspace: Workspace) -> None:
        link_packages(workspace, {}, "t-x")
        prune_classes(workspace, ())
        assert foreign_class_folders(workspace, ()) == []

    def test_the_tenants_name(self, workspace: Workspace) -> None:
        workspace.tenant_config("acme").mkdir(parents=True)
        with pytest.raises(InputError) as raised:
            link_packages(workspace, {"acme": self.package(workspace, "acme")}, "acme")
        assert raised.value.code == "CMD-INV-025"
        assert "'acme'" in raised.value.message

    @pytest.mark.parametrize(
        ("link", "target", "code"),
        [
            ("secret.yml", "/etc/passwd", "CMD-INV-010"),
            ("secret.yaml", "../../../outside", "CMD-INV-010"),
            ("deep/folder", "/etc", "CMD-INV-010"),
            ("deep/folder", "../../../pkg.other", "CMD-INV-010"),
            ("gone.yml", "nowhere", "CMD-INV-023"),
            ("gone", "nowhere", "CMD-INV-023"),
        ],
    )
    def test_links_in_packages(self, workspace: Workspace, link: str, target: str, code: str) -> None:
        """Links to files of the machine, links that dangle; the package is named."""
        directory = self.package(workspace, "mon", "sub")
        self.package(workspace, "other")
        (workspace.root / "outside").write_text("")
        (directory / "deep").mkdir()
        (directory / link).symlink_to(target)
        with pytest.raises(InputError) as raised:
            link_packages(workspace, {"mon": directory}, "t-x")
        assert raised.value.code == code
        assert f"{link} of package 'mon'" in raised.value.message
        assert str(raised.value.locations[0]) == str(directory / link)
        assert not (workspace.classes / "mon").exists()

    def test_links_that_are_fine(self, workspace: Workspace) -> None:
        directory = self.package(workspace, "mon", "sub")
        (workspace.package("mon") / "shared").mkdir()
        (directory / "shared").symlink_to("../shared")
        (directory / "same.yml").symlink_to("common.yml")
        (directory / "README").symlink_to("/etc/passwd")  # no class; nobody reads it
        (directory / ".git").mkdir()
        (directory / ".git" / "x").symlink_to("nowhere")
        link_packages(workspace, {"mon": directory}, "t-x")
        assert (workspace.classes / "mon" / "same.yml").exists()

    def test_an_authors_own_folder_is_not_looked_into(self, workspace: Workspace, tmp_path: Path) -> None:
        mine = tmp_path / "mine"
        mine.mkdir()
        (mine / "up.yml").symlink_to("../mine/x.yml")
        link_packages(workspace, {"mine": mine}, "t-x")
        assert (workspace.classes / "mine").is_dir()

    def test_all_are_reported(self, workspace: Workspace) -> None:
        packages: dict[str, Any] = {}
        for name in ("a", "b"):
            packages[name] = self.package(workspace, name)
            (packages[name] / "x.yml").symlink_to("nowhere")
        with pytest.raises(Findings) as raised:
            link_packages(workspace, packages, "t-x")
        assert len(raised.value.errors) == 2
