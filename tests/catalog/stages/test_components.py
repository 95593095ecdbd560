"""Components and instances of whole clusters."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.world.cluster import ClusterWorld, Result
from tests.world.repos import git


@pytest.fixture(scope="module")
def nfs(clean_session: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[ClusterWorld, Result]:
    """Two components in one repository; one is used plainly, as itself, and through aliases."""
    world = ClusterWorld(tmp_path_factory.mktemp("nfs"))
    inner = {f"parts/nfs/{name}": text for name, text in nfs_files().items()}
    outer = world.component_files("plain-one", {"a": "b"})
    remote = world.component("nfs", {**inner, **outer}, include="nfs as share-1")
    world.descriptions["nfs"] |= {"path": "parts/nfs"}
    world.descriptions["plain-one"] = {"url": remote.url, "version": "master"}
    world.applications += ["nfs as share-2", "plain-one as plain-one"]
    world.parameters = {
        "nfs": {"data": {"server": "nfs.example.com"}},
        "share_1": {"data": {"path": "/one"}},
        "share_2": {"data": {"path": "/two"}},
        "plain_one": {"components": {"plain-one": {"version": "nonsense"}}},
    }
    return world, world.compile("--push")


def nfs_files() -> dict[str, str]:
    defaults = ClusterWorld.component_files(
        "nfs", {"path": "/", "server": ""}, {"multi_instance": True}, components={"nfs": {"version": "nonsense"}}
    )
    return {name: str(text) for name, text in defaults.items()}


@pytest.mark.requirement("C31", "C34", "C38", "C39", "C40", "C41", "C43")
def test_the_documented_instances(nfs: tuple[ClusterWorld, Result]) -> None:
    """Two instances share their base configuration and differ in their own."""
    world, result = nfs
    assert result.code == 0, result.stderr
    assert world.manifest("share-1/config.yaml") == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "share-1"},
        "data": {"path": "/one", "server": "nfs.example.com"},
    }
    assert world.manifest("share-2/config.yaml")["data"] == {"path": "/two", "server": "nfs.example.com"}


@pytest.mark.requirement("C35", "C36")
def test_aliases_alone_make_no_instance_of_the_components_name(nfs: tuple[ClusterWorld, Result]) -> None:
    """No instance `nfs` exists, and `plain-one as plain-one` needs no support for several instances."""
    world, _ = nfs
    assert sorted({path.split("/")[1] for path in world.tree()}) == ["plain-one", "share-1", "share-2"]
    assert sorted(path.name for path in (world.work / "inventory" / "targets").iterdir()) == [
        "cluster.yml",
        "plain-one.yml",
        "share-1.yml",
        "share-2.yml",
    ]


@pytest.mark.requirement("C14", "C15", "C16", "C17", "C19", "C20")
def test_worktrees_of_one_bare_clone(nfs: tuple[ClusterWorld, Result]) -> None:
    """Worktrees of the whole repository, one bare clone, links to the component's own folder."""
    world, _ = nfs
    dependencies = world.work / "dependencies"
    assert sorted(path.name for path in dependencies.iterdir()) == [
        ".repos",
        "lib",
        "nfs",
        "plain-one",
        "share-1",
        "share-2",
    ]
    bare = dependencies / ".repos" / f"{world.remotes['nfs'].path}".lstrip("/")
    clones = [path for path in bare.parent.iterdir() if path.name.endswith(".git")]
    assert sorted(path.name for path in clones) == ["defaults.git", "nfs.git", "tenant.git"]
    listed = [line for line in git(bare, "worktree", "list", "--porcelain").splitlines() if line.startswith("worktree")]
    assert len(listed) == 5  # the clone itself counts
    for instance in ("nfs", "share-1", "share-2", "plain-one"):
        assert (dependencies / instance / ".git").is_file()
        assert (dependencies / instance / "class" / "plain-one.yml").is_file()
    link = world.work / "inventory" / "classes" / "components" / "share-1.yml"
    assert link.is_symlink()
    assert link.resolve() == dependencies / "share-1" / "parts" / "nfs" / "class" / "nfs.yml"


def test_what_the_commit_says(nfs: tuple[ClusterWorld, Result]) -> None:
    """The message names each instance with its component, version, commit, URL and path."""
    world, _ = nfs
    short = world.remotes["nfs"].sha()[:6]
    url = world.remotes["nfs"].url
    lines = world.message().splitlines()
    assert lines[:13] == [
        "Automated catalog update from Commodore",
        "",
        "Component instance commits:",
        f" * plain-one: master ({short})",
        f"   url: {url}",
        f" * share-1 (nfs): master ({short})",
        f"   url: {url}",
        "   path: parts/nfs",
        f" * share-2 (nfs): master ({short})",
        f"   url: {url}",
        "   path: parts/nfs",
        "",
        "Package commits:",
    ]
    assert lines[-1].startswith("Compilation timestamp: ")


