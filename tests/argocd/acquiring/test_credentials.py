"""Credentials for servers of a repository: those of the user only if enabled or in a file."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from commodore.argocd import Options
from commodore.argocd.acquiring import Charts, Repositories
from commodore.argocd.acquiring.credentials_file import scope_of
from commodore.argocd.operations.session import Session, open_session, search_root
from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.sources.git import Git
from tests.argocd.acquiring.test_charts import WEB, packed
from tests.argocd.conftest import Argo, config_map
from tests.world.certificates import make_certificate
from tests.world.folders import write_script
from tests.world.git_server import GitServer
from tests.world.loopback import LoopbackHandler, LoopbackServer
from tests.world.registry import CHART, RegistryServer
from tests.world.repos import GitCalls, GitWorld

SECRET = "planted-5ecr3t"
BASIC = f"Basic {base64.b64encode(f'bot:{SECRET}'.encode()).decode()}"


def write(folder: Path, *entries: dict[str, Any], mode: int = 0o600) -> Path:
    """A file of credentials."""
    folder.mkdir(exist_ok=True)
    file = folder / "credentials.yaml"
    file.write_text(json.dumps(list(entries)), encoding="utf-8")
    file.chmod(mode)
    return file


Asked = AbstractContextManager[Session]


def asking(tmp_path: Path, *entries: dict[str, Any], ambient: bool = False) -> Asked:
    file = write(tmp_path / "own", *entries) if entries else None
    return open_session(Options().having(credentials=file, ambient_credentials=ambient))


def fetch(asked: Asked, url: str) -> str:
    """Return the commit of a fetched repository."""
    with asked as question:
        repositories = Repositories(question.context, question.repo_map, question.scratch)
        try:
            return repositories.tree(url, "").revision
        finally:
            repositories.close()


def chart(asked: Asked, url: str) -> str:
    with asked as question:
        return Charts(question.context, question.scratch).chart(url, "web", "1.2.3").version


@pytest.fixture
def private(tmp_path: Path) -> Iterator[GitServer]:
    """A git server that requires a password."""
    world = GitWorld(tmp_path / "world")
    for name in ("team/shop", "team/other", "else/shop"):
        world.remote(name, files={"a": name})
    with GitServer(world.remote("root", files={"a": "1"}).path.parent, password=SECRET) as server:
        server.private = True
        yield server


@pytest.fixture
def own_ways(private: GitServer, tmp_path: Path) -> None:
    """A user with credentials for git, in every supported way."""
    (Path.home() / ".netrc").write_text(f"machine 127.0.0.1 login bot password {SECRET}\n")
    helper = f"!f() {{ echo username=bot; echo password={SECRET}; }}; f"
    base = f"http://bot:{SECRET}@127.0.0.1:{private.port}"
    (Path.home() / ".gitconfig").write_text(
        f'[credential]\n\thelper = "{helper}"\n[http]\n\textraHeader = "Authorization: {BASIC}"\n'
        f'[url "{base}/team/"]\n\tinsteadOf = http://127.0.0.1:{private.port}/team/\n'
    )


@pytest.mark.requirement("D39", "D40")
@pytest.mark.usefixtures("own_ways")
def test_nothing_of_the_users_is_sent(private: GitServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "http.extraHeader")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", f"Authorization: {BASIC}")
    url = f"{private.site}/team/shop.git"
    with pytest.raises(CommodoreError) as caught:
        fetch(asking(tmp_path), url)
    assert caught.value.code == "CMD-ARGO-312"
    assert "--credentials" in caught.value.hint
    assert {*private.logins} == {""}
    assert fetch(asking(tmp_path, ambient=True), url)


@pytest.mark.requirement("D39", "D41")
@pytest.mark.usefixtures("own_ways")
def test_credentials_are_sent_where_they_are_for(
    private: GitServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The longest prefix counts, the others stay unused; no secret is in a file or on a command line."""
    monkeypatch.setenv("TOKEN", SECRET)
    calls = GitCalls(tmp_path / "calls", monkeypatch)
    entries = (
        {"url": private.site, "username": "bot", "password": "another"},
        {"url": f"{private.site}/team/", "username": "bot", "passwordEnv": "TOKEN"},
    )
    assert fetch(asking(tmp_path, *entries), f"{private.site}/team/shop.git")
    assert {*private.logins} <= {"", BASIC}
    private.logins.clear()
    with pytest.raises(CommodoreError) as caught:
        fetch(asking(tmp_path, *entries), f"{private.site}/else/shop.git")
    assert caught.value.code == "CMD-ARGO-312"
    assert BASIC not in private.logins
    assert SECRET not in calls.lines + str(caught.value)
    planted = [BASIC.partition(" ")[2], SECRET]
    cache = Path(os.environ["XDG_CACHE_HOME"])
    kept = [path for path in cache.rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept for text in planted if text.encode() in path.read_bytes() + str(path).encode()]


