"""The how-to about the library: its examples run as they stand on the page, one after another."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples.test_examples import Demo, set_up
from tests.world.cluster import ROOT

PAGE = ROOT / "docs" / "how-to" / "use-from-python.md"
ENVIRONMENT = 'cd .. && . ./examples/environment && cd examples && exec "$@"'
PROGRAM = ["sh", "-c", ENVIRONMENT, "sh", sys.executable, "-X", "dev", "program.py"]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    return set_up(tmp_path_factory.mktemp("library"))


def test_the_examples_run_as_they_stand(demo: Demo) -> None:
    examples = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(examples) >= 4
    lines = [f"    {line}" for text in examples for line in text.splitlines()]
    program = "\n".join(["if __name__ == '__main__':", *lines, ""])
    (demo.root / "examples" / "program.py").write_text(program, encoding="utf-8")
    done = subprocess.run(PROGRAM, cwd=demo.root / "examples", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Added file manifests/" in done.stdout
    assert "rendering the inventory: " in done.stdout
    assert "CMD-API-045" in done.stdout
    assert "did you mean" in done.stdout
    assert (demo.root / "examples" / "work" / "catalog" / "manifests").is_dir()


def test_importing_the_package_loads_nothing_else(tmp_path: Path) -> None:
    program = "import sys, commodore; print(sorted(name for name in sys.modules if name.startswith('commodore')))"
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.stdout == "['commodore', 'commodore.base', 'commodore.base.lazy_exports', 'commodore.version']\n"
