"""Commits as files, between a job that renders and a job that pushes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import CommodoreError, InputError, PolicyError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.sources.git import RepositoryStore
from commodore.hydrate.model import CommitRequest, CommitRules, PublishRules
from commodore.hydrate.publishing.bundle import (
    AllowedBranches,
    publish_bundle,
    read_allowed,
    read_bundle,
    write_bundle,
)
from tests.hydrate.conftest import Hydrated, config_map, output
from tests.world.repos import GitWorld, Remote, git

GROUP = "0123456789ab"
INPUTS = f"sha256:{0:064x}"


@pytest.fixture
def commit_request(hydrated: Hydrated) -> CommitRequest:
    request = hydrated.request(output("a", config_map("x", k="1e3", n="")), group=GROUP)
    return replace(request, inputs=INPUTS, url=hydrated.remote.url)


@pytest.mark.requirement("H13")
def test_a_bundle_is_read_as_it_was_written(hydrated: Hydrated, commit_request: CommitRequest, tmp_path: Path) -> None:
    write_bundle(tmp_path / "bundle", [commit_request])
    allowed = [read_allowed(f"{hydrated.remote.url}=env/*")]
    assert read_bundle(tmp_path / "bundle", allowed, DEFAULT_LIMITS) == [commit_request]


@pytest.mark.requirement("H51")
def test_what_is_pushed_is_what_a_run_pushes(
    hydrated: Hydrated, commit_request: CommitRequest, world: GitWorld, tmp_path: Path
) -> None:
    """The same commit id, if the committer's date is that of the dry commit."""
    dated = CommitRules(dated_dry=True)
    hydrated.publish(commit_request, writing=dated)
    other = world.remote("other", {"README.md": "mine\n"}, branch="main")
    write_bundle(tmp_path / "bundle", [replace(commit_request, url=other.url)])
    allowed = [AllowedBranches(other.url, "env/*")]
    requests = read_bundle(tmp_path / "bundle", allowed, DEFAULT_LIMITS)
    with RepositoryStore(tmp_path / "repos", hydrated.context) as store:
        ((_, result),) = publish_bundle(requests, store, hydrated.context, PublishRules(dated, allow_older=True))
    assert not isinstance(result, CommodoreError)
    assert result.word == "committed"
    assert other.sha("env/dev") == hydrated.remote.sha("env/dev")


@pytest.mark.requirement("H51")
def test_what_pushes_loads_nothing_that_renders() -> None:
    code = (
        "import sys, commodore.hydrate.publishing.bundle, commodore.hydrate.publishing.credentials;"
        "print(*(name for name in sys.modules if name.startswith('commodore.')))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "commodore.hydrate.publishing" in loaded
    rooms = {name.split(".")[1] for name in loaded}
    assert not rooms & {"argocd", "engine", "gotemplate", "stages"}


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (lambda dry: dry.commit({"x": "2"}), []),
        (lambda dry: dry.rewrite({"x": "2"}), ["CMD-HYD-037"]),
        (lambda dry: dry.delete_branch("main"), ["CMD-HYD-037"]),
    ],
    ids=["moved", "rewritten", "gone"],
)
def test_a_bundle_that_is_late_is_not_pushed(
    hydrated: Hydrated,
    commit_request: CommitRequest,
    world: GitWorld,
    change: Callable[[Remote], object],
    codes: list[str],
) -> None:
    """Its dry branch is another one since it was rendered."""
    dry = world.remote("dry", {"x": "1"}, branch="main")
    commit = replace(commit_request.commit, sha=dry.sha())
    late = replace(
        commit_request, commit=commit, follows=("main",), scope=replace(commit_request.scope, dry_url=dry.url)
    )
    change(dry)
    with RepositoryStore(hydrated.folder / "repos", hydrated.context) as store:
        ((_, result),) = publish_bundle([late], store, hydrated.context, PublishRules(CommitRules()))
    assert not isinstance(result, CommodoreError)
    assert (result.word, hydrated.collected.codes) == ("superseded", codes)
    assert hydrated.remote.sha("env/dev", missing="none") == "none"


