"""`component update` and `package update`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from commodore.authoring import (
    COMPONENT,
    PACKAGE,
    Choices,
    NewRequest,
    UpdateRequest,
    create_repository,
    update_repository,
)
from commodore.base.errors import CommodoreError, EnvironmentFault, InputError, PolicyError
from commodore.base.events import Event, Noted, ignore
from commodore.base.files.workspace import Workspace
from tests.authoring.template_world import ROOT, SECOND, make, template, update
from tests.authoring.test_templates import VERSIONS, script, two_versions  # noqa: F401 - fixtures
from tests.world.context import make_context
from tests.world.repos import GitCalls, GitWorld, Remote, Script, git


@pytest.fixture
def remote(tmp_path: Path) -> Remote:
    return template(GitWorld(tmp_path / "remotes"))


@pytest.fixture
def foo(tmp_path: Path, remote: Remote) -> Path:
    """A component made from the template's first version."""
    return make(tmp_path, remote)


def save(folder: Path, name: str, content: str | None) -> None:
    """Let the author write (or, with None, delete) a file, and commit."""
    path = folder / name
    if content is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message", f"Own {name}")


def cruft(folder: Path) -> dict[str, object]:
    content: dict[str, object] = json.loads((folder / ".cruft.json").read_text())
    return content


def everything(folder: Path) -> dict[str, bytes]:
    """All files besides git's, with the index and HEAD as git shows them."""
    files = {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts}
    return files | {"index": git(folder, "ls-files", "-s").encode(), "head": git(folder, "rev-parse", "HEAD").encode()}


def test_checklist_11_without_changes(foo: Path) -> None:
    """No commit, "up-to-date"."""
    before = everything(foo)
    updated = update(foo)
    assert (updated.changes, updated.commit, updated.slug) == ((), None, "foo")
    assert everything(foo) == before