def test_a_branch_means_offline_what_it_meant_before(private: GitServer, tmp_path: Path) -> None:
    private.private = False
    url = f"{private.site}/team/shop.git"
    commit = fetch(asking(tmp_path), url)
    codes = []
    for revision in ("master", commit):
        with open_session(Options(context=Context(ignore, DEFAULT_LIMITS, offline=True))) as question:
            repositories = Repositories(question.context, question.repo_map, question.scratch)
            assert repositories.tree(url, revision).revision == commit
            repositories.close()
            codes.append([diagnostic.code for diagnostic in repositories.diagnostics.collected()])
    assert codes == [["CMD-ARGO-321"], []]


@pytest.mark.parametrize(
    "path", ["/team/../else/shop.git", "/team/%2e%2e/else/shop.git", "/team%2f..%2felse/shop.git", "/teams/shop.git"]
)
def test_paths_that_lead_elsewhere_have_no_credentials(path: str, tmp_path: Path) -> None:
    with asking(tmp_path, {"url": "https://git.example.com/team", "password": SECRET}) as question:
        assert question.context.access is not None
        assert question.context.access.headers("https://git.example.com/team/shop.git")
        assert not question.context.access.headers(f"https://git.example.com{path}")
        assert question.context.access.rights(f"https://git.example.com{path}") is None


@pytest.mark.parametrize(
    ("url", "other", "covered"),
    [
        ("https://git.example.com", "https://GIT.example.com:443/a/b.git", True),
        ("https://git.example.com/a/b.git", "https://git.example.com/a/b", True),
        ("https://git.example.com/a/b", "https://git.example.com/a/b.git", True),
        ("https://git.example.com/a", "https://git.example.com/ab", False),
        ("https://git.example.com", "http://git.example.com/a", False),
        ("https://git.example.com", "https://git.example.com.evil.org/a", False),
        ("https://git.example.com", "https://git.example.com:8443/a", False),
        ("https://git.example.com", "https://git.example.com@evil.org/a", False),
        ("ssh://git@git.example.com/a", "git@git.example.com:a/b.git", True),
        ("registry.example.com/team", "oci://registry.example.com/team/web", True),
        ("registry.example.com", "https://registry.example.com/web", False),
    ],
)
def test_what_credentials_cover(url: str, other: str, covered: bool) -> None:
    scope, asked = scope_of(url), scope_of(other)
    assert scope is not None
    assert asked is not None
    assert scope.covers(asked) is covered


class Guarded(LoopbackServer):
    """A web server that requires a login."""

    def __init__(self, files: dict[str, bytes], certificate: Any = None) -> None:
        super().__init__(_Guarded, certificate)
        self.files = files
        self.logins: list[tuple[str, str]] = []


class _Guarded(LoopbackHandler):
    world: Guarded

    def answer(self) -> None:
        login = self.headers.get("Authorization", "")
        self.world.logins.append((self.path, login))
        known = self.path in self.world.files and login == BASIC
        self.send(200 if known else 401, {}, self.world.files[self.path] if known else b"")


