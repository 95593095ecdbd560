"""Writing where it is not allowed: folders that are links, names that are paths, caches of others, modes."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from commodore.base.errors import CommodoreError, PolicyError
from commodore.base.files.sealed import read_sealed, seal
from commodore.base.files.workspace import Workspace
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.names import check_instance_name, check_name, check_package_name
from commodore.core.results.caches import (
    cache_folder,
    dependency_cache,
    library_cache,
    repository_cache,
    result_cache,
    usable,
)
from tests.world.cluster import ClusterWorld
from tests.world.repos import Link

OWN = [
    ".commodore",
    "inventory",
    "inventory/classes",
    "inventory/classes/components",
    "inventory/classes/defaults",
    "inventory/classes/params",
    "inventory/targets",
    "dependencies",
    "dependencies/.repos",
    "dependencies/lib",
    "vendor",
    "compiled",
    "catalog",
]


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("target", ["outside", "missing", "inside"])
def test_a_folder_of_the_workspace_that_is_a_link(tmp_path: Path, name: str, target: str) -> None:
    outside = tmp_path / ("work/elsewhere" if target == "inside" else "elsewhere")
    if target != "missing":
        outside.mkdir(parents=True)
        (outside / "precious").touch()
    link = tmp_path / "work" / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside)
    with pytest.raises(PolicyError) as caught, Workspace.at(tmp_path / "work").locked(DEFAULT_LIMITS):
        pytest.fail("a run has begun")
    assert caught.value.code == "CMD-WORK-007"
    assert name in caught.value.message
    if target == "missing":
        assert not outside.exists()
    else:
        assert os.listdir(outside) == ["precious"]


@pytest.mark.parametrize("name", ["inventory/targets", "inventory/classes/t-one", "dependencies/c-good", "compiled"])
def test_a_compile_in_a_workspace_with_a_link(world: ClusterWorld, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (outside / "precious.yml").write_text("mine: true\n")
    link = world.work / name
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)
    result = world.compile()
    assert result.code in (3, 4)
    assert result.error["code"] in ("CMD-WORK-007", "CMD-GIT-042")
    assert os.listdir(outside) == ["precious.yml"]


CACHES: list[Callable[[], Path]] = [cache_folder, result_cache, dependency_cache, library_cache, repository_cache]


@pytest.mark.parametrize("folder", CACHES)
def test_a_cache_that_is_a_link(tmp_path: Path, folder: Callable[[], Path]) -> None:
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    folder().parent.mkdir(parents=True, exist_ok=True)
    folder().symlink_to(outside)
    with pytest.raises(PolicyError) as caught:
        usable(folder())
    assert caught.value.code == "CMD-CACHE-005"


@pytest.mark.parametrize("section", ["", "results", "dependencies", "libraries", "repositories"])
def test_a_compile_with_a_cache_that_is_a_link(world: ClusterWorld, tmp_path: Path, section: str) -> None:
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    folder = cache_folder() / section
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.symlink_to(outside)
    result = world.compile()
    assert (result.code, result.error["code"]) == (4, "CMD-CACHE-005")
    assert os.listdir(outside) == []


@pytest.mark.parametrize("folder", CACHES)
def test_a_cache_of_another_user(folder: Callable[[], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder().mkdir(parents=True)
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(PolicyError) as caught:
        usable(folder())
    assert caught.value.code == "CMD-CACHE-005"


@pytest.mark.harmless
@pytest.mark.parametrize("mode", [0o777, 0o775, 0o1777])
def test_a_cache_that_others_may_write_to(mode: int) -> None:
    result_cache().mkdir(parents=True)
    for folder in (cache_folder(), result_cache()):
        folder.chmod(mode)
    usable(result_cache())
    assert [stat.S_IMODE(folder.stat().st_mode) & 0o022 for folder in (cache_folder(), result_cache())] == [0, 0]


LABEL = ("kind", "name")


@pytest.mark.harmless
@pytest.mark.parametrize(
    "attack", ["foreign owner", "link", "pipe", "folder", "swapped", "edited", "truncated", "version"]
)
def test_a_kept_entry_that_is_not_ours(tmp_path: Path, attack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts as missing: what it would have said is worked out again."""
    entry = tmp_path / "entry"
    whole = seal(LABEL, b"content")
    entry.write_bytes(whole)
    assert read_sealed(entry, LABEL) == b"content"
    match attack:
        case "foreign owner":
            owner = os.geteuid()
            monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
        case "link":
            entry.rename(tmp_path / "other")
            entry.symlink_to(tmp_path / "other")
        case "pipe":
            entry.unlink()
            os.mkfifo(entry)
        case "folder":
            entry.unlink()
            entry.mkdir()
        case "swapped":
            entry.write_bytes(seal(("kind", "other"), b"content"))
        case "edited":
            entry.write_bytes(whole.replace(b"content", b"CONTENT"))
        case "truncated":
            entry.write_bytes(whole[:-1])
        case _:
            entry.write_bytes(whole.replace(b"sealed-1", b"sealed-2"))
    assert read_sealed(entry, LABEL) is None


@pytest.mark.harmless
@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_modes_whatever_the_umask(world: ClusterWorld, umask: int) -> None:
    """Others may write to nothing, and read nothing of what is kept for the next run."""
    world.apart = True
    before = os.umask(umask)
    try:
        assert world.compile().code == 0
    finally:
        os.umask(before)
    made = [path for root in (world.work, cache_folder()) for path in (root, *root.rglob("*")) if not path.is_symlink()]
    assert [path for path in made if path.stat().st_mode & stat.S_IWOTH] == []
    if umask == 0:
        assert [path for path in made if path.stat().st_mode & stat.S_IWGRP] == []
    for kept in (*(world.work / ".commodore").glob("*.json"), *(world.work / ".commodore" / "rendered").iterdir()):
        if kept.name in ("sources.json", "remotes.json") or kept.parent.name == "rendered":
            assert stat.S_IMODE(kept.stat().st_mode) == 0o600


