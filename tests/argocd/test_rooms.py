"""The packages of argocd import lower packages only."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ARGOCD = Path(__file__).parents[2] / "commodore" / "argocd"
LEVELS = (
    ("__init__", "testing"),
    ("operations",),
    ("comparing",),
    ("discovery",),
    ("checking", "normalising"),
    ("finishing",),
    ("rendering",),
    ("acquiring", "planning"),
    ("appsets", "trees"),
    ("configuration",),
    ("diagnostics", "model"),
)


def imports(path: Path) -> set[str]:
    """Return the packages that a module imports from."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("commodore.argocd."):
            rooms.add(str(node.module).split(".")[2])
    return rooms


@pytest.mark.requirement("D9", "D11")
def test_rooms_import_downwards_only() -> None:
    level = {room: number for number, rooms in enumerate(LEVELS) for room in rooms}
    for path in sorted(ARGOCD.rglob("*.py")):
        room = path.relative_to(ARGOCD).parts[0].removesuffix(".py")
        assert room in level, f"{room} has no level"
        above = {other for other in imports(path) - {room} if level[other] <= level[room]}
        assert not above, f"{path.relative_to(ARGOCD)} imports {', '.join(sorted(above))}"


@pytest.mark.requirement("D11", "D12")
def test_the_analysis_knows_no_terminal() -> None:
    for path in ARGOCD.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "import click" not in text
        assert "commodore.cli" not in text


def test_others_import_the_face_alone() -> None:
    others = (path for path in ARGOCD.parent.rglob("*.py") if ARGOCD not in path.parents)
    past = {str(path.relative_to(ARGOCD.parent)) for path in others if imports(path)}
    assert past == set()
