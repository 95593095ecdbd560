"""Folders that a user keeps elsewhere, behind a link: nothing that is written there is refused."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.authoring.template_world import SECOND, template
from tests.authoring.test_package import PackageWorld
from tests.cli.conftest import Shown
from tests.cli.hydrated_place import Place
from tests.cli.test_argocd import shop
from tests.fleet.conftest import charts
from tests.world.cluster import ClusterWorld
from tests.world.folders import write_files
from tests.world.kargo import application, drifted, stage
from tests.world.many_clusters import FleetWorld
from tests.world.repos import GitWorld, git

__all__ = ["shop"]

Call = Callable[..., Shown]


@pytest.fixture
def tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The link; temporary files, kept ones and the user's own are behind it, too, as is the current folder."""
    (tmp_path / "real" / "tmp").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real")
    monkeypatch.setenv("TMPDIR", str(link / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    for variable in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, str(link / "home" / variable))
    monkeypatch.chdir(link)
    return link


@pytest.mark.parametrize("itself", [False, True], ids=["behind", "itself"])
def test_a_working_directory(tmp_path: Path, itself: bool) -> None:
    world = ClusterWorld(tmp_path)
    world.component("c-good", data={"a": "1"})
    if itself:
        (tmp_path / "place").mkdir()
        world.work.symlink_to("place")
    for arguments in (["--push"], ["--push"], ["--push", "--no-cache"], ["--local"]):
        result = world.compile(*arguments)
        assert result.code == 0, result.stderr
    assert "manifests/c-good/config.yaml" in world.tree()
    clean = world.run("-d", str(world.work), "catalog", "clean")
    assert clean.code == 0, clean.stderr


def test_the_output_of_a_component(call: Call, component: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").symlink_to("elsewhere")
    for _ in range(2):
        code, _, err = call("component", "compile", str(component), "-o", str(tmp_path / "out"))
        assert code == 0, err
    assert list((tmp_path / "elsewhere").rglob("config.yaml"))


def test_a_new_component_and_its_tests(call: Call, tmp_path: Path) -> None:
    remote = template(GitWorld(tmp_path / "remotes"))
    options = ["--template-url", remote.url, "--trust-template", "--output-dir", str(tmp_path)]
    assert call("component", "new", "foo", *options)[0] == 0
    remote.commit(SECOND)
    code, _, err = call("component", "update", str(tmp_path / "foo"), "--trust-template")
    assert code == 0, err
    (tmp_path / "here").symlink_to("foo")
    assert call("component", "update", "here", "--trust-template")[0] == 0
    assert call("component", "new", "bar", "--output-dir", str(tmp_path))[0] == 0
    code, out, err = call("component", "test", str(tmp_path / "bar"), "--update")
    assert code == 0, out + err


def test_the_output_of_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = PackageWorld(tmp_path, monkeypatch)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").symlink_to("elsewhere")
    (tmp_path / "package").symlink_to(world.folder)
    world.folder = tmp_path / "package"
    for words in ([], ["--tmp-dir", str(tmp_path / "out")], ["--tmp-dir", str(tmp_path / "out" / "work")]):
        result = world.compile(*words)
        assert result.code == 0, result.stderr
    assert world.data() == {"answer": "42"}


def test_the_output_of_applications(call: Call, shop: list[str], tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").symlink_to("elsewhere")
    for name in ("out", "out", "new"):
        code, _, err = call("argocd", "render", *shop, "--out", str(tmp_path / name))
        assert code == 0, err
        assert (tmp_path / name / "shop.yaml").is_file()


def test_a_fleet(call: Call, tmp_path: Path) -> None:
    (tmp_path / "fleet").mkdir()
    (tmp_path / "place").symlink_to("fleet")
    write_files(tmp_path / "fleet", charts())
    for place in ("place", "fleet"):
        code, _, err = call("-d", str(tmp_path / place), "fleet", "generate")
        assert code == 0, err
    assert (tmp_path / "fleet" / "rendered").is_dir()


def test_many_clusters(tmp_path: Path) -> None:
    world = FleetWorld(tmp_path, 2)
    for _ in range(2):
        done = world.cli("--push", "--report", str(tmp_path / "r.json"))
        assert done.code == 0, done.stderr
    assert world.catalogs["c-2"].files()


def test_hydrated_branches(place: Place, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "work").symlink_to("elsewhere")
    assert place.run()[0] == 0
    assert place.subjects() == ["Change"]
    git(tmp_path, "clone", "--quiet", place.remote.url, "clone")
    (tmp_path / "tree").symlink_to("elsewhere")
    words = ["hydrate", "render", str(place.folder), "--repo-map", f"{place.remote.url}={tmp_path / 'clone'}"]
    for name in ("new", "tree/below"):
        code, _, err = place.call(*words, "--tree", str(tmp_path / name))
        assert code == 0, err
        assert list((tmp_path / name).rglob("manifest.yaml"))


def test_promotions(call: Call, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").symlink_to("elsewhere")
    objects = drifted(application(stage="shop:prod,shop:test"), stage("test", steps=()))
    (tmp_path / "objects.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
    code, _, err = call("observe", "plan", str(tmp_path / "objects.json"), "--out", str(tmp_path / "out"))
    assert code == 0, err
    assert list((tmp_path / "elsewhere").iterdir())
