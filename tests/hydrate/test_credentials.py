"""Credentials of pushes, against a real git server that asks for a password."""

from __future__ import annotations

import base64
import os
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml
from joserfc import jwt
from joserfc.jwk import RSAKey

from commodore.base.errors import EnvironmentFault, InputError
from commodore.core.sources.git import RepositoryStore
from commodore.hydrate.branches.destination import open_destination
from commodore.hydrate.model import CommitRules
from commodore.hydrate.publishing.credentials import Credentials, read_credentials
from commodore.hydrate.publishing.publishing import check_push, publish
from tests.conftest import MACHINE_PATH
from tests.hydrate.conftest import Hydrated, config_map, output
from tests.world.context import make_context
from tests.world.git_server import GitServer
from tests.world.loopback import LoopbackHandler, LoopbackServer
from tests.world.ssh_server import ssh_server

LABEL = "argocd.argoproj.io/secret-type"
NO_PROJECTS = frozenset[str]()


def secret(name: str, kind: str = "repository-write", **values: str) -> dict[str, Any]:
    metadata = {"name": name, "labels": {LABEL: kind}}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": values}


def read(tmp_path: Path, *secrets: dict[str, Any]) -> Credentials:
    file, folder = tmp_path / "secrets.yaml", tmp_path / "keys"
    file.write_text(yaml.safe_dump_all(secrets))
    folder.mkdir(exist_ok=True)
    return read_credentials(file, folder, make_context())


@pytest.mark.requirement("H33")
def test_a_push_with_its_own_password(hydrated: Hydrated, tmp_path: Path) -> None:
    """Anything that reads the repository may not push; the Secret may, and is nowhere else."""
    with GitServer(hydrated.remote.path.parent, password="s3cret") as server:
        url = f"{server.site}/{hydrated.remote.path.name}"
        credentials = read(tmp_path, secret("writer", url=url, username="bot", password="s3cret"))
        request = hydrated.request(output("a", config_map("x")))
        with RepositoryStore(tmp_path / "repos", hydrated.context) as store:
            store.sync([(url, "env/dev")])
            repository = store.repository(url)
            with pytest.raises(EnvironmentFault, match="requires credentials for pushes") as caught:
                publish(
                    open_destination(repository, hydrated.context, CommitRules()),
                    [request],
                    lambda asked: [""] * len(asked),
                )
            assert (caught.value.code, "--push-credentials" in caught.value.hint) == ("CMD-HYD-051", True)
            wrong = read(tmp_path, secret("writer", url=url, username="bot", password="wr0ng")).rights(url, NO_PROJECTS)
            with pytest.raises(EnvironmentFault, match="refuses the credentials that --push-credentials has") as caught:
                check_push(open_destination(repository, hydrated.context, CommitRules(), rights=wrong))
            assert caught.value.code == "CMD-HYD-051"
            rights = credentials.rights(url, NO_PROJECTS)
            to = open_destination(repository, hydrated.context, CommitRules(), rights=rights)
            assert not isinstance(publish(to, [request], lambda asked: [""]).results[request.group], Exception)
    assert hydrated.commits() == ["Change 1"]
    kept = b"".join(path.read_bytes() for path in (tmp_path / "repos").rglob("*") if path.is_file())
    assert b"s3cret" not in kept
    assert base64.b64encode(b"bot:s3cret") not in kept


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://git.example.com/org/shop.git", "exact"),
        ("https://git.example.com/org/other", "org"),
        ("https://git.example.com/organisation/other", "host"),
        ("https://git.example.com.evil.example/org/shop", None),
    ],
)
def test_the_secret_that_fits_best(tmp_path: Path, url: str, name: str | None) -> None:
    credentials = read(
        tmp_path,
        secret("host", "repo-write-creds", url="https://git.example.com", bearerToken="host"),
        secret("org", "repo-write-creds", url="https://git.example.com/org", bearerToken="org"),
        secret("exact", url="https://git.example.com/org/shop", bearerToken="exact"),
        secret("reader", "repository", url=url, bearerToken="reader"),
        secret("project", url="https://git.example.com/org/other", bearerToken="project", project="team"),
    )
    rights = credentials.rights(url, frozenset({"default", "team"}))
    tokens = [value.rpartition(" ")[2] for key, value in rights.settings if "extraHeader" in key] if rights else [None]
    assert tokens == [name]