def test_nothing_is_rendered_without_changes(
    foo: Path, remote: Remote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = GitCalls(tmp_path / "bin", monkeypatch)
    update(foo)
    assert calls.count("read-tree") == 0


def test_the_templates_changes_are_merged(foo: Path, remote: Remote) -> None:
    save(foo, "numbers.txt", (foo / "numbers.txt").read_text().replace("18\n", "eighteen\n"))
    save(foo, "mine.txt", "mine\n")
    second = remote.commit(SECOND)
    updated = update(foo)
    assert updated.changes == (("M", ".cruft.json"), ("A", "new.txt"), ("M", "numbers.txt"), ("D", "old.txt"))
    lines = (foo / "numbers.txt").read_text().splitlines()
    assert (lines[2], lines[17]) == ("three", "eighteen")
    assert (foo / "mine.txt").exists()
    assert git(foo, "status", "--porcelain", "--ignored") == ""
    assert git(foo, "log", "-1", "--format=%B") == f"Update from template\n\nTemplate version: main ({second[:7]})\n"
    assert updated.commit == git(foo, "rev-parse", "HEAD")
    assert cruft(foo)["commit"] == second
    assert cruft(foo)["context"]["cookiecutter"]["_commit"] == second  # type: ignore[index]
    assert "+three" in updated.diff.splitlines()
    assert not updated.only_version
    assert update(foo).changes == ()


def test_modes_of_the_template(foo: Path, remote: Remote) -> None:
    remote.commit(
        {
            f"{ROOT}/sub/run.sh": "#!/bin/sh\n",
            "hooks/post_gen_project.sh": Script("#!/bin/sh\nln -s numbers.txt link\n"),
        }
    )
    assert update(foo).changes == (("M", ".cruft.json"), ("A", "link"), ("M", "sub/run.sh"))
    assert (foo / "sub" / "run.sh").stat().st_mode & 0o777 == 0o644
    assert (foo / "link").readlink() == Path("numbers.txt")


def test_an_empty_folder_goes_with_its_last_file(foo: Path, remote: Remote) -> None:
    remote.commit({f"{ROOT}/sub/run.sh": None})
    update(foo)
    assert not (foo / "sub").exists()


def test_deleted_files_stay_deleted(foo: Path, remote: Remote) -> None:
    save(foo, "numbers.txt", None)
    remote.commit(SECOND)
    update(foo)
    assert not (foo / "numbers.txt").exists()


def test_conflicts_are_marked_and_nothing_is_lost(foo: Path, remote: Remote) -> None:
    mine = (foo / "numbers.txt").read_text().replace("\n3\n", "\nTHREE\n")
    save(foo, "numbers.txt", mine)
    save(foo, "old.txt", "old, but mine\n")
    head = git(foo, "rev-parse", "HEAD")
    second = remote.commit(SECOND)
    with pytest.raises(InputError) as caught:
        update(foo)
    assert caught.value.code == "CMD-TPL-017"
    assert "numbers.txt, old.txt (changed here, deleted by the template)" in caught.value.message
    assert [location.place for location in caught.value.locations] == [str(foo / "numbers.txt"), str(foo / "old.txt")]
    assert git(foo, "status", "--porcelain").splitlines() == [
        "M  .cruft.json",
        "A  new.txt",
        "UU numbers.txt",
        "UD old.txt",
    ]
    marked = "\n<<<<<<< yours\nTHREE\n=======\nthree\n>>>>>>> template now\n"
    assert (foo / "numbers.txt").read_text() == mine.replace("\nTHREE\n", marked)
    assert (foo / "old.txt").read_text() == "old, but mine\n"
    assert (git(foo, "rev-parse", "HEAD"), cruft(foo)["commit"]) == (head, second)
    git(foo, "checkout", "--ours", "--", "numbers.txt")
    assert (foo / "numbers.txt").read_text() == mine
    git(foo, "add", "--all")
    git(foo, "commit", "--quiet", "--message", "Resolved")
    assert update(foo).changes == ()


def test_conflicts_without_commit_are_kept_too(foo: Path, remote: Remote) -> None:
    save(foo, "numbers.txt", "mine\n")
    remote.commit(SECOND)
    with pytest.raises(InputError, match="conflict"):
        update(foo, commit=False)
    assert "UU numbers.txt" in git(foo, "status", "--porcelain")


def test_without_commit_the_changes_stay_in_the_files(foo: Path, remote: Remote) -> None:
    head = git(foo, "rev-parse", "HEAD")
    remote.commit(SECOND)
    updated = update(foo, commit=False)
    assert (updated.commit, git(foo, "rev-parse", "HEAD"), len(updated.changes)) == (None, head, 4)
    status = git(foo, "status", "--porcelain").splitlines()
    assert [line.strip() for line in status] == ["M .cruft.json", "M numbers.txt", "D old.txt", "?? new.txt"]
    assert git(foo, "diff", "--cached") == ""


def test_arguments_change_without_a_new_version(foo: Path) -> None:
    updated = update(foo, Choices(copyright_holder="Me", add_cases=("more",), update_copyright_year=True))
    assert [path for _, path in updated.changes] == [".cruft.json", "cases.txt"]
    assert (foo / "cases.txt").read_text() == "defaults more\n"
    arguments = cruft(foo)["context"]["cookiecutter"]  # type: ignore[index]
    assert (arguments["copyright_holder"], arguments["test_cases"], arguments["flavour"]) == (
        "Me",
        "defaults more",
        "plain",
    )


def test_unknown_arguments_of_the_template_survive(foo: Path, remote: Remote) -> None:
    content = cruft(foo)
    content["context"]["cookiecutter"]["flavour"] = "sweet"  # type: ignore[index]
    (foo / "about.txt").write_text("foo of projectsyn, sweet\n", encoding="utf-8")
    save(foo, ".cruft.json", json.dumps(content, indent=2) + "\n")
    remote.commit({f"{ROOT}/about.txt": "{{ cookiecutter.flavour }}!\n"})
    update(foo)
    assert (foo / "about.txt").read_text() == "sweet!\n"
    assert cruft(foo)["context"]["cookiecutter"]["flavour"] == "sweet"  # type: ignore[index]


def test_another_version_is_followed_from_now_on(foo: Path, remote: Remote) -> None:
    remote.tag("v1")
    remote.commit(SECOND)
    assert update(foo, version="v1").changes == (("M", ".cruft.json"),)
    assert cruft(foo)["checkout"] == "v1"
    assert update(foo).changes == ()
    update(foo, version="main")
    assert (foo / "new.txt").exists()
    update(foo, version="v1")
    assert not (foo / "new.txt").exists()


def test_a_new_version_that_changes_nothing(foo: Path, remote: Remote) -> None:
    remote.commit({"README.md": "about the template"})
    updated = update(foo)
    assert (updated.changes, updated.only_version) == ((("M", ".cruft.json"),), True)
    assert git(foo, "log", "-1", "--format=%s") == "Update from template"


def test_skipped_files_are_left_alone(foo: Path, remote: Remote) -> None:
    content = cruft(foo) | {"skip": ["new.txt"], "own": "kept"}
    save(foo, ".cruft.json", json.dumps(content, indent=2) + "\n")
    save(foo, "pyproject.toml", '[tool.cruft]\nskip = ["num*"]\n')
    remote.commit(SECOND)
    assert update(foo).changes == (("M", ".cruft.json"), ("D", "old.txt"))
    assert (cruft(foo)["skip"], cruft(foo)["own"]) == (["new.txt"], "kept")


def test_in_a_folder_of_a_repository(tmp_path: Path, remote: Remote) -> None:
    whole = tmp_path / "whole"
    (whole / "parts").mkdir(parents=True)
    git(whole, "init", "--quiet")
    folder = make(whole / "parts", remote)
    subprocess.run(["rm", "-r", str(folder / ".git")], check=True)
    save(whole, "numbers.txt", "another one\n")
    save(folder, "numbers.txt", (folder / "numbers.txt").read_text().replace("\n3\n", "\nTHREE\n"))
    remote.commit(SECOND)
    with pytest.raises(InputError):
        update(folder)
    assert git(whole, "status", "--porcelain").splitlines() == [
        "M  parts/foo/.cruft.json",
        "A  parts/foo/new.txt",
        "UU parts/foo/numbers.txt",
        "D  parts/foo/old.txt",
    ]
    assert (whole / "numbers.txt").read_text() == "another one\n"


def test_no_remote_of_the_author_is_touched(foo: Path, remote: Remote) -> None:
    """The published tool sets `origin` to a GitHub address."""
    git(foo, "remote", "set-url", "origin", "https://git.example.com/own/foo.git")
    before = git(foo, "config", "--local", "--list")
    remote.commit(SECOND)
    update(foo)
    assert git(foo, "config", "--local", "--list") == before


@pytest.mark.parametrize("what", ["modified", "staged", "untracked"])
def test_what_is_not_committed_is_not_touched(foo: Path, remote: Remote, what: str) -> None:
    remote.commit(SECOND)
    (foo / ("own.txt" if what == "untracked" else "numbers.txt")).write_text("mine\n", encoding="utf-8")
    if what == "staged":
        git(foo, "add", "--all")
    before = everything(foo)
    with pytest.raises(PolicyError) as caught:
        update(foo)
    assert caught.value.code == "CMD-TPL-013"
    assert ("own.txt" if what == "untracked" else "numbers.txt") in caught.value.message
    assert everything(foo) == before


@pytest.mark.parametrize("ignored", [True, False])
def test_leftover_rejects_are_named(foo: Path, remote: Remote, ignored: bool) -> None:
    if ignored:
        save(foo, ".gitignore", "*.rej\n")
    (foo / "sub" / "run.sh.rej").write_text("@@\n", encoding="utf-8")
    with pytest.raises(PolicyError) as caught:
        update(foo)
    assert caught.value.code == "CMD-TPL-014"
    assert "sub/run.sh.rej" in caught.value.message


@pytest.mark.parametrize("place", ["new.txt", "new.txt/file"])
def test_ignored_files_are_not_overwritten(foo: Path, remote: Remote, place: str) -> None:
    save(foo, ".gitignore", "/new.txt\n")
    (foo / place).parent.mkdir(exist_ok=True)
    (foo / place).write_text("precious\n", encoding="utf-8")
    remote.commit(SECOND)
    before = everything(foo)
    with pytest.raises(PolicyError) as caught:
        update(foo)
    assert caught.value.code == "CMD-TPL-015"
    assert everything(foo) == before


def test_nothing_is_written_through_a_link(foo: Path, remote: Remote, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (foo / "docs").symlink_to(outside)
    save(foo, "own.txt", "mine\n")
    remote.commit({f"{ROOT}/docs/index.adoc": "x\n"})
    with pytest.raises(PolicyError) as caught:
        update(foo)
    assert caught.value.code == "CMD-TPL-015"
    assert list(outside.iterdir()) == []


def test_both_add_the_same_file(foo: Path, remote: Remote) -> None:
    save(foo, "new.txt", "mine\n")
    remote.commit(SECOND)
    with pytest.raises(InputError, match=r"new\.txt"):
        update(foo)
    assert "AA new.txt" in git(foo, "status", "--porcelain")


def test_template_files_that_git_ignores_are_committed(foo: Path, remote: Remote) -> None:
    save(foo, ".gitignore", "/new.txt\n")
    remote.commit(SECOND)
    assert ("A", "new.txt") in update(foo).changes


def test_without_git(foo: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / ".cruft.json").write_bytes((foo / ".cruft.json").read_bytes())
    with pytest.raises(InputError) as caught:
        update(plain)
    assert caught.value.code == "CMD-TPL-012"


def test_without_cruft_json(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        update(tmp_path)
    assert caught.value.code == "CMD-TPL-010"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"commit": "0" * 40}, "CMD-TPL-016"),
        ({"checkout": "v99"}, "CMD-GIT-030"),
        ({"checkout": "--x"}, "CMD-GIT-031"),
        ({"template": "file:///nowhere/t.git"}, "CMD-GIT-005"),
        ({"template": "ext::sh -c x"}, "CMD-GIT-011"),
        ({"context": {"cookiecutter": {"slug": "../x"}}}, "CMD-TPL-001"),
        ({"context": {"cookiecutter": {"slug": "foo", "test_cases": "../x"}}}, "CMD-TPL-005"),
        ({"directory": "nowhere"}, "CMD-TPL-022"),
    ],
)
def test_hostile_and_wrong_cruft_files(foo: Path, remote: Remote, change: dict[str, object], code: str) -> None:
    remote.commit(SECOND)
    save(foo, ".cruft.json", json.dumps(cruft(foo) | change))
    before = everything(foo)
    with pytest.raises(CommodoreError) as caught:
        update(foo)
    assert caught.value.code == code
    assert everything(foo) == before


