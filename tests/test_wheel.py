"""Anything that is installed: the wheel holds the code, its types' marker and its data, with their modes."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from commodore.base.names import DISTRIBUTION

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def wheel(tmp_path: Path) -> zipfile.ZipFile:
    build = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    (path,) = tmp_path.glob("commodore_catalog-*.whl")
    return zipfile.ZipFile(path)


@pytest.fixture
def tracked() -> set[str]:
    """The package's files as git knows them."""
    command = ["git", "ls-files", "-z", "commodore"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return {name for name in names if name and (ROOT / name).is_file()}


def test_the_wheel_holds_everything_under_the_package(wheel: zipfile.ZipFile, tracked: set[str]) -> None:
    assert "commodore/py.typed" in tracked
    assert tracked - set(wheel.namelist()) == set()


def test_the_wheel_holds_the_pages_about_error_codes(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path / "site")
    show = "from commodore.cli.shell.error_pages import find_error_page; print(find_error_page('DEP-12').title)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, sys.argv[1]); {show}", str(tmp_path / "site")],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "included but not described\n"
    pages = {path.name: path.read_bytes() for path in (ROOT / "docs" / "reference" / "errors").glob("*.md")}
    assert {name: wheel.read(f"commodore/error-pages/{name}") for name in pages} == pages


def test_the_wheel_holds_the_published_schemas(wheel: zipfile.ZipFile) -> None:
    for name in ("class-file-schema.json", "cluster-file-schema.json"):
        assert wheel.read(f"commodore/published-schemas/{name}") == (ROOT / "docs" / "reference" / name).read_bytes()
    documents = {path.name: path.read_bytes() for path in (ROOT / "docs" / "reference" / "schemas").glob("*.json")}
    assert {name: wheel.read(f"commodore/published-schemas/{name}") for name in documents} == documents


def test_modes_survive(wheel: zipfile.ZipFile, tracked: set[str]) -> None:
    modes = {name: stat.S_IMODE(wheel.getinfo(name).external_attr >> 16) for name in tracked}
    assert modes == {name: 0o755 if os.access(ROOT / name, os.X_OK) else 0o644 for name in tracked}
    assert modes["commodore/scripts/run-kustomize"] == 0o755


def test_the_wheel_names_its_command_and_not_the_published_tool(wheel: zipfile.ZipFile) -> None:
    (metadata,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    (commands,) = (name for name in wheel.namelist() if name.endswith(".dist-info/entry_points.txt"))
    fields, _, _ = wheel.read(metadata).decode().partition("\n\n")  # the README follows
    assert "Name: commodore-catalog" in fields.splitlines()
    assert "syn-commodore" not in fields
    assert "commodore = commodore.__main__:main" in wheel.read(commands).decode()


STRANGER = re.compile(r"""(pip|pipx|uv)[^\n`]*\binstall[^\n`&]*[\s'"]commodore(?![\w.-])|\bcommodore\[[a-z]""")
"""A command that would install the package called `commodore`, which is a program of other people."""


def test_the_wheel_is_named_as_the_program_says(wheel: zipfile.ZipFile) -> None:
    (metadata,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    assert f"\nName: {DISTRIBUTION}\n" in wheel.read(metadata).decode()


def test_no_text_tells_to_install_the_package_of_other_people() -> None:
    """The histories of templates keep what was released."""
    command = ["git", "ls-files", "-z", "--", ".", ":!*.history", ":!tests/test_wheel.py"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    texts = {
        name: (ROOT / name).read_text(encoding="utf-8", errors="replace") for name in names if (ROOT / name).is_file()
    }
    assert [f"{name}: {result[0]}" for name, text in texts.items() for result in STRANGER.finditer(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "pip install 'commodore[keyring]'",
        "pip install --upgrade commodore",
        "uv tool install commodore",
    ],
)
def test_such_texts_are_found(text: str) -> None:
    assert STRANGER.search(text)
    assert not STRANGER.search(text.replace("commodore", DISTRIBUTION))
