"""Hydration: sources that read, and destinations that want to be left."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from commodore.base.documents import plain
from commodore.base.errors import CommodoreError, InputError, Location, PolicyError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.sources.git import Git
from commodore.hydrate.branches import layout
from commodore.hydrate.branches.provenance import read_commit
from commodore.hydrate.branches.texts import Texts
from commodore.hydrate.reading.applications import read_config, read_hydration
from commodore.hydrate.reading.sources import read_sources
from tests.attacks.conftest import Secret, Witness, holding
from tests.hydrate.conftest import Heard, Hydrated, collected, config_map, hydrated, output
from tests.hydrate.conftest import world as remotes
from tests.hydrate.test_planning import application
from tests.world.context import make_context
from tests.world.repos import GitWorld, Link

__all__ = ["collected", "hydrated", "world"]

world = remotes
PLACE = Location("app.yaml", 1)
GIT = ("CMD-GIT-010", "CMD-GIT-011")
BRANCH, PATH, TEMPLATE = "CMD-HYD-008", "CMD-HYD-007", "CMD-HYD-025"
STEERING = "\x1b]8;;https://evil.example.com\x07\x1b[31m\x9b31m\u202ex"
CANARY = "canary-in-a-url"
URL = f"https://jo:{CANARY}@git.example.com/dry.git"


@pytest.mark.parametrize("field", ["sync_targetBranch", "to_targetBranch"])
@pytest.mark.parametrize(
    "branch",
    ["--force", "-x", "HEAD", "refs/heads/main", "a:b", "../../hooks/x", "a/../b", "@{-1}", "a.lock", "a\0b",
     "a\nb", ".git/x", f"a{STEERING}", "x" * 300],
)  # fmt: skip
def test_branches_that_are_options_or_elsewhere(field: str, branch: str) -> None:
    with pytest.raises(PolicyError) as caught:
        read_hydration(application("a", **{field: branch}), PLACE)
    assert caught.value.code == BRANCH
    assert not set("\x1b\x07\x9b\u202e") & set(caught.value.message)


@pytest.mark.parametrize(
    "path",
    ["..", "../x", "a/../../x", "/etc", ".git/hooks", "a/.GIT/config", "git~1", ".g\u200cit", "a\\..\\b", "a\nb",
     "hydrator.metadata", ".gitattributes", f"a{STEERING}", "x" * 300],
)  # fmt: skip
def test_output_paths_that_lead_elsewhere(path: str) -> None:
    with pytest.raises(PolicyError) as caught:
        read_hydration(application("a", sync_path=path), PLACE)
    assert caught.value.code == PATH
    assert not set("\x1b\x07\x9b\u202e") & set(caught.value.message)


@pytest.mark.parametrize("field", ["dry_repoURL", "sync_repoURL"])
@pytest.mark.parametrize(
    "url", ["ext::sh -c 'touch /tmp/x'", "--upload-pack=touch", "-oProxyCommand=x", "ssh://-oProxyCommand=x/y"]
)
def test_repositories_that_git_would_execute(field: str, url: str) -> None:
    with pytest.raises(CommodoreError) as caught:
        read_hydration(application("a", **{field: url}), PLACE)
    assert caught.value.code in GIT


@pytest.mark.parametrize("path", ["a", "a/manifest.yaml", "a/README.md", ".gitattributes", "hydrator.metadata"])
def test_links_in_the_destination(hydrated: Hydrated, path: str) -> None:
    before = hydrated.remote.commit({path: Link("../../../..")}, branch="env/dev")
    with pytest.raises(PolicyError) as caught:
        hydrated.publish(hydrated.request(output("a", config_map("x"))))
    assert caught.value.code == PATH
    assert hydrated.remote.sha("env/dev") == before


def config(file: str, part: str) -> dict[str, Any]:
    return {
        "apiVersion": "commodore.dev/v1alpha1",
        "kind": "HydrateConfig",
        "templates": {part: {"file": file}},
        "entries": [],
    }


@pytest.mark.parametrize("part", ["readme", "commitMessage"])
@pytest.mark.parametrize("way", ["absolute", "climbing", "link", "folder link", "environ", "pipe", "device", "large"])
def test_templates_that_read_files_of_the_user(tmp_path: Path, secret: Secret, way: str, part: str) -> None:
    """Anything that is read would be in the commits."""
    folder = tmp_path / "sources"
    folder.mkdir()
    names = {
        "absolute": str(secret.path),
        "climbing": f"../{secret.path.relative_to(tmp_path)}",
        "folder link": f"inside/{secret.path.name}",
        "environ": "/proc/self/environ",
        "device": "/dev/zero",
    }
    with (folder / "large").open("wb") as large:
        large.truncate(1 << 40)  # takes no room
    (folder / "link").symlink_to(secret.path)
    (folder / "inside").symlink_to(secret.path.parent)
    os.mkfifo(folder / "pipe")
    with pytest.raises(InputError) as caught:
        read_config(config(names.get(way, way), part), PLACE, folder)
    assert caught.value.code == TEMPLATE
    assert secret.text not in str(plain(caught.value))


@pytest.mark.harmless
def test_templates_beside_their_configuration(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "real").write_text("text")
    (tmp_path / "link").symlink_to("texts/real")
    assert read_config(config("link", "readme"), PLACE, tmp_path).texts.readme == "text"


@pytest.mark.parametrize(
    "text", ['{{ env "HOME" }}', '{{ expandenv "$HOME" }}', '{{ getHostByName "x" }}', "{{ now }}"]
)
@pytest.mark.parametrize("part", ["readme", "message"])
def test_templates_that_ask_this_machine(text: str, part: str) -> None:
    with pytest.raises(InputError) as caught:
        Texts(**{part: text}).check()
    assert caught.value.code == TEMPLATE


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_sources_that_never_end(tmp_path: Path, kind: str) -> None:
    """In a folder they are passed over, so that nothing is found."""
    folder = tmp_path / "sources"
    folder.mkdir()
    if kind == "pipe":
        os.mkfifo(folder / "a.yaml")
    else:
        (folder / "a.yaml").symlink_to("/dev/zero")
    with pytest.raises(InputError) as caught:
        read_sources([folder], DEFAULT_LIMITS)
    assert caught.value.code == "CMD-HYD-001"
    with pytest.raises(InputError, match="is a pipe or a device") as caught:
        read_sources([folder / "a.yaml"], DEFAULT_LIMITS)
    assert caught.value.code == "CMD-ARGO-101"


def test_sources_that_are_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder they count only if they seem to be sources; nothing is read of half a file."""
    limits = replace(DEFAULT_LIMITS, argocd_file_bytes=1000)
    (tmp_path / "other.yaml").write_text("x: y\n" * 1000)
    (tmp_path / "a.yaml").write_text(yaml.safe_dump({"kind": "Application", **application("a")}))
    assert len(read_sources([tmp_path], limits).applications) == 1
    (tmp_path / "b.yaml").write_text((tmp_path / "a.yaml").read_text() + "---\nx: y\n" * 1000)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((tmp_path / "b.yaml").read_bytes())))
    for place in (tmp_path, tmp_path / "b.yaml", Path("-")):
        with pytest.raises(InputError, match="is larger than 1000 bytes") as caught:
            read_sources([place], limits)
        assert caught.value.code == "CMD-ARGO-101"


