"""The globs of value files: what they match, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.argocd.rendering.globs import matching_paths

FILES = [
    "e/a.yaml",
    "e/z.yaml",
    "e/.h.yaml",
    "e/n/c.yaml",
    "e/n/d/d.yaml",
    "e/n/a.yaml",
    "e/a.d/q.yaml",
    "e/br[1]/k.yaml",
    "e/*lit.yaml",
    "f/a.yaml",
    "f/b.yaml",
    "f/Z.yaml",
    "f/10.yaml",
    "f/9.yaml",
    "f/{x}.yaml",
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files in a folder whose own name looks like a pattern."""
    root = tmp_path_factory.mktemp("[tree]*")
    for file in FILES:
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return root


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("e/*.yaml", "e/*lit.yaml e/.h.yaml e/a.yaml e/z.yaml"),
        (
            "e/**/*.yaml",
            "e/*lit.yaml e/.h.yaml e/a.yaml e/z.yaml e/a.d/q.yaml e/br[1]/k.yaml e/n/a.yaml e/n/c.yaml e/n/d/d.yaml",
        ),
        (
            "e/**",
            "e/*lit.yaml e/.h.yaml e/a.d/q.yaml e/a.yaml e/br[1]/k.yaml e/n/a.yaml e/n/c.yaml e/n/d/d.yaml e/z.yaml",
        ),
        ("{f,e}/a*.yaml", "e/a.yaml f/a.yaml"),
        ("e/{n/*,a}.yaml", "e/a.yaml e/n/a.yaml e/n/c.yaml"),
        ("e/n/**/*.{yaml,yml}", "e/n/a.yaml e/n/c.yaml e/n/d/d.yaml"),
        ("f/{1{0,1},[ab]}.yaml", "f/10.yaml f/a.yaml f/b.yaml"),
        ("f/\\{x\\}.yaml", "f/{x}.yaml"),
        ("f/{a*", ""),
        ("e/[^a]*.yaml", "e/*lit.yaml e/.h.yaml e/z.yaml"),
        ("e/[!a]*.yaml", "e/*lit.yaml e/.h.yaml e/z.yaml"),
        ("e/\\*lit.yaml", "e/*lit.yaml"),
        ("e/br[1]/*.yaml", ""),
        ("e/br\\[1\\]/*.yaml", "e/br[1]/k.yaml"),
        ("f/?.yaml", "f/9.yaml f/Z.yaml f/a.yaml f/b.yaml"),
        ("e/**.yaml", "e/*lit.yaml e/.h.yaml e/a.yaml e/z.yaml"),
        ("*/a.yaml", "e/a.yaml f/a.yaml"),
    ],
)
def test_patterns_of_value_files(pattern: str, expected: str, root: Path) -> None:
    """As doublestar 4.9 of Go finds them."""
    found = [str(path.relative_to(root)) for path in matching_paths(root / pattern, root) if path.is_file()]
    assert found == expected.split()
