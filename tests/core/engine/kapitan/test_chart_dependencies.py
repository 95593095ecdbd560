"""`helm_params.dependency_update` and `dependency_build`: what a chart lists is fetched, and helm then makes of it what
it would have made.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from commodore.core.confinement import TrustPolicy
from commodore.core.tools import locate_tool
from tests.core.engine.kapitan.test_inputs import helm
from tests.core.engine.world import Kept, World, is_reused
from tests.world.loopback import LoopbackHandler, LoopbackServer
from tests.world.registry import CHART, RegistryServer

TEMPLATE = 'kind: X\nname: {{ .Chart.Name }}-{{ .Chart.Version }}\ntext: {{ .Files.Get "notes.md" }}\n'


def packed(name: str, version: str) -> bytes:
    """A chart whose template shows which one it is. It has a file that the charts around it leave out."""
    content = io.BytesIO()
    files = {"Chart.yaml": metadata(name, version), "templates/x.yaml": TEMPLATE, "notes.md": "noted"}
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(f"{name}/{path}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return content.getvalue()


def metadata(name: str, version: str, *dependencies: Mapping[str, Any]) -> str:
    content = {"apiVersion": "v2", "name": name, "version": version, "dependencies": list(dependencies)}
    return yaml.safe_dump(content)


class Repository(LoopbackServer):
    """A chart repository with `sub` in two versions; counts what it is asked for."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.asked: list[str] = []
        self.charts = {f"/sub-{version}.tgz": packed("sub", version) for version in ("1.0.0", "1.1.0")}

    @property
    def index(self) -> bytes:
        releases = [{"name": "sub", "version": path[5:-4], "urls": [path[1:]]} for path in self.charts]
        return yaml.safe_dump({"apiVersion": "v1", "entries": {"sub": releases}}).encode()


class _Handler(LoopbackHandler):
    world: Repository

    def answer(self) -> None:
        self.world.asked.append(self.path)
        content = self.world.index if self.path == "/index.yaml" else self.world.charts.get(self.path)
        self.send(200 if content is not None else 404, {}, content or b"")


@pytest.fixture
def repository() -> Iterator[Repository]:
    with Repository() as server:
        yield server


def write_chart(world: World, *dependencies: Mapping[str, Any], name: str = "top") -> Path:
    """A chart with these dependencies, next to a chart `near`, and an instance that renders it with them."""
    folder = world.root / "dependencies" / "charts"
    for file, text in {
        f"{name}/Chart.yaml": metadata("top", "1.0.0", *dependencies),
        f"{name}/.helmignore": "*.md\n",
        f"{name}/templates/x.yaml": TEMPLATE,
        "near/Chart.yaml": metadata("near", "2.0.0"),
        "near/templates/x.yaml": TEMPLATE,
        "near/templates/y.yaml": TEMPLATE,
        "near/.helmignore": "y.yaml\n",
    }.items():
        world.write(f"dependencies/charts/{file}", text)
    return folder / name


def entry(**parameters: Any) -> dict[str, Any]:
    given = {"name": "r", "namespace": "n", "dependency_update": True, **parameters}
    return helm(input_paths=["charts/top"], helm_params=given)


def rendered(world: World) -> dict[str, str]:
    return {path: world.read(path) for path in world.files()}


LISTED: dict[str, list[dict[str, Any]]] = {
    "exact": [{"name": "sub", "version": "1.0.0", "repository": "SITE"}],
    "a range": [{"name": "sub", "version": "~1.x", "repository": "SITE/"}],
    "two by alias": [
        {"name": "sub", "version": "1.0.0", "repository": "SITE", "alias": "a"},
        {"name": "sub", "version": "1.1.0", "repository": "SITE", "alias": "b"},
        {"name": "sub", "version": "1.1.0", "repository": "SITE", "alias": "c"},
    ],
    "nearby it": [{"name": "near", "version": ">=1", "repository": "file://../near"}],
    "switched off": [{"name": "sub", "version": "1.0.0", "repository": "SITE", "condition": "x", "tags": ["t"]}],
    "one more than there are": [
        {"name": "own", "version": "0.1.0"},
        {"name": "sub", "version": "1.x", "repository": "SITE"},
        {"name": "near", "version": "2.0.0", "repository": "file://../near"},
    ],
}