@pytest.mark.parametrize(
    "text",
    [
        "sourceHydrator: " + "[" * 100_000,
        "sourceHydrator: {a: *nothing}",
        "sourceHydrator: !!python/object:os.system {}",
    ],
)
def test_sources_that_are_no_yaml(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        read_sources([tmp_path], DEFAULT_LIMITS)
    assert caught.value.code in ("CMD-YAML-001", "CMD-YAML-002", "CMD-YAML-003", "CMD-HYD-001")


@pytest.mark.parametrize(
    "message",
    [
        f"{STEERING} subject",
        "# [x](https://evil.example.com) <script>alert(1)</script> | `x`",
        '{{ .Values }} {{ env "HOME" }}',
        "subject\n\n```\n```shell\nrm -rf /\n```\n",
        "x" * 200_000,
    ],
    ids=["escapes", "markdown", "template", "fence", "long"],
)
@pytest.mark.harmless
def test_messages_of_dry_commits(hydrated: Hydrated, world: GitWorld, collected: Heard, message: str) -> None:
    remote = world.remote("dry", {"a": "1"})
    sha = remote.commit({"a": "2"}, message=message)
    told = read_commit(remote.path, sha, make_context(collected.append))
    root = layout.root_data(URL, told)
    readme = Texts().readme_of(output("a"), root, told)
    request = replace(hydrated.request(replace(output("a", config_map("x")), readme=readme)), commit=told)
    hydrated.publish(replace(request, message=Texts().message_of(root)))
    written = hydrated.files()
    assert not set("\x1b\x07\x9b\u202e") & set(written["a/README.md"])
    assert "<script>" not in written["a/README.md"]
    assert "[x](" not in written["a/README.md"]
    assert hydrated.note()["drySha"] == sha


@pytest.mark.parametrize("place", ["dry", "reference"])
@pytest.mark.harmless
def test_passwords_in_urls(hydrated: Hydrated, world: GitWorld, collected: Heard, tmp_path: Path, place: str) -> None:
    """Neither the files, nor the notes, nor what is kept here has them."""
    remote = world.remote("dry", {"a": "1"})
    trailer = f"Argocd-reference-commit-repourl: {URL}\nArgocd-reference-commit-sha: {'a' * 40}"
    sha = remote.commit({"a": "2"}, message=f"Subject\n\n{trailer}\n" if place == "reference" else "Subject")
    told = read_commit(remote.path, sha, make_context(collected.append))
    assert (told.reference is not None) is (place == "reference")
    hydration = read_hydration(application("a", dry_repoURL=URL), PLACE)
    root = layout.root_data(hydration.dry_url, told)
    made = replace(output("a", config_map("x")), readme=Texts().readme_of(output("a"), root, told))
    request = hydrated.request(made)
    request = replace(request, scope=replace(request.scope, dry_url=hydration.dry_url), commit=told)
    hydrated.publish(replace(request, message=Texts().message_of(root)))
    assert hydrated.files()["hydrator.metadata"]
    assert CANARY not in str(hydrated.files()) + str(hydrated.note()) + repr(collected)
    assert holding(CANARY.encode(), [hydrated.folder]) == []


@pytest.mark.harmless
@pytest.mark.parametrize(
    "files",
    [
        {".gitattributes": "* text eol=crlf ident filter=evil\n"},
        {".gitattributes": "* text working-tree-encoding=UTF-16LE-BOM\n"},
        {".gitignore": "*\n", "a/.gitignore": "*\n"},
        {"a/.gitattributes": "* text eol=crlf filter=evil export-ignore\n"},
    ],
    ids=["filters", "encoding", "ignored", "below"],
)
def test_a_branch_that_wants_other_bytes(
    hydrated: Hydrated, witness: Witness, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]
) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "2")
    for number, (key, value) in enumerate(
        [("filter.evil.clean", f"{witness.shell}; echo evil"), ("core.autocrlf", "true")]
    ):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", key)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", value)
    hydrated.remote.commit(files, branch="env/dev")
    made = output("a", config_map("x", text="one\r\ntwo $Id$\r\n"))
    hydrated.publish(hydrated.request(made))
    git = Git(hydrated.remote.path, make_context())
    assert git.run(["cat-file", "blob", "env/dev:a/manifest.yaml"]).stdout == layout.manifest(made.objects)
    assert not witness.was_written


