"""Tools that are too old are refused, and asked for their version only once."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.errors import EnvironmentFault, Findings
from commodore.base.events import Event
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.results.caches import cache_folder
from commodore.core.tools import check_minimum
from tests.world.context import make_context
from tests.world.folders import write_script


def put(folder: Path, name: str, said: str) -> Path:
    """A tool that says this, and counts its calls."""
    return write_script(folder / name, f"echo x >>'{folder}/{name}.calls'\necho '{said}'")


def calls(folder: Path, name: str) -> int:
    record = folder / f"{name}.calls"
    return len(record.read_text().splitlines()) if record.exists() else 0


def test_tools_that_are_new_enough_are_asked_once(bare: Path, collected: list[Event]) -> None:
    put(bare, "helm", "v3.8.0")
    put(bare, "kustomize", "v5.7.1")
    for _ in range(3):
        check_minimum(["helm", "kustomize"], make_context(announce=collected.append))
    assert (calls(bare, "helm"), calls(bare, "kustomize")) == (1, 1)
    assert collected == []


def test_a_tool_that_is_too_old(bare: Path, collected: list[Event]) -> None:
    path = put(bare, "helm", "v3.7.9")
    for _ in range(2):  # also when it is remembered
        with pytest.raises(EnvironmentFault) as caught:
            check_minimum(["helm"], make_context(announce=collected.append))
        assert caught.value.code == "CMD-TOOL-025"
        assert caught.value.message == "helm 3.7.9 is too old: at least 3.8.0 is needed"
        assert caught.value.locations[0].place == str(path)


def test_all_that_are_too_old_are_named(bare: Path, collected: list[Event]) -> None:
    put(bare, "helm", "v2.17.0")
    put(bare, "kustomize", "{Version:kustomize/v4.5.7 GitCommit:56d82a8}")
    with pytest.raises(Findings) as caught:
        check_minimum(["helm", "kustomize"], make_context(announce=collected.append))
    assert len(caught.value.errors) == 2


def test_the_kustomize_of_kubectl_counts(bare: Path, collected: list[Event]) -> None:
    put(bare, "kubectl", '{"kustomizeVersion": "v4.5.7"}')
    with pytest.raises(EnvironmentFault, match=r"kustomize 4\.5\.7 is too old"):
        check_minimum(["kustomize"], make_context(announce=collected.append))


def test_another_file_is_asked_again(bare: Path, collected: list[Event]) -> None:
    put(bare, "helm", "v4.1.4")
    check_minimum(["helm"], make_context(announce=collected.append))
    path = put(bare, "helm", "v3.7.0")
    os.utime(path, ns=(0, 1))
    with pytest.raises(EnvironmentFault):
        check_minimum(["helm"], make_context(announce=collected.append))
    check_minimum(["kustomize"], make_context(announce=collected.append))
    put(bare, "helm", "v4.1.4")
    check_minimum(["helm"], make_context(announce=collected.append))
    assert calls(bare, "helm") == 3


def test_an_old_answer_does_not_count(bare: Path, collected: list[Event]) -> None:
    put(bare, "helm", "v4.1.4")
    for _ in range(2):
        check_minimum(
            ["helm"], make_context(announce=collected.append, limits=replace(DEFAULT_LIMITS, tool_version_age=0.0))
        )
    assert calls(bare, "helm") == 2


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"helm": 1}'])
def test_a_broken_cache_is_no_answer(content: bytes, bare: Path, collected: list[Event]) -> None:
    put(bare, "helm", "v4.1.4")
    check_minimum(["helm"], make_context(announce=collected.append))
    file = cache_folder() / "tool-versions.json"
    assert str(bare / "helm") in file.read_text()
    file.write_bytes(content)
    check_minimum(["helm"], make_context(announce=collected.append))
    assert calls(bare, "helm") == 2


def test_what_is_nowhere_or_says_nothing_passes(bare: Path, collected: list[Event]) -> None:
    put(bare, "kustomize", "(devel)")
    check_minimum(["helm", "kustomize", "jb"], make_context(announce=collected.append))
    assert [getattr(event, "code", "") for event in collected] == ["CMD-TOOL-005"]
