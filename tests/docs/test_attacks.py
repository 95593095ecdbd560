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
    return {item.attr for item in ast.walk(node) if isinstance(item, ast.Attribute) and item.attr in MARKS}


def defined(tree: ast.Module) -> dict[str, ast.AST]:
    """Everything that a file defines, by name."""
    results: dict[str, ast.AST] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            results[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            results |= {item.id: node for target in targets for item in ast.walk(target) if isinstance(item, ast.Name)}
    return results


def codes(node: ast.AST, known: dict[str, ast.AST], seen: set[str]) -> Iterator[str]:
    """The codes that a test names, itself or by what it uses of its file."""
    for item in ast.walk(node):
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            yield from CODE.findall(item.value)
        name = item.id if isinstance(item, ast.Name) else item.arg if isinstance(item, ast.arg) else ""
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
        own = of_all | {mark for item in getattr(node, "decorator_list", ()) for mark in marks(item)}
        results = set(codes(node, known, set()))
        assert results <= _DOCUMENTED, name
        silent += [] if own or results else [name]
    assert silent == [], "no code is named, and neither `harmless` nor `allowed`"
