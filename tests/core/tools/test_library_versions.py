"""Versions of the libraries that make a catalog's bytes."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

import pytest

from commodore.core.tools import CoreLibrary, core_libraries


def test_core_libraries_in_order() -> None:
    """Kapitan, gojsonnet and reclass-rs, each with its version."""
    libraries = core_libraries()
    assert [library.name for library in libraries] == ["kapitan", "gojsonnet", "reclass-rs"]
    assert libraries[0] == CoreLibrary("kapitan", "0.36.3")
    assert all(library.version for library in libraries)


def test_a_library_that_is_not_installed_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    known = metadata.version

    def without_gojsonnet(name: str) -> str:
        if name == "gojsonnet":
            raise metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(metadata, "version", without_gojsonnet)
    assert core_libraries()[1] == CoreLibrary("gojsonnet", None)


def test_versions_import_none_of_the_libraries() -> None:
    program = (
        "import sys; from commodore.core.tools import core_libraries; core_libraries();"
        "print([name for name in ('kapitan', '_gojsonnet', 'gojsonnet', 'reclass_rs', 'click') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert result.stdout == "[]\n"
