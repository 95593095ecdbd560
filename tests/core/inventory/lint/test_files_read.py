"""Files that a lint reads, and its findings about unreadable files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commodore.base.diagnostics import Diagnostic
from commodore.base.errors import InputError, UsageError
from commodore.base.events import Event, Noted, Warned
from commodore.base.limits import Limits
from commodore.core.inventory.lint import LintRequest, lint
from commodore.core.inventory.lint.class_file import read_class_file
from commodore.core.inventory.lint.model import Skipped
from tests.core.inventory.lint.world import findings, run, shown
from tests.world.context import make_context
from tests.world.folders import write_files

BAD = "parameters:\n  components:\n    a: {}\n"


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("a.yml", "a: {b\n", "2:1"),
        ("a.yaml", "a: 1\n b: 2\n", "2:3"),
        ("a.json", '{"a": ]', None),
        ("a.yml", "a: 1\nb: !secret x\n", "2:4"),
        ("a.yml", "a: 1\nb: 2001-99-99\n", "2:4"),
        ("a.yml", "a: 1\n? [x]\n: y\n", "2:3"),
        ("a.yml", b"a: 1\nb: \xff\n", "2:1"),
    ],
)
def test_a_class_that_cannot_be_read_is_an_error(
    tmp_path: Path, name: str, content: str | bytes, place: str | None
) -> None:
    """Files that cannot be loaded passed silently."""
    (finding,) = shown(tmp_path, {name: content})
    assert finding.endswith(" unreadable-file")
    assert place is None or finding == f"{name}:{place} unreadable-file"


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, {"a.yml": "a:\n\tb: 1\n"})
    assert finding.message.startswith("the file is not valid YAML: ")
    assert finding.hint == "indent with blanks instead of tabs"
    assert (finding.linter, finding.severity) == ("files", "error")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("README.md", "# Title: {", "it is neither YAML nor JSON by its extension"),
        ("parameters.sh", "echo ${cluster:dist} parameters: {", "it is not valid YAML"),
        ("a.yml", "", "it is empty"),
        ("a.yml", "# parameters\n", "it is empty"),
        ("a.yml", "---\n", "it is empty"),
        ("a.yml", BAD + "---\n" + BAD, "it has more than one document"),
        ("a.yml", "- parameters\n", "its document is not a map"),
        ("chart/templates/a.yaml", "a: {{ .Values.x }\n", "it is not valid YAML"),
    ],
)
def test_what_is_no_class_is_skipped(tmp_path: Path, name: str, content: str, reason: str) -> None:
    """Pipelines that pass with the published tool still do."""
    files = {name: content, "chart/Chart.yaml": "name: x\n"}
    collected: list[Event] = []
    report = run(write_files(tmp_path, files), announce=collected.append)
    assert report.findings == ()
    assert [(skipped.file, skipped.reason) for skipped in report.skipped] == [(str(tmp_path / name), reason)]
    assert collected == [Noted(f"skipped {tmp_path / name}: {reason}", level=1)]
    assert report.files == 1


@pytest.mark.parametrize("name", ["a.txt", "a", "class.yml.orig", "a.json"])
def test_other_endings_are_read_if_they_may_matter(tmp_path: Path, name: str) -> None:
    """All files are tried, whatever their extension."""
    assert shown(tmp_path, {name: BAD}) == [f"{name}:3:5 missing-version"]
    assert shown(tmp_path, {name: "x: ${cluster:dist}\n"}) == [f"{name}:1:4 removed-variable"]


def test_what_is_no_regular_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yml")
    (tmp_path / "dangling.yml").symlink_to("nowhere")
    assert [skipped.reason for skipped in run(tmp_path).skipped] == ["it is not a regular file"] * 2


def test_files_that_are_too_large(tmp_path: Path) -> None:
    limits = Limits(lint_file_bytes=10)
    for name, kind in (("a.yml", Diagnostic), ("a.md", Skipped)):
        write_files(tmp_path, {name: BAD})
        assert isinstance(read_class_file(tmp_path / name, name, limits), kind)


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    write_files(tmp_path, {"a.yml": BAD})
    monkeypatch.setattr(Path, "read_bytes", refuse)
    (finding,) = run(tmp_path).findings
    assert finding.message == "the file cannot be read: Permission denied"


def test_each_file_is_read_once(tmp_path: Path) -> None:
    """Each file was parsed once per linter, and a target given twice was linted twice."""
    write_files(tmp_path, {"a/x.yml": BAD, "b.yml": BAD})
    targets = (tmp_path / "a" / "x.yml", tmp_path, tmp_path / "a")
    report = lint(LintRequest(targets, ("all",)), make_context(announce=lambda _: None))
    assert report.files == 2
    assert [Path(finding.locations[0].place).name for finding in report.findings] == ["x.yml", "b.yml"]


def test_findings_are_sorted(tmp_path: Path) -> None:
    """The order was that of the file system, and of Python's sets."""
    spec = "{zz: 1, url: 3, bb: 2, aa: 1}"
    files = {f"{name}.yml": f"parameters:\n  packages:\n    z: {spec}\n  components:\n    c: {spec}\n" for name in "ba"}
    results = findings(tmp_path, files)
    assert [(Path(finding.file).name, finding.line) for finding in results] == [
        (name, line) for name in ("a.yml", "b.yml") for line in (3, 3, 3, 5, 5, 5)
    ]
    assert {finding.message for finding in results if finding.rule == "unknown-key"} == {
        "component 'c' has unknown keys 'aa', 'bb', 'zz'",
        "package 'z' has unknown keys 'aa', 'bb', 'zz'",
    }


