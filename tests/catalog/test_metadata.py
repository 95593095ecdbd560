"""The report to Lieutenant."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import commodore
from commodore.catalog import local_now
from tests.catalog.samples import METADATA, version


def test_the_report() -> None:
    """These keys, and component and path only where there is one."""
    report = METADATA.as_report()
    assert report == {
        "commodoreBuildInfo": {"version": commodore.__version__, "gitVersion": f"v{commodore.__version__}"},
        "global": {"gitSha": f"{'g':0>40}", "url": "https://git.example.com/g.git", "version": "v1.0.0"},
        "tenant": {"gitSha": f"{'t':0>40}", "url": "https://git.example.com/t.git", "version": "v1.0.0"},
        "instances": {
            "a": {
                "gitSha": f"{'a':0>40}",
                "url": "https://git.example.com/a.git",
                "version": "v1.0.0",
                "component": "a",
                "path": "sub",
            },
            "b": {
                "gitSha": f"{'b':0>40}",
                "url": "https://git.example.com/b.git",
                "version": "v1.0.0",
                "component": "comp",
            },
        },
        "packages": {
            "o": {"gitSha": f"{'o':0>40}", "url": "https://git.example.com/o.git", "version": "v1.0.0"},
            "p": {"gitSha": f"{'p':0>40}", "url": "https://git.example.com/p.git", "version": "v1.0.0"},
        },
        "lastCompile": "2026-01-31T12:34:56.789+01:00",
    }
    assert list(report["instances"]) == ["a", "b"]
    assert list(report["packages"]) == ["o", "p"]


def test_credentials_are_not_reported() -> None:
    """The published tool sends them to Lieutenant."""
    used = replace(version("g"), url="https://user:secret@git.example.com/g.git")
    assert used.as_report()["url"] == "https://git.example.com/g.git"


def test_the_time_has_milliseconds_and_an_offset() -> None:
    now = local_now()
    assert now.utcoffset() is not None
    on_the_second = replace(METADATA, compiled_at=datetime(2026, 1, 31, tzinfo=UTC))
    assert on_the_second.timestamp == "2026-01-31T00:00:00.000+00:00"
