"""The world of `examples/`, compiled as `make demo` compiles it.

After a wanted change of the examples or of what is made from them: `scripts/demo`, then copy `manifests` and `refs` of
`.cache/demo/catalog` to `tests/golden/examples`, and look at the difference.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.world.lieutenant import LieutenantServer
from tests.world.repos import git

ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests" / "golden" / "examples"


@dataclass(frozen=True, slots=True)
class Demo:
    """A copy of the examples with its repositories and a working directory, as `scripts/demo` has them."""

    root: Path

    @property
    def repositories(self) -> Path:
        return self.root / ".cache" / "demo-repos"

    @property
    def published(self) -> Path:
        """The bare repository of the catalog."""
        return self.repositories / "catalogs" / "c-example.git"

    def compile(self, *options: str) -> str:
        """Compile as `scripts/demo` does and return what was said on standard error."""
        command = [sys.executable, "-m", "commodore", "-d", "demo", "catalog", "compile", "c-example", *options]
        return self.run(*command, "--cluster-file", "examples/cluster.yml")

    def run(self, *command: str) -> str:
        """A command in the environment of the examples, and what it says on standard error."""
        return run(["sh", "-c", '. ./examples/environment; exec "$@"', "sh", *command], self.root)


def run(command: list[str], folder: Path) -> str:
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stderr


def set_up(root: Path) -> Demo:
    shutil.copytree(ROOT / "examples", root / "examples")
    run([str(root / "examples" / "setup")], root)
    return Demo(root)


def tree(folder: Path) -> dict[str, bytes]:
    """The files of a catalog."""
    results = [file for part in ("manifests", "refs") for file in (folder / part).rglob("*") if file.is_file()]
    return {str(file.relative_to(folder)): file.read_bytes() for file in results}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """The world, its catalog compiled and pushed."""
    demo = set_up(tmp_path_factory.mktemp("world"))
    said = demo.compile("--push")
    assert "Pushed commit" in said
    return demo


def test_the_catalog_is_the_golden_one(demo: Demo, tmp_path: Path) -> None:
    """Whoever clones what was pushed finds exactly the golden files."""
    git(tmp_path, "clone", "--quiet", str(demo.published), "clone")
    result, golden = tree(tmp_path / "clone"), tree(GOLDEN)
    assert sorted(result) == sorted(golden)
    assert result == golden


@pytest.mark.requirement("C43")
def test_nfs_instances(demo: Demo) -> None:
    """Two instances, one with share-1, one with share-2; the second inherits the server."""
    shares = {}
    for instance in ("nfs", "nfs-archive"):
        file = demo.root / "demo" / "catalog" / "manifests" / instance / "10_provisioner.yaml"
        _, deployment = yaml.safe_load_all(file.read_text())
        shares[instance] = deployment["spec"]["template"]["spec"]["volumes"][0]["nfs"]
    assert shares == {
        "nfs": {"server": "nfs.example.com", "path": "/exports/share-1"},
        "nfs-archive": {"server": "nfs.example.com", "path": "/exports/share-2"},
    }


def test_the_commit_says_what_was_compiled(demo: Demo) -> None:
    """The commit's message, to the letter."""
    *lines, stamp, _ = git(demo.published, "log", "-1", "--format=%B").split("\n")
    versions = {
        "alerts": ("components/alerts", "v1.0.0"),
        "ingress": ("components/ingress", "v1.0.0"),
        "metrics-agent": ("components/metrics-agent", "v1.1.0"),
        "nfs": ("components/nfs", "v1.0.0"),
        "nfs-archive (nfs)": ("components/nfs", "v1.0.0"),
    }
    expected = ["Automated catalog update from Commodore", "", "Component instance commits:"]
    for name, (path, version) in versions.items():
        expected += entry(demo, name, path, version, f"https://git.example.com/{path}.git")
    expected += ["", "Package commits:"]
    expected += entry(
        demo, "monitoring", "packages/monitoring", "main", "https://git.example.com/packages/monitoring.git"
    )
    expected += ["", "Configuration commits:"]
    for name, path in (("global", "global-defaults"), ("tenant", "tenants/t-example")):
        expected += entry(demo, name, path, "main", f"file://{demo.repositories / path}.git")
    assert lines == [*expected, ""]
    assert re.fullmatch(r"Compilation timestamp: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", stamp)