@pytest.mark.requirement("C9", "C23", "C24")
def test_defaults_cannot_describe_components(world: ClusterWorld) -> None:
    """Settings of components and packages in a component's defaults have no effect."""
    files = world.component_files("app", {"a": "b"})
    files["class/defaults.yml"] = """
parameters:
  components:
    app: {version: nonsense}
    other: {version: '1'}
  packages:
    some: {version: '1'}
  app: {data: {a: b}}
"""
    world.component("app", files)
    result = world.compile()
    assert result.code == 0, result.stderr


@pytest.mark.requirement("C29")
def test_an_instance_of_another_version(world: ClusterWorld) -> None:
    """With `multi_version` one instance has a version, URL and folder of its own; libraries stay the base's."""
    multi = {"multi_instance": True, "multi_version": True}
    remote = world.component("app", {"lib/app.libsonnet": "'old library'"}, data={"v": "old"}, metadata=multi)
    remote.tag("v1")
    fork = world.git.remote(
        "fork", {f"sub/{k}": v for k, v in world.component_files("app", {"v": "new"}, multi).items()}
    )
    fork.commit(
        {
            "sub/lib/app.libsonnet": "'new library'",
            "sub/component/main.jsonnet": "{ out: { library: import 'lib/app.libsonnet' } }",
        }
    )
    world.descriptions["app"]["version"] = "v1"
    world.descriptions["canary"] = {"url": fork.url, "version": "master", "path": "sub"}
    world.applications.append("app as canary")
    world.tenant_parameters = {"canary": {"data": {"own": "yes"}}}
    with world.lieutenant() as api:
        result = world.compile("--push")
    assert result.code == 0, result.stderr
    assert world.manifest("app/config.yaml")["data"] == {"v": "old"}
    assert world.manifest("canary/out.yaml") == {"library": "old library"}
    ((_, report),) = api.reports
    assert report["instances"]["canary"] == {
        "component": "app",
        "url": fork.url,
        "version": "master",
        "gitSha": fork.sha(),
        "path": "sub",
    }
    assert report["instances"]["app"]["gitSha"] == remote.sha()


@pytest.mark.requirement("C42")
def test_a_constant_cannot_be_changed(world: ClusterWorld) -> None:
    """A change of `=_metadata` in the hierarchy is reported, and has no effect."""
    world.component("app", metadata={"multi_instance": False})
    world.tenant_parameters = {"app": {"_metadata": {"multi_instance": True}}}
    result = world.compile()
    assert result.code == 1
    assert result.error["code"].startswith("CMD-INV-")
    assert "_metadata" in result.error["message"]


@pytest.mark.requirement("C32", "C52")
def test_several_wrong_instances_are_reported_together(world: ClusterWorld) -> None:
    """Aliases without support, a version without support, and a library alias of two components."""
    world.component("a", {"lib/a-x.libsonnet": "1"}, metadata={"library_aliases": {"x.libsonnet": "a-x.libsonnet"}})
    world.component("b", {"lib/b-x.libsonnet": "1"}, metadata={"library_aliases": {"x.libsonnet": "b-x.libsonnet"}})
    world.applications += ["a as a-2", "b as b-2"]
    world.descriptions["a-2"] = {"version": "master"}
    result = world.compile()
    assert result.code == 1
    assert sorted(error["code"] for error in result.errors)[:3] == ["CMD-DEP-023", "CMD-DEP-023", "CMD-DEP-024"]
    assert len(result.errors) == 4


@pytest.mark.requirement("C33", "C37")
@pytest.mark.parametrize(
    ("applications", "code", "named"),
    [
        (["app", "app as app"], "CMD-DEP-003", "'app'"),
        (["app as x", "other as x"], "CMD-DEP-002", "'app' and 'other'"),
        (["app as other", "other"], "CMD-DEP-002", "'app' and 'other'"),
    ],
)
def test_ambiguous_instances(world: ClusterWorld, applications: list[str], code: str, named: str) -> None:
    """An instance name stands for one thing."""
    world.component("app", include="")
    world.component("other", include="")
    world.applications += applications
    result = world.compile()
    assert (result.code, result.error["code"]) == (1, code)
    assert named in result.error["message"]