def test_a_key_of_ssh_is_a_file_of_the_user_alone(tmp_path: Path) -> None:
    credentials = read(tmp_path, secret("key", url="ssh://git@git.example.com/shop.git", sshPrivateKey="KEY"))
    rights = credentials.rights("ssh://git@git.example.com/shop.git", NO_PROJECTS)
    assert rights is not None
    (file,) = (tmp_path / "keys").iterdir()
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("KEY\n", 0o600)
    assert f"ssh -i {file} -o IdentitiesOnly=yes" in rights.environment["GIT_SSH_COMMAND"]
    assert "KEY" not in repr(rights)


class _GitHub(LoopbackServer):
    """Gives tokens for a signature of its App. What it was asked is in `asked`."""

    def __init__(self, key: RSAKey, status: int) -> None:
        super().__init__(_GitHubHandler)
        self.key, self.status = key, status
        self.asked: list[tuple[str, dict[str, Any]]] = []


class _GitHubHandler(LoopbackHandler):
    world: _GitHub

    def answer(self) -> None:
        signed = jwt.decode(self.headers["Authorization"].removeprefix("Bearer "), self.world.key)
        self.world.asked.append((self.path, signed.claims))
        self.send(self.world.status, body=b'{"token": "t0ken"}')


@pytest.mark.parametrize("status", [201, 403])
def test_a_github_app(tmp_path: Path, status: int) -> None:
    """It signs for itself with its key, and pushes with the token that it gets for that."""
    key = RSAKey.generate_key(2048)
    with _GitHub(key, status) as server:
        values = {
            "githubAppID": "7",
            "githubAppInstallationID": "42",
            "githubAppPrivateKey": key.as_pem(private=True).decode(),
        }
        url = "https://git.example.com/org"
        result = read(
            tmp_path, secret("app", "repo-write-creds", url=url, githubAppEnterpriseBaseUrl=server.site, **values)
        )
        if status == 403:
            with pytest.raises(EnvironmentFault, match=r"gives no token for the Secret app: 403") as caught:
                result.rights(f"{url}/shop", NO_PROJECTS)
            assert caught.value.code == "CMD-HYD-082"
            return
        rights = result.rights(f"{url}/shop", NO_PROJECTS)
        ((path, claims),) = server.asked
    assert (path, claims["iss"]) == ("/app/installations/42/access_tokens", "7")
    assert claims["exp"] - claims["iat"] <= 600, "GitHub takes no longer ones"
    assert rights is not None
    pair = base64.b64encode(b"x-access-token:t0ken").decode()
    assert ("http.https://git.example.com/.extraHeader", f"Authorization: Basic {pair}") in rights.settings


def test_a_push_with_its_own_key(hydrated: Hydrated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{MACHINE_PATH}")
    with ssh_server(tmp_path / "ssh", os.environ["PATH"]) as server:
        url, key = server.url(hydrated.remote.path), server.key.read_text()
        rights = read(tmp_path, secret("key", url=url, sshPrivateKey=key, insecure="true")).rights(url, NO_PROJECTS)
        request = hydrated.request(output("a", config_map("x")))
        with RepositoryStore(tmp_path / "repos", hydrated.context) as store:
            repository = store.repository(url)
            publish(
                open_destination(repository, hydrated.context, CommitRules(), rights=rights),
                [request],
                lambda asked: [""],
            )
    assert hydrated.commits() == ["Change 1"]


@pytest.mark.parametrize(
    ("secrets", "code"),
    [
        ([secret("one", url="https://git.example.com/x", password="p"),
          secret("two", url="https://git.example.com/x", password="p")], "CMD-HYD-081"),
        ([secret("app", url="https://git.example.com/x", githubAppID="1")], "CMD-HYD-080"),
        ([secret("app", url="https://git.example.com/x", githubAppID="1", githubAppInstallationID="1",
                 githubAppPrivateKey="s3cret")], "CMD-HYD-080"),
        ([secret("none")], "CMD-HYD-080"),
        ([{**secret("bad"), "data": {"password": "s3cret!"}}], "CMD-HYD-080"),
    ],
)  # fmt: skip
def test_secrets_that_cannot_be_used(tmp_path: Path, secrets: list[dict[str, Any]], code: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, *secrets).rights("https://git.example.com/x", NO_PROJECTS)
    assert caught.value.code == code
    assert "s3cret" not in str(caught.value)
