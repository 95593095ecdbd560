"""The published tool finds the same in the same files."""

from __future__ import annotations

import itertools
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.core.inventory.lint.world import run
from tests.world.folders import write_files

VALUES = [
    "v1",
    "3",
    "1.2",
    "null",
    "true",
    "''",
    "'${x}'",
    "[a]",
    "{a: b}",
    "2024-01-01",
    "'${cluster:dist} x'",
    "012",
    "~",
]
KEYS = ["url", "version", "path", "extra", "=url", "~version"]
ENDINGS = [".yml", ".yaml", ".json", "", ".txt"]


def hierarchy() -> dict[str, str]:
    """Entries of all shapes that the published tool can read, each in a file of its own."""
    files = {}
    pairs = itertools.product(KEYS, VALUES)
    for number, (key, value) in enumerate(pairs):
        section = ("components", "packages", "other")[number % 3]
        entry = f"{{version: v1, {key}: {value}}}" if number % 2 and key != "version" else f"{{{key}: {value}}}"
        files[f"f{number:03}{ENDINGS[number % 5]}"] = (
            f"parameters:\n  {section}:\n    n: {entry}\nz: [1, {{a: {value}}}]\n"
        )
    return {
        **files,
        "deep/.hidden/x.yml": "parameters: x",
        "deep/x.yml": "a: ${customer:name}",
        "two.yml": "a: 1\n---\n",
    }


@pytest.mark.peer
def test_findings_of_each_file(peer: Path, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "in", hierarchy())
    shown = subprocess.run(
        [str(peer), "inventory", "lint", str(folder)], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    lines = [line for line in shown.stdout.splitlines() if line.startswith(">")]
    theirs = Counter(match[0] for line in lines if (match := re.search(r"(?<=/in/)[\w/]+(\.\w+)?", line)))
    report = run(folder)
    assert Counter(str(Path(finding.locations[0].place).relative_to(folder)) for finding in report.findings) == theirs
    assert sum(theirs.values()) == len(lines) == report.errors > 50
    assert shown.returncode == 1
