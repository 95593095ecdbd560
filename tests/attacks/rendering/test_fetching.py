"""Asking servers that trust this machine."""

from __future__ import annotations

import base64
import contextlib
import itertools
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from commodore.base.documents import plain
from commodore.base.errors import CommodoreError, Location, PolicyError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.confinement import TrustPolicy
from commodore.core.confinement.hosts import host_of, is_near
from commodore.core.dependencies.bundle.jsonnetfile import GitSource
from commodore.core.dependencies.bundle.remotes import parse_remote
from commodore.core.dependencies.bundle.sources import LibrarySources, PackageRequest
from commodore.core.engine.kapitan.fetch_git import _update_submodules
from commodore.core.sources.git import RepositoryStore
from tests.core.engine.world import PACKAGE, World, jsonnet
from tests.world.context import make_context
from tests.world.git_server import GitServer
from tests.world.loopback import LoopbackHandler, LoopbackServer
from tests.world.repos import GitWorld, git

NEAR, OTHER = "CMD-CONF-011", "CMD-CONF-012"
ADDRESSES = [
    "http://127.0.0.1:9/x",
    "http://localhost/x",
    "http://LOCALHOST./x",
    "http://127.1/x",
    "http://2130706433/x",
    "http://0x7f.0.0.1/x",
    "http://0177.0.0.1/x",
    "http://[::1]/x",
    "http://[::ffff:127.0.0.1]/x",
    "http://0.0.0.0/x",
    "http://169.254.169.254/latest/meta-data",
    "http://[fe80::1%25eth0]/x",
    "http://metadata.google.internal/x",
    "http://user:password@127.0.0.1/x",
    "http://example.com@127.0.0.1/x",
    "http://a.localhost/x",
    "http://[::127.0.0.1]/x",
    "http://[::ffff:0:127.0.0.1]/x",
    "http://[64:ff9b::a9fe:a9fe]/x",
    "http://[2002:7f00:1::]/x",
    "http://[fd00:ec2::254]/x",
    "http://100.100.100.200/x",
    "http://%31%32%37.0.0.1/x",
    "http://\uff11\uff12\uff17\u30020\u30020\u30021/x",
    "http://local\u00adhost/x",
    "http://127.0.0.1\\@example.com/x",
    "http://example.com\\@127.0.0.1/x",
    "http://ip6-localhost/x",
    "git@[127.0.0.1:22]:x",
    "git@[fe80::1%eth0]:x",
    "git@[::1%lo]:x",
    "[git@::1]:x",
    "[git@127.0.0.1:22]:x",
]


@pytest.mark.parametrize("kind", ["http", "git", "helm"])
def test_dependencies_from_this_machine(world: World, kind: str) -> None:
    chart = {"chart_name": "x", "version": "1"} if kind == "helm" else {}
    for number, address in enumerate(ADDRESSES):
        source = {"type": kind, "source": address, "output_path": f"fetched/{number}", **chart}
        world.add(f"a{number}", jsonnet("a/main.jsonnet"), kapitan={"dependencies": [source]})
    errors = world.fail(near_hosts=False)
    assert [(error.code, error.exit_code) for error in errors] == [(NEAR, 4)] * len(ADDRESSES)
    assert "password" not in str([plain(error) for error in errors])


@pytest.mark.parametrize("address", ["git@localhost:x.git", "ssh://git@127.0.0.1/x", "git::http://169.254.169.254/x"])
def test_bases_from_this_machine(world: World, address: str) -> None:
    wrapper = str(PACKAGE / "scripts" / "run-kustomize")
    entry = {
        "input_type": "external",
        "input_paths": [wrapper],
        "output_path": ".",
        "args": ["${compiled_target_dir}/x"],
    }
    world.tool("kustomize", "exit 0")
    world.add("a", {**entry, "env_vars": {"INPUT_DIR": address}})
    world.add("b", {**entry, "env_vars": {"INPUT_DIR": str(world.root / "dependencies/b/k")}})
    world.write("dependencies/b/k/kustomization.yaml", "resources: [../base]\n")
    world.write("dependencies/b/base/kustomization.yaml", f"resources: ['{address}']\n")
    assert [error.code for error in world.fail(near_hosts=False)] == [NEAR, NEAR]