@pytest.mark.harmless
@pytest.mark.usefixtures("odd_user")
def test_settings_of_the_user(hydrated: Hydrated, witness: Witness) -> None:
    hydrated.remote.commit({"a/old.yaml": "old\n"}, branch="env/dev")
    made = output("a", config_map("x", text="one\r\ntwo $Id$\r\n"))
    hydrated.publish(hydrated.request(made))
    pushed = Git(hydrated.remote.path, make_context()).run(["cat-file", "blob", "env/dev:a/manifest.yaml"]).stdout
    assert pushed == layout.manifest(made.objects)
    assert not witness.was_written


def test_a_submodule_in_the_destination(hydrated: Hydrated) -> None:
    git = Git(hydrated.remote.path, make_context())
    before = hydrated.remote.commit({"b": "mine"}, branch="env/dev")
    listing = f"160000 commit {before}\ta\n".encode()
    tree = git.run(["mktree"], input=listing).text
    made = git.run(["-c", "user.name=x", "-c", "user.email=x@example.com", "commit-tree", tree, "-m", "evil"]).text
    git.run(["update-ref", "refs/heads/env/dev", made])
    with pytest.raises(PolicyError) as caught:
        hydrated.publish(hydrated.request(output("a", config_map("x"))))
    assert caught.value.code == PATH
    assert hydrated.remote.sha("env/dev") == made
