"""`commodore inventory lint`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.cli.inventory.settings import INVENTORY_LINT
from commodore.cli.inventory.settings import LINTERS as NAMES
from commodore.core.inventory.lint import ALIASES, ALL, LINTERS
from tests.cli.conftest import Shown
from tests.cli.test_main import program

Call = Callable[..., Shown]

BAD = "parameters:\n  components:\n    argocd:\n      version: 1.2\n"
WARNED = "applications:\n  - ~argocd\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_options_know_all_linters() -> None:
    assert tuple(LINTERS) == NAMES
    (option,) = [setting for setting in INVENTORY_LINT if setting.name == "linter"]
    assert option.choices == (*LINTERS, ALL, *ALIASES)


def test_nothing_found(here: Path, call: Call) -> None:
    (here / "a.yml").write_text("parameters: {}\n")
    assert call("inventory", "lint", ".") == (0, "No errors 🎉 ✨\n", "")


def test_findings(here: Path, call: Call) -> None:
    """Exit code 1 and the number of findings, on standard output."""
    (here / "a.yml").write_text(BAD)
    code, out, err = call("inventory", "lint", ".")
    assert (code, err) == (1, "")
    assert out.splitlines() == [
        (
            "a.yml:4:16: error: parameters.components.argocd.version must be a string, it is a number"
            " [components/not-text]"
        ),
        "  hint: write it in quotes: '1.2'",
        "Found 1 error",
    ]


def test_warnings_count_if_strict(here: Path, call: Call) -> None:
    (here / "a.yml").write_text(WARNED)
    lint = ("inventory", "lint", "--linter", "Removals", "a.yml")
    code, out, _ = call(*lint)
    assert (code, out.splitlines()[-1]) == (0, "No errors, 1 warning")
    assert call(*lint, "--strict")[0] == 1
    (here / "b.yml").write_text(BAD)
    code, out, _ = call("inventory", "lint", "-l", "all", ".")
    assert (code, out.splitlines()[-1]) == (1, "Found 1 error and 1 warning")


@pytest.mark.parametrize("linter", ["component-versions", "COMPONENTS", "all"])
def test_names_of_linters(here: Path, call: Call, linter: str) -> None:
    (here / "a.yml").write_text(BAD)
    assert call("inventory", "lint", "-l", linter, ".")[0] == 1
    assert call("inventory", "lint", "-l", "packages", ".")[0] == 0


def test_usage(here: Path, call: Call) -> None:
    """Linting nothing reported success."""
    code, _, err = call("inventory", "lint")
    assert code == 2
    assert "Usage: commodore inventory lint" in err
    for arguments in (["-l", "components"], ["."]):
        code, out, err = call("inventory", "lint", *arguments)
        assert (code, out) == (2, "")
        assert "CMD-INV-061" in err
    code, _, err = call("inventory", "lint", "nowhere")
    assert code == 2
    assert "'nowhere' does not exist" in err
    code, _, err = call("inventory", "lint", "-l", "component", ".")
    assert code == 2
    assert "'component' is not one of" in err


def test_ignored_files(here: Path, call: Call) -> None:
    (here / "a.yml").write_text(BAD)
    assert call("inventory", "lint", "--ignore-patterns", "/b.yml", ".")[0] == 1
    code, out, err = call("inventory", "lint", "--ignore-patterns", "/*.yml", ".")
    assert (code, out) == (0, "No errors 🎉 ✨\n")
    assert "warning: all files of . are ignored" in err
    (here / "b.yml").write_text("parameters: {}")
    assert call("inventory", "lint", "--ignore-patterns", "a.yml", "--ignore-patterns", "x", ".") == (
        0,
        "No errors 🎉 ✨\n",
        "",
    )


@pytest.mark.parametrize("kind", ["json", "sarif"])
def test_documents(here: Path, call: Call, kind: str) -> None:
    """Standard output is one document, whatever is found, and as JSON log lines go to standard error."""
    (here / "a.yml").write_text(BAD)
    (here / "b.md").write_text("x")
    code, out, err = call("--log-format", "json", "inventory", "lint", "-v", "--format", kind, ".")
    assert code == 1
    document = json.loads(out)
    assert "1.2" in out
    assert document["errors" if kind == "json" else "runs"]
    assert [json.loads(line)["event"] for line in err.splitlines()] == ["Noted"]


def test_github(here: Path, call: Call) -> None:
    (here / "a.yml").write_text(BAD)
    code, out, _ = call("inventory", "lint", "--format", "github", ".")
    assert code == 1
    first, last = out.splitlines()
    assert first.startswith("::error file=a.yml,line=4,col=16,title=components/not-text::parameters.components.argocd.")
    assert last == "Found 1 error"


@pytest.mark.parametrize("kind", ["json", "sarif", "github", "text"])
def test_a_report_in_a_file(here: Path, call: Call, kind: str) -> None:
    (here / "a.yml").write_text(BAD)
    shown = call("inventory", "lint", "--format", kind, ".")[1]
    code, out, _ = call("inventory", "lint", "--format", kind, "--output", "reports/lint", "a.yml")
    assert code == 1
    assert out.splitlines()[-1] == "Found 1 error"
    assert (here / "reports" / "lint").read_text() == shown


def test_the_report_of_the_last_run_is_not_linted(here: Path, call: Call) -> None:
    (here / "a.yml").write_text("x: ${cluster:dist}\n")
    for _ in range(2):
        out = call("inventory", "lint", "--format", "json", "--output", "lint.json", ".")[1]
        assert out.splitlines()[-1] == "Found 1 error"


def test_texts_from_outside_cannot_steer_the_terminal(here: Path, call: Call) -> None:
    name = '"x\\e[31m\\n::error::y"'
    (here / "a.yml").write_text(f"parameters:\n  components:\n    {name}: {{}}\n")
    out = call("inventory", "lint", ".")[1]
    assert "\x1b" not in out
    assert len(out.splitlines()) == 2


def test_a_terminal_that_knows_no_emoji(here: Path) -> None:
    (here / "ü.yml").write_text("parameters: {}\n")
    done = program("inventory", "lint", ".", cwd=here, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("No errors")


def test_help_loads_no_yaml(here: Path) -> None:
    code = (
        "import sys; from commodore.cli.main import run; run(['inventory', 'lint', '--help'])\n"
        "assert not {'yaml', 'reclass_rs', 'commodore.core.inventory'} & {*sys.modules}"
    )
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", code]) == 0
