"""bench/object_diff.py measures what it says it does."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.world.cluster import ROOT


def test_it_measures_all_forms_beside_diff() -> None:
    words = ["--objects", "40", "--changed", "10", "--runs", "1"]
    command = [sys.executable, str(ROOT / "bench" / "object_diff.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "40 objects, 4 changed, median of 1:" in done.stdout
    names = re.findall(r"^  (\S.*?) +[\d.]+ s +[\d.]+ s CPU +\d+ MiB", done.stdout, re.MULTILINE)
    assert names == [*(f"catalog diff -o {form}" for form in ("text", "json", "markdown", "html")), "diff -r"]
