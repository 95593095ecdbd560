"""docs/how-to/develop.md says what is so."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "develop.md").read_text(encoding="utf-8")


def test_the_example_of_a_test_is_a_test() -> None:
    source = (ROOT / "tests" / "docs" / "test_example.py").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert source.partition('"""\n\n')[2] == example


def test_the_scripts_that_it_names_exist() -> None:
    named = set(re.findall(r"`scripts/([a-z-]+)", PAGE))
    assert {"test", "coverage", "check"} <= named
    assert {name for name in named if not (ROOT / "scripts" / name).exists()} == set()


def test_the_fast_tests_exist() -> None:
    script = (ROOT / "scripts" / "test").read_text(encoding="utf-8")
    (rooms,) = re.findall(r"^fast=\((.*)\)$", script, re.MULTILINE)
    (slow,) = re.findall(r"^slow=\((.*)\)$", script, re.MULTILINE)
    assert [place for place in (*rooms.split(), *slow.split()) if not (ROOT / "tests" / place).exists()] == []
