"""Who may do what."""

from __future__ import annotations

from dataclasses import fields

import pytest

from commodore.base.errors import PolicyError
from commodore.core.confinement import CAPABILITIES, DEFAULT_POLICY, TrustPolicy


def test_every_capability_is_a_field() -> None:
    assert set(CAPABILITIES) <= {field.name for field in fields(TrustPolicy)}


def test_what_holds_without_a_file() -> None:
    assert [name for name in CAPABILITIES if DEFAULT_POLICY.allows(name, "any")] == ["external", "kadet"]


def test_patterns() -> None:
    policy = TrustPolicy(external=("a", "b-*"))
    assert all(policy.allows("external", name) for name in ("a", "b-c"))
    assert not any(policy.allows("external", name) for name in ("c", "A", "ab"))


def test_what_is_missing_is_named() -> None:
    with pytest.raises(PolicyError) as caught:
        DEFAULT_POLICY.require("shell", "app", "the redirection")
    assert "the redirection is not allowed to component 'app'" in caught.value.message
    assert "`shell`" in caught.value.hint


def test_a_misspelt_capability() -> None:
    with pytest.raises(ValueError, match="unknown capability"):
        DEFAULT_POLICY.allows("hosts", "app")