@pytest.mark.requirement("C9", "C13", "C30")
def test_entries_that_cannot_be_fetched(world: ClusterWorld) -> None:
    """Unknown, without version, without URL: all are reported at once, with suggestions."""
    for name in ("good", "unversioned", "nameless"):
        world.component(name)
    del world.descriptions["unversioned"]["version"]
    del world.descriptions["nameless"]["url"]
    world.applications.append("godo")
    result = world.compile()
    assert result.code == 1
    assert [(error["code"], error["message"].split(":")[0]) for error in result.errors] == [
        ("CMD-DEP-012", "unknown component 'godo'"),
        ("CMD-DEP-013", "component 'nameless' is missing the field `url`"),
        ("CMD-DEP-013", "component 'unversioned' is missing the field `version`"),
    ]
    assert result.errors[0]["hint"] == "did you mean 'good'?"


@pytest.mark.requirement("C30")
def test_an_override_for_a_misspelt_component(world: ClusterWorld) -> None:
    """A version without a URL, of something that is not even included."""
    world.component("app")
    world.descriptions["appp"] = {"version": "v2"}
    result = world.compile()
    assert (result.code, result.error["code"]) == (1, "CMD-DEP-010")
    assert result.error["hint"] == "did you mean 'app'?"


@pytest.mark.requirement("C12", "C18")
def test_a_component_follows_its_repository_and_version(world: ClusterWorld) -> None:
    """Branch, tag and short commit id; another repository; a removed component leaves the catalog."""
    remote = world.component("app", data={"v": "1"})
    remote.tag("v1")
    remote.commit(world.component_files("app", {"v": "2"}))
    world.component("extra")
    seen = []
    for version in ("master", "v1", remote.sha()[:8]):
        world.descriptions["app"]["version"] = version
        assert world.compile("--push").code == 0
        seen.append(world.manifest("app/config.yaml")["data"]["v"])
    assert seen == ["2", "1", "2"]
    other = world.git.remote("elsewhere", world.component_files("app", {"v": "moved"}))
    world.descriptions["app"] = {"url": other.url, "version": "master"}
    world.applications.remove("extra")
    result = world.compile("--push")
    assert result.code == 0, result.stderr
    assert world.manifest("app/config.yaml")["data"] == {"v": "moved"}
    assert sorted(world.tree()) == ["manifests/app/config.yaml"]
    assert not Path(world.work, "compiled", "extra").exists()


@pytest.mark.requirement("C14")
def test_a_path_that_does_not_exist_or_leaves_its_repository(world: ClusterWorld) -> None:
    """All wrong paths of a run are reported."""
    from tests.world.repos import Link

    world.component("app")
    world.component("linked", {"out": Link("/etc")})
    world.descriptions["app"]["path"] = "nowhere"
    world.descriptions["linked"]["path"] = "out"
    result = world.compile()
    assert [error["code"] for error in result.errors] == ["CMD-DEP-041", "CMD-DEP-042"]
    assert result.code == 4


def test_changes_and_commits_of_one_component_are_reported_together(world: ClusterWorld) -> None:
    """Both would be lost, and each error names the component."""
    world.component("app", data={"answer": "42"})
    assert world.compile().code == 0
    checkout = world.work / "dependencies" / "app"
    (checkout / "class" / "app.yml").write_text("parameters: {}\n")
    git(checkout, "commit", "--quiet", "--all", "--message", "mine")
    (checkout / "class" / "defaults.yml").write_text("parameters: {}\n")
    result = world.compile()
    assert result.code == 4
    assert [error["code"] for error in result.errors] == ["CMD-GIT-040", "CMD-GIT-041"]
    assert all(error["message"].startswith("component 'app': ") for error in result.errors)


@pytest.mark.parametrize("field", ["version", "url"])
def test_what_is_wrong_with_a_repository_names_the_component_and_the_line(tmp_path: Path, field: str) -> None:
    world = ClusterWorld(tmp_path)
    world.component("app", data={})
    world.descriptions["app"][field] = "file:///nowhere/app.git" if field == "url" else "v9"
    error = world.compile().error
    assert error["message"].startswith("component 'app': ")
    place = error["locations"][0]
    line = Path(place["place"]).read_text(encoding="utf-8").splitlines()[place["line"] - 1]
    assert line[place["column"] - 1 :].startswith(f"{field}: ")


def test_what_is_wrong_with_the_configuration_names_the_place_in_the_cluster_file(tmp_path: Path) -> None:
    world = ClusterWorld(tmp_path)
    world.publish()
    world.tenant_config.path.rename(tmp_path / "elsewhere")
    error = world.run(*world.command()).error
    assert error["message"].startswith("the tenant's configuration: git fetch of ")
    (place,) = [place for place in error["locations"] if place["place"] == str(tmp_path / "cluster.json")]
    file = (tmp_path / "cluster.json").read_text(encoding="utf-8")
    assert file[place["column"] - 1 :].startswith(f'"url": "{world.tenant_config.url}"')
