"""Jsonnet libraries of whole clusters."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.world.cluster import ClusterWorld


def jsonnetfile(*packages: dict[str, object]) -> str:
    return json.dumps({"version": 1, "dependencies": packages, "legacyImports": True})


def git_package(url: str, version: str, subdir: str = "") -> dict[str, object]:
    return {"source": {"git": {"remote": url, "subdir": subdir}}, "version": version}


@pytest.mark.requirement("C2", "C4", "C45")
def test_jsonnetfiles_are_installed(world: ClusterWorld) -> None:
    """Libraries of a component's jsonnetfile can be imported, also by another component."""
    library = world.git.remote("library", {"names/main.libsonnet": "{ name: 'from the library' }"})
    world.component(
        "app",
        {
            "jsonnetfile.json": jsonnetfile(git_package(library.url, "master", "names")),
            "component/main.jsonnet": "{ out: import 'names/main.libsonnet' }",
        },
    )
    result = world.compile()
    assert result.code == 0, result.stderr
    assert world.manifest("app/out.yaml") == {"name": "from the library"}
    library.commit({"names/main.libsonnet": "{ name: 'newer' }"})
    assert world.compile().code == 0
    assert world.manifest("app/out.yaml") == {"name": "newer"}
    library.vanish()
    assert world.compile("--local", "--no-fetch-dependencies").code == 0
    assert world.manifest("app/out.yaml") == {"name": "newer"}


def test_local_mode_without_the_cache(world: ClusterWorld) -> None:
    """Libraries in `vendor` are enough; without them, the hint names the option."""
    library = world.git.remote("library", {"names/main.libsonnet": "{ name: 'from the library' }"})
    files = {
        "jsonnetfile.json": jsonnetfile(git_package(library.url, "master", "names")),
        "component/main.jsonnet": "{ out: import 'names/main.libsonnet' }",
    }
    world.component("app", files)
    world.environment["XDG_CACHE_HOME"] = str(world.root / "cache")
    assert world.compile().code == 0
    shutil.rmtree(world.root / "cache")
    library.vanish()
    result = world.compile("--local")
    assert result.code == 0, result.stderr
    assert world.manifest("app/out.yaml") == {"name": "from the library"}
    shutil.rmtree(world.work / "vendor")
    result = world.compile("--local")
    assert (result.code, result.error["code"]) == (3, "CMD-GIT-023")
    assert "-F (--no-fetch-dependencies)" in result.error["hint"]
    result = world.compile("--offline")
    assert "-F" not in result.error["hint"]


@pytest.mark.requirement("C46", "C47")
def test_jsonnetfiles_are_rendered_with_parameters(world: ClusterWorld) -> None:
    """`jsonnetfile.jsonnet` gets each key of `jsonnetfile_parameters`, as the hierarchy has it."""
    library = world.git.remote("library", {"main.libsonnet": "{ v: 'old' }"})
    library.tag("v1")
    library.commit({"main.libsonnet": "{ v: 'new' }"})
    library.tag("v2")
    world.component(
        "my-app",
        {
            "jsonnetfile.jsonnet": """{
              version: 1,
              dependencies: [{
                source: { git: { remote: std.extVar('library_url'), subdir: '' } },
                version: std.extVar('library_version'),
              }],
              legacyImports: true,
            }""",
            "component/main.jsonnet": "{ out: import 'library/main.libsonnet' }",
        },
        jsonnetfile_parameters={"library_url": library.url, "library_version": "v1"},
    )
    assert world.compile().code == 0
    assert world.manifest("my-app/out.yaml") == {"v": "old"}
    world.tenant_parameters = {"my_app": {"jsonnetfile_parameters": {"library_version": "v2"}}}
    result = world.compile()
    assert result.code == 0, result.stderr
    assert world.manifest("my-app/out.yaml") == {"v": "new"}


@pytest.mark.requirement("C48")
def test_a_parameter_that_is_no_string(world: ClusterWorld) -> None:
    """The key is named."""
    world.component("app", {"jsonnetfile.jsonnet": "{}"}, jsonnetfile_parameters={"count": 3})
    result = world.compile()
    assert result.code == 1
    assert "count" in result.error["message"]
    assert result.error["hint"]


def test_parameters_that_are_no_map(world: ClusterWorld) -> None:
    world.component("app", {"jsonnetfile.jsonnet": "{}"}, jsonnetfile_parameters=["a"])
    result = world.compile()
    assert (result.code, result.error["code"]) == (1, "CMD-DEP-051")
    assert result.error["locations"][0]["place"].endswith("/inventory/classes/defaults/app.yml")


def test_a_library_version_that_does_not_exist(world: ClusterWorld) -> None:
    library = world.git.remote("library", {"main.libsonnet": "{}"})
    world.component("app", {"jsonnetfile.json": jsonnetfile(git_package(library.url, "v9"))})
    result = world.compile()
    assert result.code == 1
    assert "v9" in result.error["message"]


def test_libraries_without_the_cache(world: ClusterWorld) -> None:
    """A commit that is kept needs no remote, and `vendor/` is complete; without the cache both are had anew."""
    library = world.git.remote("library", {"names/main.libsonnet": "{ name: 'from the library' }"})
    package = git_package(library.url, library.sha(), "names")
    files = {
        "jsonnetfile.json": jsonnetfile(package),
        "component/main.jsonnet": "{ out: import 'names/main.libsonnet' }",
    }
    world.component("app", files)
    assert world.compile().code == 0
    installed = world.work / "vendor" / ".cache" / "installed.json"
    noted = installed.stat().st_mtime_ns
    assert world.compile("--no-cache").code == 0
    assert installed.stat().st_mtime_ns != noted
    library.vanish()
    assert world.compile().code == 0
    result = world.compile("--no-cache")
    assert (result.code, result.error["code"][:7]) == (3, "CMD-GIT")
    assert world.compile("--local", "--no-cache").code == 0


def test_local_mode_after_runs_without_the_cache(world: ClusterWorld) -> None:
    """Nothing keeps the libraries then but `vendor/` of the working directory, which is what is compiled."""
    library = world.git.remote("library", {"names/main.libsonnet": "{ name: 'from the library' }"})
    files = {
        "jsonnetfile.json": jsonnetfile(git_package(library.url, "master", "names")),
        "component/main.jsonnet": "{ out: import 'names/main.libsonnet' }",
    }
    world.component("app", files)
    assert world.compile("--no-cache").code == 0
    for options in (["--no-cache"], []):
        result = world.compile("--local", *options)
        assert result.code == 0, result.stderr