def entry(demo: Demo, name: str, path: str, version: str, url: str) -> list[str]:
    sha = git(demo.repositories / f"{path}.git", "rev-parse", "--short=6", f"{version}^{{commit}}")
    return [f" * {name}: {version} ({sha})", f"   url: {url}"]


def test_nothing_changes_the_second_time(demo: Demo) -> None:
    """Neither a further run nor one in local mode, which needs no repository, finds anything to change."""
    before = git(demo.published, "rev-parse", "master")
    assert "The catalog has not changed." in demo.compile("--push")
    hidden = demo.repositories.rename(demo.root / "hidden")
    try:
        assert "The catalog has not changed." in demo.compile("--local")
    finally:
        hidden.rename(demo.repositories)
    assert git(demo.published, "rev-parse", "master") == before
    assert tree(demo.root / "demo" / "catalog") == tree(GOLDEN)


def test_setup_depends_on_the_folders_alone(tmp_path: Path) -> None:
    """Two users on two machines get the same commits; running it again changes nothing."""

    def refs(demo: Demo) -> dict[str, str]:
        paths = sorted(demo.repositories.rglob("*.git"))
        return {str(path.relative_to(demo.repositories)): git(path, "show-ref", check=False) for path in paths}

    (tmp_path / "one").mkdir()
    first = refs(set_up(tmp_path / "one"))
    assert sum(bool(item) for item in first.values()) == 8  # all but the catalogs

    settings = tmp_path / "gitconfig"
    settings.write_text("[core]\n\tautocrlf = true\n[commit]\n\tgpgSign = true\n[tag]\n\tgpgSign = true\n")
    (tmp_path / "two").mkdir()
    previous = os.umask(0o077)
    try:
        with pytest.MonkeyPatch.context() as other:
            other.setenv("TZ", "Asia/Tokyo")
            other.setenv("GIT_DIR", "/nowhere")
            other.setenv("GIT_CONFIG_GLOBAL", str(settings))
            second = set_up(tmp_path / "two")
            run([str(tmp_path / "two" / "examples" / "setup")], tmp_path)
    finally:
        os.umask(previous)
    assert refs(second) == first


@pytest.mark.peer
def test_the_published_tool_makes_the_same_catalog(tmp_path: Path, peer: Path) -> None:
    """Byte for byte. It needs jsonnet-bundler, and Lieutenant."""
    if shutil.which("jb") is None:
        pytest.skip("jb is not on PATH")
    demo = set_up(tmp_path)
    facts: dict[str, Any] = yaml.safe_load((tmp_path / "examples" / "cluster.yml").read_text())

    def resolve(url: str) -> str:
        return url.replace("../.cache/demo-repos", demo.repositories.as_uri())

    for fact in facts.values():
        fact["gitRepo"]["url"] = resolve(fact["gitRepo"]["url"])
    facts["tenant"]["globalGitRepoURL"] = resolve(facts["tenant"]["globalGitRepoURL"])
    with LieutenantServer([facts["cluster"]], [facts["tenant"]], token="token") as api:
        command = [str(peer), "-d", "published", "catalog", "compile", "c-example"]
        demo.run(*command, "--api-url", api.url, "--api-token", "token")
    assert tree(tmp_path / "published" / "catalog") == tree(GOLDEN)


@pytest.mark.requirement("FC1", "FC10")
def test_many_clusters_in_two_waves(tmp_path: Path) -> None:
    """Everything that docs/how-to/compile-many-clusters.md shows, offline; equal changes are shown once."""
    demo = set_up(tmp_path)
    run(["examples/setup"], tmp_path)
    files = ["--cluster-file", "examples/many-clusters/clusters.yml", "--waves", "examples/many-clusters/waves.yml"]
    said = demo.run(sys.executable, "-m", "commodore", "-d", "many", "fleet", "compile", "--push", *files)
    assert said.index("c-test: pushed") < said.index("Wave rest: 3 clusters")
    for name in ("c-test", "c-north", "c-south", "c-west"):
        published = demo.repositories / "catalogs" / f"{name}.git"
        assert "manifests/nfs" in git(published, "ls-tree", "-r", "--name-only", "master")
