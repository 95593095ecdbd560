"""The table of known digests is whole."""

from __future__ import annotations

import re

from commodore.core.tools import KNOWN_VERSIONS, MANAGEABLE, MINIMUM_VERSIONS, known_pins, named_version


def test_the_table() -> None:
    pins = known_pins()
    assert sorted(pins) == sorted(MANAGEABLE)
    digests = [digest for tool in pins.values() for version in tool.values() for digest in version.values()]
    assert len(set(digests)) == len(digests)
    assert [digest for digest in digests if not re.fullmatch(r"[0-9a-f]{64}", digest)] == []
    versions = [version for tool in pins.values() for version in tool]
    assert [version for version in versions if str(named_version(version)) != version] == []


def test_known_versions_are_pinned_for_all_common_platforms() -> None:
    for tool, version in KNOWN_VERSIONS.items():
        platforms = set(known_pins()[tool][str(version)])
        assert {f"{system}-{arch}" for system in ("darwin", "linux") for arch in ("amd64", "arm64")} <= platforms
        assert version >= MINIMUM_VERSIONS[tool]