NAMED_BY_A_KUSTOMIZATION = {
    "a base": {"kustomization.yaml": "resources: ['URL']"},
    "a base in other letters": {"kustomization.yaml": "re\u017fOURCES: ['URL']"},
    "a repository in other letters": {"kustomization.yaml": "re\u017fOURCES: ['me@localhost:x.git']"},
    "a base in base64": {"kustomization.yaml": "resources: [!!binary BASE64]"},
    "a base with an unknown tag": {"kustomization.yaml": "x: !x y\nresources: ['URL']"},
    "a base before another document": {"kustomization.yaml": "resources: ['URL']\n---\na: b"},
    "a repository on this machine": {"kustomization.yaml": "resources: ['file:///srv/private//x']"},
    "a forced repository on this machine": {"kustomization.yaml": "resources: ['git::file:///srv/private//x']"},
    "a repository of another user": {"kustomization.yaml": "resources: ['me@localhost:x.git']"},
    "a repository without a scheme": {"kustomization.yaml": "resources: ['localhost:x.git']"},
    "a patch": {"kustomization.yaml": "patches: [{path: 'URL'}]"},
    "a schema": {"kustomization.yaml": "openapi: {path: 'URL'}"},
    "a file": {"kustomization.yaml": "configMapGenerator: [{name: a, files: ['x=URL']}]"},
    "a plugin": {"kustomization.yaml": "transformers: ['URL']"},
    "a file of a plugin": {"kustomization.yaml": "generators: [g.yaml]", "g.yaml": "PLUGIN"},
    "a file of a plugin in a folder": {
        "kustomization.yaml": "generators: [g]",
        "g/kustomization.yaml": "resources: ['URL']",
    },
    "a file of a plugin in place": {"kustomization.yaml": "generators:\n- |\n  PLUGIN"},
    "a file of a plugin, escaped": {"kustomization.yaml": "generators: [g.yaml]", "g.yaml": "ESCAPED"},
}
PLUGIN = "{apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: g}, files: ['x=URL']}"


def test_what_a_kustomization_names_on_this_machine(world: World) -> None:
    url = "http://127.0.0.1:9/x.yaml"
    words = {
        "PLUGIN": PLUGIN,
        "ESCAPED": PLUGIN.replace("'x=URL'", '"x=URL"').replace("URL", "\\x68ttp:\\x2f/127.0.0.1:9/x.yaml"),
        "BASE64": base64.b64encode(url.encode()).decode(),
        "URL": url,
    }
    world.tool("kustomize", "exit 0")
    names = {way.replace(" ", "-").replace(",", ""): files for way, files in NAMED_BY_A_KUSTOMIZATION.items()}
    for instance, files in names.items():
        for name, text in files.items():
            for word, meaning in words.items():
                text = text.replace(word, meaning)
            world.write(f"dependencies/{instance}/k/{name}", text)
        entry = {
            "input_type": "external",
            "input_paths": [str(PACKAGE / "scripts" / "run-kustomize")],
            "output_path": ".",
            "args": ["${compiled_target_dir}/x"],
        }
        world.add(instance, {**entry, "env_vars": {"INPUT_DIR": str(world.root / f"dependencies/{instance}/k")}})
    errors = world.fail(near_hosts=False)
    for instance in names:
        assert [error.code for error in errors if f"'{instance}'" in error.message] == [NEAR], instance
    assert len(errors) == len(names)


