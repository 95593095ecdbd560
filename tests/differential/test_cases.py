"""The cases of scripts/differential are well formed, and some of them are run in this program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from commodore.base.strictness import LOWERABLE
from tests.differential.case import Case

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = {
    "author",
    "catalog",
    "cli",
    "component",
    "inventory",
    "lint",
    "list",
    "options",
    "package",
    "world",
}


@pytest.fixture(scope="module")
def cases() -> tuple[Case, ...]:
    """All of them. They take a second to make, which those who run other tests need not wait for."""
    from tests.differential.suite import CASES

    return tuple(CASES)


def test_there_are_cases_of_every_kind(cases: tuple[Case, ...]) -> None:
    assert len(cases) >= 2400
    assert len({case.name for case in cases}) == len(cases)
    assert {case.name.split("/")[0] for case in cases} == COMMANDS


def test_cases_are_well_formed(cases: tuple[Case, ...]) -> None:
    for case in cases:
        assert all(code in LOWERABLE for code in case.allow), case.name
        for path in (*case.files, *case.links):
            assert not path.startswith("/"), case.name
            assert ".." not in Path(path).parts, case.name
        assert case.compared != "files" or "{out}" in case.command, case.name
        assert case.clusters or "{api}" not in case.command or case.name.startswith("catalog/list"), case.name


@pytest.mark.parametrize("name", ["lint/good-all", "inventory/components-tenant", "world/push-edit-push"])
def test_a_case_is_run(name: str, cases: tuple[Case, ...], tmp_path: Path) -> None:
    """By the runner itself, with this program in the place of the published tool: it equals itself."""
    assert any(case.name == name for case in cases)
    program = str(Path(sys.executable).with_name("commodore"))
    command = [sys.executable, str(ROOT / "scripts" / "differential"), "--peer", program, "--only", name]
    recorded = tmp_path / "recorded.json"
    done = subprocess.run([*command, "--recorded", str(recorded)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "1 cases: 1 equal\n")
    assert recorded.exists()
