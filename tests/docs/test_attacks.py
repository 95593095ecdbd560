"""The numbers of attacks in the documentation."""

from __future__ import annotations

import subprocess
import sys

from tests.world.cluster import ROOT


def test_the_page_has_the_numbers_of_the_suite() -> None:
    """`scripts/docs-attacks` writes them."""
    command = [sys.executable, str(ROOT / "scripts" / "docs-attacks"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0
