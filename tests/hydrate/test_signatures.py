"""Commits that are signed, and dry commits whose signatures are asked for, with keys made here."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from commodore.base.errors import EnvironmentFault, PolicyError
from commodore.core.sources.git import RepositoryStore
from commodore.hydrate.branches.destination import open_destination
from commodore.hydrate.branches.provenance import check_signature
from commodore.hydrate.model import CommitRules, Outcome, Result
from commodore.hydrate.publishing.publishing import publish as publish_requests
from tests.conftest import MACHINE_PATH
from tests.hydrate.conftest import Hydrated, config_map, output
from tests.world.context import make_context
from tests.world.repos import GitWorld, git

MAIL = "jo@example.com"


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """All programs of the machine are found: the ones that sign are not everywhere."""
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{MACHINE_PATH}")


@pytest.fixture(params=["ssh-keygen", "gpg"])
def signer(request: pytest.FixtureRequest, machine: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A key that git signs with, and whose signatures it finds good. The value is the key's name for git."""
    if shutil.which(request.param) is None:
        pytest.skip(f"there is no {request.param}")
    folder = Path(tempfile.mkdtemp(prefix="keys"))  # sockets of the agent take no long paths
    config = folder / "gitconfig"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GNUPGHOME", str(folder))
    if request.param == "ssh-keygen":
        yield _ssh_key(folder, config)
    else:
        yield _gpg_key(folder, config)
        subprocess.run(["gpgconf", "--kill", "all"], check=True)
    shutil.rmtree(folder, ignore_errors=True)  # the agent may be removing its sockets


def _ssh_key(folder: Path, config: Path) -> str:
    key = folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key], check=True)
    allowed = folder / "allowed"
    allowed.write_text(f"{MAIL} {key.with_suffix('.pub').read_text()}")
    config.write_text(f'[gpg]\nformat = ssh\n[gpg "ssh"]\nallowedSignersFile = {allowed}\n[user]\nsigningKey = {key}\n')
    return str(key)


def _gpg_key(folder: Path, config: Path) -> str:
    words = ["gpg", "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", ""]
    subprocess.run([*words, "--quick-generate-key", f"Jo <{MAIL}>", "ed25519", "sign", "never"], check=True)
    config.write_text(f"[user]\nsigningKey = {MAIL}\n")
    return MAIL


def publish(hydrated: Hydrated, sign: str) -> Result:
    request = hydrated.request(output("a", config_map("x")), branch="env/dev-next", sync="env/dev")
    with RepositoryStore(hydrated.folder / ".repos", hydrated.context) as store:
        store.sync([(hydrated.remote.url, "main")])
        repository = store.repository(hydrated.remote.url)
        to = open_destination(repository, hydrated.context, CommitRules(), sign)
        done = publish_requests(to, [request], lambda asked: [""])
    return done.results[request.group]


@pytest.mark.parametrize("named", [True, False], ids=["a key", "git's own choice"])
def test_commits_are_signed(hydrated: Hydrated, signer: str, named: bool) -> None:
    result = publish(hydrated, signer if named else "")
    assert isinstance(result, Outcome)
    for branch in ("env/dev-next", "env/dev"):
        git(hydrated.remote.path, "verify-commit", branch)


def test_what_does_not_verify_is_not_pushed(hydrated: Hydrated, machine: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of the signature is not one that git finds good; or there is none."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("there is no ssh-keygen")
    folder = hydrated.folder.parent
    config = folder / "gitconfig"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    key = _ssh_key(folder, config)
    (folder / "allowed").write_text("")
    before = git(hydrated.remote.path, "for-each-ref")
    result = publish(hydrated, key)
    assert isinstance(result, EnvironmentFault)
    assert result.code == "CMD-HYD-052"
    result = publish(hydrated, str(folder / "no-such-key"))
    assert isinstance(result, EnvironmentFault)
    assert result.code == "CMD-HYD-052"
    assert git(hydrated.remote.path, "for-each-ref") == before


def test_signatures_of_dry_commits(world: GitWorld, signer: str) -> None:
    remote = world.remote("dry", {"x": "1"}, branch="main")
    who = ["-c", "user.name=Jo", "-c", f"user.email={MAIL}"]
    tree = git(remote.path, "rev-parse", "main^{tree}")
    good = git(remote.path, *who, "commit-tree", "-S", "-m", "Signed", tree)
    changed = git(remote.path, "cat-file", "commit", good).replace("Signed", "Changed")
    forged = git(remote.path, "hash-object", "-t", "commit", "-w", "--stdin", input=f"{changed}\n".encode())
    context = make_context()
    check_signature(remote.path, good, [], context)
    for sha in (forged, remote.sha()):
        with pytest.raises(PolicyError) as caught:
            check_signature(remote.path, sha, ["v1", "none"], context)
        assert caught.value.code == "CMD-HYD-053"
    git(remote.path, *who, "tag", "-s", "-m", "v1", "v1", remote.sha())
    check_signature(remote.path, remote.sha(), ["v1"], context)
    with pytest.raises(PolicyError):
        check_signature(remote.path, forged, ["v1"], context)
