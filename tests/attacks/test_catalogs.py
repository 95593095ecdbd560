"""A catalog's repository whose files tell git to publish something else than what was rendered."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from commodore.base.errors import PolicyError
from commodore.base.files.workspace import Workspace
from commodore.catalog import commit_message, publish, stage
from commodore.core.sources.git import Git
from tests.attacks.conftest import ATTRIBUTES, Witness
from tests.attacks.test_git import plant
from tests.catalog.conftest import Heard, Run
from tests.catalog.samples import METADATA
from tests.world.context import make_context
from tests.world.repos import Content, GitWorld, Link, Remote, git

RENDERED = {
    "a.yaml": "a: 1\r\nb: $Id$ $Date$\r\n",
    "x/b.yaml": "c: \u00fc\n",
    "x/.hidden/c.yaml": "d\n",
    "lines": "one\ntwo\n",
    "no-end": "x",
}
REFS = {"x/key": "ref\r\n"}


@pytest.fixture
def remote(tmp_path: Path) -> Remote:
    return GitWorld(tmp_path / "remotes").remote("catalog", {"README.md": "mine\n"})


@pytest.fixture
def run(tmp_path: Path, remote: Remote) -> Run:
    return Run(Workspace.at(tmp_path / "wd"), remote, Heard())


def published(remote: Remote) -> dict[str, tuple[str, bytes]]:
    """Everything that the remote has in the folders of the compiler: mode and content by path."""
    results = {}
    for line in git(remote.path, "ls-tree", "-r", "master", "--", "manifests", "refs").splitlines():
        head, _, path = line.partition("\t")
        mode, kind, sha = head.split()
        content = Git(remote.path, make_context()).run(["cat-file", kind, sha]).stdout if kind == "blob" else b""
        results[path] = mode, content
    return results


def expected() -> dict[str, tuple[str, bytes]]:
    trees = {"manifests": RENDERED, "refs": REFS}
    return {f"{top}/{name}": ("100644", text.encode()) for top, tree in trees.items() for name, text in tree.items()}


HOSTILE: dict[str, Mapping[str, Content]] = {
    "ignored": {".gitignore": "manifests\nrefs/\n*.yaml\n"},
    "ignored below": {"manifests/.gitignore": "*\n"},
    "a submodule that is ignored": {".gitmodules": '[submodule "x"]\n\tpath = manifests\n\turl = /x\n\tignore = all\n'},
    "line ends": {".gitattributes": "* text=auto eol=crlf\n"},
    "old line ends": {".gitattributes": "* crlf=input\n"},
    "keywords": {".gitattributes": "* ident\n"},
    "an encoding": {".gitattributes": "* text working-tree-encoding=UTF-16LE-BOM\n"},
    "an encoding that there is not": {".gitattributes": "* working-tree-encoding=none\n"},
    "a filter": {".gitattributes": "* filter=evil\n"},
    "a macro": {".gitattributes": "[attr]binary text eol=crlf filter=evil\n* binary\n"},
    "below": {"manifests/.gitattributes": "* text eol=crlf ident filter=evil\n"},
    "left out of archives": {".gitattributes": "* export-ignore export-subst -diff merge=evil\n"},
    "links": {"manifests": Link("../.git"), "refs": Link("/etc")},
    "files": {"manifests": "x", "refs": "y"},
    "a link to itself": {"manifests": Link("manifests")},
    "a folder for a file": {"manifests/a.yaml/b": "x", "manifests/lines/.gitignore": "*"},
    "a link for a folder": {"manifests/x": Link("../.git/hooks"), "refs/x": Link("../manifests")},
}


@pytest.mark.harmless
@pytest.mark.parametrize("attack", HOSTILE)
def test_what_is_pushed_is_what_was_rendered(
    run: Run, remote: Remote, witness: Witness, monkeypatch: pytest.MonkeyPatch, attack: str
) -> None:
    """The user has a filter of the name that the repository gives, and settings for line ends."""
    for number, (key, value) in enumerate(
        {
            "filter.evil.clean": f"{witness.shell}; echo evil",
            "filter.evil.smudge": f"{witness.shell}; echo evil",
            "filter.evil.required": "true",
            "merge.evil.driver": witness.shell,
            "core.eol": "crlf",
            "core.autocrlf": "true",
        }.items()
    ):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", key)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", value)
        monkeypatch.setenv("GIT_CONFIG_COUNT", str(number + 1))
    remote.commit(HOSTILE[attack])
    kept = {path: entry for path, entry in published(remote).items() if "/." in path and "/x/" not in path}
    run.push(RENDERED, REFS)
    assert {**kept, **expected()} == {**kept, **published(remote)}
    assert not witness.was_written
    assert run.push(RENDERED, REFS).changed is False
    assert run.collected.codes == []


@pytest.mark.harmless
@pytest.mark.parametrize("place", ["manifests", "refs", "manifests/x", "manifests/a.yaml"])
def test_a_submodule_in_place_of_manifests(run: Run, remote: Remote, place: str) -> None:
    sha, (top, _, below) = remote.sha(), place.partition("/")
    if below:
        tree = Git(remote.path, make_context()).run(["mktree"], input=f"160000 commit {sha}\t{below}\n".encode()).text
        plant(remote, ("40000", top, tree))
    else:
        plant(remote, ("160000", top, sha))
    run.push(RENDERED, REFS)
    assert published(remote) == expected()


@pytest.mark.harmless
@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_flags_of_the_index(run: Run, remote: Remote, flag: str) -> None:
    run.push(RENDERED, REFS)
    git(run.workspace.catalog, "update-index", flag, "manifests/lines", "refs/x/key")
    run.push({**RENDERED, "lines": "three\n"}, {"x/key": "new\n"})
    assert published(remote)["manifests/lines"] == ("100644", b"three\n")
    assert published(remote)["refs/x/key"] == ("100644", b"new\n")


@pytest.mark.harmless
def test_attributes_of_an_older_clone(run: Run, remote: Remote) -> None:
    """One in which git has changed the line ends at the checkout."""
    remote.commit({".gitattributes": "* text eol=crlf\n", "manifests/lines": "one\ntwo\n"})
    run.push(RENDERED, REFS)
    clone = run.workspace.catalog
    (clone / ".git" / "info" / "attributes").unlink()
    for path in ("manifests/lines", "README.md"):
        (clone / path).unlink()
    git(clone, "checkout", "--", ".")
    assert b"\r\n" in (clone / "manifests/lines").read_bytes()
    run.push(RENDERED, REFS)
    assert published(remote) == expected()


@pytest.mark.harmless
@pytest.mark.usefixtures("odd_user")
def test_settings_of_the_user(run: Run, remote: Remote, witness: Witness) -> None:
    remote.commit({"manifests/old.yaml": "old\n"})
    run.push(RENDERED, REFS)
    assert published(remote) == expected()
    again = {**RENDERED, "lines": "three\n"}
    run.push(again, REFS)
    assert published(remote)["manifests/lines"] == ("100644", b"three\n")
    assert run.push(again, REFS).changed is False
    assert not witness.was_written


@pytest.mark.harmless
def test_attributes_of_the_clone(run: Run, remote: Remote, witness: Witness) -> None:
    """Others than this program have written them, and rules for what is ignored."""
    run.push(RENDERED, REFS)
    info = run.workspace.catalog / ".git" / "info"
    (info / "attributes").write_text(ATTRIBUTES)
    (info / "exclude").write_text("*\n")
    run.push({**RENDERED, "lines": "three\r\n", "new": "$Id$\n"}, REFS)
    assert published(remote) == {
        **expected(),
        "manifests/lines": ("100644", b"three\r\n"),
        "manifests/new": ("100644", b"$Id$\n"),
    }
    assert not witness.was_written


@pytest.mark.parametrize("change", ["another content", "a file less", "a file more", "a link"])
def test_a_commit_that_is_not_what_was_staged(run: Run, remote: Remote, change: str) -> None:
    """Another program changes the index between the comparison and the commit."""
    clone = run.compile(RENDERED, REFS)
    before, change_staged = remote.sha(), stage(clone, make_context())
    empty = git(clone.path, "hash-object", "-w", "--stdin", input=b"evil")
    match change:
        case "another content":
            git(clone.path, "update-index", "--cacheinfo", f"100644,{empty},manifests/lines")
        case "a file less":
            git(clone.path, "update-index", "--force-remove", "manifests/lines")
        case "a file more":
            git(clone.path, "update-index", "--add", "--cacheinfo", f"100644,{empty},manifests/evil.yaml")
        case "a link":
            git(clone.path, "update-index", "--cacheinfo", f"120000,{empty},manifests/lines")
    with pytest.raises(PolicyError) as caught:
        publish(clone, change_staged, commit_message(METADATA), make_context())
    assert caught.value.code == "CMD-CAT-026"
    assert remote.sha() == before


@pytest.mark.harmless
def test_names_that_git_quotes(run: Run, remote: Remote) -> None:
    remote.commit({".gitignore": "*\n"})
    names = {'"quoted"': "1", "with\nline": "2", "-x": "3", ":(top)x": "4", "tab\t": "5", os.fsdecode(b"\xff"): "6"}
    run.push(names, {})
    answer = Git(remote.path, make_context()).run(["ls-tree", "-r", "-z", "--name-only", "master:manifests"])
    assert sorted(answer.text.split("\0")[:-1]) == sorted(names)