@pytest.mark.parametrize("kind", LISTED)
def test_the_same_as_helm_makes_of_it(world: World, repository: Repository, kind: str) -> None:
    listed = [
        {key: value.replace("SITE", repository.site) if key == "repository" else value for key, value in entry.items()}
        for entry in LISTED[kind]
    ]
    chart = write_chart(world, *listed)
    world.write("dependencies/charts/top/charts/own/Chart.yaml", metadata("own", "0.1.0"))
    world.write("dependencies/charts/top/charts/own/templates/x.yaml", TEMPLATE)
    if kind == "one more than there are":  # an archive of another version goes
        (chart / "charts" / "sub-old.tgz").write_bytes(packed("sub", "1.0.0"))
        (chart / "Chart.lock").write_text("dependencies: []\ndigest: x\n")
    program = locate_tool("helm")
    assert program is not None
    shutil.copytree(chart, chart.parent / "top2")
    subprocess.run([program.path, "dependency", "update", chart.parent / "top2"], check=True, capture_output=True)
    world.add("a", entry())
    world.compile()
    ours = rendered(world)
    before = sorted(path for path in (chart / "charts").iterdir())
    shutil.rmtree(chart)
    (chart.parent / "top2").rename(chart)
    world.nodes["a"]["parameters"]["kapitan"]["compile"][0]["helm_params"].pop("dependency_update")
    world.compile()
    assert ours == rendered(world)
    assert len(ours) > 1 or kind == "switched off"
    assert [path.name for path in before] == (["own", "sub-old.tgz"] if "more" in kind else ["own"])


def locked(chart: Path) -> None:
    """The lock as helm makes it of what a chart lists."""
    subprocess.run([real_helm(), "dependency", "update", chart], check=True, capture_output=True)
    shutil.rmtree(chart / "charts")


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_build_takes_the_versions_of_the_lock(world: World, repository: Repository, version: str) -> None:
    """Not newer ones that fit, and not what lies in `charts`."""
    newer = repository.charts.pop("/sub-1.1.0.tgz")
    listed = [
        {"name": "sub", "version": "~1.x", "repository": repository.site},
        {"name": "near", "version": ">=1", "repository": "file://../near"},
    ]
    chart = write_chart(world, *(listed if version == "v2" else ()))
    if version == "v1":
        (chart / "Chart.yaml").write_text("apiVersion: v1\nname: top\nversion: 1.0.0\n")
        (chart / "requirements.yaml").write_text(yaml.safe_dump({"dependencies": listed}))
    locked(chart)
    repository.charts["/sub-1.1.0.tgz"] = newer
    (chart / "charts").mkdir()
    (chart / "charts" / "sub-1.1.0.tgz").write_bytes(newer)
    world.add("a", entry(dependency_update=version == "v1", dependency_build=True))
    world.compile()
    assert "sub-1.0.0" in world.read("a/out/top/charts/sub/templates/x.yaml")
    assert "near-2.0.0" in world.read("a/out/top/charts/near/templates/x.yaml")
    assert [path.name for path in (chart / "charts").iterdir()] == ["sub-1.1.0.tgz"]


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_build_with_the_lock_of_other_dependencies(world: World, version: str) -> None:
    """Helm says the same of it. The message names the files in which the chart has its dependencies."""
    listed = {"name": "near", "version": ">=1", "repository": "file://../near"}
    chart = write_chart(world, *([listed] if version == "v2" else ()))
    listing, lock = ("Chart.yaml", "Chart.lock") if version == "v2" else ("requirements.yaml", "requirements.lock")
    if version == "v1":
        (chart / "Chart.yaml").write_text("apiVersion: v1\nname: top\nversion: 1.0.0\n")
        (chart / listing).write_text(yaml.safe_dump({"dependencies": [listed]}))
    locked(chart)
    (chart / listing).write_text((chart / listing).read_text().replace(">=1", ">=2"))
    said = subprocess.run([real_helm(), "dependency", "build", chart], capture_output=True, text=True)
    assert "out of sync" in said.stderr
    world.add("a", entry(dependency_update=False, dependency_build=True))
    error = world.fail_once()
    assert (error.code, error.exit_code) == ("CMD-ENG-065", 1)
    assert f"{lock} does not match the dependencies in {listing}" in error.message


def test_a_build_without_a_lock_takes_the_newest(world: World, repository: Repository) -> None:
    write_chart(world, {"name": "sub", "version": "~1.x", "repository": repository.site})
    world.add("a", entry(dependency_update=False, dependency_build=True))
    world.compile()
    assert "sub-1.1.0" in world.read("a/out/top/charts/sub/templates/x.yaml")


