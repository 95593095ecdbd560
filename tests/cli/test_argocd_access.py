"""Caches and servers of the commands of `argocd`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.argocd.comparing.conftest import app
from tests.argocd.conftest import config_map
from tests.world.git_server import GitServer
from tests.world.repos import GitWorld, git

Call = Callable[..., tuple[int, str, str]]
SECRET = "planted-5ecr3t"


@pytest.mark.requirement("D39", "D41")
def test_a_private_repository(call: Call, tmp_path: Path) -> None:
    remote = GitWorld(tmp_path / "world").remote("shop", files={"web/a.yaml": config_map("private")})
    file = tmp_path / "credentials.yaml"
    with GitServer(remote.path.parent, password=SECRET) as server:
        server.private = True
        source = {"repoURL": f"{server.site}/shop.git", "path": "web"}
        (tmp_path / "app.yaml").write_text(app("shop", "", source=source))
        command = ("-v", "argocd", "render", "--app", str(tmp_path / "app.yaml"), "-o", "name")
        code, out, err = call(*command)
        assert (code, out) == (2, "")
        assert "[CMD-ARGO-312]" in err
        file.write_text(f"- {{url: '{server.site}', username: bot, password: {SECRET}}}\n")
        code, _, err = call(*command, "--credentials", str(file))
        assert (code, "[CMD-ARGO-324]" in err) == (2, True)
        file.chmod(0o600)
        code, out, err = call(*command, "--credentials", str(file))
        assert (code, "ConfigMap" in out) == (0, True), err
        assert SECRET not in out + err


def test_a_cache_that_cannot_be_written_to(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is the same, with one warning; what is fetched is there for this run."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "cache"))
    remote = GitWorld(tmp_path / "world").remote("shop", files={"web/a.yaml": config_map("fetched")})
    with GitServer(remote.path.parent) as server:
        tree = tmp_path / "tree"
        tree.mkdir()
        source = {"repoURL": f"{server.site}/shop.git", "path": "web"}
        (tree / "app.yaml").write_text(app("shop", "", source=source))
        code, out, err = call("argocd", "render", "--path", str(tree), "-o", "name")
        assert (code, out) == (0, "ConfigMap shop/fetched\n"), err
        assert err.count("CMD-ARGO-331") == 1
        git(tree, "init", "-q")
        git(tree, "add", ".")
        git(tree, "commit", "-qm", "one")
        code, _, err = call("argocd", "diff", "--path", str(tree), "--base", "HEAD", "--all")
        assert (code, err.count("CMD-ARGO-331")) == (0, 1)
    assert (tmp_path / "file").read_bytes() == b""
