"""The reference pages tell what the program is."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from commodore.base import errors
from commodore.base.limits import Limits, read_limits
from commodore.cli.main import commodore
from tests.cli.conftest import commands

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"
# Text files with command lines. Decisions may name what there was.
PLACES = ("README.md", "action.yml", "templates", "examples/*.md", "examples/*/*.yml", "docs/*.md", ":!docs/adr")


def test_the_page_of_commands_is_what_the_options_say() -> None:
    """Run scripts/docs-reference when this fails."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "docs-reference"), "--check"],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_every_requirement_names_its_tests() -> None:
    """Run scripts/docs-requirements when this fails."""
    command = [sys.executable, str(ROOT / "scripts" / "docs-requirements"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_table_of_lowered_errors_is_what_can_be_lowered() -> None:
    """Run scripts/docs-strictness when this fails."""
    command = [sys.executable, str(ROOT / "scripts" / "docs-strictness"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_each_limit_has_a_row_with_its_default() -> None:
    """Run scripts/docs-limits when this fails."""
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "docs-limits"), "--check"], check=False)
    assert done.returncode == 0
    page = (REFERENCE / "limits.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| `(.+?)` \| \S.* \|$", page, re.MULTILINE))
    defaults = {field.name: field.default for field in fields(Limits)}
    assert rows.keys() == defaults.keys()
    lists = {name: default for name, default in defaults.items() if isinstance(default, tuple)}
    assert {name: rows.pop(name) for name in lists} == {
        name: ", ".join(f"{number:g}" for number in numbers) for name, numbers in lists.items()
    }
    assert read_limits(" ".join(f"{name}={default}" for name, default in rows.items())) == Limits()
    assert {name: getattr(read_limits(f"{name}=3"), name) for name in rows} == dict.fromkeys(rows, 3)


def test_every_option_of_the_help_is_on_the_page() -> None:
    """Help and page are made by different code; what the help shows a user is what counts."""
    page = (REFERENCE / "commands.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (commodore[ a-z-]*)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    for path, text in sections.items():
        shown = CliRunner().invoke(commodore, [*path.split()[1:], "--help"], prog_name="commodore").output
        lines = "\n".join(line for line in shown.splitlines() if line.startswith("  -"))
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", lines)) - {"--help"}
        described = text + sections[" ".join(path.split()[:2])]  # with what its group describes once for all
        assert {name for name in named if f"`{name}`" not in described} == set(), path


def test_options_of_commands_on_pages_exist() -> None:
    """In each command line of `commodore` in PLACES, on the command or a group above it."""
    flags = {known.words: flags_of(known.command) for known in commands()}
    listed = subprocess.run(["git", "ls-files", "-z", *PLACES], cwd=ROOT, capture_output=True, text=True, check=True)
    wrong, checked = [], 0
    for path in filter(None, listed.stdout.split("\0")):
        text = (ROOT / path).read_text(encoding="utf-8").replace("\\\n", " ")
        for line in re.findall(r"(?<![\w./-])commodore((?: +[\w./:@$\"{}=<>,*-]+)+)", text):
            words: tuple[str, ...] = ()
            given = []
            for word in line.split():
                words = (*words, word) if (*words, word) in flags else words
                given += [word.partition("=")[0]] if re.match("--[a-z]", word) else []
            known = {*itertools.chain.from_iterable(flags[words[:length]] for length in range(len(words) + 1))}
            wrong += [f"{path}: commodore{line}: {flag}" for flag in given if flag not in known]
            checked += len(given)
    assert checked > 200
    assert wrong == []


def flags_of(command: click.Command) -> set[str]:
    """The options that the command line takes, except settings of files."""
    shown = [given for given in command.get_params(click.Context(command)) if not getattr(given, "hidden", False)]
    return {"--help", *(flag for given in shown for flag in (*given.opts, *given.secondary_opts))}


def test_automatic_variables_are_read() -> None:
    """The ones that the page names, on three levels of the command line."""
    seen: dict[str, object] = {}

    def version(**values: object) -> None:
        context = click.get_current_context().find_root()
        seen.update(values, verbosity=context.meta["verbosity"], quiet=context.obj["quiet"])

    command = commodore.get_command(click.Context(commodore), "version")
    assert command is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "callback", version)
        variables = {"COMMODORE_VERBOSE": "2", "COMMODORE_VERSION_VERBOSE": "1", "COMMODORE_VERSION_OUT": "json"}
        CliRunner().invoke(commodore, ["version"], env={**variables, "COMMODORE_QUIET": "1"}, catch_exceptions=False)
    assert seen == {"out": "json", "verbosity": 3, "quiet": True}


def test_exit_codes_are_those_of_the_errors() -> None:
    page = (REFERENCE / "environment.md").read_text(encoding="utf-8")
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    families = {kind.exit_code for kind in errors.CommodoreError.__subclasses__()}
    assert codes >= families | {0, 127, 130, 141}


def test_the_index_of_errors_names_every_room() -> None:
    index = (REFERENCE / "errors" / "index.md").read_text(encoding="utf-8")
    rooms = {path.stem for path in (REFERENCE / "errors").glob("*.md")} - {"index"}
    assert set(re.findall(r"^\| `CMD-([A-Z]+)` \|", index, re.MULTILINE)) == rooms