def test_a_build_comes_from_the_cache(kept: Kept, tmp_path: Path, repository: Repository) -> None:
    """Its versions are exact: the result is reused, and offline it is made of what was fetched once."""
    world = kept.world(tmp_path / "one")
    listed = {"name": "sub", "version": "~1.x", "repository": repository.site}
    locked(write_chart(world, listed))
    world.add("a", entry(dependency_update=False, dependency_build=True))
    assert not is_reused(world)
    repository.charts.clear()
    assert is_reused(world)
    other = kept.world(tmp_path / "two")
    shutil.copytree(world.root / "dependencies", other.root / "dependencies")
    other.write("dependencies/charts/top/templates/more.yaml", TEMPLATE)
    other.add("a", entry(dependency_update=False, dependency_build=True))
    repository.asked.clear()
    other.compile(offline=True)
    assert repository.asked == []
    assert rendered(other).items() >= rendered(world).items()


def test_a_chart_of_a_registry(world: World) -> None:
    with RegistryServer() as registry:
        registry.wants_token = False
        registry.push("charts/sub", "1.0.0", [(CHART, packed("sub", "1.0.0"))])
        listed = {"name": "sub", "version": "1.0.0", "repository": f"oci://{registry.name}/charts"}
        write_chart(world, listed)
        world.tool("helm", f'[ "$1" = pull ] && set -- "$@" --plain-http\nexec {real_helm()} "$@"')
        world.add("a", entry())
        world.compile()
    assert "sub-1.0.0" in world.read("a/out/top/charts/sub/templates/x.yaml")


def real_helm() -> str:
    tool = locate_tool("helm")
    assert tool is not None
    return str(tool.path)


def test_nothing_is_asked_for_if_nothing_is_missing(world: World) -> None:
    """By its name, as for helm: the chart's own makes do."""
    write_chart(world, {"name": "own", "version": "*", "repository": "http://charts.example.com"})
    world.write("dependencies/charts/top/charts/own/Chart.yaml", metadata("own", "0.1.0"))
    world.add("a", entry())
    world.compile()
    assert world.files("a/out/top") == ["templates/x.yaml"]


REFUSED = {
    "@mine": ("CMD-ENG-062", "a user's helm configuration"),
    "alias:mine": ("CMD-ENG-062", "a user's helm configuration"),
    "": ("CMD-ENG-062", "names no repository"),
    "ftp://charts.example.com": ("CMD-ENG-062", "ftp://charts.example.com"),
    "https://user:secret@charts.example.com": ("CMD-ENG-063", "which all who see the chart can read"),
    "file://../nowhere": ("CMD-ENG-062", "there is no folder"),
    "file:///etc": ("CMD-CONF-001", "/etc"),
    "https://charts.example.com": ("CMD-CONF-012", "charts.example.com"),
}


@pytest.mark.parametrize("place", REFUSED)
def test_a_chart_from_where_none_may_come(world: World, place: str) -> None:
    write_chart(world, {"name": "sub", "version": "1.0.0", "repository": place})
    world.add("a", entry())
    error = world.fail_once(policy=TrustPolicy(hosts=("127.0.0.1",)))
    code, said = REFUSED[place]
    assert error.code == code
    assert said in error.message
    assert "the dependency 'sub' of the chart top" in error.message
    assert "secret" not in str(error)


def test_what_was_fetched_is_kept(kept: Kept, tmp_path: Path, repository: Repository) -> None:
    """An exact version for all, a range for runs without network access; and a result of a range is made again."""
    for version, is_kept in (("1.0.0", True), ("~1.x", False)):
        listed = {"name": "sub", "version": version, "repository": repository.site}
        world = kept.world(tmp_path / version)
        write_chart(world, listed)
        world.add("a", entry())
        assert not is_reused(world)
        made = rendered(world)
        assert is_reused(world) == is_kept
        repository.asked.clear()
        other = kept.world(tmp_path / f"other-{version}")
        write_chart(other, listed)
        other.write("dependencies/charts/top/templates/more.yaml", TEMPLATE)
        other.add("a", entry())
        other.compile(offline=True)
        assert repository.asked == []
        assert {path: text for path, text in rendered(other).items() if "more" not in path} == made


def test_offline_what_was_never_fetched(world: World) -> None:
    write_chart(world, {"name": "sub", "version": "1.0.0", "repository": "https://charts.example.com"})
    world.add("a", entry())
    assert world.fail_once(offline=True).code == "CMD-ENG-057"
