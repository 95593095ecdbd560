"""docs/how-to/develop.md says what is so."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAST = "not world and not tools"
PAGE = (ROOT / "docs" / "how-to" / "develop.md").read_text(encoding="utf-8")


def test_the_example_of_a_test_is_a_test() -> None:
    source = (ROOT / "tests" / "docs" / "test_example.py").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert source.partition('"""\n\n')[2] == example


def test_the_scripts_that_it_names_exist() -> None:
    named = set(re.findall(r"`scripts/([a-z-]+)", PAGE))
    assert {"test", "coverage", "check"} <= named
    assert {name for name in named if not (ROOT / "scripts" / name).exists()} == set()


def test_the_fast_tests_are_those_without_a_mark() -> None:
    (marks,) = re.findall(r'-m "(.*?)"', (ROOT / "scripts" / "test").read_text(encoding="utf-8"))
    assert marks == FAST
    assert f'-m "{FAST}"' in PAGE


# Modules of one test each: what becomes of it, and of it among the fast tests.
MARKED = {
    "plain": ("def test(): pass", "PASSED", True),
    "posix": ("def test(): os.posix_spawn('/bin/true', ['true'], {})", "FAILED", True),
    "marked": ("@pytest.mark.tools\ndef test(): os.posix_spawn('/bin/true', ['true'], {})", "PASSED", False),
    "runs": ("import subprocess\ndef test(): subprocess.run(['/bin/true'])", "PASSED", False),
    "inside": ("def test():\n    import subprocess\n    subprocess.run(['/bin/true'])", "FAILED", True),
    "world": ("from tests.world.repos import git\ndef test(): pass", "PASSED", False),
    "helper": ("from tests.catalog.conftest import Run\ndef test(): pass", "PASSED", False),
    "fixture": ("from tests.catalog.conftest import *\ndef test(run): pass", "PASSED", False),
    "files": ("from tests.world.folders import make_folder\ndef test(): pass", "PASSED", True),
}


def test_a_test_that_starts_a_program_is_marked(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("from tests.conftest import *\n")
    for name, (test, _, _) in MARKED.items():
        (tmp_path / f"test_{name}.py").write_text(f"import os\n\nimport pytest\n\n{test}\n")
    words = [
        "-q",
        "-rA",
        "-n0",
        "-p",
        "no:cacheprovider",
        "-c",
        str(ROOT / "pyproject.toml"),
        "--rootdir",
        str(tmp_path),
    ]
    ended = run_program([sys.executable, "-m", "pytest", *words, str(tmp_path)])
    for name, (_, outcome, _) in MARKED.items():
        assert f"{outcome} test_{name}.py::test" in ended
    assert "2 failed" in ended
    assert "mark it with pytest.mark.tools" in ended
    fast = run_program([sys.executable, "-m", "pytest", *words, "-m", FAST, str(tmp_path)])
    for name, (_, _, is_fast) in MARKED.items():
        assert (f" test_{name}.py::test" in fast) is is_fast


def run_program(words: list[str]) -> str:
    """Everything that a program prints."""
    return subprocess.run(
        words, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    ).stdout