def test_code_of_a_repositorys_template_does_not_run_unasked(foo: Path) -> None:
    """`.cruft.json` comes with a clone; it must not be able to make commodore run what its author likes."""
    with pytest.raises(PolicyError) as caught:
        update(foo, trust=False)
    assert caught.value.code == "CMD-TPL-020"


def test_trust_is_announced(foo: Path, remote: Remote) -> None:
    collected: list[Event] = []
    update(foo, collected=collected)
    assert Noted(f"the template {remote.url} is trusted; rendering it runs its code") in collected


def test_a_template_that_is_gone(foo: Path, remote: Remote) -> None:
    remote.vanish()
    before = everything(foo)
    with pytest.raises(EnvironmentFault):
        update(foo)
    assert everything(foo) == before


def test_the_bundled_template_offline(tmp_path: Path, two_versions: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """A component of an older commodore, updated by a newer one: the author's edits stay, nothing is fetched."""
    newest = f"v{len(VERSIONS['component'])}"  # `two_versions` has one more
    request = NewRequest(COMPONENT, "foo", template_version=newest, output_dir=tmp_path)
    folder = create_repository(Workspace.at(tmp_path), request, make_context(announce=ignore)).folder
    save(folder, "component/main.jsonnet", "{ own: 1 }\n")
    save(folder, "README.md", (folder / "README.md").read_text() + "\nMore of mine.\n")
    calls = GitCalls(tmp_path / "bin", monkeypatch)
    updated = update(folder, trust=False, version="main")
    assert updated.changes == (("M", ".cruft.json"), ("A", "later.txt"))
    assert (folder / "component" / "main.jsonnet").read_text() == "{ own: 1 }\n"
    assert (folder / "README.md").read_text().endswith("\nMore of mine.\n")
    assert not {"fetch", "ls-remote", "clone", "push", "remote"} & set(calls.verbs)
    assert update(folder, trust=False).changes == ()


def test_options_change_the_bundled_templates_files(tmp_path: Path) -> None:
    folder = make(tmp_path)
    changes = update(folder, Choices(switches={"add_lib": True}, add_cases=("more",)), trust=False).changes
    assert {("A", "lib/foo.libsonnet"), ("A", "tests/more.yml"), ("A", "tests/golden/more/foo/apps/foo.yaml")} <= set(
        changes
    )
    save(folder, "tests/more.yml", "parameters: {foo: {own: 1}}\n")
    with pytest.raises(InputError, match=r"tests/more\.yml \(changed here, deleted by the template\)"):
        update(folder, Choices(remove_cases=("more",)), trust=False)


def test_made_by_a_newer_commodore(tmp_path: Path) -> None:
    folder = make(tmp_path)
    save(folder, ".cruft.json", json.dumps(cruft(folder) | {"commit": "f" * 40}))
    with pytest.raises(InputError) as caught:
        update(folder, trust=False)
    assert (caught.value.code, caught.value.hint) == (
        "CMD-TPL-016",
        "it was made by a newer commodore; use that version",
    )


def test_a_component_is_no_package(tmp_path: Path) -> None:
    folder = make(tmp_path)
    with pytest.raises(InputError) as caught:
        update_repository(UpdateRequest(PACKAGE, folder), make_context(announce=ignore))
    assert caught.value.code == "CMD-TPL-026"


def test_a_package_is_updated(tmp_path: Path) -> None:
    made = create_repository(Workspace.at(tmp_path), NewRequest(PACKAGE, "baz"), make_context(announce=ignore))
    request = UpdateRequest(PACKAGE, made.folder, Choices(add_cases=("more",)))
    assert ("A", "tests/more.yml") in update_repository(request, make_context(announce=ignore)).changes


def test_a_component_without_the_arguments_of_today(foo: Path, remote: Remote) -> None:
    """Arguments that an old `.cruft.json` lacks are found in the files, and no traceback is seen."""
    content = cruft(foo)
    for name in ("add_golden", "add_matrix", "copyright_holder", "copyright_year", "test_cases"):
        del content["context"]["cookiecutter"][name]  # type: ignore[attr-defined]
    save(foo, ".cruft.json", json.dumps(content, indent=2) + "\n")
    remote.commit(SECOND)
    update(foo)
    arguments = cruft(foo)["context"]["cookiecutter"]  # type: ignore[index]
    assert (arguments["add_golden"], arguments["copyright_holder"], arguments["test_cases"]) == (
        "n",
        "VSHN AG <info@vshn.ch>",
        "defaults",
    )