@pytest.mark.requirement("D39")
def test_charts_of_a_private_repository(tmp_path: Path) -> None:
    """Its credentials are sent for archives on the same server; to others only with passCredentials."""
    (Path.home() / ".netrc").write_text(f"machine localhost login bot password {SECRET}\n")
    archive = packed(WEB)
    with Guarded({"/web.tgz": archive}) as other, Guarded({"/web.tgz": archive}) as own:
        for place in (f"{own.site}/web.tgz", f"{other.site.replace('127.0.0.1', 'localhost')}/web.tgz"):
            index = f"entries:\n  web:\n  - {{name: web, version: 1.2.3, urls: ['{place}']}}\n"
            own.files["/charts/index.yaml"] = index.encode()
        entry = {"url": f"{own.site}/charts", "username": "bot", "password": SECRET}
        with pytest.raises(CommodoreError) as caught:
            chart(asking(tmp_path), f"{own.site}/charts")
        assert (caught.value.code, own.logins) == ("CMD-ARGO-312", [("/charts/index.yaml", "")])
        with pytest.raises(CommodoreError) as caught:
            chart(asking(tmp_path, entry), f"{own.site}/charts")
        assert (caught.value.code, other.logins) == ("CMD-ARGO-312", [("/web.tgz", "")])
        assert chart(asking(tmp_path, {**entry, "passCredentials": True}), f"{own.site}/charts") == "1.2.3"
        own.files["/charts/index.yaml"] = b"entries:\n  web:\n  - {name: web, version: 1.2.3, urls: ['/web.tgz']}\n"
        assert chart(asking(tmp_path, entry), f"{own.site}/charts/") == "1.2.3"


