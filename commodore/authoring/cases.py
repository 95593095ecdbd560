"""Test cases of components and packages, and their golden trees."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import InputError, PolicyError, UsageError, did_you_mean, raise_all
from commodore.base.events import Noted, Warned
from commodore.base.files.workspace import guard_disk, is_inside

SUFFIXES = (".yml", ".yaml")


@dataclass(frozen=True, slots=True)
class Case:
    """One test case: `file` is a class file below `tests/`, `golden` the folder `tests/golden/<name>` with the last
    accepted content of `compiled/`. It need not exist.
    """

    name: str
    file: Path
    golden: Path

    @property
    def alias(self) -> str | None:
        """The instance of the golden tree: the name of its only folder; None without exactly one folder."""
        if not self.golden.is_dir():
            return None
        folders = [entry.name for entry in self.golden.iterdir() if entry.is_dir() and not entry.is_symlink()]
        return folders[0] if len(folders) == 1 else None


@dataclass(frozen=True, slots=True)
class Suite:
    """The cases to run, sorted by name. Without any golden tree in the repository (`golden_tests` is false) nothing is
    compared: its authors do not use golden trees.
    """

    directory: Path
    cases: tuple[Case, ...]
    golden_tests: bool


def find_suite(directory: Path, only: Collection[str], context: Context) -> Suite:
    """Return the test cases of the component or package in `directory`.

    A class file of `tests/` is a case if `.cruft.json` names it or if it has a golden tree; without names in
    `.cruft.json` every file is. Names without a file are ignored: `.cruft.json` may name removed files.

    Args:
        directory: absolute, without links.
        only: the requested names, empty for all; they may name any class file of `tests/`.
        context: announces class files that are not cases, and golden trees without a case (CMD-TEST-005).

    Raises:
        UsageError: a name is unknown (CMD-TEST-001).
        InputError: no cases (CMD-TEST-002), or `.cruft.json` cannot be read (CMD-TEST-003).
        PolicyError: `tests/`, a case or a golden tree is a link that leads out of `directory` (CMD-TEST-004).
    """
    tests = directory / "tests"
    with guard_disk(tests):
        files = _class_files(tests)
        golden = tests / "golden"
        trees = _trees(golden)
    _refuse_strays(directory, [tests, golden, *files.values(), *(golden / name for name in sorted(trees))])
    if unknown := sorted(set(only) - files.keys()):
        raise_all([_unknown(name, files, tests) for name in unknown])
    named = _named_by_template(directory)
    names = set(only) or {name for name in files if not named or name in named or name in trees}
    if not names:
        raise InputError(
            "CMD-TEST-002",
            f"{directory} has no test cases",
            hint="a test case is a class file like tests/defaults.yml",
            locations=[str(tests)],
        )
    if not only:
        _report_leftovers(names, files, trees, context)
    cases = tuple(Case(name, files[name], golden / name) for name in sorted(names))
    return Suite(directory, cases, bool(trees))


def _class_files(tests: Path) -> dict[str, Path]:
    """Return class files by name; of two that only differ in their suffix, the one with `.yml`."""
    if not tests.is_dir():
        return {}
    paths = sorted((path for path in tests.iterdir() if path.suffix in SUFFIXES and path.is_file()), reverse=True)
    files: dict[str, Path] = {}
    for path in paths:
        if not path.name.startswith("."):
            files.setdefault(path.stem, path)
    return files


def _trees(golden: Path) -> set[str]:
    """Return the names of golden trees; folders whose names begin with a dot are left by killed updates."""
    if not golden.is_dir():
        return set()
    return {entry.name for entry in golden.iterdir() if entry.is_dir() and not entry.name.startswith(".")}


def _refuse_strays(directory: Path, paths: list[Path]) -> None:
    raise_all(
        [
            PolicyError(
                "CMD-TEST-004",
                f"{path.relative_to(directory)} is a link that leads out of {directory}",
                hint="replace the link by the file or folder itself",
                locations=[str(path)],
            )
            for path in paths
            if not is_inside(path, directory)
        ]
    )


def _unknown(name: str, known: Collection[str], tests: Path) -> UsageError:
    return UsageError(
        "CMD-TEST-001",
        f"unknown test case {name!r}",
        hint=did_you_mean(name, known) or f"the test cases are {', '.join(sorted(known)) or 'missing'}",
        locations=[str(tests / f"{name}.yml")],
    )


def _named_by_template(directory: Path) -> set[str]:
    """Return the cases of the template's arguments: `test_cases` of `.cruft.json`."""
    path = directory / ".cruft.json"
    if not path.is_file():
        return set()
    try:
        content: Any = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(
            "CMD-TEST-003", f"{path} is not valid JSON: {error}", hint="correct the file", locations=[str(path)]
        ) from error
    for key in ("context", "cookiecutter", "test_cases"):
        content = content.get(key) if isinstance(content, dict) else None
    return set(content.split()) if isinstance(content, str) else set()


def _report_leftovers(names: Collection[str], files: Collection[str], trees: Collection[str], context: Context) -> None:
    for name in sorted(set(files) - set(names)):
        context.announce(
            Noted(
                f"tests/{name} is not a test case: it has no golden tree, and .cruft.json does not name it; "
                f"run it with --case {name}"
            )
        )
    for name in sorted(set(trees) - set(files)):
        context.announce(
            Warned(
                "CMD-TEST-005",
                f"tests/golden/{name} belongs to no test case: there is no tests/{name}.yml",
                hint="remove it, or restore the case",
            )
        )
