"""Secrets that end where others can read: passwords in URLs, tokens, variables."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commodore.core.results.caches import cache_folder
from tests.attacks.conftest import holding
from tests.world.cluster import ClusterWorld, Result
from tests.world.repos import Remote, git

PASSWORD = "canary-password"
TOKEN = "canary-token"
VARIABLE = "canary-variable"


def hide(world: ClusterWorld, remote: Remote, name: str) -> str:
    """A URL with a password, which git's configuration replaces by the remote's folder."""
    url = f"https://user:{PASSWORD}-{name}@git.example.com/{name}.git"
    git(world.root, "config", "--global", f"url.{remote.url}.insteadOf", url)
    return url


@pytest.fixture
def secretive(world: ClusterWorld, monkeypatch: pytest.MonkeyPatch) -> ClusterWorld:
    """A world whose URLs, token and environment have canaries in them."""
    remote = world.component("c-hidden", data={"fine": "yes"}, metadata={})
    world.descriptions["c-hidden"]["url"] = hide(world, remote, "component")
    package = world.package("hidden", {"common.yml": "parameters: {}\n"})
    world.packages["hidden"]["url"] = hide(world, package, "package")
    world.catalog_url = hide(world, world.catalog, "catalog")
    pushed = "ssh://git@git.example.com/catalog.git"
    git(world.root, "config", "--global", "--add", f"url.{world.catalog.url}.insteadOf", pushed)
    for role, remote in (("defaults", world.defaults), ("tenant", world.tenant_config)):
        url = hide(world, remote, role)
        make = world.tenant_object

        def tenant_object(role: str = role, url: str = url, make: object = make) -> dict[str, object]:
            made = make()  # type: ignore[operator]
            if role == "defaults":
                return {**made, "globalGitRepoURL": url}
            return {**made, "gitRepo": {"url": url}}

        monkeypatch.setattr(world, "tenant_object", tenant_object)
    monkeypatch.setenv("SOME_SECRET", VARIABLE)
    return world


def own(world: ClusterWorld) -> list[Path]:
    """The working directory and the caches, without the files in which the hierarchy's authors wrote the URLs."""
    classes = world.work / "inventory" / "classes"
    top = [path for path in world.work.iterdir() if path.name != "inventory"]
    rest = [classes / "params", classes / "components", classes / "defaults", world.work / "inventory" / "targets"]
    return [path for path in (*top, *rest, cache_folder()) if path.is_dir()]


def check(world: ClusterWorld, *results: Result) -> None:
    for canary in (PASSWORD, TOKEN, VARIABLE):
        for result in results:
            assert canary not in result.stdout
            assert canary not in result.stderr
        assert holding(canary.encode(), own(world)) == []
        assert canary not in world.message()
        assert canary not in str(world.tree())


@pytest.mark.harmless
def test_canaries_of_a_compile(secretive: ClusterWorld) -> None:
    """Two runs, with all words and a trace: what is kept by the first is used by the second."""
    world = secretive
    trace = world.root / "trace"
    with world.lieutenant() as api:
        results = [
            world.run(
                *("-vvv", "-d", str(world.work), "--log-format", "json", "catalog", "compile", world.name),
                *("--api-url", api.url, "--api-token", TOKEN, "--push", "--processes", "1"),
                *("--profile", str(trace)),
            )
            for _ in range(2)
            if world.publish() is None
        ]
        assert [result.code for result in results] == [0, 0], results[0].stderr
        assert not [request for request in api.requests if PASSWORD in str(request.body)]
    assert PASSWORD not in trace.read_text()
    check(world, *results)


@pytest.mark.parametrize("name", ["component", "package", "catalog", "defaults", "tenant"])
def test_canaries_of_a_fetch_that_fails(secretive: ClusterWorld, name: str) -> None:
    world = secretive
    world.publish()
    key = next(
        line.rpartition(" ")[0]
        for line in git(world.root, "config", "--global", "--get-regexp", "insteadof").splitlines()
        if line.endswith(f"/{name}.git")
    )
    git(world.root, "config", "--global", "--unset-all", key)
    result = world.run(*world.command(), "-vvv", HTTPS_PROXY="http://127.0.0.1:1", https_proxy="http://127.0.0.1:1")
    assert result.code == 3
    assert result.errors[0]["code"] == "CMD-GIT-005"
    assert PASSWORD not in result.stderr + result.stdout
    assert holding(PASSWORD.encode(), own(world)) == []


@pytest.mark.harmless
def test_a_password_that_an_older_version_has_stored(secretive: ClusterWorld) -> None:
    """The next run takes it out of the clone's configuration."""
    world = secretive
    assert world.compile("--push").code == 0
    git(world.work / "catalog", "config", "remote.origin.url", world.catalog_url)
    for note in (world.work / "catalog" / ".git").glob("commodore-remote"):
        note.unlink()
    assert world.compile("--push").code == 0
    assert holding(PASSWORD.encode(), own(world)) == []
    assert os.environ["SOME_SECRET"] == VARIABLE


@pytest.mark.harmless
@pytest.mark.parametrize("fails", [False, True])
def test_a_fact_that_nothing_renders(secretive: ClusterWorld, fails: bool) -> None:
    """It lies in the hierarchy that is compiled, and nowhere else: in no log, cache, trace, commit or message."""
    world, canary = secretive, "canary-fact"
    world.facts["unused"] = canary
    if fails:
        world.component("c-bad", {"component/main.jsonnet": "error 'wrong'"})
    world.publish()
    trace = world.root / "trace"
    with world.lieutenant() as api:
        result = world.run(
            *("-vvv", "-d", str(world.work), "catalog", "compile", world.name, "--api-url", api.url),
            *("--api-token", TOKEN, "--push", "--processes", "1", "--profile", str(trace)),
        )
    assert result.code == (1 if fails else 0)
    for text in (canary, PASSWORD, TOKEN, VARIABLE):
        assert text not in result.stdout + result.stderr
        assert text not in str(world.tree())
        assert text not in (trace.read_text() if trace.exists() else "")
    hierarchy = world.work / "inventory" / "classes" / "params" / "cluster.yml"
    assert holding(canary.encode(), [world.work, cache_folder()]) == [hierarchy]