def test_bases_that_lie_elsewhere(world: World) -> None:
    wrapper = str(PACKAGE / "scripts" / "run-kustomize")
    outside = world.root.parent / "private"
    outside.mkdir()
    (outside / "kustomization.yaml").write_text("resources: [secret.yaml]\n")
    world.tool("kustomize", "exit 0")
    for name, source in {"a": str(outside), "b": str(world.root / "dependencies/b")}.items():
        entry = {"input_type": "external", "input_paths": [wrapper], "args": ["${compiled_target_dir}/x"]}
        world.add(name, {**entry, "output_path": ".", "env_vars": {"INPUT_DIR": source}})
    world.write("dependencies/b/kustomization.yaml", "resources: [../../../private]\n")
    assert [error.code for error in world.fail()] == ["CMD-CONF-001", "CMD-CONF-001"]


@pytest.mark.allowed
def test_hosts_of_a_policy(world: World) -> None:
    policy = TrustPolicy(hosts=("*.example.com", "127.0.0.1"))
    policy.require_host("https://git.example.com/x", "it")
    policy.require_host("http://127.0.0.1:8080/x", "it")
    policy.require_host("/srv/git/x", "it")
    for source, code in {"https://example.org/x": OTHER, "http://localhost/x": NEAR}.items():
        with pytest.raises(PolicyError) as caught:
            policy.require_host(source, "it")
        assert caught.value.code == code


@pytest.mark.parametrize(
    ("source", "host"),
    [
        ("https://github.com/a/b", "github.com"),
        ("git@github.com:a/b.git", "github.com"),
        ("git::https://github.com/a/b?ref=v1", "github.com"),
        ("ssh://git@[fe80::1]:22/x", "fe80::1"),
        ("/srv/git", ""),
        ("../x", ""),
        ("file:///srv/git", ""),
    ],
)
@pytest.mark.harmless
def test_hosts(source: str, host: str) -> None:
    assert host_of(source) == host
    assert is_near(host) is (host == "fe80::1")


@pytest.mark.parametrize("remote", ["http://127.0.0.1:9/lib.git", "https://169.254.169.254/lib"])
@pytest.mark.parametrize("version", ["master", "0" * 40])
def test_a_library_from_this_machine(tmp_path: Path, remote: str, version: str) -> None:
    sources = LibrarySources(RepositoryStore(tmp_path / "repos", make_context()), tmp_path / "cache")
    expected = PackageRequest(GitSource(parse_remote(remote, Location("jsonnetfile.json"), DEFAULT_LIMITS)), version)
    (error,) = sources.obtain([expected]).values()
    assert isinstance(error, PolicyError)
    assert error.code == NEAR


