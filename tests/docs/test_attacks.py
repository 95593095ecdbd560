"""The numbers of attacks in the documentation, and what they rest on."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.world.cluster import ROOT

FILES = sorted((ROOT / "tests" / "attacks").rglob("test_*.py"))
PAGES = ROOT / "docs" / "reference" / "errors"
MARKS = ("harmless", "allowed")
CODE = re.compile(r"CMD-[A-Z]+-\d{3}")
_DOCUMENTED = frozenset(code for page in PAGES.glob("*.md") for code in CODE.findall(page.read_text(encoding="utf-8")))


def test_the_page_has_the_numbers_of_the_suite() -> None:
    """`scripts/docs-attacks` writes them."""
    command = [sys.executable, str(ROOT / "scripts" / "docs-attacks"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0


def marks(node: ast.AST) -> set[str]:
    """The marks of attacks that a test, or a value of `pytestmark`, has."""
    return {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute) and one.attr in MARKS}


def defined(tree: ast.Module) -> dict[str, ast.AST]:
    """What a file defines, by name."""
    found: dict[str, ast.AST] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {one.id: node for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    return found


def codes(node: ast.AST, known: dict[str, ast.AST], seen: set[str]) -> Iterator[str]:
    """The codes that a test names, itself or by what it uses of its file."""
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield from CODE.findall(one.value)
        name = one.id if isinstance(one, ast.Name) else one.arg if isinstance(one, ast.arg) else ""
        if name in known and name not in seen:
            seen.add(name)
            yield from codes(known[name], known, seen)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_attack_names_its_code(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    known = defined(tree)
    of_all = marks(known["pytestmark"]) if "pytestmark" in known else set()
    silent = []
    for name, node in known.items():
        if not name.startswith("test_"):
            continue
        own = of_all | {mark for one in getattr(node, "decorator_list", ()) for mark in marks(one)}
        found = set(codes(node, known, set()))
        assert found <= _DOCUMENTED, name
        silent += [] if own or found else [name]
    assert silent == [], "no code is named, and neither `harmless` nor `allowed`"
