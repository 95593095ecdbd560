"""`package compile`, from the command line to the manifests."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.authoring.suite_world import run, snapshot, write
from tests.world.cluster import ClusterWorld, Result
from tests.world.repos import GitCalls, Remote

TEST = "tests/defaults.yml"


class PackageWorld:
    """The package `demo`, which includes the component c-one. Commodore makes temporary folders in `temporary`."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cluster = ClusterWorld(root)
        self.folder = root / "package-demo"
        self.temporary = root / "temporary"
        self.temporary.mkdir()
        monkeypatch.setenv("TMPDIR", str(self.temporary))
        self.component = self.cluster.component("c-one", data={"answer": "42"})
        self.common()
        write(self.folder, {TEST: {"classes": ["..common"]}})

    def common(self, *, classes: tuple[str, ...] = (), applications: tuple[str, ...] = (), **parameters: Any) -> None:
        """Write the class that the test case includes."""
        described = {"components": {"c-one": described_at(self.component)}}
        content = {
            "classes": list(classes),
            "applications": ["c-one", *applications],
            "parameters": {**described, **parameters},
        }
        write(self.folder, {"common.yml": content})

    def compile(self, *arguments: str, test: str = TEST) -> Result:
        return run("package", "compile", str(self.folder), test, *arguments, "--processes", "1")

    def compiled(self) -> list[str]:
        """The files of the result."""
        return list(snapshot(self.folder / "compiled"))

    def data(self, instance: str = "c-one") -> Any:
        """Return the component's output of its parameter `data`."""
        path = self.folder / "compiled" / instance / instance / "config.yaml"
        return yaml.safe_load(path.read_text(encoding="utf-8"))["data"]


def described_at(remote: Remote) -> dict[str, str]:
    return {"url": remote.url, "version": "master"}


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PackageWorld:
    return PackageWorld(tmp_path, monkeypatch)


def test_the_result_takes_the_place_of_the_former_one(world: PackageWorld) -> None:
    """No stale output, no workspace left behind, neither after a success nor an error."""
    write(world.folder, {"compiled/c-one/stale.yaml": "{}", "compiled/gone/gone.yaml": "{}"})
    before = {name: text for name, text in snapshot(world.folder).items() if not name.startswith("compiled")}
    result = world.compile()
    assert result.code == 0, result.stderr
    assert result.stdout == ""
    assert world.compiled() == ["c-one/c-one/config.yaml"]
    assert world.data() == {"answer": "42"}
    after = {name: text for name, text in snapshot(world.folder).items() if not name.startswith("compiled")}
    assert after == before
    assert list(world.temporary.iterdir()) == []

    world.component.commit({"component/main.jsonnet": "{ config: error 'no' }"})
    failed = world.compile()
    assert (failed.code, failed.error["code"]) == (1, "CMD-ENG-015")
    assert str(world.temporary) not in failed.stderr, "it has been removed"
    assert "dependencies/c-one/component/main.jsonnet" in json.dumps(failed.error)
    assert world.data() == {"answer": "42"}
    assert list(world.temporary.iterdir()) == []
    assert sorted(path.name for path in world.folder.iterdir()) == ["common.yml", "compiled", "tests"]


def test_values_come_before_the_package_and_provide_facts(world: PackageWorld, tmp_path: Path) -> None:
    """Later ones win over earlier ones, the package over all of them."""
    world.common(classes=("demo.cloud.${facts:cloud}",), c_one={"data": {"package": "wins"}})
    write(
        world.folder,
        {"cloud/moon.yml": {"parameters": {"c_one": {"data": {"cloud": "${facts:cloud} ${facts:region}"}}}}},
    )
    first = {"facts": {"cloud": "sun"}, "c_one": {"data": {"package": "loses", "values": "first"}}}
    second = {"facts": {"cloud": "moon"}, "c_one": {"data": {"values": "second"}}}
    write(tmp_path, {"first.yml": {"parameters": first}, "second.yaml": {"parameters": second}})
    result = world.compile("-f", str(tmp_path / "first.yml"), "-f", str(tmp_path / "second.yaml"))
    assert result.code == 0, result.stderr
    assert world.data() == {"answer": "42", "cloud": "moon x-fake-region", "package": "wins", "values": "second"}