Damage = Callable[[dict[str, Any], Path], None]


def _foreign_path(index: dict[str, Any], folder: Path) -> None:
    index["requests"][0]["paths"][0]["path"] = "../a"


def _foreign_file(index: dict[str, Any], folder: Path) -> None:
    index["requests"][0]["paths"][0]["manifest"] = "../secret.yaml"


def _option(index: dict[str, Any], folder: Path) -> None:
    index["requests"][0]["targetBranch"] = "--force"


def _schema(index: dict[str, Any], folder: Path) -> None:
    index["schema"] = 2


def _digest(index: dict[str, Any], folder: Path) -> None:
    (folder / "manifests" / "0000-00000.yaml").write_text("kind: Other\n")


def _group(index: dict[str, Any], folder: Path) -> None:
    index["requests"][0]["group"] = "../heads/main"


def _missing(index: dict[str, Any], folder: Path) -> None:
    del index["requests"][0]["dryCommit"]


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (_foreign_path, "CMD-HYD-007"),
        (_foreign_file, "CMD-HYD-070"),
        (_option, "CMD-HYD-008"),
        (_schema, "CMD-HYD-070"),
        (_digest, "CMD-HYD-070"),
        (_group, "CMD-HYD-070"),
        (_missing, "CMD-HYD-070"),
    ],
)
def test_a_bundle_is_not_trusted(commit_request: CommitRequest, tmp_path: Path, damage: Damage, code: str) -> None:
    folder = tmp_path / "bundle"
    write_bundle(folder, [commit_request])
    index = json.loads((folder / "bundle.json").read_text())
    damage(index, folder)
    (folder / "bundle.json").write_text(json.dumps(index))
    with pytest.raises(CommodoreError) as caught:
        read_bundle(folder, [AllowedBranches(commit_request.url, "*")], DEFAULT_LIMITS)
    assert caught.value.code == code


@pytest.mark.parametrize("allowed", ["{url}=prod/*", "https://git.example.com/other=*"])
def test_a_bundle_writes_only_where_it_is_allowed(commit_request: CommitRequest, tmp_path: Path, allowed: str) -> None:
    write_bundle(tmp_path / "bundle", [commit_request])
    with pytest.raises(PolicyError, match="the branch env/dev of") as caught:
        read_bundle(tmp_path / "bundle", [read_allowed(allowed.format(url=commit_request.url))], DEFAULT_LIMITS)
    assert caught.value.code == "CMD-HYD-071"


def test_the_branch_of_the_sources_is_never_allowed(commit_request: CommitRequest, tmp_path: Path) -> None:
    scope = replace(commit_request.scope, dry_url=commit_request.url, dry_revisions=("env/dev",))
    write_bundle(tmp_path / "bundle", [replace(commit_request, scope=scope)])
    with pytest.raises(PolicyError, match="not allowed"):
        read_bundle(tmp_path / "bundle", [AllowedBranches(commit_request.url, "*")], DEFAULT_LIMITS)


def test_a_bundle_goes_to_a_new_folder(commit_request: CommitRequest, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is not empty") as caught:
        write_bundle(tmp_path, [commit_request])
    assert caught.value.code == "CMD-HYD-073"
    with pytest.raises(InputError, match="expected REPOSITORY=PATTERN") as caught:
        read_allowed("https://git.example.com/shop")
    assert caught.value.code == "CMD-HYD-072"


def test_an_author_cannot_speak_to_git(hydrated: Hydrated, commit_request: CommitRequest) -> None:
    """A name with line feeds would be commands of the stream that makes commits."""
    assert commit_request.author is not None
    name = "Jo\ncommit refs/heads/main\n<x>"
    hydrated.publish(replace(commit_request, author=replace(commit_request.author, name=name)))
    assert git(hydrated.remote.path, "log", "-1", "--format=%an", "env/dev") == "Jocommit refs/heads/mainx"
    assert hydrated.commits("main") == ["Change"]
