"""Links of the built documentation that lead nowhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.world.cluster import ROOT


def check(folder: Path) -> tuple[int, list[str]]:
    """The exit code, and what is said of each link."""
    command = [sys.executable, str(ROOT / "scripts" / "docs-links"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, [line.partition(".html:")[2] for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("link", "complaint"),
    [
        ("other.html", ""),
        ("sub/page.html#here", ""),
        ("sub/", ""),
        ("#top", ""),
        ("a%20b.txt?x=1", ""),
        ("https://example.com/nix", ""),
        ("mailto:a@example.com", ""),
        ("nix.html", "2: there is no nix.html"),
        ("#nix", "2: #nix has no such anchor"),
        ("sub/page.html#nix", "2: sub/page.html#nix has no such anchor"),
    ],
)
def test_links(tmp_path: Path, link: str, complaint: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "index.html").write_text(f'<p id="top">\n<a href="{link}">x</a>')
    (tmp_path / "other.html").write_text("")
    (tmp_path / "a b.txt").write_text("")
    for name in ("index", "page"):
        (tmp_path / "sub" / f"{name}.html").write_text('<a id="here"></a>')
    assert check(tmp_path) == (int(bool(complaint)), [complaint] if complaint else [])


def test_a_folder_without_pages(tmp_path: Path) -> None:
    assert check(tmp_path)[0] == 1
