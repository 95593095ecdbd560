"""Globs by dialect, and the paths that they match, in which order."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from commodore.base.values.globs import doublestar, go_path, gobwas, matches, matching_paths, pathspec, stars

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
    files = [str(path.relative_to(root)) for path in matching_paths(root / pattern, root) if path.is_file()]
    assert files == expected.split()


DIALECTS = {
    "go_path": go_path,
    "doublestar": doublestar,
    "pathspec": pathspec,
    "gobwas": gobwas,
    "gobwas /": functools.partial(gobwas, separator="/"),
    "stars": stars,
}


@pytest.mark.parametrize(
    ("pattern", "text", "dialects"),
    [
        ("a/*", "a/b", "go_path doublestar pathspec gobwas gobwas_/ stars"),
        ("a/*", "a/b/c", "pathspec gobwas"),
        ("a/**", "a/b/c", "doublestar pathspec gobwas gobwas_/ stars"),
        ("a/**/c", "a/c", "doublestar"),
        ("a/**/c", "a/b/d/c", "doublestar pathspec gobwas gobwas_/ stars"),
        ("{a,b}", "a", "doublestar gobwas gobwas_/"),
        ("{a,b}", "{a,b}", "go_path pathspec stars"),
        ("[^a]", "b", "go_path doublestar pathspec gobwas gobwas_/"),
        ("[!a]", "b", "doublestar pathspec gobwas gobwas_/"),
        ("[!a]", "/", "gobwas gobwas_/"),
        ("a?c", "a/c", "pathspec gobwas"),
        ("\\*", "*", "go_path doublestar pathspec gobwas gobwas_/"),
        ("a", "a/b", "pathspec"),
        ("a}", "a}", "go_path pathspec gobwas gobwas_/ stars"),
        ("{a", "{a", "go_path pathspec stars"),
        ("[a", "[a", "stars"),
    ],
)
def test_dialects_differ(pattern: str, text: str, dialects: str) -> None:
    compiled = {name: dialect(pattern) for name, dialect in DIALECTS.items()}
    fitting = [
        name.replace(" ", "_") for name, value in compiled.items() if value is not None and value.fullmatch(text)
    ]
    assert fitting == dialects.split()


def test_an_invalid_glob_fits_nothing() -> None:
    assert not matches("[a", "[a")
    assert matches("a*", "a/b")
    assert not matches("a*", "a/b", separator="/")