def test_facts_by_file_and_by_flag(world: PackageWorld, tmp_path: Path) -> None:
    """Flags win over the file, the file over what is made up."""
    facts = ("distribution", "cloud", "region")
    data = {name: f"${{facts:{name}}}" for name in facts}
    dynamic = {"version": "${dynamic_facts:kubernetes:version}", "nodes": "n${dynamic_facts:nodes}"}
    world.common(c_one={"data": data | dynamic})
    given = {"facts": {"cloud": "sun", "region": "east"}, "dynamic_facts": {"nodes": 1, "kubernetes": {"version": "0"}}}
    write(tmp_path, {"facts.yml": given})
    flags = ("--fact", "cloud=moon", "--dynamic-fact", "kubernetes.version=v1.33", "--dynamic-fact", "nodes=json:3")
    result = world.compile("--facts", str(tmp_path / "facts.yml"), *flags)
    assert result.code == 0, result.stderr
    assert world.data() == {
        "answer": "42",
        "distribution": "x-fake-distribution",
        "cloud": "moon",
        "region": "east",
        "version": "v1.33",
        "nodes": "n3",
    }


def test_a_package_that_includes_another(world: PackageWorld) -> None:
    """Packages that depend on other packages can be compiled; and b 2, on any level."""
    c_two = world.cluster.component("c-two", data={"from": "two"})
    deepest = {"applications": ["c-two"], "parameters": {"components": {"c-two": described_at(c_two)}}}
    deep = world.cluster.package("deep", {"main.yml": json.dumps(deepest)})
    other = world.cluster.package(
        "other",
        {
            "main.yml": json.dumps(
                {
                    "classes": ["deep.main"],
                    "applications": ["pkg.deep"],
                    "parameters": {"packages": {"deep": described_at(deep)}},
                }
            )
        },
    )
    own = {"c_two": {"data": {"by": "demo"}}}
    world.common(classes=("other.main",), applications=("pkg.other",), packages={"other": described_at(other)}, **own)
    result = world.compile()
    assert result.code == 0, result.stderr
    assert world.compiled() == ["c-one/c-one/config.yaml", "c-two/c-two/config.yaml"]
    assert world.data("c-two") == {"from": "two", "by": "demo"}


def test_a_class_of_its_own_is_never_fetched(world: PackageWorld) -> None:
    """The package under work may be included by its name as on a cluster: what lies on disk is what counts."""
    gone = {"demo": {"url": "file:///does/not/exist", "version": "v1"}}
    world.common(applications=("pkg.demo",), packages=gone)
    result = world.compile()
    assert result.code == 0, result.stderr
    assert world.data() == {"answer": "42"}


