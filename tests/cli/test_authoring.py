"""`component new|update|delete` and `package new|update`, as they are typed."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.authoring.template_world import ROOT, SECOND, template
from tests.world.repos import GitWorld, Remote, git

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def remote(tmp_path: Path) -> Remote:
    return template(GitWorld(tmp_path / "remotes"))


def answer(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def arguments(folder: Path) -> dict[str, str]:
    load: dict[str, str] = json.loads((folder / ".cruft.json").read_text())["context"]["cookiecutter"]
    return load


def test_new_component_with_all_options(call: Call, tmp_path: Path) -> None:
    words = "component new x-y --name Title --owner me --copyright Me --no-golden-tests --no-matrix-tests --lib --pp"
    words += " --no-automerge-patch --automerge-patch-v0 --no-autorelease -t one --additional-test-case two"
    words += " --add-automerge-patch-block-depname a --add-automerge-patch-block-pattern b"
    words += " --add-automerge-patch-v0-allow-depname c --add-automerge-patch-v0-allow-pattern d"
    words += " --add-automerge-minor-allow-depname e --add-automerge-minor-allow-pattern f --template-version v1"
    code, out, err = call(*words.split())
    assert code == 0, err
    folder = tmp_path / "dependencies" / "x-y"
    assert out.splitlines() == [f"A {name}" for name in sorted(git(folder, "ls-files").splitlines())]
    assert f"Made component x-y in {folder}, to be pushed to ssh://git@github.com/me/component-x-y.git" in err
    made = arguments(folder)
    assert {name: made[name] for name in made if not name.startswith(("_", "github_"))} | {"copyright_year": ""} == {
        "name": "Title",
        "slug": "x-y",
        "parameter_key": "x_y",
        "test_cases": "defaults one two",
        "add_lib": "y",
        "add_pp": "y",
        "add_golden": "n",
        "add_matrix": "y",
        "automerge_patch": "y",
        "automerge_patch_v0": "y",
        "automerge_patch_regexp_blocklist": "^a$;b",
        "automerge_patch_v0_regexp_allowlist": "^c$;d",
        "automerge_minor_regexp_allowlist": "^e$;f",
        "auto_release": "n",
        "copyright_holder": "Me",
        "copyright_year": "",
    }


def test_new_package(call: Call, tmp_path: Path) -> None:
    code, _, err = call("-d", "work", "package", "new", "baz", "--output-dir", "")
    assert (code, (tmp_path / "work" / "dependencies" / "pkg.baz" / ".cruft.json").is_file()) == (0, True), err
    code, _, _ = call("package", "new", "baz", "--output-dir", ".", "--no-golden-tests")
    assert (code, arguments(tmp_path / "baz")["add_golden"]) == (0, "n")


def test_new_refuses_what_is_there(call: Call) -> None:
    assert call("component", "new", "foo")[0] == 0
    code, out, err = call("component", "new", "foo")
    assert (code, out) == (4, "")
    assert "[CMD-TPL-030]" in err


def test_update(call: Call, tmp_path: Path, remote: Remote) -> None:
    options = ["--template-url", remote.url, "--trust-template", "--output-dir", "."]
    assert call("component", "new", "foo", *options)[0] == 0
    remote.commit(SECOND)
    code, out, err = call("component", "update", "foo", "--trust-template", "--no-commit")
    assert (code, "diff --git a/new.txt b/new.txt" in out.splitlines(), "+three" in out.splitlines()) == (0, True, True)
    assert "they were not committed, as requested" in err
    git(tmp_path / "foo", "reset", "--quiet", "--hard")
    git(tmp_path / "foo", "clean", "--quiet", "-fd")
    code, _, err = call("component", "update", "foo", "--trust-template")
    assert (code, f"Updated component foo to its template, main ({remote.sha()[:7]})" in err) == (0, True)
    code, out, err = call("component", "update", "foo", "--trust-template")
    assert (code, out, "The component foo is up to date with its template" in err) == (0, "", True)


def test_update_with_conflicts(call: Call, tmp_path: Path, remote: Remote) -> None:
    call("component", "new", "foo", "--template-url", remote.url, "--trust-template", "--output-dir", ".")
    (tmp_path / "foo" / "numbers.txt").write_text("mine\n", encoding="utf-8")
    git(tmp_path / "foo", "commit", "--quiet", "--all", "--message", "mine")
    remote.commit({f"{ROOT}/numbers.txt": "theirs\n"})
    code, _, err = call("component", "update", "foo", "--trust-template")
    assert code == 1
    assert "[CMD-TPL-017]" in err
    assert f"at {tmp_path / 'foo' / 'numbers.txt'}" in err


def test_update_changes_arguments(call: Call, tmp_path: Path) -> None:
    call("component", "new", "foo", "--output-dir", ".", "--add-automerge-minor-allow-pattern", "a")
    words = "component update foo --copyright Me --lib --no-matrix-tests -t more --remove-test-case defaults"
    words += " --add-automerge-minor-allow-pattern b --remove-automerge-minor-allow-pattern a"
    code, _, err = call(*words.split())
    assert code == 0, err
    made = arguments(tmp_path / "foo")
    assert [made[name] for name in ("copyright_holder", "add_lib", "add_matrix", "test_cases", "add_pp")] == [
        "Me",
        "y",
        "n",
        "more",
        "n",
    ]
    assert made["automerge_minor_regexp_allowlist"] == "b"


def test_update_package(call: Call, tmp_path: Path) -> None:
    call("package", "new", "baz", "--output-dir", ".")
    code, _, err = call("package", "update", "baz", "-t", "more", "--update-copyright-year")
    assert (code, arguments(tmp_path / "baz")["test_cases"]) == (0, "defaults more"), err


def test_delete_asks_first(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without force a question; No is exit code 1."""
    remote = GitWorld(tmp_path / "remotes").remote("component-foo")
    address = "ssh://git@github.com/projectsyn/component-foo.git"
    git(tmp_path, "config", "--global", f"url.{remote.url}.insteadOf", address)
    call("component", "new", "foo")
    folder = tmp_path / "dependencies" / "foo"
    git(folder, "push", "--quiet", "origin", "master")
    answer(monkeypatch, "n\n")
    code, _, err = call("component", "delete", "foo")
    assert (code, err.endswith("Aborted!\n"), folder.exists()) == (1, True, True)
    answer(monkeypatch, "y\n")
    code, _, err = call("component", "delete", "foo")
    assert (code, "Deleted component foo" in err, folder.exists()) == (0, True, False)


def test_delete_with_force_does_not_ask(call: Call, tmp_path: Path) -> None:
    call("component", "new", "foo")
    assert call("component", "delete", "foo")[0] == 4
    assert call("component", "delete", "foo", "--force")[0] == 0
    assert not (tmp_path / "dependencies" / "foo").exists()


def test_delete_what_is_not_there(call: Call) -> None:
    """A usage error."""
    code, _, err = call("component", "delete", "foo")
    assert (code, "[CMD-TPL-040]" in err) == (2, True)