class Charts(LoopbackServer):
    """A chart repository with an index, or one that leads elsewhere for it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.index, self.target = b"", ""
        super().__init__(_Handler)


class _Handler(LoopbackHandler):
    world: Charts

    def answer(self) -> None:
        self.world.asked.append(self.path)
        headers = {"Location": self.world.target} if self.world.target else {}
        self.send(302 if headers else 200, headers, self.world.index)


def pulling(world: World, server: Charts, *releases: Mapping[str, object]) -> Path:
    """An instance with a chart of a server that the policy names. Returns a file that helm writes when it starts."""
    started = world.root / "started"
    world.tool("helm", f'touch {started}; mkdir -p "$3/x"')
    server.index = yaml.safe_dump({"apiVersion": "v1", "entries": {"x": list(releases)}}).encode()
    pull(world, server, "a", "x", "1.0.0")
    return started


def pull(world: World, server: Charts, instance: str, chart: str, version: str) -> None:
    source = {"type": "helm", "source": server.site, "chart_name": chart, "version": version}
    world.add(instance, kapitan={"dependencies": [{**source, "output_path": f"fetched/{instance}"}]})


ELSEWHERE = {
    "http://localhost:{port}/x.tgz": NEAR,
    "http://169.254.169.254/latest/meta-data": NEAR,
    "https://evil.example.com/x.tgz": OTHER,
    "//evil.example.com/x.tgz": OTHER,
    "oci://evil.example.com/x": OTHER,
}


@pytest.mark.parametrize("key", ["urls", "URLs", "url\u017f"])
def test_charts_that_the_index_has_on_another_host(world: World, key: str) -> None:
    with Charts() as server:
        started = pulling(world, server)
        world.jobs.clear()
        entries, codes = {}, {}
        for (number, (url, code)), version in itertools.product(enumerate(ELSEWHERE.items()), ("1.0.0", "^1.0")):
            entries[f"x{number}"] = [{"version": "1.0.0", key: ["x.tgz", url.format(port=server.port)]}]
            instance = f"a{len(codes)}"
            codes[instance] = code
            pull(world, server, instance, f"x{number}", version)
        server.index = yaml.safe_dump({"apiVersion": "v1", "entries": entries}).encode()
        errors = world.fail(policy=TrustPolicy(hosts=("127.0.0.1",)), near_hosts=False)
        assert sorted(error.code for error in errors) == sorted(codes.values())
        assert set(server.asked) == {"/index.yaml"}
    assert not started.exists()


@pytest.mark.parametrize(("host", "code"), [("localhost", NEAR), ("evil.example.com", OTHER)])
def test_an_index_that_leads_elsewhere(world: World, host: str, code: str) -> None:
    with Charts() as server:
        started = pulling(world, server)
        server.target = f"http://{host}:{server.port}/elsewhere/index.yaml"
        assert world.fail_once(policy=TrustPolicy(hosts=("127.0.0.1",)), near_hosts=False).code == code
        assert server.asked == ["/index.yaml"]
    assert not started.exists()


def test_an_index_that_cannot_be_judged(world: World) -> None:
    with Charts() as server:
        started = pulling(world, server)
        server.index = b"entries: ["
        assert world.fail_once(policy=TrustPolicy(hosts=("127.0.0.1",)), near_hosts=False).code == "CMD-ENG-028"
    assert not started.exists()


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "http:\\/\\/169.254.169.254/x.tgz",
        "\\x68ttp://169.254.169.254/x.tgz",
        "http:/\\\n/169.254.169.254/x.tgz",
    ],
)
def test_an_index_that_leads_to_the_link_without_a_policy(world: World, url: str) -> None:
    with Charts() as server:
        started = pulling(world, server)
        server.index = f'{{"entries": {{"x": [{{"version": "1.0.0", "urls": ["{url}"]}}]}}}}'.encode()
        assert world.fail_once().code == NEAR
    assert not started.exists()


def test_an_index_with_tags_that_leads_to_the_link(world: World) -> None:
    with Charts() as server:
        started = pulling(world, server)
        hidden = base64.b64encode(b"http://169.254.169.254/x.tgz").decode()
        server.index = f"entries: {{x: [{{version: 1.0.0, urls: [!!binary {hidden}]}}]}}".encode()
        assert world.fail_once().code in (NEAR, "CMD-ENG-028")
    assert not started.exists()


def repositories(tmp_path: Path) -> GitWorld:
    remotes = GitWorld(tmp_path / "remotes")
    remotes.remote("new", {"sub/a": "1"})
    return remotes


@pytest.mark.parametrize("ref", ["master", "COMMIT", "SHORT"])
@pytest.mark.parametrize("target", ["http://localhost:{port}/new.git", "http://169.254.169.254/new.git"])
def test_a_git_server_that_redirects(world: World, tmp_path: Path, ref: str, target: str) -> None:
    """The other one is not asked."""
    remotes = repositories(tmp_path)
    commit = git(remotes.root / "new.git", "rev-parse", "master")
    with GitServer(remotes.root) as lure, GitServer(remotes.root) as other:
        lure.moved["/old.git"] = target.format(port=other.port)
        expected = {"COMMIT": commit, "SHORT": commit[:8]}.get(ref, ref)
        source = {"type": "git", "source": f"{lure.site}/old.git", "output_path": "fetched/x", "ref": expected}
        world.add("a", kapitan={"dependencies": [source]})
        assert world.fail_once(policy=TrustPolicy(hosts=("127.0.0.1",)), near_hosts=False).code == NEAR
        assert other.asked == []


def running_below(process: int) -> list[str]:
    """The command lines of the children of a process."""
    results = []
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        for child in children.read_text().split():
            with contextlib.suppress(OSError):  # it has ended
                results.append(Path(f"/proc/{child}/cmdline").read_text().replace("\0", " "))
    return results


def test_a_submodule_whose_server_redirects(tmp_path: Path) -> None:
    remotes = repositories(tmp_path)
    policy = TrustPolicy(hosts=("127.0.0.1",))
    context = replace(make_context(), check_host=lambda url: policy.require_host(url, "it"))
    with GitServer(remotes.root) as lure, GitServer(remotes.root) as other:
        lure.moved["/old.git"] = f"http://localhost:{other.port}/new.git"
        remote = remotes.remote("x", {".gitmodules": f'[submodule "s"]\n\tpath = s\n\turl = {lure.site}/old.git\n'})
        commit = git(remotes.root / "new.git", "rev-parse", "master")
        listing = f"{git(remote.path, 'ls-tree', 'master')}\n160000 commit {commit}\ts\n"
        commit = git(remote.path, "commit-tree", git(remote.path, "mktree", input=listing.encode()), "-m", "evil")
        git(remote.path, "update-ref", "refs/heads/master", commit)
        git(tmp_path, "clone", "-q", str(remote.path), "clone")
        with pytest.raises(PolicyError) as caught:
            _update_submodules(tmp_path / "clone", f"{lure.site}/x.git", context, policy)
        assert other.asked == []
    assert [words for words in running_below(os.getpid()) if "cat-file" in words] == [], "git goes on"
    assert caught.value.code == NEAR


@pytest.mark.parametrize("version", ["master", "COMMIT"])
def test_a_library_whose_server_redirects(tmp_path: Path, version: str) -> None:
    remotes = repositories(tmp_path)
    commit = git(remotes.root / "new.git", "rev-parse", "master")
    with GitServer(remotes.root) as lure, GitServer(remotes.root) as other:
        lure.moved["/old.git"] = f"http://localhost:{other.port}/new.git"
        store = RepositoryStore(tmp_path / "repos", make_context())
        sources = LibrarySources(store, tmp_path / "cache", policy=TrustPolicy(hosts=("127.0.0.1",)))
        remote = parse_remote(f"{lure.site}/old.git", Location("jsonnetfile.json"), DEFAULT_LIMITS)
        (error,) = sources.obtain(
            [PackageRequest(GitSource(remote), commit if version == "COMMIT" else version)]
        ).values()
        assert other.asked == []
    assert isinstance(error, PolicyError)
    assert error.code == NEAR


@pytest.mark.harmless
def test_where_a_library_lies_is_asked_once_in_a_run(tmp_path: Path) -> None:
    """One question is for the policy, one for the version, and one fetches."""
    remotes = repositories(tmp_path)
    with GitServer(remotes.root) as server:
        store = RepositoryStore(tmp_path / "repos", make_context())
        sources = LibrarySources(store, tmp_path / "cache", policy=TrustPolicy(hosts=("127.0.0.1",)))
        remote = parse_remote(f"{server.site}/new.git", Location("jsonnetfile.json"), DEFAULT_LIMITS)
        (result,) = sources.obtain([PackageRequest(GitSource(remote), "master")]).values()
        assert not isinstance(result, CommodoreError), result
    assert sum("info/refs" in path for _, path in server.asked) == 3


@pytest.mark.allowed
def test_a_chart_of_the_named_host(world: World) -> None:
    """Other versions of the index may lie elsewhere."""
    with Charts() as server:
        other = {"version": "0.9.0", "urls": ["https://old.example.com/x.tgz"]}
        started = pulling(world, server, {"version": "1.0.0", "urls": ["x.tgz"]}, other)
        world.compile(policy=TrustPolicy(hosts=("127.0.0.1",)), near_hosts=False)
    assert started.exists()