@pytest.mark.requirement("D39")
@pytest.mark.parametrize("way", ["password", "registryConfig", "ambient"])
def test_charts_of_a_private_registry(tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with RegistryServer() as server:
        server.login = BASIC
        server.push("team/web", "1.2.3", [(CHART, packed(WEB))])
        monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
        config = tmp_path / "config.json"
        config.write_text(json.dumps({"auths": {server.name: {"auth": BASIC.partition(" ")[2]}}}))
        url = f"oci://{server.name}/team"
        with pytest.raises(CommodoreError) as caught:
            chart(asking(tmp_path), url)
        assert caught.value.code == "CMD-ARGO-312"
        assert BASIC not in [login for _, login in server.asked]
        login = {"registryConfig": str(config)} if way == "registryConfig" else {"username": "bot", "password": SECRET}
        entries = () if way == "ambient" else ({"url": url, **login},)
        assert chart(asking(tmp_path, *entries, ambient=way == "ambient"), url) == "1.2.3"
        assert [path for path, login in server.asked if login == BASIC] == ["/token"]


def test_a_certificate_authority_of_one_server(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    files = {
        "/index.yaml": b"entries:\n  web:\n  - {name: web, version: 1.2.3, urls: [web.tgz]}\n",
        "/web.tgz": packed(WEB),
    }
    with Guarded(files, certificate) as server:
        entry = {"url": server.site, "username": "bot", "password": SECRET}
        with pytest.raises(CommodoreError):
            chart(asking(tmp_path, entry), server.site)
        assert chart(asking(tmp_path, {**entry, "caFile": str(certificate.chain)}), server.site) == "1.2.3"


@pytest.mark.requirement("D39", "D50")
@pytest.mark.usefixtures("own_ways")
@pytest.mark.parametrize("way", ["file", "ambient", "none"])
def test_remote_bases_of_kustomize(private: GitServer, argo: Argo, tmp_path: Path, way: str) -> None:
    world = GitWorld(tmp_path / "bases")
    world.remote("base", files={"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": config_map("based")})
    private.root = world.root
    argo.offline = False
    argo.files({"kustomization.yaml": f"resources: ['{private.site}/base.git?ref=master']\n"})
    entries = ({"url": private.site, "username": "bot", "password": SECRET},) if way == "file" else ()
    with asking(tmp_path, *entries, ambient=way == "ambient") as question:
        argo.access = question.context.access
        if way != "none":
            assert [item["metadata"]["name"] for item in argo.objects({"path": "."})] == ["based"]
            return
        with pytest.raises(CommodoreError) as caught:
            argo.objects({"path": "."})
    assert (caught.value.code, {*private.logins}) == ("CMD-ARGO-410", {""})


def test_ssh_is_asked_with_the_key_that_is_given_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program in place of ssh prints its arguments: no key, agent or configuration of the user."""
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent")
    monkeypatch.setenv("GIT_SSH_COMMAND", "ssh -i /home/me/key")
    url = "git@git.example.com:team/shop.git"
    with pytest.raises(CommodoreError) as caught:
        fetch(asking(tmp_path), url)
    assert caught.value.code == "CMD-ARGO-312"
    programs = tmp_path / "programs"
    programs.mkdir()
    write_script(programs / "ssh", f'echo "$SSH_AUTH_SOCK" "$@" >>{tmp_path}/said\nexit 1')
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    key, hosts = tmp_path / "key", tmp_path / "hosts"
    for file in (key, hosts):
        file.write_text("x")
    entry = {"url": "ssh://git@git.example.com", "sshKeyFile": str(key), "sshKnownHostsFile": str(hosts)}
    with pytest.raises(CommodoreError):
        fetch(asking(tmp_path, entry), url)
    said = (tmp_path / "said").read_text()
    assert f"-i {key}" in said
    assert f"UserKnownHostsFile={hosts}" in said
    assert "StrictHostKeyChecking=yes" in said
    assert "/run/agent" not in said
    assert "/home/me/key" not in said


def test_what_is_left_of_the_users_configuration(tmp_path: Path) -> None:
    """Return a URL without credentials."""
    (Path.home() / ".gitconfig").write_text(
        '[url "file:///mirrors/"]\n\tinsteadOf = https://git.example.com/\n[safe]\n\tdirectory = "/a \\"b\\""\n'
        '[url "git@git.example.com:"]\n\tinsteadOf = https://a.example.com/\n[http]\n\tproxy = http://p:1\n'
        f'[url "https://bot:{SECRET}@a"]\n\tinsteadOf = https://b\n[http "https://a"]\n\tsslCAInfo = /ca.pem\n'
        "[user]\n\tname = Tess\n[core]\n\tsshCommand = ssh -i key\n[credential]\n\thelper = store\n"
    )
    with asking(tmp_path) as question:
        assert question.context.access is not None
        assert SECRET not in str(question.context.access.variables())
        listed = Git(tmp_path, question.context).run(["config", "--global", "--list"]).text.splitlines()
    assert sorted(listed) == [
        "http.https://a.sslcainfo=/ca.pem",
        "http.proxy=http://p:1",
        "protocol.ext.allow=never",
        'safe.directory=/a "b"',
        "url.file:///mirrors/.insteadof=https://git.example.com/",
    ]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"url": "https://a.example.com", "passwort": SECRET}, "unknown field [0].passwort"),
        ({"password": SECRET}, "[0].url must be the URL"),
        ({"url": f"https://bot:{SECRET}@a.example.com"}, "[0].url must be the URL"),
        ({"url": "file:///a", "password": SECRET}, "[0].url must be the URL"),
        ({"url": "https://a.example.com", "passwordEnv": "UNSET"}, "names is not set"),
        ({"url": "https://a.example.com", "tokenFile": "missing"}, "must be a readable file"),
        ({"url": "https://a.example.com", "password": SECRET, "tokenEnv": "HOME"}, "password and tokenEnv"),
        (
            {"url": "ssh://git@a.example.com", "sshKeyFile": "credentials.yaml"},
            "[0].sshKnownHostsFile must be a readable",
        ),
        ({"url": "a.example.com/x", "registryConfig": "credentials.yaml"}, "has no login for a.example.com"),
        ({"url": ["https://a.example.com"]}, "must be a list of maps with texts"),
    ],
)
def test_a_file_that_is_wrong(entry: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(CommodoreError) as caught, asking(tmp_path, entry):
        pass
    assert caught.value.code == "CMD-ARGO-323"
    assert said in caught.value.message
    assert SECRET not in str(caught.value) + caught.value.hint


def test_a_file_that_others_may_read_or_that_is_in_the_tree(tmp_path: Path) -> None:
    entry = {"url": "https://a.example.com", "password": SECRET}
    with (
        pytest.raises(CommodoreError) as caught,
        open_session(Options().having(credentials=write(tmp_path, entry, mode=0o640))),
    ):
        pass
    assert caught.value.code == "CMD-ARGO-324"
    tree = tmp_path / "tree"
    (tree / "apps").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(tree)], check=True)
    with (
        open_session(Options().having(credentials=write(tree, entry))) as question,
        pytest.raises(CommodoreError) as caught,
    ):
        search_root(question, tree / "apps")
    assert caught.value.code == "CMD-ARGO-324"
