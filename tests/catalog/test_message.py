"""The commit message."""

from __future__ import annotations

from dataclasses import replace

from commodore.catalog import commit_message
from tests.catalog.samples import METADATA, version


def test_the_layout() -> None:
    """Every byte: other programs read these commits, too."""
    assert (
        commit_message(METADATA)
        == """\
Automated catalog update from Commodore

Component instance commits:
 * a: v1.0.0 (000000)
   url: https://git.example.com/a.git
   path: sub
 * b (comp): v1.0.0 (000000)
   url: https://git.example.com/b.git

Package commits:
 * o: v1.0.0 (000000)
   url: https://git.example.com/o.git
 * p: v1.0.0 (000000)
   url: https://git.example.com/p.git

Configuration commits:
 * global: v1.0.0 (000000)
   url: https://git.example.com/g.git
 * tenant: v1.0.0 (000000)
   url: https://git.example.com/t.git

Compilation timestamp: 2026-01-31T12:34:56.789+01:00
"""
    )


def test_empty_sections() -> None:
    """A section without entries is one empty line, as in the published tool."""
    message = commit_message(replace(METADATA, instances={}, packages={}))
    assert message.startswith(
        "Automated catalog update from Commodore\n\n"
        "Component instance commits:\n\n\n"
        "Package commits:\n\n\n"
        "Configuration commits:\n * global: "
    )


def test_no_credentials_and_no_broken_lines() -> None:
    """The published tool commits credentials that a URL holds."""
    used = replace(
        version("x"), url="https://user:secret@git.example.com/x.git", version="v1\n * forged: v2", path="a\x1b[1m\nb"
    )
    message = commit_message(replace(METADATA, packages={"x": used}))
    assert "secret" not in message
    assert " * x: v1 * forged: v2 (000000)\n   url: https://git.example.com/x.git\n   path: a[1mb\n\n" in message
