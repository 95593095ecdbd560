"""`inventory lint` of a stranger's hierarchy: it reads every class file, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.base.documents import document_text
from commodore.core.inventory.lint import LintRequest, Report, as_github, as_sarif, lint
from tests.attacks.conftest import Secret
from tests.attacks.test_parsing import BOMBS, EXPLOSIONS, WRONG, indented
from tests.world.context import make_context

READ: dict[str, str] = {
    "not a number": "parameters:\n  a: .nan\n  b: -.inf\n",
    "byte order mark": "\ufeffparameters:\n  a: 1\n",
    "carriage returns": "parameters:\r\n  a: 1\r\n",
    "an alias of itself": "parameters: &a\n  components: *a\n  b: {c: *a}\n",
    "several documents": "parameters: {}\n---\nparameters: {}\n",
    "list": "- parameters\n",
    "backslashes without end": "parameters:\n  a: '" + "\\" * 100_000 + "${x}'\n",
    "many applications": "applications:\n" + "".join(f"- a{number}\n" for number in range(20_000)),
}
FAULTY: dict[str, str | bytes] = {
    **{name: text if name == "dashes" else indented(text) for name, text in BOMBS.items()},
    **{name: text for name, text in WRONG.items() if name != "name"},
    "huge integer": f"parameters:\n  a: {'9' * 100_000}\n",
    "timestamp": "parameters:\n  a: 2001-13-45 25:61:61\n",
    "key that is a list": "parameters:\n  ? [a]\n  : 1\n",
    "duplicate keys": "parameters:\n  a: 1\n  a: 2\n",
    "braces without end": "parameters:\n  a: '" + "${" * 100_000 + "'\n",
    "nested references": EXPLOSIONS["nested"],
    "everything of a wrong kind": "applications: {a: b}\nclasses: 7\nparameters: [x]\n",
    "specs of a wrong kind": "parameters:\n  components:\n    x: {url: 7, version: [1], path: {}}\n  packages: [1]\n",
}


def linted(folder: Path, **content: str | bytes) -> Report:
    """All linters, on a folder with these files."""
    folder.mkdir(exist_ok=True)
    for name, text in content.items():
        (folder / f"{name}.yml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return lint(LintRequest((folder,), ("all",)), make_context())


@pytest.mark.harmless
@pytest.mark.parametrize("name", FAULTY)
def test_a_file_that_is_wrong(tmp_path: Path, name: str) -> None:
    """It is a finding that names the file; the other files are linted."""
    report = linted(tmp_path / "classes", evil=FAULTY[name], good="parameters:\n  b: 1\n  b: 2\n")
    assert {Path(finding.locations[0].place).name for finding in report.findings} == {"evil.yml", "good.yml"}
    assert report.files == 2


@pytest.mark.harmless
@pytest.mark.parametrize("name", READ)
def test_a_file_that_is_odd(tmp_path: Path, name: str) -> None:
    assert linted(tmp_path / "classes", evil=READ[name], good="parameters: {}\n").files in (1, 2)


SPECIAL: dict[str, Callable[[Path, Path], object]] = {
    "pipe": lambda path, _: os.mkfifo(path),
    "zero": lambda path, _: path.symlink_to("/dev/zero"),
    "terminal": lambda path, _: path.symlink_to("/dev/stdin"),
    "link to itself": lambda path, _: path.symlink_to(path.name),
    "link to nothing": lambda path, _: path.symlink_to("nothing"),
    "link to what is the user's": lambda path, secret: path.symlink_to(secret),
    "folder": lambda path, _: path.mkdir(),
    "circle": lambda path, _: path.symlink_to("."),
}


@pytest.mark.harmless
@pytest.mark.parametrize("name", SPECIAL)
def test_what_is_no_file(tmp_path: Path, secret: Secret, name: str) -> None:
    """It is not waited for, and what is the user's is not quoted."""
    folder = tmp_path / "classes"
    folder.mkdir()
    secret.path.write_text(f"parameters:\n  components: {secret.text}\n  {secret.text}: [\n")
    SPECIAL[name](folder / "evil.yml", secret.path)
    report = linted(folder, good="parameters: {}\n")
    assert report.files <= 2
    assert secret.text not in repr(report)


@pytest.mark.harmless
def test_a_file_of_a_gibibyte(tmp_path: Path) -> None:
    (tmp_path / "classes").mkdir()
    with (tmp_path / "classes" / "evil.yml").open("wb") as file:
        file.truncate(1 << 30)
    [finding] = linted(tmp_path / "classes").findings
    assert "larger than" in finding.message


@pytest.mark.harmless
def test_text_that_steers_a_report(tmp_path: Path) -> None:
    """A CI service takes nothing that a hierarchy says for a command."""
    escapes = "\\e[31m\\e]8;;https://evil.example.com\\a\\r\\n::error file=x::evil"
    text = f'parameters:\n  components:\n    "{escapes}":\n      url: 7\n    b: {{url: "{escapes}", "{escapes}": 1}}\n'
    report = linted(tmp_path / "classes", evil=text)
    assert report.findings
    for lines in (
        list(as_github(report)),
        document_text("inventory-lint", report).splitlines(),
        "".join(as_sarif(report)).splitlines(),
    ):
        assert not set("\x1b\x07\r") & set("".join(lines))
        assert not [line for line in lines if line.startswith("::error file=x")]