def test_local_mode_in_a_kept_folder(world: PackageWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--tmp-dir` is relative to the working directory and kept; `--local -F` compiles what it holds, offline."""
    first = world.compile("--tmp-dir", "kept")
    assert first.code == 0, first.stderr
    checkout = tmp_path / "kept" / "dependencies" / "c-one"
    defaults = checkout / "class" / "defaults.yml"
    defaults.write_text(defaults.read_text(encoding="utf-8").replace("42", "43"), encoding="utf-8")
    world.component.vanish()

    calls = GitCalls(tmp_path / "calls", monkeypatch)
    local = world.compile("--tmp-dir", "kept", "--local", "-F")
    assert (local.code, local.warnings) == (0, []), local.stderr
    assert world.data() == {"answer": "43"}
    assert calls.count("fetch") == calls.count("clone") == calls.count("ls-remote") == 0

    world.component.return_again()
    refused = world.compile("--tmp-dir", "kept")
    assert (refused.code, refused.error["code"]) == (4, "CMD-GIT-040")
    assert "43" in defaults.read_text(encoding="utf-8")
    assert world.data() == {"answer": "43"}

    forced = world.compile("--tmp-dir", "kept", "--force")  # as the hint of the refusal says
    assert (forced.code, forced.warnings) == (0, ["CMD-GIT-045"]), forced.stderr
    assert world.data() == {"answer": "42"}


@pytest.mark.parametrize("place", ["", "kept"])
def test_a_working_directory_in_the_package(world: PackageWorld, place: str) -> None:
    """Each would contain the other."""
    before = snapshot(world.folder)
    result = world.compile("--tmp-dir", str(world.folder / place))
    assert (result.code, result.error["code"]) == (1, "CMD-AUT-011")
    assert snapshot(world.folder) == before


def test_fetching_cannot_be_left_out_elsewhere(world: PackageWorld) -> None:
    result = world.compile("-F")
    assert (result.code, result.warnings) == (0, ["CMD-CLI-021"]), result.stderr


def test_a_temporary_folder_that_is_kept_is_named(world: PackageWorld) -> None:
    result = world.compile("--keep-dir")
    assert result.code == 0, result.stderr
    (folder,) = world.temporary.iterdir()
    assert any(f"--tmp-dir {folder}" in str(event) for event in result.events)
    assert (folder / "compiled" / "c-one").is_dir()
    again = world.compile("--tmp-dir", str(folder), "--local")
    assert again.code == 0, again.stderr


def test_references_get_their_hash_and_are_not_revealed(world: PackageWorld) -> None:
    """The result holds names of secrets alone, and no file of `refs` gets into the package."""
    path = "${cluster:tenant}/${cluster:name}/c-one/password"
    world.common(c_one={"data": {"password": f"?{{vaultkv:{path}}}"}})
    result = world.compile("--tmp-dir", "kept")
    assert result.code == 0, result.stderr
    place = "t-silent-test-1234/c-green-test-1234/c-one/password"
    reference = world.cluster.root / "kept" / "catalog" / "refs" / place
    assert reference.is_file()
    password = world.data()["password"]
    name, _, digest = password.removeprefix("?{vaultkv:").removesuffix("}").partition(":")
    assert name == place
    assert len(digest) == 8
    assert set(digest) <= set("0123456789abcdef")
    assert world.compiled() == ["c-one/c-one/config.yaml"]


@pytest.mark.parametrize(
    ("test", "hint"),
    [
        ("tests/defalts.yml", "did you mean 'tests/defaults.yml'?"),
        ("nothing-like-it", "name a class file relative to the package, like tests/defaults.yml"),
        ("../package-demo/tests/defaults.txt", "name a class file relative to the package, like tests/defaults.yml"),
        ("../outside.yml", "name a class file relative to the package, like tests/defaults.yml"),
    ],
)
def test_a_missing_test_class(world: PackageWorld, tmp_path: Path, test: str, hint: str) -> None:
    write(tmp_path, {"outside.yml": {"parameters": {}}})
    result = world.compile(test=test)
    assert (result.code, result.error["code"], result.error["hint"]) == (1, "CMD-AUT-010", hint)
    assert not (world.folder / "compiled").exists()


def test_other_spellings_of_the_class_and_the_folder(world: PackageWorld, tmp_path: Path) -> None:
    """Classes may end in `.yaml`; a checkout of a catalog is called `pkg.<name>`; the working directory can be it."""
    write(world.folder, {"tests/deep/second.yaml": {"classes": ["demo.common"]}})
    world.folder = Path(shutil.move(world.folder, tmp_path / "pkg.demo"))
    result = world.compile(test="tests/deep/second.yaml")
    assert result.code == 0, result.stderr
    assert world.data() == {"answer": "42"}
    done = world.cluster.run("-d", str(world.folder), "package", "compile", str(world.folder), TEST)
    assert done.code == 0, done.stderr
    assert sorted(path.name for path in world.folder.iterdir()) == ["common.yml", "compiled", "tests"]