def test_a_blank_line_in_the_ignore_file_ignores_nothing(tmp_path: Path) -> None:
    """It matched every folder, so that the whole lint passed."""
    assert shown(tmp_path, {".commodoreignore": "\n/b.yml\n\n", "a.yml": BAD, "b.yml": BAD}) == [
        "a.yml:3:5 missing-version"
    ]


def test_ignored_targets_pass_with_a_warning(tmp_path: Path) -> None:
    """An ignored target yields no errors."""
    write_files(tmp_path, {"a.yml": BAD, ".commodoreignore": "*.yml\n"})
    for target in (tmp_path, tmp_path / "a.yml"):
        collected: list[Event] = []
        assert lint(LintRequest((target,)), make_context(announce=collected.append)).findings == ()
        (warned,) = collected
        assert isinstance(warned, Warned)
        assert warned.code == "CMD-INV-062"
        assert str(target) in warned.message
    collected = []
    lint(
        LintRequest((write_files(tmp_path / "b", {"a.yml": BAD}),), ignore=("a.yml",)),
        make_context(announce=collected.append),
    )
    assert [type(event) for event in collected] == [Warned]


def test_linting_nothing_is_an_error(tmp_path: Path) -> None:
    """Linting nothing reported success."""
    for targets in ((), (tmp_path,)):
        with pytest.raises(UsageError) as raised:
            lint(LintRequest(targets), make_context(announce=lambda _: None))
        assert raised.value.code == "CMD-INV-061"


def test_names_of_files_cannot_be_commands_or_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path, {"::error ::x.yml": BAD, "a\n::b.yml": BAD, os.fsdecode(b"c\xff.yml"): BAD})
    report = lint(LintRequest((Path(),)), make_context(announce=lambda _: None))
    assert [finding.locations[0].place for finding in report.findings] == ["./::error ::x.yml", "a ::b.yml", "c?.yml"]


def test_linters_by_name(tmp_path: Path) -> None:
    """The documentation called the first linter by another name; names may be in any case."""
    write_files(tmp_path, {"a.yml": BAD})
    assert run(tmp_path).linters == ("components", "deprecated-parameters", "packages")
    assert run(tmp_path, "component-versions", "PACKAGES").linters == ("components", "packages")
    assert len(run(tmp_path, "All").linters) == 12
    with pytest.raises(InputError) as raised:
        run(tmp_path, "removal")
    assert (raised.value.code, raised.value.hint) == ("CMD-INV-060", "did you mean 'removals'?")


def test_aliases_that_nest(tmp_path: Path) -> None:
    """A list of lists of lists ... of one anchor stands for more values than anybody can visit."""
    lines = ["parameters:", "  a0: &a0 [x, '${cluster:dist}', '?{x}']"]
    lines += [f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    lines += ["  commodore: {postprocess: {filters: *a11}}", "  loop: &loop [*loop]", "  m: &m {x: *m}"]
    results = shown(tmp_path, {"a.yml": "\n".join(lines) + "\n"}, "all")
    assert results == ["a.yml:15:9 unreadable-file"]
