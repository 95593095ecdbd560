"""`commodore catalog diff`, and `catalog compile --diff`."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.core.review import FLAGS
from tests.world.cluster import ROOT
from tests.world.repos import git

Call = Callable[..., tuple[int, str, str]]

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: n\ndata:\n  a: '{value}'\n"
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: gone\n"


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        file = folder / "manifests" / name / "a.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A catalog with two commits, and changes that are not committed."""
    folder = tmp_path / "catalog"
    folder.mkdir()
    git(folder, "init", "--quiet")
    for value in ("1", "2"):
        write(folder, one=CONFIG.format(name="x", value=value), two=NAMESPACE)
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "-m", value)
    write(folder, one=CONFIG.format(name="x", value="3"), two=CONFIG.format(name="y", value="1"))
    return folder


def test_the_working_copy_against_its_head(call: Call, repository: Path) -> None:
    code, out, _ = call("-d", str(repository.parent), "catalog", "diff")
    assert code == 1
    assert "! critical: deletes-namespace: the namespace goes, with everything in it: Namespace gone" in out
    assert "    data.a\n    - 2\n    + 3\n" in out


def test_two_revisions(call: Call, repository: Path) -> None:
    code, out, _ = call("catalog", "diff", str(repository), "--base", "HEAD~1", "--target", "HEAD")
    assert (code, out) == (1, "1 changed\n\n~ ConfigMap n/x\n    data.a\n    - 1\n    + 2\n")
    same = call("catalog", "diff", str(repository), "--base", "HEAD", "--target", "HEAD")
    assert same[:2] == (0, "no object differs\n")


def test_two_folders(call: Call, tmp_path: Path) -> None:
    old = write(tmp_path / "old", one=CONFIG.format(name="x", value="1"))
    new = write(tmp_path / "new", one=CONFIG.format(name="x", value="2"))
    assert call("catalog", "diff", "--base", str(old), "--target", str(new))[0] == 1
    assert call("catalog", "diff", "--base", str(old), "--target", str(old))[0] == 0


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--fail-on", "deletes-namespace"], 1),
        (["--fail-on", "any"], 1),
        (["--fail-on", "deletes-crd"], 0),
        (["--kind", "ConfigMap", "--fail-on", "any"], 0),
        (["--kind", "Secret"], 0),
        (["--instance", "one", "--name", "x"], 1),
        (["--instance", "one", "--name", "y"], 0),
        (["--namespace", "n"], 1),
        (["--path", "manifests/t*/*"], 1),
    ],
)
def test_dangers_and_selections(call: Call, repository: Path, words: list[str], code: int) -> None:
    assert call("catalog", "diff", str(repository), *words)[0] == code


def test_forms(call: Call, repository: Path) -> None:
    def shown(form: str) -> str:
        return call("catalog", "diff", str(repository), "-o", form)[1]

    assert json.loads(shown("json"))["counts"]["changed"] == 1
    assert shown("stat").startswith("1 added, 1 changed, 1 removed")
    assert shown("markdown").startswith("## Catalog changes\n")
    assert shown("html").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--base", "nowhere"], "CMD-CAT-019"),
        (["--base=-x"], "CMD-GIT-"),
        (["--fail-on", "deletes-crt"], "did you mean"),
        (["--hide", "example.com/*"], "CMD-CLI-032"),
        (["-o", "markdown", "--max-bytes", "7"], "CMD-CLI-031"),
    ],
)
def test_errors_end_with_two(call: Call, repository: Path, words: list[str], error: str) -> None:
    code, out, err = call("catalog", "diff", str(repository), *words)
    assert (code, out) == (2, "")
    assert error in err


def test_without_a_catalog(call: Call, tmp_path: Path) -> None:
    code, _, err = call("-d", str(tmp_path / "empty"), "catalog", "diff")
    assert code == 2
    assert "'HEAD' is not a folder" in err
    assert "CMD-CAT-019" in err


def test_a_folder_that_is_not_there(call: Call, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    code, _, err = call("-d", str(tmp_path / "empty"), "catalog", "diff", "--base", str(tmp_path / "old"))
    assert code == 2
    assert f"there is no folder {tmp_path / 'empty' / 'catalog'}" in err
    assert "CMD-CAT-018" in err


def test_files_that_are_no_objects_are_compared_as_text(call: Call, repository: Path) -> None:
    (repository / "manifests" / "one" / "a.yaml").write_text("{{ no yaml\n")
    (repository / "manifests" / "one" / "b.txt").write_text("text\n")
    assert "{{ no yaml" in call("catalog", "diff", str(repository))[1]


def test_every_danger_is_on_the_page() -> None:
    page = (ROOT / "docs" / "how-to" / "compare-catalogs.md").read_text(encoding="utf-8")
    for name, severity in FLAGS.items():
        assert f"| `{name}` | {severity} |" in page


def test_more_noise(call: Call, repository: Path) -> None:
    labelled = CONFIG.replace("  name:", "  labels: {{team: '{value}'}}\n  name:")
    write(repository, one=labelled.format(name="x", value="1"), two=NAMESPACE)
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "-m", "labels")
    write(repository, one=labelled.replace("a: '{value}'", "a: '1'").format(name="x", value="2"))
    assert call("catalog", "diff", str(repository))[0] == 1
    code, out, _ = call("catalog", "diff", str(repository), "--hide", "labels:te*")
    assert (code, out) == (0, "no object differs; not shown: 1 field of noise, all that differs in 1 object\n")
    assert call("catalog", "diff", str(repository), "--hide", "labels:te*", "--no-default-hidden")[0] == 0


def at_a_terminal(words: list[str]) -> str:
    """Everything that a command writes to a terminal."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen([sys.executable, "-m", "commodore", *words], stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    while part := read_terminal(ours):
        shown += part
    os.close(ours)
    child.wait()
    return shown.decode()


def read_terminal(end: int) -> bytes:
    try:
        return os.read(end, 65536)
    except OSError:  # the other end is closed
        return b""


def test_terminals_get_long_changes_folded(repository: Path) -> None:
    lines = "".join(f"  k{number}: v\n" for number in range(40))
    write(repository, one=CONFIG.format(name="x", value="2") + lines, two=NAMESPACE)
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "-m", "many")
    write(repository, one="")
    words = ["catalog", "diff", str(repository)]
    shown = at_a_terminal(words)
    assert "\x1b[" in shown
    assert "… 35 more lines" in shown
    assert "catalog diff --full" in shown
    assert "more lines" not in at_a_terminal([*words, "--full"])


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ((), "commodore catalog diff --base HEAD"),
        (("--report-url", "https://ci.example/report.html?a=1&b=2"), "<https://ci.example/report.html?a=1&b=2>"),
        (("--report-url", "https://ci.example/><script>"), "https:&#47;&#47;ci.example/&#62;&#60;script&#62;"),
    ],
)
def test_a_report_that_is_cut_names_the_whole_one(
    call: Call, repository: Path, words: tuple[str, ...], named: str
) -> None:
    for number in range(60):
        write(repository, **{f"c{number}": CONFIG.format(name=f"x{number}", value="1" * number)})
    out = call("catalog", "diff", str(repository), "-o", "markdown", "--max-bytes", "4096", *words)[1]
    assert len(out.encode()) <= 4096
    assert f"The whole report: {named}" in out