NAMES: dict[str, Any] = {
    "climbing": "..",
    "dot": ".",
    "path": "a/b",
    "absolute": "/etc",
    "option": "-x",
    "zero": "a\0b",
    "newline": "a\nb",
    "newline at the end": "a\n",
    "long": "a" * 300,
    "upper case": "App",
    "letters": "äpp",
    "look-alike": "\u0430pp",  # Cyrillic
    "full width": "\uff41pp",
    "combining": "a\u0301pp",
    "blank": "a b",
    "empty": "",
    "hidden": ".git",
    "escape": "\x1b[2Ja",
    "bidi": "a\u202eb",
    "backslash": "a\\b",
    "tilde": "~root",
    "reference": "${a}",
    "number": 7,
    "nothing": None,
    "list": ["a"],
}
CHECKS: dict[str, Callable[[Any], str]] = {
    "instance": lambda name: check_instance_name(name, "instance"),
    "component": lambda name: check_instance_name(name, "component"),
    "package": check_package_name,
    "tenant": lambda name: check_name(name, "tenant"),
    "library": lambda name: check_name(name, "library"),
}


@pytest.mark.parametrize("kind", CHECKS)
def test_names_that_are_no_names(kind: str) -> None:
    for name, value in NAMES.items():
        if name == "upper case" and kind in ("instance", "component", "package"):
            assert CHECKS[kind](value) == "App"  # safe, and there are such
            continue
        with pytest.raises(CommodoreError) as caught:
            CHECKS[kind](value)
        assert caught.value.code in ("CMD-NAME-001", "CMD-NAME-006"), name
        assert "\x1b" not in caught.value.message
        assert "\u202e" not in caught.value.message
        assert len(caught.value.message) < 200, name


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, "instance") for name in ("cluster", "lib", "libs", "facts", "dynamic-facts", "kapitan", "packages", "a.b")]
    + [(name, "package") for name in ("components", "defaults", "global", "params", "t-one")],
)
def test_names_that_mean_something_else(name: str, kind: str) -> None:
    with pytest.raises(CommodoreError) as caught:
        CHECKS[kind](name)
    assert caught.value.code in ("CMD-NAME-002", "CMD-NAME-003", "CMD-NAME-004", "CMD-NAME-005")


TWINS = [["a-b", "a_b"], ["a-b as x-y", "a-b as x_y"]]


@pytest.mark.parametrize("twins", TWINS, ids=["components", "instances"])
def test_twins_that_share_their_parameters(world: ClusterWorld, twins: list[str]) -> None:
    for name in dict.fromkeys(twin.partition(" ")[0] for twin in twins):
        world.component(name, include="", data={"a": "b"}, **{"=_metadata": {"multi_instance": True}})
    world.applications += twins
    result = world.compile()
    assert result.code == 1
    assert result.errors[0]["code"] == "CMD-DEP-004"
    assert world.tree() == {}


PATHS = {  # by the code that each is refused with
    "CMD-DEP-017": ("../c-good", "a/../../..", "//etc", "a\0b"),
    "CMD-DEP-041": ("/etc", "~/x", ".git", "a\nb", "-x"),
    "CMD-DEP-042": ("link", "link/sub"),
}


def test_the_paths_of_dependencies(world: ClusterWorld, tmp_path: Path) -> None:
    """The ones that are refused before anything is fetched, and then the others; each is one error."""
    outside = tmp_path / "outside"
    (outside / "sub" / "class").mkdir(parents=True)
    (outside / "class").mkdir()
    remote = world.component("c-bad", {"link": Link(str(outside))}, include="", described=False)
    for codes in (("CMD-DEP-017",), ("CMD-DEP-041", "CMD-DEP-042")):
        expected = [(code, path) for code in codes for path in PATHS[code]]
        names = [f"c-bad-{number}" for number in range(len(expected))]
        world.applications = names
        world.descriptions = {
            name: {"url": remote.url, "version": "master", "path": path}
            for name, (_, path) in zip(names, expected, strict=True)
        }
        result = world.compile()
        assert result.code in (1, 4)
        assert sorted(error["code"] for error in result.errors) == [code for code, _ in expected]
        for name, (code, path) in zip(names, expected, strict=True):
            assert [error["code"] for error in result.errors if name in error["message"]] == [code], path
        assert world.tree() == {}


@pytest.mark.harmless
def test_a_link_inside_of_one_repository(world: ClusterWorld) -> None:
    """Repositories may have them."""
    world.component("c-link", {"sub": Link("."), "class/extra.yml": yaml.safe_dump({})})
    world.descriptions["c-link"]["path"] = "sub"
    result = world.compile()
    assert result.code == 0, result.stderr


@pytest.mark.harmless
@pytest.mark.parametrize("names", [["manifests", "refs"], ["manifests/c-good/config.yaml"]], ids=["folders", "file"])
def test_a_catalog_with_links(world: ClusterWorld, tmp_path: Path, names: list[str]) -> None:
    """The new tree takes its place; nothing is written through it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "config.yaml").write_text("mine: true\n")
    leads_to = {name: outside / "config.yaml" if name.endswith("yaml") else outside for name in names}
    world.catalog.commit({name: Link(str(path)) for name, path in leads_to.items()})
    result = world.compile("--push")
    assert result.code == 0, result.stderr
    assert "kind: ConfigMap" in world.tree()["manifests/c-good/config.yaml"]
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("config.yaml", "mine: true\n")]
