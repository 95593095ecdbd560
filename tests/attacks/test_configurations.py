"""A component's repository whose configuration somebody else wrote: it came as an archive, with its `.git`."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.authoring.rendering import File
from commodore.authoring.three_way_merge import Merge
from commodore.authoring.working_copy import WorkingCopy
from commodore.base.errors import PolicyError
from commodore.core.sources.git import commit, inspect
from tests.attacks.conftest import Witness
from tests.authoring.template_world import SECOND, make, template, update
from tests.world.context import make_context
from tests.world.folders import write_script
from tests.world.repos import GitWorld, git


@pytest.fixture
def foo(tmp_path: Path) -> Path:
    """A component with attributes for every file, whose files git has to read."""
    folder = tmp_path / "foo"
    folder.mkdir()
    for name, text in {
        "numbers": "1\n2\n",
        "other": "x\n",
        ".gitattributes": "* filter=evil diff=evil merge=evil\n",
    }.items():
        (folder / name).write_text(text)
    git(folder, "init", "--quiet", "--template=")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "First")
    for path in (folder / "numbers", folder / "other"):
        path.touch()
    return folder


def change(folder: Path) -> str:
    """All that an update does in the repository of an author."""
    copy = WorkingCopy.at(folder, make_context())
    copy.check_clean()
    merged = Merge({"numbers": File(b"1\n3\n"), "new": File(b"new\n")}, ["other"])
    copy.check_free(merged)
    copy.apply(merged)
    copy.staged()
    return commit(folder, "Update", None, make_context())


RUN: dict[str, str] = {
    "a filter": '[filter "evil"]\n\tclean = {program}\n',
    "a filter of the checkout": '[filter "evil"]\n\tsmudge = {program}\n',
    "a filter that stays": '[filter "evil"]\n\tprocess = {program}\n\trequired\n',
    "another spelling": "[FILTER.evil]\n\tClean={program}\n",
    "one line": '[filter "evil"] clean = {program}\n',
    "signatures": "[gpg]\n\tprogram = {program}\n[commit]\n\tgpgSign\n",
    "signatures by openpgp": '[gpg "openpgp"]\n\tprogram = {program}\n[commit]\n\tgpgSign\n',
    "signatures by ssh": '[gpg]\n\tformat = ssh\n[gpg "ssh"]\n\tprogram = {program}\n[commit]\n\tgpgSign\n'
    "[user]\n\tsigningKey = key::x\n",
    "signatures by x509": '[gpg]\n\tformat = x509\n[gpg "x509"]\n\tprogram = {program}\n[commit]\n\tgpgSign\n',
    "a key for signatures": '[gpg "ssh"]\n\tdefaultKeyCommand = {program}\n[gpg]\n\tformat = ssh\n'
    "[commit]\n\tgpgSign\n",
    "garbage": "[gc]\n\tauto = 1\n\tautoDetach = false\n\trecentObjectsHook = {program}\n",
    "a hook": '[hook "evil"]\n\tevent = pre-commit\n\tcommand = {program}\n',
    "another file": "[include]\n\tpath = more\n",
    "another file on a condition": '[includeIf "gitdir:/"]\n\tpath = more\n',
}
NOT_RUN: dict[str, str] = {
    "fsmonitor": "[core]\n\tfsmonitor = {program}\n",
    "hooks": "[core]\n\thooksPath = {folder}/.git/own\n",
    "an editor": "[core]\n\teditor = {program}\n[sequence]\n\teditor = {program}\n",
    "a pager": "[core]\n\tpager = {program}\n[pager]\n\tdiff = {program}\n\tstatus = {program}\n",
    "a connection": "[core]\n\tsshCommand = {program}\n\tgitProxy = {program}\n\taskPass = {program}\n",
    "credentials": "[credential]\n\thelper = !{program}\n",
    "differences": '[diff]\n\texternal = {program}\n[diff "evil"]\n\tcommand = {program}\n\ttextconv = {program}\n',
    "merges": '[merge "evil"]\n\tdriver = {program}\n',
    "alternates": "[core]\n\talternateRefsCommand = {program}\n",
    "an alias": "[alias]\n\tstatus = !{program}\n\tadd = !{program}\n\tcommit = !{program}\n",
    "a trailer": '[trailer "evil"]\n\tcommand = {program}\n\tcmd = {program}\n\tifmissing = add\n',
    "a submodule": '[submodule "evil"]\n\tupdate = !{program}\n\turl = ext::{program}\n\tactive = true\n',
    "a remote": '[protocol]\n\tallow = always\n[protocol "ext"]\n\tallow = always\n[remote "origin"]\n'
    "\turl = ext::{program}\n\tuploadpack = {program}\n\treceivepack = {program}\n\tvcs = ext\n",
    "another URL": '[url "ext::{program} "]\n\tinsteadOf = /\n\tinsteadOf = https://\n'
    '[protocol "ext"]\n\tallow = always\n',
}
PARTIAL = """[core]
\trepositoryFormatVersion = 1
[extensions]
\tpartialClone = origin
[remote "origin"]
\turl = {folder}
\tuploadpack = {program}
\tpromisor = true
"""


def hostile(folder: Path, text: str, witness: Witness) -> None:
    """Give the repository a configuration, and the programs that it names."""
    program, private = witness.program(folder.parent / "evil"), folder / ".git"
    for name in ("pre-commit", "post-commit", "post-index-change", "reference-transaction", "prepare-commit-msg"):
        for hooks in (private / "own", private / "hooks"):
            hooks.mkdir(exist_ok=True)
            write_script(hooks / name, witness.shell)
    (private / "more").write_text(RUN["a filter"].format(program=program))
    with (private / "config").open("a") as file:
        file.write(text.format(program=program, folder=folder))


@pytest.mark.parametrize("attack", RUN)
def test_programs_that_a_configuration_names(foo: Path, witness: Witness, attack: str) -> None:
    hostile(foo, RUN[attack], witness)
    before = git(foo, "rev-parse", "HEAD")
    with pytest.raises(PolicyError) as caught:
        change(foo)
    assert (caught.value.code, witness.was_written) == ("CMD-GIT-057", False)
    assert git(foo, "rev-parse", "HEAD") == before
    assert (foo / "numbers").read_text() == "1\n2\n"


@pytest.mark.harmless
@pytest.mark.parametrize("attack", NOT_RUN)
def test_programs_that_have_no_part_in_an_update(foo: Path, witness: Witness, attack: str) -> None:
    hostile(foo, NOT_RUN[attack], witness)
    assert change(foo) == git(foo, "rev-parse", "HEAD")
    assert not witness.was_written


def test_an_update_in_a_repository_with_a_program(tmp_path: Path, witness: Witness) -> None:
    remote = template(GitWorld(tmp_path / "remotes"))
    made = make(tmp_path, remote)
    hostile(made, RUN["signatures"], witness)
    remote.commit(SECOND)
    with pytest.raises(PolicyError) as caught:
        update(made)
    assert (caught.value.code, witness.was_written) == ("CMD-GIT-057", False)


@pytest.mark.parametrize("place", ["worktree", "config of a worktree", "below", "behind a file"])
def test_programs_that_are_named_elsewhere(foo: Path, tmp_path: Path, witness: Witness, place: str) -> None:
    """The file in which git looks for the configuration of a repository."""
    folder = foo
    if "worktree" in place:
        folder = tmp_path / "other"
        git(foo, "worktree", "add", "--quiet", str(folder))
        git(foo, "config", "extensions.worktreeConfig", "true")
        (folder / "numbers").touch()
    hostile(foo, "" if place == "config of a worktree" else RUN["a filter"], witness)
    match place:
        case "config of a worktree":
            (foo / ".git" / "worktrees" / "other" / "config.worktree").write_text((foo / ".git" / "more").read_text())
        case "below":
            folder = foo / "below"
            folder.mkdir()
        case "behind a file":
            (foo / ".git").rename(tmp_path / "elsewhere")
            (foo / ".git").write_text("gitdir: ../elsewhere\n")
    with pytest.raises(PolicyError) as caught:
        inspect(folder, make_context())
    assert (caught.value.code, witness.was_written) == ("CMD-GIT-057", False)


def test_objects_that_are_to_be_fetched(foo: Path, witness: Witness) -> None:
    """A command that misses an object of a partial clone connects to its remote."""
    hostile(foo, PARTIAL, witness)
    sha = git(foo, "rev-parse", "HEAD:numbers")
    (foo / ".git" / "objects" / sha[:2] / sha[2:]).unlink()
    with pytest.raises(PolicyError) as caught:
        change(foo)
    assert (caught.value.code, witness.was_written) == ("CMD-GIT-057", False)


@pytest.mark.harmless
def test_what_a_submodule_differs_in(foo: Path, tmp_path: Path, witness: Witness) -> None:
    """Git would compare its files by the configuration that the submodule has itself."""
    program, inner = witness.program(tmp_path / "evil"), foo / "inner"
    inner.mkdir()
    git(inner, "init", "--quiet", "--template=")
    shas = []
    for text in ("1", "2"):
        (inner / "x").write_text(text)
        git(inner, "add", "x")
        git(inner, "commit", "--quiet", "--message", text)
        shas.append(git(inner, "rev-parse", "HEAD"))
    git(foo, "update-index", "--add", "--cacheinfo", f"160000,{shas[0]},inner")
    git(foo, "commit", "--quiet", "--message", "Submodule")
    git(foo, "update-index", "--cacheinfo", f"160000,{shas[1]},inner")
    for folder, text in ((foo, "[diff]\n\tsubmodule = diff\n"), (inner, f"[diff]\n\texternal = {program}\n")):
        with (folder / ".git" / "config").open("a") as file:
            file.write(text)
    WorkingCopy.at(foo, make_context()).staged()
    assert not witness.was_written


def test_another_working_copy(foo: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for root in (tmp_path / "mine", tmp_path):
        git(foo, "config", "core.worktree", str(root))
        with pytest.raises(PolicyError) as caught:
            WorkingCopy.at(foo, make_context())
        assert caught.value.code == "CMD-GIT-058"


@pytest.mark.harmless
@pytest.mark.parametrize("own", ["by the user alone", "by both"])
def test_programs_of_the_user(foo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str) -> None:
    """A user's commits are signed with the program of the user, whose filters run as well."""
    log, settings = tmp_path / "log", tmp_path / "settings"
    write_script(tmp_path / "sign", f"echo sign >>{log}; cat >/dev/null; echo '[GNUPG:] SIG_CREATED ' >&2; echo signed")
    write_script(tmp_path / "clean", f"echo clean >>{log}; cat")
    text = f'[gpg]\n\tprogram = {tmp_path}/sign\n[filter "evil"]\n\tclean = {tmp_path}/clean\n'
    settings.write_text(f"{text}[commit]\n\tgpgSign\n[user]\n\tname = x\n\temail = x@example.com\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    if own == "by both":
        with (foo / ".git" / "config").open("a") as file:
            file.write(text)
    made = change(foo)
    assert "gpgsig signed" in git(foo, "cat-file", "commit", made)
    assert set(log.read_text().split()) == {"sign", "clean"}
