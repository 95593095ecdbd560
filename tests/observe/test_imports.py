"""The planner is made of plain objects: it imports the standard library and this program, and nothing of clusters."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOM = Path(__file__).resolve().parent.parent.parent / "commodore" / "observe"


def imported(path: Path) -> set[str]:
    """The modules that a file imports."""
    results = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            results |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            results.add(node.module or "")
    return results


def test_the_planner_knows_no_cluster_and_no_library() -> None:
    # The face names the cluster's half, too, and loads it when it is asked for: the planner never does.
    modules = [path for path in sorted(ROOM.glob("*.py")) if path.name != "__init__.py"]
    assert len(modules) > 10
    for path in modules:
        names = imported(path)
        assert not {name for name in names if name.startswith("commodore.observe.cluster")}, path
        tops = {name.partition(".")[0] for name in names}
        assert tops <= {*sys.stdlib_module_names, "commodore"}, path
